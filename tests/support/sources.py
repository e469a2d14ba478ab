"""The package's source files, and what each of them imports."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import fuzzydict


def _found(package: str, folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.py")):
        parts = (package, *path.relative_to(folder).with_suffix("").parts)
        yield ".".join(parts).removesuffix(".__init__"), path


#: The folder of the library, and its modules by name.
LIBRARY = Path(str(fuzzydict.__file__)).parent
MODULES = dict(_found("fuzzydict", LIBRARY))
for _package in ("fuzzydict.cli", "fuzzydict.data"):  # in a checkout they are beside the library
    MODULES |= _found(_package, Path(next(iter(importlib.import_module(_package).__path__))))


@cache
def syntax(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text("utf-8"))


def imports(module: str, *, everywhere: bool = True) -> set[str]:
    """Return the modules that a module imports; ``everywhere``: in functions and for hints, too."""
    body = ast.walk(syntax(module)) if everywhere else iter(syntax(module).body)
    package = module if MODULES[module].stem == "__init__" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            source = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            names = {f"{source}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else source for name in names}
    return found
