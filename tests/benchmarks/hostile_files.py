"""Hostile files: how long they take to read, and damaged ones, read or refused with their name.

    python -m tests.benchmarks.hostile_files [--bytes 100000]

Each is read at sizes that double, beside honest files. The time is that of the processor, the
fastest of three; the growth is the most by which it grew when the size doubled: 2 where it is
linear, 4 where it is the square. Short times are mostly noise.
``python -m tests.benchmarks.campaigns files`` reads damaged files: texts of which parts are cut,
repeated, swapped or replaced by what the format means something by, and Parquet of which bytes are
changed, mostly in its footer.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from fuzzydict import FileFormatError, FuzzyDict
from fuzzydict.io.columns import Source, clean_column
from fuzzydict.io.dict_files import read_dict
from fuzzydict.io.review import DecidedFile, read_examples

from .measuring import print_report, timed

Maker = Callable[[int], str]  # from about how many characters to a text
_LEAST = 0.02  # seconds; what is shorter is noise


def _rows(row: str, end: str = "", begin: str = "") -> Maker:
    """Return what repeats a row, in which # is its number, between a beginning and an end."""

    def make(size: int) -> str:
        rows = (row.replace("#", str(i)) for i in range(size // (len(row) + 4)))
        return begin + "".join(rows) + end

    return make


def _between(begin: str, part: str, end: str = "") -> Maker:
    """Return what repeats a part between a beginning and an end."""
    return lambda size: begin + part * (size // len(part)) + end


def _doubling(first: str, row: str) -> Maker:
    """Return rows of which each takes in the one before: # is its number, @ that of the other."""

    def make(size: int) -> str:
        numbers = range(1, size // (len(row) + 6))
        rows = (row.replace("#", str(i)).replace("@", str(i - 1)) for i in numbers)
        return first + "".join(rows)

    return make


#: What is read, by format. Files that begin with "honest" are as people write them.
ATTACKS: Mapping[str, Mapping[str, Maker]] = {
    "json": {
        "honest": _rows('"key #": "value",', '"last": 1}', "{"),
        "deep array": _between('{"a": ', "["),
        "deep object": _between("", '{"a": '),
        "long integer": _between('{"a": ', "9", "}"),
        "long fraction": _between('{"a": 0.', "9", "}"),
        "key twice": _rows('"key #": 1,', '"key 0": 1}', "{"),
        "open text of escapes": _between('{"a": "', r"\n"),
    },
    "jsonl": {
        "honest": _rows('{"key #": "value"}\n'),
        "blank lines": _between("", "\n"),
        "deep array": _between("", "["),
        "key twice": _rows('["key #", 1]\n', '["key 0", 1]'),
    },
    "toml": {
        "honest": _rows('"key #" = "value"\n'),
        "key of many parts": _between("", "a.", "a = 1"),
        "table of many parts": _between("[", "a.", "a]"),
        "list of many parts": _between("[[", "a.", "a]]"),
        "many parts in braces": _between("x = {", "a.", "a = 1}"),
        "most parts allowed": _rows("k#." + "a." * 14 + "a = 1\n", "", "[" + "h." * 15 + "h]\n"),
        "list of tables": _between("", "[[t]]\nx = 1\n", "x = 2\n"),
        "long list, key twice": _between("a = [\n", "1, # c\n", "]\nb = 1\nb = 2\n"),
        "long text, key twice": _between('a = """\n', "x\n", '"""\nb = 1\nb = 2\n'),
        "open text of escapes": _between('a = "', '\\"'),
        "long hexadecimal": _between("a = 0x", "f"),
        "deep list": _between("a = ", "["),
        "deep table": _between("a = ", "{a = "),
        "tables": _rows("[t#]\n"),
    },
    "yaml": {
        "honest": _rows("key #: value\n"),
        "base 60": _between("a: !!int 1", ":1"),
        "base 60, version 1.1": _between("%YAML 1.1\n---\na: 1", ":1"),
        "long hexadecimal": _between("a: 0x", "f"),
        "deep list": _between("a: ", "["),
        "deep block": _between("", "- "),
        "list on one line": _between("a: [", "1,", "1]"),
        "open text": _between('a: "', "x\n"),
        "aliases that double": _doubling("a0: &a0 [x]\n", "a#: &a# [*a@ , *a@ ]\n"),
        "merges": _doubling("a0: &a0 {x: 1}\n", "a#: &a# {<<: *a@ , k#: 1}\n"),
        "anchors": _rows("k#: &a# x\n"),
        "set": _rows("k#, ", "}", "a: !!set {"),
    },
    "csv": {
        "honest": _rows("key #,value\n"),
        "row of many lines": _between("a,", '"\n",', "\n"),
        "rows of two lines": _rows('key #,"\n"\n'),
        "open quote": _between('a,1\nb,"', "x\n"),
        "many columns": _between("key,value", ","),
        "blank lines": _between("", "\n", "a,1"),
        "carriage returns": _between("a,1", "\r"),
    },
    "parquet": {"honest": _rows("key\n"), "one text": _between("", "x")},
}


def reading(form: str, text: str, path: Path) -> Callable[[], str]:
    """Write a file, and return what reads it: it returns "read", or "refused" with its name."""
    if form == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({"c": text.splitlines()}), path)
    else:
        path.write_text(text, "utf-8", newline="")
    return partial(_outcome, path, _as_table if form == "parquet" else read_dict)


def _outcome(path: Path, reader: Callable[[Path], object]) -> str:
    """Read a file, which may be refused with its name."""
    try:
        reader(path)
    except FileFormatError as error:
        if not str(error).startswith(str(path)):
            raise
        return "refused"
    return "read"


def _as_table(path: Path) -> None:
    column = "query" if path.stem == "damaged" else "c"
    clean_column(FuzzyDict({"a": 1, "b": 2}), Source(path, column), path.with_suffix(".out"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure hostile files.")
    parser.add_argument("--bytes", type=int, default=250_000, help="of the smallest of three sizes")
    options = parser.parse_args()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for form, attacks in ATTACKS.items():
            for name, make in attacks.items():
                path, seconds = Path(folder) / f"file.{form}", list[float]()
                for times in (1, 2, 4):
                    read = reading(form, make(times * options.bytes), path)
                    seconds.append(min(timed(read, time.process_time) for _ in range(3)))
                growth = max(b / a for a, b in pairwise(max(one, _LEAST) for one in seconds))
                grows = f"{growth:.1f}" if max(seconds) > _LEAST else None
                rows.append([form, name, path.stat().st_size, f"{seconds[-1]:.2f}", grows, read()])
    header = ("format", "file", "bytes", "seconds", "grows by", "outcome")
    print_report("Hostile files, seconds of the processor", header, rows)


# ---- damaged files ------------------------------------------------------------------------

_TEXTS = {
    "json": ['{"a": {"b": [1, 2.5, null, "x\\u00e9"]}, "c": true}', '{"a": -1e5}', "[]"],
    "toml": [
        'a = 1\n[b]\nc = "x"\n[[d]]\ne = 2024-01-01\n"q w" = {x = 1, y = [1, 2]}\n',
        "a.b.c = 0x1F\nd = '''\nx'''\ne = \"\"\"\\\n y\"\"\"\nf = 1_0.5e-3\ng = 12:30:00.5\n",
    ],
    "yaml": [
        'a: 1\nb: &x {c: d}\ne:\n - *x\n? k\n: "v"\nf: |\n  text\n<<: *x\ng: !!float 1\n',
        "%YAML 1.2\n---\na: 0x1F\nb: 2024-01-01 12:30:00 +01:00\nc: !!set {a, b}\nd: >-\n x\n",
    ],
    "csv": ['key,value\na,b\n"c ""d""",e\n', 'query,target,n\na,b,"1, 2"\n"\'=c ""d""",,\n'],
    "tsv": ["a\tb\nc\td\n", "target\tquery\na\tb\n?\td\n"],
    "jsonl": [
        '{"key": "a", "value": 1}\n["b", 2]\n{"c": 3}\n',
        '{"query": "a", "target": ["b", "a"]}\n{"target": null, "query": "c"}\n',
    ],
}
_PARTS = {
    "json": ["NaN", "1e999", "9" * 5000, "[" * 2000, '"\\ud800"', "-", "\\u", "{", "}", "]", '"'],
    "toml": [
        *("0x" + "f" * 5000, "a." * 40, "[[", "]]", "'''", '"""', "\\", "{", "}", "nan", "99:99")
    ],
    "yaml": [
        *("!!int", "!!set", "!!omap", "!!binary", "!!timestamp", "!!merge", "%YAML 1.1\n---\n"),
        *("&x ", "*x ", "<<: ", "? ", "- ", "|\n", '"\\U00110000"', "0x" + "f" * 5000, "1:1:1"),
        *("[", "]", "{", "}", "---\n", "...\n", "\t", "%TAG ! x\n"),
    ],
    "csv": ['"', '""', ",", "\r", "\r\n", "\0", "query", "target", "'=1", "key", "x" * 140_000],
    "tsv": ['"', '""', "\t", "\r", "\r\n", "\0", "query", "target", "'=1", "x" * 140_000],
    "jsonl": ["NaN", "9" * 5000, "[" * 2000, '{"a": 1, "a": 2}', "null", "\n", "[]", '"target"'],
}
_SIGNS = "{}[]:,\"'\\\n\r\t &*!<>|-?%@#=.019eaxNO~\ufeff\0\x85\u2028é\U0001f44d"
#: Of damaged files.
FORMATS = (*_TEXTS, "parquet")


def damaged(form: str, chance: random.Random, folder: Path) -> str:
    """Damage a file of a format, and return whether some reader of the format reads it."""

    def as_dict(path: Path) -> None:
        assert all(type(key) is str for key in read_dict(path)), "keys are texts"

    path = folder / f"damaged.{form}"
    readers: list[Callable[[Path], object]] = [as_dict]
    if form == "parquet":
        path.write_bytes(_mutated_parquet(chance))
        readers = [_as_table]
    else:
        path.write_bytes(_mutated(form, chance))
    if form in ("csv", "tsv", "jsonl"):
        d = FuzzyDict({"a": 1, "b": 2})
        readers += [_as_table, read_examples, lambda path: DecidedFile(path, d)]
    found = [_outcome(path, reader) for reader in readers]  # each is tried
    return "read" if "read" in found else "refused"


def _mutated(form: str, chance: random.Random) -> bytes:
    """Return a text of which parts are cut, repeated, turned round or replaced."""
    text = chance.choice(_TEXTS[form])
    for _ in range(chance.choice([1, 1, 1, 1, 2, 3])):
        start, end = sorted(chance.choices(range(len(text) + 1), k=2))
        end = min(end, start + chance.choice([0, 1, 2, 12]))
        part = text[start:end]
        signs = [chance.choice(_SIGNS), chance.choice(_PARTS[form])]
        text = text[:start] + chance.choice(["", part * 2, part[::-1], *signs]) + text[end:]
    data = text.encode("utf-8")
    if chance.random() < 0.05:
        data = data[: chance.randrange(len(data) + 1)] + bytes([chance.randrange(128, 256)])
    return data


@cache
def _parquet_files() -> list[bytes]:
    """Return whole files of the same table, written in several ways."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {"query": ["a", "x", None, "b"] * 5, "n": list(range(20))}
    columns |= {"l": [[1, 2], [], None, [3]] * 5, "s": [{"a": 1, "b": "x"}] * 20}
    ways: list[dict[str, Any]] = [{}, {"compression": "zstd", "write_page_index": True}]
    ways += [{"compression": "gzip", "data_page_version": "2.0", "use_dictionary": False}]
    ways += [{"compression": "none", "row_group_size": 5, "store_schema": False}]
    files = []
    for options in ways:
        file = io.BytesIO()
        parquet.write_table(pa.table(columns), file, **options)
        files.append(file.getvalue())
    return files


def _mutated_parquet(chance: random.Random) -> bytes:
    data = bytearray(chance.choice(_parquet_files()))
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        inside = chance.random() < 0.7
        place = chance.randrange(footer, len(data)) if inside else chance.randrange(4, footer)
        flipped = data[place] ^ 1 << chance.randrange(8)
        data[place] = chance.choice([0, 1, 127, 128, 255, flipped, chance.randrange(256)])
    return bytes(data)


if __name__ == "__main__":
    main()
