"""Files that a stranger made, with right checksums: each is refused, in a second and 200 MB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import (
    ArgumentTypeError,
    FileFormatError,
    FuzzyDict,
    ShapeError,
    WordVectors,
)
from fuzzydict._arrays import inverse_lengths, units
from fuzzydict._files import parsed_json, read_arrays, write_arrays
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.vocabulary import mapped_arrays
from fuzzydict.saving import filled, require_plain
from fuzzydict.text.words import plain
from tests.support.damage import entry, text, with_header

SECONDS, BYTES = 1.0, 200e6
PRIME = 2**61 - 1  # the hash of a whole number is its rest after division by it


def refused(path: Path) -> str:
    """Return what loading the file raises, once it was cheap."""
    tracemalloc.start()
    begun = time.thread_time()
    try:
        with pytest.raises(FileFormatError, match=path.name) as told:
            FuzzyDict.load(path)
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()
    assert time.thread_time() - begun < 5 * SECONDS  # memory is traced, which takes its time
    return str(told.value)


def changed(path: Path, **arrays: Any) -> None:
    """Put arrays into a saved dict that has no key with words."""
    FuzzyDict({"?!": 1}).save(path)
    stored = read_arrays(path, "fuzzy dict")
    write_arrays(path, "fuzzy dict", stored.meta, {**stored.arrays, **arrays})


# ---- keys that meet in the table of a dict -------------------------------------------------


def of_one_hash(count: int) -> list[int]:
    return [PRIME * i for i in range(1, count)]


def along_the_walk(bits: int) -> list[int]:
    """Return keys of different hashes whose search walks past all that came before.

    A dict looks at places i, 5 i + 1, ... of its table; half of them are filled in this order.
    """
    size, place, filled_places = 2**bits, 0, []
    for _ in range(size // 2):
        filled_places.append(place)
        place = (5 * place + 1) % size
    random = np.random.default_rng(0)
    factors, starts = random.integers(1, 2**30, size // 8), random.integers(0, size // 8, size // 8)
    more = [int(f) * size + filled_places[s] for f, s in zip(factors, starts, strict=True)]
    return list(dict.fromkeys(filled_places + more))


def test_keys_that_are_made_to_meet_are_refused(tmp_path: Path) -> None:
    keys = of_one_hash(10_000)
    changed(tmp_path / "keys", keys=text(keys), values=text([0] * len(keys)))
    assert "made to meet" in refused(tmp_path / "keys")


def test_so_are_keys_of_different_hashes() -> None:
    keys = along_the_walk(19)
    begun = time.thread_time()
    with pytest.raises(ValueError, match="made to meet"):
        filled(keys, keys)
    assert time.thread_time() - begun < SECONDS


def test_nor_may_they_be_in_a_value(tmp_path: Path) -> None:
    pairs = ["dict", *(part for key in of_one_hash(10_000) for part in (key, 0))]
    changed(tmp_path / "value", values=text([pairs]))
    assert "made to meet" in refused(tmp_path / "value")


def test_honest_keys_that_take_long_to_hash_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine on which every step is slow."""
    monkeypatch.setattr("fuzzydict.saving._SLOW", 0.0)
    monkeypatch.setattr("fuzzydict.saving._SECONDS", 0.0)
    keys = [(*range(400), i) for i in range(6_000)]
    assert len(filled(keys, keys)) == len(keys)


def test_tuples_that_are_made_to_meet_are_refused(tmp_path: Path) -> None:
    keys = [["tuple", 1, key] for key in of_one_hash(8_000)]
    changed(tmp_path / "keys", keys=text(keys), values=text([0] * len(keys)))
    assert "made to meet" in refused(tmp_path / "keys")


@pytest.mark.parametrize(
    "keys",
    [
        list(range(-100_000, 100_000)),
        [2.0**i for i in range(-1000, 1000)],
        [2**i for i in range(3000)],  # of 61 hashes
        [(i, -i) for i in range(50_000)],
        [*(f"key {i}" for i in range(1000)), 5, None],
    ],
    ids=["whole", "floats", "powers", "pairs", "texts"],
)
def test_honest_keys_are_not(keys: list[Any]) -> None:
    items = filled(keys, list(range(len(keys))))
    assert list(items) == keys
    assert list(items.values()) == list(range(len(keys)))


@pytest.mark.parametrize("values", [[1], [1, 2, 3]])
def test_as_many_values_as_keys_are_wanted(values: list[int]) -> None:
    for keys in (["a", "b"], [1, 2]):
        with pytest.raises(ValueError, match="argument"):
            filled(keys, values)
        with pytest.raises(ValueError, match="twice"):
            filled([*keys, keys[0]], [1, 2, 3])


# ---- shapes -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [[1, 2**24, 0], [1, 2**20, 2**20, 0], [1, 3, 2**21, 0, 5]])
def test_many_rows_without_numbers_are_refused(tmp_path: Path, shape: list[int]) -> None:
    path = tmp_path / "empty"
    FuzzyDict({"a": np.zeros((3, 0))}).save(path)
    path.write_bytes(with_header(path.read_bytes(), entry("values 0", shape=shape)))
    assert "rows without numbers" in refused(path)


def test_arrays_without_numbers_come_back(tmp_path: Path) -> None:
    shapes = [(0,), (3, 0), (0, 3), (1000, 0), (0, 0, 2**20), (2, 0, 3)]
    FuzzyDict({str(shape): np.zeros(shape) for shape in shapes}).save(tmp_path / "d")
    opened: FuzzyDict[Any] = FuzzyDict.load(tmp_path / "d")
    assert [array.shape for array in opened.values()] == shapes


def test_what_could_not_be_opened_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="without numbers"):
        FuzzyDict({"a": np.zeros((2**21, 0))}).save(tmp_path / "d")
    assert not list(tmp_path.iterdir())


# ---- JSON ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b'["[[{\\"[{"]', b"[" * 300 + b"]" * 300, b'"[\\\\"'])
def test_json_that_is_not_deep_is_read(text: bytes) -> None:
    assert parsed_json(text) == json.loads(text)
    many = b"[" + b",".join([text, b'"[[[{{{"'] * 500) + b"]"
    assert parsed_json(many) == json.loads(many)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 401 + b"]" * 401,
        b'{"a":' * 401 + b"1" + b"}" * 401,
        b'["]]]]\\"]]]]\\\\",' + b"[" * 401 + b"]" * 401 + b"]",
        b'{"a": 1, "a": 2}',
        b"[" + b"9" * 5000 + b"]",
        b'["\xff"]',
    ],
    ids=lambda text: text[:20].decode(errors="replace"),
)
def test_json_that_is_deep_or_twofold_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"nested|twice|digits|decode"):
        parsed_json(text)


# ---- vectors and projections ---------------------------------------------------------------

EYE = np.eye(2, dtype=np.float32)
PROJECTIONS: dict[str, dict[str, Any]] = {
    "1,200 bases": {"base." * 1200 + "query": EYE},
    "a hundred bases": {"base." * 100 + "query": EYE},
    "deep words": {"query": EYE, "words": text(b"[" * 100_000 + b"]" * 100_000)},
    "words of two types": {"query": EYE, "words": text(["a", 1])},
    "words that are a text": {"query": EYE, "words": text("ab")},
    "words of one hash": {"query": EYE, "words": text(of_one_hash(40_000))},
    "NaN": {"query": EYE * np.float32(np.nan)},
    "products that overflow": {"query": EYE * np.float32(3e38), "key": EYE},
    "numbers beyond 32 bits": {"query": np.eye(2) * 1e300},
    "bases that overflow": {"query": EYE * 1e8, "base.query": EYE * np.float32(1e8)},
    "factors that overflow": {"key.left": EYE * 1e9, "key.right": EYE * np.float32(1e9)},
    "a table that overflows": {
        "query.matrix": EYE,
        "query.table.vectors": EYE * np.float32(1e20),
        "query.words": text([]),
        "query.weights": np.zeros(0, np.float32),
    },
    "weights of words of one hash": {
        "query.matrix": EYE,
        "query.table.vectors": EYE,
        "query.words": text(of_one_hash(40_000)),
        "query.weights": np.full(39_999, 0.5, np.float32),
    },
    "a huge calibration": {"query": EYE, "calibration": np.full(27, 1e300)},
    "a tiny reach": {"query": EYE, "calibration": np.array([1e-320, *[0.0] * 24, 1, 1])},
    "a tiny nesting": {"query": EYE, "calibration": np.array([1, *[0.0] * 25, 1e-320])},
    "a calibration of texts": {"query": EYE, "calibration": text(["a"])},
    "a name of another type": {"shipped": text([["wordnet"], 1])},
    "no name": {"shipped": text(["wordnet"])},
}


@pytest.mark.parametrize("arrays", PROJECTIONS.values(), ids=PROJECTIONS)
def test_projections_are_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = tmp_path / "x.projections"
    write_arrays(path, "projections", {"embedding": None}, arrays)
    begun = time.thread_time()
    with pytest.raises(FileFormatError, match=r"x\.projections"):
        Projections.load(path)
    assert time.thread_time() - begun < SECONDS


def test_projections_that_could_not_be_opened_are_not_made() -> None:
    with pytest.raises(ShapeError, match=r"query: .* overflow; scale them down"):
        Projections(EYE * np.float32(3e38))
    many = Projections(EYE)
    for _ in range(99):
        many = Projections(base=many)
    with pytest.raises(ShapeError, match="at most 100"):
        Projections(base=many)


def table(**changes: Any) -> dict[str, Any]:
    """Return the arrays of three words and their vectors, with some changes."""
    words = ["color", "price", "brand"]
    arrays = {
        **mapped_arrays(words),
        "counts": np.array([5, 2, 1]),
        "vectors": np.ones((3, 2), "f4"),
    }
    return {name: array for name, array in {**arrays, **changes}.items() if array is not None}


def listed(words: Any) -> dict[str, Any]:
    """Return the arrays of words listed as JSON, and their vectors."""
    return table(text=None, checksums=None, rows=None, words=text(words))


HONEST = mapped_arrays(["color", "price", "brand"])
VECTORS: dict[str, dict[str, Any]] = {
    "NaN": table(vectors=np.full((3, 2), np.nan, "f4")),
    "one infinity": table(vectors=np.array([[1, 2], [3, 4], [5, np.inf]], "f4")),
    "numbers whose sums overflow": table(vectors=np.full((3, 2), 3e38, "f4")),
    "scales that are NaN": table(vectors=np.ones((3, 2), "i1"), scales=np.full(3, np.nan, "f4")),
    "scales that overflow": table(vectors=np.ones((3, 2), "i1"), scales=np.full(3, 1e38, "f4")),
    "scales below 0": table(vectors=np.ones((3, 2), "i1"), scales=np.full(3, -1, "f4")),
    "counts below 0": table(counts=np.array([5, 2, -1])),
    "counts whose sum overflows": table(counts=np.full(3, 2**62)),
    "counts beyond 63 bits": table(counts=np.full(3, 2**63, "u8")),
    "counts of two axes": table(counts=np.ones((3, 1), "i8")),
    "checksums that do not rise": table(checksums=HONEST["checksums"][::-1].copy()),
    "other checksums": table(checksums=HONEST["checksums"] - 1),
    "rows that are not there": table(rows=HONEST["rows"] + 1),
    "one row for all": table(rows=HONEST["rows"] * 0),
    "a word twice": table(**mapped_arrays(["color", "color", "brand"])),
    "words that are not UTF-8": table(text=HONEST["text"] | np.uint8(128)),
    "a listed word twice": listed(["color", "color", "brand"]),
    "words of two types": listed(["color", "price", 1]),
    "deep words": listed(b"[" * 100_000 + b"]" * 100_000),
    "words of one hash": listed(of_one_hash(40_000)),
    "words that are an object": listed({"color": 1, "price": 2, "brand": 3}),
}


@pytest.mark.parametrize("arrays", VECTORS.values(), ids=VECTORS)
def test_vectors_are_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = tmp_path / "x.vectors"
    write_arrays(path, "word vectors", {}, arrays)
    begun = time.thread_time()
    with pytest.raises(FileFormatError, match=r"x\.vectors"):
        WordVectors.load(path)
    assert time.thread_time() - begun < SECONDS


@pytest.mark.parametrize("arrays", [table(), listed(["color", "price", "brand"])])
def test_honest_ones_are_not(tmp_path: Path, arrays: dict[str, Any]) -> None:
    write_arrays(tmp_path / "x.vectors", "word vectors", {}, arrays)
    assert WordVectors.load(tmp_path / "x.vectors").words == ["color", "price", "brand"]


@pytest.mark.parametrize("count", [1, 2])
def test_vectors_whose_squares_overflow_have_lengths(count: int) -> None:
    vectors = np.array([[3e25, -4e25], [0, 0]], np.float32)[:count]
    assert units(vectors) == pytest.approx(np.array([[0.6, -0.8], [0, 0]])[:count])
    assert inverse_lengths(vectors).tolist() == pytest.approx([2e-26, 0][:count])


def test_learned_words_in_the_file_of_a_dict_are_texts(tmp_path: Path) -> None:
    axes = {"color": [1.0, 2.0], "price": [2.0, -1.0]}
    projections = Projections(EYE, words=["a"])
    FuzzyDict({"color": 1}, embedding=axes, projections=projections).save(tmp_path / "d")
    stored = read_arrays(tmp_path / "d", "fuzzy dict")
    arrays = {**stored.arrays, "projections words": text(["a", 1])}
    write_arrays(tmp_path / "d", "fuzzy dict", stored.meta, arrays)
    with pytest.raises(FileFormatError, match=r"/d is damaged"):
        FuzzyDict.load(tmp_path / "d", embedding=axes)


def test_vectors_of_keys_whose_products_overflow_are_neither_saved_nor_read(tmp_path: Path) -> None:
    def huge(texts: list[str]) -> Any:
        return np.full((len(texts), 3), 3e38, np.float32)

    FuzzyDict({"color": 1}, embedding=lambda texts: np.ones((len(texts), 3))).save(tmp_path / "d")
    stored = read_arrays(tmp_path / "d", "fuzzy dict")
    arrays = {**stored.arrays, "vectors": huge(["color"])}
    write_arrays(tmp_path / "d", "fuzzy dict", stored.meta, arrays)
    with pytest.raises(FileFormatError, match="too long"):
        FuzzyDict.load(tmp_path / "d", embedding=lambda texts: np.ones((len(texts), 3)))
    with pytest.raises(ArgumentTypeError, match="longer than 1e"):
        FuzzyDict({"color": 1}, embedding=huge).save(tmp_path / "huge")


# ---- any file ------------------------------------------------------------------------------

COUNT = 5_000 if os.environ.get("FUZZYDICT_SLOW") else 100


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_some_hundred_crafted_files_do_no_harm() -> None:
    pytest.importorskip("usearch", reason="one of them has a graph: the extra 'usearch'")
    # After the installed package, not before it, stands the checkout with the command.
    code = (
        f"import runpy, sys; sys.path.append({str(Path(__file__).parents[2])!r}); "
        f"runpy.run_module('tests.benchmarks.crafted', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-P", "-c", code, "--seed", "3", "--count", str(COUNT)]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"seed 3, {COUNT} files, " in run.stdout
    assert " 0 opened" not in run.stdout
    assert "0 escaped" in run.stdout


@pytest.mark.parametrize(
    "strings",
    [
        [""],
        ["a", ""],
        ["a  b"],
        [" a"],
        ["a "],
        ["a\nb"],
        ["A"],
        ["a-b"],
        ["a\u3000b"],
        ["a" * 1025],
    ],
)
def test_what_a_file_says_are_plain_words_are_some(strings: list[str]) -> None:
    with pytest.raises(ValueError, match="plain words"):
        require_plain(strings)


def are_taken(strings: list[str]) -> bool:
    try:
        require_plain(strings)
    except ValueError:
        return False
    return True


@given(st.lists(st.text(), max_size=5))
def test_plain_words_are_taken(texts: list[str]) -> None:
    assert are_taken([words for words in map(plain, texts) if words])
