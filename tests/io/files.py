"""Tables of any format, written, read, mapped and joined in one line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import strategies as st

from fuzzydict.io.columns import Cleaned, Deciding, Source, clean_column, join_tables
from fuzzydict.io.tables import open_table
from fuzzydict.io.text_tables import Reading, as_python

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS
FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx")


class Trickle(io.RawIOBase):
    """A stream that cannot be read again, of which a few bytes come at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data, self._size = io.BytesIO(data), size

    def read(self, size: int = -1) -> bytes:
        assert size != 0
        return self._data.read(min(self._size, size))


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file as it is."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow, and its part for Parquet."""
    why = "Parquet needs the extra 'parquet'"
    return tuple(pytest.importorskip(name, reason=why) for name in ("pyarrow", "pyarrow.parquet"))


def workbooks() -> Any:
    """Return openpyxl."""
    return pytest.importorskip("openpyxl", reason="workbooks need the extra 'excel'")


def write(path: Path, names: list[str], rows: list[tuple[Any, ...]]) -> Path:
    """Write a table in the format that the file's ending says."""
    match path.suffix:
        case ".csv" | ".tsv":
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t").writerows(
                    [names, *rows]
                )
        case ".jsonl":
            lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
            path.write_text("".join(f"{line}\n" for line in lines))
        case ".parquet":
            arrow, parquet = pyarrow()
            columns = zip(*rows, strict=True) if rows else ([] for _ in names)
            table = dict(zip(names, map(list, columns), strict=True))
            parquet.write_table(arrow.table(table), path)
        case ".xlsx":
            book = workbooks().Workbook()
            for row in [names, *rows]:
                book.active.append(row)
            book.save(path)
    return path


def read(path: Path, column: str = "country") -> list[list[Any]]:
    """Return the names and the rows of a table that has this column."""
    with open_table(path) as table:
        contents = table.contents(column)
    return [contents.names, *([*map(as_python, row)] for row in contents.rows)]


def clean(d: Any, table: Any, column: str, output: Path | BinaryIO, **options: Any) -> Cleaned:
    """Call `clean_column` with the fields of its arguments as options."""
    reading = Reading(**_taken(options, Reading._fields))
    deciding = Deciding(**_taken(options, Deciding._fields))
    return clean_column(d, Source(table, column, reading), output, deciding=deciding, **options)


def join(
    left: Path, right: Path, output: Path | BinaryIO, on: str = "country", **options: Any
) -> Cleaned:
    """Call `join_tables` with a column that both tables have."""
    return join_tables(Source(left, on), Source(right, on), output, **options)


def _taken(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: options.pop(name) for name in names if name in options}
