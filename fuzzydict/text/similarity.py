"""How similar two strings are: spelling, numbers, abbreviations, and words aligned one by one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler, LCSseq
from rapidfuzz.process import cdist

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


# ---- spelling -------------------------------------------------------------------------------

# Letters that sound alike in English are written alike; repeated letters count once.
_SAME_SOUND = (("ph", "f"), ("ck", "k"), ("qu", "kw"), ("ce", "se"), ("ci", "si"), ("gh", "g"))
_SAME_LETTER = str.maketrans("zcqyieou", "skkaaaaa")
_REPEATED = re.compile(r"(.)\1+")


def likeness(a: str, b: str) -> float:
    """Return how alike ``a`` and ``b`` are spelled, from 0 (nothing in common) to 1 (equal).

    The likeness is a weighted mean of three similarities: one half is the edit similarity, in
    which two swapped neighbours count as one edit (optimal string alignment); one quarter is the
    Jaro-Winkler similarity, which favours equal beginnings (W. E. Winkler, 1990, "String
    Comparator Metrics and Enhanced Decision Rules"); one quarter is the edit similarity of the
    two `sounds`. It is halved if both strings have numbers and the numbers differ. Strings that
    differ only by blanks are equal, except for short numbers.

    >>> likeness("color", "color"), likeness("java script", "javascript"), likeness("1 5", "15")
    (1.0, 1.0, 0.5)
    >>> likeness("colour", "color") > likeness("colour", "collar") > likeness("colour", "dolor")
    True
    """
    return float(likenesses([a], [b])[0, 0])


def likenesses(
    queries: Sequence[str], strings: Sequence[str], known_sounds: Sequence[str] | None = None
) -> NDArray[np.float32]:
    """Return the `likeness` of each of L queries and S strings, (L, S).

    Args:
        queries: L strings.
        strings: S strings.
        known_sounds: the `sounds` of the S strings, if they are known.

    >>> print(likenesses(["colour", "1961"], ["color", "1962"]).round(2))
    [[0.91 0.  ]
     [0.   0.39]]
    """
    if known_sounds is None:
        known_sounds = sounds(strings)
    edits = OSA.normalized_similarity
    alike = cdist(queries, strings, scorer=edits, dtype=np.float32)
    alike += cdist(queries, strings, scorer=JaroWinkler.normalized_similarity, dtype=np.float32) / 2
    alike += cdist(sounds(queries), known_sounds, scorer=edits, dtype=np.float32) / 2
    alike /= 2
    _ignore_blanks(alike, queries, strings)
    for row, query in zip(alike, queries, strict=True):
        if others := with_other_numbers(query, strings):
            row[others] *= OTHER_NUMBER
    return alike


def _ignore_blanks(
    alike: NDArray[np.float32], queries: Sequence[str], strings: Sequence[str]
) -> None:
    """Set the likeness of strings that differ only by blanks to 1, in place."""
    if " " not in "".join((*queries, *strings)):
        return
    joined_strings = [string.replace(" ", "") for string in strings]
    for row, query in zip(alike, queries, strict=True):
        joined = query.replace(" ", "")
        if joined in joined_strings:
            row[[i for i, string in enumerate(joined_strings) if string == joined]] = 1


def sounds(strings: Sequence[str]) -> list[str]:
    """Return a rough phonetic form of each string: English letters that sound alike become one.

    >>> sounds(["emphasise", "emphasize", "stories", "storeys"])
    ['amfasasa', 'amfasasa', 'staras', 'staras']
    """
    if not strings:
        return []
    joined = "\n".join(strings)  # all strings in one pass
    if joined.count("\n") != len(strings) - 1:
        return sounds([string.replace("\n", " ") for string in strings])
    for spelled, heard in _SAME_SOUND:
        joined = joined.replace(spelled, heard)
    return _REPEATED.sub(r"\1", joined.translate(_SAME_LETTER)).split("\n")


# ---- numbers --------------------------------------------------------------------------------

#: The factor for a likeness of two strings whose numbers differ.
OTHER_NUMBER = 0.5
_LONG = 5  # digits of a number that blanks may split: "1 5" is not "15"
_DIGITS = re.compile(r"\d+")


def with_other_numbers(query: str, strings: Sequence[str]) -> list[int]:
    """Return the places of the strings whose numbers differ from those of the query.

    Strings without numbers, and queries without numbers, never differ. Blanks may split a number
    of five digits or more, such as a telephone number or a date. Two parts of which one is a
    single digit may be a fraction, and are not joined: 3.14159 is not 314159.

    >>> with_other_numbers("5551234", ["555 1234", "555 1235", "5 551234", "phone"])
    [1, 2]
    """
    asked = _DIGITS.findall(query)
    if not asked:
        return []
    places = []
    for i, string in enumerate(strings):
        found = _DIGITS.findall(string)
        if not found or found == asked:
            continue
        if not (_is_split(string, found, asked) or _is_split(query, asked, found)):
            places.append(i)
    return places


def _is_split(text: str, numbers: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether ``others`` is one long number and ``text`` has it split by blanks."""
    if ["".join(numbers)] != others or len(others[0]) < _LONG:
        return False
    may_be_fraction = len(numbers) == 2 and min(map(len, numbers)) == 1
    return not may_be_fraction and " ".join(numbers) in text


# ---- abbreviations --------------------------------------------------------------------------

_SHORTEST = 3  # letters of the abbreviation of one word; initials may have two
_PREFIX, _CONTRACTION = 0.7, 0.55  # likeness of the abbreviation of a very long word
_BY_LENGTH = 0.3  # what is added in proportion to the share of the word that is kept
_INITIALS = 0.7  # likeness of initials and their phrase
_DIGIT = re.compile(r"\d")
_INNER_VOWELS = re.compile(r"(?<!^)[aeiou]")


def abbreviation_likeness(word: str, others: Sequence[str]) -> NDArray[np.float32]:
    """Return how alike a word and each of n words or phrases are if it abbreviates them, (n,).

    An abbreviation is the beginning of a word, with its vowels or without ("temp", "spd"); a
    contraction that keeps the first and the last letter ("govt"); or the initials of a phrase
    ("dob"). The likeness is 0 where ``word`` is none of these, or has a digit: 902 is no
    abbreviation of 90210. All strings are plain and not empty.

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
    first, last, length = word[0], word[-1], len(word)
    has_no_vowels = not _INNER_VOWELS.search(word)
    for i, other in enumerate(others):
        if other[0] != first or len(other) <= length:  # as most are
            continue
        if " " in other:
            if word == "".join([part[0] for part in other.split()]):
                alike[i] = _INITIALS
        elif length < _SHORTEST:
            continue
        elif other.startswith(word) or (
            has_no_vowels and _INNER_VOWELS.sub("", other).startswith(word)
        ):
            alike[i] = _PREFIX + _BY_LENGTH * length / len(other)
        elif last == other[-1] and LCSseq.similarity(word, other) == length:
            alike[i] = _CONTRACTION + _BY_LENGTH * length / len(other)
    return alike


# ---- words aligned one by one ---------------------------------------------------------------


def coverage(
    alike: NDArray[np.float32],
    query_weights: NDArray[np.float32],
    columns: NDArray[np.intp],
    key_weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return how well the words of a query and of each of c keys cover each other, (c,).

    The coverage is the mean of two weighted shares: how well the words of the query are found in
    the key, and how well the words of the key are found in the query.

    Args:
        alike: how alike each of the m words of the query and each of U words are, (m, U).
        query_weights: the weights of the words of the query, (m,).
        columns: the words of c keys as columns of ``alike``, (c, longest), one or more for each
            key, then -1.
        key_weights: the weights of the U words, (U,).

    >>> alike = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]], np.float32)  # "top speed" and
    >>> ones = np.ones(3, np.float32)  # "top", "speed", "highest", which is half like "top"
    >>> coverage(alike, ones[:2], np.array([[0, 1], [2, 1], [2, -1]]), ones).tolist()
    [1.0, 0.75, 0.375]
    """
    is_word = columns >= 0
    weights = np.where(is_word, key_weights[columns], 0)
    pairs = np.where(is_word, alike[:, columns], 0)  # (m, c, longest)
    found = query_weights @ pairs.max(axis=2) / query_weights.sum()
    covered = (pairs.max(axis=0) * weights).sum(axis=1) / weights.sum(axis=1)
    mean: NDArray[np.float32] = (found + covered) / 2
    return mean
