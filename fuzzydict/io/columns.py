"""Match a column of a table in a file with the keys of a dict.

`clean_column` copies a CSV, TSV, JSON Lines or Parquet table and adds three columns: the key, value
and score that match each cell. Everything else stays as it is written. Rows are read and written in
blocks, so that memory does not grow with the table. What is written beside a cell is found when the
cell comes for the first time, and remembered.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from fuzzydict._files import open_to_read, replacing
from fuzzydict.errors import (
    FileFormatError,
    FuzzyDictError,
    MissingExtraError,
    NoMatchError,
    OptionError,
    quoted,
)
from fuzzydict.io.examples import undecided
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    as_cell,
    as_json,
    column_index,
    csv_blocks,
    csv_row,
    encoded,
    format_by_ending,
    json_blocks,
)
from fuzzydict.io.review import Decided, Doubt, Review, check_ending
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fuzzydict.mapping import FuzzyDict


TABLES = (*ROW_FORMATS, "parquet")
_TOGETHER = 4096  # cells that are looked up at once
_REMEMBERED = 2**17  # cells
_REMEMBERED_CHARACTERS = 2**24  # of cells, and of what is written beside them
_BLANK_CELLS = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case
_PARQUET_ROWS = 16_384  # of a block, which becomes a row group

T = TypeVar("T")
#: The key, value and score that match a cell, or None for each.
Answer: TypeAlias = tuple[str | None, Any, float | None]
_NO_ANSWER: Answer = (None, None, None)


def table_format(path: Path) -> str | None:
    """Return the one of `TABLES` that a file's ending names, or None."""
    return format_by_ending(path, TABLES)


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
    d: FuzzyDict[Any],
    table: Path | BinaryIO,
    column: str,
    output: Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002 - the usual name
    prefix: str | None = None,
    decisions: Path | None = None,
    review: Path | None = None,
    sure: float = 0.8,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Cleaned:
    """Write a table with the key, value and score that match each cell of a column.

    Rows keep their order. The text of CSV, TSV and JSON Lines stays the same, and so do the types,
    metadata and (first) compression of Parquet, whose new columns are text and 64-bit floats.

    The new cells are empty if no key matches or the cell is blank, as ``n/a`` is, unless a key
    says the same. The table may have any length, and ``output`` may be its own file. The output
    and the review are written when everything is done; if anything fails, neither is.

    Args:
        d: the dict; its ``score_cutoff`` decides what matches, and what it was taught is certain.
        table: a CSV, TSV, JSON Lines or Parquet file; or a stream of bytes, not of Parquet.
        column: the name of the column.
        output: a file, or a stream of bytes.
        format: the table's format, one of `TABLES`; by default the file's ending says.
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
        MissingExtraError: pyarrow, which reads Parquet, is not installed.
    """
    form = _checked_format(table, format)
    _check_apart(table, output, decisions, review)
    if review is not None:
        check_ending(review)
    existing = review if review is not None and review.exists() else None
    decided = Decided(d, [path for path in (decisions, existing) if path is not None])
    prefix = f"{column}_" if prefix is None else prefix
    names = (f"{prefix}key", f"{prefix}value", f"{prefix}score")
    with nullcontext() if review is None else Review(review, decided) as doubts:
        matcher = _ColumnMatcher(d, decided, doubts, sure, _written_as(form, names))
        columns = _NewColumns(column, names, matcher, progress)
        _write(table, output, form, columns, doubts)
        if doubts:
            matcher.count["undecided"] = doubts.undecided()
    return Cleaned(**{name: matcher.count[name] for name in Cleaned._fields})


def _write(
    table: Path | BinaryIO,
    output: Path | BinaryIO,
    form: str,
    columns: _NewColumns,
    review: Review | None,
) -> None:
    """Write the output and the review, both or none."""
    try:
        with _opened(output) as file:
            _add_columns(table, file, form, columns)
            columns.matcher.count_rows()
            if review:
                file.flush()  # so that a full disk is noticed before the review is written
                review.save()
    except BaseException:
        if review:
            review.restore()
        raise


def _checked_format(table: Path | BinaryIO, format: str | None) -> str:  # noqa: A002
    form = format or (table_format(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{_name_of(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    return form


def _check_apart(
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


def _opened(output: Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    return replacing(output) if isinstance(output, Path) else nullcontext(output)


def _name_of(table: Path | BinaryIO) -> str:
    """Return the name of a table for messages."""
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


# ---- which key ---------------------------------------------------------------------------


class _Cell(Generic[T]):
    """What is known of a cell.

    Attributes:
        beside: what is written beside it.
        count: the name of `Cleaned` under which its rows count.
        doubt: the doubt about it, if there is one.
        rows: how many rows have it, of those that are not counted yet.
    """

    __slots__ = ("beside", "count", "doubt", "rows")

    def __init__(self, beside: T, count: str, doubt: Doubt | None = None) -> None:
        self.beside, self.count, self.doubt, self.rows = beside, count, doubt, 0


class _ColumnMatcher(Generic[T]):
    """Finds what is written beside the cells of a column, and counts the rows.

    Args:
        d: the dict.
        decided: what somebody decided. A text that equals a key finds that key all the same.
        review: collects the doubts.
        sure: the lowest score of a match that is not doubtful.
        written: returns an answer as it is written.

    Attributes:
        count: the rows by the names of `Cleaned`, those of `count_rows`.
    """

    def __init__(
        self,
        d: FuzzyDict[Any],
        decided: Decided,
        review: Review | None,
        sure: float,
        written: Callable[[Answer], T],
    ) -> None:
        self.d, self.decided, self.review, self.sure = d, decided, review, sure
        self.count: Counter[str] = Counter()
        self._written, self._beside_none = written, written(_NO_ANSWER)
        self._known: dict[str | None, _Cell[T]] = {}
        self._characters = 0
        self._blank = _BLANK_CELLS.difference(_folded(key) for key in d if isinstance(key, str))

    def of(self, cells: list[str | None]) -> list[_Cell[T]]:
        """Return what is known of each of some cells, which are texts, or None if empty.

        The caller adds to the ``rows`` of each, before the next call.
        """
        if len(self._known) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS:
            self.count_rows()
        known = list(map(self._known.get, cells))
        if None in known:
            self._answer(list(dict.fromkeys(filterfalse(self._known.__contains__, cells))))
            known = list(map(self._known.get, cells))
        return cast("list[_Cell[T]]", known)

    def count_rows(self) -> None:
        """Count the rows of all known cells, and their doubts; forget the cells."""
        doubts = []
        for cell in self._known.values():
            self.count[cell.count] += cell.rows
            if cell.doubt is not None:
                self.count["doubtful"] += cell.rows if cell.count == "matched" else 0
                doubts.append(cell.doubt.seen(cell.rows))
        if self.review is not None:
            self.review.add(doubts)
        self._known.clear()
        self._characters = 0

    def _answer(self, cells: list[str | None]) -> None:
        """Look up cells that are not known."""
        queries = [cell for cell in cells if cell is not None and not self._is_blank(cell)]
        if self.review is not None:
            self.review.saw(queries)
        best = self._best(queries)
        self._known.update((cell, _Cell(self._beside_none, "blank")) for cell in cells)
        self._known.update((query, self._matched(query, match)) for query, match in best.items())
        self._characters += sum(
            _length(cell or "") + _length(self._known[cell].beside) for cell in cells
        )

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

    def _is_blank(self, cell: str) -> bool:
        text = _folded(cell)
        is_blank = not text or text in self._blank
        return is_blank and not dict.__contains__(self.d, cell) and not self._is_decided(cell)

    def _is_decided(self, query: str) -> bool:
        """Tell whether somebody said which key a query finds, or none; an equal key goes first."""
        return query in self.decided and not dict.__contains__(self.d, query)

    def _best(self, queries: list[str]) -> dict[str, Match | None]:
        """Return the best key of each query; None if there is no key to compare it with."""
        best: dict[str, Match | None] = dict.fromkeys(queries)
        equal = [query for query in queries if dict.__contains__(self.d, query)]
        best.update(zip(equal, self.d.nearest(equal), strict=True))
        known = {q: self.decided[q] for q in queries if self._is_decided(q)}
        for query, key in known.items():
            if key is not None:
                best[query] = Match(key, dict.__getitem__(self.d, key), 1.0, query=query)
        others = [q for q in queries if best[q] is None and q not in known and plain(q)]
        for start in range(0, len(others), _TOGETHER):
            some = others[start : start + _TOGETHER]
            try:
                ranked = self.d.most_similar(some, topn=1)
            except NoMatchError:  # no key has letters or digits
                break
            best.update((query, row[0]) for query, row in zip(some, ranked, strict=True) if row)
        return best


def _length(beside: Any) -> int:
    """Return how many characters are kept of what is written: a text, or texts and a score."""
    texts = [beside] if isinstance(beside, str) else beside
    return sum(len(text) for text in texts if isinstance(text, str))


def _folded(cell: str) -> str:
    return cell.strip().casefold()


# ---- the table ---------------------------------------------------------------------------


class _NewColumns(NamedTuple):
    """The columns to add to a table.

    Attributes:
        column: the name of the column to match.
        names: the names of the new columns, for key, value and score.
        matcher: finds what is written in them.
        progress: called after each block with the amount done and the total amount.
    """

    column: str
    names: tuple[str, str, str]
    matcher: _ColumnMatcher[Any]
    progress: Callable[[int, int], None]


def _written_as(form: str, names: tuple[str, str, str]) -> Callable[[Answer], Any]:
    """Return the function that turns an answer into what is written beside a cell."""
    match form:
        case "jsonl":
            return lambda answer: as_json(dict(zip(names, answer, strict=True)))[1:]
        case "parquet":
            return lambda answer: (_encodable(answer[0]), _encodable(answer[1]), answer[2])
    delimiter = DELIMITERS[form]
    return lambda answer: delimiter + csv_row(map(as_cell, answer), delimiter)


def _add_columns(table: Path | BinaryIO, output: BinaryIO, form: str, columns: _NewColumns) -> None:
    """Copy a table to ``output``, in the same format, with columns added at the end."""
    name = _name_of(table)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        match form:
            case "csv" | "tsv":
                _add_to_csv(file, name, output, DELIMITERS[form], columns)
            case "jsonl":
                _add_to_jsonl(file, name, output, columns)
            case "parquet":
                _add_to_parquet(file, name, output, columns)


def _check_names(existing: Iterable[str], names: Iterable[str], place: str) -> None:
    taken = set(existing)
    for name in filter(taken.__contains__, names):
        raise FileFormatError(f"{place} has a column {quoted(name)} already; choose another prefix")


# ---- CSV, TSV, JSON Lines -----------------------------------------------------------------


def _add_to_csv(
    file: BinaryIO, name: str, output: BinaryIO, delimiter: str, columns: _NewColumns
) -> None:
    header, blocks = csv_blocks(file, name, delimiter)
    if header is None or header.line > 1:
        raise FileFormatError(f"{name}: line 1 is empty; expected the names of the columns")
    index = column_index(columns.column, header, name)
    _check_names(header.content, columns.names, name)
    names = header.raw.rstrip("\r\n")
    added = delimiter + csv_row(columns.names, delimiter)
    written = [names, added, header.raw[len(names) :]]  # with the first rows, or if there are none
    for _, raws, rows in blocks:
        if not rows and _is_regular(file):  # what comes next is on the disk, or is refused
            continue
        known = iter(columns.matcher.of([cells[index] for cells in rows if cells]))
        for raw, cells in zip(raws, rows, strict=True):
            if not cells:  # a blank line
                written.append(raw)
                continue
            cell = next(known)
            cell.rows += 1
            row = raw.rstrip("\r\n")
            written += row, cell.beside, raw[len(row) :]
        _write_block(written, file, output, columns)
        written = []
    if written:
        _write_block(written, file, output, columns)


def _is_regular(file: BinaryIO) -> bool:
    """Return whether a file is one on a disk, whose rows are there at once."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except OSError:  # a stream in memory
        return False


def _add_to_jsonl(file: BinaryIO, name: str, output: BinaryIO, columns: _NewColumns) -> None:
    found = False
    for lines, raws, contents in json_blocks(file, name):
        rows = [row for row in zip(lines, contents, strict=True) if row[1] is not BLANK]
        known = iter(columns.matcher.of([_field(*row, name, columns) for row in rows]))
        found = found or any(columns.column in content for _, content in rows)
        written = []
        for raw, content in zip(raws, contents, strict=True):
            if content is BLANK:
                written.append(raw)
                continue
            cell = next(known)
            cell.rows += 1
            text = raw.rstrip()
            written += text[:-1].rstrip(), ", " * bool(content), cell.beside, raw[len(text) :]
        _write_block(written, file, output, columns)
    if not found:
        raise FileFormatError(f"{name}: no line has a field {quoted(columns.column)}")


def _field(line: int, content: Any, name: str, columns: _NewColumns) -> str | None:
    """Return the text to match from a line of JSON."""
    if not isinstance(content, dict):
        raise FileFormatError(
            f"{name}: line {line} holds {JSON_TYPES[type(content)]}; expected an object"
        )
    if not content.keys().isdisjoint(columns.names):
        _check_names(content, columns.names, f"{name}: line {line}")
    cell = content.get(columns.column)
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, dict | list):
        raise FileFormatError(
            f"{name}: line {line}: {quoted(columns.column)} is {JSON_TYPES[type(cell)]}; "
            f"expected a text"
        )
    return as_json(cell)


def _write_block(parts: list[str], file: BinaryIO, output: BinaryIO, columns: _NewColumns) -> None:
    output.write(encoded("".join(parts)))
    output.flush()  # a reader of the stream may wait for these rows
    try:
        done, total = file.tell(), os.fstat(file.fileno()).st_size
    except OSError:  # a pipe, or a stream in memory
        return
    columns.progress(done, total)


# ---- Parquet ------------------------------------------------------------------------------


def _add_to_parquet(file: BinaryIO, name: str, output: BinaryIO, columns: _NewColumns) -> None:
    arrow, parquet = _pyarrow()
    with _arrow_errors(name, arrow), parquet.ParquetFile(file) as table:
        schema = _extended_schema(table.schema_arrow, name, columns, arrow)
        rows, done = table.metadata.num_rows, 0
        with parquet.ParquetWriter(output, schema, compression=_compression(table)) as writer:
            for batch in table.iter_batches(_PARQUET_ROWS):
                added = _beside_column(batch[columns.column], name, columns, arrow)
                arrays = [*batch.columns, *added]
                writer.write_batch(arrow.record_batch(arrays, schema=schema), _PARQUET_ROWS)
                done += batch.num_rows
                columns.progress(done, rows)


def _compression(table: Any) -> str:
    """Return the compression of the first column, or the usual one if there are no rows.

    The rows are read first. Where a column's description is damaged, that raises an error, while
    pyarrow ends the process when it is asked for the description alone.
    """
    for _ in table.iter_batches(1, row_groups=range(min(table.num_row_groups, 1))):
        compression: str = table.metadata.row_group(0).column(0).compression.lower()
        return compression.replace("uncompressed", "none")
    return "snappy"


def _beside_column(column: Any, name: str, columns: _NewColumns, arrow: Any) -> list[Any]:
    """Return the arrays of keys, values and scores beside the cells of an array."""
    types = arrow.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        texts = [_text(cell, name, columns) for cell in column.to_pylist()]
        column = arrow.array(texts, arrow.string())
    cells = column.dictionary_encode(null_encoding="encode")
    different = cells.dictionary.to_pylist()
    known = columns.matcher.of(different)
    counts = np.bincount(cells.indices, minlength=len(different)).tolist()
    for cell, rows in zip(known, counts, strict=True):
        cell.rows += rows
    kinds = (arrow.string(), arrow.string(), arrow.float64())
    return [
        arrow.array([cell.beside[part] for cell in known], kind).take(cells.indices)
        for part, kind in enumerate(kinds)
    ]


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed; install it with: "
            "pip install 'fuzzydict[parquet]'"
        ) from error
    return pyarrow, parquet


@contextmanager
def _arrow_errors(name: str, arrow: Any) -> Iterator[None]:
    """Report a file that pyarrow cannot read; errors of the disk pass through."""
    try:
        yield
    except FuzzyDictError:
        raise
    except (arrow.ArrowException, ArithmeticError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{name} is damaged, or not a Parquet file: {error}; make it again"
        ) from error


def _extended_schema(schema: Any, name: str, columns: _NewColumns, arrow: Any) -> Any:
    if schema.names.count(columns.column) != 1:
        number = "several columns" if columns.column in schema.names else "no column"
        raise FileFormatError(
            f"{name}: has {number} {quoted(columns.column)}; "
            f"its columns are {', '.join(map(quoted, schema.names))}"
        )
    _check_names(schema.names, columns.names, name)
    types = (arrow.string(), arrow.string(), arrow.float64())
    for new, kind in zip(columns.names, types, strict=True):
        schema = schema.append(arrow.field(new, kind))
    return schema


def _text(cell: Any, name: str, columns: _NewColumns) -> str | None:
    if isinstance(cell, bytes | dict | list):
        raise FileFormatError(
            f"{name}: the column {quoted(columns.column)} holds {type(cell).__name__}s; "
            f"expected texts"
        )
    return cell if cell is None or isinstance(cell, str) else str(cell)


def _encodable(value: Any) -> str | None:
    return None if value is None else encoded(as_cell(value)).decode()
