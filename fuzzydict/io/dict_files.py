"""Files that hold a dict: JSON, TOML, YAML, CSV, TSV, JSON Lines, or what `FuzzyDict.save` wrote.

Each format is read by a module of its own, which is imported when it is needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fuzzydict._files import MAGIC
from fuzzydict.errors import FileFormatError, OptionError
from fuzzydict.io.records import ROWS, format_by_ending
from fuzzydict.mapping import FuzzyDict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["FORMATS", "format_of", "open_dict", "read_dict"]

FORMATS = ("json", "toml", "yaml", "csv", "tsv", "jsonl", "fuzzydict")
_PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")  # "PAR1" alone may begin a text


def format_of(path: Path) -> str:
    """Return the format that the ending of a file's name says, or "json"."""
    return format_by_ending(path, FORMATS) or "json"


def open_dict(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    key: str | None = None,
    value: str | None = None,
    embedding: Any = None,
    score_cutoff: float | None = None,
    note: Callable[[str], object] = lambda _: None,
) -> FuzzyDict[Any]:
    """Return the `FuzzyDict` of a file.

    Args:
        path: the file.
        format: one of `FORMATS`. By default a saved dict is recognized by its first bytes, and
            anything else by its ending.
        key: the column of a CSV or TSV file, or the field of a JSON Lines file, of the keys.
        value: that of the values.
        embedding: as in `FuzzyDict`. A saved dict needs the one that it was made with.
        score_cutoff: as in `FuzzyDict`. It replaces that of a saved dict.
        note: called with a warning about the file, such as that its first row looks like a
            header but was read as an item.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not of its format, holds no dict, or has a key twice.
        OptionError: there is no such format, or it has no columns to name.
        MissingExtraError: the package that reads YAML is not installed.
    """
    format = format or _found_format(path)  # noqa: A001
    if format != "fuzzydict":
        content = read_dict(path, format=format, key=key, value=value, note=note)
        return FuzzyDict(content, embedding=embedding, score_cutoff=score_cutoff)
    _check_names("fuzzydict", key, value)
    d: FuzzyDict[Any] = FuzzyDict.load(path, embedding=embedding)
    if score_cutoff is not None:
        d.score_cutoff = score_cutoff
    return d


def read_dict(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
    value: str | None = None,
    note: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Return the dict in a file, as a plain one; its arguments and errors are `open_dict`'s."""
    form = format or _found_format(path)
    _check_names(form, key, value)
    # A reader is imported with its parser when a file needs it.
    match form:
        case "json":
            from fuzzydict.io.dict_json import read_json

            return read_json(path)
        case "toml":
            from fuzzydict.io.dict_toml import read_toml

            return read_toml(path)
        case "yaml":
            from fuzzydict.io.dict_yaml import read_yaml

            return read_yaml(path)
        case "csv" | "tsv" | "jsonl":
            from fuzzydict.io.dict_rows import read_rows

            return read_rows(path, form, key=key, value=value, note=note)
        case "fuzzydict":
            return dict(open_dict(path, format=form))
    raise OptionError(f"format: expected one of {', '.join(FORMATS)}, got {form!r}")


def _found_format(path: Path) -> str:
    """Return the format that a file's first bytes show, or else its ending."""
    if path.is_file():  # anything else, such as a pipe, can be read only once
        with path.open("rb") as file:
            begin = file.read(len(MAGIC))
        if begin == MAGIC:
            return "fuzzydict"
        if _PARQUET.match(begin):
            raise FileFormatError(
                f"{path}: is a Parquet file, from which no dict is read; save its columns of keys "
                f"and values as CSV, TSV or JSON Lines"
            )
    return format_of(path)


def _check_names(form: str, key: str | None, value: str | None) -> None:
    if form not in ROWS and (key is not None or value is not None):
        raise OptionError(
            f"key and value name columns of the formats {', '.join(ROWS)}; {form} has none"
        )
