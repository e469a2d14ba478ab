"""Values as text on one line, for printing and for the cells of tables."""

from __future__ import annotations

import json
import math
import re
from datetime import date, time
from typing import Any

import numpy as np

__all__ = ["as_cell", "as_json", "as_line"]

#: Control characters except tabs, and Unicode's ends of lines.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_KEYS = str | int | float | bool | None


def as_line(value: Any) -> str:
    r"""Return text on one line as it is, and anything else as JSON.

    Text with control characters other than tabs becomes JSON, too, for a terminal would obey
    them. Numbers that are not finite become NaN, Infinity or -Infinity.

    >>> as_line("black"), as_line(260), as_line("two\nlines"), as_line(["roof", None])
    ('black', '260', '"two\\nlines"', '["roof", null]')
    >>> as_line("a\x1b[2Jb"), as_line(date(2024, 2, 29))
    ('"a\\u001b[2Jb"', '2024-02-29')
    """
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str) and not _CONTROL.search(value):
        return value
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return json.dumps(float(value))
    return as_json(value)


def as_cell(value: Any) -> str:
    """Return a value as a cell of a table: text as it is, and None as an empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_line(value)


def as_json(value: Any) -> str:
    """Return a value as JSON: arrays, tuples and sets as lists, dates and other types as text.

    NaN and infinity become null. Control characters are escaped.

    >>> import numpy as np
    >>> as_json({"at": date(2024, 2, 29), (1, 2): np.array([0.5, np.nan])})
    '{"at": "2024-02-29", "(1, 2)": [0.5, null]}'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """Return a value as one of the types of JSON."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, dict):
        return {_as_key(key): _plain(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _as_key(key: Any) -> Any:
    if isinstance(key, float) and not math.isfinite(key):
        return str(key)
    return key if isinstance(key, _KEYS) else str(key)
