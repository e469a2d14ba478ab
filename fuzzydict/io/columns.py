"""Match a column of a table in a file with the keys of a dict, or with another table.

`clean_column` copies a table (`io.tables`) and adds three columns: the key, value and score that
match each cell. `join_tables` adds the columns of another table, whose texts are the keys. What is
written beside a cell is found when the cell comes for the first time, and remembered.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict._files import replacing
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError
from fuzzydict.frames.match import SUFFIX, dict_of, new_names, require_how, row_of_each
from fuzzydict.io.review import Decided, Doubt, Review, check_ending, undecided
from fuzzydict.io.tables import checked_format, open_table
from fuzzydict.io.text_tables import Added, CellBlock, Reading
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from fuzzydict.io.review import MatchedKeys
    from fuzzydict.io.text_tables import Table


#: The least score of a match that is not doubtful, if none is given.
SURE = 0.8
_TOGETHER = 4096  # cells that are looked up at once
_REMEMBERED = 2**17  # cells
_REMEMBERED_CHARACTERS = 2**24  # of cells, and of what is written beside them
_BLANK_CELLS = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case
#: The columns that are written, each with a value of its type.
_NEW_COLUMNS: dict[str, list[Any]] = {"key": [""], "value": [""], "score": [0.0]}

#: The key, value and score that match a cell, or None for each.
Answer: TypeAlias = tuple[str | None, Any, float | None]


class Source(NamedTuple):
    """A column of a table: a file, or a stream of bytes of CSV, TSV or JSON Lines."""

    table: Path | BinaryIO
    column: str
    reading: Reading = Reading()


class Deciding(NamedTuple):
    """Where decisions are read, and where doubtful texts are written for more of them."""

    #: A review in which somebody decided; the texts in it find what was decided. The dict itself
    #: learns nothing.
    decisions: Path | None = None
    #: The file for the doubtful queries, as `review.Review` writes it. If it exists, what is
    #: decided in it holds as in ``decisions``, and stays.
    review: Path | None = None
    sure: float = SURE  # the lowest score of a match that is not doubtful


class Cleaned(NamedTuple):
    """The number of rows that matched, did not match, or were blank."""

    matched: int  # rows with a key
    unmatched: int  # rows without one, although nobody decided so
    blank: int  # rows that ask nothing
    doubtful: int = 0  # matches with a score below ``sure``
    refused: int = 0  # rows that should have no key, as somebody decided
    undecided: int = 0  # texts that the review leaves to decide on

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
    and the review are written when everything is done; if anything fails before, neither is.

    CSV has the delimiter and encoding of the table. ``prefix`` goes before "key", "value" and
    "score" in the new names; by default it is the column's name and "_". ``progress`` is called
    with the amount done and the total amount.

    Raises:
        OSError: a file cannot be read or written.
        FileFormatError: the table is not of its format, lacks the column, or has a new name; or
            decisions contradict each other or the dict.
        OptionError: a format is unknown, or two files are the same.
        MissingExtraError: pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    checked_format(source.table, source.reading.format)
    check_apart(source.table, output, deciding)
    matcher, added = ColumnMatcher(d, deciding), new_columns(source.column, prefix)
    opened = open_table(source.table, source.reading)
    counts = matcher.clean(opened, source.column, added, output, progress)
    return matcher.with_undecided(counts)


def new_columns(column: str, prefix: str | None) -> list[Added]:
    """Return the columns that are added for a column; ``prefix`` as for `clean_column`."""
    prefix, advice = f"{column}_" if prefix is None else prefix, "choose another prefix"
    return [Added(f"{prefix}{name}", like, advice) for name, like in _NEW_COLUMNS.items()]


def check_apart(table: Path | BinaryIO, output: Path | BinaryIO, deciding: Deciding) -> None:
    """Check that decisions and a review are in files of their own."""
    for what, path in {"decisions": deciding.decisions, "review": deciding.review}.items():
        for use, place in {"read": table, "written": output}.items():
            if path and _same(path, place):
                raise OptionError(
                    f"{path} is the table to be {use}; name another file for the {what}"
                )


def _same(*files: Path | BinaryIO) -> bool:
    paths = [os.path.realpath(file) for file in files if isinstance(file, Path)]
    return len(paths) == 2 and paths[0] == paths[1]


@contextmanager
def _written(output: Path | BinaryIO, review: Review | None) -> Iterator[BinaryIO]:
    """Open the output to write it, and then the review; the output takes its place at the end."""
    with replacing(output) if isinstance(output, Path) else nullcontext(output) as file:
        yield file
        if review:
            file.flush()  # so that a full disk is noticed before the review is written
            review.save()


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

    ``how`` is "left", "inner" or "anti", as for `fuzzydict.join`; ``suffix`` is added to the names
    that both tables have. The ``options`` are those of the `FuzzyDict` that is made of the keys,
    and its ``synonyms``. The rows of the left table are counted.

    Raises what `clean_column` and `fuzzydict.join` raise, FileFormatError if the texts of the right
    table are no keys, and OptionError if the output is the right table, or the left one if that is
    a workbook and ``how`` leaves rows out.
    """
    require_how(how)
    if _same(output, right.table):
        raise OptionError(f"{output} is the right table; write to another file")
    form = checked_format(left.table, left.reading.format)
    if how != "left" and form == "xlsx" and _same(left.table, output):
        raise OptionError(
            f"how: {output} would lose its other sheets, formulas and formats with the rows that "
            f"{how} leaves out; write to another file"
        )
    with open_table(right.table, right.reading) as table:
        names, lines, texts, rows = table.contents(right.column)
    try:
        row_of = row_of_each(texts, right.column, str(right.table), lines)
    except OptionError as error:
        raise FileFormatError(str(error)) from None
    d = dict_of({text: rows[row] for text, row in row_of.items()}, **options)
    with _written(output, None) as file, open_table(left.table, left.reading) as table:
        added = list[Added]()
        if how != "anti":
            new = new_names(table.names, names, suffix, add_score=add_score)
            likes: list[list[Any]] = [[row[n] for row in rows] for n in range(len(names))]
            advice = "rename it in one of the tables"
            pairs = zip(new, [*likes, [0.0]], strict=False)
            added = [Added(name, like, advice) for name, like in pairs]

        def beside(answer: Answer) -> Any:
            """Return what is written beside a row, or None if it is left out."""
            key, values, score = answer
            if how == "anti":
                return table.beside([]) if key is None else None
            if key is None:
                values = [None] * len(names)
            cells = [*values, score] if add_score else values
            return None if how == "inner" and key is None else table.beside(cells)

        return ColumnMatcher(d).copy(table, left.column, added, file, progress, beside)


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


def _keys_among(d: MatchedKeys, texts: Iterable[str]) -> list[str]:
    """Return those of some texts that are keys; a store is asked once for all."""
    if values_of := getattr(d, "values_of", None):
        return list(values_of(list(texts)))
    return [text for text in texts if text in d]


class BlankCells:
    """The cells that ask a dict nothing: empty ones, and such as "n/a", unless a key says so.

    >>> from fuzzydict import FuzzyDict
    >>> [cell in BlankCells(FuzzyDict({"NA": 1})) for cell in ("", " ", "N/A", "na", "none", "no")]
    [True, True, True, False, True, False]
    """

    def __init__(self, d: MatchedKeys) -> None:
        self._d = d
        if isinstance(d, dict):
            keys: Iterable[str] = (key for key in d if isinstance(key, str))
        else:  # of a store, those in the usual cases
            usual = (str.lower, str.upper, str.title, str.capitalize)
            keys = _keys_among(d, {write(text) for text in _BLANK_CELLS for write in usual})
        self._texts = _BLANK_CELLS.difference(key.strip().casefold() for key in keys)

    def __contains__(self, cell: str) -> bool:
        text = cell.strip().casefold()
        return (not text or text in self._texts) and cell not in self._d


class ColumnMatcher:
    """Finds what is written beside the cells of a column, in one table or several.

    The key of a cell is the one that equals it, or that somebody decided on, or the nearest, which
    ``nearest`` finds as `best_keys` does. It is asked about the texts of ``held_rows`` rows at a
    time, or more. `clean` saves the review, which need not exist yet; `copy` does not.
    """

    def __init__(
        self,
        d: MatchedKeys,
        deciding: Deciding = Deciding(),  # noqa: B008
        nearest: Callable[[list[str]], list[Match | None]] | None = None,
        held_rows: int = 0,
    ) -> None:
        path, self.sure = deciding.review, deciding.sure
        if path is not None:
            check_ending(path)
        files = [deciding.decisions, path if path and path.exists() else None]
        self.decided = Decided(d, filter(None, files))
        self.review = Review(path, self.decided) if path else None
        self._d, self._blank = d, BlankCells(d)
        self._nearest, self._held_rows = nearest or partial(best_keys, d), held_rows
        #: Of each known cell: the field of `Cleaned` that it counts in, and the doubt about it.
        self._known: dict[str | None, tuple[str, Doubt | None]] = {}
        self._beside: dict[str | None, Any] = {}  # what is written beside the known cells
        self._rows: Counter[str | None] = Counter()  # of each, which are not counted yet
        self._characters = 0
        if isinstance(d, dict) and not d:
            warnings.warn("there is no key to match with: nothing will match", stacklevel=3)

    def clean(
        self,
        opened: AbstractContextManager[Table],
        column: str,
        added: list[Added],
        output: Path | BinaryIO,
        progress: Callable[[int, int], None],
    ) -> Cleaned:
        """Write a table and the review; as `copy`."""
        with _written(output, self.review) as file, opened as table:
            return self.copy(table, column, added, file, progress)

    def copy(
        self,
        table: Table,
        column: str,
        added: list[Added],
        output: BinaryIO,
        progress: Callable[[int, int], None],
        as_written: Callable[[Answer], Any] | None = None,
    ) -> Cleaned:
        """Write a table with what is added beside each cell of a column; count its rows.

        By default these are key, value and score; ``as_written`` gives something else, or None
        where a row is left out.
        """
        count, blocks = Counter[str](), table.blocks(column)
        self._as_written = as_written or table.beside
        with table.copying(output, added):
            self._beside_none = self._as_written((None, None, None))
            for some in self._answered(blocks):
                for block in some:
                    cells, counts, _ = block
                    self._rows.update(
                        cells if counts is None else dict(zip(cells, counts, strict=True))
                    )
                    table.write(block, [*map(self._beside.get, cells)])
                if done := table.progress():
                    progress(*done)
                if len(self._known) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
                    self._count_rows(count)
        self._count_rows(count)
        return Cleaned(**{name: count[name] for name in Cleaned._fields})

    def _answered(self, blocks: Iterator[CellBlock]) -> Iterator[list[CellBlock]]:
        """Yield blocks, several together if that is quicker, once all their cells are known."""
        held, rows, new = list[CellBlock](), 0, dict[str | None, None]()
        for block in blocks:
            if None in map(self._beside.get, block.cells):
                new |= dict.fromkeys(cell for cell in block.cells if cell not in self._known)
            held.append(block)
            rows += sum(block.counts or [len(block.cells)])
            if not new or rows >= self._held_rows:
                self._answer([*new])
                yield held
                held, rows, new = [], 0, {}
        if held:
            self._answer([*new])
            yield held

    def with_undecided(self, counts: Cleaned) -> Cleaned:
        """Return counts with the number of texts that the review leaves to decide on."""
        return counts._replace(undecided=self.review.undecided()) if self.review else counts

    def _count_rows(self, count: Counter[str]) -> None:
        """Count the rows of all known cells, and their doubts; forget the cells."""
        doubts = []
        for text, rows in self._rows.items():
            field, doubt = self._known[text]
            count[field] += rows
            if doubt is not None:
                count["doubtful"] += rows if field == "matched" else 0
                doubts.append(doubt._replace(times=rows))
        if self.review is not None:
            self.review.add(doubts)
        for kept in (self._known, self._beside, self._rows):
            kept.clear()
        self._characters = 0

    def _is_decided(self, query: str) -> bool:
        """Tell whether somebody said which key a query finds, or none; an equal key goes first."""
        return query in self.decided and query not in self._d

    def _best(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query; None if there is no key to compare it with."""
        best: dict[str, Match | None] = dict.fromkeys(queries)
        equal = _keys_among(self._d, queries)
        found = self._d.nearest(equal, default=None)
        best.update(zip(equal, found, strict=True))  # None of a key that was removed just now
        known = {query: self.decided[query] for query in queries if self._is_decided(query)}
        keys = {query: key for query, key in known.items() if key is not None}
        of_keys = self._d.nearest([*keys.values()], default=None)
        for query, one in zip(keys, of_keys, strict=True):
            best[query] = one and Match(one.key, one.value, 1.0, query=query)
        known |= dict.fromkeys(equal)
        asked = [q for q in queries if q not in known and q not in self.decided and plain(q)]
        best.update(zip(asked, self._nearest(asked), strict=True))
        return best

    def _answer(self, cells: list[str | None]) -> None:
        """Look up cells that are not known yet."""
        if not cells:
            return
        asking = (cell for cell in cells if cell is not None)
        queries = [cell for cell in asking if cell not in self._blank or self._is_decided(cell)]
        if self.review is not None:
            self.review.saw(queries)
        self._known.update(dict.fromkeys(cells, ("blank", None)))
        self._beside.update(dict.fromkeys(cells, self._beside_none))
        for query, match in self._best(queries).items():
            is_decided, doubt = self._is_decided(query), None
            if match is None:
                doubt = Doubt(query, 0, None, None, undecided(None))
            elif match.score < self.sure and match.key != query:
                guess = match.key if match.matches else None
                doubt = Doubt(query, 0, match.key, match.score, undecided(guess))
            field = "refused" if is_decided else "unmatched"
            if match is not None and match.matches:
                field = "matched"
                answer = match.key, match.value, round(match.score, 4)
                self._beside[query] = self._as_written(answer)
            self._known[query] = field, None if is_decided else doubt
        for cell in cells:
            beside = self._beside[cell]
            kept = [cell, beside] if isinstance(beside, str) else [cell, *(beside or ())]
            self._characters += sum(len(text) for text in kept if isinstance(text, str))
