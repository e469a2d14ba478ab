"""Tables that are uploaded to the page of ``fuzzydict explore``, and what their texts match."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzydict._files import decoded
from fuzzydict.errors import NoMatchError, OptionError, quoted
from fuzzydict.io.explore.answers import is_doubtful, shown
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    as_cell,
    column_index,
    csv_table,
    format_by_ending,
    json_records,
)
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fuzzydict.mapping import FuzzyDict
    from fuzzydict.results.answers import Match

_MOST_TEXTS = 5_000  # different ones of a column
_BEST = 5  # keys of each
_TOGETHER = 512  # texts that are looked up at once
_PASTED = "text"  # the column of a file of lines


def table(name: str, data: bytes) -> dict[str, Any]:
    """Return the names of the columns of a table, and how many rows it has.

    Args:
        name: of its file, whose ending tells the format; the lines of a .txt file are one column.
        data: the bytes of the file.
    """
    columns, rows = _opened(name, data)
    return {"columns": columns, "rows": sum(1 for _ in rows)}


def column(d: FuzzyDict[Any], name: str, data: bytes, wanted: str | None) -> dict[str, Any]:
    """Return what matches the different texts of a column, those to decide on first.

    Raises:
        OptionError: there are too many different texts.
    """
    columns, rows = _opened(name, data)
    if wanted is None and columns == [_PASTED]:
        wanted = _PASTED
    if wanted not in columns:
        raise OptionError(f"column: {name} has no column {quoted(wanted)}")
    place = columns.index(wanted)
    count: Counter[str] = Counter()
    for row in rows:
        count[as_cell(row[place])] += 1
        if len(count) > _MOST_TEXTS:
            raise OptionError(
                f"column: {quoted(wanted)} has more than {_MOST_TEXTS} different texts; match it "
                f"with fuzzydict map"
            )
    blank = sum(times for text, times in count.items() if _is_blank(d, text))
    texts = [text for text in count if not _is_blank(d, text)]
    cells = sorted(_cells(d, texts, count), key=_urgency)
    matched = sum(one["count"] for one in cells if one["matches"])
    rows_in_all = sum(count.values())
    return {
        "rows": rows_in_all,
        "matched": matched,
        "unmatched": rows_in_all - matched - blank,
        "blank": blank,
        "cells": cells,
    }


def _is_blank(d: FuzzyDict[Any], text: str) -> bool:
    return not plain(text) and not dict.__contains__(d, text)


def _cells(
    d: FuzzyDict[Any], texts: Sequence[str], count: Counter[str]
) -> Iterator[dict[str, Any]]:
    for start in range(0, len(texts), _TOGETHER):
        some = list(texts[start : start + _TOGETHER])
        try:
            found = d.most_similar(some, topn=_BEST)
        except NoMatchError:  # no key has letters or digits
            found = [[] for _ in some]
        for text, best in zip(some, found, strict=True):
            yield _cell(text, count[text], best)


def _cell(text: str, times: int, best: Sequence[Match]) -> dict[str, Any]:
    match = best[0] if best else None
    return {
        "query": text,
        "count": times,
        "key": None if match is None else match.key,
        "value": None if match is None else shown(match.value),
        "score": None if match is None else match.score,
        "matches": match is not None and match.matches,
        "doubtful": match is not None and is_doubtful(match),
        "others": [{"key": one.key, "score": one.score} for one in best[1:]],
    }


def _urgency(cell: dict[str, Any]) -> tuple[int, int]:
    return 0 if cell["doubtful"] else 2 if cell["matches"] else 1, -cell["count"]


# ---- the file -----------------------------------------------------------------------------


def _opened(name: str, data: bytes) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """Return the names of the columns, and the rows."""
    path = Path(name)
    form = (
        "txt" if path.suffix.lower() == ".txt" else format_by_ending(path, ("csv", "tsv", "jsonl"))
    )
    if form == "txt":
        lines = decoded(data, name, "utf-8-sig").splitlines()
        return [_PASTED], iter([[line] for line in lines])
    if form in DELIMITERS:
        header, records = csv_table(BytesIO(data), name, DELIMITERS[form])
        if header is None:
            raise OptionError(f"{name}: is empty; expected the names of the columns")
        for one in header.content:
            column_index(one, header, name)
        return header.content, (record.content for record in records if record.content)
    if form == "jsonl":
        rows = [
            one.content for one in json_records(BytesIO(data), name) if one.content is not BLANK
        ]
        if not all(isinstance(row, dict) for row in rows):
            raise OptionError(f"{name}: expected an object on each line")
        columns = list(dict.fromkeys(key for row in rows for key in row))
        return columns, ([row.get(key) for key in columns] for row in rows)
    raise OptionError(f"{name}: expected a table, a file that ends in .csv, .tsv, .jsonl or .txt")
