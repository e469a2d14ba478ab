"""The sentences of the page that say why a query finds a key."""

from __future__ import annotations

import math
import re

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.io.explore.answers import reasons

CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": 109000}
_TITLES = ("For it: ", "Against it: ")
_NUMBER = re.compile(r"[+-]\d+\.\d")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("colour", "'color' has 0.9"),
        ("qwzzt", "'qwzzt' is not known, "),
        ("colorr", "'colorr' is not known; it is taken for color."),
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


def test_what_speaks_for_a_key_and_against_it_adds_up_to_its_log_odds() -> None:
    explanation = FuzzyDict(CAR).explain("highest speed")
    said = {title: line for line in reasons(explanation) for title in _TITLES if title in line}
    parts = {title: [float(part) for part in _NUMBER.findall(line)] for title, line in said.items()}
    assert "its words are matched" in said["For it: "]
    assert "other keys compete" in said["Against it: "]
    assert parts["For it: "] == sorted(parts["For it: "], reverse=True)
    assert parts["Against it: "] == sorted(parts["Against it: "])
    score = explanation.best.score
    assert sum(map(sum, parts.values())) == pytest.approx(math.log(score / (1 - score)), abs=0.5)


def test_an_opposite_speaks_against_a_key() -> None:
    said = reasons(FuzzyDict({"max speed": 1, "weight": 2}).explain("min speed"))
    assert any(line.startswith("Against it: ") and "sets them apart" in line for line in said)


def test_a_scorer_without_probabilities_has_scores_alone() -> None:
    axes = {"red": [3.0, 0.0], "blue": [0.0, 2.0], "violet": [2.0, 2.0]}
    d = FuzzyDict({"red": 1, "blue": 2}, embedding=axes, scorer="dot")
    said = reasons(d.explain("violet"))
    assert said[-2:] == ["'red' has 6.000.", "The next key, 'blue', has 4.000."]


def test_a_query_of_many_words_is_told_in_few_lines() -> None:
    said = reasons(FuzzyDict(CAR).explain("one two three four five six seven eight"))
    assert "It has 2 more words." in said
