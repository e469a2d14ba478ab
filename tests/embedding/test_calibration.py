"""The fitted weights that ship, and the array that holds them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fuzzydict.embedding.calibration import OF_TEXTS, OF_WORDNET, OF_WORDS, REASONS, Calibration

SHIPPED = pytest.mark.parametrize("calibration", [OF_WORDS, OF_WORDNET, OF_TEXTS])


@SHIPPED
@pytest.mark.parametrize("which", ["known", "unknown"])
def test_by_the_shipped_weights_who_is_more_alike_is_not_less_likely(
    calibration: Calibration, which: str
) -> None:
    evidence = getattr(calibration, which)
    for name in REASONS:
        bias, of_likeness, of_nearness, of_square = getattr(evidence, name)
        assert math.isfinite(bias)
        assert min(of_nearness, of_square) >= 0
        assert name == "meaning" or of_square == 0
        assert of_likeness <= 0 if name == "meaning" else of_likeness >= 0


@SHIPPED
def test_an_array_holds_a_calibration(calibration: Calibration) -> None:
    changed = replace(calibration, growth=0.25, nesting=0.5)
    for one in (calibration, changed):
        assert Calibration.from_array(one.as_array()) == one


def test_what_older_arrays_lack_is_1() -> None:
    without_nesting = Calibration.from_array(OF_TEXTS.as_array()[:-1])
    assert without_nesting == replace(OF_TEXTS, nesting=1.0)
    of_version_0_1 = Calibration.from_array(OF_TEXTS.as_array()[:-2])
    assert of_version_0_1 == replace(OF_TEXTS, growth=1.0, nesting=1.0)


@pytest.mark.parametrize(
    ("place", "number"),
    [
        *((0, 0.0), (0, np.nan), (1, np.inf), (2, -1.0), (3, -1.0)),
        *((6, 1.0), (7, -0.1), (24, -0.1), (25, -0.1), (25, 1.1), (26, 0.0), (26, 1.1)),
    ],
    ids=repr,
)
def test_numbers_out_of_range_are_refused(place: int, number: float) -> None:
    weights = OF_TEXTS.as_array()
    weights[place] = number
    with pytest.raises(ValueError, match=r"is 27 finite numbers|wrong sign|growth|nesting"):
        Calibration.from_array(weights)


def test_an_array_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"27 finite numbers, not \(24,\)"):
        Calibration.from_array(OF_WORDS.as_array()[:-3])


def test_a_query_half_known_is_judged_by_the_mean_of_both_weights() -> None:
    mixed = replace(OF_WORDS, known=OF_TEXTS.known).mixed(0.5)
    for name in REASONS:
        known, unknown = getattr(OF_TEXTS.known, name), getattr(OF_WORDS.unknown, name)
        expected = [(a + b) / 2 for a, b in zip(known, unknown, strict=True)]
        assert getattr(mixed, name) == pytest.approx(expected)
    assert OF_WORDS.mixed(1) == OF_WORDS.known
