"""Tables read and matched row by row: slow, and as obvious as can be."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fuzzydict import FuzzyDict
from fuzzydict.io.text_tables import as_cell, as_json, cell_text, csv_row
from fuzzydict.text.words import plain

__all__ = ["Row", "cleaned_by_rows", "csv_rows"]

MARK = "\ufeff"
BLANK = ("", "n/a", "na", "none", "null", "unknown", "-", "?")


class Row(NamedTuple):
    """A row of CSV: the number of its first line, its text, and its cells."""

    line: int
    raw: str
    cells: list[str]


def csv_rows(data: bytes, delimiter: str = ",") -> Iterator[Row]:
    """Yield the rows of a table, each read as one, line after line."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for number, line in enumerate(io.BytesIO(data)):
            taken.append(line.decode())
            yield taken[-1] if number else taken[-1].removeprefix(MARK)

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    first = 1
    for cells in reader:
        yield Row(first, "".join(taken), cells)
        first = reader.line_num + 1
        taken.clear()


def cleaned_by_rows(
    d: FuzzyDict[Any], data: bytes, column: str, form: str, sure: float = 0.8
) -> tuple[bytes, Counter[str]]:
    """Return a table with key, value and score beside each cell, and how many rows matched."""
    count, written = Counter[str](), []
    names = [f"{column}_{name}" for name in ("key", "value", "score")]

    def longer(raw: str, cells: Sequence[str]) -> str:
        row = raw.rstrip("\r\n")
        return f"{row},{csv_row(cells, ',')}{raw[len(row) :]}"

    if form == "csv":
        header, *rows = csv_rows(data)
        written.append(longer(header.raw, names))
        for row in rows:
            if row.cells:
                answer = _answer(d, row.cells[header.cells.index(column)], count, sure)
            written.append(longer(row.raw, list(map(as_cell, answer))) if row.cells else row.raw)
        return "".join(written).encode(), count
    for line in io.BytesIO(data):
        raw = line.decode()
        if raw.strip(f"\r\n{MARK} "):
            content = json.loads(raw.removeprefix(MARK))
            answer = _answer(d, cell_text(content.get(column)), count, sure)
            closed = raw.rindex("}")
            added = as_json(dict(zip(names, answer, strict=True)))[1:]
            raw = raw[:closed].rstrip() + (", " if content else "") + added + raw[closed + 1 :]
        written.append(raw)
    return "".join(written).encode(), count


def _answer(
    d: FuzzyDict[Any], cell: str | None, count: Counter[str], sure: float
) -> tuple[Any, Any, Any]:
    """Return what the dict answers to one cell alone."""
    if cell is None or cell.strip().casefold() in BLANK:
        count["blank"] += 1
        return None, None, None
    match = None
    if dict.__contains__(d, cell):
        match = d.nearest(cell)
    elif plain(cell):
        ((match,),) = d.most_similar([cell], 1)
    if match is None or not match.matches:
        count["unmatched"] += 1
        return None, None, None
    count["matched"] += 1
    count["doubtful"] += match.score < sure and match.key != cell
    return match.key, match.value, round(match.score, 4)
