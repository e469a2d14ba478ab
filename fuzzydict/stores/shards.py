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
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

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
    NO_KEY,
    as_queries,
    is_match,
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
from fuzzydict.search.align import Found, align
from fuzzydict.search.judge import Judged
from fuzzydict.search.keys import USUAL, Keys, Statistics, exact_text, usual_of
from fuzzydict.search.lookup import QUERIES, SCORES, Exact, Listing, Scored, left_by_equal
from fuzzydict.search.retrieve import CANDIDATES, candidates, largest
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.stores.sampling import size_of, stacked
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.search.score import Meaning

T = TypeVar("T")

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
    >>> pool_shards("dark red", [warm, cold]).round()
    array([255.,   0.,   0.])
    >>> (warm | cold).pool("dark red").round()
    array([255.,   0.,   0.])
    """
    asked, cutoff = as_queries(queries), as_cutoff(score_cutoff)
    opened = _opened(shards, embedding)
    if not asked:
        return np.zeros(0)
    return _AllShards(opened, map, asked).pool(queries, cutoff)


# ---- shards ------------------------------------------------------------------------------------


class _Shard(NamedTuple):
    """What goes to other processes of a shard."""

    source: Any  # a dict, one in a store, or the `Matcher` of a file, which a process opens once
    place: str  # names it in messages
    first: int = 0  # the place of its first key among those of all shards
    slots: int | None = None  # how many places it has, once that is known

    @property
    def options(self) -> FuzzyDict[Any]:
        """What has the embedding and the score."""
        d: FuzzyDict[Any] = self.source.open() if isinstance(self.source, Matcher) else self.source
        if isinstance(d, RemoteDict):
            remote, d = d, FuzzyDict(**{name: getattr(d, name) for name in _ALL_OPTIONS})
            d.synonyms = remote.synonyms
        return d

    def parts(self) -> Iterator[tuple[int, Keys, StackedValues]]:
        """Yield the place of the first of some keys, these, and the values of the living.

        Raises:
            OptionError: there are more or fewer keys than before.
        """
        lookup, values, embedding = items_of(self.options)
        end, names = self.first, lookup.keys.living()
        if isinstance(self.source, RemoteDict):
            pages = self.source.pages(vectors=True)
            while some := list(islice(pages, _ROWS)):
                rows = [row for row in some if plain(row.key)]
                names, vectors = [row.key for row in rows], [row.vector for row in rows]
                size, own = size_of(lookup.meaning), [row.value for row in rows]
                keys = Keys.of(lookup.meaning.table, names, stacked(vectors, size))
                yield end, keys, StackedValues(names, own, embedding)
                end += len(keys)
        else:
            yield end, lookup.keys, StackedValues(names, values, embedding)
            end += len(lookup.keys)
        if self.slots is not None and end != self.first + self.slots:
            raise OptionError(f"shards: {self.place} has changed while it was pooled; pool again")


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


# ---- what each shard is asked, in its process ----------------------------------------------------


def _reduced(together: Callable[[T, T], T], several: Iterable[T | None]) -> T | None:
    """Return all that is not None, together."""
    found = None
    for one in several:
        found = one if found is None else found if one is None else together(found, one)
    return found


class _Described(NamedTuple):
    """What a shard is, and what it knows of the queries."""

    options: dict[str, Any]  # by their names, as they are compared
    slots: int  # how many keys it has, dead ones included
    hashes: NDArray[np.uint32]  # of its living keys; different keys may have one
    counted: _Counted | None
    known: dict[Any, Any]  # queries that are keys, themselves; and the keys of aliases


#: What some keys give to the statistics of all: theirs, and the hashes and vectors of those keys
#: with the least hashes, (m,) and (m, E), which are a sample of all.
_Counted: TypeAlias = tuple[Statistics, "NDArray[np.uint32]", "NDArray[np.float32]"]


def _merged(*several: _Counted) -> _Counted:
    """Return what all count."""
    statistics, hashes, vectors = zip(*several, strict=True)
    counts, stems, ngrams, _ = zip(*statistics, strict=True)
    of_all = np.concatenate(hashes)
    least = np.argsort(of_all, kind="stable")[:USUAL]
    sample = np.concatenate(vectors)[least]
    of_stems = sum(map(Counter, stems), Counter[str]())
    merged = Statistics(sum(counts), of_stems, sum(ngrams), usual_of(sample))
    return merged, of_all[least], sample


def _described(queries: list[Any], shard: _Shard) -> _Described:
    """Return what a shard is."""
    d, source, counted, slots = shard.options, shard.source, None, 0
    options = {"embedding": items_of(d).lookup.meaning.fingerprint()}
    options |= {name: getattr(d, name) for name in _OPTIONS}
    hashes = [np.zeros(0, np.uint32)]
    for _, keys, _ in shard.parts():
        slots += len(keys)
        hashes.append(keys.hashes[keys.alive])
        sample = keys.sample(USUAL)
        new = keys.statistics, keys.hashes[sample], keys.vectors[sample]
        counted = _reduced(_merged, [counted, new if keys.count else None])
    texts = [query for query in queries if isinstance(query, str)]
    if isinstance(source, RemoteDict):
        found, words = source.known(queries), {text: same_text(text) for text in texts}
        known = {text: found.keys[same] for text, same in words.items() if same in found.keys}
        known |= {name: name for name in found.values}
    else:
        known = {text: d.aliases[text] for text in texts if text in d.aliases}
        known |= {query: query for query in queries if dict.__contains__(d, query)}
    return _Described(options, slots, np.concatenate(hashes), counted, known)


def _names_of(hashes: NDArray[np.uint32], shard: _Shard) -> list[str]:
    """Return the keys with one of these hashes."""
    found = list[str]()
    for _, keys, _ in shard.parts():
        slots = np.flatnonzero(keys.alive & np.isin(keys.hashes, hashes))
        found += [exact_text(keys.names[slot]) for slot in slots.tolist()]
    return found


class _Asked(NamedTuple):
    """L queries that each shard is asked."""

    texts: list[str]
    vectors: NDArray[np.float32]  # (L, E)
    statistics: Statistics  # of all keys
    temperature: float  # of the weights


class _Part(Exact):
    """Some of the keys of all shards, compared as among all."""

    def __init__(self, keys: Keys, meaning: Meaning, scorer: Any, of_all: Statistics) -> None:
        super().__init__(keys.with_statistics(of_all), meaning, scorer)
        self.count = of_all.total

    def vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of queries, (L, E), or raise if there is nothing to compare."""
        return self.meaning.of_queries(self._asked(texts), self.keys)

    @property
    def is_named(self) -> bool:
        """Whether a named scorer compares, so that there are no candidates."""
        return self._is_named

    def seen(self, asked: _Asked) -> Iterator[tuple[slice, Any]]:
        """Yield what some of the queries see of the n keys, in bounded memory.

        That is a `Glance`, or the scores of a named scorer, (l, n).
        """
        pairs = zip(self.meaning.queries(asked.texts), asked.vectors, strict=True)
        queries = [query._replace(vector=vector) for query, vector in pairs]
        at_once = min(max(SCORES // max(len(self.keys), 1), 1), QUERIES)
        for rows in slices(len(queries), at_once) if self.keys.count else ():
            if self._is_named:
                yield rows, self._scores(Listing(queries[rows], self.keys)).astype(np.float64)
            else:
                yield rows, self._glance(queries[rows], self.keys)


def _parts(asked: _Asked, shard: _Shard) -> Iterator[tuple[int, _Part, StackedValues]]:
    """Yield the place of the first key of each part of a shard, the part, and its values."""
    d = shard.options
    meaning = items_of(d).lookup.meaning
    for first, keys, values in shard.parts():
        yield first, _Part(keys, meaning, d.scorer, asked.statistics), values


def _candidates(asked: _Asked, shard: _Shard) -> list[NDArray[Any]] | None:
    """Return the keys of a shard that are most worth a look, C for each of L queries, in order.

    How much they are, infinitely if one equals the query; then the fields of `Found`, with their
    places among the keys of all shards; and the keys: each is an array (L, C). None without keys.
    """

    def of_part(first: int, part: _Part) -> list[NDArray[Any]] | None:
        keys, blocks = part.keys, list[list[Any]]()
        for rows, seen in part.seen(asked):
            for row, text in zip(seen.odds, asked.texts[rows], strict=True):
                if (slot := keys.slot_of(text)) is not None:
                    row[slot] = np.inf
            slots, *found = candidates(seen, min(CANDIDATES, keys.count))
            names = np.array([exact_text(keys.names[i]) for i in slots.ravel().tolist()], object)
            odds = np.take_along_axis(seen.odds, slots, 1)
            blocks.append([odds, slots + first, *found, names.reshape(slots.shape)])
        return [np.concatenate(some) for some in zip(*blocks, strict=True)] or None

    return _reduced(_best, (of_part(first, part) for first, part, _ in _parts(asked, shard)))


def _best(*several: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the best candidates of several, which come in the order of their places."""
    arrays = [np.concatenate(some, axis=1) for some in zip(*several, strict=True)]
    columns = largest(arrays[0], min(CANDIDATES, arrays[0].shape[1]))
    return [np.take_along_axis(array, columns, 1) for array in arrays]


class _Sums(NamedTuple):
    """What is pooled of some keys for L queries.

    Those that share the best place, or equal the query, count apart: all weigh the same.
    """

    kind: str  # what a value is, in words
    shape: tuple[int, ...]  # of a value
    name: str  # a key
    rest: Partial  # over the other keys; with a named scorer, over all
    others: NDArray[np.float64]  # the odds of these, as a share of those of the best, (L,)
    own: NDArray[np.float64]  # the sum of the values of the best, (L, Ev)
    names: NDArray[Any]  # of the other keys the one with the most weight, (L,)


def _added(temperature: float, a: _Sums, b: _Sums) -> _Sums:
    """Return the sums of both; raise PoolingError if their values cannot be pooled together."""
    if a.kind != b.kind:
        raise PoolingError(
            f"the value of {quoted(a.name)} {a.kind}, that of {quoted(b.name)} {b.kind}; values "
            f"can only be pooled if all have one shape, or all are texts"
        )
    names = np.where((b.rest.max > a.rest.max)[:, 0], b.names, a.names)
    rest = merge(a.rest, b.rest, temperature)
    return a._replace(rest=rest, others=a.others + b.others, own=a.own + b.own, names=names)


def _summed(asked: _Asked, places: Any, top: Any, below: Any, shard: _Shard) -> _Sums | None:
    """Return what is pooled of a shard, or None if no query reaches a key of it.

    Args:
        asked: the queries.
        places: of the candidates among the keys of all shards, (L, C); None for a named scorer.
        top: the log-odds of the best of each query, (L,).
        below: the log-odds of the candidates, less these, (L, C).
        shard: is asked.
    """
    count = len(asked.texts)

    def of_all(rows: slice, array: NDArray[Any], nothing: Any = 0.0) -> NDArray[Any]:
        full = np.full((count, *array.shape[1:]), nothing, array.dtype)
        full[rows] = array
        return full

    def sums() -> Iterator[_Sums]:
        for first, part, values in _parts(asked, shard):
            keys = part.keys
            for rows, seen in part.seen(asked):
                scores = seen
                if places is not None:
                    scores = part.meaning.judge.rest_odds(seen.odds, top[rows])
                    here = (places[rows] >= first) & (places[rows] < first + len(keys))
                    scores[np.nonzero(here)[0], places[rows][here] - first] = below[rows][here]
                scores, living = scores[:, keys.alive], keys.living()
                reached = reached_by(scores) if places is None else None
                if reached is not None:  # the other values may be anything
                    living, scores = [living[i] for i in reached.tolist()], scores[:, reached]
                if not living:
                    continue
                array = values.array(reached)
                shape, flat = array.shape[1:], array.reshape(len(array), -1)
                kind = "is a text" if values.are_texts(reached) else f"has shape {shape}"
                own, others = np.zeros((len(scores), flat.shape[1])), np.zeros(len(scores))
                if places is not None:
                    of_rows, of_best = np.nonzero(scores == 0)
                    np.add.at(own, of_rows, flat[of_best])
                    scores[of_rows, of_best] = -np.inf
                    others = np.exp(scores).sum(axis=1)
                names = np.array([living[i] for i in scores.argmax(axis=1).tolist()], object)
                rest = partial(scores, flat, asked.temperature)
                top_, total, weighted = map(of_all, [rows] * 3, rest, (-np.inf, 0.0, 0.0))
                more = of_all(rows, others), of_all(rows, own), of_all(rows, names, "")
                yield _Sums(kind, shape, living[0], Partial(top_, total, weighted), *more)

    return _reduced(with_arguments(_added, asked.temperature), sums())


# ---- what is asked and judged, in this process ---------------------------------------------------


class _AllShards:
    """The one dict that has the items of all shards, which are asked for what they have.

    Raises:
        OptionError: two shards would score a key in two ways, or have the same key.
    """

    def __init__(self, shards: list[_Shard], run: Map, queries: list[Any]) -> None:
        self._shards, self._run, self._options = shards, run, shards[0].options
        told: list[_Described] = self._ask(_described, queries)
        self._require_alike(told)
        place = 0
        for number, one in enumerate(told):
            shards[number] = shards[number]._replace(first=place, slots=one.slots)
            place += one.slots
        counted = _reduced(_merged, [one.counted for one in told])
        no_keys = Keys((meaning := items_of(self._options).lookup.meaning).table)
        of_all = counted[0] if counted else no_keys.statistics
        self._lookup = _Part(no_keys, meaning, self._options.scorer, of_all)
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

    def pool(self, queries: Any, cutoff: float | None) -> Any:
        """Return `FuzzyDict.pool` of all items."""
        asked, lookup, options = as_queries(queries), self._lookup, self._options
        names = [self._read_as(one) for one in asked]
        refused = zip(asked, names, strict=True)
        errors = [taught_none(query) for query, name in refused if name is NO_KEY]
        blocks, different = list[tuple[Any, ...]](), dict[str, int]()
        with naming_the_place(asked):
            texts = [] if errors else require_texts(names)
            different.update((text, row) for row, text in enumerate(dict.fromkeys(texts)))
            for some in slices(len(different), _TOGETHER) if different else ():
                some_texts, given = list(different)[some], as_temperature(options.temperature)
                softness = lookup.score.temperature if given is None else given
                vectors = lookup.vectors(some_texts)
                block = _Asked(some_texts, vectors, lookup.keys.statistics, softness)
                blocks.append(self._named(block) if lookup.is_named else self._judged(block))
        best: list[Scored] = [one for block in blocks for one in block[1]]
        none = [one for block in blocks for one in block[2]]
        given = as_cutoff(options.score_cutoff) if cutoff is None else cutoff
        cutoff = lookup.score.pool_cutoff if given is None else given
        rows = [different[text] for text in texts]
        for query, text, row in zip(asked, texts, rows, strict=bool(rows)):
            if not is_match(text, *best[row], cutoff):
                errors.append(no_match(query, *best[row], cutoff))
        if errors:
            raise no_matches(errors, "leave them out")
        outputs = joined_outputs([block[0] for block in blocks])[rows]
        doubts = [(best[row], none[row]) for row in rows]
        warn_of_doubt(asked, doubts, of_numbers=outputs.ndim == 1)
        return outputs if isinstance(queries, list) else as_output(outputs[0])

    def _read_as(self, query: Any) -> Any:
        key = self._known.get(query, query)
        return NO_KEY if key is None and query is not None else key

    def _sums(self, asked: _Asked, *about: Any) -> _Sums | None:
        added = with_arguments(_added, asked.temperature)
        return _reduced(added, self._ask(_summed, asked, *about))

    def _outputs(self, attention: Partial, sums: _Sums) -> NDArray[np.float64]:
        return shaped(finish(attention), sums.shape, as_projections(self._options.projections))

    def _named(self, asked: _Asked) -> tuple[Any, list[Scored], list[Any]]:
        """Return what a named scorer pools, (L, *shape), the best keys, and None for each."""
        sums, none = self._sums(asked, None, None, None), [None] * len(asked.texts)
        if sums is None:  # no query reaches a key
            return np.zeros(len(none)), [Scored("", -np.inf)] * len(none), none
        best = list(map(Scored, sums.names.tolist(), sums.rest.max[:, 0].tolist()))
        total = sums.rest.sum  # 0 if no key is reached, of which an error tells
        attention = sums.rest._replace(sum=np.where(total == 0, 1, total))
        return self._outputs(attention, sums), best, none

    def _judged(self, asked: _Asked) -> tuple[Any, list[Scored], list[Any]]:
        """Return what is pooled, (L, *shape), the best keys, and the probability of none."""
        glances, places, *seen, names = _best(*filter(None, self._ask(_candidates, asked)))
        _, first, slots = np.unique(places, return_index=True, return_inverse=True)
        found, meaning = Found(slots.reshape(places.shape), *seen), self._lookup.meaning
        no_vectors = np.zeros((len(first), 0), np.float32)
        keys = Keys.of(meaning.table, names.ravel()[first].tolist(), no_vectors)
        keys = keys.with_statistics(asked.statistics)
        queries, judge = meaning.queries(asked.texts), meaning.judge
        blocks = list[Judged]()
        for rows in slices(len(queries), QUERIES):
            some = Found._make(array[rows] for array in found)
            features = align(queries[rows], keys, some, judge.pair)
            blocks.append(judge.judge(features))
        said = Judged(*map(np.concatenate, zip(*blocks, strict=True)))
        top, right, is_best = said.odds.max(axis=1), said.of_best(), said.tied()
        is_key = np.isposinf(glances.max(axis=1))  # which has its own value
        is_best = np.where(is_key[:, None], np.isposinf(glances), is_best)
        below = np.where(is_best, 0.0, np.minimum(said.odds - top[:, None], -1e-9))
        sums = cast("_Sums", self._sums(asked, places, top, below))
        ties = np.count_nonzero(is_best, axis=1)
        scale, score = said.scale(sums.others), np.where(is_key, 1.0, right)
        none = np.where(is_key, 0.0, np.maximum(0.0, 1 - ties * score - scale * sums.others))
        logs = np.where(is_key, left_by_equal(asked.temperature), np.log(scale))
        rest = sums.rest._replace(max=sums.rest.max + logs[:, None])
        own = Partial(np.log(score)[:, None], ties[:, None], sums.own)
        of_best = names[np.arange(len(names)), is_best.argmax(axis=1)].tolist()
        best = list(map(Scored, of_best, score.tolist()))
        return self._outputs(merge(rest, own, asked.temperature), sums), best, none.tolist()


def _are_equal(a: Any, b: Any) -> bool:
    with suppress(Exception):  # a function that is at no top level is not pickled
        return bool(a is b or a == b or pickle.dumps(a) == pickle.dumps(b))
    return False
