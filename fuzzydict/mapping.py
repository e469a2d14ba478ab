"""`FuzzyDict`: a dict whose reads are fuzzy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from operator import is_
from os import PathLike
from typing import TYPE_CHECKING, Any, Never, Self, TypeVar, cast

import numpy as np

from fuzzydict.embedding.projections import Projections, as_projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, OptionError, ShapeError, quoted
from fuzzydict.indexed import IndexedDict
from fuzzydict.options import (
    LEARNED,
    OPTIONS,
    LearnedOptions,
    before_fit,
    declared_class,
    empty_of,
    unknown_option,
)
from fuzzydict.results.answers import Attention, Match, Matches
from fuzzydict.results.explanation import Explanation, words_of
from fuzzydict.results.pooling import StackedValues, as_output, pooled, weights_of
from fuzzydict.saving import read_saved, write_saved
from fuzzydict.search.key_index import KeyIndex
from fuzzydict.search.lookup import Lookup, Scored, lookup_by
from fuzzydict.search.score import is_spelling
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.candidate import DictState
    from fuzzydict.learning.fit import Plan
    from fuzzydict.learning.report import FitReport
    from fuzzydict.search.lookup import Attended, Explained


V = TypeVar("V")
AttnMask = Sequence[bool] | Callable[[str], bool]

_GONE: Any = object()
_REMEMBERED_KEYS = 1024  # queries whose keys are remembered
_SHORT = 64  # characters of a query that is remembered


class _Reader:
    """What reads use until a key or an option changes.

    Args:
        d: the dict, with its options as they are now.
        lookup: finds keys.

    Attributes:
        size: the number of items of the dict.
        lookup: finds keys.
        found: the keys that the last queries found. Values are read from the dict each time.
        stacked: the values as one array, if `pool` was asked.
    """

    __slots__ = (
        *("_embedding", "_index", "_projections", "_score_cutoff", "_scorer", "size"),
        *("found", "lookup", "stacked"),
    )

    def __init__(self, d: FuzzyDict[Any], lookup: Lookup) -> None:
        self.size, self._embedding, self._projections = len(d), d.embedding, d.projections
        self._scorer, self._score_cutoff, self._index = d.scorer, d.score_cutoff, d.index
        self.lookup = lookup
        self.found: dict[object, str] = {}
        self.stacked: StackedValues | None = None

    def is_of(self, d: FuzzyDict[Any]) -> bool:
        """Tell whether the dict has the same size and the very options; a class may set these."""
        return (
            self.size == len(d)
            and self._scorer is d.scorer
            and self._score_cutoff is d.score_cutoff
            and self._embedding is d.embedding
            and self._projections is d.projections
            and self._index is d.index
        )


class FuzzyDict(IndexedDict[V]):
    """A dict that also answers queries that are not its keys.

    Reads by query are fuzzy; membership, writes and iteration are those of a plain dict.

    Args:
        data: what a dict takes: a mapping, or pairs.
        mode: "nearest": ``d[query]`` is the value of the nearest key; "pool": ``d[query]`` is the
            mean of all values, weighted by attention.
        embedding: what gives texts their vectors; by default the shipped Brown vectors. A
            `WordVectors`, gensim ``KeyedVectors``, ``{word: vector}``, an object with
            ``encode(texts)``, or such a function.
        scorer: what compares the vectors of a query and a key: a scorer, its lower-case name, or
            a function ``(L, E), (S, E) -> (L, S)``. By default the score is the probability that
            the key is the right one, by spelling and meaning; with "spelling" it is that by
            spelling alone, and no embedding is needed.
        temperature: what scores are divided by before the softmax; by default 0.05 for the cosine,
            otherwise 1.0.
        score_cutoff: the least score of a match; by default 0.02 for the default score, otherwise
            none.
        projections: learned Q, K and V: what `fit` learned; "wordnet", the default for the Brown
            vectors; or "identity" for none.
        index: what finds keys among many: "exact" compares a query with all keys; "usearch" (extra
            ``usearch``), for hundreds of thousands of keys, with those that a graph finds.

    Options are attributes too, and may be class attributes of a subclass.

    Raises:
        OptionError, ArgumentTypeError: an option has a value that it does not take.
        UnknownOptionError: there is no such option; items come in ``data``, never as keywords.

    >>> d = FuzzyDict({"brand": "Porsche", "model": "Taycan", "color": "black"})
    >>> d["colour"], "colour" in d
    ('black', False)
    """

    _reader: _Reader | None

    def __init__(
        self,
        data: Mapping[Any, V] | Iterable[tuple[Any, V]] = (),
        /,
        *,
        mode: str | None = None,
        embedding: Any = None,
        scorer: Any = None,
        temperature: float | None = None,
        score_cutoff: float | None = None,
        projections: str | Projections | None = None,
        index: str | None = None,
        **unknown: Never,
    ) -> None:
        given = locals()
        for name in unknown:
            raise unknown_option(type(self), name, is_keyword=True)
        self._configure({name: given[name] for name in OPTIONS})
        self.update(data)

    def __setattr__(self, name: str, value: Any) -> None:
        if declared_class(type(self)) is FuzzyDict and not hasattr(FuzzyDict, name):
            raise unknown_option(FuzzyDict, name)
        super().__setattr__(name, value)

    # ---- reads ----------------------------------------------------------------------------

    def __missing__(self, query: Any) -> V:
        with self._lock:
            reader = self._current_reader()
            key = reader.found.get(query)
            value = _GONE if key is None else dict.get(self, key, _GONE)
            if value is _GONE:
                key, value = self._find(query, reader)
        return cast("V", value)

    def _find(self, query: Any, reader: _Reader) -> tuple[str, V]:
        """Return the nearest key and its value; remember the key of a short query."""
        _require_texts([query])
        found = reader.lookup.find(query, self._cutoff(reader.lookup))
        if isinstance(found, Scored):
            found = self._require(query, found, reader.lookup).name
        (value,) = self._values([found])
        # A scorer that is an object may change.
        is_fixed = self.scorer is None or isinstance(self.scorer, str)
        if is_fixed and type(query) is str and len(query) <= _SHORT:
            if len(reader.found) >= _REMEMBERED_KEYS:
                del reader.found[next(iter(reader.found))]
            reader.found[query] = found
        return found, value

    def _pooled_item(self, query: Any) -> Any:
        return self.pool(query) if _has_words(query) else dict.__getitem__(self, query)

    def get(self, query: Any, default: Any = None, /) -> Any:
        """Return ``d[query]``, or ``default`` where that raises `NoMatchError`."""
        try:
            return self[query]
        except NoMatchError:
            return default

    def nearest(self, query: Any) -> Any:
        """Return the `Match` of the nearest key; for a list of queries, a list of them.

        Raises:
            NoMatchError: no key's score reaches ``score_cutoff``.

        >>> FuzzyDict({"brand": "Porsche", "color": "black"}).nearest("colour").key
        'color'
        """
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            asked = [one for one in queries if not self._is_certain(one)]
            best = iter(lookup.nearest(_require_texts(asked)) if asked else [])
            found = Matches(
                Match(one, dict.__getitem__(self, one), 1.0)
                if self._is_certain(one)
                else self._match(self._require(one, next(best), lookup))
                for one in queries
            )
        return found if isinstance(query, list) else found[0]

    def most_similar(self, query: Any, topn: int | None = 10) -> Any:
        """Return the ``topn`` best matches (all if None), best first, whatever their score.

        For a list of queries, return a list of such lists.

        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> [match.key for match in d.most_similar("colour")]
        ['color', 'brand']
        """
        if topn is not None and not isinstance(topn, (int, np.integer)):
            raise ArgumentTypeError(f"topn: expected a whole number or None, got {topn!r}")
        if topn is not None and topn < 0:
            raise OptionError(f"topn: expected 0 or more, or None, got {topn}")
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            some = self and queries
            ranked = lookup.ranked(_require_texts(queries), topn) if some else [[] for _ in queries]
            found = [Matches(map(self._match, row)) for row in ranked]
        return found if isinstance(query, list) else found[0]

    def explain(self, query: Any) -> Any:
        """Return the `Explanation` of a query: why `nearest` finds this key, or finds none.

        For a list of queries, return a list of them. A query below the cutoff is explained, not
        refused.

        Raises:
            NoMatchError: there is nothing to compare: the query is no text, or has no letters or
                digits, or the dict has no key that has some; and no key equals it.

        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> e = d.explain("colour")
        >>> e.best.key, e.runner_up.key, e.matches, e.best_parts.spelling > e.best_parts.meaning
        ('color', 'brand', True, True)
        """
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            compared = [not self._is_certain(one) or one in lookup.keys.slots for one in queries]
            asked = [one for one, some in zip(queries, compared, strict=True) if some]
            told = iter(lookup.explain(_require_texts(asked)) if asked else [])
            found = [
                self._explanation(one, next(told) if some else None, lookup)
                for one, some in zip(queries, compared, strict=True)
            ]
        return found if isinstance(query, list) else found[0]

    def attend(self, query: Any, *, attn_mask: AttnMask | None = None) -> Any:
        """Return the `Attention` of a query over the keys, with every intermediate.

        For a list of queries, return a list of them. The cutoff is not applied.

        Args:
            query: a text, or a list of texts.
            attn_mask: which keys to attend to: a bool for each key of the dict, in its order, or
                a function of the key.

        Raises:
            NoMatchError: there is nothing to attend to.

        >>> d = FuzzyDict({"red": 1.0, "blue": 3.0}, embedding={"red": [1, 0], "blue": [0, 1]})
        >>> d.attend("red", attn_mask=lambda key: key != "red").output
        3.0
        """
        queries = query if isinstance(query, list) else [query]
        if not queries:
            return []
        with self._lookup() as lookup:
            attended = self._attended(lookup, queries, attn_mask)
            values = [self._values(some.names) for some in attended]
            pooling = self._adapted_embedding(), as_projections(self.projections)
        texts, found = iter(queries), []
        for some, held in zip(attended, values, strict=True):
            weights = [row for rows in weights_of(some.scores, some.temperature) for row in rows]
            rows = zip(some.query, some.scores, weights, some.left_out.tolist(), strict=True)
            found += [
                Attention(next(texts), some.names, q, some.keys, held, scores, row, *pooling, left)
                for q, scores, row, left in rows
            ]
        return found if isinstance(query, list) else found[0]

    def pool(self, query: Any, *, attn_mask: AttnMask | None = None) -> Any:
        """Return the mean of all values, weighted by attention, whatever the mode.

        Numbers give a float, arrays and lists of numbers an array of their shape; texts the mean
        of their vectors. A list of queries gives the stacked array. ``attn_mask`` is `attend`'s.

        Raises:
            NoMatchError: no key's score, masked or not, reaches ``score_cutoff``; or there is
                nothing to attend to.
            PoolingError: the values cannot be pooled; it names the first such key.

        >>> d = FuzzyDict({"red": (255, 0, 0), "navy": (0, 0, 128)})
        >>> d.pool("red").round().tolist()
        [255.0, 0.0, 0.0]
        """
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            attended = self._attended(lookup, queries, attn_mask)
            best = [one for some in attended for one in some.best]
            for text, one in zip(queries, best, strict=True):
                self._require(text, one, lookup)
            outputs = self._pooled(attended)
        return np.concatenate(outputs) if isinstance(query, list) else as_output(outputs[0][0])

    def _pooled(self, attended: list[Attended]) -> list[NDArray[np.float64]]:
        """Return the pooled values of queries, (L, *shape), for each group of queries."""
        embedding, projections = self._adapted_embedding(), as_projections(self.projections)
        reader, outputs = self._current_reader(), []
        for some in attended:
            values = self._values(some.names)
            stacked = StackedValues(some.names, values, embedding)
            if len(attended) == 1:  # all keys, as a rule: the array is kept until a write
                stacked = reader.stacked = stacked.or_same(reader.stacked)
            weights = weights_of(some.scores, some.temperature)
            outputs.append(pooled(some.scores, weights, stacked, projections))
        if len(attended) > 1:  # the values of each group are of one kind; those of all must be
            names = [some.names[int(some.scores[0].argmax())] for some in attended]
            StackedValues(names, self._values(names), embedding).array()
        return outputs

    # ---- what reads have in common ----------------------------------------------------------

    @contextmanager
    def _lookup(self) -> Iterator[Lookup]:
        """Keep the keys as they are while they are looked up."""
        with self._lock:
            yield self._current_reader().lookup

    def _current_reader(self) -> _Reader:
        """Return the reader, made anew if a key or an option has changed."""
        reader, index = self._reader, self._index
        if reader is None or not reader.is_of(self) or index is None or not index.is_whole:
            reader = self._made_reader()
        return reader

    def _made_reader(self) -> _Reader:
        self._tell()
        index, embedding = self._index, self._projected_embedding()
        if index is None or not index.is_whole or index.embedding is not embedding:
            index = KeyIndex(embedding)
            self.__dict__.update(_index=index, _told=0)
            self._tell()
        lookup, neighbours = lookup_by(self.index, index, self.scorer, self._neighbours)
        reader = _Reader(self, lookup)
        self.__dict__.update(_neighbours=neighbours, _reader=reader)
        return reader

    def _is_certain(self, query: Any) -> bool:
        """Tell whether an equal key needs no score, or can have none."""
        # A subclass may define another `in`.
        is_key = dict.__contains__(self, query)
        is_probability = self.scorer is None or is_spelling(self.scorer)
        return is_key and (is_probability or not _has_words(query))

    def _require(self, query: str, best: Scored, lookup: Lookup) -> Scored:
        """Return the best key if it reaches the cutoff, or equals the query; otherwise raise."""
        cutoff = self._cutoff(lookup)
        if not _reaches(query, best, cutoff):
            raise _no_match(query, best, cutoff)
        return best

    def _cutoff(self, lookup: Lookup) -> float:
        """Return the least score of a match: the option, or the default of the score."""
        return lookup.score.score_cutoff if self.score_cutoff is None else self.score_cutoff

    def _explanation(self, query: Any, told: Explained | None, lookup: Lookup) -> Explanation:
        """Return an explanation; if nothing was compared (None), it is of an equal key alone."""
        cutoff, embedding = self._cutoff(lookup), lookup.embedding
        if told is None or self._is_certain(query):
            best = Match(query, dict.__getitem__(self, query), 1.0)
        else:
            best = self._match(told.best)
        return Explanation(
            query=query,
            words=words_of(query, embedding) if isinstance(query, str) else (),
            tells_words=embedding.tells_words,
            best=best,
            best_parts=told and told.best_parts,
            runner_up=self._match(told.runner_up) if told and told.runner_up else None,
            runner_up_parts=told and told.runner_up_parts,
            none=told and told.none,
            cutoff=cutoff,
            matches=told is None or _reaches(query, told.best, cutoff),
            equal=dict.__contains__(self, query),
        )

    def _match(self, scored: Scored) -> Match:
        return Match(scored.name, self._values([scored.name])[0], scored.score)

    def _attended(
        self, lookup: Lookup, queries: list[Any], attn_mask: AttnMask | None
    ) -> list[Attended]:
        names = lookup.keys.living() if attn_mask is not None else []
        allowed = None if attn_mask is None else self._allowed(attn_mask, names)
        return lookup.attend(_require_texts(queries), allowed, self.temperature)

    def _allowed(self, attn_mask: AttnMask, names: list[str]) -> NDArray[np.bool_]:
        """Return which of the names, (S,), may be attended to."""
        if callable(attn_mask):
            return np.array([bool(attn_mask(name)) for name in names])
        mask = np.asarray(attn_mask)
        if mask.dtype != np.bool_:
            raise ArgumentTypeError(
                f"attn_mask: expected bools (True = attend) or a function of the key, "
                f"got {type(attn_mask).__name__} of dtype {mask.dtype}"
            )
        if mask.shape != (len(self),):
            raise ShapeError(
                f"attn_mask: expected a bool for each of the {len(self)} keys, "
                f"got shape {mask.shape}"
            )
        by_key = dict(zip(self, mask.tolist(), strict=True))
        return np.array([by_key[name] for name in names])

    def _values(self, names: list[str]) -> list[V]:
        values = list(map(partial(dict.get, self), names, repeat(_GONE)))
        if any(map(is_, values, repeat(_GONE))):
            gone = names[next(i for i, value in enumerate(values) if value is _GONE)]
            self.__dict__.update(_index=None, _reader=None)  # made anew by the next read
            raise RuntimeError(
                f"the key {quoted(gone)} was removed by a method of dict itself, of which the "
                f"vectors were not told; remove keys by del d[key] or d.pop(key), and read again"
            )
        return cast("list[V]", values)

    # ---- learning ---------------------------------------------------------------------------

    def fit(
        self,
        queries: Iterable[str] | Mapping[str, Any],
        targets: Iterable[Any] | None = None,
        *,
        learn: Sequence[str] | None = None,
        rank: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        validation: float | None = None,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
    ) -> FitReport:
        """Learn from examples, and keep what was learned if it answers held-out examples better.

        If the targets are keys, Q and K are learned, and the calibration of the default score, or
        the temperature of a named scorer. If they are numbers or arrays, the queries are to pool
        them: Q, K and the temperature are learned, and "cosine" replaces the default scorer. A
        result that is not kept changes nothing. The guide "Learning from examples" tells what is
        held out, and when a result is kept.

        Args:
            queries: L texts, or a mapping from texts to their targets.
            targets: one for each query, unless ``queries`` is a mapping: a key, a list of right
                keys, or None where no key should match; or, for all, a number or an array.
            learn: which of "query", "key" and, to pool, "value"; by default Q and K.
            rank: learn ``I + A B'`` with A and B (E, rank); by default a whole matrix (E, E).
            epochs: passes over the examples, at most; by default 30, or 30 to 200 to pool.
            learning_rate: how far a step may turn a vector, as a share of its length; by default
                0.03, or 0.1 to pool.
            validation: the share of examples held out; by default 0.2; 0 holds none out.
            seed: decides which examples are held out, and the order of the batches.
            progress: is called with ``(done, total)``; it may stop the fit by raising.
            warm_start: go on from what was learned; by default the last fit is undone first.

        Raises:
            OptionError: there are no examples, a target is no key, or an option is out of range.
            ArgumentTypeError: a query is no text, targets are missing, or of several kinds.
            ShapeError: queries and targets are not as many; targets are NaN or of several shapes.
            PoolingError: targets are numbers, and a value cannot be pooled.

        >>> d = FuzzyDict({"color": "black", "price": 109000, "brand": "Porsche"})
        >>> report = d.fit({"hue": "color", "expense": "price", "maker": "brand"})
        >>> report.kept, d["hue"], d["maker"]
        (True, 'black', 'Porsche')
        """
        from fuzzydict.learning.fit import Plan

        plan = Plan(
            learn=learn,
            rank=rank,
            epochs=epochs,
            learning_rate=learning_rate,
            validation=validation,
            seed=seed,
            progress=progress,
            warm_start=warm_start,
        )
        return self._learn(queries, targets, plan)

    def _learn(self, queries: Any, targets: Any, plan: Plan) -> FitReport:
        """Learn as planned, and set the options that are kept."""
        from fuzzydict.learning.fit import learn_from

        if is_spelling(self.scorer):
            raise OptionError(
                "fit: scorer='spelling' compares texts as they are spelled, and has no vectors for "
                "Q and K to project; set d.scorer = None to learn by meaning"
            )
        state = self._state(warm_start=plan.warm_start)
        report = learn_from(state, queries, targets, plan)
        if report.kept:
            with self._lock:
                restored = {} if plan.warm_start else self._options_before_fit()
                self._set_learned(restored | report.options)
        return report

    def _state(self, *, warm_start: bool) -> DictState:
        """Return the dict as it learns: as it is, or as it was before it was fitted."""
        from fuzzydict.learning.candidate import DictState

        with self._lock:
            self._current_reader()  # brings the index up to date
            assert self._index is not None
            keys, embedding = self._index.keys(), self._adapted_embedding()
            names = keys.living()
            if not names:
                raise OptionError("fit: no key of the dict is a text with letters or digits")
            before = self._options_before_fit()
            options = {name: getattr(self, name) for name in LEARNED} if warm_start else before
            is_as_it_was = options["projections"] is self.projections
            return DictState(
                keys=frozenset(self),
                names=names,
                vectors=keys.vectors[keys.alive] if is_as_it_was else None,
                values=self._values(names),
                embedding=embedding,
                options=options,
            )

    def _options_before_fit(self) -> dict[str, Any]:
        options = {name: getattr(self, name) for name in LEARNED}
        return before_fit(options, self.__dict__.get("_learned"))

    def _set_learned(self, options: Mapping[str, Any]) -> None:
        """Set options, and remember what they were; the caller holds the lock."""
        before = self._options_before_fit()
        for name, value in options.items():
            OPTIONS[name].check(value)  # all of them, before one is set
        for name, value in options.items():
            if value is not getattr(self, name):  # otherwise the keys would be encoded again
                setattr(self, name, value)
        after = {name: getattr(self, name) for name in LEARNED}
        self.__dict__["_learned"] = LearnedOptions(before, after)

    # ---- files ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the dict to one file, with its options and the vectors of its keys; no pickle.

        The file is replaced as a whole or not at all. It holds the embedding's fingerprint, not
        the embedding.

        Raises:
            ArgumentTypeError: a key or value is of none of JSON's types, no tuple and no numpy
                array, and the message names the key; or the scorer is a function.
        """
        with self._lookup() as lookup:
            options = {name: getattr(self, name) for name in OPTIONS}
            write_saved(path, self, options, lookup.embedding, lookup.keys, self._neighbours)

    @classmethod
    def load(cls, path: str | PathLike[str], *, embedding: Any = None) -> Self:
        """Open a dict that `save` wrote; ``embedding`` is the one with which it was made.

        Vectors of over 64 MB stay in the file: if they are damaged, fuzzy reads raise the error.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version.
            OptionError: the embedding is another one; the message names both.
        """
        items, options, keys = read_saved(path)
        new: Self = empty_of(declared_class(cls), options.pop("mode"))
        new._configure({"embedding": embedding, **options})
        for name, value in options.items():
            if value is None and getattr(new, name) is not None:  # as a class attribute has it
                setattr(new, name, None)
        dict.update(new, items)
        if keys is not None:
            index = KeyIndex(new._projected_embedding())
            neighbours = keys.restore(index, new.index)
            new.__dict__.update(_index=index, _told=len(new), _neighbours=neighbours)
        return new


def _has_words(query: Any) -> bool:
    return isinstance(query, str) and bool(plain(query))


def _require_texts(queries: list[Any]) -> list[str]:
    """Return the queries if all are texts; nothing else can be compared."""
    for query in queries:
        if not isinstance(query, str):
            raise NoMatchError(
                query,
                f"no key equals {quoted(query)}, and only a text can be matched otherwise, "
                f"not {type(query).__name__}",
            )
    return queries


def _reaches(query: str, best: Scored, cutoff: float) -> bool:
    """Tell whether the best key is a match: it reaches the cutoff, or equals the query."""
    # A score of -inf is a weight of 0: the key is outside the scorer's width.
    return (best.score >= cutoff and best.score > -np.inf) or best.name == query


def _no_match(query: Any, best: Scored, cutoff: float) -> NoMatchError:
    """Return the error for a best key that does not reach the cutoff."""
    key, score = best
    if score == -np.inf:
        return NoMatchError(
            query,
            f"no key matches {quoted(query)}: every key is farther than the scorer's width; "
            f"widen the scorer",
        )
    return NoMatchError(
        query,
        f"no key matches {quoted(query)}: the nearest is {quoted(key)} with score {score:.3f}, "
        f"below the cutoff {cutoff:.3f}; lower score_cutoff, or see most_similar({quoted(query)})",
        key=key,
        score=score,
        cutoff=cutoff,
    )
