"""From features to probabilities, and why: what must hold whatever was learned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict
from fuzzydict.search.align import CONTEXT, FEATURES, PAIR, SIGNS
from fuzzydict.search.judge import (
    OF_BEST,
    SIGNS_WHETHER,
    SIGNS_WHICH,
    Net,
    shipped,
)
from fuzzydict.search.retrieve import GLANCE
from tests.support.properties import examples

KINDS = ["words", "encoder", "spelling"]
F = len(FEATURES)
LISTS = st.integers(0, 2**32 - 1), st.integers(1, 8)
kinds = pytest.mark.parametrize("kind", KINDS)


def features(seed: int, count: int, *, equal: bool = False) -> Any:
    """Return features of some candidates, (1, C, F); the context is that of the query."""
    X = np.random.default_rng(seed).uniform(0, 1, (1, count, F)).astype(np.float32)
    X[:, :, CONTEXT:] = X[:, :1, CONTEXT:]
    return np.repeat(X[:, :1], count, axis=1) if equal else X


# ---- the weights --------------------------------------------------------------------------------


@kinds
def test_the_weights_that_ship_have_the_right_shapes_and_signs(kind: str) -> None:
    judge = shipped(kind)
    assert judge.glance.shape == (len(GLANCE),)
    assert judge.pair.shape == (len(PAIR),)
    assert judge.center.shape == judge.scale.shape == (F,)
    assert (judge.scale > 0).all()
    assert (judge.glance >= 0).all()
    assert judge.rest.shape == (2,)
    assert judge.rest[1] >= 0
    for net, signs in ((judge.which, SIGNS_WHICH), (judge.whether, SIGNS_WHETHER)):
        assert_fits(net, signs)


def assert_fits(net: Net, signs: Any) -> None:
    count, hidden, context = len(signs), len(net.b), F - CONTEXT
    *parts, bounded = net
    assert 0 <= bounded <= hidden
    shapes = [part.shape for part in parts]
    assert shapes == [(count, hidden), (context, hidden), (hidden,), (hidden,), (count,), ()]
    assert all(np.isfinite(part).all() for part in parts)
    assert (net.A * signs[:, None] >= 0).all()
    assert (net.l * signs >= 0).all()
    assert (net.c >= 0).all()


# ---- which key, and whether ----------------------------------------------------------------------


@kinds
@given(*LISTS, st.integers(0, CONTEXT - 1), st.floats(0, 1, width=32))
@examples(60)
def test_who_has_more_of_what_speaks_for_a_key_is_never_less_likely(
    kind: str, seed: int, count: int, feature: int, more: float
) -> None:
    judge, X = shipped(kind), features(seed, count)
    before = judge.judge(X)
    place = int(before.best[0])
    raised = X.copy()
    raised[0, place, feature] += SIGNS[feature] * more
    after = judge.judge(raised)
    assert after.odds[0, place] >= before.odds[0, place] - 1e-4
    assert after.best[0] == place or after.odds[0].max() - after.odds[0, place] < 1e-4
    assert after.right[0] >= before.right[0] - 1e-4


@kinds
@given(*LISTS, st.integers(0, 20))
@examples(60)
def test_probabilities_are_shares_of_one(kind: str, seed: int, count: int, more: int) -> None:
    judge, X = shipped(kind), features(seed, count)
    said = judge.judge(X)
    glances = np.random.default_rng(seed).uniform(-5, 15, (1, count + more)).astype(np.float32)
    found = np.exp(judge.log_probabilities(said, np.arange(count)[None], glances))[0]
    best = int(said.best[0])
    assert found[best] == pytest.approx(said.of_best()[0], rel=1e-6)
    assert (found <= found[best] * (1 + 1e-9)).all()
    assert (found >= 0).all()
    assert found.sum() <= 1 + 1e-9
    order = np.argsort(-said.odds[0], kind="stable")
    assert (np.diff(found[:count][order]) <= 1e-12).all()  # as likely as the judge finds them


@kinds
@given(*LISTS)
@examples(30)
def test_keys_with_the_same_features_share_the_probability(
    kind: str, seed: int, count: int
) -> None:
    judge, X = shipped(kind), features(seed, count, equal=True)
    said, slots = judge.judge(X), np.arange(count)[None]
    glances = np.zeros((1, count), np.float32)
    found = np.exp(judge.log_probabilities(said, slots, glances))[0]
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
    assert found[0] <= 1 / count + 1e-9


def test_what_was_left_out_takes_its_share() -> None:
    judge = shipped("words")
    said, slots = judge.judge(features(3, 4)), np.arange(4)[None]
    glances = np.zeros((1, 4), np.float32)
    few, many = (
        np.exp(judge.log_probabilities(said, slots, glances, left_out)[0]) for left_out in (0, 1e6)
    )
    best = int(said.best[0])
    assert few[best] == many[best]
    assert np.delete(many, best).sum() <= np.delete(few, best).sum()


@kinds
@given(*LISTS)
@examples(60)
def test_one_query_is_judged_as_many_are(kind: str, seed: int, count: int) -> None:
    judge, X = shipped(kind), features(seed, count)
    room = np.zeros((count, len(OF_BEST)), np.float32)
    said, x = judge.judge(X), np.concatenate([X[0], room], axis=1)
    best, odds = judge.best_of_one(x)
    np.testing.assert_allclose(odds, said.odds[0], rtol=1e-3, atol=1e-3)
    assert odds[int(said.best[0])] == pytest.approx(odds[best], abs=1e-3)
    right = judge.right_of_one(x[best], odds, best)
    assert right == pytest.approx(said.of_best()[0], abs=1e-3)


def test_candidates_that_are_masked_are_never_the_best() -> None:
    judge, X = shipped("words"), features(5, 6)
    best = int(judge.judge(X).best[0])
    mask = np.arange(6)[None] != best
    said = judge.judge(X, mask)
    assert said.best[0] != best
    assert said.odds[0, best] == -np.inf
    without = judge.judge(np.delete(X, best, axis=1))
    np.testing.assert_allclose(said.right, without.right, rtol=1e-5)


# ---- why ----------------------------------------------------------------------------------


@kinds
@given(*LISTS, st.floats(0.001, 0.999))
@examples(30)
def test_the_parts_of_a_score_add_up(kind: str, seed: int, count: int, score: float) -> None:
    judge, X = shipped(kind), features(seed, count)
    said = judge.judge(X)
    for place in range(count):
        parts = judge.parts(X[0], said.odds[0], place, score)
        assert parts.log_odds == pytest.approx(math.log(score / (1 - score)), abs=1e-3)
        assert 0 <= parts.likeness <= 1
        assert 0 <= parts.coverage <= 1


@pytest.mark.parametrize(
    ("query", "key", "most"),
    [("gvrnment", "government", "spelling"), ("automobile", "car", "meaning")],
)
def test_the_part_that_speaks_most_is_told(query: str, key: str, most: str) -> None:
    explained = FuzzyDict(dict.fromkeys([key, "brand", "river", "price"], 1)).explain(query)
    assert explained.best.key == key
    parts = explained.best_parts
    assert parts is not None
    names = ("spelling", "meaning", "against")
    assert max(names, key=lambda name: float(getattr(parts, name))) == most
    assert parts.log_odds == pytest.approx(
        math.log(explained.best.score / (1 - explained.best.score)), abs=1e-2
    )
