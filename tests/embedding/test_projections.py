"""Q, K and V: what they do to vectors and embeddings, that they do not change, and their files."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, WordVectors
from fuzzydict._arrays import Array
from fuzzydict._files import read_arrays, write_arrays
from fuzzydict.embedding.projections import (
    Factors,
    Projected,
    Projections,
    as_projections,
    project,
    project_forward,
    with_projections,
)
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    OptionError,
    ReadOnlyError,
    ShapeError,
)
from tests.support.gradients import check_gradients


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def some() -> Projections:
    return Projections(drawn(4, 3), drawn(4, 3, seed=1), Factors(drawn(2, 1), drawn(2, 1, seed=2)))


def test_none_is_the_identity() -> None:
    projections, x = Projections(), drawn(2, 4)
    assert projections.is_identity
    assert not some().is_identity
    for done in (projections.project_queries, projections.project_keys, projections.project_values):
        assert done(x) is x


def test_each_role_has_its_matrix() -> None:
    projections, x = some(), drawn(5, 4, seed=3)
    np.testing.assert_allclose(projections.project_queries(x), x @ drawn(4, 3))
    np.testing.assert_allclose(projections.project_keys(x), x @ drawn(4, 3, seed=1))
    v = drawn(5, 2, seed=4)
    whole = np.eye(2) + drawn(2, 1) @ drawn(2, 1, seed=2).T
    np.testing.assert_allclose(projections.project_values(v), v @ whole)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 5))
def test_factors_do_what_their_matrix_does(size: int, rank: int, rows: int) -> None:
    factors = Factors(drawn(size, rank), drawn(size, rank, seed=1))
    x = drawn(rows, size, seed=2)
    np.testing.assert_allclose(project(x, factors), x @ factors.whole, atol=1e-12)


def test_vectors_keep_their_dtype_and_batch_axes() -> None:
    projected = some().project_queries(drawn(2, 5, 4).astype(np.float32))
    assert projected.dtype == np.float32
    assert projected.shape == (2, 5, 3)


@pytest.mark.parametrize("low_rank", [False, True])
def test_the_way_back(low_rank: bool) -> None:
    parts = {"left": drawn(4, 2), "right": drawn(4, 2, seed=1)} if low_rank else {"w": drawn(4, 3)}
    x, d_y = drawn(2, 5, 4, seed=2), drawn(2, 5, 4 if low_rank else 3, seed=3)

    def made(p: Mapping[str, Array]) -> Any:
        return Factors(p["left"], p["right"]) if low_rank else p["w"]

    back: Any = project_forward(x, made(parts))[1](d_y)
    gradients = back._asdict() if low_rank else {"w": back}
    check_gradients(lambda p: float(np.vdot(project_forward(x, made(p))[0], d_y)), parts, gradients)


# ---- they do not change -------------------------------------------------------------------


def test_nothing_of_them_can_be_changed() -> None:
    given = drawn(2, 2)
    projections = Projections(given)
    given[:] = 0
    assert np.array_equal(projections.project_queries(np.eye(2)), drawn(2, 2))
    with pytest.raises(ReadOnlyError, match="query"):
        projections.query = None
    with pytest.raises(ReadOnlyError, match="key"):
        del projections.key
    with pytest.raises(ValueError, match="read-only"):
        projections.query[0, 0] = 1  # type: ignore[index]


def test_copies_and_pickles_are_equal() -> None:
    projections = some()
    assert copy.copy(projections) is copy.deepcopy(projections) is projections
    again = pickle.loads(pickle.dumps(projections))
    assert again == projections
    assert hash(again) == hash(projections)
    assert again != Projections()
    assert projections != 3


# ---- as arrays ----------------------------------------------------------------------------


def test_a_file_holds_them(tmp_path: Path) -> None:
    write_arrays(tmp_path / "file", "test", {}, some().arrays())
    assert Projections.from_arrays(read_arrays(tmp_path / "file", "test").arrays) == some()
    assert Projections.from_arrays({}) == Projections()
    assert Projections().arrays() == {}
    same = Projections(drawn(3, 3), embedding="words").named("others")
    assert Projections.from_arrays(same.arrays(), embedding="others") == same
    shared = drawn(3, 3)
    assert list(Projections(shared, shared).arrays()) == ["both"]


@pytest.mark.parametrize(
    "arrays",
    [
        {"query": np.ones(3)},
        {"query": np.full((2, 2), np.nan)},
        {"key": np.array([["a"]])},
        {"query": np.eye(2), "base.query": np.eye(2)},
        {"key.left": np.ones((2, 1))},
        {"key.left": np.ones((2, 1)), "key.right": np.ones((3, 1))},
        {"query": np.ones((2, 2)), "key": np.ones((2, 3))},
    ],
)
def test_arrays_that_are_no_projections(arrays: dict[str, Any]) -> None:
    with pytest.raises(FileFormatError, match="no whole projections"):
        Projections.from_arrays(arrays)


# ---- an embedding with projections --------------------------------------------------------


def test_queries_and_keys_are_projected_each_by_its_matrix() -> None:
    words = WordVectors(["red", "blue"], drawn(2, 4))
    projected = Projected(words, some())
    queries = projected.encode_queries(["red", "blue"])
    np.testing.assert_allclose(queries, words.vectors @ drawn(4, 3), rtol=1e-5)
    np.testing.assert_allclose(
        projected.encode(["red", "blue"]), words.vectors @ drawn(4, 3, seed=1), rtol=1e-5
    )
    assert projected.tells_words


def test_there_are_no_projections_unless_some_are_given() -> None:
    assert as_projections(None) is as_projections("identity") is None
    assert with_projections(Brown(), None) is with_projections(Brown(), Projections()) is Brown()
    others: tuple[Any, ...] = ("english", "wordnet", 3, [])
    for other in others:
        with pytest.raises(OptionError, match="expected None, 'identity', which is the same"):
            as_projections(other)


def test_projections_after_others_are_one_map() -> None:
    first, x, v = some(), drawn(5, 4, seed=3), drawn(5, 2, seed=4)
    second = Projections(drawn(3, 3, seed=5), None, drawn(2, 6, seed=6))
    both = first.then(second)
    roles = zip(("queries", "keys", "values"), (x, x, v), strict=True)
    for role, vectors in roles:
        one, two, all_at_once = (getattr(p, f"project_{role}") for p in (first, second, both))
        np.testing.assert_allclose(all_at_once(vectors), two(one(vectors)), atol=1e-12)


def test_projections_of_another_embedding_are_refused() -> None:
    red, blue = WordVectors(["red"], [[1.0]]), WordVectors(["blue"], [[1.0]])
    learned = Projections([[2.0]], embedding=red.fingerprint()["name"])
    assert with_projections(red, learned).encode(["red"]).tolist() == [[1.0]]
    with pytest.raises(OptionError, match=r"these are for word vectors .*, and the embedding is"):
        with_projections(blue, learned)


def test_a_fingerprint_tells_the_embedding_and_the_projections() -> None:
    red, blue = (WordVectors([word], [[1.0]]) for word in ("red", "blue"))
    projections = (Projections([[2.0]]), Projections([[3.0]]))
    names = [Projected(e, p).fingerprint()["name"] for e in (red, blue) for p in projections]
    assert len(set(names)) == 4
    assert Projected(red, Projections([[2.0]])).fingerprint()["name"] == names[0]


# ---- bad input ----------------------------------------------------------------------------


def test_what_is_no_projection_is_told() -> None:
    with pytest.raises(ShapeError, match=r"query must be a matrix"):
        Projections([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"key.*finite"):
        Projections(key=[[np.inf]])
    with pytest.raises(ArgumentTypeError, match="value"):
        Projections(value=[["a"]])
    with pytest.raises(ShapeError, match="one size"):
        Projections(np.ones((4, 3)), np.ones((4, 2)))
    with pytest.raises(ShapeError, match="one shape"):
        Projections(Factors(np.ones((4, 3)), np.ones((4, 2))))


def test_vectors_of_another_size_are_told() -> None:
    with pytest.raises(ShapeError, match="key vectors takes vectors of 4 numbers, got shape"):
        some().project_keys(drawn(2, 3))
    with pytest.raises(ShapeError, match="takes vectors of 2 numbers"):
        some().project_values(drawn(3))


def test_their_repr_tells_what_they_are() -> None:
    assert repr(Projections()) == "Projections()"
    shown = "Projections(query=<array (4, 3)>, key=<array (4, 3)>, "
    assert repr(some()) == shown + "value=<identity and rank 1 (2, 2)>)"
