"""Files that a stranger made, with right checksums: each is refused, in a second and 200 MB."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, FileFormatError, FuzzyDict
from fuzzydict._files import parsed_json, read_arrays, write_arrays
from fuzzydict.saving import filled
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


@pytest.mark.parametrize("keys", [of_one_hash(30_000), along_the_walk(19)], ids=["hash", "walk"])
def test_keys_that_are_made_to_meet_are_refused(tmp_path: Path, keys: list[int]) -> None:
    changed(tmp_path / "keys", keys=text(keys), values=text([0] * len(keys)))
    assert "made to meet" in refused(tmp_path / "keys")


def test_nor_may_they_be_in_a_value(tmp_path: Path) -> None:
    pairs = ["dict", *(part for key in of_one_hash(30_000) for part in (key, 0))]
    changed(tmp_path / "value", values=text([pairs]))
    assert "made to meet" in refused(tmp_path / "value")


def test_tuples_that_are_made_to_meet_are_refused(tmp_path: Path) -> None:
    keys = [["tuple", 1, key] for key in of_one_hash(20_000)]
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
