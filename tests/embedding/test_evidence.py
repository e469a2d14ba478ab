"""From likeness to probability: shares of one, that rise with likeness and fall with rivals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.embedding.calibration import (
    FEWEST,
    OF_TEXTS,
    OF_WORDNET,
    OF_WORDS,
    REASONS,
    SAME,
    Calibration,
    Evidence,
    Likeness,
    log_probabilities,
)

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
def likenesses(draw: Any) -> Likeness:
    """Draw what is known of some keys, of which some are candidates."""
    count = draw(st.integers(1, 6))
    candidates = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))

    def numbers(of: Any, size: int) -> Any:
        return np.array(draw(st.lists(of, min_size=size, max_size=size)), np.float32)

    return Likeness(
        numbers(st.floats(-3, 12, width=32), count),
        np.array(candidates),
        numbers(SHARES, len(candidates)),
        numbers(SHARES | st.just(-math.inf), len(candidates)),
    )


# ---- probabilities ------------------------------------------------------------------------


@given(LOG_ODDS)
def test_probabilities_are_the_odds_shares_beside_those_of_none(log_odds: list[float]) -> None:
    odds = [math.exp(number) for number in log_odds]
    none = max(sum(number > 0 for number in odds), 1)  # a key that is gone is no rival
    found = np.exp(log_probabilities(np.array(log_odds)))
    np.testing.assert_allclose(found, [number / (none + sum(odds)) for number in odds], atol=1e-12)
    assert found.sum() + none / (none + sum(odds)) == pytest.approx(1)


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_before_anything_is_known_none_is_as_likely_as_all_keys_together(count: int) -> None:
    np.testing.assert_allclose(np.exp(log_probabilities(np.zeros(count))), 1 / (2 * count))


@given(LOG_ODDS, LOG_ODDS)
def test_more_keys_never_make_a_key_likelier(some: list[float], more: list[float]) -> None:
    before = log_probabilities(np.array(some))
    after = log_probabilities(np.array([*some, *more]))[: len(some)]
    assert (after <= before + 1e-12).all()


@pytest.mark.parametrize("log_odds", [[1e4, 0.0], [-1e4, -2e4], [1e4, 1e4], [-math.inf, 1e300]])
def test_what_is_said_too_loudly_does_not_overflow(log_odds: list[float]) -> None:
    found = np.exp(log_probabilities(np.array(log_odds)))
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() <= 1 + 1e-9
    assert log_odds[0] < 0 or found[0] == pytest.approx(1 / log_odds.count(log_odds[0]))


def test_where_all_keys_are_gone_none_is_right() -> None:
    assert np.isneginf(log_probabilities(np.full(3, -np.inf))).all()


# ---- evidence -----------------------------------------------------------------------------


@given(CALIBRATIONS, likenesses(), KNOWN)
def test_the_odds_of_a_key_are_the_sum_of_those_of_its_reasons(
    calibration: Calibration, alike: Likeness, known: float
) -> None:
    def weights(reason: str) -> list[float]:
        pairs = zip(
            getattr(calibration.known, reason), getattr(calibration.unknown, reason), strict=True
        )
        return [known * seen + (1 - known) * unseen for seen, unseen in pairs]

    parts = calibration.parts(alike, known=known)
    log_odds = calibration.log_odds(alike, known=known)
    assert parts.shape == (len(REASONS), len(alike.candidates))
    assert not np.isnan(parts).any()
    bias, _, slope, of_square = weights("meaning")
    for slot, near in enumerate(alike.nearness.tolist()):
        expected = bias + slope * near + of_square * max(near, 0) ** 2
        assert slot in alike.candidates or log_odds[slot] == pytest.approx(expected)
    for i, slot in enumerate(alike.candidates.tolist()):
        near = float(alike.nearness[slot])
        spelled, by_words = float(alike.spelling[i]), float(alike.words[i])
        surface = by_words if by_words >= 0 else spelled
        likes = {"spelling": spelled, "meaning": surface, "words": by_words}
        odds = []
        for name, like in likes.items():
            bias, of_likeness, of_nearness, of_square = weights(name)
            if like >= (FEWEST * (1 - known) if name == "words" else 0):
                expected = bias + of_likeness * like**2 + of_nearness * near
                expected += of_square * max(near, 0) ** 2
                if name == "spelling" and spelled == 1:
                    expected = SAME  # the very words
                assert parts[REASONS.index(name), i] == pytest.approx(expected, abs=1e-5)
                odds.append(math.exp(expected))
            else:
                assert parts[REASONS.index(name), i] == -math.inf
        assert log_odds[slot] == pytest.approx(math.log(sum(odds)), abs=1e-5)


@given(CALIBRATIONS, likenesses(), KNOWN, st.data())
def test_who_is_more_alike_is_never_less_likely_nor_the_others_likelier(
    calibration: Calibration, alike: Likeness, known: float, data: st.DataObject
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
        log_probabilities(calibration.log_odds(one, known=known))
        for one in (alike, alike._replace(**{which: raised}))
    )
    others = np.arange(len(before)) != slot
    assert after[slot] >= before[slot] - 1e-6
    assert (after[others] <= before[others] + 1e-6).all()


@pytest.mark.parametrize("calibration", [OF_WORDS, OF_WORDNET, OF_TEXTS])
@pytest.mark.parametrize("which", ["known", "unknown"])
def test_what_ships_takes_no_likeness_but_that_of_the_surface_for_a_reason_against_a_key(
    calibration: Calibration, which: str
) -> None:
    evidence = getattr(calibration, which)
    for name in REASONS:
        bias, of_likeness, of_nearness, of_square = getattr(evidence, name)
        assert math.isfinite(bias)
        assert min(of_nearness, of_square) >= 0
        assert name == "meaning" or of_square == 0
        assert of_likeness <= 0 if name == "meaning" else of_likeness >= 0
