"""`pool_shards`: pooling over files and dicts as over the one dict that has the items of all.

Each shard is asked twice: what it is, for the statistics of all keys; and what it has for the
queries: those of its keys that are most worth a look, of which the best of all shards are judged in
this process, and the sums of all others by their nearness, merged as (max, sum, weighted sum).

    L queries, n slots of a shard, C candidates of each query, Ev numbers of a value
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial as with_arguments
from functools import reduce
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict.embedding.encoder import are_same
from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, PoolingError, quoted
from fuzzydict.frames.workers import Matcher
from fuzzydict.mapping import FuzzyDict, items_of
from fuzzydict.nn.attention import Partial, merge, partial, pool
from fuzzydict.nn.softmax import softmax
from fuzzydict.options import as_cutoff, as_temperature
from fuzzydict.results.answers import NO_KEY, as_queries, require_texts
from fuzzydict.results.pooling import Doubt, StackedValues, joined_outputs, shaped
from fuzzydict.search.align import align
from fuzzydict.search.keys import (
    CANDIDATES,
    USUAL,
    Keys,
    Seen,
    Statistics,
    exact_text,
    largest,
    usual_of,
)
from fuzzydict.search.lookup import QUERIES, SCORES, Exact, Listing, Scored, left_by_equal
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.stores.sampling import size_of, stacked
from fuzzydict.text.words import plain, same_text

#: What runs a function for each of several things, as the builtin ``map`` does.
Map = Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]

_ROWS = 8192  # of a store, read at a time
_TOGETHER = 1024  # queries that shards are asked at a time
_OPTIONS = ("scorer", "temperature", "score_cutoff")  # which are compared as they are
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
        NoMatchError: no key's score reaches the cutoff, or there is nothing to attend to.
        PoolingError: the values cannot be pooled.
        ArgumentTypeError: a shard is none of these.
        FileNotFoundError, FileFormatError, StoreError: a shard cannot be read.

    Warns:
        DoubtfulPoolWarning: it is more likely than not that no key is right for a query.

    >>> from fuzzydict import FuzzyDict
    >>> warm, cold = FuzzyDict({"red": (255, 0, 0)}), FuzzyDict({"navy": (0, 0, 128)})
    >>> pool_shards("dark red", [warm, cold]).round()
    array([255.,   0.,   0.])
    >>> (warm | cold).pool("dark red").round()
    array([255.,   0.,   0.])
    """
    asked, cutoff = as_queries(queries), as_cutoff(score_cutoff)
    opened = _opened(shards, embedding)
    if not asked:
        return np.zeros(0)
    return _AllShards(opened, map, asked).pool(queries, score_cutoff=cutoff)


# ---- shards ------------------------------------------------------------------------------------


class _Shard(NamedTuple):
    """What goes to other processes of a shard."""

    source: Any  # a dict, one in a store, or a `Matcher` of either, which a process opens once
    place: str  # names it in messages

    def open(self) -> tuple[Any, FuzzyDict[Any]]:
        """Return the dict itself, and what has its embedding and score."""
        d = self.source.open() if isinstance(self.source, Matcher) else self.source
        if not isinstance(d, RemoteDict):
            return d, d
        options: FuzzyDict[Any] = FuzzyDict(**{name: getattr(d, name) for name in _ALL_OPTIONS})
        options.synonyms = d.synonyms
        return d, options

    def parts(self) -> Iterator[tuple[Keys, StackedValues]]:
        """Yield some keys, and the values of the living, until there are no more."""
        d, options = self.open()
        lookup, values, embedding = items_of(options)
        yield lookup.keys, StackedValues(lookup.keys.living(), values, embedding)
        if d is options:
            return
        size, pages = size_of(lookup.meaning), d.pages(vectors=True)
        while some := list(islice(pages, _ROWS)):
            rows = [row for row in some if plain(row.key)]
            names, vectors = [row.key for row in rows], [row.vector for row in rows]
            keys = Keys.of(lookup.meaning.table, names, stacked(vectors, size))
            yield keys, StackedValues(names, [row.value for row in rows], embedding)


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
            found.append(_Shard(matcher, matcher.place))
        elif isinstance(shard, FuzzyDict | RemoteDict):
            is_here = isinstance(shard, FuzzyDict)
            found.append(_Shard(shard, f"shards[{number}]" if is_here else repr(shard)))
        else:
            raise ArgumentTypeError(
                f"shards[{number}]: expected a path, an address, a FuzzyDict or a RemoteDict, "
                f"got {type(shard).__name__} {quoted(shard)}"
            )
    if not found:
        raise OptionError("shards: expected one or more, got none")
    return found


# ---- what each shard is, told in its process ---------------------------------------------------


#: What some keys give to the statistics of all: theirs, and the hashes and vectors of those keys
#: with the least hashes, (m,) and (m, E), which are a sample of all.
_Counted: TypeAlias = tuple[Statistics, "NDArray[np.uint32]", "NDArray[np.float32]"]


class _Described(NamedTuple):
    """What a shard is, and what it knows of the queries."""

    options: dict[str, Any]  # by their names, as they are compared
    most: int  # slots that are read at a time
    hashes: NDArray[np.uint32]  # of its living keys; different keys may have one
    counted: _Counted
    known: dict[Any, Any]  # queries that are keys, themselves; and the keys of aliases


def _merged(several: list[_Counted]) -> _Counted:
    """Return what all count."""
    there = [one for one in several if one[0].total] or several[:1]
    statistics, hashes, vectors = zip(*there, strict=True)
    counts, stems, ngrams, _ = zip(*statistics, strict=True)
    of_all = np.concatenate(hashes)
    least = np.argsort(of_all, kind="stable")[:USUAL]
    sample = np.concatenate(vectors)[least]
    of_stems = sum(map(Counter, stems), Counter[str]())
    merged = Statistics(sum(counts), of_stems, sum(ngrams), usual_of(sample))
    return merged, of_all[least], sample


def _described(queries: list[Any], shard: _Shard) -> _Described:
    """Return what a shard is."""
    (source, d), most, hashes, counted = shard.open(), 1, [], []
    options = {name: getattr(d, name) for name in _OPTIONS}
    options["embedding"] = items_of(d).lookup.meaning.fingerprint()
    for keys, _ in shard.parts():
        most = max(most, len(keys))
        hashes.append(keys.hashes[keys.alive])
        sample = keys.sample(USUAL)
        counted.append((keys.statistics, keys.hashes[sample], keys.vectors[sample]))
    texts = [query for query in queries if isinstance(query, str)]
    if isinstance(source, RemoteDict):
        found, words = source.known(queries), {text: same_text(text) for text in texts}
        known = {text: found.keys[same] for text, same in words.items() if same in found.keys}
        known |= {name: name for name in found.values}
    else:
        known = {text: d.aliases[text] for text in texts if text in d.aliases}
        known |= {query: query for query in queries if dict.__contains__(d, query)}
    return _Described(options, most, np.concatenate(hashes), _merged(counted), known)


def _names_of(hashes: NDArray[np.uint32], shard: _Shard) -> list[str]:
    """Return the keys with one of these hashes."""
    found = list[str]()
    for keys, _ in shard.parts():
        slots = np.flatnonzero(keys.alive & np.isin(keys.hashes, hashes))
        found += [exact_text(keys.names[slot]) for slot in slots.tolist()]
    return found


# ---- what each shard has for queries, told in its process ----------------------------------------


class _Answer(NamedTuple):
    """What some keys have for L queries: C candidates of each, and all others as sums."""

    kind: tuple[bool, tuple[int, ...]]  # of a value: whether it is a text, and its shape
    #: Of the candidates, in the order of the keys: the keys, (L, C); how much each is worth a look,
    #: infinitely if it equals the query, or its score by a named scorer, (L, C); their values,
    #: (L, C, Ev); and the fields of `Seen` but the first, each (L, C), if no scorer is named.
    candidates: list[NDArray[Any]]
    others: Partial  # by the judge, as if the log-odds of the best key were 0
    odds: NDArray[np.float64]  # the sum of their odds, likewise, (L,)


class _Part(Exact):
    """Some of the keys of all shards, compared as among all."""

    def __init__(self, keys: Keys, d: FuzzyDict[Any], of_all: Statistics) -> None:
        super().__init__(keys.with_statistics(of_all), items_of(d).lookup.meaning, d.scorer)
        self.count, given = of_all.total, as_temperature(d.temperature)
        self.softness = self.score.temperature if given is None else given  # of the weights
        self._projections = as_projections(d.projections)
        self.is_named = self._is_named  # a scorer; one candidate, the best key, is enough then

    def vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of queries, (L, E), or raise if there is nothing to compare."""
        return self.meaning.of_queries(self._asked(texts), self.keys)

    def answer(
        self, texts: list[str], vectors: NDArray[np.float32], values: StackedValues
    ) -> _Answer | None:
        """Return what these keys have for L queries; None if no query reaches one."""
        keys, pairs = self.keys, zip(self.meaning.queries(texts), vectors, strict=True)
        seen: list[NDArray[Any]] = []
        if not keys.count:
            return None
        queries = [query._replace(vector=vector) for query, vector in pairs]
        if self.is_named:
            odds = self._scores(Listing(queries, keys))
        else:
            odds, *seen = self._glance(queries, keys)
            for row, text in zip(odds, texts, strict=True):
                if (slot := keys.slot_of(text)) is not None:
                    row[slot] = np.inf
        slots = np.flatnonzero((odds > -np.inf).any(axis=0))  # the other values may be anything
        if not len(slots):
            return None
        places = (
            None if len(slots) == keys.count else np.searchsorted(np.flatnonzero(keys.alive), slots)
        )
        array = values.array(places)
        flat, odds = array.reshape(len(array), -1), odds[:, slots]
        names = np.array([exact_text(keys.names[slot]) for slot in slots.tolist()], object)
        (rows, best), weights, total = self._divided(odds)
        found = [names[best], odds[rows, best], flat[best], *(of[rows, slots[best]] for of in seen)]
        kind = values.are_texts(places), array.shape[1:]
        return _Answer(kind, found, partial(weights, flat, self.softness), total)

    def _divided(self, odds: NDArray[Any]) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """Return where the candidates are among keys, (L, n), and the others' log-weights, and sum.

        A dict bounds them by the best key's, but keys that are no candidates are far below it.
        """
        count = min(1 if self.is_named else CANDIDATES, odds.shape[1])
        best = np.array([largest(row, count) for row in odds], np.intp).reshape(len(odds), count)
        candidates = np.arange(len(odds))[:, None], best
        if not self.is_named:
            odds = self.meaning.judge.rest_odds(odds, np.zeros(len(odds)))
        weights = odds.astype(np.float64)
        weights[candidates] = -np.inf
        return candidates, weights, np.exp(weights).sum(axis=1)

    def together(self, one: _Answer | None, other: _Answer | None) -> _Answer | None:
        """Return what the keys of both have; those of the first come first."""
        if one is None or other is None:
            return one or other
        if one.kind != other.kind:
            told = [
                f"{quoted(answer.candidates[0][0, 0])} "
                f"{'is a text' if answer.kind[0] else f'has shape {answer.kind[1]}'}"
                for answer in (one, other)
            ]
            raise PoolingError(
                f"the value of {told[0]}, that of {told[1]}; values can only be pooled if all have "
                f"one shape, or all are texts"
            )
        both = zip(one.candidates, other.candidates, strict=True)
        candidates = [np.concatenate(two, axis=1) for two in both]
        best, weights, total = self._divided(candidates[1])
        left = partial(weights[:, None], candidates[2], self.softness)
        others = merge(one.others, other.others, self.softness)
        others = merge(others, Partial(*(array[:, 0] for array in left)), self.softness)
        found = [of[best] for of in candidates]
        return _Answer(one.kind, found, others, one.odds + other.odds + total)

    def finished(
        self, texts: list[str], answer: _Answer | None
    ) -> tuple[list[Doubt], NDArray[np.float64]]:
        """Return the doubt about each query, and what is pooled, (L, *shape)."""
        if answer is None:  # no query reaches a key, of which an error tells
            return [(Scored("", -np.inf), None)] * len(texts), np.zeros(len(texts))
        names, logits, values, *_ = answer.candidates
        if self.is_named:
            best = map(Scored, names[:, 0].tolist(), logits[:, 0].tolist())
            doubts: list[Doubt] = [(one, None) for one in best]
            above: Any = 0.0
        else:
            doubts, logits, above = self._judged(texts, answer)
        # All others are as one key, which has their weight, and the mean of their values.
        top, total, weighted = answer.others
        total = np.where(total == 0, 1, total)
        rest = top - above + self.softness * np.log(total)
        table = np.hstack([logits, rest])
        table[np.isneginf(table).all(axis=1)] = 0  # of which an error tells
        every = np.concatenate([values, (weighted / total)[:, None]], axis=1)
        output = pool(softmax(table, self.softness)[:, None], every)[:, 0]
        return doubts, shaped(output, answer.kind[1], self._projections)

    def _judged(
        self, texts: list[str], answer: _Answer
    ) -> tuple[list[Doubt], NDArray[np.float64], NDArray[np.float64]]:
        """Return the doubts, the logits of the candidates, and what is taken off the others'."""
        meaning, (names, glances, _, *more) = self.meaning, answer.candidates
        different, slots = np.unique(names, return_inverse=True)
        no_vectors = np.zeros((len(different), 0), np.float32)
        keys = Keys.of(meaning.table, different.tolist(), no_vectors)
        keys = keys.with_statistics(self.keys.statistics)
        slots, seen = slots.reshape(names.shape), Seen(glances, *more)
        features = align(meaning.queries(texts), keys, slots, seen, meaning.judge.pair)
        said = meaning.judge.judge(features, keys.hashes[slots])
        top, is_best = said.odds.max(axis=1, keepdims=True), said.tied()
        is_key = np.isposinf(glances.max(axis=1))  # which has its own value
        is_best = np.where(is_key[:, None], np.isposinf(glances), is_best)
        below = np.where(is_best, -np.inf, np.minimum(said.odds - top, -1e-9))
        of_others = answer.odds * np.exp(-top[:, 0]) + np.exp(below).sum(axis=1)
        scale, score = said.scale(of_others), np.where(is_key, 1.0, said.of_best())
        logs = np.where(is_key, left_by_equal(self.softness), np.log(scale))[:, None]
        logits = np.where(is_best, np.log(score)[:, None], below + logs)
        ties = np.count_nonzero(is_best, axis=1)
        none = np.where(is_key, 0.0, np.maximum(0.0, 1 - ties * score - scale * of_others))
        best = np.where(is_key, is_best.argmax(axis=1), said.best)
        of_best = map(Scored, names[np.arange(len(names)), best].tolist(), score.tolist())
        return list(zip(of_best, none.tolist(), strict=True)), logits, top - logs


def _answered(
    texts: list[str],
    vectors: NDArray[np.float32],
    blocks: list[slice],
    of_all: Statistics,
    shard: _Shard,
) -> list[_Answer | None]:
    """Return what a shard has for each block of queries, which have the vectors (L, E)."""
    d, answers = shard.open()[1], list[_Answer | None]([None] * len(blocks))
    for keys, values in shard.parts():
        part = _Part(keys, d, of_all)
        for place, rows in enumerate(blocks):
            new = part.answer(texts[rows], vectors[rows], values)
            answers[place] = part.together(answers[place], new)
    return answers


# ---- what is asked and judged, in this process ---------------------------------------------------


class _Pooled(NamedTuple):
    """What is pooled of queries."""

    best: tuple[Scored, ...]  # of each
    none: tuple[float | None, ...]  # the probability that no key is right, of each
    output: NDArray[np.float64]  # (L, *shape)


class _AllShards(FuzzyDict[Any]):
    """A dict that pools as if it had the items of all shards, which are asked for what they have.

    Raises:
        OptionError: two shards would score a key in two ways, or have the same key.
    """

    def __init__(self, shards: list[_Shard], run: Map, queries: list[Any]) -> None:
        options = shards[0].open()[1]
        super().__init__(**{name: getattr(options, name) for name in _ALL_OPTIONS})
        self.synonyms = options.synonyms
        self._shards, self._run = shards, run
        told: list[_Described] = self._ask(_described, queries)
        self._require_alike(told)
        of_all, *_ = _merged([one.counted for one in told])
        self._part = _Part(items_of(self).lookup.keys, self, of_all)
        self._at_once = min(max(SCORES // max(one.most for one in told), 1), QUERIES)
        # A key counts before an alias; of several shards that know one the last, as in one dict.
        known = [pair for one in told for pair in one.known.items()]
        self._known = dict(known) | {query: key for query, key in known if query == key}

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
        hashes, times = np.unique(np.concatenate([one.hashes for one in told]), return_counts=True)
        names = self._ask(_names_of, hashes[times > 1]) if (times > 1).any() else []
        for name, count in Counter(name for some in names for name in some).most_common(1):
            places = [s.place for s, some in zip(shards, names, strict=True) if name in some]
            if count > 1:
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

    def _attended(self, reader: Any, queries: list[Any], *_: Any) -> Any:  # noqa: ARG002
        names, part = require_texts(queries), self._part
        texts = list(dict.fromkeys(names))
        blocks = list(slices(len(texts), self._at_once))
        told = self._ask(_answered, texts, part.vectors(texts), blocks, part.keys.statistics)
        doubts, outputs = list[Doubt](), []
        for rows, answers in zip(blocks, zip(*told, strict=True), strict=True):
            some, output = part.finished(texts[rows], reduce(part.together, answers))
            doubts += some
            outputs.append(output)
        place_of = {text: place for place, text in enumerate(texts)}
        places = [place_of[name] for name in names]
        best, none = zip(*(doubts[place] for place in places), strict=True)
        return [_Pooled(best, none, joined_outputs(outputs)[places])]

    def _pooled(self, attended: Any, reader: Any) -> list[NDArray[np.float64]]:  # noqa: ARG002
        return [one.output for one in attended]


def _are_equal(a: Any, b: Any) -> bool:
    with suppress(Exception):  # a function that is at no top level is not pickled
        return bool(a is b or a == b or pickle.dumps(a) == pickle.dumps(b))
    return False
