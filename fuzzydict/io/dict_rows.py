"""A dict in rows, an item each: CSV, TSV and JSON Lines."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError, quoted
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    KINDS,
    csv_table,
    json_records,
    other_delimiter,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fuzzydict.io.records import Record

__all__ = ["read_rows"]

Item = tuple[int, Any, Any]  # the line where it stands, its key, its value


def read_rows(
    path: Path,
    kind: str,
    *,
    key: str | None = None,
    value: str | None = None,
    note: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Return the dict whose items are the rows of a file.

    Args:
        path: the file.
        kind: "csv", "tsv" or "jsonl".
        key: the column, or field, of the keys; by default "key".
        value: that of the values; by default "value".
        note: called with a warning about the file once it is read, if there is one.

    The values of CSV and TSV are texts as written. If no column is named and none has the default
    names, each row is an item: two cells, or in JSON Lines a pair ``["color", "black"]`` or an
    object of one field, ``{"color": "black"}``.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not of its kind, lacks these columns, or has a key twice.
    """
    with path.open("rb") as file:
        if kind == "jsonl":
            return _once(path, _json_items(file, path, key, value))
        return _once(path, _csv_items(file, path, kind, (key, value), note))


def _csv_items(
    file: Any,
    path: Path,
    kind: str,
    named: tuple[str | None, str | None],
    note: Callable[[str], object],
) -> Iterator[Item]:
    delimiter, names = DELIMITERS[kind], (named[0] or "key", named[1] or "value")
    header, rows = csv_table(file, path, delimiter)
    if header is None:
        return
    columns = header.content
    if any(named) or set(names) <= set(columns):
        name, held = (place_of(column, header, path) for column in names)
        yield from ((line, cells[name], cells[held]) for line, _, cells in rows if cells)
    elif len(columns) == 2:
        yield from _all_items(header, rows, path, note)
    else:
        raise FileFormatError(
            f"{path}: line {header.line} has {len(columns)} cells, where a key and a value were "
            f"expected; name the columns that hold them with --key and --value"
            f"{other_delimiter(header)}"
        )


def _all_items(
    first: Record, rows: Iterator[Record], path: Path, note: Callable[[str], object]
) -> Iterator[Item]:
    """Yield rows of two cells as items, the first included; note it if it looks like a header."""
    key, value = first.content
    yield first.line, key, value
    is_header = not (_is_number(key) or _is_number(value))
    numbers = 0
    for line, _, cells in rows:
        if cells:
            yield line, *cells
            if is_header and cells[1].strip():
                is_header = _is_number(cells[1])
                numbers += 1
    if is_header and numbers:
        note(
            f"{path}: line {first.line} looks like a header, and is taken as an item; if it is "
            f"one, say --key {shlex.quote(key)} --value {shlex.quote(value)}"
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return False
    return True


def _json_items(file: Any, path: Path, key: str | None, value: str | None) -> Iterator[Item]:
    name, held = key or "key", value or "value"
    for line, _, content in json_records(file, path):
        if content is BLANK:
            continue
        if isinstance(content, dict) and name in content and held in content:
            yield line, content[name], content[held]
        elif key or value:
            raise FileFormatError(
                f"{path}: line {line}: expected an object with the fields {name!r} and {held!r}"
            )
        elif isinstance(content, dict) and len(content) == 1:
            yield line, *next(iter(content.items()))
        elif isinstance(content, list) and len(content) == 2:
            yield line, *content
        else:
            raise FileFormatError(
                f'{path}: line {line}: expected {{"key": ..., "value": ...}}, an object of one '
                f"field, or a pair; --key and --value name other fields"
            )


def _once(path: Path, items: Iterable[Item]) -> dict[str, Any]:
    """Return the dict of items, none of which may have the key of another."""
    content: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for line, key, value in items:
        if not isinstance(key, str):
            raise FileFormatError(
                f"{path}: line {line} has {KINDS[type(key)]} as key; put it in quotes"
            )
        if key in content:
            raise FileFormatError(
                f"{path}: the key {quoted(key)} comes twice, on lines {lines[key]} and {line}; "
                f"keep one"
            )
        content[key], lines[key] = value, line
    if not content:
        raise FileFormatError(f"{path}: is empty; expected rows of a key and a value")
    return content
