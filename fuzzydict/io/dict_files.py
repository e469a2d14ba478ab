"""Files that hold a dict: JSON, TOML, YAML, CSV, TSV, JSON Lines, .xlsx, and saved dicts."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from fuzzydict._files import MAGIC, bytes_of, decoded, open_to_read
from fuzzydict.errors import FileFormatError, OptionError, needing, printable, quoted
from fuzzydict.frames.match import warn_of_twins
from fuzzydict.io.tables import OLE, open_table
from fuzzydict.io.text_tables import (
    BYTE_ORDER_MARK,
    JSON_TYPES,
    ROW_FORMATS,
    Reading,
    Row,
    Table,
    beyond_limits,
    cell_text,
    column_index,
    format_by_ending,
    parse_json,
    refuse_workbook,
)
from fuzzydict.mapping import FuzzyDict, suggestion
from fuzzydict.search.score import is_probability

FORMATS = ("json", "toml", "yaml", *ROW_FORMATS, "xlsx", "fuzzydict")
_OBJECT = '{"color": "black"}'
_WITH_COLUMNS = (*ROW_FORMATS, "xlsx")
_ROWS = 1000  # by which a header is told
_LONGEST_NAMED = 80  # characters of a column that is named to be typed again
_PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")  # a text may begin with "PAR1", too


def open_dict(
    path: Path,
    reading: Reading = Reading(),  # noqa: B008
    *,
    embedding: Any = None,
    scorer: str | None = None,
) -> FuzzyDict[Any]:
    """Return the `FuzzyDict` in a file.

    The first row of a CSV or TSV file or of a sheet is an item unless it names the columns "key"
    and "value" or those that are given; if it looks like a header, a UserWarning says so. The first
    bytes show whether it is a saved dict, and otherwise the ending decides; a file without a known
    ending is JSON. A saved dict needs the embedding it was made with; ``scorer`` replaces its own.
    Another UserWarning names two keys that are one text, but for those of a saved dict.
    """
    reading = reading._replace(format=dict_format(path, reading))
    if reading.format != "fuzzydict":
        content = read_dict(path, reading)
        if is_probability(scorer):
            warn_of_twins(path, [*content])
        return FuzzyDict(content, embedding=embedding, scorer=scorer)
    d: FuzzyDict[Any] = FuzzyDict.load(path, embedding=embedding)
    if scorer is not None:
        d.scorer = scorer
    return d


def read_dict(path: Path, reading: Reading = Reading()) -> dict[str, Any]:  # noqa: B008
    """Return the content of a file as a plain dict; arguments and errors as in `open_dict`."""
    form = dict_format(path, reading)
    if form == "fuzzydict":
        return dict(FuzzyDict.load(path))
    if form == "json":
        is_known = format_by_ending(path, FORMATS) is not None
        other = f"; or name its format with --format: {', '.join(FORMATS)}"
        return read_json(path, example=_OBJECT + ("" if is_known else other))
    if form == "toml":
        return _content(path, _parse_toml, 'lines such as color = "black"')
    if form == "yaml":
        return _content(path, _parse_yaml, "lines such as color: black")
    content, lines = dict[str, Any](), dict[str, int]()
    with open_table(path, reading._replace(format=form)) as table:
        items_of = _json_items if form == "jsonl" else _row_items
        for line, key, value in items_of(table, path, reading):
            if not isinstance(key, str):
                advice = "fill it in" if key is None else "put it in quotes"
                kind = JSON_TYPES[type(key)]
                raise FileFormatError(f"{path}: line {line} has {kind} as key; {advice}")
            if key in content and not content[key] == value == key:  # as in a list
                raise FileFormatError(
                    f"{path}: the key {quoted(key)} comes twice, on lines {lines[key]} and {line}; "
                    f"keep one"
                )
            content[key], lines[key] = value, line
    if not content:
        raise FileFormatError(f"{path}: has no items; expected rows of a key and a value")
    return content


def dict_format(path: Path, reading: Reading) -> str:
    """Return the format of a file, which must have what is named: columns, a sheet ...

    The first bytes show it, or else the ending. Errors are as for `open_dict`.
    """
    form = reading.format
    if form is None and path.is_file():  # a pipe can be read only once
        with open_to_read(path) as file:
            begin = file.read(len(MAGIC))
        if _PARQUET.match(begin):
            raise FileFormatError(
                f"{path}: is a Parquet file, which cannot be read as a dict; save its columns of "
                f"keys and values as CSV, TSV or JSON Lines"
            )
        # The reader of workbooks says what it is: an old one, or an encrypted one.
        form = {MAGIC: "fuzzydict", OLE: "xlsx"}.get(begin)
    form = form or format_by_ending(path, FORMATS) or "json"
    if form not in FORMATS:
        raise OptionError(f"format: expected one of {', '.join(FORMATS)}, got {form!r}")
    if form not in _WITH_COLUMNS and (reading.key is not None or reading.value is not None):
        raise OptionError(
            f"key and value name columns of the formats {', '.join(_WITH_COLUMNS)}; {form} has none"
        )
    reading.check(path, form)
    return form


def is_saved_dict(path: Path) -> bool:
    """Tell whether `FuzzyDict.save` wrote a file, by its first bytes."""
    with open_to_read(path) as file:
        return file.read(len(MAGIC)) == MAGIC


# ---- JSON, TOML, YAML ---------------------------------------------------------------------


def _content(path: Path, parse: Callable[[str, Path, str], Any], expected: str) -> dict[str, Any]:
    """Return the dict in a text file, which must not be blank; without its byte-order mark."""
    data, is_json = bytes_of(path), parse is parse_json
    refuse_workbook(data, path)
    encoding = json.detect_encoding(data).removesuffix("-sig") if is_json else "utf-8"
    text = decoded(data, path, encoding).removeprefix(BYTE_ORDER_MARK)
    if not text.strip():
        raise FileFormatError(f"{path}: is empty; expected {expected}")
    try:
        content = parse(text, path, expected)
        if not is_json:
            repr(content)  # raises ValueError for an integer that has too many digits to be printed
    except FileFormatError:
        raise
    except (RecursionError, ValueError) as error:
        raise beyond_limits(str(path), error) from error
    if not isinstance(content, dict):
        kind = JSON_TYPES.get(type(content), "another value")
        raise FileFormatError(f"{path}: holds {kind}; expected {expected}")
    return content


def read_json(path: Path, *, example: str = _OBJECT) -> dict[str, Any]:
    """Return the object in a JSON file; errors show ``example`` as what was expected."""
    return _content(path, parse_json, f"an object such as {example}")


_MAX_PARTS = 16  # of a key; `tomllib` takes the square of their number, in time and memory
_TOML_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"?+|'[^'\n]*+'?+)"""
_TOML_NEXT = rf"(?:[ \t]*+\.[ \t]*+{_TOML_PART})"
_TOML_TOKEN = re.compile(  # a text that is not closed is a token as well, so that one pass suffices
    r"""(?:\"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}+|\'''(?:[^']|'(?!''))*+'{0,5}+|\#[^\n]*+"""
    rf"|(?P<long>{_TOML_PART}{_TOML_NEXT}{{{_MAX_PARTS},}}+)|{_TOML_PART}{_TOML_NEXT}*+)",
    re.DOTALL,
)


def _parse_toml(text: str, path: Path, expected: str) -> dict[str, Any]:
    import tomllib  # here, so that other formats do not wait for it

    if long := next((one for one in _TOML_TOKEN.finditer(text) if one["long"]), None):
        line = text.count("\n", 0, long.start()) + 1
        raise FileFormatError(
            f"{path}: line {line} has a key of more than {_MAX_PARTS} parts; use fewer"
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why, _, place = str(error).partition(" (at ")
        named = re.match(r"line (\d+)", place)
        line = int(named[1]) if named else text.rstrip().count("\n") + 1
        message = f"line {line} is not TOML ({why}); expected {expected}"
        if why.startswith(("Cannot overwrite", "Cannot declare", "Duplicate")):
            message = f"line {line}: a key or table comes twice ({why}); keep one"
        raise FileFormatError(f"{path}: {message}") from error


def _parse_yaml(text: str, path: Path, expected: str) -> Any:
    """Return the content of a text in YAML 1.2. Keys are texts as written, as in JSON."""
    yaml = _yaml_parser()
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = yaml.compose(text)
        if root is None:
            raise FileFormatError(f"{path}: is empty; expected {expected}")
        _check_yaml(root, path)
        return yaml.constructor.construct_document(root)
    except MarkedYAMLError as error:
        line = (error.problem_mark or error.context_mark).line + 1
        raise FileFormatError(
            f"{path}: line {line} is not YAML ({error.problem}); expected {expected}"
        ) from error
    except FileFormatError:
        raise
    except (YAMLError, *_MISTAKES) as error:
        why = str(error) or repr(error)
        raise FileFormatError(
            f"{path}: is not YAML that can be read ({why}); expected {expected}"
        ) from error


def _yaml_parser() -> Any:
    """Return a parser that raises for numbers and depths without end."""
    with needing("YAML needs ruamel.yaml", "ruamel.yaml"):
        from ruamel.yaml import YAML
        from ruamel.yaml.constructor import ConstructorError, SafeConstructor
        from ruamel.yaml.resolver import VersionedResolver
        from ruamel.yaml.scanner import Scanner, ScannerError

    class ShallowScanner(Scanner):
        def fetch_flow_collection_start(self, token: Any, to_push: str) -> None:
            # Before the token: the parser takes the square of their number in time.
            if self.flow_level >= _MAX_DEPTH:
                why = f"it is nested too deeply, more than {_MAX_DEPTH} brackets"
                raise ScannerError(problem=why, problem_mark=self.reader.get_mark())
            super().fetch_flow_collection_start(token, to_push)

    class Constructor(SafeConstructor):
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except _MISTAKES as error:
                why = f"{quoted(node.value)} is not of its type: put it in quotes"
                raise ConstructorError(problem=why, problem_mark=node.start_mark) from error

    class Resolver(VersionedResolver):
        processing_version = (1, 2)  # whatever a directive says

    yaml = YAML(typ="safe", pure=True)  # the parser in C reads YAML 1.1
    yaml.Scanner, yaml.Constructor, yaml.Resolver = ShallowScanner, Constructor, Resolver
    yaml.composer.warn_double_anchors = False  # YAML lets an anchor be given again
    return yaml


_MAX_DEPTH = 100  # of brackets; the stack ends deeper blocks
_MAX_VALUES = 100_000  # with those that aliases repeat; large files may have ten times their own
_YAML_TAG = "tag:yaml.org,2002:"
#: What ruamel.yaml raises beside its own errors.
_MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def _check_yaml(root: Any, path: Path) -> None:
    """Make all keys of a YAML document texts; refuse repeated keys, and aliases without end."""
    sizes: dict[int, float] = {}  # by the id of a node, 0 while its parts are counted

    def size_of(node: Any) -> float:  # an integer would grow as long as the file
        """Return how many values a node has, with those repeated by aliases."""
        if id(node) in sizes:
            if sizes[id(node)]:
                return sizes[id(node)]
            line = node.start_mark.line + 1
            raise FileFormatError(f"{path}: line {line} holds itself by an alias; write it out")
        sizes[id(node)] = 0
        parts = [] if node.id == "scalar" else node.value
        lines: dict[str, int] = {}  # ruamel.yaml misses a key that comes twice beside a merge
        for key, _ in parts if node.id == "mapping" else ():
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise FileFormatError(f"{path}: line {line} has a key that is no text; use a text")
            if key.value in lines:
                raise FileFormatError(
                    f"{path}: the key {quoted(key.value)} comes twice in one mapping, on lines "
                    f"{lines[key.value]} and {line}; keep one"
                )
            lines[key.value] = line
            if key.tag != f"{_YAML_TAG}merge":  # the key <<
                key.tag = f"{_YAML_TAG}str"
        values = [value for _, value in parts] if node.id == "mapping" else parts
        sizes[id(node)] = 1.0 + sum(map(size_of, values))
        return sizes[id(node)]

    if size_of(root) > max(_MAX_VALUES, 10 * len(sizes)):
        raise FileFormatError(f"{path}: its aliases repeat too many values; write fewer")


# ---- CSV, TSV, JSON Lines, .xlsx -----------------------------------------------------------------


def _names_of_item(reading: Reading, columns: Collection[str]) -> tuple[str, str]:
    """Return the columns of keys and values; they are one of a list, whose key alone is named."""
    key, value = reading.key or "key", reading.value or "value"
    is_key_alone = not reading.value and (bool(reading.key) or [*columns] == ["key"])
    is_list = is_key_alone and value not in columns
    return key, key if is_list else value


def _row_items(table: Table, path: Path, reading: Reading) -> Iterator[tuple[int, Any, Any]]:
    """Return the line, the key and the value of each row of CSV or of a sheet."""
    if table.header is None:
        return iter(())
    rows, columns, first = [*table.rows()], table.names, table.header[0]
    names = _names_of_item(reading, columns)
    if reading.key or reading.value or set(names) <= set(columns):
        key, value = (column_index(name, columns, path) for name in names)
    elif len(columns) == 2 or (len(columns) == 1 and reading.side is not None):
        # One cell is that of a list; but synonyms, which have no option to name columns, are pairs.
        key, value = (0, 1) if len(columns) == 2 else (0, 0)
        _tell_of_header(columns, rows, f"{path}: line {first}", reading)
        rows.insert(0, table.header)
    else:
        advice = "if it is a header, name them with --key and --value; if not, write one above it"
        raise FileFormatError(
            f"{path}: line {first} has {len(columns)} cell{'s' * (len(columns) != 1)}, where a "
            f"key and a value were expected" + (f"; {advice}" if reading.side is not None else "")
        )
    return ((line, cell_text(cells[key]), cells[value]) for line, _, cells in rows)


def _tell_of_header(columns: list[str], rows: list[Row], place: str, reading: Reading) -> None:
    """Warn of a first row that looks like a header, and is read as an item."""
    of_first = [*map(_kind, columns)]
    if "number" in of_first or not rows:
        return
    is_like = False
    for column, kind in enumerate(of_first):
        texts = ((cell_text(cells[column]) or "").strip() for _, _, cells in rows[:_ROWS])
        below = {_kind(text) for text in texts if text}
        is_other = kind == "word" and len(below) == 1 and kind not in below and len(rows) > 1
        is_like |= is_other or (column == 1 and below == {"number"})
    # It is said although nothing speaks for it where an item goes into many rows, beside a table,
    # and of a list, which may be a table that was taken for one.
    if is_like or reading.side == "dict-" or len(columns) == 1:
        looks = "looks like a header, but " if is_like else ""
        key, *value = ("NAME" if len(n) > _LONGEST_NAMED else shlex.quote(n) for n in columns)
        advice = " --value ".join([f"add --key {key}", *value])
        if reading.side is None:
            advice = "remove this line, or write key,value there"
        message = f"{place} {looks}was read as an item; if it is a header, {advice}"
        warnings.warn(printable(message), stacklevel=4)


def _kind(cell: str) -> str:
    """Return what a cell looks like, by which a header differs from the rows below."""
    try:
        float(cell.replace(",", ""))
    except ValueError:
        if cell.isupper() or any(map(str.isdigit, cell)):
            return "code"
        return "name" if cell[:1].isupper() else "word"
    return "number"


def _json_items(table: Table, path: Path, reading: Reading) -> Iterator[tuple[int, Any, Any]]:
    """Yield each line's number, and its item: an object of two fields or of one, or a pair."""
    rows = [*table.rows()]  # which tell all names
    names = _names_of_item(reading, table.names)
    for line, _, content in rows:
        if isinstance(content, dict) and set(names) <= content.keys():
            yield line, content[names[0]], content[names[1]]
        elif reading.key or reading.value:
            fields = content if isinstance(content, dict) else {}
            wanted = " and ".join(
                quoted(name) + ("" if name in fields else suggestion(name, fields))
                for name in dict.fromkeys(names)
            )
            raise FileFormatError(f"{path}: line {line}: expected an object with {wanted}")
        elif isinstance(content, dict) and len(content) == 1:
            yield line, *next(iter(content.items()))
        elif isinstance(content, list) and len(content) == 2:
            yield line, *content
        else:
            raise FileFormatError(
                f'{path}: line {line}: expected {{"key": ..., "value": ...}}, an object of one '
                f"field, or a pair; --key and --value name other fields"
            )
