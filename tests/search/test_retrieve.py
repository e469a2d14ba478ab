"""Which keys are worth a look."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict.search.retrieve import CANDIDATES, candidates, glance, largest

SLIPS = ["govrenment", "ngiht", "diferent", "comittee", "thuogh", "nmber", "systm", "socail"]


@given(
    st.lists(
        st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=6, max_size=6),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 6),
)
def test_of_equal_values_the_first_are_the_largest(rows: list[list[float]], count: int) -> None:
    found = largest(np.array(rows, np.float32), count)
    for row, places in zip(rows, found.tolist(), strict=True):
        assert places == sorted(sorted(range(6), key=lambda place: -row[place])[:count])


def seen(d: FuzzyDict[Any], queries: list[str], slots: Any = None) -> Any:
    meaning, keys = d._current_meaning(), d._current_reader().lookup.keys
    asked = [meaning.query(query) for query in queries]
    vectors = meaning.of_queries(asked, keys)
    return glance(asked, keys, vectors, meaning.judge.glance, slots=slots)


@pytest.fixture(scope="module")
def words() -> FuzzyDict[int]:
    return FuzzyDict(dict.fromkeys(Brown().words[:1000], 1))


def test_slips_and_synonyms_are_worth_a_look(words: FuzzyDict[int]) -> None:
    right = dict(zip(SLIPS, ["government", "night", "different", "committee"], strict=False))
    right |= {"thuogh": "though", "nmber": "number", "systm": "system", "socail": "social"}
    right |= {"automobile": "car", "residence": "home"}
    found = candidates(seen(words, list(right)))
    assert found.slots.shape == (len(right), CANDIDATES)
    keys = words._current_reader().lookup.keys
    for slots, key in zip(found.slots.tolist(), right.values(), strict=True):
        assert key in [keys.names[slot] for slot in slots]


def test_a_glance_at_some_keys_is_that_at_all_of_them(words: FuzzyDict[int]) -> None:
    slots = np.array([3, 17, 400, 999])
    every, some = seen(words, SLIPS), seen(words, SLIPS, slots)
    for one, other in zip(every, some, strict=True):
        np.testing.assert_allclose(one[:, slots], other, rtol=1e-4, atol=1e-6)
    for row, query in enumerate(SLIPS):
        alone = seen(words, [query])
        np.testing.assert_allclose(every.odds[row], alone.odds[0], rtol=1e-4, atol=1e-5)
