"""`pool_shards`: pooling over files and dicts as over the one dict that has the items of all."""

from __future__ import annotations

import math
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.embedding.encoder import are_same
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, PoolingError, quoted
from fuzzydict.frames.matcher import Matcher
from fuzzydict.indexed import Items, items_of
from fuzzydict.mapping import FuzzyDict
from fuzzydict.nn.attention import finish
from fuzzydict.options import as_cutoff
from fuzzydict.results.answers import (
    as_queries,
    naming_the_place,
    no_match,
    no_matches,
    require_texts,
    taught_none,
)
from fuzzydict.results.pooling import (
    StackedValues,
    as_output,
    joined_outputs,
    reached_by,
    shaped,
    warn_of_doubt,
)
from fuzzydict.search.key_index import KeyIndex, Keys, Share, Statistics, exact_text
from fuzzydict.search.lookup import Exact
from fuzzydict.search.score import ProbabilityScore, as_score
from fuzzydict.search.shards import (
    Contenders,
    Judged,
    Kind,
    PartialPool,
    Sampled,
    best_contenders,
    concatenated,
    contenders,
    finished,
    judged,
    living,
    merged,
    partial_pool,
    query_slices,
    sampled,
    statistics_of,
)
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.embedding.projections import Projections
    from fuzzydict.search.features import Query
    from fuzzydict.search.score import Score

#: What runs a function for each of several things, as the builtin ``map`` does.
Map = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

_ROWS = 8192  # of a store, read at a time
_TOGETHER = 4096  # different queries that shards are asked at a time


def pool_shards(
    queries: Any,
    shards: Iterable[Any],
    *,
    map: Map = map,  # noqa: A002
    score_cutoff: float | None = None,
    embedding: Any = None,
) -> Any:
    """Return `FuzzyDict.pool` of the one dict that has the items of all shards, in their order.

    Each shard chooses, judges and pools its own keys, so no process holds those of another. The
    keys that are compared as strings are chosen among all first: each shard is asked five times,
    and a store is read whole each time.

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

    >>> warm, cold = FuzzyDict({"red": (255, 0, 0)}), FuzzyDict({"navy": (0, 0, 128)})
    >>> pool_shards("violet", [warm, cold]).round()
    array([244.,   0.,   6.])
    >>> (warm | cold).pool("violet").round()
    array([244.,   0.,   6.])
    """
    asked, score_cutoff = as_queries(queries), as_cutoff(score_cutoff)
    pooling = _Pooling(_opened(shards, embedding), map)
    pooled = pooling.pooled(asked, score_cutoff)
    return pooled if isinstance(queries, list) else as_output(pooled[0])


# ---- shards -------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Some keys of a shard, of which it has more if it is a store, and the values of the living."""

    keys: Keys
    values: StackedValues


class _Shard(Protocol):
    """Some of all keys.

    Attributes:
        place: names it in messages.
    """

    @property
    def place(self) -> str: ...

    def options(self) -> Items:
        """Return what holds the embedding and the score."""

    def dict_of_options(self) -> FuzzyDict[Any]:
        """Return a dict that has its options."""

    def parts(self) -> Iterator[_Part]:
        """Yield its keys and values, some at a time."""

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:
        """Return which of some texts are keys, and the key of each alias, None if it has none."""


class _DictShard:
    """A dict, of which a copy goes to other processes."""

    def __init__(self, d: FuzzyDict[Any], place: str) -> None:
        self._dict, self.place = d, place

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._dict, self.place)

    @cached_property
    def _items(self) -> Items:
        return items_of(self._dict)

    def options(self) -> Items:
        return self._items

    def dict_of_options(self) -> FuzzyDict[Any]:
        return self._dict

    def parts(self) -> Iterator[_Part]:
        (lookup, values, embedding) = self._items
        yield _Part(lookup.keys, StackedValues(lookup.keys.living(), values, embedding))

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:
        d = self._dict
        keys = {text for text in texts if dict.__contains__(d, text)}
        taught = {text for text in texts if isinstance(text, str) and text in d.aliases}
        return keys, {text: d.aliases[text] for text in taught}


class _FileShard:
    """A file, which each process opens once."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher, self.place = matcher, matcher.path

    def _open(self) -> _DictShard:
        return _DictShard(self._matcher.open(), self.place)

    def options(self) -> Items:
        return self._open().options()

    def dict_of_options(self) -> FuzzyDict[Any]:
        return self._matcher.open()

    def parts(self) -> Iterator[_Part]:
        return self._open().parts()

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:
        return self._open().known(texts)


class _RemoteShard:
    """A dict whose keys are in a store, read from its first row to the last."""

    def __init__(self, remote: RemoteDict) -> None:
        self._remote, self.place = remote, repr(remote)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._remote,)

    @cached_property
    def _like(self) -> FuzzyDict[Any]:
        names = ("embedding", "projections", "scorer", "temperature", "score_cutoff")
        return FuzzyDict(**{name: getattr(self._remote, name) for name in names})

    def options(self) -> Items:
        return items_of(self._like)

    def dict_of_options(self) -> FuzzyDict[Any]:
        return self._like

    def parts(self) -> Iterator[_Part]:
        lookup, _, embedding = self.options()
        zero = np.zeros(lookup.embedding.encode(["size"]).shape[1], np.float32)
        rows = self._remote.pages(vectors=True)
        while some := list(islice(rows, _ROWS)):
            told = [row for row in some if plain(row.key)]
            vectors = [zero if row.vector is None else row.vector for row in told]
            stacked = np.array(vectors, np.float32).reshape(-1, len(zero))
            trust, names = np.array([row.trust for row in told], np.float32), [r.key for r in told]
            keys = Keys.of(lookup.embedding, names, stacked, trust)
            yield _Part(keys, StackedValues(names, [row.value for row in told], embedding))

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:
        found, asked = self._remote.known(texts), [one for one in texts if isinstance(one, str)]
        words = {text: same_text(text) for text in asked}
        taught = {text: found.keys[same] for text, same in words.items() if same in found.keys}
        return set(found.values), taught


def _opened(shards: Iterable[Any], embedding: Any) -> list[_Shard]:
    """Return shards as they are read."""
    if isinstance(shards, str | bytes | os.PathLike | FuzzyDict) or not isinstance(
        shards, Iterable
    ):
        raise ArgumentTypeError(
            f"shards: expected a list of files and dicts, got {type(shards).__name__} "
            f"{quoted(shards)}"
        )
    found: list[_Shard] = []
    for number, shard in enumerate(shards):
        if isinstance(shard, FuzzyDict):
            found.append(_DictShard(shard, f"shards[{number}]"))
        elif isinstance(shard, str | os.PathLike):
            found.append(_FileShard(Matcher(shard, embedding=embedding)))
        elif isinstance(shard, RemoteDict):
            found.append(_RemoteShard(shard))
        else:
            raise ArgumentTypeError(
                f"shards[{number}]: expected the path of a file, a FuzzyDict or a RemoteDict, got "
                f"{type(shard).__name__} {quoted(shard)}"
            )
    if not found:
        raise OptionError("shards: expected one or more, got none")
    return found


# ---- what is run for each shard ---------------------------------------------------------------


class _Described(NamedTuple):
    """What a shard is.

    Attributes:
        options: by their names, as they are compared.
        slots: how many keys it has, dead ones included.
        size: how many it has.
        digests: what tells its keys from others, (size,).
        keys: which of the queries are keys.
        aliases: the keys of those that are aliases.
    """

    options: dict[str, Any]
    slots: int
    size: int
    digests: NDArray[np.uint64]
    keys: set[Any]
    aliases: dict[Any, Any]


def _described(shard: _Shard, texts: list[Any]) -> _Described:
    d, lookup = shard.dict_of_options(), shard.options().lookup
    options = {
        "embedding": lookup.embedding.fingerprint(),
        "scorer": d.scorer,
        "temperature": d.temperature,
        "score_cutoff": d.score_cutoff,
    }
    slots, digests = 0, [np.zeros(0, np.uint64)]
    for part in shard.parts():
        slots += len(part.keys)
        digests.append(_digests(part.keys.living()))
    told = np.concatenate(digests)
    return _Described(options, slots, len(told), told, *shard.known(texts))


def _digests(names: list[str]) -> NDArray[np.uint64]:
    """Return eight bytes of a hash of each of S keys, (S,)."""
    texts = [exact_text(name).encode("utf-8", "surrogatepass") for name in names]
    hashes = [blake2b(text, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), np.uint64)


def _names_of(shard: _Shard, wanted: NDArray[np.uint64]) -> list[str]:
    """Return the keys with one of these digests."""
    found = []
    for part in shard.parts():
        names = part.keys.living()
        places = np.flatnonzero(np.isin(_digests(names), wanted))
        found += [exact_text(names[place]) for place in places.tolist()]
    return found


def _sampled(shard: _Shard, share: Share) -> list[Sampled]:
    found, before = [], share.before
    for part in shard.parts():
        found.append(sampled(part.keys, Share(before, share.total)))
        before += part.keys.count
    return found


class _Ready(NamedTuple):
    """What each shard is asked with.

    Attributes:
        queries: L queries, encoded.
        statistics: those of all keys.
        calibration: the weights of the score.
        projections: whose V is applied to what is pooled.
    """

    queries: list[Query]
    statistics: Statistics
    calibration: Calibration
    projections: Projections | None


def _ready(shard: _Shard, texts: list[str], samples: list[Sampled]) -> _Ready:
    """Return queries, encoded, and the statistics of all keys; one shard does that for all."""
    lookup = shard.options().lookup
    statistics = statistics_of(samples, lookup.embedding)
    projections = as_projections(shard.dict_of_options().projections)
    queries = {query.asked: query for query in lookup.prepare(texts)}
    return _Ready(
        [queries[text] for text in texts],
        statistics,
        lookup.embedding.calibration,
        projections if _changes_values(projections) else None,
    )


def _changes_values(projections: Projections | None) -> bool:
    """Tell whether projections have a V; others need not go to another process."""
    if projections is None:
        return False
    return projections.value is not None or _changes_values(projections.base)


def _nothing(shard: _Shard, text: str) -> None:
    """Raise the NoMatchError of a query without words, or of a dict without keys."""
    lookup = shard.options().lookup
    Exact(KeyIndex(lookup.embedding)).nearest([text])


class _Asked(NamedTuple):
    """What a shard is asked, and which of all keys are its own.

    Attributes:
        ready: the queries.
        score: what compares them.
        first: the place of its first key among those of all shards.
        slots: how many keys it has, dead ones included.
    """

    ready: _Ready
    score: Score
    first: int
    slots: int

    def parts(self, shard: _Shard) -> Iterator[tuple[int, _Part]]:
        """Yield the parts of the shard with the statistics of all, and the place of the first key.

        Raises:
            OptionError: the shard has other keys than before.
        """
        first = self.first
        for keys, values in shard.parts():
            if keys.count:
                yield first, _Part(keys.with_statistics(self.ready.statistics), values)
            first += len(keys)
        if first != self.first + self.slots:
            raise OptionError(f"shards: {shard.place} has changed while it was pooled; pool again")


def _contenders(shard: _Shard, asked: _Asked, score: ProbabilityScore) -> Contenders | None:
    """Return the keys of a shard that may be compared as strings; None if it has no keys."""
    queries = asked.ready.queries
    found = None
    for first, part in asked.parts(shard):
        some = contenders(queries, part.keys, score, first)
        found = some if found is None else best_contenders([found, some], score)
    return found


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


class _Pooled(NamedTuple):
    """What is pooled of some keys, and what their values are."""

    pool: PartialPool
    values: _Values


def _pooled(shard: _Shard, asked: _Asked, chosen: Contenders | None, kind: Kind) -> _Pooled | None:
    """Return what is pooled of a shard; None if no query reaches a key of it."""
    parts = [_of_part(part, asked, chosen, first, kind) for first, part in asked.parts(shard)]
    return _of_all(parts, kind)


def _of_part(
    part: _Part, asked: _Asked, chosen: Contenders | None, first: int, kind: Kind
) -> _Pooled | None:
    pools, values = list[PartialPool](), list[_Values]()
    for rows in query_slices(asked.ready.queries, part.keys):
        found = living(_judged(part.keys, asked, chosen, rows, first), part.keys)
        names, reached = part.keys.living(), reached_by(found.odds)
        if reached is not None:
            found = found._replace(odds=found.odds[:, reached])
            names = [names[place] for place in reached.tolist()]
        stacked = part.values.array(reached) if names else np.zeros((0, 0))
        flat = stacked.reshape(len(names), -1) if names else stacked
        pools.append(partial_pool(found, names, flat, kind))
        if names:
            values.append(_Values(stacked.shape[1:], part.values.are_texts(reached), names[0]))
    if not values:
        return None
    for other in values[1:]:
        values[0].require_like(other)
    return _Pooled(concatenated(pools, math.prod(values[0].shape)), values[0])


def _judged(
    keys: Keys, asked: _Asked, chosen: Contenders | None, rows: slice, first: int
) -> Judged:
    """Return the log-odds of some keys, or a named scorer's scores, for some of the queries."""
    queries = asked.ready.queries[rows]
    if chosen is None or not isinstance(asked.score, ProbabilityScore):
        scores = asked.score.log_weights(queries, keys).astype(np.float64)
        none = [np.zeros(0, np.intp)] * len(queries)
        return Judged(scores, none, [np.zeros(0)] * len(queries))
    near, spelled = chosen.near[rows] - first, chosen.spelled[rows] - first
    return judged(queries, keys, asked.score, near, spelled)


def _of_all(pooled: Iterable[_Pooled | None], kind: Kind) -> _Pooled | None:
    """Return what is pooled of several shards, or parts of one; None if no key is reached.

    Raises:
        PoolingError: their values are of several shapes.
    """

    def both(a: _Pooled, b: _Pooled) -> _Pooled:
        a.values.require_like(b.values)
        return _Pooled(merged(a.pool, b.pool, kind), a.values)

    some = [one for one in pooled if one is not None]
    return reduce(both, some) if some else None


# ---- what puts it together --------------------------------------------------------------------


def _run(task: tuple[Any, ...]) -> Any:
    """Call a function of a shard."""
    function, *arguments = task
    return function(*arguments)


class _Block(NamedTuple):
    """What is pooled for some queries.

    Attributes:
        outputs: the pooled values, (L, *shape).
        best: the score of the best key of each, (L,); -inf if no key is reached.
        names: the best keys.
        none: the probability that no key is right, if that is known.
    """

    outputs: NDArray[np.float64]
    best: NDArray[np.float64]
    names: list[str | None]
    none: list[Any]


class _Pooling:
    """Pools over shards.

    Args:
        shards: one or more.
        map: runs a function for each of several things.
    """

    def __init__(self, shards: list[_Shard], map: Map) -> None:  # noqa: A002
        self._shards, self._map = shards, map

    def _each(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Return what a function returns for each shard, given an argument of each or several."""
        tasks = [(function, *one) for one in zip(self._shards, *arguments, strict=True)]
        return self._done(tasks)

    def _done(self, tasks: list[Any]) -> list[Any]:
        done = list(self._map(_run, tasks))
        if len(done) != len(tasks):
            raise OptionError(
                f"map: expected a result for each of {len(tasks)} things, in order, got {len(done)}"
            )
        return done

    def _of_one(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns for the first shard."""
        return self._done([(function, self._shards[0], *arguments)])[0]

    def _all(self, one: Any) -> list[Any]:
        return [one] * len(self._shards)

    def pooled(self, queries: list[Any], score_cutoff: float | None) -> NDArray[np.float64]:
        """Return the pooled values of queries, (L, *shape)."""
        if not queries:
            return np.zeros(0)
        described = self._each(_described, self._all(queries))
        self._require_same_options(described)
        self._require_different_keys(described)
        texts, keys = _read(queries, described)
        if not sum(one.size for one in described) or not all(map(plain, texts)):
            with naming_the_place(queries):
                self._of_one(_nothing, next((text for text in texts if not plain(text)), texts[0]))
        return self._of_texts(queries, texts, keys, described, score_cutoff)

    def _of_texts(
        self,
        queries: list[Any],
        texts: list[str],
        keys: set[Any],
        described: list[_Described],
        score_cutoff: float | None,
    ) -> NDArray[np.float64]:
        """Return the pooled values of queries, which are read as texts.

        ``keys`` are those of the texts that are keys.
        """
        different = list(dict.fromkeys(texts))
        samples = self._samples(described)
        done = [
            self._of_block(different[some], samples, described)
            for some in slices(len(different), _TOGETHER)
        ]
        best = np.concatenate([block.best for block in done])
        names = [name for block in done for name in block.names]
        places = {text: place for place, text in enumerate(different)}
        rows = [places[text] for text in texts]
        cutoff = self._cutoff(described[0].options, score_cutoff)
        errors = [
            no_match(query, str(names[row]), float(best[row]), cutoff)
            for query, text, row in zip(queries, texts, rows, strict=True)
            if names[row] is None or not (best[row] >= cutoff or text in keys)
        ]
        if errors:
            raise no_matches(errors, "leave them out")
        none = [one for block in done for one in block.none]
        warn_of_doubt(queries, [none[row] for row in rows])
        return joined_outputs([block.outputs for block in done])[rows]

    def _cutoff(self, options: dict[str, Any], score_cutoff: float | None) -> float:
        given: float | None = options["score_cutoff"] if score_cutoff is None else score_cutoff
        return as_score(options["scorer"]).pool_cutoff if given is None else given

    def _samples(self, described: list[_Described]) -> list[Sampled]:
        """Return what the statistics of all keys are made of."""
        before, count = 0, sum(one.size for one in described)
        shares = []
        for one in described:
            shares.append(Share(before, count))
            before += one.size
        return [one for some in self._each(_sampled, shares) for one in some]

    def _of_block(
        self, texts: list[str], samples: list[Sampled], described: list[_Described]
    ) -> _Block:
        """Return what is pooled for different texts."""
        options, count = described[0].options, sum(one.size for one in described)
        score, ready = as_score(options["scorer"]), self._of_one(_ready, texts, samples)
        given: float | None = options["temperature"]
        kind = Kind.of(score, ready.calibration, score.temperature if given is None else given)
        found = self._found(ready, score, kind, described)
        if found is None:
            nothing = np.full(len(texts), -np.inf)
            return _Block(np.zeros(len(texts)), nothing, [None] * len(texts), [None] * len(texts))
        calibration = ready.calibration if isinstance(score, ProbabilityScore) else None
        done = finished(found.pool, kind, calibration, count)
        total = done.attention.sum  # 0 if no key is reached, of which an error tells
        attention = done.attention._replace(sum=np.where(total == 0, 1, total))
        outputs = shaped(finish(attention), found.values.shape, ready.projections)
        none = [None] * len(texts) if done.none is None else done.none.tolist()
        return _Block(outputs, done.best, done.names, none)

    def _found(
        self, ready: _Ready, score: Score, kind: Kind, described: list[_Described]
    ) -> _Pooled | None:
        """Return what is pooled of all shards."""
        asked, first = [], 0
        for one in described:
            asked.append(_Asked(ready, score, first, one.slots))
            first += one.slots
        chosen = None
        if isinstance(score, ProbabilityScore):
            some = self._each(_contenders, asked, self._all(score))
            chosen = best_contenders([one for one in some if one is not None], score)
        return _of_all(self._each(_pooled, asked, self._all(chosen), self._all(kind)), kind)

    def _require_same_options(self, described: list[_Described]) -> None:
        """Raise OptionError if two shards would score a key in two ways."""
        first = described[0].options
        for shard, other in zip(self._shards, described, strict=True):
            for name, value in other.options.items():
                if not _are_equal(name, value, first[name]):
                    values = [
                        quoted(one["name"] if name == "embedding" else one)
                        for one in (first[name], value)
                    ]
                    raise OptionError(
                        f"shards: {self._shards[0].place} and {shard.place} have different options "
                        f"({name}: {values[0]} and {values[1]}); pool those that are alike"
                    )

    def _require_different_keys(self, described: list[_Described]) -> None:
        """Raise OptionError if a key is in two shards: each value would count."""
        digests = np.sort(np.concatenate([one.digests for one in described]))
        repeated = np.unique(digests[1:][digests[1:] == digests[:-1]])
        if not len(repeated):
            return
        names = self._each(_names_of, self._all(repeated))
        often = Counter(name for some in names for name in some)
        name = next((name for name, times in often.items() if times > 1), None)
        if name is None:
            return  # two keys of one hash
        places = [s.place for s, some in zip(self._shards, names, strict=True) if name in some]
        raise OptionError(
            f"shards: the key {quoted(name)} is in {' and in '.join(places)}; each key must be in "
            f"one shard, or its value would count twice"
        )


def _read(queries: list[Any], described: list[_Described]) -> tuple[list[str], set[Any]]:
    """Return the texts that queries are read as, and those of them that are keys.

    A query that is a key is read as itself. Of several shards that know an alias the last counts,
    as in one dict.

    Raises:
        NoMatchError: a query was taught to have no key, or is no text.
    """
    keys = set().union(*(one.keys for one in described))
    aliases: dict[Any, Any] = {}
    for one in described:
        aliases |= one.aliases
    no_key = {alias for alias, key in aliases.items() if key is None} - keys
    refused = [taught_none(query) for query in queries if query in no_key]
    if refused:
        raise no_matches(refused, "leave them out")
    names = [query if query in keys else aliases.get(query, query) for query in queries]
    with naming_the_place(queries):
        texts = require_texts(names)
    return texts, keys | {key for key in aliases.values() if key is not None}


def _are_equal(name: str, a: Any, b: Any) -> bool:
    if name == "embedding":
        return are_same(a, b)
    if a is b or name != "scorer" or isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    try:
        return pickle.dumps(a) == pickle.dumps(b)
    except Exception:  # a function that is at no top level
        return False
