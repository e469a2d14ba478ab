"""Abbreviations: of a word, of a phrase by its initials, and those that are conventional."""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq

from fuzzydict.text.forms import base_forms
from fuzzydict.text.similarity import Run
from fuzzydict.text.sketches import Derived, Sketches, bits_of
from fuzzydict.text.words import word_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray


_SHORTEST = 3  # letters of the abbreviation of one word; initials may have two
_PREFIX, _CONTRACTION = 0.8, 0.7  # likeness of the abbreviation of a very long word
_BY_LENGTH = 0.2  # what is added in proportion to the share of the word that is kept
_CONVENTIONAL = 0.95  # likeness of an abbreviation that is listed
_INITIALS, _LONG_INITIALS = 0.85, 0.95  # likeness of two initials, and of more, and their phrase
_DIGIT = re.compile(r"\d")
_INNER_VOWELS = re.compile(r"(?<!^)[aeiou]")
#: Words that initials may leave out.
_SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "at",
        "by",
        "de",
        "for",
        "from",
        "in",
        "of",
        "on",
        "or",
        "s",
        "the",
        "to",
        "with",
    ]
)


@cache
def _conventional() -> dict[str, frozenset[str]]:
    """Return what abbreviations stand for. Phrases are not listed: initials are found by rule."""
    found = {short: frozenset(words) for short, *words in word_list("abbreviations")}
    for symbol, *names in word_list("units"):
        if len(names) == 1:
            found[symbol] = found.get(symbol, frozenset()).union(names, map(_british, names))
    return found


def _british(name: str) -> str:
    """Return the British spelling of the name of a unit."""
    return name.removesuffix("er") + "re" if name.endswith(("meter", "liter")) else name


@cache
def _common() -> frozenset[str]:
    """Return short words that are common, so that they hardly abbreviate longer ones."""
    return frozenset(word for (word,) in word_list("common"))


@lru_cache(maxsize=8192)
def expansions(word: str) -> frozenset[str]:
    """Return what a word is a conventional abbreviation of.

    >>> sorted(expansions("yrs")), sorted(expansions("year"))
    (['year'], [])
    """
    table, none = _conventional(), frozenset[str]()
    return table.get(word, none) | table.get(word.removesuffix("s"), none)


def is_conventional(word: str, other: str) -> bool:
    """Tell whether one of two words is a conventional abbreviation of the other."""
    return any(
        of and not of.isdisjoint(base_forms(one))
        for of, one in ((expansions(word), other), (expansions(other), word))
    )


class Abbreviations:
    """What n texts abbreviate and are abbreviated by, for comparison with a text.

    Args:
        texts: n words or phrases; more may be appended to the list. All are plain and not empty.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._letters = texts, Sketches(texts, _letters)
        self._listed = Sketches(texts, _listed)

    def likeness(
        self,
        word: str,
        places: NDArray[np.intp],
        may_abbreviate: Callable[[str], bool] = lambda _: True,
    ) -> NDArray[np.float32]:
        """Return how alike a text and each of c are if one abbreviates the other, (c,).

        An abbreviation is conventional ("qty"); the beginning of a word, with its vowels or without
        ("temp", "spd"); a contraction that keeps the first and the last letter ("govt"); or the
        initials of a phrase, which may leave out its small words ("dob", "rd"). The likeness is 0
        where neither text is one of the other, or the shorter one has a digit: 902 is no
        abbreviation of 90210.

        Args:
            word: a word or a phrase, plain and not empty.
            places: the places of the c texts among the n.
            may_abbreviate: tells whether a word may abbreviate one by rule. A frequent word is
                unlikely to: "car" is not short for "carpet".

        >>> texts = Abbreviations(["temperature", "govt", "attempt", "date of birth"])
        >>> print(texts.likeness("temp", np.arange(4)).round(2))
        [0.95 0.   0.   0.  ]
        >>> print(texts.likeness("government", np.arange(4)).round(2))
        [0.   0.95 0.   0.  ]
        >>> print(texts.likeness("dob", np.arange(4)).round(2))
        [0.   0.   0.   0.95]
        """
        alike = np.zeros(len(places), np.float32)
        for _, column, likeness in self.found(
            [word], places, lambda _, short: may_abbreviate(short)
        ):
            alike[column] = likeness
        return alike

    def found(
        self,
        words: Sequence[str],
        places: NDArray[np.intp],
        may_abbreviate: Callable[[int, str], bool],
        owners: NDArray[np.intp] | None = None,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield the `likeness` of each of L texts and its c texts where it is not 0.

        Args:
            words: L words or phrases, plain and not empty.
            places: the places of the c texts of each, (L, c), or of all, (c,); or of the text of
                each pair, (P,).
            may_abbreviate: tells whether, compared with the text of this number, a word may
                abbreviate one by rule.
            owners: the number of the first text of each pair, (P,), if pairs are compared.

        Yields:
            The place of the text among the L, the column of the other (for a pair, its number), and
            the likeness.
        """
        found = self._letters.nested(list(map(_letters, words)), places, owners)
        listed = list(map(_listed, words))
        if any(listed):
            found += self._listed.sharing(listed, places, owners)
        for row, column, place in found:
            likeness = _likeness(words[row], self._texts[place], partial(may_abbreviate, row))
            if likeness:
                yield row, column, likeness


def abbreviation_likeness(
    word: str, others: Sequence[str], may_abbreviate: Callable[[str], bool] = lambda _: True
) -> NDArray[np.float32]:
    """Return how alike a text and each of n are if one abbreviates the other, (n,).

    See `Abbreviations`.
    """
    return Abbreviations(others).likeness(word, np.arange(len(others)), may_abbreviate)


def _likeness(word: str, other: str, may_abbreviate: Callable[[str], bool]) -> float:
    if other[0] != word[0]:
        elsewhere = _begin_otherwise()
        listed = other in elsewhere or word in elsewhere
        return _CONVENTIONAL if listed and is_conventional(word, other) else 0.0
    short, long = (word, other) if len(word) < len(other) else (other, word)
    if other == word or " " in short:
        return 0.0
    return _one_way(short, long, may_abbreviate)


_NO_LETTER, _FIRST, _FIRSTS = 26, 27, 16  # bits: of other characters, and of the first one
_IS_PHRASE, _IS_LETTER = 1 << 43, 1 << 44  # these abbreviate nothing by rule


@lru_cache(maxsize=1 << 14)
def _letters(text: str) -> int:
    """Return the letters of a word, or the initials of a phrase, and which is the first, as bits.

    Those of a word that abbreviates a text by rule are among those of the text.
    """
    parts = text.split()
    kind = _IS_PHRASE if len(parts) > 1 else _IS_LETTER if len(text) == 1 else 0
    first = 1 << _FIRST + ord(text[0]) % _FIRSTS
    return kind | first | _letter_bits([part[0] for part in parts] if len(parts) > 1 else text)


def _letter_bits(letters: Iterable[str]) -> int:
    found = 0
    for letter in set(letters):
        found |= 1 << (ord(letter) - 97 if "a" <= letter <= "z" else _NO_LETTER)
    return found


@lru_cache(maxsize=1 << 14)
def _listed(word: str) -> int:
    """Return bits that two words share if one is a conventional abbreviation of the other."""
    return 0 if " " in word else bits_of(expansions(word) | (base_forms(word) & _abbreviated()))


@cache
def _abbreviated() -> frozenset[str]:
    """Return the words that have a conventional abbreviation."""
    return frozenset().union(*_conventional().values())


@cache
def _begin_otherwise() -> frozenset[str]:
    """Return the abbreviations with another first letter than what they stand for: "lb"."""
    shorts = [s for s, words in _conventional().items() if any(w[0] != s[0] for w in words)]
    return frozenset([*shorts, *(f"{short}s" for short in shorts)])


def _one_way(short: str, long: str, may_abbreviate: Callable[[str], bool]) -> float:
    """Return how alike a word and a longer text that begins alike are if it abbreviates it."""
    if " " in long:
        return initials_likeness(short, long.split())
    if is_conventional(short, long):
        return _CONVENTIONAL
    if len(short) < _SHORTEST or len(short) == len(long):
        return 0.0
    begins = long.startswith(short)
    if not begins:
        if LCSseq.similarity(short, long) < len(short):
            return 0.0
        if not _INNER_VOWELS.search(short):
            begins = _INNER_VOWELS.sub("", long).startswith(short)
    if not begins and short[-1] != long[-1]:
        return 0.0
    if _DIGIT.search(short) or not may_abbreviate(short):
        return 0.0
    # "user" may stand for "username", but "car" is not short for "cargo".
    if short in _common() and long.removeprefix(short) not in _common():
        return 0.0
    return (_PREFIX if begins else _CONTRACTION) + _BY_LENGTH * len(short) / len(long)


def initials_likeness(word: str, phrase: Sequence[str]) -> float:
    """Return how alike a word and some words are if it is their initials; otherwise 0.

    >>> initials_likeness("rd", ["research", "and", "development"])
    0.85
    """
    if len(phrase) < 2 or len(word) > len(phrase) or not word.isalpha():
        return 0.0
    if word != "".join([part[0] for part in phrase]) and word != "".join(
        [part[0] for part in phrase if part not in _SMALL]
    ):
        return 0.0
    return (_INITIALS if len(word) == 2 else _LONG_INITIALS) if len(word) > 1 else 0.0


# ---- abbreviations that are not words ----------------------------------------------------------

_SUFFIXES = re.compile(
    r"(?:able|ably|age|al|ally|ance|ant|ary|ate|ation|en|ence|ent|er|ery|ful|fully|hood|ian|ible|ic"
    r"|ical|ify|ing|ion|ish|ism|ist|ity|ive|ize|less|ly|ment|ness|or|ous|ship|tion|ward|y)s?"
)


def looks_abbreviated(short: str, long: str) -> bool:
    """Tell whether a word looks like an abbreviation of another, not like a word of its own.

    It is what abbreviations are like: the beginning of the word, unless a suffix follows
    ("massive") or it is a common word ("time", "timeout"), with its last consonant or without; or
    the word without vowels. What merely has some letters in the same order is none.

    Args:
        short: a plain word, some of the letters of ``long`` in their order, the first among them.
        long: a plain word.

    >>> [looks_abbreviated(*words.split()) for words in ("dept department", "pwd password",
    ...     "max maximum", "mass massive", "being breeding", "date database")]
    [True, True, True, False, False, False]
    """
    if long.startswith(short):
        return short not in _common() and not _SUFFIXES.fullmatch(long, len(short))
    if not _INNER_VOWELS.search(short) or _INNER_VOWELS.sub("", short) == _INNER_VOWELS.sub(
        "", long
    ):
        return True
    return long.startswith(short[:-1]) and short[-1] not in "aeiouy"


# ---- runs of words ------------------------------------------------------------------------------

_JOINED = 1.0  # likeness of two words and the same written as one
_MOST_INITIALS = 5
_INITIALS_SIZES = range(2, _MOST_INITIALS + 1)


class Runs:
    """The words of n texts that may be alike to others together, for comparison with a query.

    Args:
        texts: n plain texts; more may be appended to the list.
        most: how many words of each are compared; None is all.
    """

    def __init__(self, texts: Sequence[str], most: int | None = None) -> None:
        self._texts, self._most, self._initials = texts, most, Derived(texts, _initials)

    def of(self, words: Sequence[str], places: NDArray[np.intp]) -> list[Run]:
        """Return the words of a query and of c texts that are alike together.

        They are two words on one side that are one on the other ("e mail", "email"), and initials
        ("hr manager", "human resources manager").

        Args:
            words: of the query.
            places: the places of the c texts among the n.

        >>> Runs(["address", "email"]).of(["e", "mail", "address"], np.array([0, 1]))
        [Run(key=1, rows=slice(0, 2, None), places=slice(0, 1, None), likeness=1.0)]
        """
        asked, found = _parts(" ".join(words)), list[Run]()
        listed = places.tolist()
        texts = [self._texts[place] for place in listed]
        some = set(_with_joined(asked, texts))
        if asked.short:
            some.update(_with_initials(asked, self._initials.of(listed)))
        for number in sorted(some):
            parts = _parts(" ".join(texts[number].split(" ")[: self._most]))
            found += _runs_between(asked, parts, number)
        return found


def _runs_between(asked: _Parts, parts: _Parts, number: int) -> Iterator[Run]:
    for word, row in asked.joined.items():
        if word in parts.places:
            place = parts.places[word]
            yield Run(number, slice(row, row + 2), slice(place, place + 1), _JOINED)
    for word, place in parts.joined.items():
        if word in asked.places:
            row = asked.places[word]
            yield Run(number, slice(row, row + 1), slice(place, place + 2), _JOINED)
    for row, places, alike in _initials_in(asked, parts):
        yield Run(number, slice(row, row + 1), places, alike)
    for place, rows, alike in _initials_in(parts, asked):
        yield Run(number, rows, slice(place, place + 1), alike)


def _with_joined(asked: _Parts, texts: Sequence[str]) -> Iterator[int]:
    """Yield the places of texts with words of a query joined or parted, or initials of them."""
    written = f" {' | '.join(texts)} "  # all texts in one pass
    joined = written.replace(" ", "")
    for word in asked.places:
        if joined.count(word) > written.count(word):  # where words of a text make it together
            yield from (i for i, text in enumerate(texts) if word in text.replace(" ", ""))
    sought = [*asked.joined]
    for letters, _ in asked.letters:
        ends = range(2, len(letters) + 1)
        sought += [letters[max(end - size, 0) : end] for end in ends for size in _INITIALS_SIZES]
    for word in dict.fromkeys(sought):
        if f" {word} " in written:
            yield from (i for i, text in enumerate(texts) if word in text)


def _with_initials(asked: _Parts, initials: Sequence[str]) -> Iterator[int]:
    """Yield the places of the initials of texts that have a word of a query."""
    joined = " ".join(initials)
    for _, word in asked.short:
        if word in joined:
            yield from (i for i, letters in enumerate(initials) if word in letters)


def _initials(texts: Sequence[str]) -> list[str]:
    """Return the initials of each phrase: of all words, and of all but the small ones."""
    return ["|".join([letters for letters, _ in _parts(text).letters]) for text in texts]


class _Parts(NamedTuple):
    """The parts of a text that may be alike to others together.

    Attributes:
        places: the place of each word.
        joined: two neighbours written as one, with the place of the first.
        short: words that may be initials, with their places.
        letters: the first letters of all words, and of all but the small ones if there are some,
            with the places of these words.
    """

    places: dict[str, int]
    joined: dict[str, int]
    short: list[tuple[int, str]]
    letters: list[tuple[str, list[int]]]


@lru_cache(maxsize=8192)
def _parts(text: str) -> _Parts:
    words = text.split(" ")
    short = [
        (i, word)
        for i, word in enumerate(words)
        if 2 <= len(word) <= _MOST_INITIALS and word not in _SMALL
    ]
    telling = [i for i, word in enumerate(words) if word not in _SMALL]
    runs = [list(range(len(words))), telling][: 1 + (len(telling) < len(words))]
    letters = [("".join([words[i][0] for i in run]), run) for run in runs if len(run) > 1]
    places = {word: i for i, word in reversed(list(enumerate(words)))}
    return _Parts(
        places, {f"{a}{b}": i for i, (a, b) in enumerate(pairwise(words))}, short, letters
    )


def _initials_in(text: _Parts, phrase: _Parts) -> Iterator[tuple[int, slice, float]]:
    """Yield the place of each word that is the initials of a run of a phrase, and of the run."""
    for letters, places in phrase.letters:
        for i, word in text.short:
            if word in letters and word not in phrase.places:
                start = letters.index(word)
                end = places[start + len(word) - 1] + 1
                alike = _INITIALS if len(word) == 2 else _LONG_INITIALS
                yield i, slice(places[start], end), alike
