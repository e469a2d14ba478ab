"""Tables read and matched row by row: slow, and as obvious as can be."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fuzzydict import FuzzyDict
from fuzzydict.io.records import as_cell, as_json, cell_text, csv_row
from fuzzydict.text.words import plain

__all__ = ["Row", "cleaned_by_rows", "csv_rows"]

ADDED = ("key", "value", "score")
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
    return (_csv if form == "csv" else _jsonl)(d, data, column, sure)


def _csv(d: FuzzyDict[Any], data: bytes, column: str, sure: float) -> tuple[bytes, Counter[str]]:
    count: Counter[str] = Counter()
    header, *rows = csv_rows(data)
    written = [_longer(header.raw, [f"{column}_{name}" for name in ADDED])]
    for row in rows:
        if row.cells:
            answer = _answer(d, row.cells[header.cells.index(column)], count, sure)
            written.append(_longer(row.raw, list(map(as_cell, answer))))
        else:
            written.append(row.raw)
    return "".join(written).encode(), count


def _longer(raw: str, cells: Sequence[str]) -> str:
    row = raw.rstrip("\r\n")
    return f"{row},{csv_row(cells, ',')}{raw[len(row) :]}"


def _jsonl(d: FuzzyDict[Any], data: bytes, column: str, sure: float) -> tuple[bytes, Counter[str]]:
    count: Counter[str] = Counter()
    written = []
    for line in io.BytesIO(data):
        raw = line.decode()
        if not raw.strip(f"\r\n{MARK} "):
            written.append(raw)
            continue
        content = json.loads(raw.removeprefix(MARK))
        cell = content.get(column)
        text = cell_text(cell)
        answer = dict(
            zip((f"{column}_{name}" for name in ADDED), _answer(d, text, count, sure), strict=True)
        )
        closed = raw.rindex("}")
        kept = raw[:closed].rstrip() + (", " if content else "")
        written.append(kept + as_json(answer)[1:] + raw[closed + 1 :])
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
