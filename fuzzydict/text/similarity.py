"""How alike two strings look: an exact comparison of pairs, and an index of n-grams for many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler
from rapidfuzz.process import cdist

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "OTHER_NUMBER",
    "abbreviation_likeness",
    "coverage",
    "likeness",
    "likenesses",
    "sound",
    "with_other_numbers",
]


#: What is left of a likeness if the numbers differ.
OTHER_NUMBER = 0.5
_LONG = 5  # digits that blanks may part: 1 5 is not 15
_DIGITS = re.compile(r"\d+")


def with_other_numbers(query: str, strings: Sequence[str]) -> list[int]:
    """Return the places of strings that have numbers, as the query has, and not the same.

    Blanks do not part the digits of a long one, as of a telephone or a date. But two parts of
    which one is a single digit may be a fraction: 3.14159 is not 314159.

    >>> with_other_numbers("5551234", ["555 1234", "555 1235", "5 551234", "phone"])
    [1, 2]
    """
    asked = _DIGITS.findall(query)
    if not asked:
        return []
    pairs = ((i, string, _DIGITS.findall(string)) for i, string in enumerate(strings))
    return [
        i
        for i, string, found in pairs
        if found
        and found != asked
        and not (_parted(string, found, asked) or _parted(query, asked, found))
    ]


def _parted(text: str, numbers: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether the numbers of a text are parts of the one other number."""
    if ["".join(numbers)] != others or len(others[0]) < _LONG:
        return False
    may_be_fraction = len(numbers) == 2 and min(map(len, numbers)) == 1
    return not may_be_fraction and " ".join(numbers) in text


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


def coverage(
    alike: NDArray[np.float32],
    query_weights: NDArray[np.float32],
    keys: Sequence[Sequence[int]],
    key_weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return how far the words of a query and of each key have their like in the other, (c,).

    It is the mean of two shares: of the query's words in the key, and of the key's words in the
    query; words that carry more of a phrase weigh more.

    Args:
        alike: how alike each of the query's m words and of U words are, (m, U).
        query_weights: of the query's words, (m,).
        keys: the words of c keys, one or more each, as columns of ``alike``.
        key_weights: of the U words, (U,).

    >>> alike = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]], np.float32)  # "top speed" and
    >>> ones = np.ones(3, np.float32)  # "top", "speed", "highest": which is half like "top"
    >>> coverage(alike, ones[:2], [[0, 1], [2, 1], [2]], ones).tolist()
    [1.0, 0.75, 0.375]
    """
    longest = max(map(len, keys))
    columns = np.array([[*key, *[-1] * (longest - len(key))] for key in keys])
    is_word = columns >= 0
    of_keys = np.where(is_word, key_weights[columns], 0)
    pairs = np.where(is_word, alike[:, columns], 0)  # (m, c, longest)
    found = query_weights @ pairs.max(axis=2) / query_weights.sum()
    covered = (pairs.max(axis=0) * of_keys).sum(axis=1) / of_keys.sum(axis=1)
    mean: NDArray[np.float32] = (found + covered) / 2
    return mean
