"""How similar two strings are: spelling, numbers, and words aligned one by one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler, Prefix
from rapidfuzz.process import cdist, cpdist

from fuzzydict.text.sketches import Derived
from fuzzydict.text.words import LONGEST, caseless

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


# ---- spelling -------------------------------------------------------------------------------

# Letters that sound alike in English are written alike; repeated letters count once.
_SAME_SOUND = (("ph", "f"), ("ck", "k"), ("qu", "kw"), ("ce", "se"), ("ci", "si"), ("gh", "g"))
_SAME_LETTER = str.maketrans("zcqyieou", "skkaaaaa")
# `cdist` compares several strings in one step: a table of all pairs of two lists costs no more than
# one pair in so many of it.
_TABLE = 8
# Of longer strings so many letters are compared, from a few before those where they differ: the
# time grows with the square of the length.
_LONG, _BEFORE = 256, 64
_SHORT, _OF_SHORT = 3, 0.5  # letters of a short string, and the limit of its likeness to another


def likeness(a: str, b: str) -> float:
    """Return how alike ``a`` and ``b`` are spelled, from 0 (nothing in common) to 1 (equal).

    The likeness is a weighted mean of three similarities: one half is the edit similarity, in
    which two swapped neighbours count as one edit (optimal string alignment); one quarter is the
    Jaro-Winkler similarity, which favours equal beginnings (W. E. Winkler, 1990, "String
    Comparator Metrics and Enhanced Decision Rules"); one quarter is the edit similarity of the
    two `sounds`. It is halved if both strings have numbers and the numbers differ. It is one half
    at most for two strings of up to three letters, without digits, that are not the same letters:
    a slip in "usd" is another word. Strings that differ only by blanks are equal, except for
    short numbers.

    >>> likeness("color", "color"), likeness("java script", "javascript"), likeness("1 5", "15")
    (1.0, 1.0, 0.5)
    >>> likeness("colour", "color") > likeness("colour", "collar") > likeness("colour", "dolor")
    True
    """
    return float(likenesses([a], [b])[0, 0])


def written_alike(query: str, key: str) -> float:
    """Return how alike two texts are written, with their punctuation and, less so, their case.

    >>> written_alike("c", "C") > written_alike("c", "C++")
    True
    """
    a, b = query[:LONGEST].strip(), key[:LONGEST].strip()
    return 0.75 * likeness(caseless(a), caseless(b)) + 0.25 * likeness(a, b)


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
    heard = sounds(queries), known_sounds
    alike = _mean_similarity(cdist, *map(_beginnings, ((queries, strings), heard)))
    for row, query in zip(alike, queries, strict=True):
        if len(query) > _LONG:
            _compare_from_differences([query] * len(strings), strings, row)
    _limit_short(alike, queries, strings)
    _ignore_blanks(alike, queries, strings)
    for row, query in zip(alike, queries, strict=True):
        if others := with_other_numbers(query, strings):
            row[others] *= OTHER_NUMBER
    return alike


def likeness_of_pairs(
    a: Sequence[str],
    b: Sequence[str],
    known_sounds: tuple[Sequence[str], Sequence[str]] | None = None,
) -> NDArray[np.float32]:
    """Return the `likeness` of the strings of each of P pairs, (P,).

    Args:
        a: the first string of each.
        b: the second string of each.
        known_sounds: the `sounds` of both, if they are known.

    >>> print(likeness_of_pairs(["colour", "1961"], ["color", "1962"]).round(2))
    [0.91 0.39]
    """
    heard = known_sounds or (sounds(a), sounds(b))
    alike = _mean_similarity(cpdist, *map(_beginnings, ((a, b), heard)))
    _compare_from_differences(a, b, alike)
    if short_ones := {string for string in {*a} if len(string) <= _SHORT}:
        short = [i for i, x in enumerate(a) if x in short_ones and _are_other_short(x, b[i])]
        alike[short] = np.minimum(alike[short], _OF_SHORT)
    if " " in "".join((*a, *b)):
        joined = zip(_without_blanks(a), _without_blanks(b), strict=True)
        alike[[i for i, (x, y) in enumerate(joined) if x == y]] = 1
    if numbered := {string for string in {*a} if _DIGITS.search(string)}:
        others = [i for i, x in enumerate(a) if x in numbered and _have_other_numbers(x, b[i])]
        alike[others] *= OTHER_NUMBER
    return alike


def _mean_similarity(compare: Callable[..., Any], spelled: Any, heard: Any) -> NDArray[np.float32]:
    """Return the weighted mean of the three similarities, by `cdist` or `cpdist`."""
    edits, beginnings = OSA.normalized_similarity, JaroWinkler.normalized_similarity
    alike: NDArray[np.float32] = compare(
        *spelled, scorer=edits, score_multiplier=0.5, dtype=np.float32
    )
    alike += compare(*spelled, scorer=beginnings, score_multiplier=0.25, dtype=np.float32)
    alike += compare(*heard, scorer=edits, score_multiplier=0.25, dtype=np.float32)
    return alike


def _beginnings(pair: tuple[Sequence[str], Sequence[str]]) -> Any:
    """Return two lists of strings, and of each string the first characters."""
    if all(max(map(len, strings), default=0) <= _LONG for strings in pair):
        return pair
    return [[string[:_LONG] for string in strings] for strings in pair]


def _compare_from_differences(
    a: Sequence[str], b: Sequence[str], alike: NDArray[np.float32]
) -> None:
    """Set the likeness of long strings that begin alike, (P,), to that of where they differ."""
    if max(map(len, a), default=0) <= _LONG:
        return
    some, parts = [], []
    for i, string in enumerate(b):
        if len(string) > _LONG < len(a[i]) and a[i].startswith(string[:_BEFORE]):
            start = Prefix.similarity(a[i], string) - _BEFORE
            some.append(i)
            parts.append((a[i][start : start + _LONG], string[start : start + _LONG]))
    if some:
        ours, theirs = map(list, zip(*parts, strict=True))
        heard = sounds(ours), sounds(theirs)
        alike[some] = _mean_similarity(cpdist, *map(_beginnings, ((ours, theirs), heard)))


def _limit_short(
    alike: NDArray[np.float32], queries: Sequence[str], strings: Sequence[str]
) -> None:
    """Limit the likeness of short strings that are not the same letters, in place."""
    for row, query in zip(alike, queries, strict=True):
        if len(query) <= _SHORT:
            others = [i for i, string in enumerate(strings) if _are_other_short(query, string)]
            row[others] = np.minimum(row[others], _OF_SHORT)


def _are_other_short(a: str, b: str) -> bool:
    """Tell whether two strings are short, without digits, and not the same letters."""
    if len(a) > _SHORT or len(b) > _SHORT or sorted(a) == sorted(b):
        return False
    return not (_DIGITS.search(a) or _DIGITS.search(b))


def _ignore_blanks(
    alike: NDArray[np.float32], queries: Sequence[str], strings: Sequence[str]
) -> None:
    """Set the likeness of strings that differ only by blanks to 1, in place."""
    if " " not in "".join((*queries, *strings)):
        return
    joined_strings = _without_blanks(strings)
    for row, query in zip(alike, queries, strict=True):
        joined = query.replace(" ", "")
        if joined in joined_strings:
            row[[i for i, string in enumerate(joined_strings) if string == joined]] = 1


def _without_blanks(strings: Sequence[str]) -> list[str]:
    joined = "\n".join(strings)  # all strings in one pass
    if joined.count("\n") != len(strings) - 1:
        return [string.replace(" ", "") for string in strings]
    return joined.replace(" ", "").split("\n")


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
    joined = joined.translate(_SAME_LETTER)
    for letter in {*joined} - {"\n"}:
        while (twice := letter + letter) in joined:
            joined = joined.replace(twice, letter)
    return joined.split("\n")


class Spellings:
    """The spelling of n strings, for comparison with a query.

    Args:
        strings: n strings; more may be appended to the list.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings, self._sounds = strings, Derived(strings, sounds)

    def likeness(self, query: str, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the `likeness` of a query and each of c strings, (c,).

        Args:
            query: a string.
            places: the places of the c strings among the n.

        >>> print(Spellings(["color", "collar"]).likeness("colour", np.array([1, 0])).round(2))
        [0.79 0.91]
        """
        alike: NDArray[np.float32] = self.likeness_of_each([query], places)[0]
        return alike

    def likeness_of_each(
        self, queries: Sequence[str], places: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the `likeness` of each of L queries and its c strings, (L, c).

        Args:
            queries: L strings.
            places: the places of the c strings of each, (L, c), or of all, (c,).
        """
        if places.ndim > 1:
            distinct, columns = _distinct(places, len(self._strings))
            if len(distinct) <= _TABLE * places.shape[1] and len(queries) >= _TABLE:
                table = self.likeness_of_each(queries, distinct)
                return np.take_along_axis(table, columns, axis=1)
            rows = [self.likeness(*one) for one in zip(queries, places, strict=True)]
            return np.array(rows, np.float32).reshape(places.shape)
        listed = places.tolist()
        strings = [self._strings[place] for place in listed]
        return likenesses(queries, strings, self._sounds.of(listed))

    def likeness_of_pairs(
        self, queries: Sequence[str], owners: NDArray[np.intp], places: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the `likeness` of P pairs of one of L strings and one of the n, (P,).

        Args:
            queries: L strings.
            owners: the place of the first of each pair among the L, (P,).
            places: the place of the second of each pair among the n, (P,).
        """
        distinct, columns = _distinct(places, len(self._strings))
        if len(queries) * len(distinct) <= _TABLE * len(places):
            return np.asarray(self.likeness_of_each(queries, distinct)[owners, columns])
        heard, rows, listed = sounds(queries), owners.tolist(), places.tolist()
        asked, of_asked = [queries[row] for row in rows], [heard[row] for row in rows]
        strings = [self._strings[place] for place in listed]
        return likeness_of_pairs(asked, strings, (of_asked, self._sounds.of(listed)))


def _distinct(places: NDArray[np.intp], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the different places below a size, rising, and where in them each place is."""
    is_used = np.zeros(size, np.bool_)
    is_used[places] = True
    distinct = is_used.nonzero()[0]
    numbers = np.empty(size, np.intp)
    numbers[distinct] = np.arange(len(distinct))
    return distinct, numbers[places]


def likeness_of_differences(
    queries: Sequence[str],
    strings: Sequence[str],
    places: NDArray[np.intp],
    alike: NDArray[np.float32],
) -> None:
    """Limit the likeness of phrases with words in common to that of their other words, in place.

    That both have "db" does not make "port" a slip of "host".

    Args:
        queries: L plain texts.
        strings: n plain texts.
        places: the places of the c strings that each is compared with, (L, c), or of all, (c,).
        alike: how alike each and its strings are, (L, c).
    """
    phrases = [i for i, query in enumerate(queries) if " " in query]
    if not phrases:
        return
    of_phrases = alike[phrases]
    rows, columns = ((of_phrases > _OF_SHORT) & (of_phrases < 1)).nonzero()
    rows = np.array(phrases)[rows]
    at = places[columns] if places.ndim == 1 else places[rows, columns]
    some, apart, last, words, have = [], [], -1, list[str](), set[str]()
    for i, (row, place) in enumerate(zip(rows.tolist(), at.tolist(), strict=True)):
        if row != last:
            last, words = row, queries[row].split()
            have = set(words)
        others = strings[place].split()
        they_have = set(others)
        ours = [word for word in words if word not in they_have]
        if ours and len(ours) < len(words):
            theirs = [word for word in others if word not in have]
            if theirs:
                some.append(i)
                apart.append((" ".join(ours), " ".join(theirs)))
    if some:
        found = rows[some], columns[some]
        alike[found] = np.minimum(alike[found], likeness_of_pairs(*zip(*apart, strict=True)))


# ---- numbers --------------------------------------------------------------------------------

#: The factor for a likeness of two strings whose numbers differ.
OTHER_NUMBER = 0.5
_SPLIT = 5  # digits of a number that blanks may split: "1 5" is not "15"
_YEAR = 4  # digits
_DIGITS = re.compile(r"\d+")


def with_other_numbers(query: str, strings: Sequence[str]) -> list[int]:
    """Return the places of the strings whose numbers differ from those of the query.

    Strings without numbers, and queries without numbers, never differ. Blanks may split a number
    of five digits or more, such as a telephone number or a date. Two parts of which one is a
    single digit may be a fraction, and are not joined: 3.14159 is not 314159.

    >>> with_other_numbers("5551234", ["555 1234", "555 1235", "5 551234", "phone"])
    [1, 2]
    """
    if not _DIGITS.search(query):
        return []
    return [i for i, string in enumerate(strings) if _have_other_numbers(query, string)]


def _have_other_numbers(a: str, b: str) -> bool:
    ours, theirs = _numbers(a), _numbers(b)
    if not ours or not theirs or ours == theirs:
        return False
    return not (_is_split(a, ours, theirs) or _is_split(b, theirs, ours))


@lru_cache(maxsize=8192)
def _numbers(text: str) -> tuple[str, ...]:
    return tuple(_DIGITS.findall(text))


def other_numbers(a: str, b: str, *, in_part: bool) -> bool:
    """Tell whether both texts have numbers, and those are neither the same nor one date.

    Leading zeros and the blanks of a long number make no difference, nor does the order of a
    date's day, month and year.

    Args:
        a: a plain text.
        b: another one.
        in_part: whether one text may have the first numbers of the other alone: "python 3" and
            "python 3.12".

    >>> other_numbers("python 3 12", "python 3 13", in_part=True)
    True
    >>> other_numbers("01 02 2023", "2023 02 01", in_part=True)
    False
    """
    ours, theirs = _numbers(a), _numbers(b)
    if not ours or not theirs or _is_split(a, ours, theirs) or _is_split(b, theirs, ours):
        return False
    first, second = ([number.lstrip("0") for number in found] for found in (ours, theirs))
    if first == second or (len(first) == len(second) == 3 and _is_same_date(first, second)):
        return False
    few = min(len(first), len(second))
    return not (in_part and first[:few] == second[:few])


def _is_same_date(first: list[str], second: list[str]) -> bool:
    """Tell whether three numbers are those of a date with its year at the other end."""
    years = [[len(number) == _YEAR for number in numbers] for numbers in (first, second)]
    return sorted(first) == sorted(second) and sum(years[0]) == 1 and years[0] != years[1]


def _is_split(text: str, numbers: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Tell whether ``others`` is one long number and ``text`` has it split by blanks."""
    if ("".join(numbers),) != others or len(others[0]) < _SPLIT:
        return False
    may_be_fraction = len(numbers) == 2 and min(map(len, numbers)) == 1
    return not may_be_fraction and " ".join(numbers) in text


# ---- words aligned one by one ---------------------------------------------------------------


class Run(NamedTuple):
    """Words of a query and of a key that are alike together: "e mail" and "email".

    Attributes:
        key: the number of the key.
        rows: the words of the query.
        places: the words of the key.
        likeness: how alike they are.
    """

    key: int
    rows: slice
    places: slice
    likeness: float


class Coverage(NamedTuple):
    """How well the words of P queries and P keys cover each other, from 0 to 1.

    Attributes:
        found: the weighted share of the words of the query that the key has, (P,).
        covered: the weighted share of the words of the key that the query has, (P,).
        of_query: how alike each word of the query is to its counterpart in the key, (P, m).
        of_keys: how alike each word of the key is to its counterpart in the query, (P, longest).
    """

    found: NDArray[np.float32]
    covered: NDArray[np.float32]
    of_query: NDArray[np.float32]
    of_keys: NDArray[np.float32]

    def mean(self) -> NDArray[np.float32]:
        """Return the mean of the two shares, (P,), of which that of the query counts twice.

        What is asked for must be found; a key may say more.
        """
        return np.asarray((2 * self.found + self.covered) / 3, np.float32)

    def larger(self) -> NDArray[np.float32]:
        """Return the larger share, (P,): less than 1 if each has words that the other has not."""
        return np.maximum(self.found, self.covered)


def coverage(
    alike: NDArray[np.float32],
    query_weights: NDArray[np.float32],
    key_weights: NDArray[np.float32],
) -> Coverage:
    """Return how well the words of P queries and P keys cover each other.

    Args:
        alike: how alike each word of the query and each of the key are, (P, m, longest); 0 for the
            words that a key has not, if others have more.
        query_weights: the weights of the words of the query, (P, m).
        key_weights: the weights of the words of the key, (P, longest), 0 where there is none.

    >>> alike = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.0]]], np.float32)
    >>> ones = np.ones((2, 2), np.float32)  # "top speed" and the same; and "highest"
    >>> coverage(alike, ones, np.array([[1, 1], [1, 0]], np.float32)).mean().round(3)
    array([1.   , 0.333], dtype=float32)
    """
    of_query, of_keys = np.maximum.reduce(alike, axis=2), np.maximum.reduce(alike, axis=1)
    found = (of_query * query_weights).sum(axis=1) / query_weights.sum(axis=1)
    covered = (of_keys * key_weights).sum(axis=1) / key_weights.sum(axis=1)
    return Coverage(found, covered, of_query, of_keys)
