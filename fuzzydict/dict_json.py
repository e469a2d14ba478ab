"""A dict in a file of JSON: one object."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read_json"]

_NAMES = {
    list: "a JSON array",
    str: "a JSON string",
    int: "a JSON number",
    float: "a JSON number",
    bool: "a JSON boolean",
    type(None): "JSON's null",
}
_STRING_OR_BRACE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]')


class _TwiceError(Exception):
    """An object names a key twice."""


def read_json(path: Path, *, such_as: str = '{"color": "black"}') -> dict[str, Any]:
    """Return the dict in a file that holds a JSON object; an error shows one ``such_as``.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is empty, not UTF-8, not JSON, no object, or names a key twice.
    """
    data = path.read_bytes()
    try:
        text = data.decode(json.detect_encoding(data), "surrogatepass")
        content = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        if not error.doc.strip():
            raise FileFormatError(
                f"{path}: is empty; expected an object such as {such_as}"
            ) from error
        raise FileFormatError(
            f"{path}: line {error.lineno}, column {error.colno} is not JSON ({error.msg}); "
            f"expected an object such as {such_as}"
        ) from error
    except RecursionError as error:
        raise FileFormatError(f"{path}: its JSON is nested too deeply; flatten it") from error
    except _TwiceError as error:
        raise FileFormatError(f"{path}: {_places(text)}") from error
    except ValueError as error:  # Python's limit to the digits of a whole number
        raise FileFormatError(
            f"{path}: one of its numbers has too many digits; put it in quotes"
        ) from error
    if not isinstance(content, dict):
        raise FileFormatError(
            f"{path}: holds {_NAMES[type(content)]}; expected an object such as {such_as}"
        )
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs. JSON lets a key come twice, and would lose the first value."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise _TwiceError
    return content


def _places(text: str) -> str:
    """Say which key comes twice in one object, and where."""
    objects: list[dict[str, int]] = []
    for place, key in _keys(text):
        if key == "{":
            objects.append({})
        elif key == "}":
            objects.pop()
        else:
            name = json.loads(key)
            if name in objects[-1]:
                first, second = (text.count("\n", 0, p) + 1 for p in (objects[-1][name], place))
                return (
                    f"the key {name!r} comes twice in one object, on lines {first} and {second}; "
                    f"keep one"
                )
            objects[-1][name] = place
    raise AssertionError("unreachable: no key comes twice")


def _keys(text: str) -> Iterator[tuple[int, str]]:
    """Give the keys of JSON as they are written, and the braces around them, with their places."""
    for found in _STRING_OR_BRACE.finditer(text):
        if found[1]:
            yield found.start(), found[0][: -len(found[1])]
        elif found[0] in "{}":
            yield found.start(), found[0]
