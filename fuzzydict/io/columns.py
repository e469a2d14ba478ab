"""Match the cells of a table's column with the keys of a dict."""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from fuzzydict._files import replacing
from fuzzydict.errors import OptionError
from fuzzydict.io.asking import best_of, cutoff_of, is_match
from fuzzydict.io.review import Doubt, Review, check_new, undecided
from fuzzydict.results.tables import TABLES, Columns, add_columns, name_of, table_format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fuzzydict.mapping import FuzzyDict
    from fuzzydict.results.answers import Match
    from fuzzydict.results.tables import Answer

__all__ = ["Cleaned", "clean_column"]

_REMEMBERED = 65_536  # queries in the cache
_LONGEST = 256  # characters of a query that is cached
_NOTHING = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case: blank


class Cleaned(NamedTuple):
    """The number of rows that matched, did not match, or were blank.

    Attributes:
        doubtful: the number of matches with a score below ``sure``.
    """

    matched: int
    unmatched: int
    blank: int
    doubtful: int = 0

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return self.matched + self.unmatched + self.blank


def clean_column(
    d: FuzzyDict[Any],
    table: Path | BinaryIO,
    column: str,
    output: Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    prefix: str | None = None,
    review: Path | None = None,
    sure: float = 0.8,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Cleaned:
    """Write a table with the key, value and score that match each cell of a column.

    Rows and their order are kept. The new cells are empty where no key matches or the cell is
    blank. Cells such as ``n/a`` and ``unknown`` count as blank, unless a key says the same. The
    table may be of any length. ``output`` may be the table's own file. It and the review are
    written when all is done; if anything fails, neither is.

    Args:
        d: the dict; its ``score_cutoff`` says what matches.
        table: a CSV, TSV, JSON Lines or Parquet file; or a stream of bytes, not of Parquet.
        column: the name of the column.
        output: a file, or a stream of bytes.
        format: the table's, one of `tables.TABLES`; by default what its ending says. A stream
            has no ending.
        prefix: goes before "key", "value" and "score" in the names of the new columns; by default
            the name of the column and "_".
        review: a new file for the doubtful queries, as `review.Review` writes them.
        sure: the least score of a match that is not doubtful.
        progress: called with the amount done and the total amount.

    Raises:
        OSError: a file cannot be read or written.
        FileFormatError: the table is not of its format, has no such column, or has one of the
            new names already.
        OptionError: the format is none of `tables.TABLES`, or ``review`` exists already or does
            not end as a review does. A review that exists may hold somebody's corrections.
        MissingExtraError: the package that reads Parquet is not installed.
    """
    form = format or (table_format(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{name_of(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    begin = f"{column}_" if prefix is None else prefix
    names = (f"{begin}key", f"{begin}value", f"{begin}score")
    if review is None:
        cleaner = _Cleaner(d, None, sure)
        with _opened(output) as file:
            add_columns(table, file, form, Columns(column, names, cleaner.answers, progress))
        return cleaner.counts()
    check_new(review)
    if isinstance(output, Path) and review.resolve() == output.resolve():
        raise OptionError(f"{review} is the table to be written; name another file for the review")
    with Review() as doubts:
        cleaner = _Cleaner(d, doubts, sure)
        try:
            with _opened(output) as file:
                add_columns(table, file, form, Columns(column, names, cleaner.answers, progress))
                file.flush()  # a full disk shows before the review is there
                doubts.save(review)
        except BaseException:  # without its table, the review would stop the next run
            review.unlink(missing_ok=True)
            raise
    return cleaner.counts()


def _opened(output: Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    return replacing(output) if isinstance(output, Path) else nullcontext(output)


class _Cleaner:
    """Answers batches of cells and counts the results. A query is looked up once while cached."""

    def __init__(self, d: FuzzyDict[Any], review: Review | None, sure: float) -> None:
        self.d, self.review, self.sure = d, review, sure
        self.cutoff = cutoff_of(d)
        self.count: Counter[str] = Counter()
        self._known: OrderedDict[str, Match | None] = OrderedDict()
        self._nothing = _NOTHING.difference(_said(key) for key in d if isinstance(key, str))

    def counts(self) -> Cleaned:
        """Return the counts so far."""
        return Cleaned(**{name: self.count[name] for name in Cleaned._fields})

    def answers(self, cells: Sequence[str | None]) -> dict[str | None, Answer]:
        """Return key, value and score of each cell that has a match."""
        asked = Counter(cell for cell in cells if cell is not None and not self._is_blank(cell))
        found = self._found(list(asked))
        matched: dict[str | None, Answer] = {
            query: (best.key, best.value, round(best.score, 4))
            for query, best in found.items()
            if best is not None and is_match(query, best, self.cutoff)
        }
        hits = sum(asked[query] for query in matched if query is not None)
        doubts = list(self._doubts(asked, found))
        self.count["matched"] += hits
        self.count["doubtful"] += sum(doubt.times for doubt in doubts if doubt.query in matched)
        self.count["unmatched"] += asked.total() - hits
        self.count["blank"] += len(cells) - asked.total()
        if self.review is not None:
            self.review.add(doubts)
        return matched

    def _is_blank(self, cell: str) -> bool:
        said = _said(cell)
        return (not said and cell not in self.d) or said in self._nothing

    def _found(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query, whatever its score; recent ones come from a cache."""
        found = {query: self._known[query] for query in queries if query in self._known}
        new = [query for query in queries if query not in found]
        found.update(best_of(self.d, new))
        for query in queries:
            if len(query) <= _LONGEST:
                self._known[query] = found[query]
                self._known.move_to_end(query)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _doubts(self, asked: Counter[str], found: dict[str, Match | None]) -> Iterator[Doubt]:
        for query, best in found.items():
            if best is None:
                yield Doubt(query, asked[query], None, None, undecided(None))
            elif best.score < self.sure and best.key != query:
                guess = best.key if is_match(query, best, self.cutoff) else None
                yield Doubt(query, asked[query], best.key, best.score, undecided(guess))


def _said(cell: str) -> str:
    return cell.strip().casefold()
