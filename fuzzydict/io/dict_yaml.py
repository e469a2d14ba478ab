"""A dict in a file of YAML: one mapping, read by ruamel.yaml (extra ``yaml``) as YAML 1.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError, MissingExtraError, quoted
from fuzzydict.io.dict_json import object_only, text_of
from fuzzydict.io.records import limits

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_yaml"]

_EXPECTED = "lines such as color: black"
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

    text = text_of(path, _EXPECTED)
    yaml = YAML(typ="safe", pure=True)  # the parser in C reads YAML 1.1
    yaml.Constructor = Constructor
    with limits(str(path)):
        try:
            root = yaml.compose(text)
            if root is None:
                raise FileFormatError(f"{path}: is empty; expected {_EXPECTED}")
            sizes: dict[int, int] = {}
            if _checked_size(root, path, sizes) > max(_MOST, 10 * len(sizes)):
                raise FileFormatError(f"{path}: its aliases repeat too many values; write fewer")
            content = yaml.constructor.construct_document(root)
        except MarkedYAMLError as error:
            line = (error.problem_mark or error.context_mark).line + 1
            raise FileFormatError(
                f"{path}: line {line} is not YAML ({error.problem}); expected {_EXPECTED}"
            ) from error
        except YAMLError as error:
            raise FileFormatError(f"{path}: is not YAML ({error}); expected a text file") from error
    return object_only(content, path, _EXPECTED)


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
