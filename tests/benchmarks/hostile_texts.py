"""How long texts take that were made to be slow: as keys, as one query, and as a list.

    python -m tests.benchmarks.hostile_texts
    python -m tests.benchmarks.hostile_texts --bytes 100000 --only "marks" "one word"

Each kind is about a megabyte of UTF-8, drawn with a seed. It is read in three ways: as the keys of
a dict (made, and read once), as one query, and as a list of queries, of which there are at most
200. Texts of a kind differ from each other. The time is that of the processor.
``python -m tests.benchmarks.campaigns texts`` asks dicts of strange keys for strange texts.
"""

from __future__ import annotations

import argparse
import random
import time
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fuzzydict import FuzzyDict, Match, NoMatchError
from fuzzydict.text.words import plain

from .measuring import command, timed

__all__ = ["KINDS", "asked", "measure", "texts"]

_LETTERS = "bcdfghjklmnpqrstvwxz"
_LONG = 1000  # characters of a long text
_KNOWN = ["information", "government", "development", "environment", "temperature", "department"]

Chance = random.Random
Text = Callable[[Chance, int], str]


def _words(count: int, size: int) -> Text:
    def make(chance: Chance, _: int) -> str:
        letters = "".join(chance.choices(_LETTERS, k=count * size))
        return " ".join(letters[i : i + size] for i in range(0, len(letters), size))

    return make


def _repeated(part: str) -> Text:
    """Return a text of a part, and at the end a number that tells it from others."""
    return lambda _, number: (part * (_LONG // len(part))) + str(number)


def _drawn(letters: Sequence[str], mark: str = "", size: int = _LONG) -> Text:
    return lambda chance, _: mark.join(chance.choices(letters, k=size))


def _changed(texts: Sequence[str]) -> Text:
    """Return one of some texts with one letter changed."""

    def make(chance: Chance, _: int) -> str:
        text = chance.choice(texts)
        place = chance.randrange(1, len(text))
        return text[:place] + chance.choice(_LETTERS) + text[place + 1 :]

    return make


#: A text of each kind, from its number.
KINDS: dict[str, Text] = {
    "one word never seen": _words(1, 5),
    "two words never seen": _words(2, 5),
    "eight words never seen": _words(8, 5),
    "twenty words never seen": _words(20, 4),
    "200 words never seen": _words(200, 4),
    "misspelled words": _changed(_KNOWN),
    "one long word": _drawn(_LETTERS),
    "one letter": _repeated("a"),
    "a letter, other ends": lambda chance, number: "a" * _LONG + _words(1, 8)(chance, number),
    "two letters": _drawn("ab"),
    "alike but for one letter": _changed(["the quick brown fox jumps over the lazy dog " * 22]),
    "the same n-grams": lambda _, number: "abc" * (300 + number % 40) + "ab"[: number % 2],
    "letters apart": _drawn(_LETTERS, " ", _LONG // 2),
    "initials": _drawn(_LETTERS, ".", _LONG // 2),
    "initials of blanks": _repeated("a. "),
    "humps": _repeated("aB"),
    "capitals": _repeated("AAb"),
    "digits": _drawn("0123456789"),
    "numbers": _drawn([*map(str, range(10**6))], " ", 140),
    "codes": lambda chance, _: " ".join(f"{chance.choice('ab')}{i}" for i in range(200)),
    "units": _repeated("5 km per h "),
    "Roman numerals": _drawn("ivxlcdm"),
    "negations": _repeated("not un non "),
    "opposites": _repeated("min max low high "),
    "endings": _repeated("ings"),
    "British spellings": _repeated("ourisysre"),
    "apostrophes": _repeated("n't"),
    "blanks": lambda _, number: "a" + " " * _LONG + str(number),
    "signs": _repeated("?!"),
    "letters of 18": _repeated("\ufdfa"),
    "letters of 18, some": _repeated("\ufdfaé"),
    "fractions": _repeated("½"),
    "ligatures": _repeated("ﬃ"),
    "accents": _repeated("é"),
    "marks": lambda chance, _: "e" + "".join(chance.choices("\u0301\u0323", k=_LONG)),
    "marks in disorder": lambda _, number: "e" + "\u0301" * 500 + "\u0323" * 500 + str(number),
    "Hangul": _drawn("".join(map(chr, range(0xAC00, 0xD7A3)))),
    "jamo": _repeated("\u1100\u1161\u11a8"),
    "ideographs": _drawn("".join(map(chr, range(0x4E00, 0x9FFF)))),
    "emoji": _repeated("👩\u200d👩\u200d👧"),
    "selectors": lambda _, number: "a" + "\ufe0f" * _LONG + str(number),
}


def texts(kind: str, size: int) -> list[str]:
    """Return different texts of a kind, of ``size`` bytes together."""
    chance, found, left = random.Random(1), dict[str, None](), size
    for number in range(size):
        text = KINDS[kind](chance, number)
        left -= len(text.encode("utf-8", "surrogatepass"))
        if left < 0 and found:
            break
        found[text] = None
    return list(found)


def measure(kind: str, size: int) -> tuple[int, float, float, int, float]:
    """Return how long a kind of texts takes, in seconds of the processor.

    So many keys, and to make a dict of them and read it once; to read one query that is all of them
    joined, and one of them, and explain it; so many queries, and to read them as a list.
    """
    keys = texts(kind, size)

    def made(keys: Sequence[str]) -> FuzzyDict[float]:
        d = FuzzyDict(dict.fromkeys(keys, 1.0), score_cutoff=0)
        d.nearest("colour")
        return d

    as_keys = timed(lambda: made(keys), time.process_time)
    few, one = made(keys[:48]), keys[-1] + " x"
    joined = f"{one} {' '.join(keys)}"
    as_query = timed(lambda: (few.nearest(joined), few.explain(one)), time.process_time)
    several = [f"{text} y" for text in keys[-200:]]
    as_list = timed(lambda: few.nearest(several), time.process_time)
    return len(keys), as_keys, as_query, len(several), as_list


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure texts made to be slow.")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="the size of the keys")
    parser.add_argument("--only", nargs="+", choices=KINDS, metavar="KIND", help="these kinds")
    given = parser.parse_args()
    FuzzyDict({"color": 1.0, "top speed": 2.0}).nearest("colour")  # open what is opened once
    print(f"{given.bytes:,} bytes of each kind; seconds of the processor\n")
    print(f"{'kind':25} {'keys':>8} {'read':>7} {'a query':>8} {'queries':>8} {'a list':>7}")
    for kind in given.only or KINDS:
        keys, as_keys, as_query, listed, as_list = measure(kind, given.bytes)
        print(f"{kind:25} {keys:8,} {as_keys:7.2f} {as_query:8.2f} {listed:8,} {as_list:7.2f}")


# ---- strange texts ------------------------------------------------------------------------

_RANGES = [
    *((0x20, 0x7F), (0x00, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700)),
    *((0x900, 0xE00), (0x1100, 0x1200), (0x2000, 0x2070), (0x2070, 0x2C00), (0x3000, 0x3100)),
    *((0x4E00, 0x4F00), (0xAC00, 0xAD00), (0xD800, 0xE000), (0xE000, 0xE010), (0xFB00, 0xFE00)),
    *((0xFE00, 0x10000), (0x1D400, 0x1D500), (0x1F1E6, 0x1F700), (0xE0000, 0xE01F0)),
    (0x0, 0x110000),
]
_PIECES = ["color", "colour", "topSpeed", "top_speed", "Größe", "don't", " ", "", "_", "👍"]
_PIECES += ["\u200b"]


def asked(chance: random.Random, _folder: Path) -> None:
    """Write fifty strange keys, and ask for as many strange queries: texts, keys, changed keys."""
    d = FuzzyDict({_strange_text(chance): i for i in range(50)})
    for _ in range(50):
        query = _strange_text(chance)
        if chance.random() > 0.4:
            key: str = chance.choice(list(d))
            place = chance.randrange(len(key) + 1)
            changes = [key[:place] + query + key[place:], key[:place] + key[place + 1 :]]
            query = chance.choice([key, *changes])
        try:
            _ask(d, query)
        except Exception as error:
            raise AssertionError(f"{error!r} for {query!r}") from error


def _strange_text(chance: random.Random) -> str:
    """Return a text of pieces, ranges of Unicode, repeats and normal forms."""
    parts = []
    for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 5])):
        if chance.random() < 0.4:
            parts.append(chance.choice(_PIECES))
        else:
            low, high = chance.choice(_RANGES)
            size = chance.choice([1, 2, 3, 8])
            parts.append("".join(chr(chance.randrange(low, high)) for _ in range(size)))
    text = "".join(parts) * chance.choice([1] * 30 + [2, 40, 400])
    form: Any = chance.choice(["NFC", "NFD", "NFKC", "NFKD"])
    return unicodedata.normalize(form, text) if chance.random() < 0.2 else text


def _ask(d: FuzzyDict[int], query: str) -> None:
    """Ask in every way; what the answers share is asserted."""
    try:
        match = d.nearest(query)
    except NoMatchError:
        assert query not in d, "an equal key was not found"
        assert d.get(query) is None, "get answers otherwise"
        return
    assert query not in d or match == Match(query, dict.__getitem__(d, query), 1.0)
    assert d[query] == d.get(query) == match.value == dict.__getitem__(d, match.key)
    if plain(query):
        best = d.most_similar(query, topn=1)[0]
        alike = best.key == match.key and abs(best.score - match.score) < 1e-5
        assert query in d or alike, "the best is another"  # an equal key is certain
        assert abs(d.attend(query).weights.sum() - 1) < 1e-5


if __name__ == "__main__":
    command(main)
