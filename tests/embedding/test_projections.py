"""Q, K and V: what they do to vectors and embeddings, that they do not change, and their files."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from fuzzydict import WordVectors
from fuzzydict._arrays import Array
from fuzzydict.embedding.projections import (
    Factors,
    Projections,
    as_projections,
    require_learned_for,
)
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    OptionError,
    ReadOnlyError,
    ShapeError,
)
from tests.support.refusals import Refused, refused


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def some() -> Projections:
    return Projections(drawn(4, 3), drawn(4, 3, seed=1), Factors(drawn(2, 1), drawn(2, 1, seed=2)))


def test_each_role_has_its_matrix() -> None:
    projections, x = some(), drawn(5, 4, seed=3)
    np.testing.assert_allclose(projections.project_queries(x), x @ drawn(4, 3))
    np.testing.assert_allclose(projections.project_keys(x), x @ drawn(4, 3, seed=1))
    v = drawn(5, 2, seed=4)
    whole = np.eye(2) + drawn(2, 1) @ drawn(2, 1, seed=2).T
    np.testing.assert_allclose(projections.project_values(v), v @ whole)
    single = projections.project_queries(drawn(2, 5, 4).astype(np.float32))
    assert single.dtype == np.float32
    assert single.shape == (2, 5, 3)
    none = Projections()
    assert none.is_identity
    assert not projections.is_identity
    assert none.project_queries(x) is none.project_keys(x) is none.project_values(x) is x


def test_they_do_not_change_and_copies_are_equal() -> None:
    given = drawn(2, 2)
    projections = Projections(given)
    given[:] = 0
    assert np.array_equal(projections.project_queries(np.eye(2)), drawn(2, 2))
    with pytest.raises(ReadOnlyError, match="query"):
        projections.query = None
    with pytest.raises(ReadOnlyError, match="key"):
        del projections.key
    with pytest.raises(ValueError, match="read-only"):
        projections.query[0, 0] = 1
    projections = some()
    for again in (copy.deepcopy(projections), pickle.loads(pickle.dumps(projections))):
        assert again == projections != 3
        assert hash(again) == hash(projections)
        assert again != Projections()


def test_projections_after_others_are_one_map() -> None:
    first, x, v = some(), drawn(5, 4, seed=3), drawn(5, 2, seed=4)
    second = Projections(drawn(3, 3, seed=5), None, drawn(2, 6, seed=6))
    both = first.then(second)
    roles = zip(("queries", "keys", "values"), (x, x, v), strict=True)
    for role, vectors in roles:
        one, two, all_at_once = (getattr(p, f"project_{role}") for p in (first, second, both))
        np.testing.assert_allclose(all_at_once(vectors), two(one(vectors)), atol=1e-12)


RED, BLUE = WordVectors(["red"], [[1.0]]), WordVectors(["blue"], [[1.0]])
OF_RED = Projections([[2.0]], embedding=RED.fingerprint()["name"])


NO_WHOLE: list[Any] = [
    {"query": np.ones(3)},
    {"key": np.array([["a"]])},
    {"query": np.eye(2), "base.query": np.eye(2)},
    {"key.left": np.ones((2, 1))},
    {"key.left": np.ones((2, 1)), "key.right": np.ones((3, 1))},
    {"query": np.eye(2) * np.nan},
    {"query": np.eye(2, dtype=np.float32) * np.float32(3e38), "key": np.eye(2)},  # overflow
    {"query": np.eye(2) * 1e300},
    {"key.left": np.eye(2) * 1e9, "key.right": np.eye(2) * 1e9},
]


def test_projections_go_with_the_embedding_they_were_learned_for() -> None:
    require_learned_for(RED, OF_RED)
    for projections in (None, Projections(), Projections([[2.0]])):
        require_learned_for(BLUE, projections)
    assert as_projections(None) is as_projections("identity") is None
    assert as_projections(OF_RED) is OF_RED


REFUSED: Refused = {
    OptionError: {
        "these are for word vectors .*, and": lambda: require_learned_for(BLUE, OF_RED),
        "None, 'identity', which is the same": [
            lambda: as_projections("english"),
            lambda: as_projections(3),
        ],
    },
    ShapeError: {
        "query must be a matrix": lambda: Projections([1.0, 2.0]),
        "key.*finite": lambda: Projections(key=[[np.inf]]),
        "value: .* beyond 1e.12": lambda: Projections(value=[[1e13]]),
        "query: .* overflow; scale it down": lambda: Projections(np.eye(2, dtype="f4") * 3e38),
        "one size": lambda: Projections(np.ones((4, 3)), np.ones((4, 2))),
        "one shape": lambda: Projections(Factors(np.eye(4), np.ones((4, 2)))),
        "vectors of 4 numbers, got shape": lambda: some().project_keys(drawn(2, 3)),
        "takes vectors of 2 numbers": lambda: some().project_values(drawn(3)),
    },
    ArgumentTypeError: {"value": lambda: Projections(value=[["a"]])},
    FileFormatError: {
        "no whole proj": [partial(Projections.from_arrays, arrays) for arrays in NO_WHOLE]
    },
}


test_what_does_not_fit_is_named = refused(REFUSED)
