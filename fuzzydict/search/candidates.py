"""Which keys are scored, and which of these are compared as strings; chosen before judging."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import different
from fuzzydict.text.ngrams import largest, most_alike, most_alike_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.key_index import Keys


SPELLED_ALIKE = 48  # keys compared as strings, those that share the most n-grams with the query
NEAREST = 16  # keys compared as strings, those nearest in meaning


# ---- compared as strings ----------------------------------------------------------------------


class Candidates(NamedTuple):
    """The keys that are compared as strings with L queries, c with each.

    Attributes:
        slots: of the keys, (L, c): those nearest in meaning, then those that share n-grams, which
            may be the same.
        near: how many are nearest in meaning; 0 if none was chosen for that, or the candidates are
            all keys, in order.
    """

    slots: NDArray[np.intp]
    near: int


def candidates(
    texts: Sequence[str],
    near: NDArray[np.float32],
    keys: Keys,
    shared: NDArray[np.float32] | None = None,
    nearest: int = NEAREST,
) -> Candidates:
    """Return the keys that are compared as strings.

    Args:
        texts: the plain words of L queries.
        near: how near they are to the n keys, (L, n).
        keys: the keys.
        shared: the cosines of the n-grams of queries and keys, (L, n), if they are known.
        nearest: how many keys are compared for their nearness.
    """
    spelled = spelled_alike(texts, keys, shared)
    if spelled.shape[1] == len(keys) or not nearest:
        return Candidates(spelled, 0)
    slots = nearest_in_meaning(near, keys, nearest)
    return Candidates(np.concatenate([slots, spelled], axis=1), nearest)


def nearest_in_meaning(
    near: NDArray[np.float32], keys: Keys, count: int = NEAREST
) -> NDArray[np.intp]:
    """Return the slots that are nearest to each query, (L, c), given how near all are, (L, n)."""
    if len(keys.dead):
        near = near.copy()
        near[:, keys.dead] = -np.inf
    return np.array([largest(row, count) for row in near])


def spelled_alike(
    texts: Sequence[str], keys: Keys, shared: NDArray[np.float32] | None = None
) -> NDArray[np.intp]:
    """Return the slots that share the most n-grams with each query, (L, c); see `candidates`."""
    if len(keys) <= SPELLED_ALIKE:
        return np.arange(len(keys))[None].repeat(len(texts), axis=0)
    count = min(SPELLED_ALIKE, keys.count)
    if shared is None:
        return most_alike_of_each(keys.ngrams, texts, count, keys.alive)[0]
    return np.array([largest(np.where(keys.alive, row, -1), count) for row in shared])


# ---- scored -----------------------------------------------------------------------------------


class OtherKeys(NamedTuple):
    """The keys that a search left out.

    Attributes:
        total: the number of all keys.
        left: the number of keys left out, 1 or more.
        sample: a sample of all keys.
        listed: the places in the sample of keys that were not left out.
    """

    total: int
    left: int
    sample: Keys
    listed: NDArray[np.intp]


class Shortlist(NamedTuple):
    """The keys that are scored for one query: all that a score needs to know of any key.

    Attributes:
        keys: n keys, all or those that a search found.
        shared: the cosines of the n-grams of the query and the keys, (1, n), if they are known.
        others: the keys left out, if there are some, and the score is a probability.
        left: the number of keys left out.
        last: the place of the key found last by its vector; none that was left out is nearer, as
            far as the search missed none.
    """

    keys: Keys
    shared: NDArray[np.float32] | None = None
    others: OtherKeys | None = None
    left: int = 0
    last: int = 0


def shortlist(asked: str, text: str, near: NDArray[np.intp], keys: Keys, spelled: int) -> Shortlist:
    """Return the keys that an engine found for a query, those spelled alike, and an equal one.

    Args:
        asked: the query.
        text: its plain words.
        near: the slots that the engine found, nearest first.
        keys: all keys.
        spelled: how many keys are scored for their spelling.
    """
    equal = keys.slot_of(asked)
    found = near if equal is None else np.append(near, equal)
    if not spelled:
        slots = different(found)
        last = int(np.searchsorted(slots, near[-1]))
        return Shortlist(keys.some(slots), left=keys.count - len(slots), last=last)
    alike, cosines = most_alike(keys.ngrams, text, spelled, keys.alive)
    alike, cosines = alike[cosines > 0], cosines[cosines > 0]
    slots = different(np.concatenate([found, alike]))
    shared = np.zeros((1, len(slots)), np.float32)
    shared[0, np.searchsorted(slots, alike)] = cosines
    left, last = keys.count - len(slots), int(np.searchsorted(slots, near[-1]))
    others = other_keys(slots, keys) if left else None
    return Shortlist(keys.some(slots), shared, others, left, last)


def other_keys(slots: NDArray[np.intp], keys: Keys) -> OtherKeys:
    """Return the keys other than those of c living slots, rising, of which there are fewer."""
    sampled, sample = keys.sample
    places = np.searchsorted(sampled, slots)
    listed = places[sampled.take(places, mode="clip") == slots]
    return OtherKeys(keys.count, keys.count - len(slots), sample, listed)
