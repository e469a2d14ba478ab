"""A dict in a file of YAML: one mapping, read by PyYAML (extra ``yaml``), of plain values only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError, MissingExtraError
from fuzzydict.records import KINDS, decoded
from fuzzydict.text import quoted

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_yaml"]

_DEEPEST = 100  # collections in one another
_MOST = 1_000_000  # values that aliases may stand for, beyond ten times what is written
_NOT_OF_ITS_TYPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_TAG = "tag:yaml.org,2002:"
# As YAML 1.2 has them. To 1.1, NO is a boolean, 12:30 a number of base 60, and 010 is eight.
_RESOLVED = [
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)"
        r"|\.[0-9]+(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN))$",
        "-+0123456789.",
    ),
]


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the dict in a file that holds one YAML mapping.

    Keys are texts as written: ``1: one`` has the key "1". Of plain values, ``true`` and ``false``
    alone are booleans, as in YAML 1.2, and ``NO`` is a text.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not UTF-8, not YAML, no mapping, or names a key twice; or it asks
            for anything but plain values.
        MissingExtraError: PyYAML is not installed.
    """
    yaml = _yaml()
    text = decoded(path.read_bytes(), str(path))
    safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(yaml, safe, path, text)
        content = yaml.load(text, Loader=_loader(safe, path))
    except FileFormatError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FileFormatError(
            f"{path}: line {mark.line + 1} is not YAML ({error.problem}); "
            f"expected lines such as color: black"
        ) from error
    except yaml.YAMLError as error:
        raise FileFormatError(f"{path}: is not YAML ({error}); expected a text file") from error
    except _NOT_OF_ITS_TYPE as error:
        raise FileFormatError(f"{path}: holds a value that is not of its type") from error
    if not isinstance(content, dict):
        kind = KINDS.get(type(content), "another value")
        raise FileFormatError(f"{path}: holds {kind}; expected lines such as color: black")
    return content


def _yaml() -> Any:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError(
            "YAML needs PyYAML, which is not installed; install it with: "
            "pip install 'fuzzydict[yaml]'"
        ) from error
    return yaml


def _check_depth(yaml: Any, safe: Any, path: Path, text: str) -> None:
    """Refuse depth by our own count, before a parser recurses into it."""
    depth = 0
    for event in yaml.parse(text, Loader=safe):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            line = event.start_mark.line + 1
            raise FileFormatError(f"{path}: line {line} is nested too deeply; flatten it")


def _loader(safe: Any, path: Path) -> Any:
    """Return a class derived from the safe loader: keys are texts, and come once."""

    class Loader(safe):  # type: ignore[misc]
        yaml_implicit_resolvers = {  # noqa: RUF012
            first: [(tag, form) for tag, form in known if tag not in _others]
            for first, known in safe.yaml_implicit_resolvers.items()
        }

        def get_single_node(self) -> Any:
            node = super().get_single_node()
            if node is not None:
                _check_nodes(node, path)
            return node

    for name, form, first in _RESOLVED:
        Loader.add_implicit_resolver(_TAG + name, re.compile(form), list(first))
    Loader.add_constructor(f"{_TAG}map", _mapping)
    return Loader


_others = {_TAG + name for name, _, _ in _RESOLVED}


def _mapping(loader: Any, node: Any) -> Any:
    """Make a dict of a mapping, whose keys are known to be texts that come once."""
    content: dict[str, Any] = {}
    yield content
    loader.flatten_mapping(node)  # what "<<" merges comes first, so that the mapping's own wins
    for key, value in node.value:
        try:
            content[key.value] = loader.construct_object(value, deep=True)
        except _NOT_OF_ITS_TYPE as error:  # a date that is none, a number of too many digits
            from yaml.constructor import ConstructorError

            why = f"the value of {quoted(key.value)} is not of its type: put it in quotes"
            raise ConstructorError(problem=why, problem_mark=value.start_mark) from error


def _check_nodes(root: Any, path: Path) -> None:
    """Refuse keys that come twice, and aliases that stand for themselves or for far too much."""
    sizes: dict[int, int] = {}
    above: set[int] = set()

    def size(node: Any) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        if id(node) in above:
            line = node.start_mark.line + 1
            raise FileFormatError(f"{path}: line {line} holds itself by an alias; write it out")
        above.add(id(node))
        if node.id == "mapping":
            _check_keys(node, path)
            parts = [value for _, value in node.value]
        else:
            parts = node.value if node.id == "sequence" else []
        sizes[id(node)] = 1 + sum(map(size, parts))
        above.discard(id(node))
        return sizes[id(node)]

    if size(root) > max(_MOST, 10 * len(sizes)):
        raise FileFormatError(f"{path}: its aliases stand for too many values; write fewer")


def _check_keys(node: Any, path: Path) -> None:
    """Refuse a key that comes twice in a mapping, and one that is no text."""
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.id != "scalar":
            raise FileFormatError(f"{path}: line {line} has a key that is no text; use a text")
        if key.value in lines and key.tag != f"{_TAG}merge":
            raise FileFormatError(
                f"{path}: the key {key.value!r} comes twice in one mapping, "
                f"on lines {lines[key.value]} and {line}; keep one"
            )
        lines[key.value] = line
