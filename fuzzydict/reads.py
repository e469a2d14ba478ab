"""Reads by query: what they return, whatever holds the keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import as_bool, make_room, whole_number
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, quoted
from fuzzydict.options import Configured, as_cutoff, as_temperature, check_reachable
from fuzzydict.results.answers import (
    NO_KEY,
    Attention,
    Attentions,
    Match,
    Matches,
    MatchLists,
    as_queries,
    is_match,
    no_match,
    no_matches,
    require_texts,
    taught_none,
    tell_the_place,
)
from fuzzydict.results.explanation import Explanation, Explanations, words_of
from fuzzydict.results.pooling import (
    Doubt,
    StackedValues,
    as_output,
    doubts_about,
    joined_outputs,
    pooled,
    warn_of_doubt,
    weights_of,
)
from fuzzydict.search.keys import exact_text, has_words
from fuzzydict.search.lookup import Attended, Exact, Explained, Lookup, Scored
from fuzzydict.search.score import JudgedScore, is_probability

T = TypeVar("T")
V = TypeVar("V")
AttnMask = Sequence[bool] | Callable[[str], bool]

#: What stands for an argument that was not given.
NOT_GIVEN: Any = object()
_REMEMBERED = 16_384  # queries whose best keys are remembered
_SHORT = 64  # characters of a query that is remembered
_options = attrgetter(
    *("_meaning", "embedding", "index", "projections", "score_cutoff", "scorer", "temperature")
)


class BlockReader(Protocol):
    """What a block of queries is read by."""

    size: int  # the number of items
    stacked: StackedValues | None  # the values of all keys as one array, if they were pooled

    @property
    def lookup(self) -> Lookup:
        """What finds keys."""

    def nearest(self, asked: list[str]) -> list[Scored]:
        """Return the best key of each query."""


ReaderT = TypeVar("ReaderT", bound=BlockReader)
#: From a block of queries to what is read of each.
Read: TypeAlias = Callable[[list[Any], ReaderT], list[T]]


class Reader:
    """A snapshot of a dict in memory, which reads use until a key or an option changes."""

    __slots__ = ("_is_fixed", "_options", "best", "cutoff", "lookup", "size", "stacked")

    def __init__(self, d: Any, lookup: Exact, cutoff: float) -> None:
        self.size, self._options, self.lookup, self.cutoff = len(d), _options(d), lookup, cutoff
        self._is_fixed = d.scorer is None or isinstance(d.scorer, str)  # an object may change
        self.best: dict[str, Scored] = {}  # the best keys of the last short queries
        self.stacked: StackedValues | None = None

    def has_options_of(self, d: Any) -> bool:
        """Tell whether the dict has the very options; a class may have set another one."""
        return all(map(is_, self._options, _options(d)))

    def nearest(self, asked: list[str]) -> list[Scored]:
        """Return the best key of each query; those of short queries are remembered."""
        known = {text: one for text in asked if (one := self.best.get(text)) is not None}
        if new := [text for text in dict.fromkeys(asked) if text not in known]:
            found = dict(zip(new, self.lookup.nearest(new), strict=True))
            known |= found
            if self._is_fixed:
                short = {text: one for text, one in found.items() if len(text) <= _SHORT}
                make_room(self.best, _REMEMBERED - len(short))
                self.best.update(short)
        return [known[text] for text in asked]


class Reads(Configured, Generic[V, ReaderT]):
    """Reads by query of what has keys and values: those of a dict, or in a database."""

    @property
    @abstractmethod
    def aliases(self) -> MutableMapping[str, Any]:
        """What was taught: texts, and the key that each is read as, or None if none matches."""

    # ---- the nearest keys ---------------------------------------------------------------------

    def get_many(
        self, queries: Iterable[Any], default: Any = None, *, score_cutoff: float | None = None
    ) -> list[Any]:
        """Return ``get(query, default)`` of each query, in one pass.

        A query may be anything that a key may be: None, a blank or a number is found if a key
        equals it, and gives ``default`` otherwise. ``score_cutoff`` takes the place of the option
        for this read. A single text in place of a list of queries is an ArgumentTypeError.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"color": "black", "brand": "Porsche"})
        >>> d.get_many(["colour", None, "brnd", "", "qwzzt"], "?")
        ['black', '?', 'Porsche', '?', '?']
        """
        is_frame = hasattr(type(queries), "columns")  # which would give the names of its columns
        if isinstance(queries, str | bytes) or is_frame or not isinstance(queries, Iterable):
            raise ArgumentTypeError(
                f"queries: expected a list of queries, got {type(queries).__name__} "
                f"{quoted(queries)}; for one, use get; of a frame, give a column"
            )
        asked, score_cutoff = as_queries(list(queries)), as_cutoff(score_cutoff)
        pools = self.mode == "pool"

        def get(some: list[Any], reader: ReaderT) -> list[Any]:
            found = self._nearest(some, reader, self._cutoff(reader.lookup, score_cutoff, pools))
            values = [one.value if isinstance(one, Match) else default for one in found]
            names = [self._read_as(query, reader) for query in some] if pools else []
            places = [
                place
                for place, name in enumerate(names)
                if isinstance(found[place], Match) and not self._is_certain(name, reader)
            ]
            if places:
                attended = self._attended(reader, [names[place] for place in places], None)
                outputs = joined_outputs(self._pooled(attended, reader))
                doubtful, doubts = [some[place] for place in places], doubts_about(attended)
                warn_of_doubt(doubtful, doubts, of_numbers=outputs.ndim == 1)
                for place, output in zip(places, outputs, strict=True):
                    values[place] = as_output(output)
            return values

        return self._each(asked, get)

    @overload
    def nearest(
        self, query: list[Any], *, default: Any = ..., score_cutoff: float | None = None
    ) -> Matches: ...
    @overload
    def nearest(self, query: Any, *, score_cutoff: float | None = None) -> Match: ...
    @overload
    def nearest(
        self, query: Any, *, default: T, score_cutoff: float | None = None
    ) -> Match | T: ...
    def nearest(
        self, query: Any, *, default: Any = NOT_GIVEN, score_cutoff: float | None = None
    ) -> Any:
        """Return the `Match` of the nearest key; for a list of queries, a list of them.

        ``default`` stands for a query that matches nothing; ``score_cutoff`` takes the place of the
        option for this read.

        Raises:
            NoMatchError: no key's score reaches the cutoff, and no default is given; the message
                names all such queries.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> d.nearest("colour").key
        'color'
        >>> [match and match.key for match in d.nearest(["colour", "qwzzt"], default=None)]
        ['color', None]
        """
        queries, score_cutoff = as_queries(query), as_cutoff(score_cutoff)

        def nearest(some: list[Any], reader: ReaderT) -> list[Match | NoMatchError]:
            return self._nearest(some, reader, self._cutoff(reader.lookup, score_cutoff))

        found = self._each(queries, nearest)
        errors = [one for one in found if isinstance(one, NoMatchError)]
        if errors and default is NOT_GIVEN:
            raise no_matches(errors, "nearest(..., default=None) gives None for them")
        matches = Matches(default if isinstance(one, NoMatchError) else one for one in found)
        matches.unmatched = tuple(error.args[0] for error in errors)
        return matches if isinstance(query, list) else matches[0]

    def _nearest(
        self, queries: list[Any], reader: ReaderT, cutoff: float
    ) -> list[Match | NoMatchError]:
        """Return the match of each query, or the error that says why there is none."""
        lookup, names = reader.lookup, [self._read_as(query, reader) for query in queries]
        found, asked = list[Scored | NoMatchError | None](), list[str]()
        for query, name in zip(queries, names, strict=True):
            if self._is_certain(name, reader):
                found.append(Scored(name, 1.0))
            elif name is NO_KEY:
                found.append(taught_none(query))
            elif lookup.count and has_words(name):
                found.append(None)  # it is compared
                asked.append(exact_text(name))
            else:
                try:
                    lookup.nearest(require_texts([name]))  # which says why not
                except NoMatchError as error:
                    found.append(error)
        best = iter(reader.nearest(asked) if asked else [])
        for place, name in enumerate(names):
            if found[place] is None:
                one = next(best)
                matches = is_match(name, *one, cutoff)
                found[place] = one if matches else no_match(queries[place], *one, cutoff)
        keys = [one.name for one in found if isinstance(one, Scored)]
        values = iter(self._values(keys, reader) if keys else [])
        return [
            Match(one.name, next(values), one.score, query=query)
            if isinstance(one, Scored)
            else cast("NoMatchError", one)
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
        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"color": "black", "brand": "Porsche"})
        >>> d.match(pd.Series(["colour", "brnd"]))["value"].tolist()
        ['black', 'Porsche']
        """
        score_cutoff, one_to_one = as_cutoff(score_cutoff), as_bool("one_to_one", one_to_one)
        from fuzzydict.results.columns import match_column

        return match_column(self, column, score_cutoff, one_to_one=one_to_one)

    @overload
    def most_similar(self, query: list[Any], topn: int | None = 10) -> MatchLists: ...
    @overload
    def most_similar(self, query: Any, topn: int | None = 10) -> Matches: ...
    def most_similar(self, query: Any, topn: int | None = 10) -> Any:
        """Return the ``topn`` best matches (all if None), best first, whatever their score.

        For a list of queries, return a list of such lists; that of a text without letters and
        digits is empty.

        Raises:
            NoMatchError: there is nothing to compare: the query is no text, or the only one and
                without letters and digits, and no key equals it.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> [match.key for match in d.most_similar("colour")]
        ['color', 'brand']
        """
        topn = None if topn is None else whole_number("topn", topn, 0, other=", or None")
        queries, is_list = as_queries(query), isinstance(query, list)

        def most_similar(some: list[Any], reader: ReaderT) -> list[Matches]:
            names, compared = self._compared(some, reader, is_list=is_list)
            found = [[Scored(n, 1.0)][: topn if self._is_key(n, reader) else 0] for n in names]
            if compared and reader.size:
                ranked = reader.lookup.ranked(list(compared.values()), topn)
                for place, best in zip(compared, ranked, strict=True):
                    found[place] = best
            cutoff = self._cutoff(reader.lookup)
            return list(map(Matches, self._matches(some, names, found, reader, cutoff)))

        found = self._each(queries, most_similar)
        return MatchLists(map(Matches, found)) if is_list else found[0]

    @overload
    def explain(self, query: list[Any]) -> Explanations: ...
    @overload
    def explain(self, query: Any) -> Explanation: ...
    def explain(self, query: Any) -> Any:
        """Return the `Explanation` of a query: why `d[query]` finds this key, or finds none.

        For a list of queries, return a list of them; that of a text without letters and digits
        has no ``best``. A query below the cutoff is explained, not refused.

        Raises:
            NoMatchError: there is nothing to compare: the query is no text, or the only one and
                without letters and digits, or the dict has no key that has some; and no key equals
                it.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> e = d.explain("collor")
        >>> e.best.key, e.runner_up.key, e.matches, e.best_parts.spelling > e.best_parts.meaning
        ('color', 'brand', True, True)
        """
        queries, is_list = as_queries(query), isinstance(query, list)

        def explain(some: list[Any], reader: ReaderT) -> list[Explanation]:
            names, compared = self._compared(some, reader, is_list=is_list)
            explained = reader.lookup.explain(list(compared.values())) if compared else []
            told, shown = dict(zip(compared, explained, strict=True)), []
            for place, name in enumerate(names):
                one = told.get(place)
                best = Scored(name, 1.0) if self._is_certain(name, reader) else one and one.best
                shown.append([other for other in (best, one and one.runner_up) if other])
            matches = self._matches(some, names, shown, reader, self._cutoff(reader.lookup))
            each = zip(some, names, map(told.get, range(len(some))), matches, strict=True)
            return [self._explanation(*one, reader) for one in each]

        explanations = self._each(queries, explain)
        return Explanations(explanations) if is_list else explanations[0]

    def _explanation(
        self, query: Any, name: Any, told: Explained | None, shown: list[Match], reader: ReaderT
    ) -> Explanation:
        """Return an explanation; if nothing was compared (None), it is of an equal key alone."""
        lookup, meaning, pools = reader.lookup, reader.lookup.meaning, self.mode == "pool"
        best, runner_up = [*shown, None, None][:2]
        is_refused = best is None and isinstance(lookup.score, JudgedScore)  # not compared at all
        cutoff, text = self._cutoff(lookup, pools=pools), query if name is NO_KEY else name
        texts = [exact_text(one) for one in (text, best and best.key) if isinstance(one, str)]
        return Explanation(
            query=query,
            words=words_of(text, meaning) if isinstance(text, str) else (),
            tells_words=not meaning.is_encoded,
            best=best,
            best_parts=told and told.best_parts,
            runner_up=runner_up,
            runner_up_parts=told and told.runner_up_parts,
            none=1.0 if is_refused else told and told.none,
            cutoff=cutoff,
            matches=best is not None
            and (best.matches or (pools and is_match(name, best.key, best.score, cutoff))),
            equal=self._is_key(query, reader),
            taught=name is not query,
            pools=pools,
            synonyms=meaning.table.synonyms_in(texts),
        )

    # ---- attention ----------------------------------------------------------------------------

    @overload
    def attend(
        self, query: list[Any], *, attn_mask: AttnMask | None = None, topn: int | None = None
    ) -> Attentions: ...
    @overload
    def attend(
        self, query: Any, *, attn_mask: AttnMask | None = None, topn: int | None = None
    ) -> Attention: ...
    def attend(
        self, query: Any, *, attn_mask: AttnMask | None = None, topn: int | None = None
    ) -> Any:
        """Return the `Attention` of a query over the keys, with every intermediate.

        For a list of queries, return a list of them; a text without letters and digits attends to
        no keys. The cutoff is not applied.

        Args:
            query: a text, or a list of texts.
            attn_mask: which keys to attend to: a bool for each key of the dict, in its order, or
                a function of the key.
            topn: attend to the ``topn`` keys with the largest scores alone; their weights add up
                to one, and `Attention.left_out` is the weight that the others would have.

        Raises:
            NoMatchError: there is nothing to attend to: the query is no text, or the only one and
                without letters and digits, the dict has no key that has some, or all are masked.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"red": 1.0, "blue": 3.0}, embedding={"red": [1, 0], "blue": [0, 1]})
        >>> d.attend("red", attn_mask=lambda key: key != "red").output
        3.0
        """
        topn = None if topn is None else whole_number("topn", topn, 1, other=", or None")
        queries, is_list = as_queries(query), isinstance(query, list)
        if not queries:
            return []

        def attend(some: list[Any], reader: ReaderT) -> list[Attention]:
            _, compared = self._compared(some, reader, is_list=is_list, with_keys=False)
            asked, places = list(compared.values()), iter(compared)
            pooling = self._adapted_embedding(), as_projections(self.projections)
            keys = reader.lookup.meaning.of_texts([])
            vector, scores = np.zeros(keys.shape[1], np.float32), np.zeros(0, np.float32)
            none = 1.0 if isinstance(reader.lookup.score, JudgedScore) else None
            blank = vector, keys, list[Any](), scores, np.zeros(0), *pooling, 0.0, none
            found = [Attention(query, [], *blank) for query in some]
            for group in self._attended(reader, asked, attn_mask, topn) if asked else []:
                names, values = group.names, self._values(group.names, reader)
                weights = chain.from_iterable(weights_of(group.scores, group.temperature))
                doubts = zip(group.left_out.tolist(), group.none, strict=True)
                rows = zip(group.query, group.scores, weights, doubts, strict=True)
                for vector, scores, shares, doubt in rows:
                    told = vector, group.keys, values, scores, shares, *pooling, *doubt
                    place = next(places)
                    found[place] = Attention(some[place], names, *told)
            return found

        found = self._each(queries, attend, at_once=attn_mask is not None)
        return Attentions(found) if is_list else found[0]

    def pool(
        self, query: Any, *, attn_mask: AttnMask | None = None, score_cutoff: float | None = None
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
            DoubtfulPoolWarning: more likely than not no key is right for a query; or, of numbers,
                the best key is not.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"red": (255, 0, 0), "navy": (0, 0, 128)})
        >>> d.pool("red").round().tolist()
        [255.0, 0.0, 0.0]
        """
        queries, score_cutoff = as_queries(query), as_cutoff(score_cutoff)

        def pool(
            some: list[Any], reader: ReaderT
        ) -> list[tuple[list[NoMatchError], list[Doubt], list[NDArray[np.float64]]]]:
            names = [self._read_as(one, reader) for one in some]
            each = list(zip(some, names, strict=True))
            if errors := [taught_none(one) for one, name in each if name is NO_KEY]:
                return [(errors, [], [])]
            attended = self._attended(reader, names, attn_mask)
            cutoff = self._cutoff(reader.lookup, score_cutoff, pools=True)
            best = [one for group in attended for one in group.best]
            errors = [
                no_match(text, *one, cutoff)
                for (text, name), one in zip(each, best, strict=True)
                if not is_match(name, *one, cutoff)
            ]
            outputs = [] if errors else self._pooled(attended, reader)
            return [(errors, doubts_about(attended), outputs)]

        try:
            blocks = self._of_blocks(queries, pool, at_once=attn_mask is not None)
        except NoMatchError as error:
            tell_the_place(error, queries)
            raise
        errors, doubts, groups = (list(chain.from_iterable(of)) for of in zip(*blocks, strict=True))
        if errors:
            raise no_matches(errors, "leave them out")
        outputs = joined_outputs(groups)
        warn_of_doubt(queries, doubts, of_numbers=outputs.ndim == 1)
        return outputs if isinstance(query, list) else as_output(outputs[0])

    def _pooled(self, attended: list[Attended], reader: ReaderT) -> list[NDArray[np.float64]]:
        """Return the pooled values of queries, (L, *shape), for each group of queries."""
        embedding, projections = self._adapted_embedding(), as_projections(self.projections)
        outputs = []
        for one in attended:
            stacked = StackedValues(one.names, self._values(one.names, reader), embedding)
            if len(attended) == 1:  # all keys, as a rule: the array is kept until a write
                stacked = reader.stacked = stacked.or_same(reader.stacked)
            weights = weights_of(one.scores, one.temperature)
            outputs.append(pooled(one.scores, weights, stacked, projections))
        if len(attended) > 1:  # the values of each group are of one kind; those of all must be
            names = [one.names[int(one.scores[0].argmax())] for one in attended]
            StackedValues(names, self._values(names, reader), embedding).array()
        return outputs

    # ---- what reads have in common ------------------------------------------------------------

    def _is_certain(self, name: Any, reader: ReaderT) -> bool:
        """Tell whether there is an equal key, and no other key is compared."""
        is_key = self._is_key(name, reader)
        return is_key and (is_probability(self.scorer) or not has_words(name))

    def _cutoff(
        self, lookup: Lookup, score_cutoff: float | None = None, pools: bool = False
    ) -> float:
        """Return the least score of a match: of this read, or the option, or the default."""
        given = as_cutoff(self.score_cutoff) if score_cutoff is None else score_cutoff
        if given is not None:
            check_reachable(given, self.scorer)
            return given
        return lookup.score.pool_cutoff if pools else lookup.score.score_cutoff

    def _compared(
        self, queries: list[Any], reader: ReaderT, *, is_list: bool, with_keys: bool = True
    ) -> tuple[list[Any], dict[int, str]]:
        """Return what each query is read as, and by the places of some the texts to compare."""
        names, compared = [self._read_as(query, reader) for query in queries], dict[int, str]()
        for place, (query, name) in enumerate(zip(queries, names, strict=True)):
            text = query if name is NO_KEY else name
            is_found = with_keys and self._is_key(name, reader)
            may_be_left_out = is_found or (is_list and isinstance(text, str))  # without words
            if not may_be_left_out or has_words(text):
                (compared[place],) = self._texts_of([text], reader)
        return names, compared

    def _matches(
        self,
        queries: list[Any],
        names: list[Any],
        found: list[list[Scored]],
        reader: ReaderT,
        cutoff: float,
    ) -> list[list[Match]]:
        """Return the keys that were found for each query, which is read as its name."""
        values = iter(self._values([one.name for some in found for one in some], reader))
        return [
            [
                Match(
                    *(one.name, next(values), one.score),
                    query=query,
                    matches=one.name is name or is_match(name, *one, cutoff),
                )
                for one in some
            ]
            for query, name, some in zip(queries, names, found, strict=True)
        ]

    def _attended(
        self,
        reader: ReaderT,
        queries: list[Any],
        attn_mask: AttnMask | None,
        topn: int | None = None,
    ) -> list[Attended]:
        allowed = None if attn_mask is None else self._allowed(attn_mask, reader)
        temperature = as_temperature(self.temperature)
        return reader.lookup.attend(self._texts_of(queries, reader), allowed, temperature, topn)

    def _texts_of(self, queries: list[Any], reader: ReaderT) -> list[str]:
        """Return queries as plain texts, or raise: a key that is no text attends to no others."""
        for query in queries:
            if not isinstance(query, str) and self._is_key(query, reader):
                what = "is a key that is no text, and only a text is compared with others"
                raise NoMatchError(query, f"{quoted(query)} {what}; d[...] gives its value")
        return require_texts(queries)

    def _each(
        self, queries: list[Any], read: Read[ReaderT, T], *, at_once: bool = False
    ) -> list[T]:
        """Return what is read of each query, of equal texts once; see `_of_blocks`."""
        ids = [query if type(query) is str else id(query) for query in queries]
        different = dict(zip(ids, queries, strict=True))
        try:
            found = self._of_blocks(list(different.values()), read, at_once=at_once)
        except NoMatchError as error:
            tell_the_place(error, queries)
            raise
        of_ids = dict(zip(different, found, strict=True))
        return [of_ids[one] for one in ids]

    # ---- what holds the keys ------------------------------------------------------------------

    @abstractmethod
    def _of_blocks(
        self, queries: list[Any], read: Read[ReaderT, T], *, at_once: bool = False
    ) -> list[T]:
        """Return what is read of the queries, some of them at a time, or all ``at_once``."""

    @abstractmethod
    def _read_as(self, query: Any, reader: ReaderT) -> Any:
        """Return the key that was taught for a query, `NO_KEY` if None was, or else the query."""

    @abstractmethod
    def _is_key(self, name: Any, reader: ReaderT) -> bool:
        """Tell whether there is an equal key."""

    @abstractmethod
    def _values(self, names: list[Any], reader: ReaderT) -> list[V]:
        """Return the values of keys."""

    @abstractmethod
    def _allowed(self, attn_mask: AttnMask, reader: ReaderT) -> NDArray[np.bool_]:
        """Return which of the keys that are compared, (S,), may be attended to."""
