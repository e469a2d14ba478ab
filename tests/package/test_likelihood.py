"""The weights of the score that make right answers most likely: their gradient, their fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.embedding.calibration import Calibration, Evidence
from fuzzydict.search.features import Features
from tests.benchmarks.likelihood import Question, calibrate, question_loss
from tests.support.gradients import check_gradients

LINE = (-3.0, 8.0, 0.5, 0.0), (-3.0, -1.0, 1.0, 0.3), (-3.0, 8.0, 0.5, 0.0)
START = Calibration(Evidence(*LINE), Evidence(*LINE))
FITTED = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]  # without the squared nearness of spelling and words
GROWTH = 0.7
NESTING = 0.4


def question(seed: int, right: list[int], *, known: float = 1.0, absent: bool = True) -> Question:
    random = np.random.default_rng(seed)
    near = random.normal(0, 1, 6).astype(np.float32)
    near[right] += 2
    spelling = random.uniform(0, 0.9, 4).astype(np.float32)
    words = np.array([0.6, -np.inf, 0.8, -np.inf], np.float32)
    contradicted = np.array([False, False, False, True])
    features = Features(near, np.array([0, 2, 3, 5]), spelling, words, contradicted)
    return Question(features, known, np.array(right, np.intp), absent=absent)


@pytest.mark.parametrize(("right", "absent"), [([2], False), ([1, 3], True), ([], True)])
@pytest.mark.parametrize("known", [0.0, 1.0])
def test_the_gradient_of_the_calibration(right: list[int], absent: bool, known: float) -> None:
    asked = question(0, right, known=known, absent=absent)
    weights = START.weights()[0].ravel()

    def loss(at: Mapping[str, Array]) -> float:
        moved = weights.copy()
        moved[FITTED] = at["weights"]
        every = np.concatenate([[START.reach], moved, moved, at["ends"]])
        return question_loss(asked, Calibration.from_array(every)).value

    found = question_loss(asked, replace(START, growth=GROWTH, nesting=NESTING))
    ends = np.array([found.d_growth, found.d_nesting])
    at = {"weights": weights[FITTED], "ends": np.array([GROWTH, NESTING])}
    check_gradients(loss, at, {"weights": found.d_weights[FITTED], "ends": ends})


def test_a_calibration_makes_the_right_answers_more_probable() -> None:
    questions = [question(seed, [seed % 6] if seed % 4 else []) for seed in range(40)]
    fitted = calibrate(questions, START)
    before, after = (
        np.mean([question_loss(one, calibration)[0] for one in questions])
        for calibration in (START, fitted)
    )
    assert after < before - 0.05
    held = calibrate(questions, START, pull=1e6)
    np.testing.assert_allclose(held.weights(), START.weights(), atol=1e-3)


def test_the_growth_is_fitted_where_it_is_asked_for() -> None:
    questions = [question(seed, [] if seed % 4 else [seed % 6]) for seed in range(12)]
    assert calibrate(questions, replace(START, growth=GROWTH)).growth == GROWTH
    assert calibrate(questions, replace(START, growth=GROWTH), with_growth=True).growth != GROWTH


def test_of_texts_the_nesting_is_fitted_and_meaning_is_the_same_for_words_never_seen() -> None:
    questions = [
        question(seed, [] if seed % 4 else [seed % 6], known=seed % 3 / 2) for seed in range(24)
    ]
    assert calibrate(questions, START).nesting == START.nesting
    found = calibrate(questions, replace(START, nesting=NESTING), of_texts=True)
    assert found.nesting != NESTING
    assert found.known.meaning == pytest.approx(found.unknown.meaning)
    assert found.known.spelling != pytest.approx(found.unknown.spelling)
