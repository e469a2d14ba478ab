"""`pool_shards`: pooling over files and dicts as over the one dict that has the items of all.

Each shard is asked three times: what it is, for the statistics of all keys; which of its keys are
most worth a look, of which the best of all shards are judged in this process; and the sums of its
other keys, by their nearness, which are merged as (max, sum, weighted sum).

    L queries, n slots of a shard, C candidates of each query, Ev numbers of a value
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial as with_arguments
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.embedding.encoder import are_same
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, PoolingError, quoted
from fuzzydict.frames.workers import Matcher
from fuzzydict.mapping import FuzzyDict, items_of
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
from fuzzydict.results.pooling import (
    Doubt,
    StackedValues,
    as_output,
    joined_outputs,
    reached_by,
    shaped,
    warn_of_doubt,
)
from fuzzydict.search.align import Found, align
from fuzzydict.search.judge import Judged
from fuzzydict.search.key_index import KeyIndex, exact_text
from fuzzydict.search.keys import USUAL, Keys, Statistics, usual_of
from fuzzydict.search.lookup import Exact, left_by_equal
from fuzzydict.search.retrieve import CANDIDATES, Glance, candidates, glance, largest
from fuzzydict.search.score import JudgedScore, NamedScore, Score, as_score
from fuzzydict.stores.lookup import size_of, stacked
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.search.align import Query
    from fuzzydict.search.meaning import Meaning

#: What runs a function for each of several things, as the builtin ``map`` does.
Map = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

_ROWS = 8192  # of a store, read at a time
_TOGETHER = 4096  # different queries that shards are asked at a time
_SCORES, _QUERIES = 1 << 22, 128  # made at a time, in several arrays; and compared at a time
_OPTIONS = ("scorer", "temperature", "score_cutoff")


def pool_shards(
    queries: Any,
    shards: Iterable[Any],
    *,
    map: Map = map,  # noqa: A002
    score_cutoff: float | None = None,
    embedding: Any = None,
) -> Any:
    """Return `FuzzyDict.pool` of the one dict that has the items of all shards, in their order.

    The best candidates of all shards are judged in this process; the other keys count by their
    nearness, and each shard sums up its own. The result is that of the one dict but for rounding,
    less than 1e-4 of the range of the values. Each shard is asked three times, and a store is read
    whole each time. No process holds the keys of another.

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
    opened = _opened(shards, embedding)
    pooled = _pooled(asked, opened, map, score_cutoff) if asked else np.zeros(0)
    return pooled if isinstance(queries, list) else as_output(pooled[0])


# ---- shards ------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Some keys of a shard, and the values of the living; the place of the first among all keys."""

    first: int
    keys: Keys
    values: StackedValues


class _Shard(NamedTuple):
    """What goes to other processes of a shard."""

    source: Any  # a dict, one in a store, or the `Matcher` of a file, which a process opens once
    place: str  # names it in messages
    first: int = 0  # the place of its first key among those of all shards
    slots: int = 0  # how many places it has

    @property
    def options(self) -> FuzzyDict[Any]:
        """What has the embedding and the score."""
        d: FuzzyDict[Any] = self.source.open() if isinstance(self.source, Matcher) else self.source
        if isinstance(d, RemoteDict):
            names = ("embedding", "projections", *_OPTIONS)
            remote, d = d, FuzzyDict(**{name: getattr(d, name) for name in names})
            d.synonyms = remote.synonyms
        return d

    def parts(self) -> Iterator[_Part]:
        """Yield its keys and values; of a store, some at a time."""
        lookup, values, embedding = items_of(self.options)
        if not isinstance(self.source, RemoteDict):
            stacked_values = StackedValues(lookup.keys.living(), values, embedding)
            yield _Part(self.first, lookup.keys, stacked_values)
            return
        table, size = lookup.meaning.table, size_of(lookup.meaning)
        rows, place = self.source.pages(vectors=True), self.first
        while some := list(islice(rows, _ROWS)):
            told = [row for row in some if plain(row.key)]
            names = [row.key for row in told]
            keys = Keys.of(table, names, stacked([row.vector for row in told], size))
            yield _Part(place, keys, StackedValues(names, [row.value for row in told], embedding))
            place += len(keys)

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:
        """Return which of some texts are keys, and the key of each alias, None if it has none."""
        asked = [text for text in texts if isinstance(text, str)]
        if isinstance(self.source, RemoteDict):
            found, words = self.source.known(texts), {text: same_text(text) for text in asked}
            taught = {text: found.keys[same] for text, same in words.items() if same in found.keys}
            return set(found.values), taught
        d = self.options
        keys = {text for text in texts if dict.__contains__(d, text)}
        return keys, {text: d.aliases[text] for text in asked if text in d.aliases}


def _opened(shards: Iterable[Any], embedding: Any) -> list[_Shard]:
    if isinstance(shards, str | bytes | os.PathLike | FuzzyDict) or not isinstance(
        shards, Iterable
    ):
        raise ArgumentTypeError(
            f"shards: expected a list of files and dicts, got {type(shards).__name__} "
            f"{quoted(shards)}"
        )
    found: list[_Shard] = []
    for number, shard in enumerate(shards):
        if isinstance(shard, str | os.PathLike):
            matcher = Matcher(shard, embedding=embedding)
            found.append(_Shard(matcher, matcher.path))
        elif isinstance(shard, FuzzyDict | RemoteDict):
            is_here = isinstance(shard, FuzzyDict)
            found.append(_Shard(shard, f"shards[{number}]" if is_here else repr(shard)))
        else:
            raise ArgumentTypeError(
                f"shards[{number}]: expected the path of a file, a FuzzyDict or a RemoteDict, got "
                f"{type(shard).__name__} {quoted(shard)}"
            )
    if not found:
        raise OptionError("shards: expected one or more, got none")
    return found


def _each(run: Map, shards: list[_Shard], function: Callable[..., Any], *asked: Any) -> list[Any]:
    """Return what a function returns for each shard."""
    done = list(run(with_arguments(function, *asked), shards))
    if len(done) != len(shards):
        raise OptionError(
            f"map: expected a result for each of {len(shards)} things, in order, got {len(done)}"
        )
    return done


# ---- what a shard is ---------------------------------------------------------------------------


class _Counted(NamedTuple):
    """What some keys give to the statistics of all."""

    keys: int  # how many there are
    stems: Counter[str]  # how many words of them have each stem
    ngrams: Any  # how many of them have each n-gram, (65536,), or 0
    hashes: NDArray[np.uint32]  # of those with the least, (m,), which are a sample of all
    vectors: NDArray[np.float32]  # of these, (m, E)

    @classmethod
    def of(cls, keys: Keys) -> _Counted:
        """Return what some keys give."""
        count, stems, ngrams, _ = keys.statistics
        sample = keys.sample(USUAL)
        return cls(count, Counter(stems), ngrams, keys.hashes[sample], keys.vectors[sample])

    @classmethod
    def merged(cls, several: list[_Counted]) -> _Counted:
        """Return what all count; no keys have no vectors of any length."""
        some = [one for one in several if one.keys]
        if not some:
            return cls(0, Counter(), 0, np.zeros(0, np.uint32), np.zeros((0, 0), np.float32))
        keys, stems, ngrams, hashes, vectors = zip(*some, strict=True)
        of_all = np.concatenate(hashes)
        least = np.argsort(of_all, kind="stable")[:USUAL]
        chosen = of_all[least], np.concatenate(vectors)[least]
        return cls(sum(keys), sum(stems, Counter()), sum(ngrams), *chosen)


class _Described(NamedTuple):
    """What a shard is."""

    options: dict[str, Any]  # by their names, as they are compared
    slots: int  # how many keys it has, dead ones included
    digests: NDArray[np.uint64]  # what tells its living keys from others
    counted: _Counted
    keys: set[Any]  # which of the queries are keys
    aliases: dict[Any, Any]  # the keys of those that are aliases


def _described(texts: list[Any], shard: _Shard) -> _Described:
    """Return what a shard is, which is asked some texts."""
    d = shard.options
    options = {"embedding": items_of(d).lookup.meaning.fingerprint()}
    options |= {name: getattr(d, name) for name in _OPTIONS}
    slots, digests, counted = 0, [np.zeros(0, np.uint64)], list[_Counted]()
    for _, keys, _ in shard.parts():
        slots += len(keys)
        digests.append(_digests(keys.living()))
        counted.append(_Counted.of(keys))
    of_all = np.concatenate(digests)
    return _Described(options, slots, of_all, _Counted.merged(counted), *shard.known(texts))


def _digests(names: list[str]) -> NDArray[np.uint64]:
    """Return eight bytes of a hash of each of S keys, (S,)."""
    texts = [exact_text(name).encode("utf-8", "surrogatepass") for name in names]
    hashes = [blake2b(text, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), np.uint64)


def _names_of(wanted: NDArray[np.uint64], shard: _Shard) -> list[str]:
    """Return the keys with one of these digests."""
    living = (keys.living() for _, keys, _ in shard.parts())
    return [
        exact_text(names[place])
        for names in living
        for place in np.flatnonzero(np.isin(_digests(names), wanted)).tolist()
    ]


def _require_same_options(shards: list[_Shard], told: list[_Described]) -> None:
    """Raise OptionError if two shards would score a key in two ways."""
    for shard, one in zip(shards, told, strict=True):
        for name, first in told[0].options.items():
            other = one.options[name]
            is_embedding = name == "embedding"
            if not (are_same(first, other) if is_embedding else _are_equal(first, other)):
                several = [quoted(d["name"] if is_embedding else d) for d in (first, other)]
                raise OptionError(
                    f"shards: {shards[0].place} and {shard.place} have different options "
                    f"({name}: {several[0]} and {several[1]}); pool those that are alike"
                )


def _are_equal(a: Any, b: Any) -> bool:
    if a is b or any(isinstance(one, str | float | None) for one in (a, b)):
        return bool(a == b)
    try:
        return pickle.dumps(a) == pickle.dumps(b)
    except Exception:  # a function that is at no top level
        return False


def _require_different_keys(run: Map, shards: list[_Shard], told: list[_Described]) -> None:
    """Raise OptionError if a key is in two shards: each value would count."""
    digests = np.sort(np.concatenate([one.digests for one in told]))
    repeated = np.unique(digests[1:][digests[1:] == digests[:-1]])
    if not len(repeated):
        return
    names = _each(run, shards, _names_of, repeated)
    often = Counter(name for some in names for name in some)
    name, times = often.most_common(1)[0]
    if times > 1:  # or else two keys have one hash
        places = [s.place for s, some in zip(shards, names, strict=True) if name in some]
        raise OptionError(
            f"shards: the key {quoted(name)} is in {' and in '.join(places)}; each key must be in "
            f"one shard, or its value would count twice"
        )


def _read(queries: list[Any], told: list[_Described]) -> tuple[list[str], set[Any]]:
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


# ---- what is put together ----------------------------------------------------------------------


class _Pooled(NamedTuple):
    """What is pooled for a query."""

    value: NDArray[np.float64]  # (*shape)
    score: float  # that of the best key; -inf if no key is reached
    name: str | None  # the best key
    none: float | None  # the probability that no key is right, if that is known


def _pooled(
    queries: list[Any], shards: list[_Shard], run: Map, score_cutoff: float | None
) -> NDArray[np.float64]:
    """Return the pooled values of queries, (L, *shape)."""
    told: list[_Described] = _each(run, shards, _described, queries)
    _require_same_options(shards, told)
    _require_different_keys(run, shards, told)
    texts, keys = _read(queries, told)
    counted, d = _Counted.merged([one.counted for one in told]), shards[0].options
    meaning, score = items_of(d).lookup.meaning, as_score(d.scorer)
    if not counted.keys or not all(map(plain, texts)):
        with naming_the_place(queries):
            index = KeyIndex(meaning)
            if counted.keys:
                index.add("key")
            Exact(index).nearest([text for text in texts if not plain(text)] or texts)  # raises
    first = 0
    for number, one in enumerate(told):
        shards[number] = shards[number]._replace(first=first, slots=one.slots)
        first += one.slots
    given = as_temperature(d.temperature)
    of_all = Statistics(*counted[:3], usual_of(counted.vectors))
    different, found = list(dict.fromkeys(texts)), dict[str, _Pooled]()
    for some in slices(len(different), _TOGETHER):
        vectors = _vectors(meaning, score, different[some], of_all)
        temperature = score.temperature if given is None else given
        asked = _Asked(different[some], vectors, of_all, temperature)
        found |= dict(zip(different[some], _of_block(shards, run, asked), strict=True))
    given = as_cutoff(d.score_cutoff) if score_cutoff is None else score_cutoff
    cutoff = score.pool_cutoff if given is None else given
    several = [found[text] for text in texts]
    errors = [
        no_match(query, str(one.name), one.score, cutoff)
        for query, text, one in zip(queries, texts, several, strict=True)
        if one.name is None or not (one.score >= cutoff or text in keys)
    ]
    if errors:
        raise no_matches(errors, "leave them out")
    outputs = joined_outputs([one.value[None] for one in several])
    doubts = [Doubt(one.name, one.score, one.none) for one in several]
    warn_of_doubt(queries, doubts, of_numbers=outputs.ndim == 1, stacklevel=4)
    return outputs


def _vectors(
    meaning: Meaning, score: Score, texts: list[str], statistics: Statistics
) -> NDArray[np.float32]:
    """Return the vectors of queries, (L, E), as the keys of all shards have theirs."""
    if isinstance(score, NamedScore):
        return meaning.of_texts(texts)
    none = Keys.of(meaning.table, [], np.zeros((0, size_of(meaning)), np.float32), statistics)
    return meaning.of_queries(list(map(meaning.query, texts)), none)


class _Asked(NamedTuple):
    """What each shard is asked: L queries."""

    texts: list[str]
    vectors: NDArray[np.float32]  # (L, E)
    statistics: Statistics  # of all keys
    temperature: float  # of the weights

    def parts(self, shard: _Shard) -> Iterator[_Part]:
        """Yield the parts of a shard that have keys, with the statistics of all.

        Raises:
            OptionError: the shard has other keys than before.
        """
        end = shard.first
        for part in shard.parts():
            end += len(part.keys)
            if part.keys.count:
                yield part._replace(keys=part.keys.with_statistics(self.statistics))
        if end != shard.first + shard.slots:
            raise OptionError(f"shards: {shard.place} has changed while it was pooled; pool again")

    def rows(self, keys: Keys) -> list[slice]:
        """Return slices of queries that are compared with the keys at once, in bounded memory."""
        return slices(len(self.texts), min(max(_SCORES // max(len(keys), 1), 1), _QUERIES))

    def glance(self, queries: list[Query], rows: slice, keys: Keys, meaning: Meaning) -> Glance:
        """Return what some of the queries see of keys."""
        weights, encoded = meaning.judge.glance, meaning.is_encoded
        return glance(queries[rows], keys, self.vectors[rows], weights, is_encoded=encoded)

    def of_all(self, rows: slice, some: Partial) -> Partial:
        """Return attention of some of the queries as that of all, of which the others have none."""
        count, size = len(self.texts), some.weighted.shape[1]
        top, total, weighted = (
            np.full((count, 1), -np.inf),
            np.zeros((count, 1)),
            np.zeros((count, size)),
        )
        top[rows], total[rows], weighted[rows] = some
        return Partial(top, total, weighted)


def _of_block(shards: list[_Shard], run: Map, asked: _Asked) -> list[_Pooled]:
    """Return what is pooled for different texts."""
    d, count = shards[0].options, len(asked.texts)
    meaning, projections = items_of(d).lookup.meaning, as_projections(d.projections)
    if isinstance(as_score(d.scorer), JudgedScore):
        chosen = _Chosen.best(_each(run, shards, _chosen, asked))
        said = _judged(meaning, asked, chosen)
        top, places = said.odds.max(axis=1), chosen.found.slots
        sums = _Sums.merged(_each(run, shards, _summed, asked, top, places), asked)
        attention, best, none = _with_candidates(sums, said, chosen, asked.temperature)
        of_best = places[np.arange(count), said.tied().argmax(axis=1)].tolist()
        names: list[str | None] = [chosen.names[place] for place in of_best]
    else:
        sums = _Sums.merged(_each(run, shards, _summed, asked, None, np.zeros(0, np.intp)), asked)
        attention, names, none = sums.rest, sums.names, list[Any]([None] * count)
        best = attention.max[:, 0].tolist()
    total = attention.sum  # 0 if no key is reached, of which an error tells
    attention = attention._replace(sum=np.where(total == 0, 1, total))
    shape = () if sums.kind is None else sums.kind.shape
    outputs = shaped(finish(attention), shape, projections)
    return list(map(_Pooled, outputs, best, names, none))


# ---- the candidates of all shards, judged in this process ---------------------------------------


class _Chosen(NamedTuple):
    """The keys that are most worth a look, C for each of L queries, in their order."""

    odds: NDArray[np.float32]  # how much, (L, C); inf for a key that equals the query
    found: Found  # the slots are places among the keys of all shards
    names: dict[int, str]  # the keys in these places

    @classmethod
    def best(cls, several: Sequence[_Chosen]) -> _Chosen:
        """Return the best of several, which come in the order of their places."""
        odds = np.concatenate([one.odds for one in several], axis=1)
        if not odds.size:
            return several[0]
        columns = largest(odds, min(CANDIDATES, odds.shape[1]))
        arrays = [
            np.take_along_axis(np.concatenate(some, axis=1), columns, 1)
            for some in zip(*(one.found for one in several), strict=True)
        ]
        found = Found(*arrays)
        names = {place: name for one in several for place, name in one.names.items()}
        kept = {place: names[place] for place in np.unique(found.slots).tolist()}
        return cls(np.take_along_axis(odds, columns, 1), found, kept)


def _chosen(asked: _Asked, shard: _Shard) -> _Chosen:
    """Return the best candidates of a shard; none if it has no keys."""
    nothing = np.zeros((len(asked.texts), 0), np.float32)
    several = [_Chosen(nothing, Found(nothing.astype(np.intp), *[nothing] * 3), {})]
    meaning = items_of(shard.options).lookup.meaning
    queries = list(map(meaning.query, asked.texts))
    for first, keys, _ in asked.parts(shard):
        count, blocks, odds = min(CANDIDATES, keys.count), [], []
        for rows in asked.rows(keys):
            seen = asked.glance(queries, rows, keys, meaning)
            for row, text in zip(seen.odds, asked.texts[rows], strict=True):
                slot = keys.slot_of(text)
                if slot is not None:
                    row[slot] = np.inf
            blocks.append(candidates(seen, count))
            odds.append(np.take_along_axis(seen.odds, blocks[-1].slots, 1))
        found = Found(*map(np.concatenate, zip(*blocks, strict=True)))
        slots = np.unique(found.slots).tolist()
        names = {first + slot: exact_text(keys.names[slot]) for slot in slots}
        found = found._replace(slots=found.slots + first)
        several.append(_Chosen(np.concatenate(odds), found, names))
    return _Chosen.best(several)


def _judged(meaning: Meaning, asked: _Asked, chosen: _Chosen) -> Judged:
    """Return what the judge says of the candidates."""
    places, slots = np.unique(chosen.found.slots, return_inverse=True)
    found = chosen.found._replace(slots=slots.reshape(chosen.odds.shape))
    names = [chosen.names[place] for place in places.tolist()]
    no_vectors = np.zeros((len(names), 0), np.float32)
    keys = Keys.of(meaning.table, names, no_vectors, asked.statistics)
    judge, queries, said = meaning.judge, list(map(meaning.query, asked.texts)), list[Judged]()
    for rows in slices(len(queries), _QUERIES):
        some = Found._make(field[rows] for field in found)
        features = align(queries[rows], keys, some, judge.pair, is_encoded=meaning.is_encoded)
        said.append(judge.judge(features))
    return Judged(*map(np.concatenate, zip(*said, strict=True)))


# ---- the sums of each shard ----------------------------------------------------------------------


class _Kind(NamedTuple):
    """What values are: of which shape, and whether they are texts; and the key of one."""

    shape: tuple[int, ...]
    are_texts: bool
    name: str

    def require(self, other: _Kind) -> None:
        """Raise PoolingError unless values of another kind can be pooled with these."""
        if self[:2] != other[:2]:
            told = ["is a text" if k.are_texts else f"has shape {k.shape}" for k in (self, other)]
            raise PoolingError(
                f"the value of {quoted(self.name)} {told[0]}, that of {quoted(other.name)} "
                f"{told[1]}; values can only be pooled if all have one shape, or all are texts"
            )


class _Sums(NamedTuple):
    """What is pooled of some keys for L queries."""

    kind: _Kind | None  # of their values; None if there are none
    rest: Partial  # over the keys that are no candidates; with a named scorer, over all
    others: NDArray[np.float64]  # the odds of these, as a share of those of the best, (L,)
    names: list[str | None]  # the best of these keys
    own: dict[int, NDArray[np.float64]]  # the value of each candidate, by its place

    @classmethod
    def merged(cls, several: Iterable[_Sums], asked: _Asked) -> _Sums:
        """Return the sums of several shards, or parts of one.

        Raises:
            PoolingError: their values cannot be pooled together.
        """
        count = len(asked.texts)
        nothing = Partial(np.full((count, 1), -np.inf), *np.zeros((2, count, 1)))
        sums = cls(None, nothing, np.zeros(count), [None] * count, {})
        for one in several:
            if sums.kind is None or one.kind is None:
                sums = one if sums.kind is None else sums
                continue
            sums.kind.require(one.kind)
            rises = (one.rest.max > sums.rest.max)[:, 0].tolist()
            known = zip(sums.names, one.names, rises, strict=True)
            sums = cls(
                sums.kind,
                merge(sums.rest, one.rest, asked.temperature),
                sums.others + one.others,
                [new if is_better else old for old, new, is_better in known],
                sums.own | one.own,
            )
        return sums


def _summed(
    asked: _Asked,
    top: NDArray[np.float64] | None,
    places: NDArray[np.intp],
    shard: _Shard,
) -> _Sums:
    """Return what is pooled of a shard.

    Of the candidates, ``top`` has the log-odds of the best, (L,), and ``places`` is (L, C). With a
    named scorer there are none.
    """
    return _Sums.merged(_blocks(asked, top, places, shard), asked)


def _blocks(
    asked: _Asked,
    top: NDArray[np.float64] | None,
    places: NDArray[np.intp],
    shard: _Shard,
) -> Iterator[_Sums]:
    """Yield what is pooled of some keys for some of the queries."""
    d = shard.options
    meaning, score = items_of(d).lookup.meaning, as_score(d.scorer)
    queries = list(map(meaning.query, asked.texts))
    for first, keys, values in asked.parts(shard):
        living, living_before = keys.living(), np.cumsum(keys.alive) - 1
        of_all: _Kind | None = None
        for rows in asked.rows(keys):
            others, own, reached = np.zeros(len(queries)), dict[int, Any](), None
            if isinstance(score, NamedScore):
                scores = score.scores(asked.vectors[rows], keys).astype(np.float64)
                reached = reached_by(scores[:, keys.alive])
                if reached is not None and not len(reached):
                    continue  # their values may be anything
            else:
                assert top is not None  # noqa: S101
                seen = asked.glance(queries, rows, keys, meaning)
                scores = meaning.judge.rest_odds(seen.odds, top[rows])
                here = (places[rows] >= first) & (places[rows] < first + len(keys))
                slots = places[rows][here] - first
                scores[np.nonzero(here)[0], slots] = -np.inf
                others[rows] = np.exp(scores).sum(axis=1)
                flat = values.array().reshape(len(living), -1)
                own = {first + slot: flat[living_before[slot]] for slot in slots.tolist()}
            scores, array = scores[:, keys.alive], values.array(reached)
            if reached is not None:
                name = living[reached[0]]
                kind = _Kind(array.shape[1:], values.are_texts(reached), name)
            else:
                of_all = of_all or _Kind(array.shape[1:], values.are_texts(), living[0])
                kind = of_all
            names: list[str | None] = [None] * len(queries)
            names[rows] = [living[place] for place in scores.argmax(axis=1).tolist()]
            some = scores if reached is None else scores[:, reached]
            rest = partial(some, array.reshape(len(array), -1), asked.temperature)
            yield _Sums(kind, asked.of_all(rows, rest), others, names, own)


def _with_candidates(
    sums: _Sums, said: Judged, chosen: _Chosen, temperature: float
) -> tuple[Partial, list[float], list[float]]:
    """Return attention over all keys, the score of the best, and the probability of none.

    A key that equals the query has its own value.
    """
    tied, best, are_keys = said.tied(), said.of_best(), np.isposinf(chosen.odds)
    below = said.odds - said.odds.max(axis=1, keepdims=True)
    scale = said.scale(sums.others + np.exp(below).sum(axis=1, where=~tied))
    logs = np.where(tied, np.log(best)[:, None], below + np.log(scale)[:, None])
    none = np.maximum(0.0, 1 - np.exp(logs).sum(axis=1) - scale * sums.others)
    is_key = are_keys.any(axis=1)
    less = np.where(is_key, left_by_equal(temperature) - np.log(best), 0.0)
    logs = np.where(are_keys, 0.0, logs + less[:, None])
    values = np.array([[sums.own[place] for place in row] for row in chosen.found.slots.tolist()])
    own = Partial(*(part[:, 0] for part in partial(logs[:, None], values, temperature)))
    rest = sums.rest._replace(max=sums.rest.max + (np.log(scale) + less)[:, None])
    attention = merge(rest, own, temperature)
    return attention, np.where(is_key, 1.0, best).tolist(), np.where(is_key, 0.0, none).tolist()
