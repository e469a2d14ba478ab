"""Words cut short: whether a word may be the abbreviation of another, or of a phrase."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["abbreviation_likeness"]

_LEAST = 3  # letters of an abbreviation of a word; initials may be two
_BEGUN, _DRAWN = 0.7, 0.55  # likeness to a long word that it begins, or is drawn together from
_OF_LENGTH = 0.3  # more of it, if little is cut off
_INITIALS = 0.7
_DIGIT = re.compile(r"\d")
_VOWELS = re.compile(r"(?<!^)[aeiou]")


def abbreviation_likeness(word: str, others: Sequence[str]) -> NDArray[np.float32]:
    """Return how alike a word and each of n words or phrases are if it abbreviates them, (n,).

    It is the beginning of a word, with its vowels or without; or a word drawn together, with its
    first and last letter; or the initials of a phrase. It is 0 where it is none of these, or has a
    digit: 902 is no short form of 90210. All are plain, and none is empty.

    >>> print(abbreviation_likeness("temp", ["temperature", "attempt", "temp"]).round(2))
    [0.81 0.   0.  ]
    >>> print(abbreviation_likeness("govt", ["government", "governor"]).round(2))
    [0.67 0.  ]
    >>> print(abbreviation_likeness("spd", ["speed", "spider", "sped"]).round(2))
    [0.88 0.85 0.92]
    >>> print(abbreviation_likeness("dob", ["date of birth", "dumb waiter"]).round(2))
    [0.7 0. ]
    """
    alike = np.zeros(len(others), np.float32)
    if _DIGIT.search(word) or " " in word:
        return alike
    first, length, is_bare = word[0], len(word), not _VOWELS.search(word)
    for i, other in enumerate(others):
        if other[0] == first and len(other) > length:  # few do
            alike[i] = _shortened(word, other, is_bare)
    return alike


def _shortened(word: str, other: str, is_bare: bool) -> float:
    if " " in other:
        return _INITIALS if word == "".join(part[0] for part in other.split()) else 0.0
    if len(word) < _LEAST:
        return 0.0
    if other.startswith(word) or (is_bare and _VOWELS.sub("", other).startswith(word)):
        return _BEGUN + _OF_LENGTH * len(word) / len(other)
    if word[-1] == other[-1] and _is_drawn(word, other):
        return _DRAWN + _OF_LENGTH * len(word) / len(other)
    return 0.0


def _is_drawn(word: str, other: str) -> bool:
    """Tell whether the letters of a word stand in another in their order."""
    left = iter(other)
    return all(letter in left for letter in word)
