"""Match a column of a table in a file with the keys of a dict, or with another table.

What is written beside a cell is found when the cell comes for the first time, and remembered.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict._files import replacing
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError
from fuzzydict.frames.match import SUFFIX, dict_of, new_names, require_how, row_of_each
from fuzzydict.io.review import DecidedFile, Review, decided_keys
from fuzzydict.io.tables import checked_format, open_table
from fuzzydict.io.text_tables import Beside, Block, Reading, Table, check_names, is_same
from fuzzydict.results.answers import Match
from fuzzydict.stores.base import Progress, untold
from fuzzydict.stores.remote import AnyDict, RemoteDict
from fuzzydict.text.words import plain, same_text

#: The least score of a match that is not doubtful, if none is given.
SURE = 0.8
_TOGETHER = 4096  # cells that are looked up at once
_REMEMBERED = 2**17  # cells
_HELD_ROWS = 2**15  # whose texts other processes are asked at a time
_CHARACTERS = 2**7  # of a cell on average, and of what is written beside it
_BLANK_CELLS = frozenset(  # in any case
    ("n/a", "n.a.", "#n/a", "na", "nan", "none", "null", r"\n", "unknown", "-", "--", ".", "?")
)

#: What finds the best keys of texts, as `best_keys` does.
Nearest: TypeAlias = "Callable[[list[str]], list[Match | None]]"


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
    d: AnyDict,
    source: Source,
    output: Path | BinaryIO,
    *,
    prefix: str | None = None,
    deciding: Deciding = Deciding(),  # noqa: B008
    nearest: Nearest | None = None,
    progress: Progress = untold,
) -> Cleaned:
    """Write a table with the key, value and score that match each cell of a column.

    All else stays as it is written; of a workbook, what openpyxl reads. The new cells are empty if
    no key matches, or the cell is in `BlankCells`. ``output`` may be the table. It and the review
    are written when everything is done; if anything fails before, neither is. ``prefix`` goes
    before "key", "value" and "score" in the new names; by default it is the column's name and "_".
    """
    check_apart(source.table, output, deciding)
    matcher = ColumnMatcher(d, _REMEMBERED, deciding, nearest)
    added = new_columns(source.column, prefix)
    with replacing(output) if isinstance(output, Path) else nullcontext(output) as file:
        with open_table(source.table, source.reading) as table:
            counts = matcher.copy(table, source.column, added, file, progress)
        # The table is closed, and the output takes its place only after the review is saved.
        if matcher.review:
            file.flush()  # so that a full disk is noticed before the review is written
            counts = counts._replace(undecided=matcher.review.save())
    return counts


def new_columns(column: str, prefix: str | None) -> dict[str, list[Any]]:
    """Return the columns that are added for a column, each with a value of its type."""
    prefix = f"{column}_" if prefix is None else prefix
    return {f"{prefix}key": [""], f"{prefix}value": [""], f"{prefix}score": [0.0]}


def check_apart(table: Path | BinaryIO, output: Path | BinaryIO, deciding: Deciding) -> None:
    """Check that decisions and a review are in files of their own."""
    for what, path in {"decisions": deciding.decisions, "review": deciding.review}.items():
        for use, place in {"read": table, "written": output}.items():
            if is_same(path, place):
                raise OptionError(
                    f"{path} is the table to be {use}; name another file for the {what}"
                )


def join_tables(
    left: Source,
    right: Source,
    output: Path | BinaryIO,
    *,
    how: str = "left",
    add_score: bool = True,
    suffix: str = SUFFIX,
    progress: Progress = untold,
    **options: Any,
) -> Cleaned:
    """Write the left table with the row of the right one that means the same beside each row.

    The right one is kept in memory, and may be of another format. ``how`` and ``suffix`` are as for
    `fuzzydict.join`; the ``options`` are those of the `FuzzyDict` that is made of the keys, and its
    ``synonyms``. The rows of the left table are counted.
    """
    require_how(how)
    if is_same(output, right.table):
        raise OptionError(f"{output} is the right table; write to another file")
    form = checked_format(left.table, left.reading.format)
    if how != "left" and form == "xlsx" and is_same(left.table, output):
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
    written = replacing(output) if isinstance(output, Path) else nullcontext(output)
    with written as file, open_table(left.table, left.reading) as table:
        if how == "anti":
            names, add_score = [], False
        new = new_names(table.names, names, suffix, add_score=add_score)
        likes: list[list[Any]] = [[row[n] for row in rows] for n in range(len(names))]
        added = dict(zip(new, [*likes, [0.0]], strict=False))

        def beside(key: str | None, values: Any, score: float | None) -> Any:
            """Return what is written beside a row, or None if it is left out."""
            if how == ("inner" if key is None else "anti"):
                return None
            cells = [None] * len(names) if key is None else values
            return table.beside([*cells, score] if add_score else cells)

        return ColumnMatcher(d, _REMEMBERED).copy(table, left.column, added, file, progress, beside)


# ---- which key ---------------------------------------------------------------------------


def best_keys(d: AnyDict, queries: list[str]) -> list[Match | None]:
    """Return the best key of each query, a match or not; None if there is no key to compare."""
    best = dict[str, Match | None]()
    ordered = sorted(queries)  # so that texts with a word in common are compared together
    for start in range(0, len(queries), _TOGETHER):
        some = ordered[start : start + _TOGETHER]
        try:
            ranked = d.most_similar(some, topn=1)
        except NoMatchError:  # no key has letters or digits
            return [None] * len(queries)
        best.update((text, row[0] if row else None) for text, row in zip(some, ranked, strict=True))
    return [best[text] for text in queries]


class BlankCells:
    """The cells that ask a dict nothing: empty ones, and such as "n/a", unless a key says so.

    >>> from fuzzydict import FuzzyDict
    >>> [cell in BlankCells(FuzzyDict({"NA": 1})) for cell in ("", " ", "N/A", "na", "none", "no")]
    [True, True, True, False, True, False]
    """

    def __init__(self, d: AnyDict) -> None:
        self._d = d
        keys: Iterable[Any] = d
        if isinstance(d, RemoteDict):  # those in the usual cases
            usual = (str.lower, str.upper, str.title, str.capitalize)
            keys = d.values_of([*{write(text) for text in _BLANK_CELLS for write in usual}])
        texts = (key for key in keys if isinstance(key, str))
        self._texts = _BLANK_CELLS.difference(key.strip().casefold() for key in texts)

    def __contains__(self, cell: str) -> bool:
        text = cell.strip().casefold()
        return (not text or text in self._texts) and cell not in self._d


class ColumnMatcher:
    """Finds what is written beside the cells of a column, in one table or several.

    The key of a cell is the one that equals it, or that somebody decided on, or the nearest; other
    processes may find it by ``nearest``. Each different text is looked up once, as long as it is
    remembered.
    """

    def __init__(
        self,
        d: AnyDict,
        remembered: int,
        deciding: Deciding = Deciding(),  # noqa: B008
        nearest: Nearest | None = None,
    ) -> None:
        path, self.sure = deciding.review, deciding.sure
        paths = deciding.decisions, path if path and path.exists() else None
        files = {one: DecidedFile(one, d) for one in paths if one}
        self.decisions = [one for file in files.values() for one in file.decisions]
        self._decided = decided_keys(d, files.values())
        self.review = Review(path, files.get(path)) if path else None
        self._d, self._blank = d, BlankCells(d)
        self._nearest = nearest or partial(best_keys, d)
        self._rows_at_once = _HELD_ROWS if nearest else 0
        #: Of each known cell the field of `Cleaned` that it counts in, its best key, and whether
        #: somebody should look at it.
        self._known: dict[str | None, tuple[str, Match | None, bool]] = {}
        self._remembered, self._characters = remembered, 0  # of what is known
        if not any(True for _ in d):
            warnings.warn("there is no key to match with: nothing will match", stacklevel=3)

    def copy(
        self,
        table: Table,
        column: str,
        added: Mapping[str, Sequence[Any]],
        output: BinaryIO,
        progress: Progress,
        as_written: Callable[[str | None, Any, float | None], Any] | None = None,
    ) -> Cleaned:
        """Write a table with key, value and score beside each cell of a column; count its rows.

        ``as_written`` makes something else of these, or None where a row is left out.
        """
        as_written = as_written or (lambda *cells: table.beside(cells))
        blocks = _together(table.blocks(column), self._rows_at_once)
        first = next(blocks, [])  # if there is no such column, nothing is written
        check_names(table.names, added, table.name)
        count, rows = Counter[str](), Counter[str | None]()

        def matched() -> Iterator[Beside]:
            nothing, beside = as_written(None, None, None), dict[str | None, Any]()
            for some in chain([first], blocks):
                cells = dict.fromkeys(chain.from_iterable(block.cells for block in some))
                new = [cell for cell in cells if cell not in beside]
                if unknown := [cell for cell in new if cell not in self._known]:
                    self._look_up(unknown)
                for cell in new:
                    field, best, _ = self._known[cell]
                    beside[cell] = nothing
                    if best is not None and field == "matched":
                        beside[cell] = as_written(best.key, best.value, round(best.score, 4))
                    self._characters += len(cell or "") + len(str(beside[cell]))
                for block in some:
                    counts = block.counts and dict(zip(block.cells, block.counts, strict=True))
                    rows.update(counts or block.cells)
                    yield block, [beside[cell] for cell in block.cells]
                if done := table.progress():
                    progress(*done)
                if max(len(self._known), self._characters / _CHARACTERS) > self._remembered:
                    self._count(rows, count)
                    for known in (rows, beside, self._known):
                        known.clear()
                    self._characters = 0

        table.copy(output, added, matched())
        self._count(rows, count)
        return Cleaned(**{name: count[name] for name in Cleaned._fields})

    def _count(self, rows: Counter[str | None], count: Counter[str]) -> None:
        """Add the numbers of rows of known cells to the fields of `Cleaned`, and their doubts."""
        for cell, times in rows.items():
            field, best, is_doubtful = self._known[cell]
            count[field] += times
            if is_doubtful and cell is not None:
                count["doubtful"] += times * (field == "matched")
                if self.review:
                    self.review.add(cell, best, times)

    def _look_up(self, cells: list[str | None]) -> None:
        d, texts = self._d, [cell for cell in cells if cell is not None]
        stored = d.values_of(texts) if isinstance(d, RemoteDict) else d  # asked once for all
        # An equal key goes before what somebody said that a query finds.
        same = {text: same_text(text) for text in texts if text not in stored and self._decided}
        decided = {text: self._decided[one] for text, one in same.items() if one in self._decided}
        queries = [text for text in texts if text in decided or text not in self._blank]
        if self.review:
            self.review.saw(queries)
        best: dict[str, Match | None] = dict.fromkeys(queries)
        keys = decided | {text: text for text in queries if text in stored}
        given = {text: key for text, key in keys.items() if key is not None}
        found = d.nearest([*given.values()], default=None)  # None: just removed
        for text, one in zip(given, found, strict=True):
            is_new = one is not None and text in decided
            best[text] = Match(one.key, one.value, 1.0, query=text) if is_new else one
        asked = [text for text in queries if text not in keys and plain(text)]
        best.update(zip(asked, self._nearest(asked), strict=True))
        self._known.update(dict.fromkeys(cells, ("blank", None, False)))
        for text, match in best.items():
            field = "refused" if text in decided else "unmatched"
            is_sure = False
            if match is not None and match.matches:
                field = "matched"
                is_sure = match.score >= self.sure or match.key == text
            self._known[text] = field, match, not is_sure and text not in decided


def _together(blocks: Iterator[Block], least: int) -> Iterator[list[Block]]:
    """Yield blocks in lists of so many rows, or more."""
    some, rows = list[Block](), 0
    for block in blocks:
        some.append(block)
        rows += sum(block.counts or [len(block.cells)])
        if rows >= least:
            yield some
            some, rows = [], 0
    if some:
        yield some
