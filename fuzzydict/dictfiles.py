"""Files that hold a dict: JSON, TOML, YAML, CSV, TSV, JSON Lines, or what `FuzzyDict.save` wrote.

Each format is read by a module of its own, which is imported when it is needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError, OptionError
from fuzzydict.mapping import FuzzyDict
from fuzzydict.storage import MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["FORMATS", "format_of", "open_dict", "read_dict", "told_format"]

FORMATS = ("json", "toml", "yaml", "csv", "tsv", "jsonl", "fuzzydict")
_ENDINGS = {"yml": "yaml", "ndjson": "jsonl"}
_PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")  # a text may begin with its name alone
_ROWS = ("csv", "tsv", "jsonl")


def format_of(path: Path) -> str:
    """Return the format that the ending of a file's name tells; JSON where it tells none."""
    return told_format(path) or "json"


def told_format(path: Path) -> str | None:
    """Return the format that the ending of a file's name tells, if it is one of `FORMATS`."""
    ending = path.suffix[1:].lower()
    ending = _ENDINGS.get(ending, ending)
    return ending if ending in FORMATS else None


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
        format: one of `FORMATS`; by default what the file's ending tells, or its first bytes, if
            they are those of a saved dict.
        key: the column of a CSV or TSV file, or the field of a JSON Lines file, with the keys.
        value: that with the values.
        embedding: as in `FuzzyDict`. A saved dict needs the one that it was made with.
        score_cutoff: as in `FuzzyDict`; of a saved dict, in the place of its own.
        note: called with what is odd about the file, if something is: a first row of CSV that
            looks like a header, and is an item.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not of its format, holds no dict, or names a key twice.
        OptionError: there is no such format, or an option is not for it.
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
    match form:
        case "json":
            from fuzzydict.dict_json import read_json

            return read_json(path)
        case "toml":
            from fuzzydict.dict_toml import read_toml

            return read_toml(path)
        case "yaml":
            from fuzzydict.dict_yaml import read_yaml

            return read_yaml(path)
        case "csv" | "tsv" | "jsonl":
            from fuzzydict.dict_rows import read_rows

            return read_rows(path, form, key=key, value=value, note=note)
        case "fuzzydict":
            return dict(open_dict(path, format=form))
    raise OptionError(f"format: expected one of {', '.join(FORMATS)}, got {form!r}")


def _found_format(path: Path) -> str:
    """Return the format of a file: what its first bytes tell, if they do, or else its ending."""
    if path.is_file():  # what is no file, such as a pipe, is read once
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
    if form not in _ROWS and (key is not None or value is not None):
        raise OptionError(
            f"key and value name columns of the formats {', '.join(_ROWS)}; {form} has none"
        )
