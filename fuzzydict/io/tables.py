"""Tables in Parquet files, read and written by pyarrow (extra ``parquet``)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from fuzzydict.errors import FileFormatError, MissingExtraError, quoted
from fuzzydict.io.records import as_cell, encoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fuzzydict.results.tables import Answer, Columns

__all__ = ["add_to_parquet"]

_ROWS = 16_384  # of a batch, which becomes a row group


def add_to_parquet(file: BinaryIO, path: str, output: BinaryIO, columns: Columns) -> None:
    """Write a Parquet table to ``output`` with columns added, as `tables.add_columns` does.

    The new columns are two of text (with values as JSON unless they are text) and one of 64-bit
    floats. Types and metadata of the other columns are kept, as is the first one's compression.
    """
    arrow, parquet = _pyarrow()
    with _errors_naming(path, arrow), parquet.ParquetFile(file) as table:
        schema = _longer(table.schema_arrow, path, columns, arrow)
        facts, done = table.metadata, 0
        with parquet.ParquetWriter(output, schema, compression=_compression(facts)) as writer:
            for batch in table.iter_batches(_ROWS):
                cells = [_as_text(c, path, columns) for c in batch[columns.asked].to_pylist()]
                added = _arrays(cells, columns.answer(cells), arrow)
                longer = arrow.record_batch([*batch.columns, *added], schema=schema)
                writer.write_batch(longer, _ROWS)
                done += batch.num_rows
                columns.progress(done, facts.num_rows)


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
def _errors_naming(path: str, arrow: Any) -> Iterator[None]:
    """Report what pyarrow cannot read; errors of the disk pass through."""
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{path} is damaged, or not a Parquet file: {error}; make it again"
        ) from error


def _longer(schema: Any, path: str, columns: Columns, arrow: Any) -> Any:
    if schema.names.count(columns.asked) != 1:
        number = "several columns" if columns.asked in schema.names else "no column"
        shown = ", ".join(map(quoted, schema.names))
        raise FileFormatError(
            f"{path}: has {number} {quoted(columns.asked)}; its columns are {shown}"
        )
    kinds = (arrow.string(), arrow.string(), arrow.float64())
    for name, kind in zip(columns.names, kinds, strict=True):
        if name in schema.names:
            raise FileFormatError(
                f"{path} has a column {quoted(name)} already; "
                f"choose another prefix for what is added"
            )
        schema = schema.append(arrow.field(name, kind))
    return schema


def _compression(facts: Any) -> str:
    known = facts.num_row_groups and facts.num_columns
    name = facts.row_group(0).column(0).compression.lower() if known else "snappy"
    return {"uncompressed": "none"}.get(name, name)


def _as_text(cell: Any, path: str, columns: Columns) -> str | None:
    if isinstance(cell, bytes | dict | list):
        raise FileFormatError(
            f"{path}: the column {quoted(columns.asked)} holds {type(cell).__name__}s; "
            f"expected texts"
        )
    return cell if cell is None or isinstance(cell, str) else str(cell)


def _arrays(
    cells: Sequence[str | None], answers: Mapping[str | None, Answer], arrow: Any
) -> list[Any]:
    """Return three columns: keys and values as texts, and scores."""
    rows = [answers.get(cell, (None, None, None)) for cell in cells]
    texts = [
        [None if row[i] is None else encoded(as_cell(row[i])).decode() for row in rows]
        for i in (0, 1)
    ]
    scores = [row[2] for row in rows]
    return [*(arrow.array(t, arrow.string()) for t in texts), arrow.array(scores, arrow.float64())]
