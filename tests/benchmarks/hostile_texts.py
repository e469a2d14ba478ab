"""How long texts take that were made to be slow: as keys, as one query, and as a list.

    python -m tests.benchmarks.hostile_texts
    python -m tests.benchmarks.hostile_texts --bytes 100000

Each kind is about a megabyte of UTF-8, drawn with a seed. It is read in three ways: as the keys of
a dict (made, and read once), as one query, and as a list of queries, of which there are at most
200. Texts of a kind differ from each other. The time is that of the processor.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence

from fuzzydict import FuzzyDict

from .measuring import print_report, timed

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
    "initials": _drawn(_LETTERS, ".", _LONG // 2),
    "humps": _repeated("aB"),
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
    "fractions": _repeated("½"),
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
    parser = argparse.ArgumentParser(description="Measure texts made to be slow.")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="the size of the keys")
    given = parser.parse_args()
    FuzzyDict({"color": 1.0, "top speed": 2.0}).nearest("colour")  # open what is opened once
    rows = [[kind, *measure(kind, given.bytes)] for kind in KINDS]
    header = ["kind", "keys", "read", "a query", "queries", "a list"]
    print_report(f"{given.bytes:,} bytes of each kind, seconds of the processor", header, rows)


if __name__ == "__main__":
    main()
