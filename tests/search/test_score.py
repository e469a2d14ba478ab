"""The default score of a dict: a probability, whatever is asked, and reads of a value go by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, NoMatchError
from tests.support.properties import examples

WORDS = ["color", "colour", "the", "engine", "motor", "1961", "Porsche", "of", "speed", "xyzzy"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
KEYS = st.lists(TEXTS, min_size=1, max_size=6, unique=True)


def scores(d: FuzzyDict[Any], query: str) -> dict[str, float]:
    return {match.key: match.score for match in d.most_similar(query, None)}


@given(KEYS, TEXTS)
@examples(40)
def test_scores_are_shares_of_one(keys: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1.0))
    found = [match.score for match in d.most_similar(query, None)]
    assert found == sorted(found, reverse=True)
    assert min(found) >= 0
    assert query in d or sum(found) <= 1 + 1e-6  # the rest is for none of them


@given(KEYS, TEXTS, st.randoms())
@examples(40)
def test_the_order_of_the_keys_does_not_matter(keys: list[str], query: str, chance: Any) -> None:
    shuffled = keys.copy()
    chance.shuffle(shuffled)
    one, other = (scores(FuzzyDict(dict.fromkeys(some, 1.0)), query) for some in (keys, shuffled))
    assert one == pytest.approx(other, rel=1e-3, abs=1e-6)


@given(KEYS, KEYS, TEXTS)
@examples(40)
def test_deleted_keys_do_not_count(keys: list[str], gone: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys([*gone, *keys], 1.0))
    d.get("warm up")  # so that they have a slot to leave
    for key in {*gone} - {*keys}:
        del d[key]
    assert scores(d, query) == pytest.approx(
        scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query), rel=1e-3, abs=1e-6
    )


@given(KEYS, st.lists(TEXTS, max_size=4))
@examples(40)
def test_a_batch_of_queries_is_answered_as_one_by_one(keys: list[str], queries: list[str]) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1.0))
    found = d.most_similar(queries, None)
    assert [[match.key for match in row] for row in found] == [
        [match.key for match in d.most_similar(query, None)] for query in queries
    ]
    for row, query in zip(found, queries, strict=True):
        assert {match.key: match.score for match in row} == pytest.approx(
            scores(d, query), rel=1e-3, abs=1e-6
        )


def test_a_key_that_is_all_a_dict_has_may_still_be_wrong() -> None:
    d = FuzzyDict({"color": 1})
    assert d.get("qwzzt") is None
    assert d["colour"] == 1


@pytest.mark.parametrize(
    ("key", "query"),
    [("color", "house"), ("brand", "engine"), ("top speed", "price"), ("username", "qwzzt")],
)
def test_a_single_key_is_refused_where_it_is_unrelated(key: str, query: str) -> None:
    d = FuzzyDict({key: 1})
    assert d.get(query) is None
    assert d[key.upper().replace(" ", "_")] == 1
    assert d.nearest(key.title()).score > 0.9


def test_a_shared_word_is_no_match_where_the_keys_tell_it_is_common() -> None:
    others = {"DB_USER": "me", "DB_NAME": "shop", "LOG_LEVEL": "info", "CACHE_SIZE": 5}
    settings = FuzzyDict({"DB_PASSWORD": "s3cret", "DB_HOST": "localhost", **others})
    assert settings.get("DB_PORT", 5432) == 5432
    assert settings["database host"] == "localhost"


# ---- reads of a value --------------------------------------------------------------------------


def test_a_read_of_a_value_answers_as_others_do() -> None:
    d = FuzzyDict({"color": 1, "brand": 2})
    assert d["colour"] == d.get("colour") == d.nearest("colour").value == 1
    d["color"] = 5
    assert d["colour"] == 5
    d["colours"] = 7
    assert (d["colourss"], d["colour"]) == (7, d.nearest("colour").value)
    with pytest.raises(NoMatchError, match="no letters or digits"):
        d["?!"]
    with pytest.raises(NoMatchError, match="no key of the dict"):
        FuzzyDict({})["colour"]


@pytest.mark.parametrize("scorer", [None, "spelling"])
@pytest.mark.parametrize(
    ("key", "query"),
    [("15 kg", "1.5 kg"), ("python 3.11", "python 31.1"), ("v1_2", "v12"), ("1.1.0", "11.0")],
)
def test_numbers_that_are_split_otherwise_are_others(scorer: Any, key: str, query: str) -> None:
    d = FuzzyDict({key: 1, "zebra": 2}, scorer=scorer)
    assert d.get(query) is None


@pytest.mark.parametrize("scorer", [None, "spelling"])
def test_a_setting_is_not_another_with_a_word_in_common(scorer: Any) -> None:
    settings = FuzzyDict({"ssl_enabled": False, "timeout": 3, "host": "h"}, scorer=scorer)
    assert settings.get("verify_ssl", True) is True
    assert settings.get("ssl enabled") is settings.get("enable_ssl") is False
