"""`FuzzyDict`: a dict whose reads are fuzzy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Never, Self, TypeVar, cast

import numpy as np

from fuzzydict._arrays import as_array, as_bool
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, OptionError, ShapeError, quoted
from fuzzydict.indexed import IndexedDict, Reader
from fuzzydict.options import (
    LEARNED,
    OPTIONS,
    as_cutoff,
    declared_class,
    empty_of,
    unknown_option,
)
from fuzzydict.reads import NOT_GIVEN, AttnMask, Reads
from fuzzydict.results.answers import (
    NO_KEY,
    has_words,
    is_match,
    no_match,
    require_key,
    require_texts,
)
from fuzzydict.saving import read_saved, write_saved
from fuzzydict.search.key_index import KeyIndex
from fuzzydict.search.lookup import Lookup, Scored
from fuzzydict.search.score import is_probability, is_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.candidate import DictState
    from fuzzydict.learning.fit import Plan
    from fuzzydict.learning.report import FitReport


V = TypeVar("V")


class FuzzyDict(IndexedDict[V], Reads[V, Reader]):
    """A dict that also answers queries that are not its keys.

    Reads by query are fuzzy; membership, writes and iteration are those of a plain dict.

    Args:
        data: what a dict takes: a mapping, or pairs.
        mode: "nearest": ``d[query]`` is the value of the nearest key; "pool": ``d[query]`` is the
            mean of all values, weighted by attention. By the default score a key has its own
            value in both; with a named scorer ``d[key]`` pools, too. ``dict(d)``, ``{**d}``, ``|``
            and other copies have the items as they are.
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
        projections: learned Q, K and V, as `fit` gives them; by default none, as "identity".
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

    def _nearest_value(self, query: Any, score_cutoff: float | None, default: Any = NOT_GIVEN) -> V:
        """Return the value of the nearest key to a query that is none; or the default, if any."""
        with self._lock:
            name = self._read_as(query) if self._aliases else query
            if name is not query:  # it was taught
                return dict.__getitem__(self, require_key(query, name))
            reader = self._reader
            if type(query) is str and score_cutoff is None and self._is_current(reader):
                found = reader.found.get(query, NOT_GIVEN)
                if found is not NOT_GIVEN:
                    return self._value_of(query, found, reader.lookup, None, default)

        def find(asked: list[str], reader: Reader) -> list[V]:
            found = self._find(asked[0], self._cutoff(reader.lookup, score_cutoff), reader)
            if score_cutoff is None:
                reader.remember(asked[0], found)
            return [self._value_of(query, found, reader.lookup, score_cutoff, default)]

        return self._of_block(require_texts([query]), find)[0]

    def _value_of(
        self,
        query: Any,
        found: str | Scored,
        lookup: Lookup,
        score_cutoff: float | None,
        default: Any,
    ) -> V:
        """Return the value of the key that was found; if none matches, the default, or raise."""
        if isinstance(found, str):
            value = dict.get(self, found, NOT_GIVEN)
            return self._values([found])[0] if value is NOT_GIVEN else cast("V", value)
        if default is NOT_GIVEN:
            raise no_match(query, *found, self._cutoff(lookup, score_cutoff))
        return cast("V", default)

    def _find(self, query: str, cutoff: float, reader: Reader) -> str | Scored:
        """Return the nearest key; if it does not match, with its score."""
        (found,) = reader.lookup.nearest([query])
        return found.name if is_match(query, *found, cutoff) else found

    def _pooled_item(self, query: Any, score_cutoff: float | None = None) -> Any:
        with self._lock:
            name = self._read_as(query)
            is_own = dict.__contains__(self, name) and is_probability(self.scorer)
            if is_own or not (name is NO_KEY or has_words(name)):
                return dict.__getitem__(self, name)
        return self._pool(query, score_cutoff=score_cutoff)

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

    # ---- what reads ask ----------------------------------------------------------------------

    def _is_key(self, name: Any, reader: Reader | None = None) -> bool:  # noqa: ARG002
        return dict.__contains__(self, name)  # a subclass may define another `in`

    def _is_alone(self, name: Any, reader: Reader) -> bool:
        return self._is_certain(name, reader) and name not in reader.lookup.keys.slots

    def _allowed(self, attn_mask: AttnMask, reader: Reader) -> NDArray[np.bool_]:
        names = reader.lookup.keys.living()
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
            epochs: passes over the examples, at most; by default 15, or 30 to 100 to pool.
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
            keys = reader.lookup.keys
            names = keys.living()
            if not names:
                raise OptionError("fit: no key of the dict is a text with letters or digits")
            before = self._options_before_fit()
            options = {name: getattr(self, name) for name in LEARNED} if warm_start else before
            by_letters = is_spelling(options["scorer"])  # so that no vectors are needed
            return DictState(
                every=frozenset(self),
                found=keys,
                is_current=options["projections"] is self.projections,
                values=self._values(names),
                embedding=None if by_letters else self._adapted_embedding(),
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
                path, self, self.aliases, options, lookup.meaning, lookup.keys, self._neighbours
            )

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        embedding: Any = None,
        mapped: bool = False,
        trust: bool = False,
    ) -> Self:
        """Open a dict that `save` wrote; ``embedding`` is the one with which it was made.

        It may be left out for the Brown vectors and for "english".

        Vectors of over 64 MB stay in the file, where all processes that open it share them; with
        ``mapped``, those of over 1 MB. If they are damaged, fuzzy reads raise the error.

        A file is refused if to compare each key that is no text with all others of its dict, also
        of dicts among the values, takes over 25 million comparisons: more than 5,000 integers in
        one dict, say. Such keys can be chosen so that opening takes hours. With ``trust`` they are
        read, so give it for files from people you trust.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version; or it
                has more keys that are no texts than are read without ``trust``.
            OptionError: the embedding is another one; the message names both.
        """
        saved = read_saved(path, mapped=as_bool("mapped", mapped), trust=as_bool("trust", trust))
        options, keys = saved.options, saved.keys
        new: Self = empty_of(declared_class(cls), options.pop("mode"))
        new._configure(options if embedding is None else {**options, "embedding": embedding})
        for name, value in options.items():
            if value is None and getattr(new, name) is not None:  # as a class attribute has it
                setattr(new, name, None)
        dict.update(new, saved.items)
        if saved.aliases:
            new.aliases = saved.aliases
        index = KeyIndex(new._current_meaning())
        neighbours = keys.restore(index, new.index)
        new.__dict__.update(_index=index, _told=len(new), _neighbours=neighbours)
        return new


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the name that is spelled most like one that is wrong.

    >>> suggestion("colum", ["row", "column"]), suggestion("qwzzt", ["row", "column"])
    (" (did you mean 'column'?)", '')
    """
    known = FuzzyDict({one: one for one in names}, scorer="spelling")
    found = known.get(name)
    return "" if found is None else f" (did you mean {quoted(found)}?)"
