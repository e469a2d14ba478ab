"""Files that are damaged, or made to do harm: each is refused, in little memory."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import FileFormatError, FuzzyDict, FuzzyDictError, Gaussian
from fuzzydict._files import read_arrays, write_arrays
from tests.support.damage import HEADERS, MEANINGS, text, with_header


def one_hot(texts: list[str]) -> Any:
    return np.eye(5)[[sum(map(ord, text)) % 5 for text in texts]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "saved"
    items = {f"key {i}": np.arange(3.0) + i for i in range(20)} | {5: (1, [2])}
    FuzzyDict(items, embedding=one_hot, scorer=Gaussian(0.5)).save(path)
    return path


def check_refused(path: Path, kind: type[Exception] = FileFormatError) -> str:
    """Return what loading raises, once it was cheap."""
    size = path.stat().st_size
    tracemalloc.start()
    try:
        with pytest.raises(FuzzyDictError) as told:
            FuzzyDict.load(path, embedding=one_hot)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e6 + 100 * size
    assert isinstance(told.value, kind), repr(told.value)
    return str(told.value)


# ---- headers that claim what is not there, with the right checksum -------------------------


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_lie(saved: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(with_header(saved.read_bytes(), HEADERS[name]))
    assert str(path) in check_refused(path)


# ---- whole files of wrong meaning ----------------------------------------------------------


@pytest.mark.parametrize("name", MEANINGS)
def test_whole_files_of_wrong_meaning(saved: Path, tmp_path: Path, name: str) -> None:
    stored = read_arrays(saved, "fuzzy dict")
    parts = json.loads(json.dumps(stored.meta)), dict(stored.arrays)  # a copy that may change
    MEANINGS[name](parts)
    path = tmp_path / "damaged"
    write_arrays(path, "fuzzy dict", *parts)
    check_refused(path)


def test_a_fingerprint_of_another_embedding_is_refused_naming_both(
    saved: Path, tmp_path: Path
) -> None:
    stored = read_arrays(saved, "fuzzy dict")
    stored.meta["embedding"]["name"] = "another"
    write_arrays(tmp_path / "damaged", "fuzzy dict", stored.meta, stored.arrays)
    assert "another" in check_refused(tmp_path / "damaged", FuzzyDictError)


def test_a_small_file_cannot_ask_for_a_large_array_many_times(tmp_path: Path) -> None:
    """What a zip bomb is to zip: each value would be a copy of one large array."""
    FuzzyDict({"a": np.zeros(100_000)}, embedding=one_hot).save(tmp_path / "saved")
    stored = read_arrays(tmp_path / "saved", "fuzzy dict")
    arrays = dict(stored.arrays)
    arrays["values"] = text([["list", *[["array", 0, 0]] * 20_000]])  # 16 GB
    write_arrays(tmp_path / "bomb", "fuzzy dict", stored.meta, arrays)
    assert "order" in check_refused(tmp_path / "bomb")


# ---- pickles -------------------------------------------------------------------------------


class Harm:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def pickles(harm: Harm, data: bytes) -> Iterator[bytes]:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(harm, protocol)
        yield pickled
        yield data[:24] + pickled
        yield data + pickled
        yield with_header(data, lambda _, pickled=pickled: pickled)  # type: ignore[misc]


def test_no_pickle_is_run(saved: Path, tmp_path: Path) -> None:
    harm = Harm(tmp_path / "harmed")
    path = tmp_path / "damaged"
    for data in pickles(harm, saved.read_bytes()):
        path.write_bytes(data)
        check_refused(path)
        assert not harm.path.exists()
    with path.open("wb") as file:
        np.save(file, np.array([harm], object), allow_pickle=True)
    check_refused(path)
    assert not harm.path.exists()
    pickle.loads(pickle.dumps(harm))
    assert harm.path.exists()  # it would have shown
