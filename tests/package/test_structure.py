"""How the package is built: which way imports go, whose names are private, how long files are."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.benchmarks import walk
from tests.support.sources import MODULES, imports, syntax

#: Each part may import those before it, and a package its own modules, in a circle never.
ORDER = (
    *("errors", "_arrays", "_files"),
    *("text", "nn", "embedding", "search", "results"),
    *("options", "saving", "learning", "reads", "mapping", "stores", "frames", "io"),
    *("evaluation", "_public", "__init__", "data", "cli", "__main__"),
)
MOST_LINES, LONGEST_FUNCTION = 800, 60


def part_of(module: str) -> str:
    """Return the part of `ORDER` that a module belongs to."""
    return [*module.split("."), "__init__"][1]


def own_imports(module: str) -> set[str]:
    return imports(module) & MODULES.keys() - {module}


def test_every_module_has_its_place_in_the_order_and_imports_go_one_way() -> None:
    """Imports inside functions and those for type hints, too."""
    assert {part_of(module) for module in MODULES} <= set(ORDER)
    wrong = [
        f"{module} imports {other}"
        for module in MODULES
        for other in own_imports(module)
        if ORDER.index(part_of(other)) > ORDER.index(part_of(module))
    ]
    assert sorted(wrong) == []


def test_no_imports_go_in_a_circle() -> None:
    circle: list[str] = []
    try:
        TopologicalSorter({module: own_imports(module) for module in MODULES}).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert not circle, " imports ".join(reversed(circle))


@pytest.mark.parametrize("module", MODULES)
def test_files_and_functions_are_short(module: str) -> None:
    """A docstring is no part of its function's length."""
    assert len(MODULES[module].read_text("utf-8").splitlines()) <= MOST_LINES
    long = {}
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.FunctionDef):
            docstring = (ast.get_docstring(node, clean=False) or "").splitlines()
            long[node.name] = (node.end_lineno or 0) - node.lineno + 1 - len(docstring)
    assert {name: lines for name, lines in long.items() if lines > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("name", walk.READS)
def test_where_one_looks_for_how_a_query_is_answered_there_is_little_to_read(name: str) -> None:
    query, calls, files = walk.READS[name]
    found = walk.read(walk.dict_of_words(), query)
    visited = walk.files_of(found)
    assert visited[0] == "mapping.py"
    assert 10 < len(found) <= calls, found
    assert len(visited) <= files, visited
