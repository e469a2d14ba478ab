"""From features to probabilities, and the default score over all keys of a dict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict.embedding.calibration import REASONS, Calibration, Evidence
from fuzzydict.search.features import Features
from fuzzydict.search.score import (
    LEAST_COVERAGE,
    SAME,
    DefaultScore,
    log_odds,
    log_odds_by_reason,
    log_probabilities,
)
from tests.support.reference import Reference, assert_probabilities

LOG_ODDS = st.lists(st.floats(-30, 30) | st.just(-math.inf), min_size=1, max_size=8)
SHARES = st.floats(0, 1, width=32)
SLOPES = st.floats(0, 30)
GENTLE = SLOPES.map(lambda slope: slope / 10)
LINES = st.tuples(st.floats(-20, 10), SLOPES, GENTLE, st.just(0.0))
MEANINGS = st.tuples(st.floats(-20, 10), st.just(0.0), GENTLE, GENTLE)
EVIDENCE = st.builds(Evidence, LINES, MEANINGS, LINES)
KNOWN = st.sampled_from([0, 0.25, 0.5, 1])
CALIBRATIONS = st.builds(Calibration, EVIDENCE, EVIDENCE)


@st.composite
def features(draw: Any) -> Features:
    """Draw what is known of some keys, of which some are candidates."""
    count = draw(st.integers(1, 6))
    candidates = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))

    def numbers(of: Any, size: int) -> Any:
        return np.array(draw(st.lists(of, min_size=size, max_size=size)), np.float32)

    return Features(
        numbers(st.floats(-3, 12, width=32), count),
        np.array(candidates),
        numbers(SHARES, len(candidates)),
        numbers(SHARES | st.just(-math.inf), len(candidates)),
    )


# ---- probabilities ------------------------------------------------------------------------


@given(LOG_ODDS)
def test_probabilities_are_the_odds_shares_beside_those_of_none(logs: list[float]) -> None:
    odds = [math.exp(number) for number in logs]
    none = max(sum(number > 0 for number in odds), 1)  # a key that is gone is no rival
    found = np.exp(log_probabilities(np.array(logs)))
    np.testing.assert_allclose(found, [number / (none + sum(odds)) for number in odds], atol=1e-12)
    assert found.sum() + none / (none + sum(odds)) == pytest.approx(1)


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_before_anything_is_known_none_is_as_likely_as_all_keys_together(count: int) -> None:
    np.testing.assert_allclose(np.exp(log_probabilities(np.zeros(count))), 1 / (2 * count))


@given(LOG_ODDS, LOG_ODDS)
def test_more_log_odds_never_raise_a_probability(some: list[float], more: list[float]) -> None:
    before = log_probabilities(np.array(some))
    after = log_probabilities(np.array([*some, *more]))[: len(some)]
    assert (after <= before + 1e-12).all()


@pytest.mark.parametrize("logs", [[1e4, 0.0], [-1e4, -2e4], [1e4, 1e4], [-math.inf, 1e300]])
def test_what_is_said_too_loudly_does_not_overflow(logs: list[float]) -> None:
    found = np.exp(log_probabilities(np.array(logs)))
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() <= 1 + 1e-9
    assert logs[0] < 0 or found[0] == pytest.approx(1 / logs.count(logs[0]))


def test_where_all_keys_are_gone_none_is_right() -> None:
    assert np.isneginf(log_probabilities(np.full(3, -np.inf))).all()


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

    parts = log_odds_by_reason(alike, known, calibration)
    total = log_odds(alike, known, calibration)
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
                if name == "spelling" and spelled == 1:
                    expected = SAME  # the very words
                assert parts[REASONS.index(name), i] == pytest.approx(expected, abs=1e-5)
                odds.append(math.exp(expected))
            else:
                assert parts[REASONS.index(name), i] == -math.inf
        assert total[slot] == pytest.approx(math.log(sum(odds)), abs=1e-5)


@given(CALIBRATIONS, features(), KNOWN, st.data())
def test_who_is_more_alike_is_never_less_likely_nor_the_others_likelier(
    calibration: Calibration, alike: Features, known: float, data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, len(alike.candidates) - 1))
    slot = int(alike.candidates[i])
    which, place = data.draw(
        st.sampled_from([("spelling", i), ("words", i), ("nearness", slot)]), label="raised"
    )
    raised = getattr(alike, which).copy()
    top = 12 if which == "nearness" else 1
    raised[place] = data.draw(st.floats(max(float(raised[place]), -3 if top > 1 else 0), top))
    before, after = (
        log_probabilities(log_odds(one, known, calibration))
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
@settings(max_examples=40)
def test_the_score_is_that_of_the_slow_reference(keys: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1.0))
    assert_probabilities(d, query)
    assert sum(scores(d, query).values()) < 1  # the rest is for none of them


@given(KEYS, KEYS, TEXTS)
@settings(max_examples=40)
def test_more_keys_never_make_a_key_likelier(keys: list[str], more: list[str], query: str) -> None:
    few = scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query)
    many = scores(FuzzyDict(dict.fromkeys([*keys, *more], 1.0)), query)
    assert all(many[key] <= few[key] * (1 + 1e-4) for key in keys)


@given(KEYS, KEYS, TEXTS)
@settings(max_examples=40)
def test_deleted_keys_do_not_count(keys: list[str], gone: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys([*gone, *keys], 1.0))
    d.get("warm up")  # so that they have a slot to leave
    for key in {*gone} - {*keys}:
        del d[key]
    assert scores(d, query) == pytest.approx(
        scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query), rel=1e-4
    )


def test_deleted_keys_take_no_place_among_the_candidates() -> None:
    gone = [f"colour{letter}{other}" for letter in "abcdefghij" for other in "klmnopqrst"]
    d = FuzzyDict(dict.fromkeys([*gone, "colouring", *(f"other{i}" for i in range(150))], 1))
    before = scores(d, "colour")
    for key in gone:
        del d[key]
    assert d.nearest("colour").key == "colouring"
    assert scores(d, "colour")["colouring"] > before["colouring"]


@given(KEYS, st.lists(TEXTS, max_size=4))
@settings(max_examples=40)
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


def test_of_many_keys_those_worth_a_comparison_are_found() -> None:
    words = [word for word in Brown().words[300:3000] if word.isalpha() and len(word) > 5]
    chance = np.random.default_rng(0)
    keys = [" ".join(pair) for pair in chance.choice(words, (100, 2)).tolist()]
    keys += chance.choice(words, 100, replace=False).tolist()
    d = FuzzyDict(dict.fromkeys(keys, 1), score_cutoff=0)
    reference = Reference(d)
    for key in chance.choice(keys, 5).tolist():
        place = len(key) // 2
        for query in (key[:place] + key[place + 1 :], " ".join(reversed(key.split()))):
            expected = reference.probabilities(query)
            best = max(expected, key=expected.__getitem__)
            assert best == key
            assert d.nearest(query).key == key
            # What is not compared as a string competes by its meaning alone, surface and all.
            assert scores(d, query)[key] == pytest.approx(expected[key], rel=0.02)


def test_of_a_long_text_the_first_words_are_compared_one_by_one() -> None:
    long = " ".join(WORDS[:4] * 12)
    assert_probabilities(
        FuzzyDict(dict.fromkeys([long, "the color", "engine"], 1)), long + " speed"
    )


def test_an_embedding_whose_texts_lie_close_together_tells_them_apart_all_the_same() -> None:
    """Of some models all cosines are above 0.7: what counts is how far one stands out."""
    axes = np.eye(40) + 1.0
    names = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}" * 3 for i in range(40)]
    vectors = dict(zip(names, axes, strict=True))

    def encode(texts: list[str]) -> Any:
        return [vectors.get(text, axes[7]) for text in texts]  # any query means the eighth key

    d = FuzzyDict(dict.fromkeys(names, 1), embedding=encode, score_cutoff=0)
    assert d.nearest("ωψξ").key == names[7]


def test_a_key_that_is_all_a_dict_has_may_still_be_wrong() -> None:
    d = FuzzyDict({"color": 1})
    assert d.most_similar("qwzzt")[0].score < DefaultScore.score_cutoff
    assert d.nearest("colour").score > 0.5
