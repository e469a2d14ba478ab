"""The weights of the score that make right answers most likely: their gradient, their fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.embedding.calibration import Calibration, Evidence
from fuzzydict.search.features import Features
from fuzzydict.search.score import log_odds, log_probabilities
from tests.benchmarks.likelihood import Answers, Question, calibrate
from tests.support.gradients import check_gradients

LINE = (-3.0, 8.0, 0.5, 0.0), (-3.0, -1.0, 1.0, 0.3), (-3.0, 8.0, 0.5, 0.0)
START = Calibration(Evidence(*LINE), Evidence(*LINE))
FITTED = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]  # without the squared nearness of spelling and words
GROWTH = 0.7
NESTING = 0.4


def question(seed: int, right: list[int], *, known: float = 1.0, absent: bool = True) -> Question:
    random = np.random.default_rng(seed)
    near = random.normal(0, 1, (1, 6)).astype(np.float32)
    near[0, right] += 2
    spelling = random.uniform(0, 0.9, (1, 4)).astype(np.float32)
    words = np.array([[0.6, -np.inf, 0.8, -np.inf]], np.float32)
    contradicted = np.array([[False, False, False, True]])
    features = Features(near, np.array([[0, 2, 3, 5]]), spelling, words, contradicted)
    return Question(features, known, np.array(right, np.intp), absent=absent)


def slow_loss(question: Question, calibration: Calibration) -> float:
    """Return the negative log-likelihood of the right keys, and of "none" without them."""
    (odds,), total = log_odds(question.features, [question.known], calibration), 0.0
    for there in [True, False] if question.absent and len(question.right) else [True]:
        if not there:
            odds[question.right] = -np.inf
        logs = log_probabilities(odds, calibration.growth, nesting=calibration.nesting)
        right = logs[question.right] if there else logs[:0]
        total -= np.logaddexp.reduce(right) if len(right) else np.log(1 - np.exp(logs).sum())
    return total


def asked() -> list[Question]:
    """Return questions of one, two and no right keys, of known words and others."""
    return [
        question(0, [2], known=1.0, absent=False),
        question(1, [1, 3], known=0.0),
        question(2, [], known=0.5),
        question(3, [0], known=0.5),
    ]


def test_the_loss_of_many_questions_is_that_of_each() -> None:
    calibration = replace(START, growth=GROWTH, nesting=NESTING)
    # Two of the four are asked once more without the right keys.
    slow = sum(slow_loss(one, calibration) for one in asked()) / 6
    assert Answers(asked()).loss(calibration)[0] == pytest.approx(slow)


def test_the_gradient_of_the_calibration() -> None:
    weights, answers = START.weights().ravel(), Answers(asked())
    fitted = np.array([*FITTED, *(12 + np.array(FITTED))])

    def loss(at: Mapping[str, Array]) -> float:
        moved = weights.copy()
        moved[fitted] = at["weights"]
        every = np.concatenate([[START.reach], moved, at["ends"]])
        return answers.loss(Calibration.from_array(every))[0]

    _, gradient = answers.loss(replace(START, growth=GROWTH, nesting=NESTING))
    at = {"weights": weights[fitted], "ends": np.array([GROWTH, NESTING])}
    check_gradients(loss, at, {"weights": gradient[fitted], "ends": gradient[-2:]})


def test_a_calibration_makes_the_right_answers_more_probable() -> None:
    questions = [question(seed, [seed % 6] if seed % 4 else []) for seed in range(40)]
    answers, fitted = Answers(questions), calibrate(questions, START)
    assert answers.loss(fitted)[0] < answers.loss(START)[0] - 0.02
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
    found = calibrate(questions, replace(START, nesting=NESTING), with_nesting=True, of_texts=True)
    assert found.nesting != NESTING
    assert found.known.meaning == pytest.approx(found.unknown.meaning)
    assert found.known.spelling != pytest.approx(found.unknown.spelling)
