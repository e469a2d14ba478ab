"""The sentences of the page that say why a query finds a key."""

from __future__ import annotations

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.io.explore.reasons import reasons

CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": 109000}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("colour", "'color' has 1.000, because it is spelled alike."),
        ("qwzzt", "'qwzzt' is not known; "),
        ("top velocity", "Known words: top, velocity."),
        ("brand", "An equal key always comes first."),
        ("what it costs", "What was taught comes before all that is only similar."),
        ("zip", "What was taught comes before all that is only similar."),
    ],
)
def test_a_reason_is_a_sentence(query: str, said: str) -> None:
    d = FuzzyDict(CAR)
    d.aliases = {"what it costs": "price", "zip": None}
    assert any(line.startswith(said) for line in reasons(d.explain(query)))


def test_the_largest_part_of_a_score_comes_first_and_the_parts_sum_to_it() -> None:
    explanation = FuzzyDict(CAR).explain("highest speed")
    line = next(line for line in reasons(explanation) if line.startswith("'top speed' has"))
    score, *parts = [
        float(word) for word in line.replace(":", "").split() if word[:2] in {"0.", "1."}
    ]
    assert parts == sorted(parts, reverse=True)
    assert len(parts) > 1
    assert sum(parts) == pytest.approx(score, abs=0.003)


def test_a_scorer_without_probabilities_has_scores_alone() -> None:
    axes = {"red": [3.0, 0.0], "blue": [0.0, 2.0], "violet": [2.0, 2.0]}
    d = FuzzyDict({"red": 1, "blue": 2}, embedding=axes, scorer="dot")
    said = reasons(d.explain("violet"))
    assert said[-2:] == ["'red' has 6.000.", "The next key, 'blue', has 4.000."]


def test_a_query_of_many_words_is_told_in_few_lines() -> None:
    said = reasons(FuzzyDict(CAR).explain("one two three four five six seven eight"))
    assert "It has 2 more words." in said
