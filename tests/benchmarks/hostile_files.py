"""How long it takes to read hostile files: each attack at sizes that double, beside honest files.

    python -m tests.benchmarks.hostile_files [--format toml]... [--bytes 100000]

What is told is processor time, the fastest of three, and the most by which it grew when the size
doubled: 2 where the time is linear, 4 where it is the square. Short times are mostly noise.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from fuzzydict import FileFormatError, FuzzyDict
from fuzzydict.evaluation.evaluate import text_table
from fuzzydict.io.columns import Source, clean_column
from fuzzydict.io.dict_files import read_dict

__all__ = ["ATTACKS", "Measured", "measured"]

Maker = Callable[[int], str]  # from about how many characters to a text
_HEADER = ("format", "file", "bytes", "seconds", "grows by", "outcome")
_LEAST = 0.02  # seconds; what is shorter is noise


def _rows(row: str) -> Maker:
    """Return what repeats a row, in which # is its number."""
    return lambda size: "".join(row.replace("#", str(i)) for i in range(size // (len(row) + 4)))


def _between(begin: str, part: str, end: str = "") -> Maker:
    """Return what repeats a part between a beginning and an end."""
    return lambda size: begin + part * (size // len(part)) + end


def _merges(size: int) -> str:
    """Return mappings of which each takes in the one before."""
    rows = [f"a{i}: &a{i} {{<<: *a{i - 1} , k{i}: 1}}\n" for i in range(1, size // 36)]
    return "a0: &a0 {x: 1}\n" + "".join(rows)


def _aliases(size: int) -> str:
    """Return lists of which each holds the one before twice."""
    rows = [f"a{i}: &a{i} [*a{i - 1} , *a{i - 1} ]\n" for i in range(1, size // 30)]
    return "a0: &a0 [x]\n" + "".join(rows)


#: What is read, by format. Files that begin with "honest" are as people write them.
ATTACKS: Mapping[str, Mapping[str, Maker]] = {
    "json": {
        "honest": lambda size: "{" + _rows('"key #": "value",')(size) + '"last": 1}',
        "deep array": _between('{"a": ', "["),
        "deep object": _between("", '{"a": '),
        "long integer": _between('{"a": ', "9", "}"),
        "long fraction": _between('{"a": 0.', "9", "}"),
        "key twice": lambda size: "{" + _rows('"key #": 1,')(size) + '"key 0": 1}',
        "open text of escapes": _between('{"a": "', r"\n"),
    },
    "jsonl": {
        "honest": _rows('{"key #": "value"}\n'),
        "blank lines": _between("", "\n"),
        "deep array": _between("", "["),
        "key twice": lambda size: _rows('["key #", 1]\n')(size) + '["key 0", 1]',
    },
    "toml": {
        "honest": _rows('"key #" = "value"\n'),
        "key of many parts": _between("", "a.", "a = 1"),
        "table of many parts": _between("[", "a.", "a]"),
        "list of many parts": _between("[[", "a.", "a]]"),
        "many parts in braces": _between("x = {", "a.", "a = 1}"),
        "most parts allowed": lambda size: (
            "[" + "h." * 15 + "h]\n" + _rows("k#." + "a." * 14 + "a = 1\n")(size)
        ),
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
        "aliases that double": _aliases,
        "merges": _merges,
        "anchors": _rows("k#: &a# x\n"),
        "set": lambda size: "a: !!set {" + _rows("k#, ")(size) + "}",
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


class Measured(NamedTuple):
    """What a file took.

    Attributes:
        size: its bytes, for each size.
        seconds: of the processor, for each size.
        outcome: "read" or "refused", at the last size.
    """

    size: list[int]
    seconds: list[float]
    outcome: str

    @property
    def growth(self) -> float:
        """The most by which the time grew from one size to the next; noise is left out."""
        times = [max(one, _LEAST) for one in self.seconds]
        return max(after / before for before, after in pairwise(times))


def measured(form: str, make: Maker, sizes: list[int], folder: Path, runs: int = 3) -> Measured:
    """Return what files of these sizes take; each is read, or refused with its name."""
    path, result = folder / f"file.{form}", Measured([], [], "")
    for size in sizes:
        _write(path, form, make(size))
        took = []
        for _ in range(runs):
            began = time.process_time()
            result = result._replace(outcome=_read(path, form))
            took.append(time.process_time() - began)
        result.size.append(path.stat().st_size)
        result.seconds.append(min(took))
    return result


def _write(path: Path, form: str, text: str) -> None:
    if form != "parquet":
        path.write_text(text, "utf-8", newline="")
        return
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"c": text.splitlines()}), path)


def _read(path: Path, form: str) -> str:
    try:
        if form == "parquet":
            clean_column(FuzzyDict({"key": 1}), Source(path, "c"), path.with_suffix(".out"))
        else:
            read_dict(path)
    except FileFormatError as error:
        if not str(error).startswith(str(path)):
            raise
        return "refused"
    return "read"


def _table(forms: list[str], size: int) -> Iterator[list[object]]:
    with tempfile.TemporaryDirectory() as folder:
        for form in forms:
            for name, make in ATTACKS[form].items():
                found = measured(form, make, [size, 2 * size, 4 * size], Path(folder))
                seconds = f"{found.seconds[-1]:.2f}"
                growth = f"{found.growth:.1f}" if max(found.seconds) > _LEAST else None
                yield [form, name, found.size[-1], seconds, growth, found.outcome]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure hostile files.")
    parser.add_argument("--format", choices=ATTACKS, action="append")
    parser.add_argument("--bytes", type=int, default=250_000, help="of the smallest of three sizes")
    options = parser.parse_args()
    rows = list(_table(options.format or list(ATTACKS), options.bytes))
    print(text_table(_HEADER, rows, names=2))


if __name__ == "__main__":
    main()
