"""`pool_shards`: pooling over files and dicts as over the one dict that has the items of all.

Each shard is asked three times. It counts, for the statistics of all keys. It looks for the keys
that are most worth a look, of which the best of all shards are judged in one place. And it pools
its other keys by what is seen of them at a glance; such sums are merged.

    L queries, n slots of a shard, C candidates of each query, Ev numbers of a value
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import OptionError, PoolingError, quoted
from fuzzydict.nn.attention import Partial, finish, merge, partial
from fuzzydict.options import as_cutoff, as_temperature
from fuzzydict.results.answers import (
    as_queries,
    naming_the_place,
    no_match,
    no_matches,
    require_texts,
    taught_none,
)
from fuzzydict.results.pooling import as_output, joined_outputs, reached_by, shaped, warn_of_doubt
from fuzzydict.search.align import Found, align
from fuzzydict.search.judge import Judged
from fuzzydict.search.key_index import KeyIndex, exact_text
from fuzzydict.search.keys import Keys, Statistics
from fuzzydict.search.lookup import Exact, left_by_equal
from fuzzydict.search.retrieve import CANDIDATES, Glance, candidates, glance, largest
from fuzzydict.search.score import JudgedScore, NamedScore, as_score
from fuzzydict.stores.parts import (
    Counted,
    Described,
    Part,
    Shard,
    described,
    names_of,
    opened,
    require_same_options,
)
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.projections import Projections
    from fuzzydict.search.align import Query
    from fuzzydict.search.meaning import Meaning

#: What runs a function for each of several things, as the builtin ``map`` does.
Map = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

_TOGETHER = 4096  # different queries that shards are asked at a time
_SCORES, _QUERIES = 1 << 22, 128  # made at a time, in several arrays; and compared at a time


def pool_shards(
    queries: Any,
    shards: Iterable[Any],
    *,
    map: Map = map,  # noqa: A002
    score_cutoff: float | None = None,
    embedding: Any = None,
) -> Any:
    """Return `FuzzyDict.pool` of the one dict that has the items of all shards, in their order.

    No process holds the keys of another: what each pools of its own is merged. The result is that
    of the one dict but for rounding, less than 1e-4 of the range of the values. Each shard is asked
    three times, and a store is read whole each time.

    Args:
        queries: a text, or a list of texts.
        shards: files that `FuzzyDict.save` wrote, dicts, or dicts that `connect` opened, all with
            the same embedding and options. A file is opened once a process, by this path.
        map: what runs a function for each of the shards: the builtin, ``map`` of a
            ``ProcessPoolExecutor``, or ``lambda f, xs: client.gather(client.map(f, xs))`` of a
            client of Dask. Other processes encode the keys of dicts again: save these first.
        score_cutoff: the least score of the best key; by default the option.
        embedding: that of the files, unless it ships with the package.

    Raises:
        OptionError: there is no shard, two have different options, two have the same key, or one
            has changed meanwhile.
        NoMatchError: no key's score reaches the cutoff, or there is nothing to attend to.
        PoolingError: the values cannot be pooled.
        ArgumentTypeError: a shard is none of these.
        FileNotFoundError, FileFormatError, StoreError: a shard cannot be read.

    Warns:
        DoubtfulPoolWarning: it is more likely than not that no key is right for a query.

    >>> from fuzzydict import FuzzyDict
    >>> warm, cold = FuzzyDict({"red": (255, 0, 0)}), FuzzyDict({"navy": (0, 0, 128)})
    >>> pool_shards("crimson", [warm, cold]).round()
    array([255.,   0.,   0.])
    >>> (warm | cold).pool("crimson").round()
    array([255.,   0.,   0.])
    """
    asked, score_cutoff = as_queries(queries), as_cutoff(score_cutoff)
    pooling = _Pooling(opened(shards, embedding), map)
    pooled = pooling.pooled(asked, score_cutoff)
    return pooled if isinstance(queries, list) else as_output(pooled[0])


# ---- what is put together ----------------------------------------------------------------------


class _Pooling:
    """Pools over shards.

    Args:
        shards: one or more.
        map: runs a function for each of several things.
    """

    def __init__(self, shards: list[Shard], map: Map) -> None:  # noqa: A002
        self._shards, self._map = shards, map

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what a function returns for each shard."""
        return self._done([(function, shard, *arguments) for shard in self._shards])

    def _of_one(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns for the first shard."""
        return self._done([(function, self._shards[0], *arguments)])[0]

    def _done(self, tasks: list[Any]) -> list[Any]:
        done = list(self._map(_run, tasks))
        if len(done) != len(tasks):
            raise OptionError(
                f"map: expected a result for each of {len(tasks)} things, in order, got {len(done)}"
            )
        return done

    def pooled(self, queries: list[Any], score_cutoff: float | None) -> NDArray[np.float64]:
        """Return the pooled values of queries, (L, *shape)."""
        if not queries:
            return np.zeros(0)
        told = self._each(described, queries)
        require_same_options(self._shards, told)
        self._require_different_keys(told)
        texts, keys = _read(queries, told)
        counted = reduce(Counted.merged, (one.counted for one in told))
        if not counted.keys or not all(map(plain, texts)):
            with naming_the_place(queries):
                wordless = next((text for text in texts if not plain(text)), texts[0])
                self._of_one(_nothing, wordless, counted.keys)
        return self._of_texts(queries, texts, keys, told, counted, score_cutoff)

    def _of_texts(
        self,
        queries: list[Any],
        texts: list[str],
        keys: set[Any],
        told: list[Described],
        counted: Counted,
        score_cutoff: float | None,
    ) -> NDArray[np.float64]:
        """Return the pooled values of queries, which are read as texts; ``keys`` are keys."""
        different, options = list(dict.fromkeys(texts)), told[0].options
        firsts = np.cumsum([0, *(one.slots for one in told)]).tolist()
        blocks = [
            self._of_block(different[some], counted.statistics(), options, firsts)
            for some in slices(len(different), _TOGETHER)
        ]
        best = [one for block in blocks for one in block.best]
        none = [one for block in blocks for one in block.none]
        names = [one for block in blocks for one in block.names]
        places = {text: place for place, text in enumerate(different)}
        rows = [places[text] for text in texts]
        given = options["score_cutoff"] if score_cutoff is None else score_cutoff
        cutoff = as_score(options["scorer"]).pool_cutoff if given is None else given
        errors = [
            no_match(query, str(names[row]), best[row], cutoff)
            for query, text, row in zip(queries, texts, rows, strict=True)
            if names[row] is None or not (best[row] >= cutoff or text in keys)
        ]
        if errors:
            raise no_matches(errors, "leave them out")
        warn_of_doubt(queries, [none[row] for row in rows], stacklevel=5)
        return joined_outputs([block.outputs for block in blocks])[rows]

    def _of_block(
        self, texts: list[str], statistics: Statistics, options: dict[str, Any], firsts: list[int]
    ) -> _Block:
        """Return what is pooled for different texts."""
        score, none = as_score(options["scorer"]), list[Any]([None] * len(texts))
        given = as_temperature(options["temperature"])
        temperature = score.temperature if given is None else given
        vectors, projections = self._of_one(_encoded, texts, statistics)
        asked = _Asked(texts, vectors, statistics, firsts, temperature)
        names: list[str | None]
        if isinstance(score, JudgedScore):
            chosen = _Chosen.best([one for one in self._each(_chosen, asked) if one is not None])
            said, places = self._of_one(_judged, asked, chosen), chosen.found.slots
            (whole,) = self._sums(asked, _rest, said.odds.max(axis=1), places)
            attention, best, none = _with_candidates(
                whole, said, np.isposinf(chosen.odds), temperature
            )
            of_best = places[np.arange(len(texts)), said.tied().argmax(axis=1)]
            names = [chosen.names[place] for place in of_best.tolist()]
        else:
            found = self._sums(asked, _named)
            if not found:
                return _Block(np.zeros(len(texts)), [-math.inf] * len(texts), none, none)
            (whole,) = found
            attention, best, names = whole.rest, whole.rest.max[:, 0].tolist(), whole.names
        total = attention.sum  # 0 if no key is reached, of which an error tells
        attention = attention._replace(sum=np.where(total == 0, 1, total))
        outputs = shaped(finish(attention), whole.values.shape, projections)
        return _Block(outputs, best, names, none)

    def _sums(self, asked: _Asked, function: Callable[..., Any], *arguments: Any) -> list[_Sums]:
        """Return what is pooled of all shards, in a list; an empty one if that is nothing."""
        of_each = self._each(function, asked, *arguments)
        return _merged([one for some in of_each for one in some], asked.temperature)

    def _require_different_keys(self, told: list[Described]) -> None:
        """Raise OptionError if a key is in two shards: each value would count."""
        digests = np.sort(np.concatenate([one.digests for one in told]))
        repeated = np.unique(digests[1:][digests[1:] == digests[:-1]])
        if not len(repeated):
            return
        names = self._each(names_of, repeated)
        often = Counter(name for some in names for name in some)
        name = next((name for name, times in often.items() if times > 1), None)
        if name is None:
            return  # two keys of one hash
        places = [s.place for s, some in zip(self._shards, names, strict=True) if name in some]
        raise OptionError(
            f"shards: the key {quoted(name)} is in {' and in '.join(places)}; each key must be in "
            f"one shard, or its value would count twice"
        )


def _run(task: tuple[Any, ...]) -> Any:
    """Call a function of a shard."""
    function, *arguments = task
    return function(*arguments)


class _Block(NamedTuple):
    """What is pooled for L queries.

    Attributes:
        outputs: the pooled values, (L, *shape).
        best: the score of the best key of each; -inf if no key is reached.
        names: the best keys.
        none: the probability that no key is right, if that is known.
    """

    outputs: NDArray[np.float64]
    best: list[float]
    names: list[str | None]
    none: list[Any]


def _read(queries: list[Any], told: list[Described]) -> tuple[list[str], set[Any]]:
    """Return the texts that queries are read as, and those of them that are keys.

    A query that is a key is read as itself. Of several shards that know an alias the last counts,
    as in one dict.

    Raises:
        NoMatchError: a query was taught to have no key, or is no text.
    """
    keys = set().union(*(one.keys for one in told))
    aliases: dict[Any, Any] = {}
    for one in told:
        aliases |= one.aliases
    no_key = {alias for alias, key in aliases.items() if key is None} - keys
    refused = [taught_none(query) for query in queries if query in no_key]
    if refused:
        raise no_matches(refused, "leave them out")
    names = [query if query in keys else aliases.get(query, query) for query in queries]
    with naming_the_place(queries):
        texts = require_texts(names)
    return texts, keys | {key for key in aliases.values() if key is not None}


def _nothing(shard: Shard, text: str, count: int) -> None:
    """Raise the NoMatchError of a query without words, or of a dict without keys."""
    index = KeyIndex(shard.meaning)
    if count:
        index.add("key")
    Exact(index).nearest([text])


# ---- the candidates of all shards, judged in one place ------------------------------------------


class _Asked(NamedTuple):
    """What each shard is asked.

    Attributes:
        texts: L queries.
        vectors: theirs, (L, E).
        statistics: those of all keys.
        firsts: the place of the first key of each shard among those of all, and how many there are.
        temperature: of the weights.
    """

    texts: list[str]
    vectors: NDArray[np.float32]
    statistics: Statistics
    firsts: list[int]
    temperature: float

    def queries(self, meaning: Meaning) -> list[Query]:
        """Return the queries as they are compared."""
        return list(map(meaning.query, self.texts))

    def parts(self, shard: Shard) -> Iterator[tuple[int, Part]]:
        """Yield the parts of a shard with the statistics of all, and the place of the first key.

        Raises:
            OptionError: the shard has other keys than before.
        """
        place, end = self.firsts[shard.number : shard.number + 2]
        for keys, values in shard.parts():
            if keys.count:
                yield place, Part(keys.with_statistics(self.statistics), values)
            place += len(keys)
        if place != end:
            raise OptionError(f"shards: {shard.place} has changed while it was pooled; pool again")

    def rows(self, keys: Keys) -> list[slice]:
        """Return slices of queries that are compared with the keys at once, in bounded memory."""
        return slices(len(self.texts), min(max(_SCORES // max(len(keys), 1), 1), _QUERIES))

    def glance(self, queries: Sequence[Query], keys: Keys, meaning: Meaning, rows: slice) -> Glance:
        """Return what some of the queries see of keys."""
        vectors, weights, encoded = self.vectors[rows], meaning.judge.glance, meaning.is_encoded
        return glance(queries[rows], keys, vectors, weights, is_encoded=encoded)


def _encoded(
    shard: Shard, texts: list[str], statistics: Statistics
) -> tuple[NDArray[np.float32], Projections | None]:
    """Return the vectors of queries, and what V is applied by; one shard does that for all."""
    lookup, projections = shard.items.lookup, as_projections(shard.options.projections)
    if isinstance(lookup.score, NamedScore):
        vectors = lookup.meaning.of_texts(texts)
    else:
        queries = list(map(lookup.meaning.query, texts))
        vectors = lookup.meaning.of_queries(queries, lookup.keys.with_statistics(statistics))
    if projections is not None and projections.value is None:
        projections = None  # those without a V need not go to another process
    return vectors, projections


class _Chosen(NamedTuple):
    """The keys that are most worth a look, C for each of L queries, in the order of their places.

    Attributes:
        odds: how much, (L, C); inf for a key that equals the query.
        found: what is known of them; the slots are places among the keys of all shards.
        names: the keys in these places.
    """

    odds: NDArray[np.float32]
    found: Found
    names: dict[int, str]

    @classmethod
    def best(cls, several: Sequence[_Chosen]) -> _Chosen:
        """Return the best of several, which come in the order of their places."""
        odds = np.concatenate([one.odds for one in several], axis=1)
        columns = largest(odds, min(CANDIDATES, odds.shape[1]))
        arrays = [
            np.take_along_axis(np.concatenate(some, axis=1), columns, 1)
            for some in zip(*(one.found for one in several), strict=True)
        ]
        found = Found(*arrays)
        names = {place: name for one in several for place, name in one.names.items()}
        kept = {place: names[place] for place in np.unique(found.slots).tolist()}
        return cls(np.take_along_axis(odds, columns, 1), found, kept)


def _chosen(shard: Shard, asked: _Asked) -> _Chosen | None:
    """Return the best candidates of a shard; None if it has no keys."""
    meaning = shard.meaning
    queries = asked.queries(meaning)
    several = [
        _of_part(part.keys, meaning, asked, queries, first) for first, part in asked.parts(shard)
    ]
    return _Chosen.best(several) if several else None


def _of_part(
    keys: Keys, meaning: Meaning, asked: _Asked, queries: Sequence[Query], first: int
) -> _Chosen:
    """Return the best candidates among some keys, of which the first has this place."""
    count, blocks, odds = min(CANDIDATES, keys.count), [], []
    for rows in asked.rows(keys):
        seen = asked.glance(queries, keys, meaning, rows)
        for row, text in zip(seen.odds, asked.texts[rows], strict=True):
            slot = keys.slot_of(text)
            if slot is not None:
                row[slot] = np.inf
        blocks.append(candidates(seen, count))
        odds.append(np.take_along_axis(seen.odds, blocks[-1].slots, 1))
    arrays = map(np.concatenate, zip(*blocks, strict=True))
    found = Found(*arrays)
    names = {first + slot: exact_text(keys.names[slot]) for slot in np.unique(found.slots).tolist()}
    return _Chosen(np.concatenate(odds), found._replace(slots=found.slots + first), names)


def _judged(shard: Shard, asked: _Asked, chosen: _Chosen) -> Judged:
    """Return what the judge says of the candidates; one shard asks it for all."""
    meaning, shape = shard.meaning, chosen.odds.shape
    places, slots = np.unique(chosen.found.slots, return_inverse=True)
    found = chosen.found._replace(slots=slots.reshape(shape))
    names = [chosen.names[place] for place in places.tolist()]
    none = np.zeros((len(names), 0), np.float32)
    keys = Keys.of(meaning.table, names, none, asked.statistics)
    judge, queries, said = meaning.judge, asked.queries(meaning), []
    for rows in slices(len(asked.texts), _QUERIES):
        some = Found._make(field[rows] for field in found)
        said.append(
            judge.judge(align(queries[rows], keys, some, judge.pair, is_encoded=meaning.is_encoded))
        )
    return Judged(*map(np.concatenate, zip(*said, strict=True)))


# ---- the sums of each shard ----------------------------------------------------------------------


class _Values(NamedTuple):
    """What values are: of which shape, and whether they are texts; and the key of one."""

    shape: tuple[int, ...]
    are_texts: bool
    name: str

    def require_like(self, other: _Values) -> None:
        """Raise PoolingError unless other values can be pooled with these."""
        if (self.shape, self.are_texts) != (other.shape, other.are_texts):
            raise PoolingError(
                f"the value of {quoted(self.name)} {self._told()}, that of {quoted(other.name)} "
                f"{other._told()}; values can only be pooled if all have one shape, or all are "
                f"texts"
            )

    def _told(self) -> str:
        return "is a text" if self.are_texts else f"has shape {self.shape}"


class _Sums(NamedTuple):
    """What is pooled of some keys for L queries.

    Attributes:
        values: what the values are.
        rest: attention over the keys that are no candidates; with a named scorer, over all.
        others: the sum of the odds of these keys, as a share of those of the best, (L,).
        rows, columns, own: the candidates among the keys, (m,), and their values, (m, Ev).
        names: the best key of each query by a named scorer.
    """

    values: _Values
    rest: Partial
    others: NDArray[np.float64]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    own: NDArray[np.float64]
    names: list[str | None]

    def merged(self, other: _Sums, temperature: float) -> _Sums:
        """Return what is pooled of the keys of both.

        Raises:
            PoolingError: their values are of several shapes.
        """
        self.values.require_like(other.values)
        rises = (other.rest.max > self.rest.max)[:, 0].tolist()
        names = [
            b if is_b else a for a, b, is_b in zip(self.names, other.names, rises, strict=True)
        ]
        return _Sums(
            self.values,
            merge(self.rest, other.rest, temperature),
            self.others + other.others,
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.own, other.own]),
            names,
        )


def _stacked(part: Part, reached: NDArray[np.intp] | None) -> tuple[_Values, NDArray[np.float64]]:
    """Return what the values of keys, or of those in some places, are, and these, (S, Ev)."""
    array, names = part.values.array(reached), part.keys.living()
    first = names[0 if reached is None else reached[0]]
    values = _Values(array.shape[1:], part.values.are_texts(reached), first)
    return values, array.reshape(len(array), -1)


def _rest(
    shard: Shard, asked: _Asked, top: NDArray[np.float64], places: NDArray[np.intp]
) -> list[_Sums]:
    """Return what is pooled of each part of a shard by the judged score.

    Args:
        shard: the shard.
        asked: the queries.
        top: the log-odds of the best candidate of each, (L,).
        places: those of the candidates among all keys, (L, C).
    """
    sums, meaning = [], shard.meaning
    queries = asked.queries(meaning)
    for first, part in asked.parts(shard):
        keys, (values, flat) = part.keys, _stacked(part, None)
        at, columns = np.nonzero((places >= first) & (places < first + len(keys)))
        slots = places[at, columns] - first
        blocks, others = [], []
        for rows in asked.rows(keys):
            seen = asked.glance(queries, keys, meaning, rows)
            logs = meaning.judge.rest_odds(seen.odds, top[rows])
            here = (at >= rows.start) & (at < rows.stop)
            logs[at[here] - rows.start, slots[here]] = -np.inf
            others.append(np.exp(logs).sum(axis=1))
            blocks.append(partial(logs[:, keys.alive], flat, asked.temperature))
        own = flat[np.cumsum(keys.alive)[slots] - 1]
        rest, none = _joined(blocks, flat.shape[1]), list[str | None]([None] * len(places))
        sums.append(_Sums(values, rest, np.concatenate(others), at, columns, own, none))
    return _merged(sums, asked.temperature)


def _named(shard: Shard, asked: _Asked) -> list[_Sums]:
    """Return what is pooled of each part of a shard by a named scorer, if a query reaches a key."""
    sums, score = [], as_score(shard.options.scorer)
    assert isinstance(score, NamedScore)  # noqa: S101
    for _, part in asked.parts(shard):
        names, found = part.keys.living(), list[_Values]()
        blocks, best, size = list[Partial | int](), list[str | None](), 0
        for rows in asked.rows(part.keys):
            scores = score.scores(asked.vectors[rows], part.keys)[:, part.keys.alive]
            reached = reached_by(scores)
            if reached is not None and not len(reached):
                blocks.append(len(scores))
                best += [None] * len(scores)
                continue
            values, flat = _stacked(part, reached)
            found.append(values)
            best += [names[place] for place in scores.argmax(axis=1).tolist()]
            scores = scores if reached is None else scores[:, reached]
            blocks.append(partial(scores.astype(np.float64), flat, asked.temperature))
            size = flat.shape[1]
        for values in found:
            found[0].require_like(values)
        if found:
            none = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros((0, size))
            rest = _joined(blocks, size)
            sums.append(_Sums(found[0], rest, np.zeros(len(best)), *none, best))
    return _merged(sums, asked.temperature)


def _joined(blocks: Sequence[Partial | int], size: int) -> Partial:
    """Return attention over the same keys of the queries of several blocks.

    Of a block whose queries reach no key, there is the number of queries. ``size`` is Ev.
    """
    filled = [
        Partial(np.full((one, 1), -np.inf), np.zeros((one, 1)), np.zeros((one, size)))
        if isinstance(one, int)
        else one
        for one in blocks
    ]
    return Partial(*map(np.concatenate, zip(*filled, strict=True)))


def _merged(sums: Iterable[_Sums], temperature: float) -> list[_Sums]:
    """Return what is pooled of all the keys, in a list; an empty one if that is nothing."""
    several = list(sums)
    return [reduce(lambda a, b: a.merged(b, temperature), several)] if several else []


def _with_candidates(
    whole: _Sums, said: Judged, are_keys: NDArray[np.bool_], temperature: float
) -> tuple[Partial, list[float], list[float]]:
    """Return attention over all keys, the score of the best, and the probability of none.

    Args:
        whole: what is pooled of all shards.
        said: what the judge says of the candidates.
        are_keys: which of these equal the query, (L, C); such a key has its own value.
        temperature: of the weights.
    """
    tied, best = said.tied(), said.of_best()
    below = said.odds - said.odds.max(axis=1, keepdims=True)
    scale = said.scale(whole.others + np.exp(below).sum(axis=1, where=~tied))
    logs = np.where(tied, np.log(best)[:, None], below + np.log(scale)[:, None])
    none = np.maximum(0.0, 1 - np.exp(logs).sum(axis=1) - scale * whole.others)
    is_key = are_keys.any(axis=1)
    less = np.where(is_key, left_by_equal(temperature) - np.log(best), 0.0)
    logs = np.where(are_keys, 0.0, logs + less[:, None])
    values = np.zeros((*logs.shape, whole.own.shape[1]))
    values[whole.rows, whole.columns] = whole.own
    own = Partial(*(part[:, 0] for part in partial(logs[:, None], values, temperature)))
    rest = whole.rest._replace(max=whole.rest.max + (np.log(scale) + less)[:, None])
    attention = merge(rest, own, temperature)
    return attention, np.where(is_key, 1.0, best).tolist(), np.where(is_key, 0.0, none).tolist()
