"""Tables that are uploaded to the page of ``fuzzydict explore``, and what their texts match."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzydict._arrays import slices
from fuzzydict._files import decoded
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError, printable, quoted
from fuzzydict.io.columns import BlankCells
from fuzzydict.io.explore.answers import is_doubtful, key_text
from fuzzydict.io.records import BLANK, BYTE_ORDER_MARK, Reading
from fuzzydict.io.tables import TABLES, check_unpacked, open_table, table_format
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fuzzydict.mapping import FuzzyDict
    from fuzzydict.results.answers import Match

_MOST_ROWS = 1_000_000
_MOST_BYTES = 2**27  # of a Parquet file, unpacked
_LONGEST = 131_072  # characters of a text, as in CSV
_MOST_TEXTS = 5_000  # different ones of a column
_BEST = 6  # keys of each: the best, and others to choose from
_TOGETHER = 256  # texts that are looked up at once
_TRIED = 10  # columns whose rows are counted
_LINES = "text"  # the column of a file of lines


class Upload(BytesIO):
    """The bytes of a file that was uploaded, and whose name tells the format."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        path = Path(name)
        self.name, self.is_lines = name, path.suffix.lower() == ".txt"
        self._reading = Reading(format=table_format(path), side=None)
        if not (self._reading.format or self.is_lines):
            endings = ", ".join(f".{form}" for form in TABLES)
            raise OptionError(f"{name}: expected a file that ends in .txt or {endings}")
        if self._reading.format == "parquet":
            check_unpacked(self, name, _MOST_BYTES)

    def columns(self) -> list[str]:
        """Return the names of the columns; the lines of a .txt file are one."""
        if self.is_lines:
            return [_LINES]
        self.seek(0)
        with open_table(self, self._reading) as table:
            if self._reading.format != "jsonl":
                return list(filter(None, table.names))
            names = dict[str, None]()
            for record in table.records():
                if isinstance(record.content, dict):
                    names.update(dict.fromkeys(record.content))
                elif record.content is not BLANK:
                    raise FileFormatError(f"{self.name}: line {record.line} is no object")
            return list(names)

    def rows(self, columns: Sequence[str]) -> int:
        """Return how many rows there are, by the first of the columns that can be matched."""
        for column in columns[:_TRIED]:
            try:
                return sum(rows for _, rows in self._cells(column))
            except FileFormatError as error:  # it may hold something else than texts
                problem = error
        raise problem

    def count(self, column: str) -> Counter[str | None]:
        """Return how many rows have each text of a column; None stands for an empty cell."""
        count: Counter[str | None] = Counter()
        for cell, rows in self._cells(column):
            count[cell] += rows
            if len(count) > _MOST_TEXTS:
                raise self._too_much(f"more than {_MOST_TEXTS:,} different texts", column)
            if cell is not None and len(cell) > _LONGEST:
                raise self._too_much(f"a text of more than {_LONGEST:,} characters", column)
        return count

    def _cells(self, column: str) -> Iterator[tuple[str | None, int]]:
        """Yield the cells of a column, each with how many rows have it."""
        total = 0
        for cells, counts in self._blocks(column):
            for cell, rows in zip(cells, counts or repeat(1, len(cells)), strict=True):
                total += rows
                if total > _MOST_ROWS:
                    raise self._too_much(f"more than {_MOST_ROWS:,} rows")
                yield cell, rows

    def _blocks(self, column: str) -> Iterator[tuple[Sequence[str | None], Sequence[int] | None]]:
        """Yield cells in blocks, with how many rows have each, if it is not one."""
        if self.is_lines:
            text = decoded(self.getvalue(), self.name).removeprefix(BYTE_ORDER_MARK)
            lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
            yield lines if text else [], None
            return
        if not column:
            raise OptionError("column: expected the name of a column")
        self.seek(0)
        with open_table(self, self._reading) as table:
            for block in table.blocks(column):
                yield block.cells, block.counts

    def _too_much(self, what: str, column: str | None = None) -> OptionError:
        where = "" if column is None else f" in {quoted(column)}"
        return OptionError(
            f"{self.name}: has {what}{where}; match it with the command fuzzydict map"
        )


# ---- what is answered -----------------------------------------------------------------------


def table(data: bytes, check: Callable[[], None], name: str) -> dict[str, Any]:
    """Return the names of the columns of a table, and how many rows it has; see `column`."""
    check()
    upload = Upload(name, data)
    with _notes() as notes:
        columns = upload.columns()
        if not columns:
            raise FileFormatError(f"{name}: has no columns")
        rows = upload.rows(columns)
    return {"columns": columns, "rows": rows, "notes": notes}


def column(
    d: FuzzyDict[Any], data: bytes, check: Callable[[], None], name: str, column: str
) -> dict[str, Any]:
    """Return what matches the different texts of a column, the doubtful first, then the unmatched.

    ``check`` is called before some texts are matched, and may raise.
    """
    upload = Upload(name, data)
    with _notes() as notes:
        count, blank = upload.count(column), BlankCells(d)
    texts = [t for t in count if t is not None and (t in d.aliases or t not in blank)]
    best, cells = _best(d, texts, check), []
    for text in texts:
        matches, taught = bool(best[text]) and best[text][0].matches, text in d.aliases
        cell = {
            "query": text,
            "count": count[text],
            "keys": [{"key": key_text(one.key), "score": one.score} for one in best[text]],
            "matches": matches,
            "doubtful": matches and not taught and is_doubtful(best[text][0]),
            "taught": taught,
        }
        urgency = 0 if cell["doubtful"] else 2 if matches or taught else 1
        cells.append((urgency, -count[text], cell))
    matched = sum(count[text] for text in texts if best[text] and best[text][0].matches)
    asked = sum(count[text] for text in texts)
    return {
        "rows": count.total(),
        "matched": matched,
        "unmatched": asked - matched,
        "blank": count.total() - asked,
        "cells": [cell for *_, cell in sorted(cells, key=lambda one: one[:2])],
        "notes": notes,
    }


@contextmanager
def _notes() -> Iterator[list[str]]:
    """Give a list that gets the warnings of how a file was read, each once; one thread may."""
    notes = list[str]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes += dict.fromkeys(printable(str(one.message)) for one in caught)


def _best(
    d: FuzzyDict[Any], texts: Sequence[str], check: Callable[[], None]
) -> dict[str, Sequence[Match]]:
    """Return the best matches of each text; none of one that cannot be compared."""
    found: dict[str, Sequence[Match]] = dict.fromkeys(texts, ())
    comparable = [text for text in texts if plain(text) or dict.__contains__(d, text)]
    for block in slices(len(comparable), _TOGETHER):
        check()
        some = comparable[block]
        try:
            found.update(zip(some, d.most_similar(some, topn=_BEST), strict=True))
        except NoMatchError:  # no key has letters or digits
            break
    return found
