"""Values as texts, cells and JSON, and the values that a text of JSON has."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from datetime import date, datetime, time
from typing import Any

import numpy as np

from fuzzydict.errors import OBEYED, FileFormatError, quoted

#: The types of JSON, as messages name them.
JSON_TYPES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"} | {
    **dict.fromkeys((int, float), "a number"),
    type(None): "null",
}
#: Integers from here on are no longer exact as floats in every program.
MAX_EXACT = 10**15
_NOT_ON_A_LINE = re.compile(rf"(?!\t){OBEYED.pattern}")
_NOT_IN_JSON = re.compile(rf"(?!\n){OBEYED.pattern}")  # ends of lines are the json module's own


# ---- values as text -----------------------------------------------------------------------


def as_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON: arrays, tuples and sets as lists, dates and other types as text.

    NaN and infinity become null. What a terminal would obey is escaped.

    >>> import numpy as np
    >>> as_json({"at": date(2024, 2, 29), (1, 2): np.array([0.5, np.nan])})
    '{"at": "2024-02-29", "(1, 2)": [0.5, null]}'
    """
    text = json.dumps(_json_value(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_line(value: Any) -> str:
    r"""Return text as it is if it fits on one line, and anything else as JSON.

    Text with what a terminal would obey, except for tabs, becomes JSON as well. Dates are written
    in ISO format; NaN and infinity by their names; what JSON lacks, as a decimal number, as text.

    >>> as_line("black"), as_line(260), as_line("two\nlines"), as_line(["roof", None])
    ('black', '260', '"two\\nlines"', '["roof", null]')
    >>> as_line("a\x1b[2Jb"), as_line(date(2024, 2, 29)), as_line(float("nan"))
    ('"a\\u001b[2Jb"', '2024-02-29', 'NaN')
    """
    text = _json_value(value)
    plain = value.tolist() if hasattr(value, "tolist") else value
    if text is None and isinstance(plain, float):  # NaN or infinity
        return json.dumps(plain)
    return as_json(text) if not isinstance(text, str) or _NOT_ON_A_LINE.search(text) else text


def as_cell(value: Any) -> str:
    """Return a value as a cell of a table: text as it is, None as an empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_line(value)


def as_python(value: Any) -> Any:
    """Return a value of a row, which may be a scalar of Arrow, as one of Python."""
    if not hasattr(value, "as_py"):
        return value
    try:
        return value.as_py()
    except ValueError:  # nanoseconds, for which Python has no type
        return str(value.cast("string"))


def cell_text(value: Any) -> str | None:
    """Return a cell's value as a text to match, the same for each format of tables.

    Whole numbers lose their zeros, dates at midnight their time, and NaN is an empty cell: programs
    add these when they put integers beside an empty cell, or dates into a column.

    >>> cell_text(5.0), cell_text(datetime(2024, 2, 29)), cell_text(True), cell_text(" ok ")
    ('5', '2024-02-29', 'true', ' ok ')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value == datetime.combine(value, time()):
        value = value.date()
    return as_line(value)


def _json_value(value: Any) -> Any:
    """Return a value made of the types of JSON."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, dict):
        return {
            key if isinstance(key, str | int | None) else str(key): _json_value(part)
            for key, part in value.items()
        }
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [*map(_json_value, value)]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def encoded(text: str) -> bytes:
    """Return text as UTF-8. Lone surrogates, which UTF-8 lacks, become escapes as in JSON."""
    return text.encode("utf-8", "backslashreplace")


# ---- JSON as values -----------------------------------------------------------------------


def _as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Of a key that comes twice, the json module would keep the last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise FileFormatError(f"the key {quoted(key)} comes twice in one object; keep one")
    return content


_decode = json.JSONDecoder(object_pairs_hook=_as_dict).decode


def parse_json(text: str, name: object, expected: str, line: int | None = None) -> Any:
    """Return the value of a JSON text; ``line`` is its number if it is a line of the file."""
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        column = error.colno if line is None else min(error.pos, len(text.rstrip("\r\n"))) + 1
        raise FileFormatError(
            f"{name}: line {line or error.lineno}, column {column} is not JSON ({error.msg}); "
            f"expected {expected}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise beyond_limits(f"{name}: line {line}" if line else str(name), error) from error


def beyond_limits(place: str, error: Exception) -> FileFormatError:
    """Return the error for what a parser of Python refused by its limits, or `_as_dict` did."""
    problem = "one of its numbers has too many digits; put it in quotes"  # more than 4,300
    if isinstance(error, RecursionError):
        problem = "is nested too deeply; flatten it"
    return FileFormatError(f"{place}: {error if isinstance(error, FileFormatError) else problem}")
