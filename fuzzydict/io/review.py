"""The doubtful queries of a column, for a person to decide on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fuzzydict._files import replacing
from fuzzydict.errors import OptionError
from fuzzydict.io.records import (
    DELIMITERS,
    ROWS,
    as_cell,
    as_json,
    csv_row,
    encoded,
    format_by_ending,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Doubt", "Review", "check_new", "is_undecided", "undecided"]

_MARK = "?"  # of a target that nobody has decided on
_COLUMNS = ("query", "count", "key", "score", "target")
_CREATE = "CREATE TABLE doubt (query BLOB UNIQUE, count INTEGER, key BLOB, score REAL, target BLOB)"
_ADD = (
    "INSERT INTO doubt VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (query) DO UPDATE SET count = count + excluded.count"
)
_ORDERED = "SELECT * FROM doubt ORDER BY count DESC, rowid"


class Doubt(NamedTuple):
    """A query, how often it occurs, its best key if there is one, and the target to decide on."""

    query: str
    times: int
    key: str | None
    score: float | None
    target: str | None


class Review:
    """Counts doubtful queries in a database on the disk, and writes them to a table.

    The most frequent come first. A person then decides on the column ``target``: the right key,
    or nothing if none is right. After that `examples.read_examples` reads the table.
    """

    def __init__(self) -> None:
        import sqlite3

        # Without a name, SQLite makes a temporary file.
        self._counted = sqlite3.connect("", isolation_level=None)
        self._counted.execute("PRAGMA synchronous = OFF")
        self._counted.execute(_CREATE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._counted.close()

    def add(self, doubts: Iterable[Doubt]) -> None:
        """Count doubtful queries.

        Raises:
            OSError: the disk is full.
        """
        from sqlite3 import OperationalError

        rows = [[_as_bytes(part) for part in doubt] for doubt in doubts]
        try:
            self._counted.execute("BEGIN")
            self._counted.executemany(_ADD, rows)
            self._counted.execute("COMMIT")
        except OperationalError as error:
            raise OSError(f"the review cannot be kept in a temporary file: {error}") from error

    def save(self, path: Path) -> None:
        """Write the table, whole or not at all, as CSV, TSV or JSON Lines by its ending.

        Raises:
            OSError: it cannot be written.
            OptionError: the ending says another format, or none.
        """
        form = _format_of(path)
        with replacing(path) as file:
            if form != "jsonl":
                file.write(encoded(csv_row(_COLUMNS, DELIMITERS[form]) + "\n"))
            for row in self._counted.execute(_ORDERED):
                doubt = Doubt(*map(_as_text, row))
                if doubt.score is not None:
                    doubt = doubt._replace(score=round(doubt.score, 4))
                if form == "jsonl":
                    line = as_json(dict(zip(_COLUMNS, doubt, strict=True)))
                else:
                    line = csv_row(map(as_cell, doubt), DELIMITERS[form])
                file.write(encoded(line + "\n"))


def undecided(guess: str | None) -> str:
    """Return the target of a query for which nobody has said that the guess is right.

    >>> undecided("Germany"), undecided(None)
    ('? Germany', '?')
    """
    return _MARK if guess is None else f"{_MARK} {guess}"


def is_undecided(target: str) -> bool:
    """Return whether a target looks like one of `undecided`. A key may look so, too."""
    return target == _MARK or target.startswith(f"{_MARK} ")


def check_new(path: Path) -> None:
    """Check that a review can be written to ``path``, which must not exist.

    Raises:
        OptionError: it exists, or its ending says another format, or none.
    """
    _format_of(path)
    if path.exists():
        raise OptionError(
            f"{path} is there already, and may hold corrections; name another file for the review"
        )


def _format_of(path: Path) -> str:
    form = format_by_ending(path, ROWS)
    if form is None:
        raise OptionError(f"{path}: a review ends in .csv, .tsv or .jsonl, to be corrected by hand")
    return form


def _as_bytes(part: Any) -> Any:
    """Return text as bytes, for SQLite refuses lone surrogates in text."""
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


def _as_text(part: Any) -> Any:
    return part.decode("utf-8", "surrogatepass") if isinstance(part, bytes) else part
