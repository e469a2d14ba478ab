"""From features to probabilities, and why: what must hold whatever was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.search.align import CONTEXT, FEATURES, PAIR, SIGNS
from fuzzydict.search.judge import SIGNS_WHETHER, SIGNS_WHICH, Net, shipped
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


# ---- why ----------------------------------------------------------------------------------
