"""Why a query finds a key: the numbers are those of the lookup, and the text can be read."""

from __future__ import annotations

import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Explanation, FuzzyDict, Match, NoMatchError
from tests.results.test_tables import rows_of
from tests.support.properties import examples
from tests.support.searching import assert_same

CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": 109000, 5: "five", "?!": 0}
AXES = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "violet": [0.6, 0.8]}
QUERIES = ["colour", "topSpeed", "maximum speed", "cost", "qwzzt", "spede", "the brandd"]


def explain(query: Any, data: dict[Any, Any] = CAR, **options: Any) -> Any:
    found: Explanation = FuzzyDict(data, **options).explain(query)
    return found


def function(texts: list[str]) -> Any:
    """Encode texts as other people's models do: without a word about words."""
    return np.array([[len(text), text.count("e"), 1] for text in texts])


@pytest.mark.parametrize("embedding", [None, function])
@pytest.mark.parametrize("query", QUERIES)
def test_the_numbers_are_those_of_the_lookup_and_add_up(query: str, embedding: Any) -> None:
    d = FuzzyDict(CAR, embedding=embedding)
    e = d.explain(query)
    assert_same([e.best, e.runner_up], d.most_similar(query, topn=2))
    assert e.margin == e.best.score - e.runner_up.score
    assert e.matches == (d.get(query) is not None)
    assert (e.equal, e.query) == (False, query)
    for match, parts in ((e.best, e.best_parts), (e.runner_up, e.runner_up_parts)):
        probability = 1 / (1 + math.exp(-parts.log_odds))
        assert match.score == pytest.approx(probability, rel=1e-3, abs=1e-9)
        assert parts.log_odds == pytest.approx(sum(parts[:6]))
        assert parts.rivals <= 1e-3 or match is e.runner_up
    every = sum(match.score for match in d.most_similar(query, topn=None))
    assert every + e.none == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("scorer", "end"), [(None, "the cutoff is 0.020"), ("cosine", "no cutoff")]
)
def test_a_dict_that_pools_explains_its_own_cutoff(scorer: str | None, end: str) -> None:
    d = FuzzyDict({"red": 1.0, "navy": 2.0, "sea green": 3.0}, mode="pool", scorer=scorer)
    d.aliases["zip"], e = "navy", d.explain("scarlet")
    assert (e.pools, e.matches, e.best.key) == (True, True, "red")
    assert re.match("'scarlet' gives the pooled value; 'red' weighs most, with score", str(e))
    assert str(e).splitlines()[0].endswith(end)
    odd = "xylophone"
    assert d.explain(odd).matches == (d.get(odd) is not None) == (scorer is not None)
    assert "another name of 'navy'" in str(d.explain("zip"))
    assert ("an equal key decides" in str(d.explain("navy"))) == (scorer is None)


@given(st.lists(st.text("ab C"), min_size=1, max_size=6, unique=True), st.text("ab C"))
@examples(30)
def test_it_explains_what_nearest_finds_and_raises_as_it_does(keys: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1), score_cutoff=-1)
    try:
        best = d.nearest(query)
    except NoMatchError as error:
        with pytest.raises(NoMatchError) as raised:
            d.explain(query)
        assert raised.value.message == error.message  # noqa: PT017 - of the two errors, the same
        return
    e = d.explain(query)
    assert e.best.key == best.key
    assert e.best.score == pytest.approx(best.score, abs=1e-4)
    assert e.matches
    assert e.equal == (query in d)


def test_a_key_that_stands_alone_has_no_margin() -> None:
    alone = explain("colour", {"color": 1})
    assert (alone.runner_up, alone.runner_up_parts, alone.margin) == (None, None, None)
    assert alone.best.score + (alone.none or 0) == pytest.approx(1)
    assert "margin" not in str(alone)


def test_words_are_known_or_another_stands_in_for_them() -> None:
    known, unknown, nothing, code = explain("top coluor zqxjkvw 747x").words
    assert known == ("top", True, None, 1.0)
    assert (unknown.text, unknown.known, unknown.stand_in) == ("coluor", False, "color")
    assert 0 < unknown.trust < 1
    for word in (nothing, code):
        assert (word.known, word.stand_in, word.trust) == (False, None, 0.0)
    beside = explain("top coluor", embedding=function)
    assert not beside.tells_words
    assert [word[:3] for word in beside.words] == [("top", True, None), ("coluor", False, "color")]
    assert "the encoder compares whole texts" in str(beside)


def test_an_equal_key_decides_and_a_query_below_the_cutoff_is_explained() -> None:
    e = explain("color")
    assert (e.equal, e.matches, e.best) == (True, True, Match("color", "black", 1.0))
    assert e.best_parts is not None
    assert e.best_parts.likeness == 1
    assert str(e).startswith("'color' is a key, and an equal key decides")
    query: Any
    for query in (5, "?!"):  # which is compared with nothing
        e = explain(query)
        assert (e.best, e.runner_up, e.none) == (Match(query, CAR[query], 1.0), None, None)
        assert (e.equal, e.matches, e.words) == (True, True, ())
        assert str(e).startswith(f"{query!r} is a key")
    e = explain("colour", score_cutoff=1)
    assert (e.best.key, e.matches, e.cutoff) == ("color", False, 1)
    assert "finds nothing" in str(e)
    assert "below the cutoff 1.000" in str(e)
    assert explain("colour", score_cutoff=e.best.score - 1e-5).matches
    assert str(pickle.loads(pickle.dumps(e))) == str(e)
    assert repr(e) == "<Explanation of 'colour': best 'color'>"


def test_a_named_scorer_has_scores_and_no_parts() -> None:
    d = FuzzyDict({"red": 1.0, "blue": 3.0}, embedding=AXES, scorer="dot")
    e = d.explain("violet")
    assert [e.best, e.runner_up] == d.most_similar("violet")
    assert (e.best_parts, e.runner_up_parts, e.none, e.matches) == (None, None, None, True)
    assert "there is no cutoff" in str(e)
    # It may prefer another key to the equal one.
    vectors = {"small": [1.0, 0.0], "large": [9.0, 1.0]}
    e = explain("small", {"large": 1, "small": 2}, embedding=vectors, scorer="dot")
    assert (e.best.key, e.runner_up.key, e.margin) == ("small", "large", -8)
    assert (e.equal, e.matches) == (True, True)


@pytest.mark.parametrize("query", [*QUERIES, "w " * 100, "x" * 5000, "a\nb\tc"])
def test_the_text_is_short(query: str) -> None:
    lines = str(explain(query, {**CAR, "k" * 500: 1, "c\nd": 2})).splitlines()
    assert len(lines) <= 15
    assert max(map(len, lines)) < 170


def test_the_explanations_of_several_queries_are_a_list_and_one_table() -> None:
    d = FuzzyDict({**CAR, "only": 1})
    d.aliases.update({"hue": "color", "zip": None})
    queries = ["colour", "color", "hue", "zip", "qwzzt", 5]
    several = d.explain(queries)
    assert list(map(str, several)) == [str(d.explain(query)) for query in queries]
    assert d.explain([]) == []
    rows = rows_of(several._repr_html_())
    assert rows[0] == ["query", "", "best key", "score", "runner-up", "score", "none of the keys"]
    kinds = ["match", "equal key", "taught: match", "taught: no match", "no match", "equal key"]
    assert [row[1] for row in rows[1:]] == kinds
    e = d.explain("colour")
    assert rows[1][2:] == [
        *(e.best.key, f"{e.best.score:.3f}"),
        *(e.runner_up.key, f"{e.runner_up.score:.3f}", f"{e.none:.3f}"),
    ]
