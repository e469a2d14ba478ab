"""`attend(topn=)`: attention over the best keys alone, beside that over all keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import ArgumentTypeError, Attention, FuzzyDict, NoMatchError, OptionError
from fuzzydict.search.lookup import MOST
from tests.support.searching import needs_usearch

KEYS = ["red", "dark red", "navy", "blue", "sky blue", "green", "grey", "color of the sky", "red 2"]
ITEMS = {key: float(i) for i, key in enumerate(KEYS)}
QUERIES = ["violet", "rde", "red", "blue sky", "qwzzt"]


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
    topn=st.integers(1, 12),
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
    assert_cut(d.attend(query, topn=topn), d.attend(query), topn)


def test_of_equal_scores_the_first_in_the_dict_are_kept() -> None:
    vectors = {"one": [1.0, 0.0], "two": [1.0, 0.0], "three": [1.0, 0.0], "four": [0.0, 1.0]}
    for order in (["one", "two", "three", "four"], ["four", "three", "one", "two"]):
        d = FuzzyDict(dict.fromkeys(order, 1.0), embedding=vectors, scorer="dot")
        found = d.attend("two", topn=2)
        assert found.names == [key for key in order if key != "four"][:2]
        assert found.weights.tolist() == [0.5, 0.5]
        assert_cut(found, d.attend("two"), 2)


def test_a_mask_is_applied_before_the_best_are_chosen() -> None:
    d = FuzzyDict(ITEMS)
    mask = [key not in ("red", "dark red") for key in ITEMS]
    for given_mask in (mask, lambda key: key not in ("red", "dark red")):
        found = d.attend("rde", attn_mask=given_mask, topn=3)
        assert_cut(found, d.attend("rde", attn_mask=given_mask), 3)
        assert not {"red", "dark red"}.intersection(found.names)
    # Fewer keys may be attended to than are wanted: the others weigh nothing.
    found = d.attend("rde", attn_mask=lambda key: key == "navy", topn=3)
    assert dict(zip(found.names, found.weights.tolist(), strict=True))["navy"] == 1.0
    assert found.left_out == pytest.approx(0, abs=1e-12)
    with pytest.raises(NoMatchError, match="nothing to attend to"):
        d.attend("rde", attn_mask=[False] * len(d), topn=3)


@pytest.mark.parametrize("mode", ["nearest", "pool"])
def test_each_query_of_a_list_has_best_keys_of_its_own(mode: Any) -> None:
    d = FuzzyDict(ITEMS, mode=mode)
    found = d.attend(QUERIES, topn=2)
    assert [one.text for one in found] == QUERIES
    for one, query in zip(found, QUERIES, strict=True):
        assert_cut(one, d.attend(query), 2)
        names, shares, left_out = cut(d.attend(query), 2)
        assert one.output == pytest.approx(
            np.dot([ITEMS[name] for name in names], shares), rel=1e-4
        )
        told = f"  all other keys would have had {left_out:.1%} at most"
        assert (told in str(one).splitlines()) == (f"{left_out:.1%}" != "0.0%")
    assert d.attend([], topn=2) == []


def test_with_as_many_keys_as_there_are_or_more_nothing_is_left_out() -> None:
    items: dict[Any, float] = {**ITEMS, 5: 1.0, "?": 2.0}
    d = FuzzyDict(items)  # the last two are not compared
    topns: list[Any] = [len(ITEMS), len(ITEMS) + 1, 10**9, np.int64(2000)]
    for topn in topns:
        found = d.attend("violet", topn=topn)
        assert (found.names, found.left_out) == (list(ITEMS), 0)
        np.testing.assert_array_equal(found.weights, d.attend("violet").weights)


@pytest.mark.parametrize(
    ("topn", "kind"),
    [(0, OptionError), (-1, OptionError), *((w, ArgumentTypeError) for w in ("3", True, 2.5, [3]))],
)
def test_what_is_no_whole_number_of_1_or_more_is_refused(topn: Any, kind: type[Exception]) -> None:
    for queries in ("violet", ["violet"], []):
        with pytest.raises(kind, match="topn must be a whole number"):
            FuzzyDict(ITEMS).attend(queries, topn=topn)


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@needs_usearch
@pytest.mark.parametrize("scorer", [None, "cosine"])
def test_among_thousands_what_is_left_out_is_never_less_than_it_is(scorer: str | None) -> None:
    words = ["red", "blue", "navy", "green", "old", "new", "large", "small", "fast", "slow", "warm"]
    keys = [f"{a} {b} {c}" for a in words for b in words for c in words] + KEYS
    assert len(keys) > MOST
    items = {key: float(i) for i, key in enumerate(keys)}
    d, exact = FuzzyDict(items, index="usearch", scorer=scorer), FuzzyDict(items, scorer=scorer)
    for query in ("violet", "old navy", "rde"):
        whole = exact.attend(query)
        weight = dict(zip(whole.names, whole.weights.tolist(), strict=True))
        for topn in (1, 20, MOST, MOST + 1):
            found = d.attend(query, topn=topn)
            assert len(found.names) == topn
            assert found.weights.sum() == pytest.approx(1)
            kept = sum(weight[name] for name in found.names)
            assert 1 - kept <= found.left_out * (1 + 1e-3) + 1e-6
            assert found.left_out <= 1
            shares = [weight[name] / kept for name in found.names]
            np.testing.assert_allclose(found.weights, shares, rtol=2e-3, atol=1e-6)
    assert len(d.attend(["old navy", "rde"], topn=5)[1].names) == 5
