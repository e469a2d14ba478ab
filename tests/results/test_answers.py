"""What reads return: attention as text, and matches and attention in notebooks."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from fuzzydict import Attention, FuzzyDict, Match
from fuzzydict.results.answers import Matches
from tests.results.test_tables import Table

CAR = {"top speed": 260.0, "speed": 1.0, "color": 2.0}
TWO = {"color": "black", "top speed": 260}


def shown(what: Any) -> str:
    page: str = what._repr_html_()
    return page


def rows(what: Any) -> list[list[str]]:
    return Table(shown(what)).rows


def test_top_and_the_bar_chart_are_the_best_keys_with_weights_and_values() -> None:
    a: Attention = FuzzyDict(CAR).attend("top speed")
    top = a.top(2)
    assert [(key, value) for key, _, value in top] == [("top speed", 260.0), ("speed", 1.0)]
    assert [weight for _, weight, _ in top] == sorted(a.weights.tolist(), reverse=True)[:2]
    assert len(a.top()) == 3
    title, first, second, *_ = str(a).splitlines()
    assert title == "attention of 'top speed'"
    assert re.match(r"  top speed +[\d.]+% █+ +260\.0$", first)
    assert first.count("█") > second.count("█")
    text = str(FuzzyDict({f"key {i}": i for i in range(25)}).attend("key"))
    assert len(text.splitlines()) == 13
    assert "15 more keys" in text
    lines = str(FuzzyDict({"a" * 500: "x" * 500, "b\nc": "d\te"}).attend("a")).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) < 120


def test_attention_says_how_many_keys_it_mixes_and_how_likely_none_is_right() -> None:
    vectors = {"a": [1.0, 0, 0], "b": [0, 1.0, 0], "c": [0, 0, 1.0], "d": [1.0, 1.0, 0]}
    d = FuzzyDict(dict.fromkeys("abc", 1.0), embedding=vectors, scorer="dot")
    for temperature, query, count in ((1e-3, "a", 1), (1e-3, "d", 2), (1e3, "a", 3)):
        d.temperature = temperature
        assert d.attend(query).effective_keys == pytest.approx(count, abs=1e-3)
        assert d.attend(query).none is None  # these scores are no probabilities
        assert str(d.attend(query)).endswith("keys in effect")
    for scorer in (None, "spelling"):
        car = FuzzyDict(CAR, scorer=scorer)
        for query in ("top_sped", "elephant", "colours"):
            a, e = car.attend(query), car.explain(query)
            assert a.none == pytest.approx(e.none, abs=1e-6)
            assert f"none is right with {e.none:.1%}" in str(a)
            assert f"{a.effective_keys:.1f} keys in effect" in shown(a)
    assert car.attend("top_sped", attn_mask=lambda key: key == "color").none < 0.5
    assert car.attend("xqzzt").none > 0.5


def test_matches_are_a_table() -> None:
    best = [Match("color", "black", 0.9), Match("top speed", 260, 0.05)]
    assert rows(Matches(best)) == [
        ["key", "score", "value"],
        ["color", "0.900", "black"],
        ["top speed", "0.050", "260"],
    ]
    assert rows(best[0]) == rows(Matches(best))[:2]
    assert "no matches" in shown(Matches())
    d = FuzzyDict({"a": 1, "b": 2}, embedding={"a": [3.0, 0], "b": [0, 1.0]}, scorer="dot")
    assert "gradient" not in shown(d.most_similar("a"))  # no bars for what are no probabilities


def test_matches_are_a_list() -> None:
    d = FuzzyDict(TWO)
    found = d.most_similar("colour")
    assert isinstance(found, list)
    assert (found, repr(found)) == (list(found), repr(list(found)))
    assert isinstance(found[0], Match)
    assert isinstance(found[:1], Matches)
    assert found[:1] == [found[0]]
    for one in (found, d.nearest("colour"), d.nearest(["colour"])):
        assert "<caption>matches of &#x27;colour&#x27;</caption>" in shown(one)
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert again == found
        assert isinstance(again, Matches)


def test_a_query_that_matches_nothing_has_a_row() -> None:
    d = FuzzyDict(TWO)
    queries = ["qwzzt", "colour", "?!", "topSpeed", "xqq"]
    found = d.nearest(queries, default=None)
    keys = ["no match", "color", "no match", "top speed", "no match"]
    expected = [list(row) for row in zip(queries, keys, strict=True)]
    assert [row[:2] for row in rows(found)[1:]] == expected
    for part in (slice(2), slice(1, 4), slice(None, None, -1)):
        assert [row[:2] for row in rows(found[part])[1:]] == expected[part]
    assert found[2:].unmatched == ("?!", "xqq")
    found.pop(0)  # the queries of the others are not known any more
    assert [row[:2] for row in rows(found)[1:3]] == [["colour", "color"], ["None", "no match"]]
    assert rows(d.nearest(["qwzzt"], default="?"))[1] == ["no match", "", "?"]


def test_the_best_matches_of_several_queries_are_one_table() -> None:
    d = FuzzyDict({**TWO, "price": 1, "brand": "Porsche"})
    found = d.most_similar(["colour", "topSpeed"])
    table = rows(found)
    assert table[0] == ["query", "key", "score", "value"]
    assert [row[0] for row in table[1:]] == ["colour", "", "", "topSpeed", "", ""]
    assert [table[1][1], table[4][1]] == ["color", "top speed"]
    assert "the best 3 of each query" in shown(found)
    assert "of each query" not in shown(d.most_similar(["colour", "topSpeed"], topn=3))


def test_the_attention_of_several_queries_is_a_table_of_weights() -> None:
    d = FuzzyDict(dict.fromkeys(["red", "navy", *(f"key {i}" for i in range(20))], 1.0))
    table = rows(d.attend(["rde", "nvy"]))
    assert [row[0] for row in table] == ["query", "rde", "nvy"]
    assert table[0][-2:] == ["other keys", "none is right"]
    assert len(table[0]) == 11
    for row in table[1:]:
        (attention,) = d.attend([row[0]])
        weight_of = dict(zip(attention.names, attention.weights, strict=True))
        expected = [weight_of[name] for name in table[0][1:9]]
        expected += [1 - sum(expected), attention.none]
        assert row[1:] == [f"{max(share, 0):.1%}" for share in expected]
    of_vectors = FuzzyDict({"red": 1.0, "navy": 2.0}, scorer="cosine").attend(["red", "navy"])
    assert rows(of_vectors)[0][-1] == "other keys"


def test_of_very_many_results_the_first_are_shown() -> None:
    d = FuzzyDict({"color": 1.0, "top speed": 2.0})
    queries = [f"colour {i}" for i in range(60)]
    for found, count, note in (
        (d.nearest(queries, default=None), 50, "and 10 more matches"),
        (d.most_similar(queries, topn=1), 20, "and 40 more queries"),
        (d.attend(queries), 20, "and 40 more queries"),
        (d.explain(queries), 50, "and 10 more queries"),
    ):
        assert len(rows(found)) == 1 + count
        assert f"<p>{note}</p>" in shown(found)
