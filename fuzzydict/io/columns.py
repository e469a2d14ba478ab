"""Match the cells of a table's column with the keys of a dict."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from fuzzydict._files import replacing
from fuzzydict.errors import NoMatchError, OptionError
from fuzzydict.io.examples import Doubt, Review, check_new_review, undecided
from fuzzydict.io.tables import TABLES, NewColumns, add_columns, table_format, table_name
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fuzzydict.io.tables import Answer
    from fuzzydict.mapping import FuzzyDict

__all__ = ["Cleaned", "clean_column"]

_MAX_SCORES = 2**22  # scores in memory at once: queries times keys
_CACHE_SIZE = 65_536  # queries
_MAX_CACHED = 256  # characters of a query that is cached
_BLANK_CELLS = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case


class Cleaned(NamedTuple):
    """The number of rows that matched, did not match, or were blank.

    ``doubtful`` is the number of matches with a score below ``sure``.
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
    format: str | None = None,  # noqa: A002 - the usual name
    prefix: str | None = None,
    review: Path | None = None,
    sure: float = 0.8,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Cleaned:
    """Write a table with the key, value and score that match each cell of a column.

    Rows keep their order and their text. The new cells are empty if no key matches or the cell is
    blank. Cells such as ``n/a`` and ``unknown`` count as blank, unless a key says the same. The
    table may have any length, and ``output`` may be its own file. The output and the review are
    written when everything is done; if anything fails, neither is.

    Args:
        d: the dict; its ``score_cutoff`` decides what matches.
        table: a CSV, TSV, JSON Lines or Parquet file; or a stream of bytes, not of Parquet.
        column: the name of the column.
        output: a file, or a stream of bytes.
        format: the table's format, one of `tables.TABLES`; by default the file's ending says. A
            stream has no ending.
        prefix: goes before "key", "value" and "score" in the names of the new columns; by default
            the name of the column and "_".
        review: a new file for the doubtful queries, written by `examples.Review`.
        sure: the lowest score of a match that is not doubtful.
        progress: called with the amount done and the total amount.

    Raises:
        OSError: a file cannot be read or written.
        FileFormatError: the table is not of its format, lacks the column, or has one of the new
            names already.
        OptionError: the format is unknown, or ``review`` has another ending than a review or
            exists already: it may hold corrections.
        MissingExtraError: pyarrow, which reads Parquet, is not installed.
    """
    form = format or (table_format(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{table_name(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    if review is not None:
        check_new_review(review)
        if isinstance(output, Path) and review.resolve() == output.resolve():
            raise OptionError(
                f"{review} is the table to be written; name another file for the review"
            )
    prefix = f"{column}_" if prefix is None else prefix
    names = (f"{prefix}key", f"{prefix}value", f"{prefix}score")
    with nullcontext() if review is None else Review() as doubts:
        matcher = _ColumnMatcher(d, doubts, sure)
        try:
            with _opened(output) as file:
                add_columns(table, file, form, NewColumns(column, names, matcher.answer, progress))
                if doubts and review:
                    file.flush()  # so that a full disk is noticed before the review is written
                    doubts.save(review)
        except BaseException:
            if review is not None:  # without its table, it would stop the next run
                review.unlink(missing_ok=True)
            raise
    return Cleaned(**{name: matcher.count[name] for name in Cleaned._fields})


def _opened(output: Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    return replacing(output) if isinstance(output, Path) else nullcontext(output)


class _ColumnMatcher:
    """Answers batches of cells and counts the results. Recent queries are cached."""

    def __init__(self, d: FuzzyDict[Any], review: Review | None, sure: float) -> None:
        self.d, self.review, self.sure = d, review, sure
        self.count: Counter[str] = Counter()
        self._cache: OrderedDict[str, Match | None] = OrderedDict()
        self._blank = _BLANK_CELLS.difference(_folded(key) for key in d if isinstance(key, str))

    def answer(self, cells: Sequence[str | None]) -> dict[str | None, Answer]:
        """Return key, value and score of each cell that has a match."""
        queries = Counter(cell for cell in cells if cell is not None and not self._is_blank(cell))
        best = self._best_cached(list(queries))
        matched: dict[str | None, Answer] = {
            query: (match.key, match.value, round(match.score, 4))
            for query, match in best.items()
            if match is not None and self._is_match(query, match)
        }
        doubts = list(self._doubts(queries, best))
        hits = sum(number for query, number in queries.items() if query in matched)
        self.count["matched"] += hits
        self.count["doubtful"] += sum(doubt.times for doubt in doubts if doubt.query in matched)
        self.count["unmatched"] += queries.total() - hits
        self.count["blank"] += len(cells) - queries.total()
        if self.review is not None:
            self.review.add(doubts)
        return matched

    def _is_blank(self, cell: str) -> bool:
        text = _folded(cell)
        return (not text and cell not in self.d) or text in self._blank

    def _is_match(self, query: str, match: Match) -> bool:
        return match.key == query or (match.score >= self._cutoff and match.score > -math.inf)

    @cached_property
    def _cutoff(self) -> float:
        """The cutoff in use: the one that was set, or the scorer's default."""
        return float(self.d.explain("any word").cutoff)

    def _best_cached(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query, whatever its score."""
        best = {query: self._cache[query] for query in queries if query in self._cache}
        best.update(self._best([query for query in queries if query not in best]))
        for query in queries:
            if len(query) <= _MAX_CACHED:
                self._cache[query] = best[query]
                self._cache.move_to_end(query)
        while len(self._cache) > _CACHE_SIZE:
            self._cache.popitem(last=False)
        return best

    def _best(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query; None if there is no key to compare it with."""
        best: dict[str, Match | None] = {
            query: Match(query, dict.__getitem__(self.d, query), 1.0) if query in self.d else None
            for query in queries
        }
        others = [query for query, match in best.items() if match is None and plain(query)]
        step = max(1, _MAX_SCORES // max(1, len(self.d)))
        for start in range(0, len(others), step):
            some = others[start : start + step]
            try:
                ranked = self.d.most_similar(some, topn=1)
            except NoMatchError:  # no key has letters or digits
                break
            best.update((query, row[0]) for query, row in zip(some, ranked, strict=True) if row)
        return best

    def _doubts(self, queries: Counter[str], best: dict[str, Match | None]) -> Iterator[Doubt]:
        for query, match in best.items():
            if match is None:
                yield Doubt(query, queries[query], None, None, undecided(None))
            elif match.score < self.sure and match.key != query:
                guess = match.key if self._is_match(query, match) else None
                yield Doubt(query, queries[query], match.key, match.score, undecided(guess))


def _folded(cell: str) -> str:
    return cell.strip().casefold()
