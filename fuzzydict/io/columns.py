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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict._files import replacing
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError
from fuzzydict.frames.match import SUFFIX, dict_of, new_names, require_how, row_of_each
from fuzzydict.io.records import Reading
from fuzzydict.io.review import Decided, Doubt, Review, check_ending, undecided
from fuzzydict.io.tables import Added, checked_format, open_table
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fuzzydict.io.review import MatchedKeys
    from fuzzydict.io.tables import CellBlock, Contents, Table


#: The least score of a match that is not doubtful, if none is given.
SURE = 0.8
_TOGETHER = 4096  # cells that are looked up at once
_REMEMBERED = 2**17  # cells
_REMEMBERED_CHARACTERS = 2**24  # of cells, and of what is written beside them
_BLANK_CELLS = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case
#: The columns that are written, with the like of what is in them.
_NEW_COLUMNS: dict[str, list[Any]] = {"key": [""], "value": [""], "score": [0.0]}

#: The key, value and score that match a cell, or None for each.
Answer: TypeAlias = tuple[str | None, Any, float | None]
_NO_ANSWER: Answer = (None, None, None)


class Source(NamedTuple):
    """A column of a table.

    Attributes:
        table: a CSV, TSV, JSON Lines, Parquet or .xlsx file; or a stream of bytes of the first
            three.
        column: the name of the column.
        reading: how the table is read.
    """

    table: Path | BinaryIO
    column: str
    reading: Reading = Reading()


class Deciding(NamedTuple):
    """What a person decided, and decides.

    Attributes:
        decisions: a review in which somebody decided; the texts in it find what was decided. The
            dict itself learns nothing.
        review: the file for the doubtful queries, as `review.Review` writes it. If it exists, what
            is decided in it holds as in ``decisions``, and stays.
        sure: the lowest score of a match that is not doubtful.
    """

    decisions: Path | None = None
    review: Path | None = None
    sure: float = SURE


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
    source: Source,
    output: Path | BinaryIO,
    *,
    prefix: str | None = None,
    deciding: Deciding = Deciding(),  # noqa: B008
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
        source: the column.
        output: a file, or a stream of bytes. CSV has the delimiter and encoding of the table.
        prefix: goes before "key", "value" and "score" in the new names; by default the column's
            name and "_".
        deciding: what is decided, and the file for what is doubtful.
        progress: called with the amount done and the total amount.

    Raises:
        OSError: a file cannot be read or written.
        FileFormatError: the table is not of its format, lacks the column, or has a new name; or
            decisions contradict each other or the dict.
        OptionError: a format is unknown, or two files are the same.
        MissingExtraError: pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    checked_format(source.table, source.reading.format)
    check_apart(source.table, output, deciding)
    matcher = deciding_matcher(d, deciding)
    added = new_columns(source.column, prefix)
    with (
        written(output, matcher.review) as file,
        open_table(source.table, source.reading) as table,
    ):
        counts = matcher.copy(table, source.column, added, file, progress)
    return matcher.with_undecided(counts)


def new_columns(column: str, prefix: str | None) -> list[Added]:
    """Return the columns that are added for a column; ``prefix`` as for `clean_column`."""
    prefix = f"{column}_" if prefix is None else prefix
    return [
        Added(f"{prefix}{name}", like, "choose another prefix")
        for name, like in _NEW_COLUMNS.items()
    ]


def deciding_matcher(
    d: MatchedKeys,
    deciding: Deciding,
    nearest: Callable[[list[str]], list[Match | None]] | None = None,
) -> ColumnMatcher:
    """Return what matches cells as somebody decided; the review need not exist yet.

    Arguments and errors are those of `clean_column` and of a `Lookup`.
    """
    paths = [deciding.decisions]
    if deciding.review is not None:
        check_ending(deciding.review)
        paths += [deciding.review] if deciding.review.exists() else []
    decided = Decided(d, filter(None, paths))
    review = Review(deciding.review, decided) if deciding.review else None
    return ColumnMatcher(Lookup(d, decided, nearest), review, deciding.sure)


def check_apart(table: Path | BinaryIO, output: Path | BinaryIO, deciding: Deciding) -> None:
    """Check that decisions and a review are in files of their own."""
    for what, path in {"decisions": deciding.decisions, "review": deciding.review}.items():
        for use, place in {"read": table, "written": output}.items():
            if path and _same(path, place):
                raise OptionError(
                    f"{path} is the table to be {use}; name another file for the {what}"
                )


def _same(one: Path | BinaryIO, other: Path | BinaryIO) -> bool:
    """Tell whether two are the same file."""
    both = [os.path.realpath(file) for file in (one, other) if isinstance(file, Path)]
    return len(both) == 2 and both[0] == both[1]


@contextmanager
def written(output: Path | BinaryIO, review: Review | None) -> Iterator[BinaryIO]:
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


# ---- two tables ---------------------------------------------------------------------------


def join_tables(
    left: Source,
    right: Source,
    output: Path | BinaryIO,
    *,
    how: str = "left",
    add_score: bool = True,
    suffix: str = SUFFIX,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    **options: Any,
) -> Cleaned:
    """Join two tables in files: to each row of the left the row of the right that means the same.

    The left one is copied as `clean_column` copies a table, with the columns of the right one at
    the end of each row. The right one is kept in memory, and may be of another format.

    Args:
        left: the column of the left table; the table may be a stream of bytes.
        right: the column of the right table, whose texts are the keys.
        output: a file, or a stream of bytes.
        how: "left", "inner" or "anti", as for `fuzzydict.join`.
        add_score: whether the score is a column, too.
        suffix: what is added to the names that both tables have.
        progress: called with the amount done and the total amount.
        **options: those of the `FuzzyDict` that is made of the keys: ``score_cutoff`` ...; and its
            ``synonyms``.

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
    _check_output(output, left, right, how)
    with open_table(right.table, right.reading) as table:
        contents = table.contents(right.column)
    d = dict_of(_rows_by_text(contents, right), **options)
    with written(output, None) as file, open_table(left.table, left.reading) as table:
        blocks = table.blocks(left.column)
        added = [] if how == "anti" else _right_columns(table, contents, suffix, add_score)
        with table.copying(file, added):
            beside = _joined(table, how, len(contents.names), add_score)
            return ColumnMatcher(Lookup(d, Decided(d, []))).write(table, blocks, beside, progress)


def _check_output(output: Path | BinaryIO, left: Source, right: Source, how: str) -> None:
    """Check that writing the output of a join loses nothing of the tables."""
    if _same(output, right.table):
        raise OptionError(f"{output} is the right table; write to another file")
    form = checked_format(left.table, left.reading.format)
    if how != "left" and form == "xlsx" and _same(left.table, output):
        raise OptionError(
            f"how: {output} would lose its other sheets, formulas and formats with the rows that "
            f"{how} leaves out; write to another file"
        )


def _rows_by_text(contents: Contents, right: Source) -> dict[str, list[Any]]:
    """Return the values of each row by its text; rows without one are left out."""
    texts, lines = [row.text for row in contents.rows], [row.line for row in contents.rows]
    try:
        rows = row_of_each(texts, right.column, str(right.table), lines)
    except OptionError as error:
        raise FileFormatError(str(error)) from None
    return {text: contents.rows[row].values for text, row in rows.items()}


def _right_columns(left: Table, right: Contents, suffix: str, add_score: bool) -> list[Added]:
    """Return the columns to add, of which none may have the name of another."""
    names = new_names(left.names, right.names, suffix, add_score=add_score)
    values = [[row.values[place] for row in right.rows] for place in range(len(right.names))]
    likes, advice = [*values, [0.0]], "rename it in one of the tables"
    return [Added(name, like, advice) for name, like in zip(names, likes, strict=False)]


def _joined(table: Table, how: str, width: int, add_score: bool) -> Callable[[Answer], Any]:
    """Return the function that says what is written beside a row, or None if it is left out."""

    def beside(answer: Answer) -> Any:
        key, values, score = answer
        if how == "anti":
            return table.beside([]) if key is None else None
        if key is None:
            values = [None] * width
        cells = [*values, score] if add_score else values
        return None if how == "inner" and key is None else table.beside(cells)

    return beside


# ---- which key ---------------------------------------------------------------------------


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


class Lookup:
    """Finds the key of a text: one that equals it, or that somebody decided on, or the nearest.

    Args:
        d: the dict.
        decided: what somebody decided. A text that equals a key finds that key all the same.
        nearest: returns what `best_keys` does, which it is by default.
    """

    def __init__(
        self,
        d: MatchedKeys,
        decided: Decided,
        nearest: Callable[[list[str]], list[Match | None]] | None = None,
    ) -> None:
        self.d, self.decided = d, decided
        self._nearest = nearest or partial(best_keys, d)
        self._blank = BlankCells(d)

    def queries(self, cells: Iterable[str | None]) -> list[str]:
        """Return the cells that ask something."""
        return [
            cell
            for cell in cells
            if cell is not None and (cell not in self._blank or self.is_decided(cell))
        ]

    def is_decided(self, query: str) -> bool:
        """Tell whether somebody said which key a query finds, or none; an equal key goes first."""
        return query in self.decided and query not in self.d

    def asked(self, queries: list[str], keys: Iterable[str] | None = None) -> list[str]:
        """Return the queries that are looked up: no keys, not decided, with letters or digits."""
        equal = set(keys_among(self.d, queries) if keys is None else keys)
        return [q for q in queries if q not in equal and q not in self.decided and plain(q)]

    def best(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query; None if there is no key to compare it with."""
        best: dict[str, Match | None] = dict.fromkeys(queries)
        equal = keys_among(self.d, queries)
        best.update(zip(equal, self.d.nearest(equal), strict=True))
        known = {q: self.decided[q] for q in queries if self.is_decided(q)}
        keys = {query: key for query, key in known.items() if key is not None}
        for query, found in zip(keys, self.d.nearest([*keys.values()]), strict=True):
            best[query] = Match(found.key, found.value, 1.0, query=query)
        asked = self.asked(queries, equal)
        best.update(zip(asked, self._nearest(asked), strict=True))
        return best


class _Cell(NamedTuple):
    """What is known of a cell: the field of `Cleaned` that it counts in, and the doubt about it."""

    field: str
    doubt: Doubt | None = None


class ColumnMatcher:
    """Finds what is written beside the cells of a column, in one table or several.

    Args:
        lookup: finds keys.
        review: collects the doubts. Nobody saves it here.
        sure: the lowest score of a match that is not doubtful.
    """

    def __init__(self, lookup: Lookup, review: Review | None = None, sure: float = SURE) -> None:
        self.lookup, self.review, self.sure = lookup, review, sure
        self._count: Counter[str] = Counter()
        self._known: dict[str | None, _Cell] = {}
        self._beside: dict[str | None, Any] = {}  # what is written beside the known cells
        self._rows: Counter[str | None] = Counter()  # of each, which are not counted yet
        self._characters = 0

    def copy(
        self,
        table: Table,
        column: str,
        added: list[Added],
        output: BinaryIO,
        progress: Callable[[int, int], None],
    ) -> Cleaned:
        """Write a table with the key, value and score that match each cell of a column."""
        blocks = table.blocks(column)
        with table.copying(output, added):
            return self.write(table, blocks, table.beside, progress)

    def write(
        self,
        table: Table,
        blocks: Iterator[CellBlock],
        as_written: Callable[[Answer], Any],
        progress: Callable[[int, int], None],
    ) -> Cleaned:
        """Write the rows of a table, each with its answer as it is written; count them."""
        self._as_written, self._beside_none = as_written, as_written(_NO_ANSWER)
        for block in blocks:
            table.write(block, self._found(block.cells, block.counts))
            if done := table.progress():
                progress(*done)
        return self._counted()

    def count(self, blocks: Iterator[CellBlock]) -> Cleaned:
        """Count rows, and collect their doubts."""
        self._as_written, self._beside_none = lambda _answer: "", ""
        for block in blocks:
            self._found(block.cells, block.counts)
        return self._counted()

    def with_undecided(self, counts: Cleaned) -> Cleaned:
        """Return counts with the number of texts that the review leaves to decide on."""
        return counts._replace(undecided=self.review.undecided()) if self.review else counts

    def _found(self, cells: list[str | None], counts: Sequence[int] | None) -> list[Any]:
        """Return what is written beside some cells, which are texts, or None if empty.

        Their rows are counted: one for each cell, or as many as ``counts`` says.
        """
        if len(self._known) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
            self._count_rows()
        beside = list(map(self._beside.get, cells))
        if None in beside:
            if unknown := [cell for cell in dict.fromkeys(cells) if cell not in self._known]:
                self._answer(unknown)
            beside = list(map(self._beside.get, cells))
        if counts is None:
            self._rows.update(cells)
        else:
            self._rows.update(dict(zip(cells, counts, strict=True)))
        return beside

    def _counted(self) -> Cleaned:
        """Return the numbers of rows of all cells, and forget them."""
        self._count_rows()
        counts = Cleaned(**{name: self._count[name] for name in Cleaned._fields})
        self._count.clear()
        return counts

    def _count_rows(self) -> None:
        """Count the rows of all known cells, and their doubts; forget the cells."""
        doubts = []
        for text, rows in self._rows.items():
            field, doubt = self._known[text]
            self._count[field] += rows
            if doubt is not None:
                self._count["doubtful"] += rows if field == "matched" else 0
                doubts.append(doubt._replace(times=rows))
        if self.review is not None:
            self.review.add(doubts)
        for kept in (self._known, self._beside, self._rows):
            kept.clear()
        self._characters = 0

    def _answer(self, cells: list[str | None]) -> None:
        """Look up cells that are not known yet."""
        queries = self.lookup.queries(cells)
        if self.review is not None:
            self.review.saw(queries)
        self._known.update(dict.fromkeys(cells, _Cell("blank")))
        self._beside.update(dict.fromkeys(cells, self._beside_none))
        for query, match in self.lookup.best(queries).items():
            is_decided = self.lookup.is_decided(query)
            doubt = None if is_decided else self._doubt(query, match)
            if match is None or not match.matches:
                self._known[query] = _Cell("refused" if is_decided else "unmatched", doubt)
            else:
                answer = match.key, match.value, round(match.score, 4)
                self._known[query] = _Cell("matched", doubt)
                self._beside[query] = self._as_written(answer)
        self._characters += sum(_length(cell or "") + _length(self._beside[cell]) for cell in cells)

    def _doubt(self, query: str, match: Match | None) -> Doubt | None:
        if match is None:
            return Doubt(query, 0, None, None, undecided(None))
        if match.score >= self.sure or match.key == query:
            return None
        guess = match.key if match.matches else None
        return Doubt(query, 0, match.key, match.score, undecided(guess))


def _length(beside: Any) -> int:
    """Return how many characters are kept of what is written: a text, or values, or nothing."""
    texts = [beside] if isinstance(beside, str) else beside or ()
    return sum(len(text) for text in texts if isinstance(text, str))


def _folded(cell: str) -> str:
    return cell.strip().casefold()
