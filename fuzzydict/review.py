"""What a person should look at after a column was matched: each doubtful query, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fuzzydict.atomic import replacing
from fuzzydict.errors import OptionError
from fuzzydict.lines import as_json
from fuzzydict.records import DELIMITERS, csv_row
from fuzzydict.tables import table_format

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Doubt", "Review", "is_undecided", "review_format", "undecided"]

_MARK = "?"  # of a target that nobody has decided on
_COLUMNS = ("query", "count", "key", "score", "target")
_CREATE = "CREATE TABLE doubt (query BLOB UNIQUE, count INTEGER, key BLOB, score REAL, target BLOB)"
_ADD = (
    "INSERT INTO doubt VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (query) DO UPDATE SET count = count + excluded.count"
)
_ORDERED = "SELECT * FROM doubt ORDER BY count DESC, rowid"


class Doubt(NamedTuple):
    """A query, how often it was asked, its best key if any, and the target to decide on."""

    query: str
    times: int
    key: str | None
    score: float | None
    target: str | None


class Review:
    """Doubtful queries, counted on the disk, however many they are; close it in the end.

    `save` writes them to a table, those asked most often first, which `read_examples` reads once
    a person has decided on its column ``target``: the right key, or nothing where none is right.
    """

    def __init__(self) -> None:
        import sqlite3

        # Without a name it is a file of its own for as long as it is open.
        self._counted = sqlite3.connect("", isolation_level=None)
        self._counted.execute("PRAGMA synchronous = OFF")
        self._counted.execute(_CREATE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._counted.close()

    def add(self, doubts: Iterable[Doubt]) -> None:
        """Note doubtful queries; one that was noted before is counted."""
        rows = [[_as_bytes(part) for part in doubt] for doubt in doubts]
        self._counted.execute("BEGIN")
        self._counted.executemany(_ADD, rows)
        self._counted.execute("COMMIT")

    def save(self, path: Path) -> None:
        """Write the table, whole or not at all: CSV, TSV or JSON Lines, as its ending tells.

        Raises:
            OSError: it cannot be written.
            OptionError: the ending tells another format, or none.
        """
        form = review_format(path)
        with replacing(path) as file:
            if form != "jsonl":
                file.write(_encoded(csv_row(_COLUMNS, DELIMITERS[form])))
            for row in self._counted.execute(_ORDERED):
                doubt = Doubt(*map(_as_text, row))
                if doubt.score is not None:
                    doubt = doubt._replace(score=round(doubt.score, 4))
                if form == "jsonl":
                    file.write(_encoded(as_json(dict(zip(_COLUMNS, doubt, strict=True)))))
                else:
                    cells = ("" if cell is None else cell for cell in doubt)
                    file.write(_encoded(csv_row(cells, DELIMITERS[form])))


def undecided(guess: str | None) -> str:
    """Return the target of a query for which nobody has said that the guess is right.

    >>> undecided("Germany"), undecided(None)
    ('? Germany', '?')
    """
    return _MARK if guess is None else f"{_MARK} {guess}"


def is_undecided(target: str) -> bool:
    """Tell whether a target is one that `undecided` made, unless it is a key that looks so."""
    return target == _MARK or target.startswith(f"{_MARK} ")


def review_format(path: Path) -> str:
    """Return the format of a review, which its ending tells.

    Raises:
        OptionError: it tells another format, or none.
    """
    form = table_format(path)
    if form is None or form == "parquet":
        raise OptionError(f"{path}: a review ends in .csv, .tsv or .jsonl, to be corrected by hand")
    return form


def _as_bytes(part: Any) -> Any:
    """Return a text as bytes, for half a surrogate pair is none to the database."""
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


def _as_text(part: Any) -> Any:
    return part.decode("utf-8", "surrogatepass") if isinstance(part, bytes) else part


def _encoded(line: str) -> bytes:
    return f"{line}\n".encode("utf-8", "backslashreplace")
