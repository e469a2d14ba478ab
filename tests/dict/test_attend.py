"""Attention: every intermediate, masks, lists of queries, and the best keys alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import ArgumentTypeError, Attention, FuzzyDict, NoMatchError, OptionError
from fuzzydict.nn.softmax import softmax
from tests.support.searching import assert_same

VECTORS = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "violet": [0.8, 0.6], "grey": [0.6, 0.6]}
KEYS = ["red", "dark red", "navy", "blue", "sky blue", "green", "grey", "color of the sky", "red 2"]
ITEMS = {key: float(i) for i, key in enumerate(KEYS)}
QUERIES = ["violet", "rde", "red", "blue sky", "qwzzt"]


def vectors_of(*keys: str, **options: Any) -> FuzzyDict[float]:
    return FuzzyDict({key: float(i) for i, key in enumerate(keys)}, embedding=VECTORS, **options)


def test_attention_holds_every_intermediate() -> None:
    d = vectors_of("red", "blue", "grey", scorer="scaled_dot", temperature=0.5)
    a = d.attend("violet")
    np.testing.assert_allclose(a.query, VECTORS["violet"], rtol=1e-6)
    np.testing.assert_array_equal(a.keys, np.array([VECTORS[name] for name in d], np.float32))
    assert (a.names, a.values) == (["red", "blue", "grey"], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(a.scores, a.keys @ a.query / np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(a.weights, softmax(a.scores, 0.5), rtol=1e-6)
    assert a.output == pytest.approx(float(a.weights @ np.array(a.values)), rel=1e-5)
    same = FuzzyDict(dict.fromkeys(["red", "blue", "green", "navy"], 10**18 + 1))
    assert same.pool("bleu") == pytest.approx(10**18 + 1, rel=1e-15)
    assert same.attend("zzzqx").weights.sum() == pytest.approx(1.0)  # there is no cutoff


def test_weights_are_shares_of_the_probability_nearly_all_for_an_exact_key() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "colors", "brand"], 1.0))
    scores = {match.key: match.score for match in d.most_similar("colour")}
    attention = d.attend("colour")
    for name, log, weight in zip(attention.names, attention.scores, attention.weights, strict=True):
        assert np.exp(log) == pytest.approx(scores[name], rel=1e-5)
        assert weight == pytest.approx(scores[name] / sum(scores.values()), rel=1e-5)
    keys = [word for word in fuzzydict.Brown().words[500:1500] if word.isalpha()]
    d = FuzzyDict({key: float(i) for i, key in enumerate(keys)})
    own = [float(attention.weights[i]) for i, attention in enumerate(d.attend(keys))]
    assert min(own) >= 0.75
    assert np.median(own) >= 0.95


@pytest.mark.parametrize(
    "scorer",
    [None, "dot", "cosine", fuzzydict.Cosine(), fuzzydict.Gaussian(0.5), lambda q, k: q @ k.T],
)
def test_a_list_of_queries_is_answered_as_one_by_one(scorer: Any) -> None:
    d = vectors_of("red", "blue", "grey", scorer=scorer, score_cutoff=-10.0)
    queries = ["reds", "blue", "rred"]
    assert_same(d.nearest(queries), [d.nearest(q) for q in queries])
    np.testing.assert_allclose(d.pool(queries), [d.pool(q) for q in queries], rtol=1e-5)
    several, attended = d.most_similar(queries), d.attend(queries)
    for query, some, one in zip(queries, several, attended, strict=True):
        assert_same(some, d.most_similar(query))
        np.testing.assert_allclose(one.weights, d.attend(query).weights, rtol=1e-4)
    assert d.nearest([]) == d.most_similar([]) == d.attend([]) == []
    assert d.pool([]).shape == (0,)
    with pytest.raises(NoMatchError, match="the dict is empty"):  # whose shape could be told
        FuzzyDict[Any]().pool([])


def cut(whole: Attention, topn: int) -> tuple[list[str], list[float], float]:
    """Return the best keys in the dict's order, their weights, and the weight of the others."""
    places = sorted(range(len(whole.names)), key=lambda i: (-whole.scores[i], i))[:topn]
    kept = sum(whole.weights[i] for i in places)
    shares = [float(whole.weights[i] / kept) for i in sorted(places)]
    return [whole.names[i] for i in sorted(places)], shares, float(1 - kept)


def assert_cut(found: Attention, whole: Attention, topn: int) -> None:
    names, shares, left_out = cut(whole, topn)
    assert found.names == names
    np.testing.assert_allclose(found.weights, shares, rtol=1e-4, atol=1e-7)
    assert found.left_out == pytest.approx(left_out, rel=1e-4, abs=1e-6)
    of_all = {name: place for place, name in enumerate(whole.names)}
    rows = [of_all[name] for name in names]
    np.testing.assert_array_equal(found.keys, whole.keys[rows])
    np.testing.assert_allclose(found.scores, whole.scores[rows], rtol=1e-4, atol=1e-5)
    assert found.values == [whole.values[row] for row in rows]
    assert found.none == (whole.none and pytest.approx(whole.none, rel=1e-4))


@given(
    keys=st.permutations(KEYS).flatmap(lambda keys: st.sampled_from([keys[:n] for n in (1, 4, 9)])),
    gone=st.sets(st.sampled_from(KEYS)),
    query=st.sampled_from(QUERIES),
    topn=st.integers(1, 12) | st.just(10**9) | st.just(np.int64(2000)),
    temperature=st.sampled_from([None, 0.1, 3.0]),
    scorer=st.sampled_from([None, "cosine"]),
)
def test_it_is_attention_over_all_keys_cut_and_renormalised(
    keys: list[str],
    gone: set[str],
    query: str,
    topn: int,
    temperature: float | None,
    scorer: str | None,
) -> None:
    d = FuzzyDict({key: ITEMS[key] for key in keys}, temperature=temperature, scorer=scorer)
    d.attend("red")  # so that keys are deleted from an index that exists
    for key in gone.intersection(keys[1:]):
        del d[key]
    whole = d.attend(query)
    for found in (d.attend(query, topn=topn), d.attend(["rde", query], topn=topn)[1]):
        assert_cut(found, whole, topn)
        names, shares, left_out = cut(whole, topn)
        output = np.dot([ITEMS[name] for name in names], shares)
        assert found.output == pytest.approx(output, rel=1e-4, abs=1e-6)
        told = f"  all other keys would have had {left_out:.1%} at most"
        assert (told in str(found).splitlines()) == (found.left_out > 0)


def test_a_mask_takes_keys_away_before_the_best_are_chosen_and_must_fit() -> None:
    d = FuzzyDict(ITEMS)
    mask = [key not in ("red", "dark red") for key in ITEMS]
    for given_mask in (mask, lambda key: key not in ("red", "dark red")):
        whole, found = (d.attend("rde", attn_mask=given_mask, topn=n) for n in (None, 3))
        assert_cut(found, whole, 3)
        assert not {"red", "dark red"}.intersection(found.names)
        assert (whole.weights[:2].tolist(), np.isneginf(whole.scores[:2]).all()) == ([0, 0], True)
        assert whole.weights.sum() == pytest.approx(1.0)
    # Fewer keys may be attended to than are wanted: the others weigh nothing.
    found = d.attend("rde", attn_mask=lambda key: key == "navy", topn=3)
    assert dict(zip(found.names, found.weights.tolist(), strict=True))["navy"] == 1.0
    assert found.left_out == pytest.approx(0, abs=1e-12)
    mixed = FuzzyDict({"red": 0.0, 5: 9.0, "blue": 1.0}, embedding=VECTORS)
    assert mixed.pool("red", attn_mask=[False, True, True]) == 1.0
    no_number: Any
    for no_number in (0, -1, "3", True, 2.5, [3]):
        with pytest.raises((OptionError, ArgumentTypeError), match="topn must be a whole number"):
            d.attend(["violet"], topn=no_number)
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([True, False], fuzzydict.ShapeError, r"attn_mask.*9 keys.*2"),
        ([1] * 9, ArgumentTypeError, r"attn_mask.*bool"),
        ([False] * 9, NoMatchError, "nothing to attend to"),
    ]
    for bad, kind, told in wrong:
        for topn in (None, 3):
            with pytest.raises(kind, match=told):
                d.attend("red", attn_mask=bad, topn=topn)
