"""The page's table of functions that read the items of a dict, and so match exactly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import fuzzydict
from fuzzydict import FuzzyDict

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "frames.md"
LINES = re.findall(r"^\| (\w+) \| `([^|]+?)`[^|]* \| `([^|]+)` \|$", PAGE.read_text("utf-8"), re.M)


@pytest.fixture
def named() -> dict[str, Any]:
    """Return what the lines of the table are about."""
    d = FuzzyDict({"color": "black", "brand": "Porsche"})
    asked = {"name": ["colour", "brand"]}
    wide = {"colour": [1], "brand": [2]}
    given: dict[str, Any] = {
        "d": d,
        "types": FuzzyDict({"color": "float64", "brand": "float64"}),
        "fuzzydict": fuzzydict,
        "s": pd.Series(asked["name"]),
        "df": pd.DataFrame(wide),
        "left": pd.DataFrame(asked),
        "right": pd.DataFrame({"name": ["color", "brand"]}),
        "p": pl.Series(asked["name"]),
        "pf": pl.DataFrame(asked | {"colour": [1, 2]}),
        "names": pl.DataFrame({"name": ["color", "brand"]}),
    }
    return given


def shown(result: Any) -> str:
    """Return what can be compared: names of columns and rows."""
    rows = result.to_numpy().tolist() if hasattr(result, "to_numpy") else result
    return f"{getattr(result, 'columns', '')} {getattr(result, 'dtypes', '')} {rows}"


def test_the_table_is_read() -> None:
    assert {library for library, _, _ in LINES} == {"pandas", "polars", "pyarrow"}


@pytest.mark.parametrize(("library", "exact", "instead"), LINES)
def test_each_line_of_the_table(
    named: dict[str, Any], library: str, exact: str, instead: str
) -> None:
    if library == "pyarrow":
        named["table"] = pytest.importorskip("pyarrow").table({"colour": [1], "brand": [2]})
    plain = named | {"d": dict(named["d"]), "types": dict(named["types"])}
    assert outcome(exact, named) == outcome(exact, plain), "it reads the items"
    assert outcome(instead, named) != outcome(exact, named)
    assert not outcome(instead, named).startswith("error")


def outcome(expression: str, names: dict[str, Any]) -> str:
    try:
        return shown(eval(expression, names))
    except (KeyError, pl.exceptions.PolarsError) as error:
        return f"error {type(error).__name__}"
