"""The default score is that of a slow loop, and reads of a value go by it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, NoMatchError
from fuzzydict.embedding.calibration import REASONS, Calibration, Evidence
from fuzzydict.search.features import Features
from fuzzydict.search.score import (
    CONTRADICTED,
    LEAST_COVERAGE,
    SAME,
    DefaultScore,
    log_odds,
    log_odds_by_reason,
    log_probabilities,
)
from tests.support.properties import examples
from tests.support.reference import assert_probabilities

LOG_ODDS = st.lists(st.floats(-30, 30) | st.just(-math.inf), min_size=1, max_size=8)
GROWTHS = st.floats(0, 1)
NESTINGS = st.sampled_from([1.0, 0.5, 0.1])
SHARES = st.floats(0, 1, width=32)
SLOPES = st.floats(0, 30)
GENTLE = SLOPES.map(lambda slope: slope / 10)
LINES = st.tuples(st.floats(-20, 10), SLOPES, GENTLE, st.just(0.0))
MEANINGS = st.tuples(st.floats(-20, 10), st.just(0.0), GENTLE, GENTLE)
EVIDENCE = st.builds(Evidence, LINES, MEANINGS, LINES)
KNOWN = st.sampled_from([0, 0.25, 0.5, 1])
CALIBRATIONS = st.builds(Calibration, EVIDENCE, EVIDENCE, growth=GROWTHS, nesting=NESTINGS)


@st.composite
def features(draw: Any) -> Features:
    """Draw what is known of a query and some keys, of which some are candidates."""
    count = draw(st.integers(1, 6))
    candidates = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))

    def numbers(of: Any, size: int) -> Any:
        return np.array(draw(st.lists(of, min_size=size, max_size=size)), np.float32)

    return Features(
        numbers(st.floats(-3, 12, width=32), count)[None],
        np.array([candidates]),
        numbers(SHARES, len(candidates))[None],
        numbers(SHARES | st.just(-math.inf), len(candidates))[None],
        numbers(st.just(0) | st.just(1), len(candidates)).astype(np.bool_)[None],
    )


# ---- probabilities ------------------------------------------------------------------------


@given(LOG_ODDS, GROWTHS)
def test_probabilities_are_the_odds_shares_beside_those_of_none(
    logs: list[float], growth: float
) -> None:
    odds = [math.exp(number) for number in logs]
    none = max(sum(number > 0 for number in odds), 1) ** growth  # a key that is gone is no rival
    found = np.exp(log_probabilities(np.array(logs), growth))
    np.testing.assert_allclose(found, [number / (none + sum(odds)) for number in odds], atol=1e-12)
    assert found.sum() + none / (none + sum(odds)) == pytest.approx(1)


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_before_anything_is_known_none_has_the_odds_of_its_growth(count: int) -> None:
    as_all_keys, as_a_key = (np.exp(log_probabilities(np.zeros(count), g)) for g in (1, 0))
    np.testing.assert_allclose(as_all_keys, 1 / (2 * count))
    np.testing.assert_allclose(as_a_key, 1 / (count + 1))


@given(LOG_ODDS, LOG_ODDS, GROWTHS, NESTINGS)
def test_more_log_odds_never_raise_a_probability(
    some: list[float], more: list[float], growth: float, nesting: float
) -> None:
    before = log_probabilities(np.array(some), growth, nesting=nesting)
    after = log_probabilities(np.array([*some, *more]), growth, nesting=nesting)[: len(some)]
    assert (after <= before + 1e-12).all()


@given(LOG_ODDS.filter(lambda logs: max(logs) > -math.inf), GROWTHS, NESTINGS)
def test_a_nested_choice_is_first_whether_any_key_is_right_and_then_which(
    logs: list[float], growth: float, nesting: float
) -> None:
    keys = [math.exp(number / nesting) for number in logs]
    of_any = sum(keys) ** nesting
    none = sum(number > -math.inf for number in logs) ** growth
    expected = [number / sum(keys) * of_any / (of_any + none) for number in keys]
    found = np.exp(log_probabilities(np.array(logs), growth, nesting=nesting))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("logs", [[1e4, 0.0], [-1e4, -2e4], [1e4, 1e4], [-math.inf, 1e300]])
def test_what_is_said_too_loudly_does_not_overflow(logs: list[float]) -> None:
    found = np.exp(log_probabilities(np.array(logs), 1.0))
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() <= 1 + 1e-9
    assert logs[0] < 0 or found[0] == pytest.approx(1 / logs.count(logs[0]))


def test_where_all_keys_are_gone_none_is_right() -> None:
    assert np.isneginf(log_probabilities(np.full(3, -np.inf), 1.0)).all()


# ---- log-odds -----------------------------------------------------------------------------


@given(CALIBRATIONS, features(), KNOWN)
def test_the_odds_of_a_key_are_the_sum_of_those_of_its_reasons(
    calibration: Calibration, alike: Features, known: float
) -> None:
    def weights(reason: str) -> list[float]:
        pairs = zip(
            getattr(calibration.known, reason), getattr(calibration.unknown, reason), strict=True
        )
        return [known * seen + (1 - known) * unseen for seen, unseen in pairs]

    parts = log_odds_by_reason(alike, known, calibration)[:, 0]
    (total,) = log_odds(alike, [known], calibration)
    alike = Features(*(part[0] for part in alike[:5]))
    assert parts.shape == (len(REASONS), len(alike.candidates))
    assert not np.isnan(parts).any()
    bias, _, slope, of_square = weights("meaning")
    for slot, near in enumerate(alike.nearness.tolist()):
        expected = bias + slope * near + of_square * max(near, 0) ** 2
        assert slot in alike.candidates or total[slot] == pytest.approx(expected)
    for i, slot in enumerate(alike.candidates.tolist()):
        near = float(alike.nearness[slot])
        spelled, by_words = float(alike.spelling[i]), float(alike.words[i])
        surface = by_words if by_words >= 0 else spelled
        likes = {"spelling": spelled, "meaning": surface, "words": by_words}
        odds = []
        for name, like in likes.items():
            bias, of_likeness, of_nearness, of_square = weights(name)
            if like >= (LEAST_COVERAGE * (1 - known) if name == "words" else 0):
                expected = bias + of_likeness * like**2 + of_nearness * near
                expected += of_square * max(near, 0) ** 2
                if name == "spelling" and spelled == 1 and not alike.contradicted[i]:
                    expected = SAME  # the very words
                expected -= CONTRADICTED * alike.contradicted[i]
                assert parts[REASONS.index(name), i] == pytest.approx(expected, abs=1e-5)
                odds.append(math.exp(expected))
            else:
                assert parts[REASONS.index(name), i] == -math.inf
        assert total[slot] == pytest.approx(math.log(sum(odds)), abs=1e-5)


@given(CALIBRATIONS, features(), KNOWN, st.data())
def test_who_is_more_alike_is_never_less_likely_nor_the_others_likelier(
    calibration: Calibration, alike: Features, known: float, data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, alike.candidates.size - 1))
    slot = int(alike.candidates[0, i])
    which, place = data.draw(
        st.sampled_from([("spelling", i), ("words", i), ("nearness", slot)]), label="raised"
    )
    raised = getattr(alike, which).copy()
    top = 12 if which == "nearness" else 1
    least = max(float(raised[0, place]), -3 if top > 1 else 0)
    raised[0, place] = data.draw(st.floats(least, top))
    before, after = (
        log_probabilities(
            log_odds(one, [known], calibration)[0], calibration.growth, nesting=calibration.nesting
        )
        for one in (alike, alike._replace(**{which: raised}))
    )
    others = np.arange(len(before)) != slot
    assert after[slot] >= before[slot] - 1e-6
    assert (after[others] <= before[others] + 1e-6).all()


# ---- the default score --------------------------------------------------------------------

WORDS = ["color", "colour", "the", "engine", "motor", "1961", "Porsche", "of", "speed", "xyzzy"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
KEYS = st.lists(TEXTS, min_size=1, max_size=6, unique=True)


def scores(d: FuzzyDict[Any], query: str) -> dict[str, float]:
    return {match.key: match.score for match in d.most_similar(query, None)}


@given(KEYS, TEXTS)
@example(["color", "color color", "colour"], "color")
@examples(40)
def test_the_score_is_that_of_the_slow_reference(keys: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1.0))
    assert_probabilities(d, query)
    assert sum(scores(d, query).values()) < 1  # the rest is for none of them


SINGLE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True)


@given(SINGLE, SINGLE, st.sampled_from(WORDS))
@examples(40)
def test_more_keys_never_make_a_key_likelier(keys: list[str], more: list[str], query: str) -> None:
    """In phrases they may: the more keys have one word, the more the others count."""
    few = scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query)
    many = scores(FuzzyDict(dict.fromkeys([*keys, *more], 1.0)), query)
    assert all(many[key] <= few[key] * (1 + 1e-4) for key in keys)


@given(KEYS, KEYS, TEXTS)
@examples(40)
def test_deleted_keys_do_not_count(keys: list[str], gone: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys([*gone, *keys], 1.0))
    d.get("warm up")  # so that they have a slot to leave
    for key in {*gone} - {*keys}:
        del d[key]
    assert scores(d, query) == pytest.approx(
        scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query), rel=1e-4
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
            scores(d, query), rel=1e-4
        )


def test_a_key_that_is_all_a_dict_has_may_still_be_wrong() -> None:
    d = FuzzyDict({"color": 1})
    assert d.most_similar("qwzzt")[0].score < DefaultScore.score_cutoff
    assert d.nearest("colour").score > 0.5


@pytest.mark.parametrize(
    ("key", "query"),
    [("color", "house"), ("brand", "engine"), ("top speed", "price"), ("username", "qwzzt")],
)
def test_a_single_key_is_refused_where_it_is_unrelated(key: str, query: str) -> None:
    d = FuzzyDict({key: 1})
    assert d.get(query) is None
    assert d[key.upper().replace(" ", "_")] == 1
    assert d.nearest(key.title()).score == pytest.approx(1)


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
