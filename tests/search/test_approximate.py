"""Dicts that search by an engine: they answer as one that compares with every key."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuzzydict import (
    Brown,
    FuzzyDict,
    NoMatchError,
    PoolingError,
)
from fuzzydict.search.lookup import MOST
from tests.support.searching import SCORERS, assert_same, compared

CAR = ["brand", "color", "top speed", "price", "engine power", "seats", "C#", "C++", "year 1961"]
QUERIES = ["colour", "maximum speed", "topSpeed", "c", "year 1962", "cost", "qwzzt", "brand"]
SHARE = 0.03  # by which a probability may be off where there are thousands of keys


def test_values_of_unlike_kinds_are_not_pooled_though_no_query_finds_both() -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")

    def encode(texts: list[str]) -> list[list[float]]:
        slight = [sum(map(ord, text)) % 97 / 1e4 for text in texts]
        return [[1, x] if text[0] == "a" else [x, 1] for text, x in zip(texts, slight, strict=True)]

    items = {f"a{i}": 1.0 for i in range(2000)} | {f"b{i}": [1.0, 2.0] for i in range(2000)}
    d = FuzzyDict(items, embedding=encode, scorer="cosine", index="usearch")
    assert d.pool(["ax", "ay"]) == pytest.approx([1.0, 1.0])
    with pytest.raises(PoolingError, match="values can only be pooled if all have one shape"):
        d.pool(["ax", "bx"])


# ---- few keys: all are found ----------------------------------------------------------------


@pytest.mark.parametrize("scorer", SCORERS)
def test_every_read_of_few_keys_is_that_of_a_comparison_with_all(
    engine: str, scorer: str | None
) -> None:
    items = {key: float(i) for i, key in enumerate(CAR)}
    d = FuzzyDict(items, scorer=scorer, index=engine, score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in QUERIES:
        assert_same(d.most_similar(query, 5), all_keys.most_similar(query, 5))
        assert d.nearest(query).key == all_keys.nearest(query).key
        assert d[query] == all_keys[query]
        assert d.get(query) == all_keys.get(query)
        assert d.pool(query) == pytest.approx(all_keys.pool(query), rel=1e-3)
        one, other = d.attend(query), all_keys.attend(query)
        assert one.names == other.names
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-3)
        assert one.left_out == other.left_out == 0
        assert str(d.explain(query)) == str(all_keys.explain(query))
    assert_same(d.nearest(QUERIES), all_keys.nearest(QUERIES))
    for row, expected in zip(
        d.most_similar(QUERIES, None), all_keys.most_similar(QUERIES, None), strict=True
    ):
        assert_same(row, expected)
    np.testing.assert_allclose(d.pool(QUERIES), all_keys.pool(QUERIES), rtol=1e-3)
    assert [len(one.names) for one in d.attend(QUERIES)] == [len(CAR)] * len(QUERIES)
    assert (d.nearest([]), d.most_similar([]), d.attend([])) == ([], [], [])
    assert d.pool([]).shape == (0,)


def test_queries_and_dicts_with_nothing_to_compare_are_refused_as_ever(engine: str) -> None:
    d = FuzzyDict({"color": 1.0, 5: 2.0}, index=engine)
    for query in ("?!", 7):
        with pytest.raises(NoMatchError):
            d.nearest(query)
    assert (d[5], d.get("qwzzt", "none")) == (2.0, "none")
    with pytest.raises(NoMatchError, match="no key with letters"):
        FuzzyDict({5: 1}, index=engine)["color"]


# ---- thousands of keys ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> dict[str, float]:
    words = [word for word in Brown().words[:6000] if word.isalpha()]
    chance = random.Random(0)
    pairs = {f"{chance.choice(words)} {chance.choice(words)}": 0.0 for _ in range(2500)}
    return {key: float(i % 97) for i, key in enumerate([*words[:4000], *pairs])}


def test_among_thousands_probabilities_are_nearly_those_of_a_comparison_with_all(
    engine: str, many: dict[str, float]
) -> None:
    d = FuzzyDict(many, index=engine, score_cutoff=0.0)
    all_keys = compared(d)
    keys = list(many)[500::400]
    queries = [key[:3] + "x" + key[3:] for key in keys] + ["ocean voyage", "hue", "qwzzt", "colour"]
    next_best = 0
    for query in queries:
        found, expected = d.nearest(query), all_keys.nearest(query)
        assert found.key == expected.key
        assert found.score == pytest.approx(expected.score, rel=SHARE)
        told, wanted = d.explain(query), all_keys.explain(query)
        assert told.none == pytest.approx(wanted.none, rel=SHARE)
        next_best += told.runner_up.key == wanted.runner_up.key
    assert next_best >= 0.8 * len(queries)
    assert d.nearest(keys[0]).score == 1.0
    assert [match.key for match in d.nearest(queries)] == [d.nearest(q).key for q in queries]


@pytest.mark.parametrize("scorer", SCORERS)
def test_attention_is_that_over_all_keys_but_for_what_it_says_it_left_out(
    engine: str, many: dict[str, float], scorer: str | None
) -> None:
    d = FuzzyDict(many, index=engine, scorer=scorer, score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in ("ocean voyage", "colour", "government"):
        found, whole = d.attend(query), all_keys.attend(query)
        assert MOST <= len(found.names) < len(many)
        weight = dict(zip(whole.names, whole.weights, strict=True))
        kept = sum(weight[name] for name in found.names)
        assert 1 - kept <= found.left_out * (1 + 1e-3) < 1
        assert found.weights.sum() == pytest.approx(1)
        shares = [weight[name] / kept for name in found.names]
        np.testing.assert_allclose(found.weights, shares, rtol=2e-3, atol=1e-9)
        order = {name: i for i, name in enumerate(many)}
        assert [order[name] for name in found.names] == sorted(order[n] for n in found.names)
        assert "keys that were not found would have had" in str(found)
        assert found.output == d.pool(query)


def test_with_a_mask_all_keys_are_compared(engine: str, many: dict[str, float]) -> None:
    d = FuzzyDict(many, index=engine)
    found = d.attend("ocean", attn_mask=lambda key: key.startswith("s"))
    assert len(found.names) == len(many)
    assert found.left_out == 0
    assert sum(found.weights > 0) == sum(key.startswith("s") for key in many)
    other = compared(d).attend("ocean", attn_mask=lambda key: key.startswith("s"))
    np.testing.assert_allclose(found.weights, other.weights, rtol=1e-3)


def test_longer_lists_than_an_engine_is_asked_for_are_of_all_keys(
    engine: str, many: dict[str, float]
) -> None:
    d = FuzzyDict(many, index=engine, scorer="cosine")
    assert len(d.most_similar("ocean", None)) == len(many)
    assert len(d.most_similar("ocean", MOST + 1)) == MOST + 1
    found = {match.key for match in d.most_similar("ocean", MOST)}
    assert len(found) == MOST
    expected = {match.key for match in compared(d).most_similar("ocean", MOST)}
    assert len(found & expected) > 0.98 * MOST
