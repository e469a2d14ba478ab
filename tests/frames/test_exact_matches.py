"""The page's table of functions that read the items of a dict, and so match exactly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fuzzydict
from fuzzydict import FuzzyDict

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "frames.md"
LINES = re.findall(
    r"^\| ([\w-]+) \| `([^|]+?)`[^|]* \| `([^|]+)` \|$", PAGE.read_text("utf-8"), re.M
)


def named_by(color: str) -> dict[str, Any]:
    """Return what the lines of the table are about; one of two names is spelled as given."""
    asked = {"name": [color, "brand"]}
    wide = {color: [1, 2], "brand": [3, 4]}
    return {
        "d": FuzzyDict({"color": "black", "brand": "Porsche"}),
        "types": FuzzyDict({"color": "float64", "brand": "float64"}),
        "fuzzydict": fuzzydict,
        "np": np,
        "pd": pd,
        "pl": pl,
        "a": np.array(asked["name"]),
        "s": pd.Series(asked["name"]),
        "df": pd.DataFrame(wide),
        "left": pd.DataFrame(asked),
        "right": pd.DataFrame({"name": ["color", "brand"], "number": [1, 2]}),
        "p": pl.Series(asked["name"]),
        "pf": pl.DataFrame(asked),
        "wide": pl.DataFrame(wide),
        "names": pl.DataFrame({"name": ["color", "brand"], "number": [1, 2]}),
    }


def need(library: str, named: dict[str, Any]) -> None:
    """Add what lines about some libraries need, or skip the test."""
    if library == "pyarrow":
        # Older releases rename columns by a list alone.
        pa = named["pa"] = pytest.importorskip("pyarrow", minversion="17")
        named["pc"] = pytest.importorskip("pyarrow.compute")
        named["table"] = pa.Table.from_pandas(named["df"])
        named["rows"] = pa.table({"name": named["a"]})
        named["keys"] = pa.table({"name": ["color", "brand"], "number": [1, 2]})
    if library == "scikit-learn":
        pytest.importorskip("sklearn", minversion="1.6")
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OrdinalEncoder

        from fuzzydict import FuzzyKeyEncoder

        named |= {"OrdinalEncoder": OrdinalEncoder, "FuzzyKeyEncoder": FuzzyKeyEncoder}
        named["make_pipeline"] = make_pipeline


def outcome(expression: str, names: dict[str, Any]) -> str:
    """Return what an expression gives: the names of columns, and values; or the error."""
    try:
        result = eval(expression, names)
    except (KeyError, ValueError, pl.exceptions.PolarsError) as error:
        return type(error).__name__
    columns = getattr(result, "column_names", getattr(result, "columns", ()))
    return f"{list(columns)} {np.asarray(result).tolist()}"


def test_the_table_is_read() -> None:
    table = PAGE.read_text("utf-8").partition("| library |")[2].partition("\n\n")[0]
    assert len(LINES) == table.count("\n") - 1
    libraries = {library for library, _, _ in LINES}
    assert libraries == {"pandas", "polars", "pyarrow", "numpy", "scikit-learn"}


@pytest.mark.parametrize(("library", "exact", "instead"), LINES)
def test_each_line_of_the_table(library: str, exact: str, instead: str) -> None:
    """What is written instead gives what the exact one gives of names that are spelled right."""
    asked, right = named_by("colour"), named_by("color")
    need(library, asked)
    need(library, right)
    plain = asked | {"d": dict(asked["d"]), "types": dict(asked["types"])}
    assert outcome(exact, asked) == outcome(exact, plain), "it reads the items"
    assert outcome(exact, asked) != outcome(exact, right), "it matches exactly"
    if "fuzzydict.join" in instead:  # which has both names, and the score
        assert outcome(f"{instead}['number']", asked) == "[] [1, 2]"
    else:
        found = outcome(instead, asked).replace("colour", "color")
        assert found == outcome(exact, right)
