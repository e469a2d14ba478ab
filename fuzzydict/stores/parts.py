"""What a shard of keys is: a file, a dict, or a dict in a store; read some keys at a time."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, reduce
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict.embedding.encoder import are_same
from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.frames.matcher import Matcher
from fuzzydict.mapping import FuzzyDict, Items, items_of
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.key_index import exact_text
from fuzzydict.search.keys import USUAL, Keys, Statistics, usual_of
from fuzzydict.stores.lookup import stacked
from fuzzydict.stores.remote import RemoteDict
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.search.meaning import Meaning


_ROWS = 8192  # of a store, read at a time


class Part(NamedTuple):
    """Some keys of a shard, of which it has more if it is a store, and the values of the living."""

    keys: Keys
    values: StackedValues


class Shard:
    """A dict, of which a copy goes to other processes.

    Attributes:
        source: the dict, or what stands for it.
        number: of the shard, from 0.
        place: names it in messages.
    """

    def __init__(self, source: Any, number: int, place: str) -> None:
        self.source, self.number, self.place = source, number, place

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.number, self.place)

    @cached_property
    def options(self) -> FuzzyDict[Any]:
        """What has the embedding and the score."""
        d: FuzzyDict[Any] = self.source
        return d

    @cached_property
    def items(self) -> Items:
        """What it holds of the keys now."""
        return items_of(self.options)

    @property
    def meaning(self) -> Meaning:
        """What keys and queries are compared by."""
        return self.items.lookup.meaning

    def parts(self) -> Iterator[Part]:
        """Yield its keys and values, some at a time."""
        lookup, values, embedding = self.items
        yield Part(lookup.keys, StackedValues(lookup.keys.living(), values, embedding))

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:
        """Return which of some texts are keys, and the key of each alias, None if it has none."""
        d = self.options
        keys = {text for text in texts if dict.__contains__(d, text)}
        taught = {text for text in texts if isinstance(text, str) and text in d.aliases}
        return keys, {text: d.aliases[text] for text in taught}


class FileShard(Shard):
    """A file, which each process opens once by its `Matcher`."""

    @cached_property
    def options(self) -> FuzzyDict[Any]:  # noqa: D102
        d: FuzzyDict[Any] = self.source.open()
        return d


class RemoteShard(Shard):
    """A dict whose keys are in a store, read from its first row to the last."""

    @cached_property
    def options(self) -> FuzzyDict[Any]:  # noqa: D102
        names = ("embedding", "projections", "scorer", "temperature", "score_cutoff")
        return FuzzyDict(**{name: getattr(self.source, name) for name in names})

    def parts(self) -> Iterator[Part]:  # noqa: D102
        meaning, embedding = self.meaning, self.items.embedding
        size = meaning.of_keys(["size"]).shape[1]
        rows = self.source.pages(vectors=True)
        while some := list(islice(rows, _ROWS)):
            told = [row for row in some if plain(row.key)]
            names = [row.key for row in told]
            keys = Keys.of(meaning.table, names, stacked([row.vector for row in told], size))
            yield Part(keys, StackedValues(names, [row.value for row in told], embedding))

    def known(self, texts: list[Any]) -> tuple[set[Any], dict[Any, Any]]:  # noqa: D102
        found, asked = self.source.known(texts), [one for one in texts if isinstance(one, str)]
        words = {text: same_text(text) for text in asked}
        taught = {text: found.keys[same] for text, same in words.items() if same in found.keys}
        return set(found.values), taught


def opened(shards: Iterable[Any], embedding: Any) -> list[Shard]:
    """Return shards as they are read."""
    if isinstance(shards, str | bytes | os.PathLike | FuzzyDict) or not isinstance(
        shards, Iterable
    ):
        raise ArgumentTypeError(
            f"shards: expected a list of files and dicts, got {type(shards).__name__} "
            f"{quoted(shards)}"
        )
    found: list[Shard] = []
    for number, shard in enumerate(shards):
        if isinstance(shard, FuzzyDict):
            found.append(Shard(shard, number, f"shards[{number}]"))
        elif isinstance(shard, str | os.PathLike):
            matcher = Matcher(shard, embedding=embedding)
            found.append(FileShard(matcher, number, matcher.path))
        elif isinstance(shard, RemoteDict):
            found.append(RemoteShard(shard, number, repr(shard)))
        else:
            raise ArgumentTypeError(
                f"shards[{number}]: expected the path of a file, a FuzzyDict or a RemoteDict, got "
                f"{type(shard).__name__} {quoted(shard)}"
            )
    if not found:
        raise OptionError("shards: expected one or more, got none")
    return found


# ---- what a shard tells of itself ----------------------------------------------------------------


class Counted(NamedTuple):
    """What some keys give to the statistics of all.

    Attributes:
        keys: how many there are.
        stems: how many words of them have each stem.
        ngrams: how many of them have each n-gram, (65536,).
        hashes: of those with the least, (m,), which are a sample of all.
        vectors: of these, (m, E).
    """

    keys: int
    stems: Counter[str]
    ngrams: NDArray[np.int64]
    hashes: NDArray[np.uint32]
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, keys: Keys) -> Self:
        """Count the keys."""
        count, stems, ngrams, _ = keys.statistics
        sample = keys.sample(USUAL)
        return cls(count, Counter(stems), ngrams, keys.hashes[sample], keys.vectors[sample])

    def merged(self, other: Counted) -> Counted:
        """Return what both count."""
        if not self.keys or not other.keys:  # which has no vectors of any length
            return self if self.keys else other
        hashes = np.concatenate([self.hashes, other.hashes])
        least = np.argsort(hashes, kind="stable")[:USUAL]
        return Counted(
            self.keys + other.keys,
            self.stems + other.stems,
            self.ngrams + other.ngrams,
            hashes[least],
            np.concatenate([self.vectors, other.vectors])[least],
        )

    def statistics(self) -> Statistics:
        """Return what a score needs to know."""
        return Statistics(self.keys, dict(self.stems), self.ngrams, usual_of(self.vectors))


class Described(NamedTuple):
    """What a shard is.

    Attributes:
        options: by their names, as they are compared.
        slots: how many keys it has, dead ones included.
        digests: what tells its living keys from others.
        counted: of all its keys.
        keys: which of the queries are keys.
        aliases: the keys of those that are aliases.
    """

    options: dict[str, Any]
    slots: int
    digests: NDArray[np.uint64]
    counted: Counted
    keys: set[Any]
    aliases: dict[Any, Any]


def described(shard: Shard, texts: list[Any]) -> Described:
    """Return what a shard is, which is asked some texts."""
    d = shard.options
    options = {"embedding": shard.meaning.fingerprint()}
    options |= {name: getattr(d, name) for name in ("scorer", "temperature", "score_cutoff")}
    slots, digests, counted = 0, [np.zeros(0, np.uint64)], list[Counted]()
    for keys, _ in shard.parts():
        slots += len(keys)
        digests.append(_digests(keys.living()))
        counted.append(Counted.of(keys))
    none = np.zeros(0, np.uint32), np.zeros((0, 0), np.float32)
    of_all = reduce(Counted.merged, counted, Counted(0, Counter(), np.zeros(0, np.int64), *none))
    return Described(options, slots, np.concatenate(digests), of_all, *shard.known(texts))


def _digests(names: list[str]) -> NDArray[np.uint64]:
    """Return eight bytes of a hash of each of S keys, (S,)."""
    texts = [exact_text(name).encode("utf-8", "surrogatepass") for name in names]
    hashes = [blake2b(text, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), np.uint64)


def names_of(shard: Shard, wanted: NDArray[np.uint64]) -> list[str]:
    """Return the keys with one of these digests."""
    found = []
    for keys, _ in shard.parts():
        names = keys.living()
        places = np.flatnonzero(np.isin(_digests(names), wanted))
        found += [exact_text(names[place]) for place in places.tolist()]
    return found


def require_same_options(shards: list[Shard], several: list[Described]) -> None:
    """Raise OptionError if two shards would score a key in two ways."""
    first = several[0].options
    for shard, other in zip(shards, several, strict=True):
        for name, value in other.options.items():
            if not _are_equal(name, value, first[name]):
                told = [
                    quoted(one["name"] if name == "embedding" else one)
                    for one in (first[name], value)
                ]
                raise OptionError(
                    f"shards: {shards[0].place} and {shard.place} have different options "
                    f"({name}: {told[0]} and {told[1]}); pool those that are alike"
                )


def _are_equal(name: str, a: Any, b: Any) -> bool:
    if name == "embedding":
        return are_same(a, b)
    if a is b or name != "scorer" or isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    try:
        return pickle.dumps(a) == pickle.dumps(b)
    except Exception:  # a function that is at no top level
        return False
