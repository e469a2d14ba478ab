"""Tables that are uploaded to the page of ``fuzzydict explore``, and what their texts match."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzydict._files import decoded
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError, printable, quoted
from fuzzydict.io.columns import BlankCells
from fuzzydict.io.explore.answers import is_doubtful, key_text, shown
from fuzzydict.io.records import BLANK, BYTE_ORDER_MARK, Reading, json_records
from fuzzydict.io.tables import TABLES, check_unpacked, open_table, table_format
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from fuzzydict.io.tables import Table
    from fuzzydict.mapping import FuzzyDict
    from fuzzydict.results.answers import Match

_MOST_ROWS = 1_000_000
_MOST_BYTES = 2**27  # of a Parquet file, unpacked
_LONGEST = 131_072  # characters of a text, as in CSV
_MOST_TEXTS = 5_000  # different ones of a column
_BEST = 6  # keys of each: the best, and others to choose from
_TOGETHER = 256  # texts that are looked up at once
_TRIED = 10  # columns whose rows are counted
_INSTEAD = "match it with the command fuzzydict map"
_LINES = "text"  # the column of a file of lines


class Upload(BytesIO):
    """The bytes of a file that was uploaded.

    Args:
        name: of the file, whose ending tells the format.
        data: the bytes.

    Raises:
        OptionError: the ending is that of no table.
        FileFormatError: it is a Parquet file that takes too much memory, or is damaged.
    """

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        path = Path(name)
        self.name, self.is_lines = name, path.suffix.lower() == ".txt"
        self.format = table_format(path)
        if not (self.format or self.is_lines):
            raise OptionError(
                f"{name}: expected a file that ends in .txt or {', '.join(f'.{x}' for x in TABLES)}"
            )
        if self.format == "parquet":
            check_unpacked(self, name, _MOST_BYTES)

    def columns(self) -> list[str]:
        """Return the names of the columns; the lines of a .txt file are one."""
        if self.is_lines:
            return [_LINES]
        if self.format == "jsonl":
            return self._fields()
        with self._opened() as table:
            return list(filter(None, table.names or []))

    def _opened(self) -> AbstractContextManager[Table]:
        self.seek(0)
        return open_table(self, Reading(format=self.format, side=None))

    def _fields(self) -> list[str]:
        names = dict[str, None]()
        for record in json_records(self, self.name):
            if isinstance(record.content, dict):
                names.update(dict.fromkeys(record.content))
            elif record.content is not BLANK:
                raise FileFormatError(f"{self.name}: line {record.line} is no object")
        return list(names)

    def rows(self, columns: Sequence[str]) -> int:
        """Return how many rows there are, by the first of the columns that can be matched.

        Raises:
            OptionError: there are too many.
        """
        for column in columns[:_TRIED]:
            rows = 0
            try:
                for cells, counts in self._blocks(column):
                    rows += len(cells) if counts is None else sum(counts)
                    self._check_rows(rows)
            except FileFormatError as error:  # it may hold something else than texts
                problem = error
            else:
                return rows
        raise problem

    def _check_rows(self, rows: int) -> None:
        if rows > _MOST_ROWS:
            raise OptionError(f"{self.name}: has more than {_MOST_ROWS:,} rows; {_INSTEAD}")

    def count(self, column: str) -> Counter[str | None]:
        """Return how many rows have each text of a column; None stands for an empty cell.

        Raises:
            OptionError: there are too many rows, or too many different texts.
        """
        count: Counter[str | None] = Counter()
        for cells, rows in self._blocks(column):
            count.update(cells if rows is None else dict(zip(cells, rows, strict=True)))
            self._check_rows(count.total())
            if max(map(len, filter(None, cells)), default=0) > _LONGEST:
                raise OptionError(
                    f"{self.name}: has a text of more than {_LONGEST:,} characters in "
                    f"{quoted(column)}; {_INSTEAD}"
                )
            if len(count) > _MOST_TEXTS:
                raise OptionError(
                    f"{self.name}: has more than {_MOST_TEXTS:,} different texts in "
                    f"{quoted(column)}; {_INSTEAD}"
                )
        return count

    def _blocks(self, column: str) -> Iterator[tuple[Sequence[str | None], Sequence[int] | None]]:
        """Yield the cells of a column, some at a time, and how many rows have each if not one."""
        if self.is_lines:
            text = decoded(self.getvalue(), self.name).removeprefix(BYTE_ORDER_MARK)
            lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
            yield lines if text else [], None
            return
        with self._opened() as table:
            for block in table.blocks(column):
                yield block.cells, block.counts


# ---- what is answered -----------------------------------------------------------------------


def table(name: str, data: bytes) -> dict[str, Any]:
    """Return the names of the columns of a table, and how many rows it has.

    Raises:
        FileFormatError: it has none, or cannot be read.
        OptionError: its name ends as that of no table, or it has too many rows.
    """
    upload = Upload(name, data)
    with _notes() as notes:
        columns = upload.columns()
        if not columns:
            raise FileFormatError(f"{name}: has no columns")
        return {"columns": columns, "rows": upload.rows(columns), "notes": notes}


def column(
    d: FuzzyDict[Any],
    name: str,
    data: bytes,
    wanted: str | None,
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Return what matches the different texts of a column, the doubtful first, then the unmatched.

    Args:
        d: the dict.
        name: of the file.
        data: its bytes.
        wanted: the name of the column; it may be None for a file of lines.
        check: is called before some texts are matched, and may raise.

    Raises:
        FileFormatError: there is no such column, or the file cannot be read.
        OptionError: the name ends as that of no table, or there is too much in it.
    """
    check()
    upload = Upload(name, data)
    if wanted is None and not upload.is_lines:
        raise OptionError("column: expected the name of a column")
    with _notes() as notes:
        count, blank = upload.count(wanted or _LINES), BlankCells(d)
    texts = {
        text: rows
        for text, rows in count.items()
        if text is not None and (text in d.aliases or text not in blank)
    }
    cells = sorted(_cells(d, texts, check), key=_urgency)
    matched = sum(cell["count"] for cell in cells if cell["matches"])
    asked = sum(texts.values())
    return {
        "rows": count.total(),
        "matched": matched,
        "unmatched": asked - matched,
        "blank": count.total() - asked,
        "cells": cells,
        "notes": notes,
    }


@contextmanager
def _notes() -> Iterator[list[str]]:
    """Give a list, in which are in the end the warnings of how a file was read, each once.

    One thread at a time may do so.
    """
    notes = list[str]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes += dict.fromkeys(printable(str(one.message)) for one in caught)


def _cells(
    d: FuzzyDict[Any], texts: Mapping[str, int], check: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    """Yield what matches each text."""
    comparable = [text for text in texts if plain(text) or dict.__contains__(d, text)]
    found: dict[str, Sequence[Match]] = dict.fromkeys(texts, ())
    for start in range(0, len(comparable), _TOGETHER):
        check()
        some = comparable[start : start + _TOGETHER]
        try:
            found.update(zip(some, d.most_similar(some, topn=_BEST), strict=True))
        except NoMatchError:  # no key has letters or digits
            break
    for text, best in found.items():
        yield _cell(text, texts[text], best, is_taught=text in d.aliases)


def _cell(text: str, rows: int, best: Sequence[Match], *, is_taught: bool) -> dict[str, Any]:
    match = best[0] if best else None
    return {
        "query": text,
        "count": rows,
        "key": match and key_text(match.key),
        "value": match and shown(match.value),
        "score": match and match.score,
        "matches": match is not None and match.matches,
        "doubtful": match is not None and not is_taught and is_doubtful(match),
        "taught": is_taught,
        "others": [{"key": key_text(one.key), "score": one.score} for one in best[1:]],
    }


def _urgency(cell: dict[str, Any]) -> tuple[int, int]:
    """Return what cells are sorted by."""
    kind = 0 if cell["doubtful"] else 2 if cell["matches"] or cell["taught"] else 1
    return kind, -cell["count"]
