"""`pool_shards`: pooling over files and dicts as over the one dict that has the items of all.

Each shard is asked three times: what it is, for the statistics of all keys; which of its keys are
most worth a look, of which the best of all shards are judged in this process; and the sums of all
its keys, the others by their nearness, which are merged as (max, sum, weighted sum).

    L queries, n slots of a shard, C candidates of each query, Ev numbers of a value
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial as with_arguments
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.embedding.encoder import are_same
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, PoolingError, quoted
from fuzzydict.frames.workers import Matcher
from fuzzydict.mapping import FuzzyDict, items_of
from fuzzydict.nn.attention import Partial, finish, merge, partial
from fuzzydict.options import as_cutoff, as_temperature
from fuzzydict.results.answers import NO_KEY, as_queries, require_texts
from fuzzydict.results.pooling import StackedValues, reached_by, shaped
from fuzzydict.search.align import Found, align
from fuzzydict.search.judge import Judged
from fuzzydict.search.keys import USUAL, Keys, Statistics, exact_text, usual_of
from fuzzydict.search.lookup import QUERIES, SCORES, Attended, Exact, Scored, left_by_equal
from fuzzydict.search.retrieve import CANDIDATES, candidates, glance, largest
from fuzzydict.search.score import NamedScore
from fuzzydict.stores.lookup import size_of, stacked
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.search.score import Meaning

#: What runs a function for each of several things, as the builtin ``map`` does.
Map = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

_ROWS = 8192  # of a store, read at a time
_TOGETHER = 4096  # queries that shards are asked at a time
#: Options that are compared as they are, and those that all have in common.
_OPTIONS = ("scorer", "temperature", "score_cutoff")
_ALL_OPTIONS = ("embedding", "projections", *_OPTIONS)


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
    asked, cutoff = as_queries(queries), as_cutoff(score_cutoff)
    opened = _opened(shards, embedding)
    if not asked:
        return np.zeros(0)
    return _AllShards(opened, map, asked).pool(queries, score_cutoff=cutoff)


class _AllShards(FuzzyDict[Any]):
    """The one dict that has the items of all shards, which are asked for what they have.

    Raises:
        OptionError: two shards would score a key in two ways, or have the same key.
    """

    def __init__(self, shards: list[_Shard], run: Map, queries: list[Any]) -> None:
        first = shards[0].options
        super().__init__(**{name: getattr(first, name) for name in _ALL_OPTIONS})
        self.synonyms = first.synonyms
        self._shards, self._run = shards, run
        told: list[_Described] = self._ask(_described, queries)
        self._require_alike(told)
        place = 0
        for number, one in enumerate(told):
            shards[number] = shards[number]._replace(first=place, slots=one.slots)
            place += one.slots
        of_all, _, _ = _merged([one.counted for one in told])
        self._lookup = _NoKeys(self._current_meaning(), self.scorer, of_all)
        self._known = set().union(*(one.keys for one in told))
        # Of several shards that know an alias the last counts, as in one dict.
        self._taught = {alias: key for one in told for alias, key in one.aliases.items()}

    def _ask(self, function: Callable[..., Any], *about: Any) -> list[Any]:
        """Return what a function returns for each shard."""
        done = list(self._run(with_arguments(function, *about), self._shards))
        if len(done) != len(self._shards):
            raise OptionError(
                f"map: expected a result for each of {len(self._shards)} things, in order, got "
                f"{len(done)}"
            )
        return done

    def _require_alike(self, told: list[_Described]) -> None:
        shards = self._shards
        for shard, one in zip(shards, told, strict=True):
            for name, first in told[0].options.items():
                other, is_embedding = one.options[name], name == "embedding"
                if not (are_same(first, other) if is_embedding else _are_equal(first, other)):
                    several = [quoted(d["name"] if is_embedding else d) for d in (first, other)]
                    raise OptionError(
                        f"shards: {shards[0].place} and {shard.place} have different options "
                        f"({name}: {several[0]} and {several[1]}); pool those that are alike"
                    )
        digests = np.sort(np.concatenate([one.digests for one in told]))
        repeated = np.unique(digests[1:][digests[1:] == digests[:-1]])
        names = self._ask(_names_of, repeated) if len(repeated) else []
        often = Counter(name for some in names for name in some).most_common(1)
        if often and often[0][1] > 1:  # or else two keys have one hash
            name = often[0][0]
            places = [s.place for s, some in zip(shards, names, strict=True) if name in some]
            raise OptionError(
                f"shards: the key {quoted(name)} is in {' and in '.join(places)}; each key must be "
                f"in one shard, or its value would count twice"
            )

    # ---- what `pool` asks ----------------------------------------------------------------------

    def _of_blocks(self, queries: list[Any], read: Any, *, at_once: bool = False) -> list[Any]:
        del at_once
        reader, found = self._current_reader(), list[Any]()
        for some in slices(len(queries), _TOGETHER):
            found += read(queries[some], reader)
        return found

    def _read_as(self, query: Any, reader: Any = None) -> Any:
        del reader
        key = query if query in self._known else self._taught.get(query, query)
        return NO_KEY if key is None and query in self._taught else key

    def _attended(
        self, reader: Any, queries: list[Any], attn_mask: Any, topn: int | None = None
    ) -> list[Attended]:
        del reader, attn_mask, topn
        texts, lookup = require_texts(queries), self._lookup
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        different, given = list(rows), as_temperature(self.temperature)
        temperature = lookup.score.temperature if given is None else given
        vectors = lookup.vectors(different)
        asked = _Asked(different, vectors, lookup.keys.statistics, temperature)
        if isinstance(lookup.score, NamedScore):
            sums = _merged_sums(asked, self._ask(_summed, asked, None, None, None))
            attention, none = sums.rest, list[Any]([None] * len(rows))
            best = list(map(Scored, sums.names.tolist(), attention.max[:, 0].tolist()))
        else:
            sums, attention, best, none = self._judged(asked)
        total = attention.sum  # 0 if no key is reached, of which an error tells
        attention = attention._replace(sum=np.where(total == 0, 1, total))
        outputs = shaped(finish(attention), sums.shape, as_projections(self.projections))
        places = [rows[text] for text in texts]
        self._outputs = outputs[places]
        best, none = [best[i] for i in places], [none[i] for i in places]
        nothing = np.zeros((0, 0), np.float32)
        return [Attended([], vectors, nothing, nothing, temperature, best, np.zeros(0), none)]

    def _pooled(self, attended: Any, reader: Any) -> list[NDArray[np.float64]]:
        del attended, reader
        return [self._outputs]

    def _judged(self, asked: _Asked) -> tuple[_Sums, Partial, list[Scored], list[float]]:
        """Return attention over all keys, the best of them, and the probability of none."""
        glances, places, *seen, names = _best(self._ask(_candidates, asked))
        _, first, slots = np.unique(places, return_index=True, return_inverse=True)
        found, meaning = Found(slots.reshape(places.shape), *seen), self._lookup.meaning
        no_vectors = np.zeros((len(first), 0), np.float32)
        keys = Keys.of(meaning.table, names.ravel()[first].tolist(), no_vectors, asked.statistics)
        queries, judge = list(map(meaning.query, asked.texts)), meaning.judge
        blocks = list[Judged]()
        for rows in slices(len(queries), QUERIES):
            some = Found._make(array[rows] for array in found)
            features = align(queries[rows], keys, some, judge.pair, is_encoded=meaning.is_encoded)
            blocks.append(judge.judge(features))
        said = Judged(*map(np.concatenate, zip(*blocks, strict=True)))
        top, right, is_best = said.odds.max(axis=1), said.of_best(), said.tied()
        is_key = np.isposinf(glances.max(axis=1))  # which has its own value
        is_best = np.where(is_key[:, None], np.isposinf(glances), is_best)
        below = np.where(is_best, 0.0, np.minimum(said.odds - top[:, None], -1e-9))
        sums = _merged_sums(asked, self._ask(_summed, asked, places, top, below))
        scale, score = said.scale(sums.others), np.where(is_key, 1.0, right)
        none = np.maximum(0.0, 1 - np.count_nonzero(is_best, axis=1) * score - scale * sums.others)
        logs = np.where(is_key, left_by_equal(asked.temperature), np.log(scale))
        rest = sums.rest._replace(max=sums.rest.max + logs[:, None])
        own = Partial(np.log(score)[:, None], np.count_nonzero(is_best, axis=1)[:, None], sums.own)
        attention = merge(rest, own, asked.temperature)
        of_best = names[np.arange(len(names)), is_best.argmax(axis=1)].tolist()
        best = list(map(Scored, of_best, score.tolist()))
        return sums, attention, best, np.where(is_key, 0.0, none).tolist()


class _NoKeys(Exact):
    """A lookup with the statistics of all keys, and none of them."""

    def __init__(self, meaning: Meaning, scorer: Any, of_all: Statistics) -> None:
        super().__init__(Keys(meaning.table).with_statistics(of_all), meaning, scorer)
        self.count = self.keys.total

    def vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of queries, (L, E), or raise if there is nothing to compare."""
        return self.meaning.of_queries(self._asked(texts), self.keys)


# ---- shards ------------------------------------------------------------------------------------


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
            remote, d = d, FuzzyDict(**{name: getattr(d, name) for name in _ALL_OPTIONS})
            d.synonyms = remote.synonyms
        return d

    def parts(self) -> Iterator[tuple[int, Keys, StackedValues]]:
        """Yield the place of the first of some keys, these, and the values of the living."""
        lookup, values, embedding = items_of(self.options)
        if not isinstance(self.source, RemoteDict):
            yield self.first, lookup.keys, StackedValues(lookup.keys.living(), values, embedding)
            return
        table, size, first = lookup.meaning.table, size_of(lookup.meaning), self.first
        pages = self.source.pages(vectors=True)
        while some := list(islice(pages, _ROWS)):
            rows = [row for row in some if plain(row.key)]
            names = [row.key for row in rows]
            keys = Keys.of(table, names, stacked([row.vector for row in rows], size))
            yield first, keys, StackedValues(names, [row.value for row in rows], embedding)
            first += len(keys)


def _opened(shards: Iterable[Any], embedding: Any) -> list[_Shard]:
    is_one = isinstance(shards, str | bytes | os.PathLike | FuzzyDict)
    if is_one or not isinstance(shards, Iterable):
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


# ---- first: what each shard is -------------------------------------------------------------------


#: What some keys give to the statistics of all: theirs, and the hashes and vectors of those keys
#: with the least hashes, (m,) and (m, E), which are a sample of all.
_Counted: TypeAlias = tuple[Statistics, "NDArray[np.uint32]", "NDArray[np.float32]"]


def _merged(several: list[_Counted]) -> _Counted:
    """Return what all count."""
    statistics, hashes, vectors = zip(*several, strict=True)
    counts, stems, ngrams, _ = zip(*statistics, strict=True)
    of_all = np.concatenate(hashes)
    least = np.argsort(of_all, kind="stable")[:USUAL]
    sample = np.concatenate(vectors)[least]
    of_stems = sum(map(Counter, stems), Counter[str]())
    merged = Statistics(sum(counts), of_stems, sum(ngrams), usual_of(sample))
    return merged, of_all[least], sample


class _Described(NamedTuple):
    """What a shard is, and what it knows of the queries."""

    options: dict[str, Any]  # by their names, as they are compared
    slots: int  # how many keys it has, dead ones included
    digests: NDArray[np.uint64]  # what tells its living keys from others
    counted: _Counted
    keys: set[Any]  # which of the queries are keys
    aliases: dict[Any, Any]  # the keys of those that are aliases


def _described(queries: list[Any], shard: _Shard) -> _Described:
    """Return what a shard is."""
    d, source = shard.options, shard.source
    meaning = items_of(d).lookup.meaning
    options = {"embedding": meaning.fingerprint()} | {name: getattr(d, name) for name in _OPTIONS}
    slots, digests, empty = 0, [np.zeros(0, np.uint64)], stacked([], size_of(meaning))
    nothing: Any = Statistics(0, {}, np.zeros(1, np.int64), usual_of(empty))
    counted: _Counted = nothing, np.zeros(0, np.uint32), empty
    for _, keys, _ in shard.parts():
        slots += len(keys)
        digests.append(_digests(keys.living()))
        sample = keys.sample(USUAL)
        new = keys.statistics, keys.hashes[sample], keys.vectors[sample]
        counted = _merged([counted, new]) if keys.count else counted
    texts = [query for query in queries if isinstance(query, str)]
    if isinstance(source, RemoteDict):
        found, words = source.known(queries), {text: same_text(text) for text in texts}
        aliases = {text: found.keys[same] for text, same in words.items() if same in found.keys}
        names = set(found.values)
    else:
        aliases = {text: d.aliases[text] for text in texts if text in d.aliases}
        names = {query for query in queries if dict.__contains__(d, query)}
    return _Described(options, slots, np.concatenate(digests), counted, names, aliases)


def _digests(names: list[str]) -> NDArray[np.uint64]:
    """Return eight bytes of a hash of each of S keys, (S,)."""
    texts = [exact_text(name).encode("utf-8", "surrogatepass") for name in names]
    hashes = [blake2b(text, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), np.uint64)


def _names_of(wanted: NDArray[np.uint64], shard: _Shard) -> list[str]:
    """Return the keys with one of these digests."""
    found = list[str]()
    for _, keys, _ in shard.parts():
        names = keys.living()
        places = np.flatnonzero(np.isin(_digests(names), wanted)).tolist()
        found += [exact_text(names[place]) for place in places]
    return found


def _are_equal(a: Any, b: Any) -> bool:
    with suppress(Exception):  # a function that is at no top level is not pickled
        return bool(a is b or a == b or pickle.dumps(a) == pickle.dumps(b))
    return False


# ---- then: L queries -----------------------------------------------------------------------------


class _Asked(NamedTuple):
    """What each shard is asked: L queries."""

    texts: list[str]
    vectors: NDArray[np.float32]  # (L, E)
    statistics: Statistics  # of all keys
    temperature: float  # of the weights

    def compared(self, shard: _Shard) -> Iterator[tuple[int, Keys, StackedValues, slice, Any]]:
        """Yield the parts of a shard that have keys, and what some of the queries see of each.

        That is a `Glance`, or the scores of a named scorer, (l, n); in bounded memory.

        Raises:
            OptionError: the shard has other keys than before.
        """
        lookup = items_of(shard.options).lookup
        meaning, score, end = lookup.meaning, lookup.score, shard.first
        weights, queries = meaning.judge.glance, list(map(meaning.query, self.texts))
        for first, own, values in shard.parts():
            end += len(own)
            keys = own.with_statistics(self.statistics)
            at_once = min(max(SCORES // max(len(keys), 1), 1), QUERIES)
            for rows in slices(len(queries), at_once) if keys.count else ():
                vectors = self.vectors[rows]
                if isinstance(score, NamedScore):
                    seen: Any = score.scores(vectors, keys).astype(np.float64)
                else:
                    is_encoded = meaning.is_encoded
                    seen = glance(queries[rows], keys, vectors, weights, is_encoded=is_encoded)
                yield first, keys, values, rows, seen
        if end != shard.first + shard.slots:
            raise OptionError(f"shards: {shard.place} has changed while it was pooled; pool again")


def _candidates(asked: _Asked, shard: _Shard) -> list[NDArray[Any]]:
    """Return the keys of a shard that are most worth a look, C for each of L queries, in order.

    How much they are, infinitely if one equals the query; then the fields of `Found`, with their
    places among the keys of all shards; and the keys: each is an array (L, C).
    """
    kinds = np.float32, np.intp, *[np.float32] * 3, object
    chosen, blocks = [np.zeros((len(asked.texts), 0), kind) for kind in kinds], list[Any]()
    for first, keys, _, rows, seen in asked.compared(shard):
        for row, text in zip(seen.odds, asked.texts[rows], strict=True):
            slot = keys.slot_of(text)
            if slot is not None:
                row[slot] = np.inf
        slots, *found = candidates(seen, min(CANDIDATES, keys.count))
        names = np.array([exact_text(keys.names[i]) for i in slots.ravel().tolist()], object)
        odds = np.take_along_axis(seen.odds, slots, 1)
        blocks.append([odds, slots + first, *found, names.reshape(slots.shape)])
        if rows.stop >= len(asked.texts):  # the last queries of this part
            chosen = _best([chosen, [np.concatenate(some) for some in zip(*blocks, strict=True)]])
            blocks = []
    return chosen


def _best(several: list[list[NDArray[Any]]]) -> list[NDArray[Any]]:
    """Return the best candidates of several, which come in the order of their places."""
    arrays = [np.concatenate(some, axis=1) for some in zip(*several, strict=True)]
    if not arrays[0].size:
        return arrays
    columns = largest(arrays[0], min(CANDIDATES, arrays[0].shape[1]))
    return [np.take_along_axis(array, columns, 1) for array in arrays]


# ---- the sums of each shard ----------------------------------------------------------------------


class _Sums(NamedTuple):
    """What is pooled of some keys for some of the queries, l of them.

    Those that share the best place, or equal the query, count apart: all weigh the same.
    """

    rows: slice  # which queries
    kind: str  # what a value is, in words; "" if no query reaches a key
    shape: tuple[int, ...]  # of a value
    name: str  # a key
    rest: Partial  # over the other keys; with a named scorer, over all
    others: NDArray[np.float64]  # the odds of these, as a share of those of the best, (l,)
    own: NDArray[np.float64]  # the sum of the values of the best, (l, Ev)
    names: NDArray[Any]  # of the other keys the one with the most weight, (l,)


def _merged_sums(asked: _Asked, several: Iterable[_Sums]) -> _Sums:
    """Return the sums of all.

    Raises:
        PoolingError: their values cannot be pooled together.
    """
    count, temperature = len(asked.texts), asked.temperature
    nothing = Partial(np.full((count, 1), -np.inf), *np.zeros((2, count, 1)))
    names = np.full(count, "", object)
    own = np.zeros((count, 1))
    merged = _Sums(slice(None), "", (), "", nothing, np.zeros(count), own, names)
    for rows, kind, shape, name, rest, others, own, some in several:
        if not kind:
            continue
        if not merged.kind:
            sizes = np.zeros((2, count, own.shape[1]))
            weighted = nothing._replace(weighted=sizes[0])
            merged = _Sums(slice(None), kind, shape, name, weighted, merged.others, sizes[1], names)
        elif merged.kind != kind:
            raise PoolingError(
                f"the value of {quoted(merged.name)} {merged.kind}, that of {quoted(name)} "
                f"{kind}; values can only be pooled if all have one shape, or all are texts"
            )
        before = Partial(*(array[rows] for array in merged.rest))
        names[rows] = np.where((rest.max > before.max)[:, 0], some, names[rows])
        for array, new in zip(merged.rest, merge(before, rest, temperature), strict=True):
            array[rows] = new
        merged.others[rows] += others
        merged.own[rows] += own
    return merged


def _summed(asked: _Asked, places: Any, top: Any, below: Any, shard: _Shard) -> _Sums:
    """Return what is pooled of a shard.

    Args:
        asked: the queries.
        places: of the candidates among the keys of all shards, (L, C); None for a named scorer.
        top: the log-odds of the best of each query, (L,).
        below: the log-odds of the candidates, less these, (L, C).
        shard: is asked.
    """
    rest_odds = items_of(shard.options).lookup.meaning.judge.rest_odds

    def sums() -> Iterator[_Sums]:
        for first, keys, values, rows, seen in asked.compared(shard):
            scores = seen if places is None else rest_odds(seen.odds, top[rows])
            if places is not None:
                here = (places[rows] >= first) & (places[rows] < first + len(keys))
                scores[np.nonzero(here)[0], places[rows][here] - first] = below[rows][here]
            scores = scores[:, keys.alive]
            living, reached = keys.living(), reached_by(scores)
            if places is None and reached is not None:
                if not len(reached):
                    continue  # their values may be anything
                living, scores = [living[place] for place in reached.tolist()], scores[:, reached]
                array, are_texts = values.array(reached), values.are_texts(reached)
            else:
                array, are_texts = values.array(), values.are_texts()
            shape, flat = array.shape[1:], array.reshape(len(array), -1)
            kind = "is a text" if are_texts else f"has shape {shape}"
            own, others = np.zeros((len(scores), flat.shape[1])), np.zeros(len(scores))
            if places is not None:
                of_rows, of_best = np.nonzero(scores == 0)
                np.add.at(own, of_rows, flat[of_best])
                scores[of_rows, of_best] = -np.inf
                others = np.exp(scores).sum(axis=1)
            names = np.array([living[place] for place in scores.argmax(axis=1).tolist()], object)
            rest = partial(scores, flat, asked.temperature)
            yield _Sums(rows, kind, shape, living[0], rest, others, own, names)

    return _merged_sums(asked, sums())
