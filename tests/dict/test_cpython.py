"""CPython's own tests of dicts and mappings, run against a `FuzzyDict`.

A strict one passes what a dict passes. The fuzzy one differs in the reads of a missing key alone
(rule 1 of docs/concepts/rules.md). What cannot hold is marked with the reason, and must fail.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import types
import unittest
from typing import Any

import pytest

from fuzzydict import FuzzyDict

pytest.importorskip("test.mapping_tests", reason="this Python comes without its package 'test'")
mapping_tests: Any = importlib.import_module("test.mapping_tests")


class Fuzzy(FuzzyDict[Any]):
    """A `FuzzyDict` takes options as keywords where a dict takes items; this one takes items."""

    def __init__(self, /, *args: Any, **items: Any) -> None:
        super().__init__(dict(*args, **items))


class Lenient(Fuzzy):
    """What is nearest matches, whatever its score, so that no reading of scores decides here."""

    score_cutoff = 0


class Strict(Fuzzy):
    score_cutoff = float("inf")


def dict_test_of(cls: type) -> Any:
    """Return CPython's test case of dicts, which makes a ``cls`` wherever it made a dict."""
    tests = importlib.import_module("test.test_dict")
    tree = ast.fix_missing_locations(_Replaced().visit(ast.parse(inspect.getsource(tests))))
    changed = types.ModuleType(f"test_dict_of_{cls.__name__}")
    changed.__dict__["Subclass"] = cls
    exec(compile(tree, changed.__name__, "exec"), changed.__dict__)
    return changed.__dict__["DictTest"]


class _Replaced(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("Subclass", node.ctx) if node.id == "dict" else node

    def visit_Dict(self, node: ast.Dict | ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("Subclass", ast.Load()), [node], [])

    visit_DictComp = visit_Dict  # noqa: N815


def but(case: Any, cls: type, differences: dict[str, str]) -> Any:
    """Return the test case for ``cls`` in which the tests that differ are expected to fail."""
    marked: dict[str, Any] = {}
    for name in differences:
        test = getattr(case, name)  # of which a copy is marked, so that it stays as it is
        copied = types.FunctionType(test.__code__, test.__globals__, name, None, test.__closure__)
        marked[name] = unittest.expectedFailure(copied)
    return type(case.__name__, (case,), {"type2test": cls, **marked})


NOT_FOR_SUBCLASSES = {
    "test_missing": "asserts that dict has no __missing__, which is where misses are resolved",
    "test_track_literals": "asserts which dicts the garbage collector leaves out; no subclass is",
    "test_track_dynamic": "asserts which dicts the garbage collector leaves out; no subclass is",
}
FUZZY_READS = {
    "test_read": "reads a missing key that resembles another",
    "test_write": "reads a deleted key that resembles another",
    "test_get": "gets a missing key that resembles another",
}

TestHashMappingStrict = but(mapping_tests.TestHashMappingProtocol, Strict, {})
TestHashMappingFuzzy = but(mapping_tests.TestHashMappingProtocol, Lenient, FUZZY_READS)
TestDictStrict = but(dict_test_of(Strict), Strict, NOT_FOR_SUBCLASSES)
TestDictFuzzy = but(
    dict_test_of(Lenient), Lenient, NOT_FOR_SUBCLASSES | {"test_get": FUZZY_READS["test_get"]}
)
