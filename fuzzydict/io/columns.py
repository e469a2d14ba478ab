"""Match a column of a table in a file with the keys of a dict.

`clean_column` copies a CSV, TSV, JSON Lines or Parquet table and adds three columns: the key, value
and score that match each cell. Everything else stays as it is written. Rows are read and written in
batches, so that memory does not grow with the table.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict._files import replacing
from fuzzydict.errors import FileFormatError, MissingExtraError, NoMatchError, OptionError, quoted
from fuzzydict.io.examples import undecided
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    as_cell,
    as_json,
    column_index,
    csv_row,
    csv_table,
    encoded,
    format_by_ending,
    json_records,
)
from fuzzydict.io.review import Decided, Doubt, Review, check_ending
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fuzzydict.io.records import Record
    from fuzzydict.mapping import FuzzyDict


TABLES = (*ROW_FORMATS, "parquet")
_MAX_SCORES = 2**22  # scores in memory at once: queries times keys
_CACHE_SIZE = 65_536  # queries
_MAX_CACHED = 256  # characters of a query that is cached
_BLANK_CELLS = frozenset(("n/a", "na", "none", "null", "unknown", "-", "?"))  # in any case
_BATCH_ROWS = 4096
_BATCH_CHARACTERS = 2**20  # roughly
_PARQUET_ROWS = 16_384  # of a batch, which becomes a row group

#: The key, value and score that match a cell.
Answer: TypeAlias = tuple[str, Any, float]
_NO_ANSWER = (None, None, None)


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
        matcher = _ColumnMatcher(d, decided, doubts, sure)
        columns = _NewColumns(column, names, matcher.answer, progress)
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
    tables = {"read": table, "written": output}
    for what, path in {"decisions": decisions, "review": review}.items():
        for use, place in tables.items():
            if path and isinstance(place, Path) and path.resolve() == place.resolve():
                raise OptionError(
                    f"{path} is the table to be {use}; name another file for the {what}"
                )


def _opened(output: Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    return replacing(output) if isinstance(output, Path) else nullcontext(output)


def _name_of(table: Path | BinaryIO) -> str:
    """Return the name of a table for messages."""
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


# ---- which key ---------------------------------------------------------------------------


class _ColumnMatcher:
    """Answers batches of cells and counts the results. Recent queries are cached.

    Args:
        d: the dict.
        decided: what somebody decided. A text that equals a key finds that key all the same.
        review: collects the doubts.
        sure: the lowest score of a match that is not doubtful.
    """

    def __init__(
        self,
        d: FuzzyDict[Any],
        decided: Decided,
        review: Review | None,
        sure: float,
    ) -> None:
        self.d, self.decided, self.review, self.sure = d, decided, review, sure
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
            if match is not None and match.matches
        }
        doubts = list(self._doubts(queries, best))
        for query, times in queries.items():
            how = "refused" if self._is_decided(query) else "unmatched"
            self.count["matched" if query in matched else how] += times
        self.count["doubtful"] += sum(doubt.times for doubt in doubts if doubt.query in matched)
        self.count["blank"] += len(cells) - queries.total()
        if self.review is not None:
            self.review.saw(queries)
            self.review.add(doubts)
        return matched

    def _is_blank(self, cell: str) -> bool:
        text = _folded(cell)
        is_blank = not text or text in self._blank
        return is_blank and not dict.__contains__(self.d, cell) and not self._is_decided(cell)

    def _is_decided(self, query: str) -> bool:
        """Tell whether somebody said which key a query finds, or none; an equal key goes first."""
        return query in self.decided and not dict.__contains__(self.d, query)

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
        best: dict[str, Match | None] = dict.fromkeys(queries)
        equal = [query for query in queries if dict.__contains__(self.d, query)]
        best.update(zip(equal, self.d.nearest(equal), strict=True))
        known = {q: self.decided[q] for q in queries if self._is_decided(q)}
        for query, key in known.items():
            if key is not None:
                best[query] = Match(key, dict.__getitem__(self.d, key), 1.0, query=query)
        others = [q for q in queries if best[q] is None and q not in known and plain(q)]
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
            if self._is_decided(query):
                continue
            if match is None:
                yield Doubt(query, queries[query], None, None, undecided(None))
            elif match.score < self.sure and match.key != query:
                guess = match.key if match.matches else None
                yield Doubt(query, queries[query], match.key, match.score, undecided(guess))


def _folded(cell: str) -> str:
    return cell.strip().casefold()


# ---- the table ---------------------------------------------------------------------------


class _NewColumns(NamedTuple):
    """The columns to add to a table.

    Attributes:
        column: the name of the column to match.
        names: the names of the new columns, for key, value and score.
        answer: returns the answers to a batch of cells (text, or None if empty), by cell.
        progress: called after each batch with the amount done and the total amount.
    """

    column: str
    names: tuple[str, str, str]
    answer: Callable[[Sequence[str | None]], Mapping[str | None, Answer]]
    progress: Callable[[int, int], None]


def _add_columns(table: Path | BinaryIO, output: BinaryIO, form: str, columns: _NewColumns) -> None:
    """Copy a table to ``output``, in the same format, with columns added at the end."""
    name = _name_of(table)
    with table.open("rb") if isinstance(table, Path) else nullcontext(table) as file:
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
    header, rows = csv_table(file, name, delimiter)
    if header is None or header.line > 1:
        raise FileFormatError(f"{name}: line 1 is empty; expected the names of the columns")
    index = column_index(columns.column, header, name)
    _check_names(header.content, columns.names, name)
    output.write(_extended_row(header.raw, columns.names, delimiter))
    for batch in _batches(rows):
        answers = columns.answer([row.content[index] for row in batch if row.content])
        cells = {cell: [*map(as_cell, answer)] for cell, answer in answers.items()}
        for row in batch:
            if row.content:
                added = cells.get(row.content[index], ["", "", ""])
                output.write(_extended_row(row.raw, added, delimiter))
            else:
                output.write(row.raw.encode())
        _show_progress(columns, file)


def _add_to_jsonl(file: BinaryIO, name: str, output: BinaryIO, columns: _NewColumns) -> None:
    found = False
    for batch in _batches(json_records(file, name)):
        rows = [record for record in batch if record.content is not BLANK]
        cells = {row.line: _field(row, name, columns) for row in rows}
        found = found or any(columns.column in row.content for row in rows)
        answers = columns.answer([*cells.values()])
        for record in batch:
            if record.content is BLANK:
                output.write(record.raw.encode())
            else:
                answer = answers.get(cells[record.line], _NO_ANSWER)
                added = dict(zip(columns.names, answer, strict=True))
                output.write(_extended_object(record, added))
        _show_progress(columns, file)
    if not found:
        raise FileFormatError(f"{name}: no line has a field {quoted(columns.column)}")


def _field(record: Record, name: str, columns: _NewColumns) -> str | None:
    """Return the text to match from a line of JSON."""
    place, content = f"{name}: line {record.line}", record.content
    if not isinstance(content, dict):
        raise FileFormatError(f"{place} holds {JSON_TYPES[type(content)]}; expected an object")
    _check_names(content, columns.names, place)
    cell = content.get(columns.column)
    if isinstance(cell, dict | list):
        raise FileFormatError(
            f"{place}: {quoted(columns.column)} is {JSON_TYPES[type(cell)]}; expected a text"
        )
    return cell if cell is None or isinstance(cell, str) else as_json(cell)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.raw)
        if len(batch) == _BATCH_ROWS or size > _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _extended_row(raw: str, cells: Iterable[str], delimiter: str) -> bytes:
    """Return a row with cells added before the end of its line."""
    kept = raw.removesuffix("\n").removesuffix("\r")
    return encoded(kept + delimiter + csv_row(cells, delimiter) + raw[len(kept) :])


def _extended_object(record: Record, added: dict[str, Any]) -> bytes:
    """Return a line of JSON with fields added to its object."""
    text = record.raw.rstrip()
    kept = text[:-1].rstrip() + (", " if record.content else "")
    return encoded(kept + as_json(added)[1:] + record.raw[len(text) :])


def _show_progress(columns: _NewColumns, file: BinaryIO) -> None:
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
        metadata, done = table.metadata, 0
        compression = "snappy"
        if metadata.num_row_groups and metadata.num_columns:
            compression = metadata.row_group(0).column(0).compression.lower()
        compression = compression.replace("uncompressed", "none")
        with parquet.ParquetWriter(output, schema, compression=compression) as writer:
            for batch in table.iter_batches(_PARQUET_ROWS):
                cells = [_text(c, name, columns) for c in batch[columns.column].to_pylist()]
                answers = columns.answer(cells)
                rows = [answers.get(cell, _NO_ANSWER) for cell in cells]
                keys, values, scores = zip(*rows, strict=True)
                arrays = [
                    *batch.columns,
                    arrow.array(map(_encodable, keys), arrow.string()),
                    arrow.array(map(_encodable, values), arrow.string()),
                    arrow.array(scores, arrow.float64()),
                ]
                writer.write_batch(arrow.record_batch(arrays, schema=schema), _PARQUET_ROWS)
                done += batch.num_rows
                columns.progress(done, metadata.num_rows)


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
    except (arrow.ArrowException, OSError) as error:
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
