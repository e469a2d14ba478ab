"""What commands ask of a dict: the same as it answers by itself."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzydict import FuzzyDict, NoMatchError
from fuzzydict.io.columns import best_of, matches


def test_a_dict_that_pools_is_asked_for_its_nearest_keys() -> None:
    d: FuzzyDict[Any] = FuzzyDict({"red": 1.0, "blue": 3.0}, mode="pool")
    assert matches(d, "red")[0].value == 1.0
    assert best_of(d, ["red"])["red"] == ("red", 1.0, 1.0)


def test_several_matches_are_those_that_reach_the_cutoff() -> None:
    d = FuzzyDict({"color": 1, "colors": 2, "price": 3, "?!": 4}, score_cutoff=0.2)
    for n in (1, 2, 3, 9):
        found = matches(d, "colour", n)
        expected = [m for m in d.most_similar("colour", topn=n) if m.score >= 0.2]
        assert found == expected
    assert matches(d, "?!", 3) == [("?!", 4, 1.0)]
    with pytest.raises(NoMatchError):
        matches(d, "qwzzt", 3)
    d.score_cutoff = 0.0
    assert [match.key for match in matches(d, "colors", 2)] == ["colors", "color"]
