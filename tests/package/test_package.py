"""What the package offers, loads, opens and needs, and how good its answers are."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import fuzzydict
from fuzzydict import FuzzyDict
from fuzzydict.evaluation import expected_calibration_error
from tests.support.sources import MODULES, imports

#: Modules that need an extra, and are imported when they are needed.
IMPORTED_LATER = {
    "fuzzydict.frames.estimator": "sklearn",
    "fuzzydict.stores.postgres": "psycopg",
    "fuzzydict.stores.qdrant": "qdrant_client",
}
PUBLIC = {
    *("ArgumentTypeError", "FileFormatError", "FuzzyDictError", "MissingCorpusError"),
    *("MissingExtraError", "NoMatchError", "NotFittedError", "OptionError", "PoolingError"),
    *("ReadOnlyError", "ShapeError", "StoreError", "UnknownOptionError", "WorkerError"),
    *("FuzzyDict", "Match", "Attention", "Explanation"),
    *("Brown", "WordVectors"),
    *("attention", "pool_shards", "KernelRegression", "MultiHeadAttention"),
    *("Matcher", "match", "join", "FuzzyKeyEncoder", "connect", "RemoteDict"),
    *("DoubtfulPoolWarning", "EmptyRowWarning", "StoreWarning"),
    *("Additive", "Bilinear", "Boxcar", "Concat", "Cosine", "Dot", "Epanechnikov", "Gaussian"),
    *("ScaledDot", "Triangular"),
}


def run(code: str) -> list[str]:
    """Return the words that a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_public_names_are_these() -> None:
    assert set(fuzzydict.__all__) == PUBLIC
    assert [name for name in PUBLIC if not hasattr(fuzzydict, name)] == []


def test_the_import_is_light() -> None:
    """Of what other people wrote numpy and rapidfuzz alone are loaded."""
    before, after = (
        {name.split(".")[0] for name in run(f"import sys{more}; print(*sys.modules)")}
        for more in ("", "; from fuzzydict import FuzzyDict")
    )
    installed = set(metadata.packages_distributions())
    assert (after - before) & installed <= {"fuzzydict", "numpy", "rapidfuzz"}
    assert "click" not in after


def test_the_examples_in_docstrings_hold() -> None:
    missing = {name for name, needed in IMPORTED_LATER.items() if find_spec(needed) is None}
    results = {
        name: doctest.testmod(importlib.import_module(name))
        for name in MODULES.keys() - missing
        if not name.endswith("__main__")
    }
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 100


@pytest.mark.parametrize("everywhere", [False, True], ids=["with the module", "anywhere"])
def test_every_package_that_is_imported_is_declared(everywhere: bool) -> None:
    """Those that a module imports when it is imported itself are needed without any extra."""
    required = metadata.requires("fuzzydict") or []
    declared = {
        re.split(r"[^\w.-]", line)[0].lower()
        for line in required
        if everywhere or "extra ==" not in line
    }
    loaded = MODULES if everywhere else MODULES.keys() - IMPORTED_LATER.keys()
    found = {name for module in loaded for name in imports(module, everywhere=everywhere)}
    others = {name.split(".")[0] for name in found} - {"fuzzydict", *sys.stdlib_module_names}
    sources = metadata.packages_distributions()
    for name in others & sources.keys():  # others come with extras that are not installed
        assert declared & {source.lower() for source in sources[name]}, name


def test_the_package_says_what_it_is_and_puts_nothing_else_on_the_path() -> None:
    facts = metadata.metadata("fuzzydict")
    assert facts["Version"] == fuzzydict.__version__
    told = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert told["project"]["version"] == fuzzydict.__version__
    for said in ("MIT", "WordNet", "Brown-Corpus-NonCommercial"):
        assert said in told["project"]["license"]
    assert "data/README.md" in told["project"]["license-files"]
    # An editable install leaves another one beside the sources, which has no RECORD.
    found = metadata.distributions(name="fuzzydict")
    files = [file for one in found if one.read_text("RECORD") for file in one.files or []]
    tops = {file.parts[0] for file in files if file.suffix == ".py" and len(file.parts) > 1}
    assert not tops & {"cli", "data", "tests"}
    assert "fuzzydict" in {entry.name for entry in metadata.entry_points(group="console_scripts")}


_PROGRAM = """
import sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from fuzzydict import FuzzyDict
d = FuzzyDict({"color": 1, "top speed": 2, "price": 3}, **(%s))
d.most_similar("colour"), d.get("hue"), d.explain("maximum spede"), d.get_many(["cost", "colr"])
d.fit({"paint": "color"})
d.save(sys.argv[1])
FuzzyDict.load(sys.argv[1], embedding=d.embedding).get("colours")
print(*opened)
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{}", {"brown", "english"}),
        ("{'embedding': 'english'}", {"english"}),
        ("{'embedding': lambda texts: [[len(t), 1.0] for t in texts]}", {"english"}),
        ("{'scorer': 'spelling'}", set()),
    ],
)
def test_only_the_vectors_that_are_needed_are_opened(
    options: str, expected: set[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", _PROGRAM % options, str(tmp_path / "d.fuzzydict")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    assert {*re.findall(r"(brown|english)\.vectors", done.stdout)} == expected


@pytest.mark.parametrize(
    ("options", "hits", "answered"),
    [({}, 0.85, 0.15), ({"embedding": "english"}, 0.85, 0.15), ({"scorer": "spelling"}, 0.6, 0.1)],
    ids=["default", "english", "spelling"],
)
def test_the_answers_are_good(options: dict[str, Any], hits: float, answered: float) -> None:
    absent, probabilities, are_right = list[bool](), list[float](), list[bool]()
    path = Path(__file__).parents[1] / "benchmarks" / "many_fields.json"
    for one in json.loads(path.read_text("utf-8"))["dictionaries"]:
        d = FuzzyDict(dict.fromkeys(one["keys"]), **options)
        found = d.most_similar([asked["query"] for asked in one["queries"]], topn=1)
        for asked, (best,) in zip(one["queries"], found, strict=True):
            probabilities.append(best.score)
            are_right.append(best.key in asked["accept"])
            if not asked["accept"]:
                absent.append(best.score >= 0.5)
    present = len(are_right) - len(absent)
    assert sum(are_right) / present > hits
    assert sum(absent) / len(absent) < answered
    assert expected_calibration_error(probabilities, are_right) < 0.1
