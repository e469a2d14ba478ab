"""From queries to keys: which come first, which win, and when there is none."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fuzzydict import (
    ArgumentTypeError,
    Boxcar,
    Brown,
    FuzzyDict,
    Match,
    NoMatchError,
    OptionError,
    PoolingError,
    ShapeError,
)
from fuzzydict.search import lookup
from fuzzydict.search.lookup import MOST
from tests.support.searching import SCORERS, assert_same, compared, needs_usearch


def test_most_similar_is_sorted_and_cut() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "colors", "collar", "dolor", "brand"], 1))
    ranked = d.most_similar("colour", topn=None)
    assert len(ranked) == 5
    assert [m.score for m in ranked] == sorted((m.score for m in ranked), reverse=True)
    assert d.most_similar("colour", topn=2) == ranked[:2]
    two: Any = np.int64(2)
    assert d.most_similar("colour", topn=two) == ranked[:2]
    assert d.most_similar("colour", topn=0) == []
    assert d.most_similar("colour")[0].key == d.nearest("colour").key == "color"
    for topn in (1.5, "3"):
        with pytest.raises(ArgumentTypeError, match="topn"):
            d.most_similar("colour", topn=topn)  # type: ignore[arg-type]
    with pytest.raises(
        OptionError, match="topn must be a whole number of 0 or more, or None, got -1"
    ):
        d.most_similar("colour", topn=-1)


def test_the_query_itself_comes_first_then_the_dicts_order() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "Color", "COLOR"], 1))
    assert [m.key for m in d.most_similar("COLOR")] == ["COLOR", "color", "Color"]
    assert d.nearest("COLOR").key == "COLOR"


@pytest.mark.parametrize("before", range(9))
def test_the_writing_decides_among_keys_of_equal_words_wherever_they_are(before: int) -> None:
    others = ["brand", "price", "top speed", "engine", "motor", "model", "year", "owner"][:before]
    assert FuzzyDict({"5 °C": 4, "-5 °C": 5})["- 5 °c"] == 5
    for keys in permutations(["C#", "C++", "C"]):
        d = FuzzyDict(dict.fromkeys([*others, *keys], 1))
        found = [d.most_similar(query, topn=3) for query in ("c", "c #", "c++")]
        assert [row[0].key for row in found] == ["C", "C#", "C++"]
        assert [d.nearest(query).key for query in ("c", "c #", "c++")] == ["C", "C#", "C++"]


def test_an_equal_key_wins_whatever_a_scorer_thinks_of_it() -> None:
    embedding = {"small": [1.0, 0.0], "large": [9.0, 1.0]}
    d = FuzzyDict({"large": 1, "small": 2}, embedding=embedding, scorer="dot")
    assert d.nearest("small") == Match("small", 2, 1.0)
    assert d["small"] == 2
    assert [m.key for m in d.most_similar("small")] == ["large", "small"]


def test_pooling_takes_the_same_key_for_the_best_as_nearest() -> None:
    d = FuzzyDict({"C#": 1.0, "C++": 2.0}, score_cutoff=float("inf"))
    assert d.pool(["C#", "C++"]).round(3).tolist() == [1.0, 2.0]  # of equal words
    with pytest.raises(NoMatchError, match="cutoff inf"):
        d.pool("c")


def test_a_kernel_too_narrow_for_every_key_finds_none() -> None:
    axes = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "grey": [0.6, 0.6]}
    d = FuzzyDict({"red": 0.0, "blue": 1.0}, embedding=axes, scorer=Boxcar(0.1))
    for read in (d.attend, d.pool):
        with pytest.raises(NoMatchError, match="nothing to attend to"):
            read("grey")
    with pytest.raises(NoMatchError, match=r"'grey': every key is farther.*; widen the scorer"):
        d["grey"]
    assert d.get("grey", "none") == "none"
    assert (d["red"], d.pool("red")) == (0.0, 0.0)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_scores_of_no_number_are_refused(wrong: float) -> None:
    def scorer(query: Any, key: Any) -> Any:
        scores = query @ key.T
        scores[:, 0] = wrong
        return scores

    d = FuzzyDict({"red": 1.0, "blue": 2.0}, scorer=scorer)
    for read in (d.nearest, d.most_similar, d.attend, d.pool):
        with pytest.raises(ShapeError, match=r"not NaN.*look at the scorer"):
            read("grey")


def test_no_queries_have_no_answers() -> None:
    def encode(texts: list[str]) -> Any:
        return np.array([[len(text), 1] for text in texts])  # (0,) for no texts

    some = FuzzyDict({"red": (1, 2), "blue": (3, 4)}, embedding=encode)
    for d in (some, FuzzyDict[Any](), FuzzyDict({1: 2})):
        assert (d.nearest([]), d.most_similar([]), d.attend([])) == ([], [], [])
    assert some.pool([]).shape == (0, 2)
    with pytest.raises(NoMatchError, match="no key of the dict"):  # whose shape could be told
        FuzzyDict[Any]().pool([])


def test_queries_that_are_scored_a_few_at_a_time_find_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = FuzzyDict(dict.fromkeys(["color", "brand", "speed"], 1), score_cutoff=float("-inf"))
    queries = ["colour", "brnad", "speeed", "hue", "color"]
    for scorer in (None, "cosine", "dot"):
        d.scorer = scorer
        at_once = [match for row in d.most_similar(queries, 3) for match in row]
        with monkeypatch.context() as patched:
            patched.setattr(lookup, "SCORES", 7)  # two queries over three keys
            in_turn = [match for row in d.most_similar(queries, 3) for match in row]
            assert [match.key for match in d.nearest(queries)] == [m.key for m in at_once[::3]]
        assert [match.key for match in in_turn] == [match.key for match in at_once]
        np.testing.assert_allclose(
            [m.score for m in in_turn], [m.score for m in at_once], rtol=1e-4
        )
        assert d.nearest([]) == d.most_similar([]) == []


def test_cosines_by_known_lengths_are_those_of_the_scorer() -> None:
    axes = {"huge": [3e20, 4e20], "zero": [0.0, 0.0], "one": [1.0, 0.0], "ask": [3.0, 4.0]}
    d = FuzzyDict({"huge": 1, "zero": 2, "one": 3}, embedding=axes, scorer="cosine")
    found = {match.key: match.score for match in d.most_similar("ask")}
    assert found == pytest.approx({"huge": 1.0, "zero": 0.0, "one": 0.6})
    del d["huge"]
    d.embedding = axes | {"ask": [3e20, 4e20]}
    with pytest.raises(ShapeError, match="too large"):
        d["ask"]


# ---- a few keys among millions ---------------------------------------------------------------

CAR = ["brand", "color", "top speed", "price", "engine power", "seats", "C#", "C++", "year 1961"]
QUERIES = ["colour", "maximum speed", "topSpeed", "c", "year 1962", "cost", "qwzzt", "brand"]
SHARE = 0.03  # by which a probability may be off where there are thousands of keys


@needs_usearch
def test_values_of_unlike_kinds_are_not_pooled_though_no_query_finds_both() -> None:
    def encode(texts: list[str]) -> list[list[float]]:
        slight = [sum(map(ord, text)) % 97 / 1e4 for text in texts]
        return [[1, x] if text[0] == "a" else [x, 1] for text, x in zip(texts, slight, strict=True)]

    items = {f"a{i}": 1.0 for i in range(2000)} | {f"b{i}": [1.0, 2.0] for i in range(2000)}
    d = FuzzyDict(items, embedding=encode, scorer="cosine", index="usearch")
    assert d.pool(["ax", "ay"]) == pytest.approx([1.0, 1.0])
    with pytest.raises(PoolingError, match="values can only be pooled if all have one shape"):
        d.pool(["ax", "bx"])


# ---- few keys: all are found ----------------------------------------------------------------


@needs_usearch
@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize("scorer", SCORERS)
def test_every_read_of_few_keys_is_that_of_a_comparison_with_all(scorer: str | None) -> None:
    items = {key: float(i) for i, key in enumerate(CAR)}
    d = FuzzyDict(items, scorer=scorer, index="usearch", score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in QUERIES:
        assert_same(d.most_similar(query, 5), all_keys.most_similar(query, 5))
        assert d[query] == d.get(query) == all_keys[query] == all_keys.nearest(query).value
        one, other = d.attend(query), all_keys.attend(query)
        assert one.names == other.names
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-3)
        assert one.left_out == other.left_out == 0
        assert str(d.explain(query)) == str(all_keys.explain(query))
    assert_same(d.nearest(QUERIES), all_keys.nearest(QUERIES))
    rows = d.most_similar(QUERIES, None), all_keys.most_similar(QUERIES, None)
    for row, expected in zip(*rows, strict=True):
        assert_same(row, expected)
    np.testing.assert_allclose(d.pool(QUERIES), all_keys.pool(QUERIES), rtol=1e-3)
    assert (d.nearest([]), d.most_similar([]), d.attend([])) == ([], [], [])
    assert d.pool([]).shape == (0,)


# ---- thousands of keys ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> dict[str, float]:
    words = [word for word in Brown().words[:6000] if word.isalpha()]
    chance = random.Random(0)
    pairs = {f"{chance.choice(words)} {chance.choice(words)}": 0.0 for _ in range(2500)}
    return {key: float(i % 97) for i, key in enumerate([*words[:4000], *pairs])}


@needs_usearch
def test_among_thousands_probabilities_are_nearly_those_of_a_comparison_with_all(
    many: dict[str, float],
) -> None:
    d = FuzzyDict(many, index="usearch", score_cutoff=0.0)
    all_keys = compared(d)
    keys = list(many)[500::400]
    queries = [key[:3] + "x" + key[3:] for key in keys] + ["ocean voyage", "hue", "qwzzt", "colour"]
    next_best = 0
    for query in queries:
        found, expected = d.nearest(query), all_keys.nearest(query)
        assert found.key == expected.key
        assert found.score == pytest.approx(expected.score, rel=SHARE)
        told, wanted = d.explain(query), all_keys.explain(query)
        assert told.none == pytest.approx(wanted.none, rel=SHARE, abs=1e-3)
        next_best += told.runner_up.key == wanted.runner_up.key
    assert next_best >= 0.8 * len(queries)
    assert d.nearest(keys[0]).score == 1.0
    assert [match.key for match in d.nearest(queries)] == [d.nearest(q).key for q in queries]


@needs_usearch
@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize("scorer", SCORERS)
def test_attention_is_that_over_all_keys_but_for_what_it_says_it_left_out(
    many: dict[str, float], scorer: str | None
) -> None:
    d = FuzzyDict(many, index="usearch", scorer=scorer, score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in ("ocean voyage", "colour", "government"):
        found, whole = d.attend(query), all_keys.attend(query)
        assert MOST <= len(found.names) < len(many)
        weight = dict(zip(whole.names, whole.weights, strict=True))
        kept = sum(weight[name] for name in found.names)
        assert 1 - kept <= found.left_out * (1 + 1e-3) + 1e-12 < 1
        assert found.weights.sum() == pytest.approx(1)
        shares = [weight[name] / kept for name in found.names]
        np.testing.assert_allclose(found.weights, shares, rtol=2e-3, atol=1e-9)
        assert found.names == [name for name in many if name in set(found.names)]
        assert "all other keys would have had" in str(found)
        assert found.output == d.pool(query)
    masked = [one.attend("ocean", attn_mask=lambda key: key[0] == "s") for one in (d, all_keys)]
    assert (len(masked[0].names), masked[0].left_out) == (len(many), 0)
    np.testing.assert_allclose(masked[0].weights, masked[1].weights, rtol=1e-3)


@needs_usearch
def test_longer_lists_than_an_engine_is_asked_for_are_of_all_keys(many: dict[str, float]) -> None:
    d = FuzzyDict(many, index="usearch", scorer="cosine")
    assert len(d.most_similar("ocean", None)) == len(many)
    assert len(d.most_similar("ocean", MOST + 1)) == MOST + 1
    found = {match.key for match in d.most_similar("ocean", MOST)}
    assert len(found) == MOST
    expected = {match.key for match in compared(d).most_similar("ocean", MOST)}
    assert len(found & expected) > 0.95 * MOST


def test_equal_queries_of_a_list_are_encoded_once() -> None:
    encoded: list[str] = []

    def encode(texts: list[str]) -> Any:
        encoded.extend(texts)
        return [[float(len(text)), 1.0] for text in texts]

    d = FuzzyDict({"color": 1, "brand": 2}, embedding=encode, score_cutoff=0)
    asked = [f"colour {i % 400}" for i in range(1200)]
    found = d.nearest(asked)
    assert sorted(encoded) == sorted(["color", "brand", *dict.fromkeys(asked)])
    assert [match.query for match in found] == asked


def test_new_queries_and_more_remembered_ones_than_are_kept_are_answered() -> None:
    known, new = ([f"{word} {i}" for i in range(200)] for word in ("colour", "brnd"))
    d = FuzzyDict({"color": 1, "brand": 2})
    d.get_many(known)
    assert len(d.get_many([*new, *known])) == len(new) + len(known)
