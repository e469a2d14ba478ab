"""A fuzz run of files: each is read, or refused with its name, and nothing else.

    python -m tests.benchmarks.fuzz_files [--seed 1] [--count 10000] [--format toml]...

``count`` files of each format are made: texts of which parts are cut, repeated, swapped or
replaced by what the format means something by, and Parquet of which bytes are changed, mostly in
its footer. Dicts are read; so are tables, examples and reviews. What raises anything but
`FileFormatError` ends the run, and names the seed and the number of the file.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fuzzydict import FileFormatError, FuzzyDict
from fuzzydict.io.columns import Source, clean_column
from fuzzydict.io.dict_files import read_dict
from fuzzydict.io.review import DecidedFile, read_examples

__all__ = ["FORMATS", "Report", "run"]

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
        *("0x" + "f" * 5000, "a." * 40, "[[", "]]", "'''", '"""', "\\", "{", "}", "nan", "99:99"),
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
FORMATS = (*_TEXTS, "parquet")


class Report(NamedTuple):
    """How many files of a format there were, and how many were read by some reader."""

    form: str
    files: int
    read: int


def run(form: str, seed: int, count: int, folder: Path) -> Report:
    """Read ``count`` files of a format; raise what was not expected."""
    path, found = folder / f"file.{form}", 0
    make = _parquet_maker() if form == "parquet" else partial(_mutated, form)
    readers = _readers(form, folder)
    for number in range(count):
        path.write_bytes(make(random.Random(f"{seed} {form} {number}")))
        try:
            found += any(list(map(partial(_is_read, path), readers)))
        except Exception as error:
            raise RuntimeError(f"seed {seed}, {form}, file {number}") from error
    return Report(form, count, found)


def _is_read(path: Path, reader: Callable[[Path], object]) -> bool:
    try:
        reader(path)
    except FileFormatError as error:
        if not str(error).startswith(str(path)):
            raise AssertionError(f"{error} does not name the file") from error
        return False
    return True


def _readers(form: str, folder: Path) -> list[Callable[[Path], object]]:
    d = FuzzyDict({"a": 1, "b": 2})

    def as_dict(path: Path) -> None:
        assert all(type(key) is str for key in read_dict(path)), "keys are texts"

    def as_table(path: Path) -> None:
        clean_column(d, Source(path, "query"), folder / "out")

    if form == "parquet":
        return [as_table]
    if form in ("json", "toml", "yaml"):
        return [as_dict]
    return [as_dict, as_table, read_examples, lambda path: DecidedFile(path, d)]


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


def _parquet_maker() -> Callable[[random.Random], bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {"query": ["a", "x", None, "b"] * 5, "n": list(range(20))}
    columns |= {"l": [[1, 2], [], None, [3]] * 5, "s": [{"a": 1, "b": "x"}] * 20}
    files = []
    for options in (
        {},
        {"compression": "zstd", "write_page_index": True},
        {"compression": "gzip", "data_page_version": "2.0", "use_dictionary": False},
        {"compression": "none", "row_group_size": 5, "store_schema": False},
    ):
        file = io.BytesIO()
        parquet.write_table(pa.table(columns), file, **options)
        files.append(file.getvalue())

    def make(chance: random.Random) -> bytes:
        data: Any = bytearray(chance.choice(files))
        footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            inside = chance.random() < 0.7
            place = chance.randrange(footer, len(data)) if inside else chance.randrange(4, footer)
            flipped = data[place] ^ 1 << chance.randrange(8)
            data[place] = chance.choice([0, 1, 127, 128, 255, flipped, chance.randrange(256)])
        return bytes(data)

    return make


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Read damaged files.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--format", choices=FORMATS, action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for form in options.format or FORMATS:
            print(f"seed {options.seed}, {run(form, options.seed, options.count, Path(folder))}")


if __name__ == "__main__":
    main()
