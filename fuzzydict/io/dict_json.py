"""A dict in a file of JSON: one object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fuzzydict._files import decoded
from fuzzydict.errors import FileFormatError
from fuzzydict.io.records import KINDS, MARK, parse_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["object_only", "read_json", "text_of"]


def read_json(path: Path, *, such_as: str = '{"color": "black"}') -> dict[str, Any]:
    """Return the dict in a file that holds a JSON object; errors show ``such_as`` as an example.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is empty, not UTF-8, not JSON or no object, or has a key twice.
    """
    expected = f"an object such as {such_as}"
    text = text_of(path, expected, encodings_of_json=True)
    return object_only(parse_json(text, path, expected), path, expected)


def text_of(path: Path, expected: str, *, encodings_of_json: bool = False) -> str:
    """Return the text of a file, without a byte-order mark; it must not be blank."""
    data = path.read_bytes()
    encoding = json.detect_encoding(data) if encodings_of_json else "utf-8"
    text = decoded(data, path, encoding.removesuffix("-sig")).removeprefix(MARK)
    if not text.strip():
        raise FileFormatError(f"{path}: is empty; expected {expected}")
    return text


def object_only(content: Any, path: Path, expected: str) -> dict[str, Any]:
    """Return the content of a file, which must be a dict."""
    if not isinstance(content, dict):
        kind = KINDS.get(type(content), "another value")
        raise FileFormatError(f"{path}: holds {kind}; expected {expected}")
    return content
