"""The forms of an English word: plurals, and what verbs become."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_VOWEL = re.compile(r"[aeiouy]")
_TWICE = re.compile(r"([b-df-hj-np-tv-z])\1")


class _Ending(NamedTuple):
    """An ending, how many letters must be before it, and what replaces it."""

    text: str
    least: int
    bases: tuple[str, ...]
    doubles: bool = False  # the last consonant before it: "log", "logging"


_ENDINGS = (
    _Ending("s", 2, ("",)),
    _Ending("es", 2, ("",)),
    _Ending("ies", 2, ("y",)),
    _Ending("ied", 2, ("y",)),
    _Ending("ices", 3, ("ex", "ix")),
    _Ending("ed", 2, ("", "e"), doubles=True),
    _Ending("ing", 2, ("", "e"), doubles=True),
    _Ending("ion", 5, ("", "e")),
)
_NO_ENDINGS = ("ss", "us", "is", "eed")  # "address", "status", "analysis", "speed"


def same_form(a: str, b: str) -> bool:
    """Tell whether two plain words are forms of one word, or one is the base of the other.

    The rules are those of English spelling, after the first step of M. F. Porter (1980), "An
    algorithm for suffix stripping". Irregular forms ("men") are not found.

    >>> [same_form("caching", word) for word in ("cache", "caches", "cached", "cash")]
    [True, True, True, False]
    >>> same_form("https", "http"), same_form("status", "stat"), same_form("speed", "spee")
    (False, False, False)
    """
    return a[0] == b[0] and not base_forms(a).isdisjoint(base_forms(b))


@lru_cache(maxsize=1 << 14)
def base_forms(word: str) -> frozenset[str]:
    """Return a word, and the words that it may be a form of; not all of them exist.

    >>> sorted(base_forms("proxies")), sorted(base_forms("stopped"))
    (['proxi', 'proxie', 'proxies', 'proxy'], ['stop', 'stopp', 'stoppe', 'stopped'])
    """
    bases = _without_ending(word)  # "connections": "connection", and of this "connect"
    return frozenset({word}.union(bases, *map(_without_ending, bases)))


def _without_ending(word: str) -> set[str]:
    bases: set[str] = set()
    if word.endswith(_NO_ENDINGS):
        return bases
    for text, least, replacements, doubles in _ENDINGS:
        rest = word[: -len(text)]
        if not word.endswith(text) or len(rest) < least or not _VOWEL.search(rest):
            continue
        bases.update(rest + letters for letters in replacements)
        if doubles and _TWICE.fullmatch(rest[-2:]):
            bases.add(rest[:-1])
    return bases
