"""Files that hold a dict: JSON, TOML, YAML, CSV, TSV, JSON Lines, or what `FuzzyDict.save` wrote.

Each format is read by a module of its own, which is imported when it is needed.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

from fuzzydict._files import MAGIC, decoded
from fuzzydict.errors import FileFormatError, MissingExtraError, OptionError, quoted
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    KINDS,
    MARK,
    ROWS,
    csv_table,
    format_by_ending,
    json_records,
    limits,
    other_delimiter,
    parse_json,
    place_of,
)
from fuzzydict.mapping import FuzzyDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fuzzydict.io.records import Record

__all__ = [
    "FORMATS",
    "format_of",
    "object_only",
    "open_dict",
    "read_dict",
    "read_json",
    "read_rows",
    "read_toml",
    "read_yaml",
    "text_of",
]


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


_EXPECTED = 'lines such as color = "black"'
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TWICE = ("Cannot overwrite", "Cannot declare", "Duplicate")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the dict in a file of TOML.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is empty, not UTF-8 or not TOML, or has a key twice.
    """
    text = text_of(path, _EXPECTED)
    with limits(str(path)):
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise FileFormatError(f"{path}: {_problem(text, str(error))}") from error


def _problem(text: str, message: str) -> str:
    """Return tomllib's message, its line first; for a key that comes twice, the line repeats it."""
    found = _PLACE.search(message)
    why = message[: found.start()] if found else message
    line = found[1] if found and found[1] else text.rstrip().count("\n") + 1
    if why.startswith(_TWICE):
        return f"line {line}: a key or table comes twice ({why}); keep one"
    return f"line {line} is not TOML ({why}); expected {_EXPECTED}"


_EXPECTED_OF_DICT_YAML = "lines such as color: black"
_MOST = 1_000_000  # values that aliases may repeat, unless the file itself has a tenth of them
_NOT_OF_ITS_TYPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_TAG = "tag:yaml.org,2002:"


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the dict in a file that holds one YAML mapping of plain values.

    Keys are texts as written: ``1: one`` has the key "1", as it has in JSON.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is empty, not UTF-8, not YAML 1.2 or no mapping, has a key twice, has
            values other than plain ones, or its aliases repeat too much.
        MissingExtraError: ruamel.yaml is not installed.
    """
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.constructor import ConstructorError, SafeConstructor
        from ruamel.yaml.error import MarkedYAMLError, YAMLError
    except ImportError as error:
        raise MissingExtraError(
            "YAML needs ruamel.yaml, which is not installed; install it with: "
            "pip install 'fuzzydict[yaml]'"
        ) from error

    class Constructor(SafeConstructor):
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except _NOT_OF_ITS_TYPE as error:  # a date that is none, a number too long
                why = f"{quoted(node.value)} is not of its type: put it in quotes"
                raise ConstructorError(problem=why, problem_mark=node.start_mark) from error

    text = text_of(path, _EXPECTED_OF_DICT_YAML)
    yaml = YAML(typ="safe", pure=True)  # the parser in C reads YAML 1.1
    yaml.Constructor = Constructor
    with limits(str(path)):
        try:
            root = yaml.compose(text)
            if root is None:
                raise FileFormatError(f"{path}: is empty; expected {_EXPECTED_OF_DICT_YAML}")
            sizes: dict[int, int] = {}
            if _checked_size(root, path, sizes) > max(_MOST, 10 * len(sizes)):
                raise FileFormatError(f"{path}: its aliases repeat too many values; write fewer")
            content = yaml.constructor.construct_document(root)
        except MarkedYAMLError as error:
            line = (error.problem_mark or error.context_mark).line + 1
            raise FileFormatError(
                f"{path}: line {line} is not YAML ({error.problem}); expected {_EXPECTED_OF_DICT_YAML}"
            ) from error
        except YAMLError as error:
            raise FileFormatError(f"{path}: is not YAML ({error}); expected a text file") from error
    return object_only(content, path, _EXPECTED_OF_DICT_YAML)


def _checked_size(node: Any, path: Path, sizes: dict[int, int]) -> int:
    """Return how many values a node has, those repeated by aliases included; check its keys.

    ``sizes`` keeps the result of each node by its id, 0 until it is known.
    """
    if id(node) in sizes:
        if not sizes[id(node)]:
            line = node.start_mark.line + 1
            raise FileFormatError(f"{path}: line {line} holds itself by an alias; write it out")
        return sizes[id(node)]
    sizes[id(node)] = 0
    parts = node.value if node.id == "sequence" else []
    if node.id == "mapping":
        _check_keys(node, path)
        parts = [value for _, value in node.value]
    sizes[id(node)] = 1 + sum(_checked_size(part, path, sizes) for part in parts)
    return sizes[id(node)]


def _check_keys(mapping: Any, path: Path) -> None:
    """Make the keys of a mapping texts, and refuse one that is none or comes twice."""
    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        line = key.start_mark.line + 1
        if key.id != "scalar":
            raise FileFormatError(f"{path}: line {line} has a key that is no text; use a text")
        if key.value in lines:
            raise FileFormatError(
                f"{path}: the key {quoted(key.value)} comes twice in one mapping, "
                f"on lines {lines[key.value]} and {line}; keep one"
            )
        lines[key.value] = line
    mapping.value = [(_as_text(key), value) for key, value in mapping.value]


def _as_text(key: Any) -> Any:
    """Return a key as a node of text, except the merge key ``<<``."""
    if key.tag == f"{_TAG}merge":
        return key
    return type(key)(f"{_TAG}str", key.value, key.start_mark, key.end_mark)


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
            return read_json(path)
        case "toml":
            return read_toml(path)
        case "yaml":
            return read_yaml(path)
        case "csv" | "tsv" | "jsonl":
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
