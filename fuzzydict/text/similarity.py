"""How alike two strings look: an exact comparison of pairs, and an index of n-grams for many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler
from rapidfuzz.process import cdist

from fuzzydict.text.numerals import OTHER_NUMBER, with_other_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["likeness", "likenesses", "sound"]

_HEARD = (("ph", "f"), ("ck", "k"), ("qu", "kw"), ("ce", "se"), ("ci", "si"), ("gh", "g"))
_LETTERS_HEARD = str.maketrans("zcqyieou", "skkaaaaa")
_REPEATED = re.compile(r"(.)\1+")
_SHORT = 40  # characters of a string whose sound is kept: words and phrases, so the cache is small


def likeness(a: str, b: str) -> float:
    """Return how alike ``a`` and ``b`` look, from 0 (nothing in common) to 1 (equal).

    Half of it is the edit similarity, in which two neighbours swapped count as one edit (optimal
    string alignment); a quarter is the Jaro-Winkler similarity, which trusts beginnings (W. E.
    Winkler, 1990, "String Comparator Metrics and Enhanced Decision Rules"); and a quarter is the
    edit similarity of how the two sound in English. It is halved if both have numbers, and not the
    same: 1961 is no slip for 1962. What differs by blanks alone is equal, but for short numbers.

    >>> likeness("color", "color"), likeness("java script", "javascript"), likeness("1 5", "15")
    (1.0, 1.0, 0.5)
    >>> likeness("colour", "color") > likeness("colour", "collar") > likeness("colour", "dolor")
    True
    """
    return float(likenesses([a], [b])[0, 0])


def likenesses(
    queries: Sequence[str], strings: Sequence[str], sounds: Sequence[str] | None = None
) -> NDArray[np.float32]:
    """Return the `likeness` of each of L queries and S strings, (L, S).

    ``sounds`` are the strings', each `sound`, where they are known.

    >>> print(likenesses(["colour", "1961"], ["color", "1962"]).round(2))
    [[0.91 0.  ]
     [0.   0.39]]
    """
    alike = cdist(queries, strings, scorer=OSA.normalized_similarity, dtype=np.float32)
    alike += cdist(queries, strings, scorer=JaroWinkler.normalized_similarity, dtype=np.float32) / 2
    heard, known = _sounds(queries), _sounds(strings) if sounds is None else sounds
    alike += cdist(heard, known, scorer=OSA.normalized_similarity, dtype=np.float32) / 2
    alike /= 2
    _join(alike, queries, strings)
    for row, query in zip(alike, queries, strict=True):
        if others := with_other_numbers(query, strings):
            row[others] *= OTHER_NUMBER
    return alike


def _join(alike: NDArray[np.float32], queries: Sequence[str], strings: Sequence[str]) -> None:
    """Make equal what differs by blanks alone: "java script" is "javascript"."""
    if " " not in "".join((*queries, *strings)):
        return
    whole = [string.replace(" ", "") for string in strings]
    for row, query in zip(alike, queries, strict=True):
        joined = query.replace(" ", "")
        if joined in whole:
            row[[i for i, string in enumerate(whole) if string == joined]] = 1


def sound(string: str) -> str:
    """Return a rough sketch of how ``string`` sounds in English: letters that sound alike as one.

    >>> sound("emphasise") == sound("emphasize"), sound("stories") == sound("storeys")
    (True, True)
    """
    return _short_sound(string) if len(string) <= _SHORT else _sound(string)


def _sounds(strings: Sequence[str]) -> list[str]:
    if max(map(len, strings), default=0) <= _SHORT:
        return list(map(_short_sound, strings))
    return list(map(sound, strings))


def _sound(string: str) -> str:
    for spelled, heard in _HEARD:
        string = string.replace(spelled, heard)
    return _REPEATED.sub(r"\1", string.translate(_LETTERS_HEARD))


@lru_cache(maxsize=1 << 16)
def _short_sound(string: str) -> str:
    return _sound(string)
