"""`FuzzyDict`: a dict whose reads are fuzzy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Never, Self, TypeVar, cast

import numpy as np

from fuzzydict._arrays import as_array, as_bool, whole_number
from fuzzydict.embedding.projections import Projections, as_projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, OptionError, ShapeError, quoted
from fuzzydict.indexed import IndexedDict, Reader
from fuzzydict.options import (
    LEARNED,
    OPTIONS,
    as_cutoff,
    as_temperature,
    declared_class,
    empty_of,
    unknown_option,
)
from fuzzydict.results.answers import (
    NO_KEY,
    Attention,
    Attentions,
    Match,
    Matches,
    MatchLists,
    as_queries,
    compared_texts,
    has_words,
    is_match,
    naming_the_place,
    no_match,
    no_matches,
    require_key,
    require_match,
    require_texts,
    taught_none,
)
from fuzzydict.results.explanation import Explanation, Explanations, words_of
from fuzzydict.results.pooling import (
    PooledBlock,
    StackedValues,
    as_output,
    is_copied,
    joined_outputs,
    note_keys,
    pooled,
    warn_of_doubt,
    weights_of,
)
from fuzzydict.saving import read_saved, write_saved
from fuzzydict.search.key_index import KeyIndex, exact_text
from fuzzydict.search.lookup import Lookup, Scored
from fuzzydict.search.score import is_probability, is_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.candidate import DictState
    from fuzzydict.learning.fit import Plan
    from fuzzydict.learning.report import FitReport
    from fuzzydict.search.lookup import Attended, Explained


V = TypeVar("V")
AttnMask = Sequence[bool] | Callable[[str], bool]

_GONE: Any = object()


class FuzzyDict(IndexedDict[V]):
    """A dict that also answers queries that are not its keys.

    Reads by query are fuzzy; membership, writes and iteration are those of a plain dict.

    Args:
        data: what a dict takes: a mapping, or pairs.
        mode: "nearest": ``d[query]`` is the value of the nearest key; "pool": ``d[query]`` is the
            mean of all values, weighted by attention.
        embedding: what gives texts their vectors; by default the shipped Brown vectors, which are
            for non-commercial use. "english", a table of words that is free for commercial use; a
            `WordVectors`, gensim ``KeyedVectors``, ``{word: vector}``, an object with
            ``encode(texts)``, or such a function.
        scorer: what compares the vectors of a query and a key: a scorer, its lower-case name, or
            a function ``(L, E), (S, E) -> (L, S)``. By default the score is the probability that
            the key is the right one, by spelling and meaning; with "spelling" it is that by
            spelling alone, and no embedding is needed.
        temperature: what scores are divided by before the softmax; by default 0.05 for the cosine,
            otherwise 1.0.
        score_cutoff: the least score of a match; by default 0.5 for the default score, so that the
            key is more likely right than not, and 0.02 to pool; none for a scorer that compares
            vectors. Above 1, only equal keys and aliases match by the default score.
        projections: learned Q, K and V: what `fit` learned; "english", the default for the Brown
            vectors, or "wordnet", the same without the table of words; or "identity" for none.
        index: what finds keys among many: "exact" compares a query with all keys; "usearch" (extra
            ``usearch``), for hundreds of thousands of keys, with those that a graph finds.

    Options are attributes too, and may be class attributes of a subclass. ``aliases`` is an
    attribute and no option: what the dict was taught.

    Raises:
        OptionError, ArgumentTypeError: an option has a value that it does not take.
        UnknownOptionError: there is no such option; items come in ``data``, never as keywords.

    >>> d = FuzzyDict({"brand": "Porsche", "model": "Taycan", "color": "black"})
    >>> d["colour"], "colour" in d
    ('black', False)
    """

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
        return self._nearest_value(query, None)

    def _nearest_value(self, query: Any, score_cutoff: float | None, default: Any = _GONE) -> V:
        """Return the value of the nearest key to a query that is none; or the default, if any."""
        with self._lock:
            name = self._read_as(query) if self._aliases else query
            if name is not query:  # it was taught
                return dict.__getitem__(self, require_key(query, name))
            reader = self._reader
            if type(query) is str and score_cutoff is None and self._is_current(reader):
                found = reader.found.get(query, _GONE)
                if found is not _GONE and (found is not None or default is not _GONE):
                    return self._value_of(query, found, reader.lookup, None, default)

        def find(asked: list[str], reader: Reader) -> list[V]:
            found = self._find(asked[0], self._cutoff(reader.lookup, score_cutoff), reader, default)
            if score_cutoff is None:
                reader.remember(asked[0], found)
            return [self._value_of(query, found, reader.lookup, score_cutoff, default)]

        return self._of_block(require_texts([query]), find)[0]

    def _value_of(
        self,
        query: Any,
        found: str | Scored | None,
        lookup: Lookup,
        score_cutoff: float | None,
        default: Any,
    ) -> V:
        """Return the value of the key that was found; if none matches, the default, or raise."""
        if isinstance(found, str):
            value = dict.get(self, found, _GONE)
            return self._values([found])[0] if value is _GONE else cast("V", value)
        if default is _GONE:
            raise no_match(query, *cast("Scored", found), self._cutoff(lookup, score_cutoff))
        return cast("V", default)

    def _find(self, query: str, cutoff: float, reader: Reader, default: Any) -> str | Scored | None:
        """Return the nearest key; if it does not match, with its score, or None for a default."""
        lookup = reader.lookup
        found = lookup.find(query, cutoff)
        if found is None and default is _GONE:  # the error names the nearest key
            (found,) = lookup.nearest([query])
        is_found = isinstance(found, Scored) and is_match(query, *found, cutoff)
        return cast("Scored", found).name if is_found else found

    def _pooled_item(self, query: Any, score_cutoff: float | None = None) -> Any:
        is_exact = dict.__contains__(self, query) and is_copied(self, query)
        with self._lock:
            name = self._read_as(query)
            if not is_exact and (name is NO_KEY or has_words(name)):
                return self.pool(query, score_cutoff=score_cutoff)
            return dict.__getitem__(self, name)

    def _noted_keys(self) -> Any:
        note_keys(self)
        return dict.keys(self)

    def get(self, query: Any, default: Any = None, /, *, score_cutoff: float | None = None) -> Any:
        """Return ``d[query]``, or ``default`` where that raises `NoMatchError`.

        ``score_cutoff`` takes the place of the option for this read.
        """
        score_cutoff = as_cutoff(score_cutoff)
        try:
            if score_cutoff is not None and self.mode == "pool":
                return self._pooled_item(query, score_cutoff)
            if dict.__contains__(self, query) or (score_cutoff is None and not self._reads_own()):
                return self[query]
            return self._nearest_value(query, score_cutoff, default)
        except NoMatchError:
            return default

    def _reads_own(self) -> bool:
        """Tell whether ``self[query]`` is read by this class, not by a subclass."""
        cls = type(self)
        return cls.__missing__ is FuzzyDict.__missing__ and cls.__getitem__ is dict.__getitem__

    def get_many(
        self, queries: Iterable[Any], default: Any = None, *, score_cutoff: float | None = None
    ) -> list[Any]:
        """Return ``get(query, default)`` of each query, in one pass.

        A query may be anything that a key may be: None, a blank or a number is found if a key
        equals it, and gives ``default`` otherwise.

        Args:
            queries: the queries; not a single text.
            default: what stands for a query that matches nothing.
            score_cutoff: the least score of a match; by default that of ``get``.

        >>> d = FuzzyDict({"color": "black", "brand": "Porsche"})
        >>> d.get_many(["colour", None, "brnd", "", "qwzzt"], "?")
        ['black', '?', 'Porsche', '?', '?']
        """
        if isinstance(queries, str | bytes) or not isinstance(queries, Iterable):
            raise ArgumentTypeError(
                f"queries: expected a list of queries, got {type(queries).__name__} "
                f"{quoted(queries)}; for one, use get"
            )
        score_cutoff = as_cutoff(score_cutoff)
        asked, pools = as_queries(list(queries)), self.mode == "pool"

        def get(some: list[Any], reader: Reader) -> list[Any]:
            cutoff = self._cutoff(reader.lookup, score_cutoff, pools=pools)
            found = self._nearest(some, reader.lookup, cutoff)
            if pools:
                return self._pooled_or(default, some, found, reader)
            return [one.value if isinstance(one, Match) else default for one in found]

        return self._of_different(asked, get, finds_equal=not pools)

    def nearest(
        self, query: Any, *, default: Any = _GONE, score_cutoff: float | None = None
    ) -> Any:
        """Return the `Match` of the nearest key; for a list of queries, a list of them.

        Args:
            query: a query, or a list of queries.
            default: what stands for a query that matches nothing; if it is not given, that is an
                error.
            score_cutoff: the least score of a match; by default the option.

        Raises:
            NoMatchError: no key's score reaches the cutoff; the message names all such queries.

        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> d.nearest("colour").key
        'color'
        >>> [match and match.key for match in d.nearest(["colour", "qwzzt"], default=None)]
        ['color', None]
        """
        score_cutoff = as_cutoff(score_cutoff)
        queries = as_queries(query)

        def nearest(some: list[Any], reader: Reader) -> list[Match | NoMatchError]:
            return self._nearest(some, reader.lookup, self._cutoff(reader.lookup, score_cutoff))

        found = self._of_different(queries, nearest, finds_equal=True)
        errors = [one for one in found if isinstance(one, NoMatchError)]
        if errors and default is _GONE:
            raise no_matches(errors, "nearest(..., default=None) gives None for them")
        matches = Matches(default if isinstance(one, NoMatchError) else one for one in found)
        matches.unmatched = tuple(error.args[0] for error in errors)
        return matches if isinstance(query, list) else matches[0]

    def _nearest(
        self, queries: list[Any], lookup: Lookup, cutoff: float
    ) -> list[Match | NoMatchError]:
        """Return the match of each query, or the error that says why there is none."""
        names = [self._read_as(query) for query in queries]
        certain = list(map(self._is_certain, names))
        several = zip(names, certain, strict=True)
        asked = [exact_text(name) for name, sure in several if not sure and has_words(name)]
        scored = iter(lookup.nearest(asked) if asked and lookup.keys.count else [])
        found: list[Scored | NoMatchError] = []
        for query, name, is_certain in zip(queries, names, certain, strict=True):
            try:
                if is_certain:
                    found.append(Scored(name, 1.0))
                elif has_words(name) and lookup.keys.count:
                    found.append(require_match(query, name, next(scored), cutoff))
                else:
                    lookup.nearest(require_texts([require_key(query, name)]))  # tells why
            except NoMatchError as error:
                found.append(error)
        values = iter(self._values([one.name for one in found if isinstance(one, Scored)]))
        return [
            Match(one.name, next(values), one.score, query=query)
            if isinstance(one, Scored)
            else one
            for query, one in zip(queries, found, strict=True)
        ]

    def match(
        self, column: Any, *, score_cutoff: float | None = None, one_to_one: bool = False
    ) -> Any:
        """Return what matches each text of a column: query, key, value and score, as a frame.

        The frame is of the column's library, in its order, and in pandas with its index. Key, value
        and score are those of `nearest`, whatever the mode; they are null where the text is null or
        matches nothing. Equal texts are looked up once. Values that the library cannot hold in one
        column become texts, or JSON.

        Args:
            column: texts: a Series or Index of pandas, a Series of polars, an array of pyarrow, or
                whatever else narwhals reads.
            score_cutoff: the least score of a match; by default the option.
            one_to_one: whether each key may match one text at most. It goes to the text that equals
                it, or is an alias of it; of the others, which may have one of their ten best keys,
                the sum of the scores is the highest there is.

        Raises:
            ArgumentTypeError: ``column`` is no column, or does not hold texts.
            MissingExtraError: narwhals is not installed (extra ``frames``).

        >>> import pandas as pd
        >>> d = FuzzyDict({"color": "black", "brand": "Porsche"})
        >>> d.match(pd.Series(["colour", "brnd"]))["value"].tolist()
        ['black', 'Porsche']
        """
        score_cutoff, one_to_one = as_cutoff(score_cutoff), as_bool("one_to_one", one_to_one)
        from fuzzydict.results.columns import match_column

        return match_column(self, column, score_cutoff, one_to_one=one_to_one)

    def most_similar(self, query: Any, topn: int | None = 10) -> Any:
        """Return the ``topn`` best matches (all if None), best first, whatever their score.

        For a list of queries, return a list of such lists.

        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> [match.key for match in d.most_similar("colour")]
        ['color', 'brand']
        """
        topn = None if topn is None else whole_number("topn", topn, 0, other=", or None")
        queries = as_queries(query)

        def most_similar(some: list[Any], reader: Reader) -> list[Matches]:
            lookup, names = reader.lookup, [self._read_as(one) for one in some]
            alone = [self._is_alone(name, lookup) for name in names]
            cutoff, asked = self._cutoff(lookup), compared_texts(some, names, alone)
            ranked = iter(lookup.ranked(asked, topn) if asked and reader.size else [])
            found = [
                [Scored(name, 1.0)][:topn] if is_alone else next(ranked, [])
                for name, is_alone in zip(names, alone, strict=True)
            ]
            return list(map(Matches, self._matches(some, names, found, cutoff)))

        with naming_the_place(queries):
            found = self._of_different(queries, most_similar)
        return MatchLists(map(Matches, found)) if isinstance(query, list) else found[0]

    def explain(self, query: Any) -> Any:
        """Return the `Explanation` of a query: why `nearest` finds this key, or finds none.

        For a list of queries, return a list of them. A query below the cutoff is explained, not
        refused.

        Raises:
            NoMatchError: there is nothing to compare: the query is no text, or has no letters or
                digits, or the dict has no key that has some; and no key equals it.

        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> e = d.explain("collor")
        >>> e.best.key, e.runner_up.key, e.matches, e.best_parts.spelling > e.best_parts.meaning
        ('color', 'brand', True, True)
        """
        queries = as_queries(query)

        def explain(some: list[Any], reader: Reader) -> list[Explanation]:
            lookup, names = reader.lookup, [self._read_as(one) for one in some]
            alone = [self._is_alone(name, lookup) for name in names]
            asked = compared_texts(some, names, alone)
            told = iter(lookup.explain(asked) if asked else [])
            explained = [None if is_alone else next(told) for is_alone in alone]
            shown = [
                [Scored(name, 1.0) if one is None or self._is_certain(name) else one.best]
                + ([one.runner_up] if one and one.runner_up else [])
                for name, one in zip(names, explained, strict=True)
            ]
            matches = self._matches(some, names, shown, self._cutoff(lookup))
            return [
                self._explanation(*one, lookup)
                for one in zip(some, names, explained, matches, strict=True)
            ]

        with naming_the_place(queries):
            found = self._of_blocks(queries, explain)
        return Explanations(found) if isinstance(query, list) else found[0]

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
        queries = as_queries(query)
        if not queries:
            return []

        def attend(some: list[Any], reader: Reader) -> list[tuple[Attended, list[V]]]:
            names = [self._read_as(one) for one in some]
            asked = compared_texts(some, names, [False] * len(names))
            attended = self._attended(reader.lookup, asked, attn_mask)
            return [(group, self._values(group.names)) for group in attended]

        with naming_the_place(queries):
            read = self._of_blocks(queries, attend, at_once=attn_mask is not None)
        pooling = self._adapted_embedding(), as_projections(self.projections)
        texts, found = iter(queries), []
        for some, held in read:
            weights = [row for rows in weights_of(some.scores, some.temperature) for row in rows]
            sure = zip(some.left_out.tolist(), some.none, strict=True)
            rows = zip(some.query, some.scores, weights, sure, strict=True)
            found += [
                Attention(next(texts), some.names, q, some.keys, held, scores, row, *pooling, *told)
                for q, scores, row, told in rows
            ]
        return Attentions(found) if isinstance(query, list) else found[0]

    def pool(
        self,
        query: Any,
        *,
        attn_mask: AttnMask | None = None,
        score_cutoff: float | None = None,
    ) -> Any:
        """Return the mean of all values, weighted by attention, whatever the mode.

        Numbers give a float, arrays and lists of numbers an array of their shape; texts the mean
        of their vectors. A list of queries gives the stacked array. ``attn_mask`` is `attend`'s;
        ``score_cutoff`` takes the place of the option for this read.

        Raises:
            NoMatchError: no key's score, masked or not, reaches the cutoff; or there is nothing
                to attend to.
            PoolingError: the values cannot be pooled; it names the first such key.

        Warns:
            DoubtfulPoolWarning: it is more likely than not that no key is right for a query.

        >>> d = FuzzyDict({"red": (255, 0, 0), "navy": (0, 0, 128)})
        >>> d.pool("red").round().tolist()
        [255.0, 0.0, 0.0]
        """
        queries = as_queries(query)
        score_cutoff = as_cutoff(score_cutoff)
        refused = [taught_none(one) for one in queries if self._read_as(one) is NO_KEY]
        if refused:
            raise no_matches(refused, "leave them out")

        def pool(some: list[Any], reader: Reader) -> list[PooledBlock]:
            names = [self._read_as(one) for one in some]
            attended = self._attended(reader.lookup, names, attn_mask)
            best = [one for group in attended for one in group.best]
            cutoff = self._cutoff(reader.lookup, score_cutoff, pools=True)
            errors = [
                no_match(text, *one, cutoff)
                for text, name, one in zip(some, names, best, strict=True)
                if not is_match(name, *one, cutoff)
            ]
            none = [one for group in attended for one in group.none]
            return [PooledBlock(errors, none, [] if errors else self._pooled(attended, reader))]

        with naming_the_place(queries):
            blocks = self._of_blocks(queries, pool, at_once=attn_mask is not None)
        if errors := [error for block in blocks for error in block.errors]:
            raise no_matches(errors, "leave them out")
        warn_of_doubt(queries, [one for block in blocks for one in block.none])
        outputs = joined_outputs([output for block in blocks for output in block.outputs])
        return outputs if isinstance(query, list) else as_output(outputs[0])

    def _pooled(self, attended: list[Attended], reader: Reader) -> list[NDArray[np.float64]]:
        """Return the pooled values of queries, (L, *shape), for each group of queries."""
        embedding, projections = self._adapted_embedding(), as_projections(self.projections)
        outputs = []
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

    def _pooled_or(
        self, default: Any, queries: list[Any], found: list[Any], reader: Reader
    ) -> list[Any]:
        """Return the pooled value of each query that was found, or ``default``."""
        values = [one.value if isinstance(one, Match) else default for one in found]
        names = [self._read_as(query) for query in queries]
        places = [
            i for i, one in enumerate(found) if isinstance(one, Match) and has_words(names[i])
        ]
        if places:
            attended = self._attended(reader.lookup, [names[i] for i in places], None)
            outputs = joined_outputs(self._pooled(attended, reader))
            for place, output in zip(places, outputs, strict=True):
                values[place] = as_output(output)
            none = [none for some in attended for none in some.none]
            warn_of_doubt([queries[place] for place in places], none)
        return values

    # ---- what reads have in common ----------------------------------------------------------

    def _is_certain(self, query: Any) -> bool:
        """Tell whether an equal key needs no score, or can have none."""
        # A subclass may define another `in`.
        is_key = dict.__contains__(self, query)
        return is_key and (is_probability(self.scorer) or not has_words(query))

    def _is_alone(self, name: Any, lookup: Lookup) -> bool:
        """Tell whether there is an equal key, and nothing to compare it with."""
        return self._is_certain(name) and name not in lookup.keys.slots

    def _cutoff(
        self, lookup: Lookup, score_cutoff: float | None = None, *, pools: bool = False
    ) -> float:
        """Return the least score of a match: of this read, or the option, or the default."""
        given = as_cutoff(self.score_cutoff) if score_cutoff is None else score_cutoff
        if given is not None:
            return given
        return lookup.score.pool_cutoff if pools else lookup.score.score_cutoff

    def _explanation(
        self, query: Any, name: Any, told: Explained | None, shown: list[Match], lookup: Lookup
    ) -> Explanation:
        """Return an explanation; if nothing was compared (None), it is of an equal key alone."""
        cutoff, embedding = self._cutoff(lookup), lookup.embedding
        best, runner_up = shown[0], shown[1] if len(shown) > 1 else None
        text = query if name is NO_KEY else name
        return Explanation(
            query=query,
            words=words_of(text, embedding) if isinstance(text, str) else (),
            tells_words=embedding.tells_words,
            best=best,
            best_parts=told and told.best_parts,
            runner_up=runner_up,
            runner_up_parts=told and told.runner_up_parts,
            none=told and told.none,
            cutoff=cutoff,
            matches=best.matches,
            equal=dict.__contains__(self, query),
            taught=name is not query,
        )

    def _matches(
        self, queries: list[Any], names: list[Any], found: list[list[Scored]], cutoff: float
    ) -> list[list[Match]]:
        """Return the keys that were found for each query, which is read as its name."""

        def match(query: Any, name: Any, one: Scored, value: V) -> Match:
            matches = one.name is name or is_match(name, *one, cutoff)
            return Match(one.name, value, one.score, query=query, matches=matches)

        rows = zip(queries, names, found, strict=True)
        return [
            list(map(partial(match, query, name), some, self._values([one.name for one in some])))
            for query, name, some in rows
        ]

    def _attended(
        self, lookup: Lookup, queries: list[Any], attn_mask: AttnMask | None
    ) -> list[Attended]:
        names = lookup.keys.living() if attn_mask is not None else []
        allowed = None if attn_mask is None else self._allowed(attn_mask, names)
        return lookup.attend(require_texts(queries), allowed, as_temperature(self.temperature))

    def _allowed(self, attn_mask: AttnMask, names: list[str]) -> NDArray[np.bool_]:
        """Return which of the names, (S,), may be attended to."""
        if callable(attn_mask):
            return np.array([as_bool("attn_mask", attn_mask(name)) for name in names])
        mask = as_array("attn_mask", attn_mask)
        if mask.dtype != np.bool_:
            raise ArgumentTypeError(
                f"attn_mask: expected bools (True = attend) or a function of the key, "
                f"got {type(attn_mask).__name__} of dtype {mask.dtype}"
            )
        with self._lock:
            if mask.shape != (len(self),):
                raise ShapeError(
                    f"attn_mask: expected a bool for each of the {len(self)} keys, "
                    f"got shape {mask.shape}"
                )
            by_key = dict(zip(self, mask.tolist(), strict=True))
            self._values(names)  # which are in the dict, or this begins anew
        return np.array([by_key[name] for name in names])

    # ---- learning ---------------------------------------------------------------------------

    def fit(
        self,
        queries: Iterable[str] | Mapping[str, Any],
        targets: Iterable[Any] | None = None,
        *,
        remember: bool = True,
        learn: Sequence[str] | None = None,
        rank: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        validation: float | None = None,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
    ) -> FitReport:
        """Remember examples, and learn from many of them what other queries mean.

        If the targets are keys, the queries become `aliases`, beside those that are there: they
        are answered as shown from now on. From 100 examples on, Q and K are learned too, and the
        temperature of a named scorer. If the targets are numbers or arrays, the queries are to
        pool them: Q, K and the temperature are learned, and "cosine" replaces the default scorer.

        What is learned is kept if it answers held-out examples better, aliases aside. The guide
        "Learning from examples" tells what is held out, and when a result is kept.

        Args:
            queries: L texts, or a mapping from texts to their targets.
            targets: one for each query, unless ``queries`` is a mapping: a key, a list of right
                keys, or None where no key should match; or, for all, a number or an array.
            remember: whether queries become aliases: of several right keys, of the nearest.
            learn: which of "query", "key" and, to pool, "value"; by default Q and K.
            rank: learn ``I + A B'`` with A and B (E, rank); by default a whole matrix (E, E).
            epochs: passes over the examples, at most; by default 30, or 30 to 200 to pool.
            learning_rate: how far a step may turn a vector, as a share of its length; by default
                0.03, or 0.1 to pool.
            validation: the share of examples held out; by default 0.2; 0 holds none out. If it is
                given, Q and K are learned from fewer than 100 examples, too.
            seed: decides which examples are held out, and the order of the batches. Other
                machines may learn what differs in the last bits.
            progress: is called with ``(done, total)``; it may stop the fit by raising.
            warm_start: go on from what was learned; by default the last fit is undone first.

        Raises:
            OptionError: there are no examples, a target is no key, a query that is a key has
                another one, a text is to find two keys, or an option is out of range.
            ArgumentTypeError: a query is no text, targets are missing, or of several kinds.
            ShapeError: queries and targets are not as many; targets are NaN or of several shapes.
            PoolingError: targets are numbers, and a value cannot be pooled.

        >>> d = FuzzyDict({"color": "black", "price": 109000, "brand": "Porsche"})
        >>> report = d.fit({"hue": "color", "expense": "price", "maker": "brand"})
        >>> report.remembered, d["hue"], d["Maker"]
        (3, 'black', 'Porsche')
        """
        given = locals()
        from fuzzydict.learning.fit import Plan

        return self._learn(queries, targets, Plan(**{f.name: given[f.name] for f in fields(Plan)}))

    def _learn(self, queries: Any, targets: Any, plan: Plan) -> FitReport:
        """Learn as planned, set the options that are kept, and remember the examples."""
        from fuzzydict.learning.fit import learn_from

        state = self._state(warm_start=plan.warm_start)
        report, aliases = learn_from(state, queries, targets, plan)
        with self._lock:
            self.aliases.update(aliases)  # or raise, before anything is set
            if report.kept:
                restored = {} if plan.warm_start else self._options_before_fit()
                self._set_learned(restored | report.options)
        return report

    def _state(self, *, warm_start: bool) -> DictState:
        """Return the dict as it learns: as it is, or as it was before it was fitted."""
        from fuzzydict.learning.candidate import DictState

        with self._reading() as reader:
            keys, embedding = reader.lookup.keys, self._unprojected_embedding()
            names = keys.living()
            if not names:
                raise OptionError("fit: no key of the dict is a text with letters or digits")
            before = self._options_before_fit()
            options = {name: getattr(self, name) for name in LEARNED} if warm_start else before
            if is_spelling(self.scorer):  # there are no vectors to project
                options = {**options, "projections": None}
            is_as_it_was = options["projections"] is self.projections
            return DictState(
                keys=frozenset(self),
                names=names,
                vectors=keys.vectors[keys.alive] if is_as_it_was else None,
                values=self._values(names),
                embedding=embedding,
                options=options,
            )

    # ---- files ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the dict to one file, with its options, aliases and vectors; no pickle.

        The file is replaced as a whole or not at all. It holds the embedding's fingerprint, not
        the embedding.

        Raises:
            ArgumentTypeError: a key or value is of none of JSON's types, no tuple and no numpy
                array, and the message names the key; or the scorer is a function.
        """
        with self._reading() as reader:
            lookup = reader.lookup
            options = {name: getattr(self, name) for name in OPTIONS}
            write_saved(
                path, self, self.aliases, options, lookup.embedding, lookup.keys, self._neighbours
            )

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, embedding: Any = None, mapped: bool = False
    ) -> Self:
        """Open a dict that `save` wrote; ``embedding`` is the one with which it was made.

        It may be left out for the Brown vectors and for "english".

        Vectors of over 64 MB stay in the file, where all processes that open it share them; with
        ``mapped``, those of over 1 MB. If they are damaged, fuzzy reads raise the error.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version.
            OptionError: the embedding is another one; the message names both.
        """
        saved = read_saved(path, mapped=as_bool("mapped", mapped))
        options, keys = saved.options, saved.keys
        new: Self = empty_of(declared_class(cls), options.pop("mode"))
        new._configure(options if embedding is None else {**options, "embedding": embedding})
        for name, value in options.items():
            if value is None and getattr(new, name) is not None:  # as a class attribute has it
                setattr(new, name, None)
        dict.update(new, saved.items)
        if saved.aliases:
            new.aliases = saved.aliases
        if keys is not None:
            index = KeyIndex(new._projected_embedding())
            neighbours = keys.restore(index, new.index)
            new.__dict__.update(_index=index, _told=len(new), _neighbours=neighbours)
        return new


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the name that is spelled most like one that is wrong.

    >>> suggestion("colum", ["row", "column"]), suggestion("qwzzt", ["row", "column"])
    (" (did you mean 'column'?)", '')
    """
    known = FuzzyDict({one: one for one in names}, scorer="spelling", score_cutoff=0.2)
    found = known.get(name)
    return "" if found is None else f" (did you mean {quoted(found)}?)"
