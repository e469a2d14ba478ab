"""Heads of a query: what they do to vectors and scores, how they are kept, what a dict finds."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fuzzydict import FuzzyDict
from fuzzydict.arrays import Array
from fuzzydict.brown import Brown
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    OptionError,
    ReadOnlyError,
    ShapeError,
)
from fuzzydict.factors import composed
from fuzzydict.projections import Factors, Projections
from fuzzydict.query_heads import QueryHeads, composed_heads, soft_maximum
from fuzzydict.scorers import as_scorer

from .reference import assert_probabilities

AXES = {
    "red": [1.0, 0.0, 0.1],
    "blue": [0.0, 1.0, 0.2],
    "green": [0.3, 0.3, 0.9],
    "violet": [0.6, 0.8, 0.0],
    "white": [0.5, 0.5, 0.5],
}
KEYS = ["red", "blue", "green", "white"]


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def of_matrices(temperature: float = 0.2) -> QueryHeads:
    return QueryHeads(drawn(2, 3, 3), temperature)


def of_factors(temperature: float = 0.2, *, of_heads: bool = False) -> QueryHeads:
    factors = Factors(drawn(2, 3, 2, seed=1), drawn(2, 3, 2, seed=2))
    return QueryHeads(factors, temperature, of_heads=of_heads)


# ---- vectors ------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [of_matrices(), of_factors()])
def test_each_head_maps_every_vector(heads: QueryHeads) -> None:
    x = drawn(5, 4, 3, seed=3)
    projected = Projections(heads).project_queries(x)
    assert projected.shape == (5, 4, 2, 3)
    for head, one in enumerate(heads.each()):
        whole = one.whole if isinstance(one, Factors) else one
        np.testing.assert_allclose(projected[:, :, head], x @ whole)
    assert heads.project(x[0, 0].astype(np.float32)).dtype == np.float32


def test_heads_go_on_from_heads_and_one_map_goes_on_from_all() -> None:
    x, last = drawn(5, 3, seed=3), drawn(3, 3, seed=4)
    first = of_matrices().project(x)
    then = Projections(of_factors(of_heads=True), base=Projections(of_matrices()))
    expected = np.stack(
        [first[:, h] @ one.whole for h, one in enumerate(of_factors().each())],  # type: ignore[union-attr]
        axis=1,
    )
    np.testing.assert_allclose(then.project_queries(x), expected)
    after = Projections(last, base=Projections(of_matrices()))
    np.testing.assert_allclose(after.project_queries(x), first @ last)
    assert (then.num_heads, after.num_heads, Projections(last).num_heads) == (2, 2, 1)


@pytest.mark.parametrize("first", [None, drawn(3, 3, seed=5), of_matrices(), of_factors()])
@pytest.mark.parametrize("second", [None, drawn(3, 3, seed=6), of_factors(of_heads=True)])
def test_two_in_one_do_what_both_do(first: Any, second: Any) -> None:
    if isinstance(second, QueryHeads) and not isinstance(first, QueryHeads):
        second = of_factors()  # which start from one vector
    x = drawn(5, 3, seed=3)
    once = Projections(composed_heads(first, second)).project_queries(x)
    twice = Projections(second, base=Projections(first)).project_queries(x)
    np.testing.assert_allclose(once, twice)
    if not isinstance(first, QueryHeads) and not isinstance(second, QueryHeads):
        np.testing.assert_array_equal(composed_heads(first, second), composed(first, second))


# ---- scores -------------------------------------------------------------------------------


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.just(5)), elements=st.floats(-3, 3)),
    st.floats(0.02, 5),
)
def test_the_soft_maximum_lies_between_the_mean_and_the_maximum(
    scores: Array, temperature: float
) -> None:
    joined = soft_maximum(scores, temperature)
    top = scores.max(axis=0)
    powers = np.exp((scores - top) / temperature)
    np.testing.assert_allclose(joined, top + temperature * np.log(powers.mean(axis=0)), atol=1e-9)
    assert (joined <= top + 1e-9).all()
    assert (joined >= scores.mean(axis=0) - 1e-9).all()
    same = np.repeat(scores[:1], 3, axis=0)
    np.testing.assert_allclose(soft_maximum(same, temperature), scores[0], atol=1e-9)


def test_what_no_head_scores_has_no_score() -> None:
    scores = np.array([[-np.inf, -np.inf], [-np.inf, 2.0]], np.float32)
    joined = soft_maximum(scores, 1.0)
    np.testing.assert_allclose(joined, [-np.inf, 2 - np.log(2)], rtol=1e-6)
    assert joined.dtype == np.float32
    with pytest.raises(ShapeError, match="one head at least"):
        soft_maximum([], 1.0)


@pytest.mark.parametrize("scorer", ["cosine", "dot", "scaled_dot", "gaussian", "boxcar"])
def test_weights_are_those_of_all_pairs_of_a_head_and_a_key(scorer: str) -> None:
    """A softmax over all (head, key), summed over the heads: the slow and obvious way."""
    made = as_scorer(scorer)
    query = np.array([AXES["violet"]]) @ drawn(2, 3, 3)  # (H, 1, E)
    keys = np.array([AXES[key] for key in KEYS])
    scores = [made(head, keys)[0] for head in query]
    pairs = {(h, k): np.exp(scores[h][k] / 0.2) for h in range(2) for k in range(len(KEYS))}
    expected = [sum(pairs[h, k] for h in range(2)) / sum(pairs.values()) for k in range(len(KEYS))]
    d = FuzzyDict(
        {key: float(i) for i, key in enumerate(KEYS)},
        embedding=AXES,
        scorer=scorer,
        temperature=0.2,
        projections=Projections(of_matrices()),
    )
    attention = d.attend("violet")
    np.testing.assert_allclose(attention.weights, expected, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(attention.query, query[:, 0], rtol=1e-5)
    assert attention.query.shape == (2, 3)
    assert d.pool("violet") == pytest.approx(float(np.dot(expected, range(len(KEYS)))), rel=1e-4)
    best = KEYS[int(np.argmax(expected))]
    assert d.nearest("violet").key == d.most_similar("violet")[0].key == best
    assert d.explain("violet").best == d.nearest("violet")


@pytest.mark.parametrize("heads", [of_matrices(), of_factors(0.05)])
def test_the_default_score_takes_the_soft_maximum_of_cosines(heads: QueryHeads) -> None:
    keys = ["red blue", *KEYS, "blue green red"]
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=AXES, projections=Projections(heads))
    for query in ("violet", "violet white", "vilet", "redd", "the violet blue"):
        assert_probabilities(d, query)


def test_equal_heads_answer_as_one() -> None:
    turn = drawn(3, 3)
    queries = ["violet", "violet white", "reed"]
    for scorer in (None, "cosine", "dot"):
        one, three = (
            FuzzyDict(
                dict.fromkeys(KEYS, 1),
                embedding=AXES,
                scorer=scorer,
                projections=Projections(query),
            )
            for query in (turn, QueryHeads(np.stack([turn] * 3), 0.1))
        )
        found = [[m.score for m in three.most_similar(query, None)] for query in queries]
        expected = [[m.score for m in one.most_similar(query, None)] for query in queries]
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_many_queries_are_answered_as_each_alone() -> None:
    size = Projections.shipped("wordnet").project_keys(Brown().encode(["a"]), ["a"]).shape[1]
    factors = Factors(*(0.1 * drawn(2, 3, size, 2).astype(np.float32)))
    projections = Projections(QueryHeads(factors, 0.05), base=Projections.shipped("wordnet"))
    d = FuzzyDict({"color": 1, "price": 2, "top speed": 3}, projections=projections)
    queries = ["colour", "maximum speed", "cost"]
    del d["price"]
    d["brand"] = 4
    together, alone = d.nearest(queries), [d.nearest(query) for query in queries]
    assert [match.key for match in together] == [match.key for match in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.score == pytest.approx(other.score, rel=1e-5)
    assert [a.query.shape for a in d.attend(queries)] == [(3, size)] * 3
    np.testing.assert_allclose(d.pool(queries), [d.pool(query) for query in queries], rtol=1e-5)


def test_a_map_shows_each_head() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    d = FuzzyDict(dict.fromkeys(KEYS, 1), embedding=AXES, projections=Projections(of_matrices()))
    axes = d.attend("violet").plot(kind="map")
    assert len(axes.collections[1].get_offsets()) == 2


# ---- how they are kept --------------------------------------------------------------------


@pytest.mark.parametrize("heads", [of_matrices(), of_factors(), of_factors(of_heads=True)])
def test_files_pickles_and_copies_hold_them(heads: QueryHeads, tmp_path: Path) -> None:
    key = drawn(3, 3, seed=7)
    projections = Projections(heads, key, words=["violet"])
    projections.save(tmp_path / "p")
    for again in (
        Projections.load(tmp_path / "p"),
        Projections.from_arrays(projections.arrays()),
        pickle.loads(pickle.dumps(projections)),
        copy.deepcopy(projections),
    ):
        assert again == projections
        assert hash(again) == hash(projections)
    assert Projections(heads.at(0.3), key, words=["violet"]) != projections
    assert Projections(heads.each()[0], key, words=["violet"]) != projections


def test_a_dict_is_saved_with_them_and_its_keys_stay_as_they_are(tmp_path: Path) -> None:
    projections = Projections(of_factors(), drawn(3, 3, seed=7))
    d = FuzzyDict(dict.fromkeys(KEYS, 1), embedding=AXES, projections=projections)
    d.save(tmp_path / "d")
    back: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=AXES)
    assert back.projections == projections
    assert back.most_similar("violet") == d.most_similar("violet")
    assert back.attend("violet").keys.shape == (4, 3)


def test_nothing_of_them_can_be_changed() -> None:
    given_maps = drawn(2, 3, 3)
    heads = QueryHeads(given_maps, 0.2)
    given_maps[:] = 0
    assert heads.project(np.eye(3)).any()
    with pytest.raises(ReadOnlyError, match="temperature"):
        heads.temperature = 0.3
    with pytest.raises(ReadOnlyError, match="maps"):
        del heads.maps
    with pytest.raises(ValueError, match="read-only"):
        heads.maps[0, 0, 0] = 1  # type: ignore[index]


def test_their_repr_tells_how_many_there_are() -> None:
    assert repr(Projections(of_matrices())) == "Projections(query=<2 heads (3, 3)>)"
    assert repr(of_factors()) == "<2 heads of rank 2 (3, 3)>"


# ---- bad input ----------------------------------------------------------------------------


WHOLE = {"query.heads": np.array([0.1, 0]), "query.whole": np.ones((2, 3, 3))}


@pytest.mark.parametrize(
    "change",
    [
        {"query.heads": np.array([0.1])},
        {"query.heads": np.array(0.1)},
        {"query.heads": np.array([np.nan, 0])},
        {"query.heads": np.array([-0.1, 0])},
        {"query.heads": np.array([0.1, 0.5])},
        {"query.heads": np.array(["a", "b"])},
        {"query.whole": np.ones((3, 3))},
        {"query.whole": np.ones((1, 3, 3))},
        {"query.whole": np.full((2, 3, 3), np.nan)},
        {"query.whole": np.ones((2, 3, 2)), "key": np.ones((3, 3))},
        {"base.query.heads": np.array([0.1, 0]), "base.query.whole": np.ones((2, 3, 3))},
    ],
)
def test_arrays_that_are_no_heads(change: dict[str, Any]) -> None:
    assert Projections.from_arrays(WHOLE).num_heads == 2
    with pytest.raises(FileFormatError, match="no whole projections"):
        Projections.from_arrays({**WHOLE, **change})


def test_arrays_of_half_the_factors() -> None:
    parts = {f"query.{name}": array for name, array in of_factors().arrays().items()}
    assert Projections.from_arrays(parts) == Projections(of_factors())
    for changed in (
        {name: array for name, array in parts.items() if name != "query.right"},
        {**parts, "query.right": np.ones((2, 4, 2))},
        {name: array for name, array in parts.items() if name != "query.heads"},
    ):
        with pytest.raises(FileFormatError, match="no whole projections"):
            Projections.from_arrays(changed)


def test_what_cannot_be_heads_is_told() -> None:
    with pytest.raises(ShapeError, match=r"maps: expected matrices \(H, E, r\) of two heads"):
        QueryHeads(np.eye(3), 0.1)
    with pytest.raises(ShapeError, match="finite"):
        QueryHeads(np.full((2, 3, 3), np.inf), 0.1)
    with pytest.raises(OptionError, match="temperature"):
        QueryHeads(np.ones((2, 3, 3)), 0)
    with pytest.raises(ArgumentTypeError, match="key: expected a matrix or factors"):
        Projections(key=of_matrices())  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="one size"):
        Projections(of_matrices(), np.ones((3, 2)))


@pytest.mark.parametrize(
    ("heads", "base"),
    [
        (of_matrices(), Projections(of_matrices())),
        (of_factors(of_heads=True), Projections(np.eye(3))),
        (QueryHeads(drawn(3, 3, 3), 0.1, of_heads=True), Projections(of_matrices())),
    ],
)
def test_heads_that_do_not_go_on_from_their_base(heads: QueryHeads, base: Projections) -> None:
    with pytest.raises(ShapeError, match="cannot go on from a base of heads"):
        Projections(heads, base=base)


def test_vectors_of_another_size_are_told() -> None:
    with pytest.raises(
        ShapeError, match=r"take vectors of shape \(\.\.\., 3\), got shape \(2, 4\)"
    ):
        Projections(of_matrices()).project_queries(drawn(2, 4))
    with pytest.raises(ShapeError, match=r"\(\.\.\., 2, 3\), got shape \(5, 3\)"):
        of_factors(of_heads=True).project(drawn(5, 3))
