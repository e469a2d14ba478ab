"""Cutoffs of single reads, and many queries at once."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import (
    ArgumentTypeError,
    DoubtfulPoolWarning,
    FuzzyDict,
    Match,
    NoMatchError,
)
from tests.support.properties import examples
from tests.support.recording import Recording
from tests.support.searching import needs_usearch

MODES = ["nearest", "pool"]
KEYS = ["color", "brand", "top speed", "price", "!"]
QUERIES = st.one_of(
    st.sampled_from(["colour", "Brnad", "speed", "cost", "qwzzt", "!", "?", "", "  ", "car"]),
    st.sampled_from([None, 5, 6, ("a",), float("nan"), b"color"]),
    st.text(max_size=4),
)


def car(**options: Any) -> FuzzyDict[Any]:
    d: FuzzyDict[Any] = FuzzyDict({key: float(i) for i, key in enumerate(KEYS)}, **options)
    d[5] = 7.0
    d.aliases = {"car": None, "hue": "color"}
    return d


# ---- many queries ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize(
    "options",
    [
        *({"mode": m, "scorer": s} for m in MODES for s in (None, "cosine", "spelling")),
        pytest.param({"index": "usearch"}, marks=needs_usearch),
    ],
    ids=str,
)
@given(queries=st.lists(QUERIES, max_size=8), cutoff=st.sampled_from([None, 0.0, 0.3, 0.9, 2.0]))
@examples(25)
def test_get_many_is_get_of_each(
    queries: list[Any], cutoff: float | None, options: dict[str, Any]
) -> None:
    d, other, absent = car(**options), car(**options), object()  # neither remembers for the other
    found = d.get_many(queries, absent, score_cutoff=cutoff)
    expected = [other.get(query, absent, score_cutoff=cutoff) for query in queries]
    assert [one is absent for one in found] == [one is absent for one in expected]
    numbers = [one for one in found if one is not absent]
    assert numbers == pytest.approx([one for one in expected if one is not absent], rel=1e-4)


def test_get_many_takes_any_iterable_but_a_text() -> None:
    d = car()
    for queries in (("colour", ""), np.array(["colour", ""]), (q for q in ["colour", ""])):
        assert d.get_many(queries, -1) == [0.0, -1]
    assert d.get_many([]) == []
    assert FuzzyDict[int]().get_many(["a", None]) == [None, None]
    for wrong in ("colour", b"colour", 5, None):
        with pytest.raises(ArgumentTypeError, match=r"expected a list of queries.*use get"):
            d.get_many(wrong)  # type: ignore[arg-type]
    pooling = FuzzyDict({"red": 1.0, "navy": 2.0}, mode="pool")
    with pytest.warns(DoubtfulPoolWarning, match="'the rent of an elephant'"):
        pooling.get_many(["red", "the rent of an elephant"])
    pooling.get_many(["red", None])  # or the warning would be an error


def test_a_list_with_queries_that_match_nothing_names_them_but_not_thousands() -> None:
    d = car()
    queries = ["colour", "qwzzt", None, "", "car", "hue", "qwzzt"]
    with pytest.raises(NoMatchError) as told:
        d.nearest(queries)
    assert "no key matches 5 of the queries: 'qwzzt', None, '', 'car'; " in str(told.value)
    assert told.value.args == (["qwzzt", None, "", "car", "qwzzt"],)
    found = d.nearest(queries, default=None)
    assert [match and match.key for match in found] == ["color", *[None] * 4, "color", None]
    assert found.unmatched == ("qwzzt", None, "", "car", "qwzzt")
    with pytest.raises(NoMatchError, match="2 of the queries: 'qwzzt', 'wxyzz'; leave them out"):
        d.pool(["colour", "qwzzt", "wxyzz"], score_cutoff=0.5)
    with pytest.raises(NoMatchError, match="'qwzzt': the nearest is"):  # that alone
        d.nearest(["colour", "qwzzt"])
    assert d.nearest("qwzzt", default="none") == "none"
    with pytest.raises(NoMatchError, match=r"3000 of the queries.* and 2950 more;") as told:
        d.nearest([("no text", i) for i in range(3000)])
    assert len(str(told.value)) < 3000


# ---- the cutoff of a single read --------------------------------------------------------------


@pytest.mark.parametrize("scorer", [None, "cosine", "spelling"])
def test_a_cutoff_may_be_given_to_a_single_read(scorer: Any) -> None:
    d = car(scorer=scorer)
    match = d.nearest("colr", score_cutoff=0)
    above = match.score + 1e-5
    exact: Any = Decimal(0)
    assert d.get("colr", score_cutoff=match.score) == d.nearest("colr").value == 0.0
    for cutoff in (match.score - 1e-5, 0, exact, -math.inf):
        assert d.get("colr", score_cutoff=cutoff) == 0.0
        assert d.get_many(["colr"], score_cutoff=cutoff) == [0.0]
        assert d.nearest("colr", score_cutoff=cutoff) == match
        assert isinstance(d.pool("colr", score_cutoff=cutoff), float)
    assert d.get("colr", "none", score_cutoff=above) == "none"
    assert d.get_many(["colr"], "none", score_cutoff=above) == ["none"]
    for read in (d.nearest, d.pool):
        with pytest.raises(NoMatchError, match="below the cutoff"):
            read("colr", score_cutoff=above)
    # What one cutoff found is not remembered for another, and the option is what it was.
    assert (d["colr"], d.score_cutoff) == (0.0, None)
    queries = ["color", "colour", "hue", "COLOR", 5, "!"]  # above all scores: keys and aliases
    for cutoff in (1.5, float("inf")):
        assert d.get_many(queries, score_cutoff=cutoff) == [0.0, None, 0.0, None, 7.0, 4.0]


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
def test_picking_a_key_has_another_default_than_pooling() -> None:
    d = FuzzyDict({"color": 1.0, "brand": 2.0, "top speed": 3.0, "price": 4.0})
    best = [d.most_similar(query)[0] for query in ("seats", "rent", "lamp", "car")]
    doubtful = [match for match in best if 0.03 < match.score < 0.45]
    assert doubtful
    pooling = FuzzyDict(d, mode="pool")
    for match in doubtful:
        assert not match.matches
        assert d.get(match.query) is None
        assert isinstance(d.pool(match.query), float)
        assert isinstance(pooling.get(match.query), float)
    assert (d.explain("seats").cutoff, pooling.explain("seats").cutoff) == (0.5, 0.5)


# ---- what a match knows -------------------------------------------------------------------------


def test_a_match_is_a_tuple_of_three_that_knows_its_query_and_whether_it_is_one() -> None:
    d = car()
    for match in (d.nearest("colour"), d.most_similar("colour")[0], d.explain("colour").best):
        assert (match.key, match.query, match.matches) == ("color", "colour", True)
    assert [m.matches for m in d.most_similar("colour")] == [True, False, False, False]
    assert (d.nearest(5).query, d.nearest("!").matches) == (5, True)
    assert not d.explain("qwzzt").best.matches

    match = Match("color", "black", 0.25, query="colour", matches=False)
    key, value, score = match
    assert (key, value, score) == match == ("color", "black", 0.25)
    assert match == Match("color", "black", 0.25)
    assert hash(match) == hash(("color", "black", 0.25))
    assert repr(match) == "Match(key='color', value='black', score=0.25)"
    assert match._asdict() == {"key": "color", "value": "black", "score": 0.25}
    assert (Match("a", 1, 1.0).query, Match("a", 1, 1.0).matches) == (None, True)
    for again in (
        *(pickle.loads(pickle.dumps(match, protocol)) for protocol in range(6)),
        *(copy.copy(match), copy.deepcopy(match), match._replace(value="red")),
    ):
        assert type(again) is Match
        assert (again.key, again.query, again.matches) == ("color", "colour", False)


def test_lists_that_were_asked_before_are_remembered_until_something_changes() -> None:
    recording = Recording(lambda texts: [[len(text), text.count("o"), 1] for text in texts])
    d = FuzzyDict({"color": 1, "door": 2}, embedding=recording, score_cutoff=0)
    queries = [f"colour {i}" for i in range(600)]
    found = d.nearest(queries)
    recording.asked.clear()
    assert d.nearest(queries) == found
    assert d.get_many(queries[::-1]) == [match.value for match in found[::-1]]
    assert recording.asked == []
    d["colour 7"] = 3
    assert d.nearest(queries)[7].value == 3
    d.score_cutoff = 1.5
    assert d.get_many(queries[:9], "none") == ["none"] * 7 + [3, "none"]
