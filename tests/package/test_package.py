"""What the package offers, what its import loads, and which way its imports go."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import fuzzydict

PUBLIC = {
    "Additive",
    "ArgumentTypeError",
    "Attention",
    "Bilinear",
    "Boxcar",
    "Brown",
    "Concat",
    "Cosine",
    "Dot",
    "EmptyRowWarning",
    "Epanechnikov",
    "Explanation",
    "FileFormatError",
    "FuzzyDict",
    "FuzzyDictError",
    "Gaussian",
    "KernelRegression",
    "Match",
    "MissingCorpusError",
    "MissingExtraError",
    "MultiHeadAttention",
    "NoMatchError",
    "NotFittedError",
    "OptionError",
    "PoolingError",
    "ReadOnlyError",
    "ScaledDot",
    "ShapeError",
    "Triangular",
    "UnknownOptionError",
    "WordVectors",
    "attention",
}

# Each module may import those before it alone.
ORDER = [
    *("errors", "atomic", "storage", "text", "arrays", "linear", "scoring", "products", "kernels"),
    *("additive", "scorers", "normalizers", "masks", "streaming", "attention"),
    *("torch_weights", "heads", "bandwidth", "regression"),
    *(
        "optimizers",
        "evidence",
        "reasons",
        "matrix",
        "phrases",
        "subwords",
        "factors",
        "projecting",
        "projections",
        "objectives",
        "descent",
        "parameters",
        "fitting",
    ),
    *(
        "numerals",
        "spelling",
        "abbreviations",
        "alignment",
        "background",
        *("ngram_counts", "stand_ins"),
        "vocabulary",
        "training",
        "unseen",
        "embeddings",
        "corpus",
        "brown",
        "adapters",
        "projected",
        *("graph_bytes", "exact_search", "usearch_search", "engines"),
        *("columns", "index", "shortlist", "neighbours", "ngram_search", "left_out"),
    ),
    *(
        "comparing",
        "matching",
        "settling",
        "lookup",
        "approximate",
        "values",
        "html",
        "plotting",
        "curves",
        "answers",
        "explanations",
    ),
    *("options",),
    *("codec", "graph_saving", "saved_keys", "saved_options", "saving", "recall", "reads"),
    *("calibrating", "targets", "trials", "slips", "spans", "learners"),
    *("fit_report", "exams", "cutoffs", "judging", "folds", "learning"),
    *("plans", "unlearning", "teaching", "fits", "mapping"),
    *("lines", "records", "dict_json", "dict_toml", "dict_yaml", "dict_rows", "dictfiles"),
    *("parquet", "tables", "asking", "review", "cleaning", "examples", "explore"),
    *("retrieval", "pairs", "measures", "systems", "peers", "evaluation", "reporting"),
    *("wordnet", "retrofitting"),
]

LIBRARY = sorted(
    path.stem
    for path in Path(str(fuzzydict.__file__)).parent.glob("*.py")
    if not path.stem.startswith("__")
)


def test_the_public_names_are_these() -> None:
    assert set(fuzzydict.__all__) == PUBLIC
    assert all(hasattr(fuzzydict, name) for name in PUBLIC)


def test_every_error_is_in_the_tree_and_of_the_built_in_kind() -> None:
    kinds = {
        "ArgumentTypeError": TypeError,
        "FileFormatError": ValueError,
        "MissingCorpusError": LookupError,
        "MissingExtraError": ImportError,
        "NoMatchError": KeyError,
        "NotFittedError": (ValueError, AttributeError),
        "OptionError": ValueError,
        "PoolingError": (TypeError, ValueError),
        "ReadOnlyError": AttributeError,
        "ShapeError": ValueError,
        "UnknownOptionError": (TypeError, AttributeError),
    }
    for name, kind in kinds.items():
        error = getattr(fuzzydict, name)
        assert issubclass(error, fuzzydict.FuzzyDictError)
        assert all(issubclass(error, k) for k in (kind if isinstance(kind, tuple) else (kind,)))


def test_the_import_is_light() -> None:
    code = (
        "import sys, fuzzydict; "
        "print(*{'gensim', 'nltk', 'scipy', 'matplotlib', 'click', 'sklearn', 'torch'}"
        ".intersection(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []


def test_every_module_has_its_place_in_the_order() -> None:
    assert sorted(ORDER) == LIBRARY


@pytest.mark.parametrize("name", ORDER)
def test_imports_go_one_way(name: str) -> None:
    allowed = set(ORDER[: ORDER.index(name)])
    module = importlib.import_module(f"fuzzydict.{name}")
    assert module.__file__ is not None
    assert imported_at_run_time(Path(module.__file__)) <= allowed


def imported_at_run_time(path: Path) -> set[str]:
    """Return the package's modules that a file imports, those for type hints alone left out."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "fuzzydict":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fuzzydict."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("fuzzydict.")}
    return found


@pytest.mark.parametrize("name", ["", *LIBRARY])
def test_the_examples_in_docstrings_hold(name: str) -> None:
    # importlib, for the package has an attribute "attention" that is not the module
    module = importlib.import_module(f"fuzzydict.{name}".rstrip("."))
    result = doctest.testmod(module)
    assert result.failed == 0


def test_every_package_that_is_imported_is_declared() -> None:
    required = metadata.requires("fuzzydict") or []
    declared = {re.split(r"[^\w.-]", line)[0].lower() for line in required}
    sources = metadata.packages_distributions()
    imported = set()
    for path in Path(str(fuzzydict.__file__)).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).split(".")[0])
    for name in imported - {"fuzzydict"}:
        assert name not in sources or declared & {source.lower() for source in sources[name]}


def test_there_is_one_of_each_class() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("fuzzydict.fuzzydict.errors")


@pytest.mark.parametrize("folder", ["", ".."])
def test_the_command_runs_wherever_it_is_started(folder: str) -> None:
    """Beside the checkout's sources, too, where the folder ``fuzzydict`` is found first."""
    (data,) = importlib.import_module("fuzzydict.data").__path__
    done = subprocess.run(
        [sys.executable, "-m", "fuzzydict", "lookup", f"{data}/car.json", "colour"],
        cwd=Path(str(fuzzydict.__file__)).parent / folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "black\n"


def test_nothing_but_the_package_goes_on_the_path() -> None:
    files = metadata.files("fuzzydict") or []
    tops = {file.parts[0] for file in files if file.suffix == ".py" and len(file.parts) > 1}
    assert not tops & {"cli", "data", "tests"}
    assert "fuzzydict" in {entry.name for entry in metadata.entry_points(group="console_scripts")}


def test_the_package_says_what_it_is_and_how_its_data_may_be_used() -> None:
    facts = metadata.metadata("fuzzydict")
    assert facts["Version"] == fuzzydict.__version__
    assert facts["License-Expression"] == "MIT"
