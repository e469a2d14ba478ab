"""Files that a stranger made or damaged: each is refused, in little memory, and runs nothing."""

from __future__ import annotations

import json
import math
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import (
    ArgumentTypeError,
    FileFormatError,
    FuzzyDict,
    FuzzyDictError,
    Gaussian,
    WordVectors,
    saving,
)
from fuzzydict._files import read_arrays, write_arrays
from fuzzydict.frames.workers import Matcher
from tests.benchmarks.crafted import opened
from tests.support.damage import HEADERS, MEANINGS, entry, refused, text, with_arrays, with_header
from tests.support.properties import SLOW
from tests.support.recording import one_hot

BYTES = 200e6
PRIME = 2**61 - 1  # the hash of a whole number is its rest after division by it


MOST = 5_000  # integers in one dict


def of_one_hash(count: int) -> list[int]:
    return [PRIME * i for i in range(1, count + 1)]


def inner(keys: list[Any]) -> list[Any]:
    """Return a dict of these keys as a value is written."""
    return ["dict", *(part for key in keys for part in (key, 0))]


def crafted(path: Path, keys: list[Any], values: list[Any] | None = None, **arrays: Any) -> Path:
    """Write a dict with these keys and values, as they are written, and return its path."""
    FuzzyDict({"?!": 1}).save(path)  # no key with words
    made = {"keys": text(keys), "values": text(values or [0] * len(keys)), **arrays}
    with_arrays(path, lambda stored: stored.update(made))
    return path


def of_numpy(count: int, size: int) -> dict[str, Any]:
    """Return tuples of ones of two dtypes and a number, and the arrays of those ones."""
    rows = range(0, count * size, size)
    parts = [[["scalar", dtype, row + i] for i in range(size) for dtype in (0, 1)] for row in rows]
    keys = [["tuple", *some, key] for some, key in zip(parts, of_one_hash(count), strict=True)]
    ones = {f"values {i}": np.ones(count * size, dtype) for i, dtype in enumerate(["f2", "i8"])}
    return {"keys": keys, **ones}


LONG = [10**4200 + key for key in of_one_hash(800)]  # integers of 4,201 digits
MADE_TO_MEET: dict[str, dict[str, Any]] = {
    "integers": {"keys": of_one_hash(MOST + 1)},
    "honest ones": {"keys": list(range(MOST + 1))},  # which nobody can tell from those that meet
    "floats": {"keys": [i + 0.5 for i in range(MOST + 1)]},
    "among texts": {"keys": [*of_one_hash(MOST), "?", "!", None]},
    "long integers": {"keys": LONG},
    "tuples": {"keys": [["tuple", 1, key] for key in of_one_hash(3_000)]},
    "long tuples": {"keys": [["tuple", *[1000] * 300, key] for key in of_one_hash(300)]},
    "tuples in tuples": {"keys": [["tuple", ["tuple", *[1] * 99], k] for k in of_one_hash(600)]},
    "tuples of a long text": {"keys": [["tuple", "x" * 10_000, k] for k in of_one_hash(400)]},
    "tuples of numbers of numpy": of_numpy(200, 4),
    "in a value": {"keys": ["?"], "values": [inner(of_one_hash(MOST + 1))]},
    "deep in a value": {"keys": ["?"], "values": [["list", inner(of_one_hash(MOST + 1))]]},
    "in many values": {
        "keys": ["?" * i for i in range(40)],
        "values": [inner(of_one_hash(800))] * 40,
    },
    "here and in a value": {
        "keys": of_one_hash(4_000),
        "values": [*[0] * 3_999, inner(of_one_hash(4_000))],
    },
    "with aliases": {
        "keys": of_one_hash(1_000),
        "aliases": text([[f"x{i}", 999] for i in range(6_001)]),
    },
}


@pytest.mark.parametrize("made", MADE_TO_MEET.values(), ids=MADE_TO_MEET)
def test_keys_that_may_be_made_to_meet_are_refused(tmp_path: Path, made: dict[str, Any]) -> None:
    message = refused(crafted(tmp_path / "d", **made), BYTES)
    assert all(one in message for one in ("no texts", "FuzzyDict.load(path, trust=True)"))
    assert "damaged" not in message


@pytest.mark.parametrize("name", ["honest ones", "floats", "in many values", "with aliases"])
def test_they_are_read_if_they_are_trusted(tmp_path: Path, name: str) -> None:
    path = crafted(tmp_path / "d", **MADE_TO_MEET[name])
    d: FuzzyDict[Any] = FuzzyDict.load(path, trust=True)
    assert list(d) == MADE_TO_MEET[name]["keys"]
    assert len(d.aliases) in (0, 6_001)
    assert Matcher(path, trust=True).open() == d
    with pytest.raises(FileFormatError, match="trust=True"):
        FuzzyDict.load(path, trust=False)
    few = of_one_hash(MOST)  # as many as the limit lets through, although they have one hash
    assert list(FuzzyDict[Any].load(crafted(path, few))) == few


HONEST_ITEMS: dict[str, dict[Any, Any]] = {
    "whole": dict.fromkeys(range(-2450, 2450), 0),
    "floats": {2.0**i: 0 for i in range(-1000, 1000)},
    "powers": {2**i: 0 for i in range(1000)},  # of 61 hashes
    "pairs": {(i, -i): 0 for i in range(2_500)},
    "of numpy": {np.int64(i): 0 for i in range(4_900)},
    "texts": {**{f"key {i}": i for i in range(20_000)}, 5: 0, None: 1, True: 2},
    "few in each of many": {f"key {i}": dict.fromkeys(range(5), 0) for i in range(5_000)},
    "texts in each of many": {f"key {i}": {f"{j}": 0 for j in range(9)} for i in range(5_000)},
}


@pytest.mark.parametrize("items", HONEST_ITEMS.values(), ids=HONEST_ITEMS)
def test_honest_keys_are_read(tmp_path: Path, items: dict[Any, Any]) -> None:
    d = FuzzyDict(items)
    d.aliases = {f"number {i}": key for i, key in enumerate(list(items)[-20:])}
    d.save(tmp_path / "d")
    opened: FuzzyDict[Any] = FuzzyDict.load(tmp_path / "d")
    assert list(opened.items()) == list(items.items())
    assert opened.aliases == d.aliases


class Meeting:
    """A key that meets all others; it counts how often it is hashed."""

    hashed = 0

    def __hash__(self) -> int:
        Meeting.hashed += 1
        return 1


def test_what_is_refused_is_not_even_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "_MOST_COMPARED", 10_000)
    keys: list[Any] = [Meeting() for _ in range(101)]
    with pytest.raises(FileFormatError, match=r"^a file has .* over 10,000 comparisons"):
        saving._Reader([], "a file", trust=False).filled(keys, keys)
    assert Meeting.hashed == 0


@pytest.mark.parametrize("shape", [[1, 2**24, 0], [1, 2**20, 2**20, 0], [1, 3, 2**21, 0, 5]])
def test_many_rows_without_numbers_are_refused(tmp_path: Path, shape: list[int]) -> None:
    path = tmp_path / "empty"
    FuzzyDict({"a": np.zeros((3, 0))}).save(path)
    path.write_bytes(with_header(path.read_bytes(), entry("values 0", shape=shape)))
    assert "rows without numbers" in refused(path, BYTES)


def test_arrays_without_numbers_come_back_or_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="without numbers"):
        FuzzyDict({"a": np.zeros((2**21, 0))}).save(tmp_path / "d")
    assert not list(tmp_path.iterdir())
    shapes = [(0,), (3, 0), (0, 3), (1000, 0), (0, 0, 2**20), (2, 0, 3)]
    FuzzyDict({str(shape): np.zeros(shape) for shape in shapes}).save(tmp_path / "d")
    opened: FuzzyDict[Any] = FuzzyDict.load(tmp_path / "d")
    assert [array.shape for array in opened.values()] == shapes


def table(words: Any = ("color", "price", "brand"), **changes: Any) -> dict[str, Any]:
    """Return the arrays of words, listed as JSON, and of their vectors."""
    arrays = {
        "words": text(words if isinstance(words, bytes | dict) else list(words)),
        "counts": np.array([5, 2, 1]),
        "vectors": np.ones((3, 2), "f4"),
    }
    return {**arrays, **changes}


VECTORS: dict[str, dict[str, Any]] = {
    **{f"no {name}": {n: a for n, a in table().items() if n != name} for name in table()},
    "too few words": table(["color", "price"]),
    "no JSON": table(b'["color", "price"'),
    "no UTF-8": table(b"\xff\xfe\xff"),
    "no words": {"words": text([]), "counts": np.ones(0, "i8"), "vectors": np.ones((0, 2), "f4")},
    "too few counts": table(counts=np.ones(2, "i8")),
    "counts that are no integers": table(counts=np.ones(3)),
    "vectors of one axis": table(vectors=np.ones(3, "f4")),
    "vectors of no length": table(vectors=np.ones((3, 0), "f4")),
    "codes without scales": table(vectors=np.ones((3, 2), "i1")),
    "too few scales": table(vectors=np.ones((3, 2), "i1"), scales=np.ones(2, "f4")),
    "scales of another type": table(vectors=np.ones((3, 2), "i1"), scales=np.ones(3, "i1")),
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
    "a word twice": table(["color", "color", "brand"]),
    "words of two types": table(["color", "price", 1]),
    "deep words": table(b"[" * 100_000 + b"]" * 100_000),
    "words of one hash": table(of_one_hash(40_000)),
    "words that are an object": table({"color": 1, "price": 2, "brand": 3}),
}


@pytest.mark.parametrize("arrays", VECTORS.values(), ids=VECTORS)
def test_only_honest_vectors_are_read(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = tmp_path / "x.vectors"
    write_arrays(path, "word vectors", {}, table())
    assert WordVectors.load(path).words == ["color", "price", "brand"]
    write_arrays(path, "word vectors", {}, arrays)
    with pytest.raises(FileFormatError, match=r"x\.vectors holds no whole word vectors"):
        WordVectors.load(path)
    write_arrays(path, "something else", {}, table())
    with pytest.raises(FileFormatError, match="holds something else"):
        WordVectors.load(path)


def test_vectors_of_keys_whose_products_overflow_are_neither_saved_nor_read(tmp_path: Path) -> None:
    def huge(texts: list[str]) -> Any:
        return np.full((len(texts), 3), 3e38, np.float32)

    FuzzyDict({"color": 1}, embedding=lambda texts: np.ones((len(texts), 3))).save(tmp_path / "d")
    with_arrays(tmp_path / "d", lambda arrays: arrays.update(vectors=huge(["color"])))
    with pytest.raises(FileFormatError, match="too long"):
        FuzzyDict.load(tmp_path / "d", embedding=lambda texts: np.ones((len(texts), 3)))
    with pytest.raises(ArgumentTypeError, match="longer than 1e"):
        FuzzyDict({"color": 1}, embedding=huge).save(tmp_path / "huge")


def refused_cheaply(path: Path, kind: type[Exception] = FileFormatError) -> str:
    return refused(path, 2e6 + 100 * path.stat().st_size, kind, embedding=one_hot)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "saved"
    items = {f"key {i}": np.arange(3.0) + i for i in range(20)} | {5: (1, [2])}
    FuzzyDict(items, embedding=one_hot, scorer=Gaussian(0.5)).save(path)
    return path


@pytest.mark.parametrize("name", [*HEADERS, *MEANINGS, "another embedding"])
def test_files_that_lie_are_refused(saved: Path, tmp_path: Path, name: str) -> None:
    path, stored = tmp_path / "damaged", read_arrays(saved, "fuzzy dict")
    parts = json.loads(json.dumps(stored.meta)), dict(stored.arrays)  # a copy that may change
    if name in HEADERS:
        path.write_bytes(with_header(saved.read_bytes(), HEADERS[name]))
        assert str(path) in refused_cheaply(path)
    elif name in MEANINGS:
        MEANINGS[name](parts)
        write_arrays(path, "fuzzy dict", *parts)
        refused_cheaply(path)
    else:
        parts[0]["embedding"]["name"] = "another"
        write_arrays(path, "fuzzy dict", *parts)
        assert "another" in refused_cheaply(path, FuzzyDictError)


def test_a_small_file_cannot_ask_for_a_large_array_many_times(tmp_path: Path) -> None:
    """What a zip bomb is to zip: each value would be a copy of one large array."""
    FuzzyDict({"a": np.zeros(100_000)}, embedding=one_hot).save(tmp_path / "saved")
    values = text([["list", *[["array", 0, 0]] * 20_000]])  # 16 GB
    with_arrays(tmp_path / "saved", lambda arrays: arrays.update(values=values))
    assert "order" in refused_cheaply(tmp_path / "saved")


class Harm:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_no_pickle_is_run(saved: Path, tmp_path: Path) -> None:
    harm, data, path = Harm(tmp_path / "harmed"), saved.read_bytes(), tmp_path / "damaged"
    with path.open("wb") as file:
        np.save(file, np.array([harm], object), allow_pickle=True)
    files = [path.read_bytes()]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(harm, protocol)
        inside = with_header(data, lambda _, pickled=pickled: pickled)  # type: ignore[misc]
        files += [pickled, data[:24] + pickled, data + pickled, inside]
    for content in files:
        path.write_bytes(content)
        refused_cheaply(path)
        assert not harm.path.exists()
    pickle.loads(pickle.dumps(harm))
    assert harm.path.exists()  # it would have shown


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_some_hundred_crafted_files_do_no_harm(tmp_path: Path) -> None:
    pytest.importorskip("usearch", reason="one of them has a graph: the extra 'usearch'")
    # Within any time, for the machine may be slow.
    found = {opened(random.Random(f"3 {n}"), tmp_path, math.inf) for n in range(250 if SLOW else 5)}
    assert "some opened" in found
