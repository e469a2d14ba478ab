"""`pool_shards`: pooling over files and dicts as over the one dict that has the items of all.

Each shard is asked twice: for counts of its keys, and for what it has for the queries. The best
keys of all are judged here; the sums of all others are merged as (max, sum, weighted sum).
Arrays: L queries, n keys, E numbers of a vector, Ev of a value.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial as given
from functools import reduce
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import largest, require_finite, slices
from fuzzydict.embedding.encoder import are_same
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, PoolingError, quoted
from fuzzydict.frames.match import dict_of
from fuzzydict.frames.workers import Matcher
from fuzzydict.mapping import FuzzyDict, items_of
from fuzzydict.nn.attention import Partial, merge, partial
from fuzzydict.options import as_cutoff, as_temperature
from fuzzydict.results.answers import NO_KEY, as_queries, no_match, require_texts
from fuzzydict.results.pooling import StackedValues, shaped
from fuzzydict.search.keys import USUAL, Asked, Keys, Query, Statistics, exact_text, usual_of
from fuzzydict.search.lookup import QUERIES, SCORES, Exact, Listing, Scored
from fuzzydict.search.retrieve import TIE
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.stores.sampling import size_of, stacked
from fuzzydict.text.words import plain, same_text

#: What runs a function for each of several things, as the builtin ``map`` does.
Map = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]
#: A dict, one in a store, or what opens either once in each process.
Shard: TypeAlias = FuzzyDict[Any] | RemoteDict | Matcher

_ROWS = 8192  # of a store, read at a time
_TOGETHER = 1024  # queries that shards are asked at a time
_LEAST = -1e4  # the glance of a key of next to no odds
_COMPARED = ("scorer", "temperature", "score_cutoff")  # options that must be the same
_OPTIONS = ("embedding", "projections", *_COMPARED)


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
    less than 1e-4 of the range of the values. Each shard is asked twice, and a store is read whole
    each time. No process holds the keys of another.

    Args:
        queries: a text, or a list of texts.
        shards: files that `FuzzyDict.save` wrote, addresses as for `connect`, dicts, or dicts that
            `connect` opened, all with the same embedding and options. A file or an address is
            opened once a process.
        map: what runs a function for each of the shards: the builtin, ``map`` of a
            ``ProcessPoolExecutor``, or ``lambda f, xs: client.gather(client.map(f, xs))`` of a
            client of Dask. Other processes encode the keys of dicts again: save these first.
        score_cutoff: the least score of the best key; by default the option.
        embedding: that of the files and addresses, unless it ships with the package.

    Raises:
        OptionError: there is no shard, two have different options, or two have the same key.
        NoMatchError, PoolingError: as by `FuzzyDict.pool`, which may warn of doubt, too.
        ArgumentTypeError: a shard is none of these.
        FileNotFoundError, FileFormatError, StoreError: a shard cannot be read.

    >>> from fuzzydict import FuzzyDict
    >>> warm, cold = FuzzyDict({"red": (255, 0, 0)}), FuzzyDict({"navy": (0, 0, 128)})
    >>> pool_shards("dark red", [warm, cold]).round()
    array([254.,   0.,   0.])
    >>> (warm | cold).pool("dark red").round()
    array([254.,   0.,   0.])
    """
    asked, cutoff = as_queries(queries), as_cutoff(score_cutoff)
    is_one = isinstance(shards, str | bytes | os.PathLike | FuzzyDict)
    if is_one or not isinstance(shards, Iterable):
        got = f"{type(shards).__name__} {quoted(shards)}"
        raise ArgumentTypeError(f"shards: expected a list of files and dicts, got {got}")
    opened = list[Shard]()
    for number, shard in enumerate(shards):
        if isinstance(shard, str | os.PathLike):
            shard = Matcher(shard, embedding=embedding)
        elif not isinstance(shard, FuzzyDict | RemoteDict):
            raise ArgumentTypeError(
                f"shards[{number}]: expected a path, an address, a FuzzyDict or a RemoteDict, "
                f"got {type(shard).__name__} {quoted(shard)}"
            )
        opened.append(shard)
    if not opened:
        raise OptionError("shards: expected one or more, got none")
    if not asked:
        return np.zeros(0)
    return _AllShards(opened, map, asked).pool(queries, score_cutoff=cutoff)


# ---- what a shard holds --------------------------------------------------------------------------


def _opened(shard: Shard) -> tuple[Any, FuzzyDict[Any]]:
    """Return the dict itself; and it again, or of one in a store an empty one with its options."""
    d: Any = shard.open() if isinstance(shard, Matcher) else shard
    if isinstance(d, FuzzyDict):
        return d, d
    return d, dict_of((), synonyms=d.synonyms, **{name: getattr(d, name) for name in _OPTIONS})


def _parts(d: Any, options: FuzzyDict[Any]) -> Iterator[tuple[Keys, StackedValues]]:
    """Yield some keys, and the values of the living, until there are no more."""
    lookup, values, embedding = items_of(options)
    yield lookup.keys, StackedValues(lookup.keys.living(), values, embedding)
    size, pages = size_of(lookup.meaning), () if d is options else d.pages(vectors=True)
    rows = (row for row in pages if plain(row.key))
    while some := list(islice(rows, _ROWS)):
        names = [row.key for row in some]
        vectors = stacked([row.vector for row in some], size)
        keys = Keys.of(lookup.meaning.table, names, vectors)
        yield keys, StackedValues(names, [row.value for row in some], embedding)


# ---- what each shard is --------------------------------------------------------------------------


class _Counted(NamedTuple):
    """What is to be known of some keys before others are compared as well."""

    most: int  # slots that are read at a time
    total: int
    stems: Counter[str]  # how many words have each stem
    ngrams: NDArray[np.int64]  # how many keys have each n-gram
    hashes: NDArray[np.uint32]  # of all keys; different ones may have one
    sample: NDArray[np.uint32]  # the least of these, (m,)
    vectors: NDArray[np.float32]  # of the sample, (m, E)


def _counted(keys: Keys) -> _Counted:
    slots, stems, ngrams = keys.sample(USUAL), Counter(keys.stem_counts()), keys.postings.frequency
    hashes, sample = keys.hashes[keys.alive], (keys.hashes[slots], keys.vectors[slots])
    return _Counted(len(keys), keys.count, stems, ngrams, hashes, *sample)


def _summed(several: Iterable[_Counted]) -> _Counted:
    """Return what is known of all."""
    every = list(several)  # of which some may have no keys, and no vectors
    there = [one for one in every if one.total] or every[:1]
    most, totals, stems, ngrams, *arrays = zip(*there, strict=True)
    hashes, sample, vectors = map(np.concatenate, arrays)
    least = np.argsort(sample, kind="stable")[:USUAL]
    counts = sum(totals), sum(stems, Counter[str]()), sum(ngrams)
    return _Counted(max(most), *counts, hashes, sample[least], vectors[least])


def _told(queries: list[Any], shard: Shard) -> tuple[dict[str, Any], dict[Any, Any], _Counted]:
    """Return the options of a shard, the queries that it knows, with their keys, and its counts."""
    d, options = _opened(shard)
    compared = {name: getattr(d, name) for name in _COMPARED}
    compared["embedding"] = items_of(options).lookup.meaning.fingerprint()
    texts = [query for query in queries if isinstance(query, str)]
    if isinstance(d, RemoteDict):
        stored, same = d.known(queries), {text: same_text(text) for text in texts}
        known = {text: stored.keys[one] for text, one in same.items() if one in stored.keys}
        known |= {name: name for name in stored.values}
    else:
        known = {text: d.aliases[text] for text in texts if text in d.aliases}
        known |= {query: query for query in queries if dict.__contains__(d, query)}
    return compared, known, _summed(_counted(keys) for keys, _ in _parts(d, options))


def _names_of(hashes: NDArray[np.uint32], shard: Shard) -> list[str]:
    """Return the keys with one of these hashes."""
    found = list[str]()
    for keys, _ in _parts(*_opened(shard)):
        slots = np.flatnonzero(keys.alive & np.isin(keys.hashes, hashes))
        found += [exact_text(keys.names[slot]) for slot in slots.tolist()]
    return found


# ---- what each shard has for the queries -------------------------------------------------------


class _Found(NamedTuple):
    """What some keys have for L queries: m keys that are candidates of one, all others as sums."""

    kind: tuple[bool, tuple[int, ...]]  # of a value: whether it is a text, and its shape
    names: NDArray[Any]  # the keys, (m,), in their order
    vectors: NDArray[np.float32]  # (m, E)
    values: NDArray[np.float64]  # (m, Ev)
    #: How much each is worth a look, or its score by a named scorer; infinite if it is the query.
    odds: NDArray[np.float32]  # (L, m)
    others: Partial  # by the judge, as if the log-odds of the best key were 0
    of_others: NDArray[np.float64]  # the sum of their odds, likewise, (L,)


def _found(blocks: list[list[Query]], of_all: Statistics, shard: Shard) -> list[_Found | None]:
    """Return what a shard has for each block of queries."""
    (d, options), found = _opened(shard), list[_Found | None]([None] * len(blocks))
    for keys, values in _parts(d, options):
        part = _Part(keys, options, of_all)
        for place, asked in enumerate(blocks):
            found[place] = part.together(found[place], part.find(asked, values))
    return found


class _Part(Exact):
    """Some of the keys of all shards, compared as among all."""

    def __init__(self, keys: Keys, d: FuzzyDict[Any], of_all: Statistics) -> None:
        super().__init__(keys.with_statistics(of_all), items_of(d).lookup.meaning, d.scorer)
        self.count, given = of_all.total, as_temperature(d.temperature)
        self.softness = self.score.temperature if given is None else given  # of the weights

    def find(self, asked: list[Query], values: StackedValues) -> _Found | None:
        """Return what these keys have for queries; None if no query reaches one."""
        if not (keys := self.keys).count:
            return None
        if self._is_named:
            odds = self._scores(Listing(asked, keys))
        else:
            odds = self._glance(Asked.of(asked, keys), keys).odds
        reached = np.flatnonzero((odds > -np.inf).any(axis=0))  # other values may be anything
        if not len(reached):
            return None
        for row, query in zip(odds, asked, strict=True):
            if (slot := keys.slot_of(query.asked)) is not None:
                row[slot] = np.inf
        living = np.flatnonzero(keys.alive)
        places = None if len(reached) == len(living) else np.searchsorted(living, reached)
        array = values.array(places)
        flat, kind = array.reshape(len(array), -1), (values.are_texts(places), array.shape[1:])
        is_best, others, of_others = self._divided(odds[:, reached], flat)
        slots = reached[is_best]
        names = np.array([exact_text(keys.names[slot]) for slot in slots.tolist()], object)
        of_keys = names, keys.vectors[slots], flat[is_best], odds[:, slots]
        return _Found(kind, *of_keys, others, of_others)

    def together(self, one: _Found | None, other: _Found | None) -> _Found | None:
        """Return what the keys of both have; those of the first come first."""
        if one is None or other is None:
            return one or other
        kinds = one.kind, other.kind
        if kinds[0] != kinds[1]:
            told = ["is a text" if text else f"has shape {shape}" for text, shape in kinds]
            raise PoolingError(
                f"the value of {quoted(one.names[0])} {told[0]}, that of {quoted(other.names[0])} "
                f"{told[1]}; values can only be pooled if all have one shape, or all are texts"
            )
        both: Any = zip(one[1:4], other[1:4], strict=True)
        names, vectors, values = map(np.concatenate, both)
        odds, others = np.hstack([one.odds, other.odds]), (one.others, other.others)
        is_best, left, of_left = self._divided(odds, values)
        merged = reduce(lambda a, b: merge(a, b, self.softness), others, left)
        of_keys = names[is_best], vectors[is_best], values[is_best], odds[:, is_best]
        return _Found(one.kind, *of_keys, merged, one.of_others + other.of_others + of_left)

    def _divided(
        self, odds: NDArray[Any], values: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], Partial, NDArray[np.float64]]:
        """Return which of n keys are candidates, (n,), and of the others the sums.

        A dict bounds their odds by the best key's, but they are far below it.
        """
        is_best = np.zeros(odds.shape[1], np.bool_)
        for row in odds:
            is_best[largest(row, min(self.meaning.candidates, len(row)), TIE)] = True
        weights = odds.astype(np.float64)
        if not self._is_named:
            weights = self.meaning.judge.rest_odds(odds, np.zeros(len(odds)))
        weights[:, is_best] = -np.inf
        return is_best, partial(weights, values, self.softness), np.exp(weights).sum(axis=1)

    def pooled(self, asked: list[Query], found: _Found, projections: Any) -> list[_Pooled]:
        """Return what is pooled of each query; these keys were found among all."""
        listing, shift = Listing(asked, self.keys), np.zeros((len(asked), 1))
        if self._is_named:
            logits = self._scores(listing)
        else:
            judge, (slots, _, said, glances) = self.meaning.judge, self.compared(listing)
            # A key of next to no odds tells what odds are multiplied with to be probabilities.
            least = np.full_like(shift, _LEAST, np.float32)
            left_out = found.of_others * np.exp(-said.odds.max(axis=1))
            logits = judge.log_probabilities(said, slots, np.hstack([glances, least]), left_out)
            shift = logits[:, -1:] - judge.rest_odds(least, np.zeros(len(asked)))
            shift[[self.keys.slot_of(query.asked) is not None for query in asked]] = -np.inf
            logits = logits[:, :-1]
        attended = self._attended(listing, logits, None, self.softness)
        left = (found.of_others * np.exp(shift[:, 0])).tolist()
        none = [p and max(0.0, p - one) for p, one in zip(attended.none, left, strict=True)]
        here = partial(attended.scores.astype(np.float64), found.values, self.softness)
        others = found.others._replace(max=found.others.max + shift)
        _, total, weighted = merge(here, others, self.softness)
        require_finite(weighted, values=found.values)
        output = shaped(weighted / total, found.kind[1], as_projections(projections))
        return list(map(_Pooled, zip(attended.best), zip(none), output[:, None]))


# ---- what is asked and judged, in this process ---------------------------------------------------


class _Pooled(NamedTuple):
    """What is pooled of one query."""

    best: tuple[Scored]
    none: tuple[float | None]  # the probability that no key is right
    output: NDArray[np.float64]  # (1, *shape)


class _AllShards(FuzzyDict[Any]):
    """A dict that pools as if it had the items of all shards, which it asks for what they have."""

    def __init__(self, shards: list[Shard], run: Map, queries: list[Any]) -> None:
        options = _opened(shards[0])[1]
        super().__init__(**{name: getattr(options, name) for name in _OPTIONS})
        self.synonyms = options.synonyms
        self._shards, self._run = shards, run
        places = enumerate(shards)
        self._places = [f"shards[{i}]" if isinstance(d, FuzzyDict) else d.place for i, d in places]
        told = self._ask(_told, queries)
        self._require_alike([options for options, *_ in told])
        of_all = _summed(counted for *_, counted in told)
        self._require_different(of_all.hashes)
        self._of_all = Statistics(*of_all[1:4], usual_of(of_all.vectors))
        self._at_once = min(max(SCORES // max(of_all.most, 1), 1), QUERIES)
        # A key counts before an alias; of several shards that know one the last, as in one dict.
        known = [pair for _, of_one, _ in told for pair in of_one.items()]
        self._known = dict(known) | {query: key for query, key in known if query == key}

    def _ask(self, function: Callable[..., Any], *about: Any) -> list[Any]:
        """Return what a function returns for each shard."""
        done = list(self._run(given(function, *about), self._shards))
        if len(done) != (count := len(self._shards)):
            what = f"a result for each of {count} things, in order"
            raise OptionError(f"map: expected {what}, got {len(done)}")
        return done

    def _require_alike(self, options: list[dict[str, Any]]) -> None:
        for number, others in enumerate(options):
            for name, first in options[0].items():
                if not _are_equal(*(pair := (first, others[name]))):
                    told = [quoted(one["name"] if isinstance(one, dict) else one) for one in pair]
                    raise OptionError(
                        f"shards: {self._places[0]} and {self._places[number]} have different "
                        f"options ({name}: {' and '.join(told)}); pool those that are alike"
                    )

    def _require_different(self, hashes: NDArray[np.uint32]) -> None:
        found, times = np.unique(hashes, return_counts=True)
        names = self._ask(_names_of, found[times > 1]) if (times > 1).any() else []
        for name, count in Counter(name for some in names for name in some).most_common(1):
            if count > 1:
                places = [p for p, some in zip(self._places, names, strict=True) if name in some]
                raise OptionError(
                    f"shards: the key {quoted(name)} is in {' and in '.join(places)}; each key "
                    f"must be in one shard, or its value would count twice"
                )

    # ---- what a pool reads ---------------------------------------------------------------------

    def _of_blocks(self, queries: list[Any], read: Any, **_: Any) -> list[Any]:
        reader, blocks = self._current_reader(), slices(len(queries), _TOGETHER)
        return [one for some in blocks for one in read(queries[some], reader)]

    def _read_as(self, query: Any, reader: Any = None) -> Any:  # noqa: ARG002
        key = self._known.get(query, query)
        return NO_KEY if key is None and query is not None else key

    def _attended(self, reader: Any, names: list[Any], *_: Any) -> Any:
        names, keys = require_texts(names), reader.lookup.keys
        part, pooled = _Part(keys, self, self._of_all), dict[str, _Pooled]()
        queries = part._asked(list(dict.fromkeys(names)))
        pairs = zip(queries, part.meaning.of_queries(Asked.of(queries, part.keys)), strict=True)
        texts = [query._replace(vector=vector) for query, vector in pairs]
        blocks = [texts[some] for some in slices(len(texts), self._at_once)]
        told = zip(*self._ask(_found, blocks, self._of_all), strict=True)
        for asked, each in zip(blocks, told, strict=True):
            if (found := reduce(part.together, each)) is None:
                raise no_match(asked[0].asked, "", -np.inf, 0.0)
            keys = Keys.of(keys.table, found.names.tolist(), found.vectors)
            some = _Part(keys, self, self._of_all).pooled(asked, found, self.projections)
            pooled |= {query.asked: one for query, one in zip(asked, some, strict=True)}
        return [pooled[name] for name in names]

    def _pooled(self, attended: Any, reader: Any) -> list[NDArray[np.float64]]:  # noqa: ARG002
        return [one.output for one in attended]


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return are_same(a, b)
    with suppress(Exception):  # a function that is at no top level is not pickled
        return bool(a is b or a == b or pickle.dumps(a) == pickle.dumps(b))
    return False
