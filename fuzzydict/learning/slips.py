"""Keys with a slip of the keyboard: what is found before a dict learns, and must be after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.embedding.projections import Projected
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.projections import Projections
    from fuzzydict.learning.candidate import Keys

__all__ = ["Slips", "slip_of", "slips_of"]

_SHORTEST = 4  # letters: a slip in fewer may make another word


class Slips(NamedTuple):
    """Queries, their vectors (n, E), and the key that is right for each."""

    queries: list[str]
    vectors: Array
    right: list[NDArray[np.intp]]


def slip_of(text: str, random: np.random.Generator) -> str:
    """Return a text with two neighbouring letters exchanged, or one left out, not the first.

    >>> slip_of("color", np.random.default_rng(0))
    'colr'
    """
    place = int(random.integers(1, len(text) - 1))
    if random.random() < 0.5:
        return text[:place] + text[place + 1 :]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def slips_of(
    keys: Keys,
    start: Projections,
    most: int,
    random: np.random.Generator,
    *,
    times: int = 1,
    apart_from: Sequence[str] = (),
) -> Slips:
    """Return some of the keys, each with a slip; none if the embedding knows no such texts.

    Args:
        keys: the keys.
        start: through which projections the slips are seen.
        most: how many to return, at most.
        random: draws keys and slips.
        times: how often each key may be drawn, with another slip each time.
        apart_from: slips that are not to be drawn.
    """
    known, found = {*keys.names, *apart_from}, dict[str, int]()
    drawn = [random.permutation(len(keys.names))[: 2 * most] for _ in range(times)]
    for place in np.concatenate(drawn)[: 2 * most].tolist():
        text = plain(keys.names[place])
        slip = slip_of(text, random) if len(text) >= _SHORTEST else ""
        if plain(slip) and slip not in known and plain(slip) != text:
            found.setdefault(slip, place)
    queries = list(found)[:most]
    try:
        vectors = Projected(keys.embedding, start).encode_queries(queries)
    except Exception:  # of a user's function, which may know its own texts alone
        return Slips([], np.zeros((0, 0), np.float32), [])
    return Slips(queries, vectors, [np.array([found[query]]) for query in queries])
