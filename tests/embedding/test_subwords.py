"""A projection that reads the letters of texts: what it adds, and how it is kept."""

from __future__ import annotations

import copy
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict._arrays import Array
from fuzzydict.embedding import subwords as module
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.subwords import Subwords, ngram_rows, ngram_rows_of
from fuzzydict.embedding.word_vectors import Matrix
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError

WEIGHTS = {"of": 0.25}


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def some() -> Subwords:
    return Subwords(drawn(4, 3), drawn(64, 3, seed=1), WEIGHTS)


def by_definition(subwords: Subwords, vector: Array, text: str) -> Array:
    """Return what the docstring says, for a text of words in lower case, parted by blanks."""
    letters = np.zeros(subwords.matrix.shape[1])
    words = text.split()
    shares = [WEIGHTS.get(word, 1.0) for word in words]
    for word, share in zip(words, shares, strict=True):
        marked = f"<{word}>"
        ngrams = {marked}
        for size in (3, 4, 5):
            ngrams |= {marked[i : i + size] for i in range(len(marked) - size + 1)}
        rows = {zlib.crc32(ngram.encode()) % len(subwords.table) for ngram in ngrams}
        mean = sum(subwords.table[row] for row in rows) / len(rows) ** 0.5
        letters += share / sum(shares) * mean
    unit = vector / np.linalg.norm(vector)
    return np.concatenate([unit, unit @ subwords.matrix + letters])


@pytest.mark.parametrize("text", ["car", "cars", "speed of light", "a", "of"])
def test_it_is_what_its_definition_says(text: str) -> None:
    vector = drawn(1, 4, seed=2)
    projected = some().project(vector, [text])
    np.testing.assert_allclose(projected[0], by_definition(some(), vector[0], text), atol=1e-5)


@given(st.lists(st.text(max_size=30), max_size=5))
def test_each_text_is_projected_independently(texts: list[str]) -> None:
    vectors = drawn(len(texts), 4)
    together = some().project(vectors, texts)
    assert together.shape == (len(texts), 7)
    assert together.dtype == np.float32
    assert np.isfinite(together).all()
    for vector, text, row in zip(vectors, texts, together, strict=True):
        np.testing.assert_allclose(some().project(vector[None], [text])[0], row, atol=1e-5)


def test_other_ways_to_write_the_same_words_are_the_same() -> None:
    one, other = some().encode(["topSpeed", "Top speed"])
    np.testing.assert_array_equal(one, other)


def test_the_zero_vector_and_a_text_without_words_add_nothing() -> None:
    assert not some().project(np.zeros((1, 4)), ["?!"]).any()


@given(st.text(max_size=20), st.integers(1, 100))
def test_rows_are_different_and_in_range(word: str, buckets: int) -> None:
    rows = ngram_rows(word, buckets)
    assert rows == sorted(set(rows))
    assert 0 <= rows[0] <= rows[-1] < buckets


ANY = st.text(st.characters(exclude_categories=()), max_size=12)


@given(st.lists(ANY, min_size=1, max_size=8), st.integers(1, 100_000))
def test_rows_of_many_words_are_those_of_each(words: list[str], buckets: int) -> None:
    rows, lengths = ngram_rows_of(words, buckets)
    each = np.split(rows, np.cumsum(lengths)[:-1])
    assert [some.tolist() for some in each] == [ngram_rows(word, buckets) for word in words]


def test_many_words_are_read_as_each_is_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{a}{b}{'ing' * (i % 3)}" for i, a in enumerate("abcdef") for b in "xyzé"]
    texts = [*words, *map(" ".join, zip(words, words[::-1], strict=True)), "", "of " + words[0]]
    expected = some().encode(texts)
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(module, "_BLOCK", 5)
    np.testing.assert_array_equal(some().encode(texts), expected)
    vectors = drawn(len(texts), 4)
    projected = some().project(vectors, texts)
    monkeypatch.setattr(module, "_BLOCK", 1000)
    np.testing.assert_array_equal(projected, some().project(vectors, texts))


# ---- as a part of projections -------------------------------------------------------------


def test_a_file_holds_them_once_for_queries_and_keys(tmp_path: Path) -> None:
    subwords = some().rounded()
    projections = Projections(subwords, subwords, embedding="mine")
    projections.save(tmp_path / "file")
    again = Projections.load(tmp_path / "file")
    assert again == projections == pickle.loads(pickle.dumps(projections))
    assert again.query is again.key
    assert again.embedding == "mine"
    assert again.reads_texts
    vectors = drawn(2, 4, seed=3)
    texts = ["of light", "cars"]
    np.testing.assert_array_equal(
        again.project_queries(vectors, texts), subwords.project(vectors, texts)
    )
    assert (tmp_path / "file").stat().st_size < 64 * 3 * 4 + 1500


def test_they_do_not_change_and_can_be_copied() -> None:
    subwords = some()
    with pytest.raises(TypeError):
        subwords.weights["the"] = 0.1  # type: ignore[index]
    for array in (subwords.matrix, subwords.table):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    again = copy.deepcopy(subwords)
    assert again.arrays().keys() == subwords.arrays().keys()
    np.testing.assert_array_equal(again.encode(["of cars"]), subwords.encode(["of cars"]))


def test_rounding_hardly_moves_a_text() -> None:
    exact, rounded = some().encode(["car"]), some().rounded().encode(["car"])
    assert 0 < np.abs(exact - rounded).max() < 0.05


def test_one_of_queries_and_keys_may_read_texts() -> None:
    projections = Projections(some(), drawn(4, 7))
    assert projections.reads_texts
    assert Projections.from_arrays(projections.arrays()) == projections


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    Projections(some(), some()).save(file)
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:100], b"", whole[:-5] + b"?" + whole[-4:]):
        file.write_bytes(damaged)
        with pytest.raises(FileFormatError):
            Projections.load(file)


@pytest.mark.parametrize("name", ["table.vectors", "words", "weights", "matrix"])
def test_arrays_of_which_one_is_missing_or_another(name: str) -> None:
    arrays: dict[str, Any] = Projections(some(), some()).arrays()
    found = next(key for key in arrays if key.endswith(f"query.{name}"))
    with pytest.raises(FileFormatError, match="no whole projections"):
        Projections.from_arrays({key: arrays[key] for key in arrays if key != found})
    with pytest.raises(FileFormatError, match="no whole projections"):
        Projections.from_arrays({**arrays, found: np.zeros(3, np.int16)})


# ---- bad input ----------------------------------------------------------------------------


def test_what_does_not_fit_is_told() -> None:
    with pytest.raises(ArgumentTypeError, match="give them too"):
        Projections(some()).project_queries(drawn(1, 4))
    with pytest.raises(ShapeError, match="4 numbers for each of 1 texts, got shape"):
        some().project(drawn(2, 4), ["a"])
    with pytest.raises(ShapeError, match=r"table must be \(N, 3\)"):
        Subwords(drawn(4, 3), drawn(8, 2))
    with pytest.raises(ShapeError, match="matrix must be"):
        Subwords(drawn(4), drawn(8, 2))
    with pytest.raises(ShapeError, match="finite"):
        Subwords(drawn(4, 2), np.full((8, 2), np.nan))
    with pytest.raises(ShapeError, match="table must be"):
        Subwords(drawn(4, 2), Matrix(np.zeros((3, 2), np.int16)))
    with pytest.raises(ShapeError, match="weights"):
        Subwords(drawn(4, 2), drawn(8, 2), {"of": 0.0})
    with pytest.raises(ArgumentTypeError, match="values are no texts"):
        Projections(value=some())  # type: ignore[arg-type]
