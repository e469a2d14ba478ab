"""From queries to keys: which come first, which win, and when there is none."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, Boxcar, FuzzyDict, Match, NoMatchError, ShapeError
from fuzzydict.search import lookup


def test_most_similar_is_sorted_and_cut() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "colors", "collar", "dolor", "brand"], 1))
    ranked = d.most_similar("colour", topn=None)
    assert len(ranked) == 5
    assert [m.score for m in ranked] == sorted((m.score for m in ranked), reverse=True)
    assert d.most_similar("colour", topn=2) == ranked[:2]
    two: Any = np.int64(2)
    assert d.most_similar("colour", topn=two) == ranked[:2]
    assert d.most_similar("colour", topn=0) == []
    assert d.most_similar("colour")[0] == d.nearest("colour")
    for topn in (-1, 1.5, "3"):
        with pytest.raises(ArgumentTypeError, match="topn"):
            d.most_similar("colour", topn=topn)  # type: ignore[arg-type]


def test_of_equals_the_query_itself_comes_first_then_the_dicts_order() -> None:
    d = FuzzyDict(dict.fromkeys(["Color", "COLOR", "color", "cOLOR"], 1))
    assert [m.key for m in d.most_similar("COLOR", topn=4)] == [
        *("COLOR", "cOLOR", "Color", "color")  # those after the first are written the less like it
    ]
    assert d.nearest("COLOR").key == "COLOR"
    assert d.nearest("co-lor").key == "color"  # written most like it


def test_keys_of_equal_words_are_told_apart_by_how_they_are_written() -> None:
    d = FuzzyDict({"C++": 1, "C#": 2, "C": 3, "5 °C": 4, "-5 °C": 5})
    assert [match.value for match in d.nearest(["c", "c#", "c++", "- 5 °c"])] == [3, 2, 1, 5]
    assert d.most_similar("c#", topn=3)[0].key == "C#"


@pytest.mark.parametrize("before", range(9))
def test_that_vectors_are_rounded_parts_no_keys_of_equal_words(before: int) -> None:
    others = ["brand", "price", "top speed", "engine", "motor", "model", "year", "owner"][:before]
    for keys in permutations(["C#", "C++", "C"]):
        d = FuzzyDict(dict.fromkeys([*others, *keys], 1))
        found = [d.most_similar(query, topn=3) for query in ("c", "c #", "c++")]
        assert [row[0].key for row in found] == ["C", "C#", "C++"]
        assert all(len({match.score for match in row}) == 1 for row in found)


def test_an_equal_key_wins_whatever_a_scorer_thinks_of_it() -> None:
    embedding = {"small": [1.0, 0.0], "large": [9.0, 1.0]}
    d = FuzzyDict({"large": 1, "small": 2}, embedding=embedding, scorer="dot")
    assert d.nearest("small") == Match("small", 2, 1.0)
    assert d["small"] == 2
    assert [m.key for m in d.most_similar("small")] == ["large", "small"]


def test_pooling_takes_the_same_key_for_the_best_as_nearest() -> None:
    d = FuzzyDict({"C#": 1.0, "C++": 2.0}, score_cutoff=float("inf"))
    assert d.pool(["C#", "C++"]).tolist() == [1.5, 1.5]  # of equal words
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
    with pytest.raises(NoMatchError, match="the dict has no key"):  # whose shape could be told
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
            patched.setattr(lookup, "_SCORES", 7)  # two queries over three keys
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


def test_a_named_scorer_indexes_no_ngrams_until_the_default_one_asks() -> None:
    d = FuzzyDict({"color": 1, "brand": 2}, scorer="cosine")
    assert d["colour"] == 1
    assert d._index is not None
    assert d._index._ngrams._parts == []
    d.scorer = None
    assert d["colour"] == 1
    assert [part.size for part in d._index._ngrams._parts] == [2]
