"""``series.fuzzy`` and ``frame.fuzzy`` in pandas, whatever is imported first."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pandas as pd
import pytest

import fuzzydict
from fuzzydict import FuzzyDict
from tests.support.properties import one_process

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


OLD_FINDERS = """
import sys, warnings
class OldFinder:  # as Python 3.11 still has them, with a warning
    def find_module(self, name, path=None):
        return None
import fuzzydict
sys.meta_path.append(OldFinder())
sys.meta_path.insert(0, OldFinder())
warnings.simplefilter("ignore", ImportWarning)
import pandas
"""
FAILED_BEFORE = """
import sys, fuzzydict
sys.modules["numpy.random"] = None
try:
    import pandas
except ImportError:
    del sys.modules["numpy.random"]
for name in [name for name in sys.modules if name.partition(".")[0] == "pandas"]:
    del sys.modules[name]
import pandas
"""
SELDOM = [
    "import fuzzydict, pandas.testing",
    # Some ask for what is installed, and import it later.
    "import importlib.util, fuzzydict; importlib.util.find_spec('pandas'); import pandas",
    "import sys; sys.modules['pandas'] = None; import fuzzydict; del sys.modules['pandas']; "
    "import pandas",
    "import importlib, fuzzydict, pandas; importlib.reload(fuzzydict)",
    "import threading; t = threading.Thread(target=__import__, args=['pandas']); t.start(); "
    "import fuzzydict; t.join(); import pandas",
]
OFTEN = ["import pandas, fuzzydict", "import fuzzydict, pandas", OLD_FINDERS, FAILED_BEFORE]
SLOW = pytest.mark.slow("it starts several processes")


@pytest.mark.parametrize("code", [*OFTEN, *(pytest.param(one, marks=SLOW) for one in SELDOM)])
def test_pandas_may_be_imported_before_or_after(code: str) -> None:
    assert said(f"{code}\n{HAS_ACCESSORS}") == "[True, True, True]\n"


def test_without_pandas_the_error_is_pythons_own() -> None:
    code = "import sys, fuzzydict; sys.path.clear(); import pandas"
    assert said(code).endswith("ModuleNotFoundError: No module named 'pandas'\n")


@pytest.mark.parametrize(
    "stub", one_process("types.ModuleType('pandas')", "None", "unittest.mock.MagicMock()")
)
def test_something_else_may_be_called_pandas(stub: str) -> None:
    code = f"import sys, types, unittest.mock; sys.modules['pandas'] = {stub}; import fuzzydict; "
    assert said(f"{code}print(fuzzydict.FuzzyDict({{'color': 1}})['colour'])") == "1\n"
