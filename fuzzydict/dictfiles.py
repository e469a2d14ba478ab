"""Files that hold a dict."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_dict"]

_JSON_NAMES = {
    list: "a JSON array",
    str: "a JSON string",
    int: "a JSON number",
    float: "a JSON number",
    bool: "a JSON boolean",
    type(None): "JSON's null",
}


def read_dict(path: Path, *, such_as: str = '{"color": "black"}') -> dict[str, Any]:
    """Return the dict in a file that holds a JSON object; an error shows one ``such_as``.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not UTF-8, not JSON, no object, or names a key twice.
    """
    try:
        content = json.loads(path.read_bytes(), object_pairs_hook=lambda pairs: _once(path, pairs))
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{path}: line {error.lineno}, column {error.colno} is not JSON ({error.msg}); "
            f"expected an object such as {such_as}"
        ) from error
    except RecursionError as error:
        raise FileFormatError(f"{path}: its JSON is nested too deeply; flatten it") from error
    except FileFormatError:
        raise
    except ValueError as error:  # Python's limit to the digits of a whole number
        raise FileFormatError(
            f"{path}: one of its numbers has too many digits; put it in quotes"
        ) from error
    if not isinstance(content, dict):
        raise FileFormatError(
            f"{path}: holds {_JSON_NAMES[type(content)]}; expected an object such as {such_as}"
        )
    return content


def _once(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs. JSON lets a key come twice, and would lose the first value."""
    content = dict(pairs)
    if len(content) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise FileFormatError(f"{path}: the key {twice!r} comes twice in one object; keep one")
    return content
