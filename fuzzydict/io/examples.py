"""Examples in files: queries, each with the key that it should find.

`Review` writes doubtful queries to a file. A person decides on each, and `read_examples` reads the
result, from which `FuzzyDict.fit` learns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fuzzydict._files import replacing
from fuzzydict.errors import FileFormatError, OptionError, quoted
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    as_cell,
    as_json,
    column_index,
    csv_row,
    csv_table,
    encoded,
    format_by_ending,
    json_records,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO


# ---- a review -----------------------------------------------------------------------------

_UNDECIDED = "?"  # begins a target that nobody has decided on
_COLUMNS = ("query", "count", "key", "score", "target")


class Doubt(NamedTuple):
    """A doubtful query, how often it occurs, its best key if any, and the target to decide on."""

    query: str
    times: int
    key: str | None
    score: float | None
    target: str | None


class Review:
    """Collects doubtful queries and writes them to a table, the most frequent first.

    A person then changes the column ``target`` to the right key, or to nothing if no key is right.
    The queries are counted in a temporary database on the disk, for a table may have any length.
    """

    def __init__(self) -> None:
        import sqlite3

        self._database = sqlite3.connect("", isolation_level=None)  # "" is a temporary file
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE doubt "
            "(query BLOB UNIQUE, count INTEGER, key BLOB, score REAL, target BLOB)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, doubts: Iterable[Doubt]) -> None:
        """Count doubtful queries.

        Raises:
            OSError: the disk is full.
        """
        from sqlite3 import OperationalError

        rows = [[_as_bytes(part) for part in doubt] for doubt in doubts]
        try:
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT INTO doubt VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (query) DO UPDATE SET count = count + excluded.count",
                rows,
            )
            self._database.execute("COMMIT")
        except OperationalError as error:
            raise OSError(f"the review cannot be kept in a temporary file: {error}") from error

    def save(self, path: Path) -> None:
        """Write the table as CSV, TSV or JSON Lines, as the file's ending says.

        Raises:
            OSError: the file cannot be written; then nothing is.
            OptionError: the ending names another format, or none.
        """
        form = _review_format(path)
        with replacing(path) as file:
            if form != "jsonl":
                file.write(encoded(csv_row(_COLUMNS, DELIMITERS[form]) + "\n"))
            for row in self._database.execute("SELECT * FROM doubt ORDER BY count DESC, rowid"):
                doubt = Doubt(*map(_as_text, row))
                if doubt.score is not None:
                    doubt = doubt._replace(score=round(doubt.score, 4))
                if form == "jsonl":
                    line = as_json(dict(zip(_COLUMNS, doubt, strict=True)))
                else:
                    line = csv_row(map(as_cell, doubt), DELIMITERS[form])
                file.write(encoded(line + "\n"))


def undecided(guess: str | None) -> str:
    """Return the target of a query for which nobody has confirmed the guess.

    >>> undecided("Germany"), undecided(None)
    ('? Germany', '?')
    """
    return _UNDECIDED if guess is None else f"{_UNDECIDED} {guess}"


def is_undecided(target: str) -> bool:
    """Return whether a target looks like one of `undecided`. A key may look so as well."""
    return target == _UNDECIDED or target.startswith(f"{_UNDECIDED} ")


def check_new_review(path: Path, table: object) -> None:
    """Check that a review can be written to ``path``, beside a table.

    Raises:
        OptionError: the file exists already or is the table, or its ending names another format,
            or none.
    """
    _review_format(path)
    if isinstance(table, Path) and path.resolve() == table.resolve():
        raise OptionError(f"{path} is the table to be written; name another file for the review")
    if path.exists():
        raise OptionError(
            f"{path} exists already and may hold corrections; name another file for the review"
        )


def _review_format(path: Path) -> str:
    form = format_by_ending(path, ROW_FORMATS)
    if form is None:
        raise OptionError(f"{path}: a review ends in .csv, .tsv or .jsonl, to be corrected by hand")
    return form


def _as_bytes(part: Any) -> Any:
    """Return text as bytes, for SQLite refuses lone surrogates in text."""
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


def _as_text(part: Any) -> Any:
    return part.decode("utf-8", "surrogatepass") if isinstance(part, bytes) else part


# ---- examples -----------------------------------------------------------------------------

Row = tuple[int, Any, Any]  # line number, query, target


def read_examples(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - the usual name
) -> list[tuple[str, str | None]]:
    """Return the examples in a file, such as a corrected review.

    Args:
        path: a table with the columns (in JSON Lines, the fields) ``query`` and ``target``; others
            are ignored. A blank target, or null, means that no key should match. A query with
            several right keys has a row for each; in JSON Lines they may be an array.
        format: "csv", "tsv" or "jsonl"; by default the file's ending says.

    Returns:
        Pairs of query and target in the order of the file; None means that no key should match.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: the file is not of its format, lacks a column, has a blank query, or has
            both a key and no key as targets of a query; the message names the lines.
        OptionError: the format is another one.
    """
    form = format or format_by_ending(path, ROW_FORMATS)
    if form not in ROW_FORMATS:
        raise OptionError(f"{path}: expected examples of format {', '.join(ROW_FORMATS)}; name it")
    with path.open("rb") as file:
        rows = _json_rows(file, path) if form == "jsonl" else _csv_rows(file, path, form)
        return _checked(path, rows)


def _csv_rows(file: BinaryIO, path: Path, form: str) -> Iterator[Row]:
    header, rows = csv_table(file, path, DELIMITERS[form])
    if header is None:
        raise FileFormatError(f"{path}: is empty; expected the columns query and target")
    query, target = (column_index(column, header, path) for column in ("query", "target"))
    yield from ((line, cells[query], cells[target]) for line, _, cells in rows if cells)


def _json_rows(file: BinaryIO, path: Path) -> Iterator[Row]:
    for line, _, content in json_records(file, path):
        if content is BLANK:
            continue
        if not isinstance(content, dict) or not {"query", "target"} <= content.keys():
            raise FileFormatError(
                f'{path}: line {line}: expected {{"query": ..., "target": ...}}, where null as '
                f"target says that no key should match"
            )
        query, target = content["query"], content["target"]
        if not isinstance(target, list):
            yield line, query, target
            continue
        if not all(isinstance(key, str) and key.strip() for key in target) or not target:
            raise FileFormatError(
                f"{path}: line {line}: expected the right keys as target, texts that are not "
                f"blank, or null if none is right"
            )
        yield from ((line, query, key) for key in target)


def _checked(path: Path, rows: Iterator[Row]) -> list[tuple[str, str | None]]:
    """Return the examples, unless a query has both a key and no key as targets."""
    examples: list[tuple[str, str | None]] = []
    first_targets: dict[str, tuple[int, str | None]] = {}
    for line, query, target in rows:
        place = f"{path}: line {line}"
        if not isinstance(query, str) or not isinstance(target, str | None):
            kind = JSON_TYPES[type(target if isinstance(query, str) else query)]
            raise FileFormatError(f"{place} has {kind} where a text is expected; put it in quotes")
        if not query.strip():
            raise FileFormatError(f"{place} has a blank query; fill it in, or remove the line")
        target = target if target and target.strip() else None
        first_line, first = first_targets.setdefault(query, (line, target))
        if (first is None) != (target is None):
            raise FileFormatError(
                f"{path}: the query {quoted(query)} has two targets, {quoted(first)} on line "
                f"{first_line} and {quoted(target)} on line {line}, where None says that no key "
                f"should match; keep one"
            )
        examples.append((query, target))
    return examples
