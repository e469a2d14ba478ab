"""Reviews: the doubtful queries of a table in a file, and what a person decided on them.

A review is a table of examples (`io.examples`). A row is undecided while its target begins with a
question mark; otherwise its target is the right key, or blank if no key is right.

It is opened in spreadsheets, and its texts are from strangers: in CSV and TSV, one that begins as a
formula gets a quote in front, which is taken away when the file is read.
"""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from fuzzydict._files import bytes_of, replacing
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError, quoted
from fuzzydict.io.dialect import Dialect
from fuzzydict.io.examples import REVIEW_COLUMNS, is_undecided, read_table
from fuzzydict.io.records import (
    BYTE_ORDER_MARK,
    DELIMITERS,
    ROW_FORMATS,
    as_cell,
    as_json,
    csv_row,
    format_by_ending,
    without_formula,
)
from fuzzydict.text.words import same_text

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping
    from pathlib import Path

    from fuzzydict.io.examples import Row


class MatchedKeys(Protocol):
    """What a column is matched with: a `FuzzyDict`, or the keys in a store, a `RemoteDict`."""

    @property
    def aliases(self) -> Mapping[str, Any]:
        """What was taught: texts, and the key of each, or None."""

    def __contains__(self, key: object, /) -> bool:
        """Tell whether there is an equal key."""

    def nearest(self, query: Any, /) -> Any:
        """Return the `Match` of a query, or of each of a list."""

    def most_similar(self, query: Any, /, topn: int | None) -> Any:
        """Return the best matches of each of a list of queries, whatever their scores."""


# ---- what was decided ---------------------------------------------------------------------


class Decision(NamedTuple):
    """The key that a person chose for a text, or None for no key; and the row that says so."""

    text: str
    key: str | None
    place: str


class DecidedFile:
    """A review as it stands in its file, checked against the dict that it is about.

    Args:
        path: a CSV, TSV or JSON Lines file, as `read_examples` takes it.
        d: the dict.

    Attributes:
        path: the file.
        data: its bytes.
        columns: the names of the columns; none in JSON Lines.
        dialect: how CSV or TSV is written.
        decisions: what the decided rows say.
        undecided: the texts that no row decides on.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: the file is no review; or a target is no key of the dict, or another key
            than its text, which is a key itself.
        OptionError: the ending names another format.
    """

    def __init__(self, path: Path, d: MatchedKeys) -> None:
        check_ending(path)
        self.path, self.data = path, bytes_of(path)
        self._table = read_table(self.data, path)
        self.dialect = self._table.dialect
        self.columns = tuple(self._table.header.content) if self._table.header else ()
        self.decisions: list[Decision] = []
        self._own: set[str] = set()  # queries that are keys
        self._undecided: dict[int, str] = {}  # line numbers and texts
        impossible = []
        for row in self._table.rows():
            decision = _decision(row, path, d)
            if row.query in d:
                self._own.add(row.query)
            if decision is None:
                self._undecided[row.line] = same_text(row.query)
            elif _is_possible(decision, d):
                self.decisions.append(decision)
            else:
                impossible.append(row)
        if impossible:
            raise _impossible(impossible, path, d)
        decided = {same_text(decision.text) for decision in self.decisions}
        self.undecided = set(self._undecided.values()) - decided

    def without(self, texts: Container[str]) -> Iterator[str]:
        """Yield the file's lines but for those that ask about these texts, or decided ones."""
        if self._table.header is not None:
            yield self._table.header.raw
        for line, rows in self._table.lines:
            asked = [self._undecided[row.line] for row in rows if row.line in self._undecided]
            if all(text in self.undecided and text not in texts for text in asked):
                yield line

    def decided_as(self, keys: Mapping[str, str | None], texts: set[str]) -> Iterator[str]:
        """Yield the file's lines, those on some texts with the keys of these as targets.

        Args:
            keys: of each text.
            texts: those that have a line are added to it.
        """
        if self._table.header is not None:
            yield self._table.header.raw
        for line, rows in self._table.lines:
            asked = {same_text(row.query): row.query for row in rows}
            if asked.keys().isdisjoint(keys):
                yield line
                continue
            ((text, query),) = asked.items()  # a line has one query
            if query not in self._own:  # a key finds itself: its line would contradict the others
                texts.add(text)
                yield self._with_target(line, keys[text])

    def _with_target(self, line: str, key: str | None) -> str:
        """Return a line with another target, and all else as it is."""
        end = line[len(line.rstrip("\r\n")) :]
        if not self.columns:
            return as_json(json.loads(line.removeprefix(BYTE_ORDER_MARK)) | {"target": key}) + end
        delimiter = self.dialect.delimiter
        cells = next(csv.reader(StringIO(line, newline=""), delimiter=delimiter, strict=True))
        cells += [""] * (len(self.columns) - len(cells))
        cells[self.columns.index("target")] = _target_cell(key, self.columns)
        return csv_row(cells, delimiter) + end


def _decision(row: Row, path: Path, d: MatchedKeys) -> Decision | None:
    """Return what a row decides, or None if it is undecided."""
    target = row.target
    if target is not None and target not in d:
        if row.written in d:  # a key that begins with a quote
            return Decision(row.query, row.written, f"{path}: line {row.line}")
        target = target.strip()
        if is_undecided(target) and target not in d:
            return None
    return Decision(row.query, target, f"{path}: line {row.line}")


def _is_possible(decision: Decision, d: MatchedKeys) -> bool:
    if decision.text in d:  # an equal key is always found
        return decision.key == decision.text
    return decision.key is None or decision.key in d


def _impossible(rows: list[Row], path: Path, d: MatchedKeys) -> FileFormatError:
    """Return the error for the first of some rows, whose targets no decision can have."""
    first = rows[0]
    place, target = f"{path}: line {first.line}", _told(first.target)
    if first.query in d:
        return FileFormatError(
            f"{place}: {quoted(first.query)} is a key of the dict and always finds itself; its "
            f"target cannot be {target}: remove the row"
        )
    others = sum(row.query not in d for row in rows[1:])
    more = f"; {others} more targets are none: is the file about another dict?" if others else ""
    return FileFormatError(
        f"{place}: {target}, the target of {quoted(first.query)}, is not a key of the dict"
        f"{_suggestion(first.target, d)}; write one of its keys, or nothing if none is right{more}"
    )


def _suggestion(target: str | None, d: MatchedKeys) -> str:
    try:
        return f" (its nearest key is {quoted(d.nearest(target).key)})"
    except NoMatchError:
        return ""


class Decided:
    """The key of each text that somebody decided on, or None for no key.

    Args:
        d: the dict, whose aliases are decisions, too; those of files go first.
        paths: reviews to read.

    Attributes:
        files: the reviews by their paths.

    Raises:
        FileFormatError: as for a `DecidedFile`; or two rows decide differently on one text.
    """

    def __init__(self, d: MatchedKeys, paths: Iterable[Path]) -> None:
        self.files = {path: DecidedFile(path, d) for path in paths}
        first: dict[str, Decision] = {}
        for decision in (one for file in self.files.values() for one in file.decisions):
            before = first.setdefault(same_text(decision.text), decision)
            if before.key != decision.key:
                raise FileFormatError(
                    f"{decision.place}: the target of {quoted(decision.text)} is "
                    f"{_told(decision.key)}, and at {before.place} that of {quoted(before.text)} "
                    f"is {_told(before.key)}; these are one text, for case, accents and "
                    f"punctuation make no difference: keep one row"
                )
        self._keys: dict[str, str | None] = {
            **{same_text(alias): key for alias, key in d.aliases.items()},
            **{text: decision.key for text, decision in first.items()},
        }

    def __contains__(self, text: str) -> bool:
        return bool(self._keys) and same_text(text) in self._keys

    def __getitem__(self, text: str) -> str | None:
        return self._keys[same_text(text)]


def _told(key: str | None) -> str:
    return "blank" if key is None else quoted(key)


# ---- what is to be decided ------------------------------------------------------------------


class Doubt(NamedTuple):
    """A doubtful query, how often it occurs, its best key if any, and the target to decide on.

    Of one that is decided, only the query and the target are known.
    """

    query: str
    times: int | None
    key: str | None
    score: float | None
    target: str | None

    def seen(self, times: int) -> Doubt:
        """Return the doubt of a query that occurs so often."""
        return self._replace(times=times)

    def shown(self) -> Doubt:
        """Return the doubt with its score as a person reads it."""
        return self._replace(score=None if self.score is None else round(self.score, 4))


class Review:
    """Collects doubtful queries and writes them to a file, the most frequent first.

    Each text is asked once, as it was first written. A file that exists keeps its decided rows as
    they are, and its undecided rows whose texts did not come up again.

    The queries are counted in a temporary database on the disk, for a table may have any length.

    Args:
        path: the file, which ends in .csv, .tsv or .jsonl.
        decided: what is decided, with the file as it is, if it exists.
    """

    def __init__(self, path: Path, decided: Decided) -> None:
        import sqlite3

        self._path, self._form = path, check_ending(path)
        self._before = decided.files.get(path)
        self._seen: set[str] = set()  # texts of undecided rows that came up again
        self._is_saved = False
        self._database = sqlite3.connect("", isolation_level=None)  # "" is a temporary file
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE doubt "
            "(text BLOB UNIQUE, query BLOB, count INTEGER, key BLOB, score REAL, target BLOB)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def saw(self, queries: Iterable[str]) -> None:
        """Note which queries came up: their undecided rows are written again or not at all."""
        if self._before and self._before.undecided:
            self._seen.update(map(same_text, queries))
            self._seen &= self._before.undecided

    def add(self, doubts: Iterable[Doubt]) -> None:
        """Count doubtful queries.

        Raises:
            OSError: the disk is full.
        """
        from sqlite3 import OperationalError

        rows = [[_as_bytes(part) for part in (same_text(doubt.query), *doubt)] for doubt in doubts]
        try:
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT INTO doubt VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (text) DO UPDATE SET count = count + excluded.count",
                rows,
            )
            self._database.execute("COMMIT")
        except OperationalError as error:
            raise OSError(f"the review cannot be kept in a temporary file: {error}") from error

    def undecided(self) -> int:
        """Return how many texts the file leaves to decide on."""
        (new,) = self._database.execute("SELECT COUNT(*) FROM doubt").fetchone()
        kept = self._before.undecided - self._seen if self._before else ()
        return int(new) + len(kept)

    def save(self) -> None:
        """Write the file, unless it would stay as it is.

        Raises:
            OSError: the file cannot be written; then nothing is.
            OptionError: the file has changed meanwhile.
        """
        data = self._before and self._before.data
        if (self._path.read_bytes() if self._path.exists() else None) != data:
            raise OptionError(f"{self._path} has changed since it was read; start again")
        if data is not None and _is_joined(data, self._lines()):
            return
        with replacing(self._path) as file:
            self._is_saved = True
            file.writelines(self._lines())

    def restore(self) -> None:
        """Make the file what it was before `save`."""
        if not self._is_saved:
            return
        if self._before is None:
            self._path.unlink(missing_ok=True)
            return
        with replacing(self._path) as file:
            file.write(self._before.data)

    def _lines(self) -> Iterator[bytes]:
        """Yield the header, the rows that stay, and the doubts."""
        rows = self._database.execute(
            "SELECT query, count, key, score, target FROM doubt ORDER BY count DESC, rowid"
        )
        kept = self._before.without(self._seen) if self._before else ()
        doubts = (Doubt(*map(_as_text, row)) for row in rows)
        return _lines(self._form, self._before, kept, doubts)


# ---- what is written ------------------------------------------------------------------------


def decision_lines(
    form: str, decisions: Mapping[str, str | None], before: DecidedFile | None = None
) -> Iterator[bytes]:
    """Yield the lines of a review in which all is decided.

    Args:
        form: "csv", "tsv" or "jsonl".
        decisions: the key of each text, or None for no key.
        before: a file whose rows come first; of those on these texts, the targets are changed.
    """
    written = set[str]()
    keys = {same_text(query): key for query, key in decisions.items()}
    kept = list(before.decided_as(keys, written)) if before else ()
    rows = (
        Doubt(query, None, None, None, key)
        for query, key in decisions.items()
        if same_text(query) not in written
    )
    return _lines(form, before, kept, rows)


def _lines(
    form: str, before: DecidedFile | None, kept: Iterable[str], rows: Iterable[Doubt]
) -> Iterator[bytes]:
    """Yield the lines of a file that are kept, or else a header, and rows."""
    columns, end, last = REVIEW_COLUMNS, "\n", "\n"
    dialect = before.dialect if before else Dialect(DELIMITERS.get(form, ""))
    name = before.path if before else "the review"
    if before is None and form != "jsonl":
        yield dialect.encoded(csv_row(columns, dialect.delimiter) + end, name)
    elif before is not None:
        columns = before.columns or columns
        end = "\r\n" if "\r\n" in before.data.decode(dialect.encoding, "replace") else "\n"
        for last in kept:
            yield dialect.encoded(last, name)
    for row in rows:
        begin = "" if last.endswith("\n") else end  # of the row before
        last = _line(row, dialect.delimiter, columns) + end
        yield dialect.encoded(begin + last, name)


def _line(doubt: Doubt, delimiter: str, columns: Collection[str]) -> str:
    """Return a doubt as a line of a file, in the order of its columns; as JSON if it has none."""
    fields = dict(zip(REVIEW_COLUMNS, doubt.shown(), strict=True))
    if not delimiter:
        return as_json(fields)
    texts = {name: without_formula(part) for name, part in fields.items() if type(part) is str}
    texts["target"] = _target_cell(doubt.target, columns)
    cells = (as_cell({**fields, **texts}.get(name)) for name in columns)
    return csv_row(cells, delimiter)


def _target_cell(key: str | None, columns: Collection[str]) -> str:
    """Return a target as a cell; a quote is read only where all columns of a review are."""
    text = as_cell(key)
    return without_formula(text) if {*REVIEW_COLUMNS} <= {*columns} else text


def check_ending(path: Path) -> str:
    """Return the format of a review, which its ending names.

    Raises:
        OptionError: the ending names another format, or none.
    """
    form = format_by_ending(path, ROW_FORMATS)
    if form is None:
        raise OptionError(f"{path}: a review ends in .csv, .tsv or .jsonl, to be corrected by hand")
    return form


def _is_joined(data: bytes, lines: Iterable[bytes]) -> bool:
    """Tell whether lines make up the data, which may be much shorter than they are."""
    rest = BytesIO(data)
    return all(rest.read(len(line)) == line for line in lines) and not rest.read(1)


def _as_bytes(part: Any) -> Any:
    """Return text as bytes, for SQLite refuses lone surrogates in text."""
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


def _as_text(part: Any) -> Any:
    return part.decode("utf-8", "surrogatepass") if isinstance(part, bytes) else part
