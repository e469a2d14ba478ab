"""Match a column of a table in a file with the keys of a dict, or with another table.

`clean_column` copies a table (`io.tables`) and adds three columns: the key, value and score that
match each cell. `join_tables` adds the columns of another table, whose texts are the keys. What is
written beside a cell is found when the cell comes for the first time, and remembered.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
)

from fuzzydict._files import replacing
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError
from fuzzydict.frames.match import SUFFIX, joined_on, new_names, require_how, row_of_each
from fuzzydict.io.examples import undecided
from fuzzydict.io.review import Decided, Doubt, Review, check_ending
from fuzzydict.io.tables import Added, checked_format, open_table
from fuzzydict.mapping import FuzzyDict
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fuzzydict.io.review import MatchedKeys
    from fuzzydict.io.tables import CellBlock, Contents, Table, Writer


#: The least score of a match that is not doubtful, if none is given.
SURE = 0.8
_TOGETHER = 4096  # cells that are looked up at once
_REMEMBERED = 2**17  # cells
_REMEMBERED_CHARACTERS = 2**24  # of cells, and of what is written beside them
_BLANK_CELLS = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case
#: The columns that are written, with the like of what is in them.
_NEW_COLUMNS: dict[str, list[Any]] = {"key": [""], "value": [""], "score": [0.0]}

T = TypeVar("T")
#: The key, value and score that match a cell, or None for each.
Answer: TypeAlias = tuple[str | None, Any, float | None]
_NO_ANSWER: Answer = (None, None, None)


class Cleaned(NamedTuple):
    """The number of rows that matched, did not match, or were blank.

    Attributes:
        matched: rows with a key.
        unmatched: rows without one, although nobody decided so.
        blank: rows that ask nothing.
        doubtful: matches with a score below ``sure``.
        refused: rows that should have no key, as somebody decided.
        undecided: texts that the review leaves to decide on.
    """

    matched: int
    unmatched: int
    blank: int
    doubtful: int = 0
    refused: int = 0
    undecided: int = 0

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return self.matched + self.unmatched + self.blank + self.refused


def clean_column(
    d: MatchedKeys,
    table: Path | BinaryIO,
    column: str,
    output: Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002 - the usual name
    sheet: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    prefix: str | None = None,
    decisions: Path | None = None,
    review: Path | None = None,
    sure: float = SURE,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Cleaned:
    """Write a table with the key, value and score that match each cell of a column.

    Rows keep their order. The text of CSV, TSV and JSON Lines stays the same, and so do the types,
    metadata and (first) compression of Parquet, whose new columns are text and 64-bit floats. Of a
    workbook stays what openpyxl reads.

    The new cells are empty if no key matches or the cell is blank, as ``n/a`` is, unless a key
    says the same. The table may have any length, and ``output`` may be its own file. The output
    and the review are written when everything is done; if anything fails, neither is.

    Args:
        d: the dict, or the keys in a store; its ``score_cutoff`` decides what matches, and what it
            was taught is certain.
        table: a CSV, TSV, JSON Lines, Parquet or .xlsx file; or a stream of bytes of the first
            three.
        column: the name of the column.
        output: a file, or a stream of bytes.
        format: the table's format, one of `io.tables.TABLES`; by default the file's ending says.
        sheet: the name of a sheet of a workbook; by default the first that is not hidden.
        delimiter: of CSV or TSV; by default it is guessed, as `io.tables.open_table` says.
        encoding: of CSV or TSV; by default it is guessed, too. The output has the same.
        prefix: goes before "key", "value" and "score" in the new names; by default the column's
            name and "_".
        decisions: a review in which somebody decided; the texts in it find what was decided. The
            dict itself learns nothing.
        review: the file for the doubtful queries, written by `review.Review`. If it exists, what
            is decided in it holds as in ``decisions``, and stays.
        sure: the lowest score of a match that is not doubtful.
        progress: called with the amount done and the total amount.

    Raises:
        OSError: a file cannot be read or written.
        FileFormatError: the table is not of its format, lacks the column, or has a new name; or
            decisions contradict each other or the dict.
        OptionError: a format is unknown, or two files are the same.
        MissingExtraError: pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    checked_format(table, format)
    check_apart(table, output, decisions, review)
    decided = decided_in(d, decisions, review)
    added = new_columns(column, prefix)
    reading: dict[str, Any] = {"sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    with nullcontext() if review is None else Review(review, decided) as doubts:
        with (
            _written(output, doubts) as file,
            open_table(table, format=format, **reading) as source,
        ):
            blocks = source.blocks(column)
            with source.writer(file, added) as writer:
                matcher = ColumnMatcher(d, decided, doubts, sure, writer.beside)
                copy_rows(source, blocks, writer, matcher, progress)
        if doubts:
            matcher.count["undecided"] = doubts.undecided()
    return Cleaned(**{name: matcher.count[name] for name in Cleaned._fields})


def new_columns(column: str, prefix: str | None) -> list[Added]:
    """Return the columns that are added for a column; ``prefix`` as for `clean_column`."""
    prefix = f"{column}_" if prefix is None else prefix
    return [
        Added(f"{prefix}{name}", like, "choose another prefix")
        for name, like in _NEW_COLUMNS.items()
    ]


def decided_in(d: MatchedKeys, decisions: Path | None, review: Path | None) -> Decided:
    """Return what somebody decided in these files, of which the review need not exist yet."""
    if review is not None:
        check_ending(review)
    existing = review if review is not None and review.exists() else None
    return Decided(d, [path for path in (decisions, existing) if path is not None])


def best_keys(d: MatchedKeys, queries: list[str]) -> list[Match | None]:
    """Return the best key of each query, a match or not; None if there is no key to compare."""
    best: list[Match | None] = []
    for start in range(0, len(queries), _TOGETHER):
        try:
            ranked = d.most_similar(queries[start : start + _TOGETHER], topn=1)
        except NoMatchError:  # no key has letters or digits
            return [None] * len(queries)
        best += [row[0] if row else None for row in ranked]
    return best


def join_tables(
    left: Path | BinaryIO,
    right: Path,
    output: Path | BinaryIO,
    *,
    on: str | None = None,
    left_on: str | None = None,
    right_on: str | None = None,
    how: str = "left",
    score_cutoff: float | None = None,
    add_score: bool = True,
    suffix: str = SUFFIX,
    left_format: str | None = None,
    right_format: str | None = None,
    left_sheet: str | None = None,
    right_sheet: str | None = None,
    left_delimiter: str | None = None,
    right_delimiter: str | None = None,
    left_encoding: str | None = None,
    right_encoding: str | None = None,
    sure: float = SURE,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    **options: Any,
) -> Cleaned:
    """Join two tables in files: to each row of the left the row of the right that means the same.

    ``left`` and ``right`` are files, or ``left`` a stream of bytes. The left one is copied to
    ``output``, a file or a stream, as `clean_column` copies a table, with the columns of the right
    one at the end of each row. The right one is kept in memory, and may be of another format.

    What to join is said as to `fuzzydict.join`. ``left_format``, ``right_format`` and so on are
    ``format``, ``sheet``, ``delimiter`` and ``encoding`` of `clean_column` for each table, and
    ``sure`` and ``progress`` are as there.

    Returns:
        The numbers of rows of the left table.

    Raises:
        OSError: a file cannot be read or written.
        FileFormatError: a table is not of its format, or lacks the column; or the texts of the
            right table are no keys, as `fuzzydict.join` says.
        OptionError: as of `fuzzydict.join`; or a format is unknown; or the output is the right
            table, or the left one if that is a workbook and ``how`` leaves rows out.
        MissingExtraError: pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    require_how(how)
    _check_output(output, left, left_format, right, how)
    of_left, of_right = joined_on("left_on", left_on, on), joined_on("right_on", right_on, on)
    with open_table(
        right,
        format=right_format,
        sheet=right_sheet,
        delimiter=right_delimiter,
        encoding=right_encoding,
        side="right-",
    ) as table:
        contents = table.contents(of_right)
    rows = _rows_by_text(contents, of_right, right)
    d = FuzzyDict(rows, score_cutoff=score_cutoff, **options)
    with (
        _written(output, None) as file,
        open_table(
            left,
            format=left_format,
            sheet=left_sheet,
            delimiter=left_delimiter,
            encoding=left_encoding,
            side="left-",
        ) as source,
    ):
        blocks = source.blocks(of_left)
        added = [] if how == "anti" else _right_columns(source, contents, suffix, add_score)
        with source.writer(file, added) as writer:
            beside = _joined(writer, how, len(contents.names), add_score)
            matcher = ColumnMatcher[Any](d, Decided(d, []), None, sure, beside)
            copy_rows(source, blocks, writer, matcher, progress)
    return Cleaned(**{name: matcher.count[name] for name in Cleaned._fields})


def _check_output(
    output: Path | BinaryIO, left: Path | BinaryIO, left_format: str | None, right: Path, how: str
) -> None:
    """Check that writing the output of a join loses nothing of the tables."""
    if _same(output, right):
        raise OptionError(f"{output} is the right table; write to another file")
    if how != "left" and checked_format(left, left_format) == "xlsx" and _same(left, output):
        raise OptionError(
            f"how: {output} would lose its other sheets, formulas and formats with the rows that "
            f"{how} leaves out; write to another file"
        )


def _same(one: Path | BinaryIO, other: Path | BinaryIO) -> bool:
    """Tell whether two are the same file."""
    both = [os.path.realpath(file) for file in (one, other) if isinstance(file, Path)]
    return len(both) == 2 and both[0] == both[1]


def _rows_by_text(contents: Contents, column: str, right: Path) -> dict[str, list[Any]]:
    """Return the values of each row by its text; rows without one are left out."""
    texts, lines = [row.text for row in contents.rows], [row.line for row in contents.rows]
    try:
        rows = row_of_each(texts, column, str(right), lines)
    except OptionError as error:
        raise FileFormatError(str(error)) from None
    return {text: contents.rows[row].values for text, row in rows.items()}


def _right_columns(left: Table, right: Contents, suffix: str, add_score: bool) -> list[Added]:
    """Return the columns to add, of which none may have the name of another."""
    names = new_names(left.names, right.names, suffix, add_score=add_score)
    values = [[row.values[place] for row in right.rows] for place in range(len(right.names))]
    likes, advice = [*values, [0.0]], "rename it in one of the tables"
    return [Added(name, like, advice) for name, like in zip(names, likes, strict=False)]


def _joined(
    writer: Writer[T], how: str, width: int, add_score: bool
) -> Callable[[Answer], T | None]:
    """Return the function that says what is written beside a row, or None if it is left out."""

    def beside(answer: Answer) -> T | None:
        key, values, score = answer
        if how == "anti":
            return writer.beside([]) if key is None else None
        if key is None:
            values = [None] * width
        cells = [*values, score] if add_score else values
        return None if how == "inner" and key is None else writer.beside(cells)

    return beside


class Beside(Protocol):
    """Finds what is written beside the cells of a column."""

    def beside(self, cells: list[str | None], counts: Sequence[int] | None = None, /) -> list[Any]:
        """Return what is written beside some cells, which are texts, or None if empty."""

    def count_rows(self) -> None:
        """Count the rows of all cells so far."""


def copy_rows(
    source: Table,
    blocks: Iterator[CellBlock],
    writer: Writer[Any],
    matcher: Beside,
    progress: Callable[[int, int], None],
) -> None:
    """Write the rows of a table, each with what matches its cell."""
    for block in blocks:
        writer.write(block, matcher.beside(block.cells, block.counts))
        if done := source.progress():
            progress(*done)
    matcher.count_rows()


@contextmanager
def _written(output: Path | BinaryIO, review: Review | None) -> Iterator[BinaryIO]:
    """Open the output to write it, and then the review: both are written, or none."""
    try:
        with replacing(output) if isinstance(output, Path) else nullcontext(output) as file:
            yield file
            if review:
                file.flush()  # so that a full disk is noticed before the review is written
                review.save()
    except BaseException:
        if review:
            review.restore()
        raise


def check_apart(
    table: Path | BinaryIO, output: Path | BinaryIO, decisions: Path | None, review: Path | None
) -> None:
    """Check that decisions and a review are in files of their own."""
    places = {"read": table, "written": output}
    tables = {use: os.path.realpath(at) for use, at in places.items() if isinstance(at, Path)}
    for what, path in {"decisions": decisions, "review": review}.items():
        for use, place in tables.items():
            if path and os.path.realpath(path) == place:
                raise OptionError(
                    f"{path} is the table to be {use}; name another file for the {what}"
                )


# ---- which key ---------------------------------------------------------------------------


def keys_among(d: MatchedKeys, texts: Iterable[str]) -> list[str]:
    """Return those of some texts that are keys; a store is asked once for all."""
    if values_of := getattr(d, "values_of", None):
        return list(values_of(list(texts)))
    return [text for text in texts if text in d]


def _blank_keys(d: MatchedKeys) -> Iterable[str]:
    """Return the keys that may be blank cells, too; of a store, those in the usual cases."""
    if isinstance(d, dict):
        return (key for key in d if isinstance(key, str))
    usual = (str.lower, str.upper, str.title, str.capitalize)
    return keys_among(d, {write(text) for text in _BLANK_CELLS for write in usual})


class BlankCells:
    """The cells that ask a dict nothing: empty ones, and such as "n/a", unless a key says so.

    >>> from fuzzydict import FuzzyDict
    >>> [cell in BlankCells(FuzzyDict({"NA": 1})) for cell in ("", " ", "N/A", "na", "none", "no")]
    [True, True, True, False, True, False]
    """

    def __init__(self, d: MatchedKeys) -> None:
        self._d = d
        self._texts = _BLANK_CELLS.difference(map(_folded, _blank_keys(d)))

    def __contains__(self, cell: str) -> bool:
        text = _folded(cell)
        return (not text or text in self._texts) and cell not in self._d


class _Cell(Generic[T]):
    """What is known of a cell.

    Attributes:
        beside: what is written beside it.
        count: the name of `Cleaned` under which its rows count.
        doubt: the doubt about it, if there is one.
    """

    __slots__ = ("beside", "count", "doubt")

    def __init__(self, beside: T, count: str, doubt: Doubt | None = None) -> None:
        self.beside, self.count, self.doubt = beside, count, doubt


class ColumnMatcher(Generic[T]):
    """Finds what is written beside the cells of a column, and counts the rows.

    Args:
        d: the dict.
        decided: what somebody decided. A text that equals a key finds that key all the same.
        review: collects the doubts.
        sure: the lowest score of a match that is not doubtful.
        written: returns an answer as it is written.
        look_up: returns what `best_keys` does, which it is by default.

    Attributes:
        count: the rows by the names of `Cleaned`, those of `count_rows`.
    """

    def __init__(
        self,
        d: MatchedKeys,
        decided: Decided,
        review: Review | None,
        sure: float,
        written: Callable[[Answer], T],
        look_up: Callable[[list[str]], list[Match | None]] | None = None,
    ) -> None:
        self.d, self.decided, self.review, self.sure = d, decided, review, sure
        self.count: Counter[str] = Counter()
        self._look_up = look_up or partial(best_keys, d)
        self._written, self._beside_none = written, written(_NO_ANSWER)
        self._known: dict[str | None, _Cell[T]] = {}
        self._beside: dict[str | None, T] = {}  # of the known cells
        self._rows: Counter[str | None] = Counter()  # of each, which are not counted yet
        self._characters = 0
        self._blank = BlankCells(d)

    def beside(self, cells: list[str | None], counts: Sequence[int] | None = None) -> list[T]:
        """Return what is written beside some cells, which are texts, or None if empty.

        Their rows are counted: one for each cell, or as many as ``counts`` says.
        """
        if len(self._known) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
            self.count_rows()
        beside = list(map(self._beside.get, cells))
        if None in beside:
            if unknown := [cell for cell in dict.fromkeys(cells) if cell not in self._known]:
                self._answer(unknown)
            beside = list(map(self._beside.get, cells))
        if counts is None:
            self._rows.update(cells)
        else:
            self._rows.update(dict(zip(cells, counts, strict=True)))
        return cast("list[T]", beside)

    def count_rows(self) -> None:
        """Count the rows of all known cells, and their doubts; forget the cells."""
        doubts = []
        for text, rows in self._rows.items():
            cell = self._known[text]
            self.count[cell.count] += rows
            if cell.doubt is not None:
                self.count["doubtful"] += rows if cell.count == "matched" else 0
                doubts.append(cell.doubt.seen(rows))
        if self.review is not None:
            self.review.add(doubts)
        for kept in (self._known, self._beside, self._rows):
            kept.clear()
        self._characters = 0

    def _answer(self, cells: list[str | None]) -> None:
        """Look up cells that are not known yet."""
        queries = [cell for cell in cells if cell is not None and not self.is_blank(cell)]
        if self.review is not None:
            self.review.saw(queries)
        best = self._best(queries)
        self._known.update((cell, _Cell(self._beside_none, "blank")) for cell in cells)
        self._known.update((query, self._matched(query, match)) for query, match in best.items())
        self._beside.update((cell, self._known[cell].beside) for cell in cells)
        self._characters += sum(_length(cell or "") + _length(self._beside[cell]) for cell in cells)

    def _matched(self, query: str, match: Match | None) -> _Cell[T]:
        """Return what is known of a query by its best key, if there is one."""
        is_decided = self._is_decided(query)
        doubt = None if is_decided else self._doubt(query, match)
        if match is None or not match.matches:
            return _Cell(self._beside_none, "refused" if is_decided else "unmatched", doubt)
        beside = self._written((match.key, match.value, round(match.score, 4)))
        return _Cell(beside, "matched", doubt)

    def _doubt(self, query: str, match: Match | None) -> Doubt | None:
        if match is None:
            return Doubt(query, 0, None, None, undecided(None))
        if match.score >= self.sure or match.key == query:
            return None
        guess = match.key if match.matches else None
        return Doubt(query, 0, match.key, match.score, undecided(guess))

    def asked(self, queries: list[str]) -> list[str]:
        """Return the queries that are looked up: no keys, not decided, with letters or digits."""
        return self._asked(queries, keys_among(self.d, queries))

    def _asked(self, queries: list[str], equal: list[str]) -> list[str]:
        keys = set(equal)
        return [q for q in queries if q not in keys and q not in self.decided and plain(q)]

    def is_blank(self, cell: str) -> bool:
        """Tell whether a cell asks nothing."""
        return cell in self._blank and not self._is_decided(cell)

    def _is_decided(self, query: str) -> bool:
        """Tell whether somebody said which key a query finds, or none; an equal key goes first."""
        return query in self.decided and query not in self.d

    def _best(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query; None if there is no key to compare it with."""
        best: dict[str, Match | None] = dict.fromkeys(queries)
        equal = keys_among(self.d, queries)
        best.update(zip(equal, self.d.nearest(equal), strict=True))
        known = {q: self.decided[q] for q in queries if self._is_decided(q)}
        keys = {query: key for query, key in known.items() if key is not None}
        for query, found in zip(keys, self.d.nearest([*keys.values()]), strict=True):
            best[query] = Match(found.key, found.value, 1.0, query=query)
        asked = self._asked(queries, equal)
        best.update(zip(asked, self._look_up(asked), strict=True))
        return best


def _length(beside: Any) -> int:
    """Return how many characters are kept of what is written: a text, or values, or nothing."""
    texts = [beside] if isinstance(beside, str) else beside or ()
    return sum(len(text) for text in texts if isinstance(text, str))


def _folded(cell: str) -> str:
    return cell.strip().casefold()
