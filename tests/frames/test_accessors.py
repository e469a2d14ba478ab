"""``series.fuzzy`` and ``frame.fuzzy`` in pandas, whatever is imported first."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pandas as pd
import pytest

import fuzzydict
from fuzzydict import FuzzyDict

HAS_ACCESSORS = (
    "print([hasattr(k, 'fuzzy') for k in (pandas.Series, pandas.Index, pandas.DataFrame)])"
)


def said(code: str) -> str:
    """Return what code prints in a new process, in which warnings are errors."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_series_and_frames_of_pandas_have_an_accessor() -> None:
    d = FuzzyDict({"brand": "Porsche", "color": "black"})
    series = pd.Series(["colour", "brnd"], name="field")
    assert series.fuzzy.match(d, score_cutoff=0.9).equals(d.match(series, score_cutoff=0.9))
    assert pd.Index(series).fuzzy.match(d)["key"].tolist() == ["color", "brand"]
    left, right = series.to_frame(), pd.DataFrame({"name": ["brand", "color"]})
    options: dict[str, Any] = {"left_on": "field", "right_on": "name"}
    assert left.fuzzy.join(right, **options).equals(fuzzydict.join(left, right, **options))


#: A thread may import pandas meanwhile.
BESIDE = (
    "import threading; t = threading.Thread(target=__import__, args=['pandas']); t.start(); "
    "import fuzzydict; t.join(); import pandas"
)


@pytest.mark.parametrize("code", ["import pandas, fuzzydict", "import fuzzydict, pandas", BESIDE])
def test_pandas_may_be_imported_before_or_after(code: str) -> None:
    assert said(f"{code}\n{HAS_ACCESSORS}") == "[True, True, True]\n"


def test_something_else_may_be_called_pandas() -> None:
    code = "import sys, types; sys.modules['pandas'] = types.ModuleType('pandas'); "
    code += "import fuzzydict; print(fuzzydict.FuzzyDict({'color': 1})['colour'])"
    assert said(code) == "1\n"
