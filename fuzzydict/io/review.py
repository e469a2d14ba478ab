"""Examples and reviews: queries in a file, each with the key that it should find.

A review lists the doubtful queries of a table. A row is undecided while its target begins with a
question mark; once a person replaced that by a key, or by nothing, it is an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from fuzzydict._files import bytes_of, locked, replacing
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError, quoted
from fuzzydict.io.tables import open_table
from fuzzydict.io.text_tables import (
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    Dialect,
    Reading,
    as_cell,
    as_json,
    column_index,
    csv_row,
    format_by_ending,
)
from fuzzydict.results.answers import Match
from fuzzydict.stores.remote import AnyDict
from fuzzydict.text.words import same_text

#: The columns of a review; a table that has them all is one.
REVIEW_COLUMNS = ("query", "count", "key", "score", "target")
_UNDECIDED = "?"  # begins a target that nobody has decided on
#: What spreadsheets may take for a formula, with quotes before it or not; signs of full width, too.
#: In CSV and TSV it gets a quote in front, for the texts are from strangers.
_FORMULA = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")


def is_undecided(target: str) -> bool:
    """Return whether nobody has confirmed a target, by how it begins. A key may begin so, too."""
    return target.lstrip().startswith(_UNDECIDED)


def without_formula(text: str) -> str:
    """Return a text as a cell that a spreadsheet shows and does not compute.

    >>> without_formula("=1+1"), without_formula("'=1+1"), without_formula("'tis")
    ("'=1+1", "''=1+1", "'tis")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def with_formula(cell: str) -> str:
    """Return the text of a cell that `without_formula` made, or of one that was left as it was.

    >>> with_formula("'=1+1"), with_formula("=1+1"), with_formula("'tis")
    ('=1+1', '=1+1', "'tis")
    """
    return cell.removeprefix("'") if _FORMULA.match(cell) else cell


# ---- examples in a file -------------------------------------------------------------------


def read_examples(path: Path) -> list[tuple[str, str | None]]:
    """Return the examples in a file, such as a corrected review, in the order of the file.

    They are in a table with the columns (in JSON Lines, the fields) ``query`` and ``target``. A
    blank target, or null, means that no key should match: None. A query with several right keys has
    a row for each; in JSON Lines they may be an array. FileFormatError names the line of a blank
    query, and the lines that say both a key and no key.
    """
    rows, first = _Examples(path).rows, dict[str, Example]()
    for row in rows:
        before = first.setdefault(row.query, row)
        if (before.target is None) != (row.target is None):
            raise FileFormatError(
                f"{path}: the query {quoted(row.query)} has two targets, {quoted(before.target)} "
                f"on line {before.line} and {quoted(row.target)} on line {row.line}, where None "
                f"says that no key should match; keep one"
            )
    return [(row.query, row.target) for row in rows]


class Example(NamedTuple):
    """A query and the key that it should find, None for no key, in a line of a file."""

    line: int  # in which there may be several
    query: str
    target: str | None
    written: str  # the target as it is in the file, where a quote may be in front


class _Examples:
    """The examples in a file, and how it is written."""

    def __init__(self, path: Path) -> None:
        form = check_ending(path)
        self.path, self.data = path, bytes_of(path)
        with open_table(BytesIO(self.data), Reading(form, side=None), name=path) as table:
            rows = [*table.rows()]
        self.dialect, self.header, names = table.dialect, table.header, table.names
        begin = [self.header] if self.header else []
        self.lines = {line: raw for line, raw, _ in begin + rows} | {0: "".join(table.blanks)}
        if form == "jsonl":
            self.rows = [one for line, _, content in rows for one in self._of_json(line, content)]
            return
        if self.header is None:
            raise FileFormatError(f"{path}: is empty; expected the columns query and target")
        query, target = (column_index(name, names, path) for name in ("query", "target"))
        text_of = with_formula if {*REVIEW_COLUMNS} <= {*names} else str
        self.rows = [
            self._of(line, text_of(cells[query]), text_of(cells[target]), cells[target])
            for line, _, cells in rows
            if any(map(str.strip, cells))  # spreadsheets write rows of empty cells
        ]

    def _of_json(self, line: int, content: Any) -> list[Example]:
        if not isinstance(content, dict) or not {"query", "target"} <= content.keys():
            raise FileFormatError(
                f'{self.path}: line {line}: expected {{"query": ..., "target": ...}}, where '
                f"null as target says that no key should match"
            )
        query, target = content["query"], content["target"]
        if not isinstance(target, list):
            return [self._of(line, query, target, target)]
        if not target or not all(isinstance(key, str) and key.strip() for key in target):
            raise FileFormatError(
                f"{self.path}: line {line}: expected the right keys as target, texts that are "
                f"not blank, or null if none is right"
            )
        return [self._of(line, query, key, key) for key in target]

    def _of(self, line: int, query: Any, target: Any, written: Any) -> Example:
        place = f"{self.path}: line {line}"
        for text in (query, "" if target is None else target):
            if not isinstance(text, str):
                expected = "where a text is expected; put it in quotes"
                raise FileFormatError(f"{place} has {JSON_TYPES[type(text)]} {expected}")
        if not query.strip():
            raise FileFormatError(f"{place} has a blank query; fill it in, or remove the line")
        return Example(line, query, target if target and target.strip() else None, written or "")


# ---- what was decided ---------------------------------------------------------------------


class DecidedFile(_Examples):
    """A review as it stands in its file, checked against the dict that it is about.

    FileFormatError says that a target is no key, or another one than its text, which is a key.
    """

    def __init__(self, path: Path, d: AnyDict) -> None:
        super().__init__(path)
        self.decisions: list[Example] = []  # what the decided rows say
        self._asked: list[Example] = []  # the others
        for row in self.rows:
            key = row.target
            if key is not None and key not in d:
                key = row.written if row.written in d else key.strip()  # a quote may be the key's
            if key is not None and key not in d and is_undecided(key):
                self._asked.append(row)
            elif key == row.query if row.query in d else key is None or key in d:
                self.decisions.append(row._replace(target=key))
            else:
                raise self._impossible(row, d)
        decided = {same_text(one.query) for one in self.decisions}
        #: The texts that no row decides on.
        self.undecided = {same_text(one.query) for one in self._asked} - decided

    def _impossible(self, row: Example, d: AnyDict) -> FileFormatError:
        """Return the error for a row whose target no decision can have."""
        query, target, nearest = quoted(row.query), _shown(row.target), ""
        if row.query in d:
            problem = f"{query} is a key of the dict and always finds itself; its target cannot be "
            problem += f"{target}: remove the row"
        else:
            with suppress(NoMatchError):
                nearest = f" (its nearest key is {quoted(d.nearest(row.target).key)})"
            problem = f"{target}, the target of {query}, is not a key of the dict{nearest}; write "
            problem += "one of its keys, or nothing if none is right"
        return FileFormatError(f"{self.path}: line {row.line}: {problem}")

    def kept(self, still_asked: Set[str], decided: Set[str] = frozenset()) -> list[str]:
        """Return the file's lines, without those that ask about others, or decide on some texts."""
        left_out = {one.line for one in self._asked if same_text(one.query) not in still_asked}
        left_out -= {one.line for one in self.decisions}  # one of JSON Lines may ask as well
        left_out |= {one.line for one in self.rows if same_text(one.query) in decided}
        return [raw for line, raw in self.lines.items() if line not in left_out]


def decided_keys(d: AnyDict, files: Iterable[DecidedFile]) -> dict[str, str | None]:
    """Return the key that each text was decided to find, None for no key, by its `same_text`.

    The aliases of the dict are decisions, too; those in files go first.
    """
    first: dict[str, tuple[Path, Example]] = {}
    for path, row in ((one.path, row) for one in files for row in one.decisions):
        place, before = first.setdefault(same_text(row.query), (path, row))
        if before.target != row.target:
            raise FileFormatError(
                f"{path}: line {row.line}: the target of {quoted(row.query)} is "
                f"{_shown(row.target)}, and at {place}: line {before.line} that of "
                f"{quoted(before.query)} is {_shown(before.target)}; these are one text, for "
                f"case, accents and punctuation make no difference: keep one row"
            )
    keys = {same_text(alias): key for alias, key in d.aliases.items()}
    return keys | {text: row.target for text, (_, row) in first.items()}


def _shown(key: str | None) -> str:
    return "blank" if key is None else quoted(key)


# ---- what is written ------------------------------------------------------------------------


class Review:
    """Collects doubtful queries and writes them to a file, the most frequent first.

    Each text is asked once, as it was first written. A file that exists, ``before``, keeps its
    decided rows as they are, and its undecided rows whose texts did not come up again.
    """

    def __init__(self, path: Path, before: DecidedFile | None) -> None:
        self._path, self._form, self._before = path, check_ending(path), before
        self._waiting = set(before.undecided) if before else set[str]()  # that did not come up
        self._doubts: dict[str, dict[str, Any]] = {}  # rows

    def saw(self, queries: Iterable[str]) -> None:
        """Note which queries came up: their undecided rows are written again or not at all."""
        if self._waiting:
            self._waiting.difference_update(map(same_text, queries))

    def add(self, query: str, best: Match | None, times: int) -> None:
        """Count a doubtful query. Its best key, if it has one, is the guess if it matches."""
        key, score = (best.key, round(best.score, 4)) if best else (None, None)
        target = f"{_UNDECIDED} {key}" if best and best.matches else _UNDECIDED
        row = dict(zip(REVIEW_COLUMNS, (query, 0, key, score, target), strict=True))
        self._doubts.setdefault(same_text(query), row)["count"] += times

    def save(self) -> int:
        """Write the file, unless it would stay as it is; return how many texts it asks about.

        OptionError says that the file has changed meanwhile.
        """
        before = self._before and self._before.data
        kept = self._before.kept(self._waiting) if self._before else []
        rows = sorted(self._doubts.values(), key=lambda row: -row["count"])
        data = _file(self._form, self._before, kept, rows)
        with locked(self._path):  # another run may be about to replace it, too
            if (self._path.read_bytes() if self._path.exists() else None) != before:
                raise OptionError(f"{self._path} has changed since it was read; start again")
            if data != before:
                with replacing(self._path) as file:
                    file.write(data)
        return len(self._doubts) + len(self._waiting)


def review_of(
    form: str, decisions: Mapping[str, str | None], before: DecidedFile | None = None
) -> bytes:
    """Return a review in which all is decided, after the rows of ``before`` on other texts."""
    texts, empty = set(map(same_text, decisions)), dict.fromkeys(REVIEW_COLUMNS)
    kept = before.kept(before.undecided - texts, texts) if before else []
    rows = [empty | {"query": query, "target": key} for query, key in decisions.items()]
    return _file(form, before, kept, rows)


def _file(
    form: str, before: DecidedFile | None, kept: list[str], rows: Iterable[Mapping[str, Any]]
) -> bytes:
    """Return a file with the lines that are kept, or else a header, and new rows."""
    dialect = before.dialect if before else Dialect(DELIMITERS.get(form, ""))
    columns = before.header[2] if before and before.header else REVIEW_COLUMNS
    parts, lines = [*filter(None, kept)], list[str]()
    if form == "jsonl":
        lines += map(as_json, rows)
    else:
        if before is None:
            lines.append(csv_row(columns, dialect.delimiter))
        # A quote before a target is read only where all columns of a review are.
        is_review = {*REVIEW_COLUMNS} <= {*columns}
        for row in rows:
            cells = {name: as_cell(value) for name, value in row.items()}
            for name in ("query", "key", "target") if is_review else ("query", "key"):
                cells[name] = without_formula(cells[name])
            lines.append(csv_row((cells.get(column, "") for column in columns), dialect.delimiter))
    end = "\r\n" if any(line.endswith("\r\n") for line in parts) else "\n"
    if lines and parts and not parts[-1].endswith("\n"):
        parts.append(end)
    parts += (line + end for line in lines)
    return dialect.encoded("".join(parts), before.path if before else "the review")


def check_ending(path: Path) -> str:
    """Return the format of examples or a review, which the ending names; or raise OptionError."""
    form = format_by_ending(path, ROW_FORMATS)
    if form is None:
        raise OptionError(f"{path}: expected a file that ends in .csv, .tsv or .jsonl")
    return form
