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
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    """The bytes of a file that was uploaded, and whose name tells the format.

    Raises:
        OptionError: its name ends as that of no table, or there is too much in it.
        FileFormatError: it is damaged, or a Parquet file that takes too much memory.
    """

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        path = Path(name)
        self.name, self.is_lines = name, path.suffix.lower() == ".txt"
        self.format = table_format(path)
        if not (self.format or self.is_lines):
            endings = ", ".join(f".{form}" for form in TABLES)
            raise OptionError(f"{name}: expected a file that ends in .txt or {endings}")
        if self.format == "parquet":
            check_unpacked(self, name, _MOST_BYTES)

    def columns(self) -> list[str]:
        """Return the names of the columns; the lines of a .txt file are one."""
        if self.is_lines:
            return [_LINES]
        self.seek(0)
        with open_table(self, Reading(format=self.format, side=None)) as table:
            if self.format != "jsonl":
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
        for cells, counts in self._lines() if self.is_lines else self._table_cells(column):
            for cell, rows in zip(cells, counts or repeat(1, len(cells)), strict=True):
                total += rows
                if total > _MOST_ROWS:
                    raise self._too_much(f"more than {_MOST_ROWS:,} rows")
                yield cell, rows

    def _lines(self) -> Iterator[tuple[Sequence[str | None], Sequence[int] | None]]:
        text = decoded(self.getvalue(), self.name).removeprefix(BYTE_ORDER_MARK)
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        yield lines if text else [], None

    def _table_cells(
        self, column: str
    ) -> Iterator[tuple[Sequence[str | None], Sequence[int] | None]]:
        if not column:
            raise OptionError("column: expected the name of a column")
        self.seek(0)
        with open_table(self, Reading(format=self.format, side=None)) as table:
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

    Args:
        d: the dict.
        data: the bytes of a file.
        check: is called before some texts are matched, and may raise.
        name: of the file.
        column: the name of the column; of a file of lines, "" will do.

    Raises:
        FileFormatError, OptionError: there is no such column; and as for an `Upload`.
    """
    upload = Upload(name, data)
    with _notes() as notes:
        count, blank = upload.count(column), BlankCells(d)
    texts = {
        text: rows
        for text, rows in count.items()
        if text is not None and (text in d.aliases or text not in blank)
    }
    matches = _best(d, texts, check)
    cells = [_cell(text, rows, matches[text], text in d.aliases) for text, rows in texts.items()]
    matched = sum(cell["count"] for cell in cells if cell["matches"])
    asked = sum(texts.values())
    return {
        "rows": count.total(),
        "matched": matched,
        "unmatched": asked - matched,
        "blank": count.total() - asked,
        "cells": sorted(cells, key=_urgency),
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
    d: FuzzyDict[Any], texts: Mapping[str, int], check: Callable[[], None]
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


def _cell(text: str, rows: int, best: Sequence[Match], is_taught: bool) -> dict[str, Any]:
    keys = [{"key": key_text(one.key), "score": one.score} for one in best]
    matches = bool(best) and best[0].matches
    return {
        "query": text,
        "count": rows,
        "keys": keys,
        "matches": matches,
        "doubtful": matches and not is_taught and is_doubtful(best[0]),
        "taught": is_taught,
    }


def _urgency(cell: dict[str, Any]) -> tuple[int, int]:
    """Return what cells are sorted by: first what is doubtful, then what matches nothing."""
    kind = 0 if cell["doubtful"] else 2 if cell["matches"] or cell["taught"] else 1
    return kind, -cell["count"]
