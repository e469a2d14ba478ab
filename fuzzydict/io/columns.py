"""Match the cells of a table's column with the keys of a dict."""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

import numpy as np

from fuzzydict._files import replacing
from fuzzydict.errors import NoMatchError, OptionError
from fuzzydict.io.records import (
    DELIMITERS,
    ROWS,
    as_cell,
    as_json,
    csv_row,
    encoded,
    format_by_ending,
)
from fuzzydict.io.tables import TABLES, Columns, add_columns, name_of, table_format
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fuzzydict.io.tables import Answer
    from fuzzydict.mapping import FuzzyDict

__all__ = [
    "Cleaned",
    "Doubt",
    "Review",
    "best_of",
    "check_new",
    "clean_column",
    "cutoff_of",
    "is_match",
    "is_undecided",
    "matches",
    "undecided",
]


_SCORES = 2**22  # scores in memory at once: queries times keys


def matches(d: FuzzyDict[Any], query: str, n: int = 1) -> list[Match]:
    """Return up to ``n`` keys that match a query, best first, in either mode of the dict.

    Raises:
        NoMatchError: no key matches.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"color": "black", "colors": 3, "price": 109000}, score_cutoff=0)
    >>> [match.key for match in matches(d, "colour", 2)]
    ['color', 'colors']
    """
    nearest: Match = d.nearest(query)
    if n == 1 or not plain(query):
        return [nearest]
    others = [match for match in d.most_similar(query, topn=n) if match.key != nearest.key]
    cutoff = cutoff_of(d)
    return [nearest, *(match for match in others[: n - 1] if is_match(query, match, cutoff))]


def cutoff_of(d: FuzzyDict[Any]) -> float:
    """Return the cutoff in use: the one that was set, or the scorer's default."""
    with d._lookup() as lookup:
        return d._cutoff(lookup)


def is_match(query: str, match: Match, cutoff: float) -> bool:
    """Return whether a key matches. An equal key always does, one of score -inf never."""
    return match.key == query or (match.score >= cutoff and match.score > -np.inf)


def best_of(d: FuzzyDict[Any], queries: Sequence[str]) -> dict[str, Match | None]:
    """Return the best key of each query, whatever its score; None if nothing can be compared."""
    best: dict[str, Match | None] = {
        query: Match(query, dict.__getitem__(d, query), 1.0) if query in d else None
        for query in queries
    }
    others = [query for query, match in best.items() if match is None and plain(query)]
    step = max(1, _SCORES // max(1, len(d)))
    for start in range(0, len(others), step):
        some = others[start : start + step]
        try:
            ranked = d.most_similar(some, topn=1)
        except NoMatchError:  # no key has letters or digits
            break
        best.update((query, row[0]) for query, row in zip(some, ranked, strict=True) if row)
    return best


_MARK = "?"  # of a target that nobody has decided on
_COLUMNS = ("query", "count", "key", "score", "target")
_CREATE = "CREATE TABLE doubt (query BLOB UNIQUE, count INTEGER, key BLOB, score REAL, target BLOB)"
_ADD = (
    "INSERT INTO doubt VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (query) DO UPDATE SET count = count + excluded.count"
)
_ORDERED = "SELECT * FROM doubt ORDER BY count DESC, rowid"


class Doubt(NamedTuple):
    """A query, how often it occurs, its best key if there is one, and the target to decide on."""

    query: str
    times: int
    key: str | None
    score: float | None
    target: str | None


class Review:
    """Counts doubtful queries in a database on the disk, and writes them to a table.

    The most frequent come first. A person then decides on the column ``target``: the right key,
    or nothing if none is right. After that `examples.read_examples` reads the table.
    """

    def __init__(self) -> None:
        import sqlite3

        # Without a name, SQLite makes a temporary file.
        self._counted = sqlite3.connect("", isolation_level=None)
        self._counted.execute("PRAGMA synchronous = OFF")
        self._counted.execute(_CREATE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._counted.close()

    def add(self, doubts: Iterable[Doubt]) -> None:
        """Count doubtful queries.

        Raises:
            OSError: the disk is full.
        """
        from sqlite3 import OperationalError

        rows = [[_as_bytes(part) for part in doubt] for doubt in doubts]
        try:
            self._counted.execute("BEGIN")
            self._counted.executemany(_ADD, rows)
            self._counted.execute("COMMIT")
        except OperationalError as error:
            raise OSError(f"the review cannot be kept in a temporary file: {error}") from error

    def save(self, path: Path) -> None:
        """Write the table, whole or not at all, as CSV, TSV or JSON Lines by its ending.

        Raises:
            OSError: it cannot be written.
            OptionError: the ending says another format, or none.
        """
        form = _format_of(path)
        with replacing(path) as file:
            if form != "jsonl":
                file.write(encoded(csv_row(_COLUMNS, DELIMITERS[form]) + "\n"))
            for row in self._counted.execute(_ORDERED):
                doubt = Doubt(*map(_as_text, row))
                if doubt.score is not None:
                    doubt = doubt._replace(score=round(doubt.score, 4))
                if form == "jsonl":
                    line = as_json(dict(zip(_COLUMNS, doubt, strict=True)))
                else:
                    line = csv_row(map(as_cell, doubt), DELIMITERS[form])
                file.write(encoded(line + "\n"))


def undecided(guess: str | None) -> str:
    """Return the target of a query for which nobody has said that the guess is right.

    >>> undecided("Germany"), undecided(None)
    ('? Germany', '?')
    """
    return _MARK if guess is None else f"{_MARK} {guess}"


def is_undecided(target: str) -> bool:
    """Return whether a target looks like one of `undecided`. A key may look so, too."""
    return target == _MARK or target.startswith(f"{_MARK} ")


def check_new(path: Path) -> None:
    """Check that a review can be written to ``path``, which must not exist.

    Raises:
        OptionError: it exists, or its ending says another format, or none.
    """
    _format_of(path)
    if path.exists():
        raise OptionError(
            f"{path} is there already, and may hold corrections; name another file for the review"
        )


def _format_of(path: Path) -> str:
    form = format_by_ending(path, ROWS)
    if form is None:
        raise OptionError(f"{path}: a review ends in .csv, .tsv or .jsonl, to be corrected by hand")
    return form


def _as_bytes(part: Any) -> Any:
    """Return text as bytes, for SQLite refuses lone surrogates in text."""
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


def _as_text(part: Any) -> Any:
    return part.decode("utf-8", "surrogatepass") if isinstance(part, bytes) else part


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
