"""Other ways to write a text: slips, forms, abbreviations, spellings.

Each function takes a text and a source of chance, and returns what somebody might write instead;
the text itself, or "", where there is no such way.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

from fuzzydict.text.lexicon import look_up
from fuzzydict.text.words import word_list

__all__ = ["LISTS", "STYLES", "abbreviation", "form", "kebab", "listed", "plural", "respelled"]
__all__ += ["rows_of", "slip", "snake", "table_of"]

#: The words that questions are made of, by the name of each list.
LISTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("vocabulary.toml").read_text("utf-8")
)


def rows_of(text: str) -> list[list[str]]:
    """Return the words of each part of a list; "_" is a blank in a word."""
    return [[word.replace("_", " ") for word in part.split()] for part in text.split("|")]


@cache
def listed(name: str) -> list[str]:
    """Return the words of a list of one part."""
    (words,) = rows_of(LISTS[name])
    return words


@cache
def table_of(name: str) -> dict[str, list[str]]:
    """Return the first word of each part of a list as a key of the words that follow it."""
    return {first: others for first, *others in rows_of(LISTS[name])}


FILLERS = frozenset(listed("fillers"))
_VOWELS = frozenset("aeiouy")

# ---- slips ---------------------------------------------------------------------------------------

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
#: What sounds alike, or is often taken for each other.
_SOUNDS = [(before, after) for before, after in rows_of(LISTS["sounds"])]
_SOUNDS += [(after, before) for before, after in _SOUNDS if len(before) > 1]


def slip(text: str, rng: Random) -> str:
    """Return the text with a slip in one of its words, or seldom two.

    >>> slip("address", Random(0))
    'addres'
    """
    twice = len(text) > 7 and rng.random() < 0.12
    slipped = _one_slip(text, rng)
    return _one_slip(slipped, rng) if twice else slipped


def _one_slip(text: str, rng: Random) -> str:
    places = [m.span() for m in re.finditer(r"[^\W\d_]{2,}", text)]
    if not places:
        return text
    start, end = rng.choices(places, [end - start - 1 for start, end in places])[0]
    word = text[start:end]
    for _ in range(5):
        slipped = _slipped(word, rng)
        if slipped.lower() != word.lower() and not look_up(slipped.lower()).is_common:
            return text[:start] + slipped + text[end:]
    return text


def _slipped(word: str, rng: Random) -> str:
    ways = ["left out", "swapped", "mistyped", "added", "doubled", "by sound"]
    way = rng.choices(ways, (5, 5, 4, 6, 4, 5))[0]
    if way == "swapped":
        i = rng.randrange(len(word) - 1)
        return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    if way == "doubled":  # one letter of two alike, or two in place of one
        doubled = [i for i in range(1, len(word)) if word[i] == word[i - 1]]
        if doubled:
            i = rng.choice(doubled)
            return word[:i] + word[i + 1 :]
        inside = [i for i in range(1, len(word) - 1) if word[i].lower() in "bcdfglmnoprst"]
        i = rng.choice(inside or [len(word) - 1])
        return word[: i + 1] + word[i:]
    if way == "by sound":
        fitting = [(a, b) for a, b in _SOUNDS if a in word]
        if not fitting:
            return word
        before, after = rng.choice(fitting)
        i = rng.choice([m.start() for m in re.finditer(before, word)])
        return word[:i] + after + word[i + len(before) :]
    # People seldom miss the first letter.
    i = rng.randrange(len(word)) if rng.random() < 0.3 else rng.randrange(1, len(word))
    if way == "left out":
        return word[:i] + word[i + 1 :]
    if way == "mistyped":
        return word[:i] + _beside(word[i], rng) + word[i + 1 :]
    return word[:i] + (word[i] if rng.random() < 0.4 else _beside(word[i], rng)) + word[i:]


def _beside(letter: str, rng: Random) -> str:
    """Return a letter that is beside another on the keyboard, or any."""
    for row in _ROWS:
        i = row.find(letter.lower())
        if i >= 0 and rng.random() < 0.7:
            return rng.choice(row[max(i - 1, 0) : i] + row[i + 1 : i + 2])
    return rng.choice(ascii_lowercase)


# ---- forms ---------------------------------------------------------------------------------------


def _parts(text: str) -> list[str]:
    """Return the words of a text as it is written: "userId" has two."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return [part for part in re.split(r"[\s_,/.-]+", text) if part]


def snake(text: str) -> str:
    """Return "user_id" of "user id"."""
    return "_".join(_parts(text)).lower()


def kebab(text: str) -> str:
    """Return "user-id" of "user id"."""
    return "-".join(_parts(text)).lower()


def _camel(text: str) -> str:
    first, *others = _parts(text.lower()) or [""]
    return first + "".join(map(str.capitalize, others))


#: How all keys of a dict are written. The first ones are frequent.
STYLES: Sequence[Callable[[str], str]] = (
    str,
    str,
    lambda text: text[:1].upper() + text[1:],
    str.title,
    snake,
    str.upper,
    _camel,
    kebab,
    lambda text: snake(text).upper(),
    lambda text: "".join(map(str.capitalize, _parts(text.lower()))),
    lambda text: ".".join(_parts(text)).lower(),
)


def form(text: str, rng: Random) -> str:
    """Return another form of the same words: joined, turned, inflected, in another style."""
    parts = _parts(text)
    if not parts:
        return text
    if len(parts) == 1 or rng.random() < 0.3:
        return _inflected(parts, rng)
    ways = ["in style", "joined", "turned", "with of", "without fillers", "shuffled"]
    way = rng.choices(ways, (3, 2, 2, 3, 2, 1))[0]
    kept = [part for part in parts if part.lower() not in FILLERS]
    if way == "in style":
        made = rng.choice(STYLES)(" ".join(parts))
    elif way == "joined":
        i = rng.randrange(len(parts) - 1)
        some = [*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :]]
        made = "".join(parts) if rng.random() < 0.6 else " ".join(some)
    elif way == "turned":  # "knife, bread"
        mark = rng.choice([",", ",", "", " -"])
        made = f"{parts[-1]}{mark} {' '.join(parts[:-1])}"
    elif way == "with of":
        made = _with_of(parts, rng)
    elif way == "without fillers":
        if len(kept) == len(parts):
            place = rng.randrange(1, len(kept)) if len(kept) > 1 else 0
            kept.insert(place, rng.choice(["the", "&"]))
        made = " ".join(kept)
    else:
        made = " ".join(rng.sample(kept, len(kept)))
    return made if rng.random() < 0.85 else slip(made, rng)


def _with_of(parts: Sequence[str], rng: Random) -> str:
    """Return "date of birth" of "birth date", and the reverse."""
    for link in ("of", "for", "in", "to"):
        if link in parts[1:-1]:
            i = parts.index(link, 1)
            after = [part for part in parts[i + 1 :] if part != "the"]
            return " ".join([*after, *parts[:i]])
    link = rng.choice(["of", "of", "of the", "for"])
    return f"{parts[-1]} {link} {' '.join(parts[:-1])}"


def _inflected(parts: Sequence[str], rng: Random) -> str:
    *before, last = parts
    chance = rng.random()
    if chance < 0.6:
        last = _singular(last) if last.endswith("s") else plural(last)
    elif chance < 0.94:
        end = "ing" if chance < 0.75 else "ed" if chance < 0.87 else "er"
        if last.endswith("e") and not last.endswith("ee"):
            last = last[:-1]
        elif re.search("[^aeiou][aeiou][bdgmnprt]$", last) and len(last) < 5:
            last += last[-1]
        elif last.endswith("y") and end != "ing" and len(last) > 3:
            last = last[:-1] + "i"
        last += end
    else:
        last += "'s"
    if before and rng.random() < 0.2:
        before[-1] = plural(before[-1])
    return " ".join([*before, last])


def plural(word: str) -> str:
    """Return the plural of a word, by rule."""
    if re.search("[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search("(s|x|z|ch|sh)$", word) else "s")


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if re.search("(ss|x|z|ch|sh)es$", word) else word.removesuffix("s")


# ---- abbreviations -------------------------------------------------------------------------------


def abbreviation(text: str, rng: Random) -> str:
    """Return the text with one word or all its words shortened, or its initials.

    >>> abbreviation("delivery address", Random(3))
    'deliv addr'
    """
    parts = [part.lower() if rng.random() < 0.7 else part for part in _parts(text)]
    telling = [part for part in parts if part.lower() not in FILLERS]
    chance = rng.random()
    if len(telling) > 1 and chance < 0.25:
        return _initials(telling, rng)
    long = [i for i, part in enumerate(parts) if len(part) > 4 or part.lower() in _conventional()]
    if not long:
        return _initials(telling, rng) if len(telling) > 2 else text
    some = long if len(long) > 1 and chance < 0.65 else [rng.choice(long)]
    stop = "." if rng.random() < 0.25 else ""
    for i in some:
        parts[i] = _short_word(parts[i], rng) + stop
    if rng.random() < 0.4:
        parts = [part for part in parts if part.lower() not in FILLERS]
    return rng.choices([" ", "_", ""], (8, 2, 1 if not stop else 0))[0].join(parts)


def _initials(parts: Sequence[str], rng: Random) -> str:
    mark = "." if rng.random() < 0.15 else ""
    text = "".join(part[0] + mark for part in parts)
    if len(parts) > 1 and rng.random() < 0.15:  # the last word is written out: "fname"
        between = "" if len(parts) == 2 else rng.choice(["", " "])
        text = "".join(part[0] for part in parts[:-1]) + between + parts[-1]
    return text.upper() if rng.random() < 0.6 else text.lower()


@cache
def _conventional() -> dict[str, list[str]]:
    """Return the usual short forms of each word that has some."""
    found = defaultdict[str, list[str]](list)
    for short, *words in word_list("abbreviations"):
        for word in words:
            found[word].append(short)
    return dict(found)


def _short_word(word: str, rng: Random) -> str:
    """Return a word as people shorten it: the usual way, its beginning, some of its letters."""
    usual = _conventional().get(word.lower(), [])
    if usual and rng.random() < 0.6:
        return rng.choice(usual)
    if len(word) < 4:
        return word
    bare = word[0] + "".join(letter for letter in word[1:] if letter.lower() not in _VOWELS)
    inside = bare[1:-1]
    some = sorted(rng.sample(range(len(inside)), min(len(inside), rng.randint(1, 2))))
    drawn = word[0] + "".join(inside[i] for i in some) + word[-1]
    ends = [n for n in (2, 3, 4, 5, 6) if n < len(word) - 1 and word[n - 1].lower() not in _VOWELS]
    beginning = word[: rng.choice(ends or [3])]
    made = rng.choices([beginning, bare, bare[:3], drawn], (10, 5, 3, 3))[0]
    return made if 2 <= len(made) < len(word) else word[:3]


# ---- British and American spelling ---------------------------------------------------------------

_BRITISH = [(re.compile(british), american) for british, american in LISTS["british"]]


@cache
def respelled(word: str) -> str:
    """Return a word in American spelling, by rule; what differs may be no word.

    >>> respelled("colour"), respelled("theatre"), respelled("catalogue"), respelled("organise")
    ('color', 'theater', 'catalog', 'organize')
    """
    for british, american in _BRITISH:
        word = british.sub(american, word)
    return word
