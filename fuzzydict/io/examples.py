"""Examples in a file: queries, and the keys that they should find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError, OptionError, quoted
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    KINDS,
    ROWS,
    csv_table,
    format_by_ending,
    json_records,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read_examples"]

Example = tuple[str, str | None]


def read_examples(path: Path, *, format: str | None = None) -> list[Example]:  # noqa: A002
    """Return the examples in a file, such as a review that a person has corrected.

    Args:
        path: a table with the columns (in JSON Lines, the fields) ``query`` and ``target``. Other
            columns are ignored. A blank target, or null, means that no key should match. A query
            with several right keys has a row for each; in JSON Lines they may be an array.
        format: "csv", "tsv" or "jsonl"; by default what the file's ending says.

    Returns:
        Pairs of a query and a target, in the file's order; None means that no key should match.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not of its format, lacks a column, has a blank query, or has both a
            key and None as targets of a query; the message names the lines.
        OptionError: the format is another one.
    """
    form = format or format_by_ending(path, ROWS)
    if form not in ROWS:
        raise OptionError(f"{path}: expected examples of format {', '.join(ROWS)}; name it")
    with path.open("rb") as file:
        found = _from_jsonl(file, path) if form == "jsonl" else _from_csv(file, path, form)
        return _agreeing(path, found)


def _from_csv(file: Any, path: Path, form: str) -> Iterator[tuple[int, Any, Any]]:
    header, rows = csv_table(file, path, DELIMITERS[form])
    if header is None:
        raise FileFormatError(f"{path}: is empty; expected the columns query and target")
    query, target = (place_of(column, header, path) for column in ("query", "target"))
    for line, _, cells in rows:
        if cells:
            yield line, cells[query], cells[target]


def _from_jsonl(file: Any, path: Path) -> Iterator[tuple[int, Any, Any]]:
    for line, _, content in json_records(file, path):
        if content is BLANK:
            continue
        if not isinstance(content, dict) or not {"query", "target"} <= content.keys():
            raise FileFormatError(
                f'{path}: line {line}: expected {{"query": ..., "target": ...}}, where null as '
                f"target says that no key should match"
            )
        query, target = content["query"], content["target"]
        if not isinstance(target, list):
            yield line, query, target
            continue
        if not all(isinstance(key, str) and key.strip() for key in target) or not target:
            raise FileFormatError(
                f"{path}: line {line}: expected the right keys as target, texts that are not "
                f"blank, or null if none is right"
            )
        yield from ((line, query, key) for key in target)


def _agreeing(path: Path, found: Iterator[tuple[int, Any, Any]]) -> list[Example]:
    """Return the examples. A query must not have both a key and None as targets."""
    examples: list[Example] = []
    known: dict[str, tuple[int, str | None]] = {}
    for line, query, target in found:
        place = f"{path}: line {line}"
        if not isinstance(query, str) or not isinstance(target, str | None):
            kind = KINDS[type(target if isinstance(query, str) else query)]
            raise FileFormatError(f"{place} has {kind} where a text is expected; put it in quotes")
        if not query.strip():
            raise FileFormatError(f"{place} has a blank query; fill it in, or remove the line")
        target = target if target and target.strip() else None
        first, before = known.setdefault(query, (line, target))
        if (before is None) != (target is None):
            raise FileFormatError(
                f"{path}: the query {quoted(query)} has two targets, {quoted(before)} on line "
                f"{first} and {quoted(target)} on line {line}, where None says that no key should "
                f"match; keep one"
            )
        examples.append((query, target))
    return examples
