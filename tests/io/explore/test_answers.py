"""What a dict tells its page: nearest keys, weights, pooled values, places on a map."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, NoMatchError
from fuzzydict.io.explore.answers import Answers
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.nn.softmax import softmax
from tests.support.exploring import answered, asked, serving

COLORS = {"red": (255, 0, 0), "navy": (0, 0, 128), "sea green": (46, 139, 87)}
AXES = {"red": [3.0, 0.0], "blue": [0.0, 2.0], "far": [9.0, 9.0]}
NARROW = ("boxcar", "triangular", "epanechnikov")  # what is farther has no weight at all


def test_why_there_is_no_pooled_value() -> None:
    far = FuzzyDict({"red": 1, "blue": 2}, embedding=AXES, scorer="boxcar")
    for d, query, why in (
        (FuzzyDict({"doors": 4, "color": "black"}), "colour", "the value of 'color' cannot be"),
        (FuzzyDict({"brand": "Porsche", "color": "black"}), "colour", "the values are texts"),
        (far, "far", "nothing to attend to"),
    ):
        told = Answers(d).answer(query)
        assert (told["pooled"], why in told["not_pooled"]) == (None, True)


@pytest.mark.parametrize("scorer", [None, "spelling", *SCORERS])
@pytest.mark.parametrize("mode", ["nearest", "pool"])
def test_every_scorer_and_mode_is_answered(scorer: str | None, mode: str) -> None:
    d = FuzzyDict(COLORS, scorer=scorer, mode=mode)
    query = "navy" if scorer in NARROW else "navvy blue"
    with serving(d) as server:
        about, places = asked(server, "about"), asked(server, "map")
        answer = answered(server, query)
        hotter = answered(server, query, 50)
        heat = asked(server, "heat", queries=["navy", "sea green"], temperature=0.5)
        assert answered(server, query) == answer
    assert about["scorer"] == (scorer or "spelling and meaning")
    assert (about["mode"], about["sample"]) == (mode, list(COLORS))
    attention, explanation = d.attend(query), d.explain(query)
    weights = dict(zip(attention.names, attention.weights.tolist(), strict=True))
    assert {row["key"]: row["weight"] for row in answer["keys"]} == pytest.approx(weights)
    scores = attention.scores.astype(float)
    weights = dict(zip(attention.names, softmax(scores, 50), strict=True))
    assert {row["key"]: row["weight"] for row in hotter["keys"]} == pytest.approx(weights)
    for row, (key, value, score) in zip(answer["keys"], d.most_similar(query), strict=True):
        assert (row["key"], row["value"]) == (key, str(list(value)))
        assert row["score"] == (None if math.isinf(score) else pytest.approx(score))
    assert f"{answer['verdict']}\n{answer['why']}" == str(explanation)
    assert answer["matches"] == explanation.matches
    assert answer["pools"] == (mode == "pool" and explanation.matches)
    assert answer["none"] == pytest.approx(attention.none)
    assert json.loads(answer["pooled"]["text"]) == pytest.approx(attention.output, abs=1e-3)
    hexadecimal = "".join(f"{round(part):02x}" for part in attention.output)
    assert answer["pooled"]["color"] == f"#{hexadecimal}"
    for asked_of, row in zip(heat["queries"], heat["weights"], strict=True):
        one = d.attend(asked_of)
        weights = dict(zip(one.names, softmax(one.scores.astype(float), 0.5), strict=True))
        assert row == pytest.approx([weights[key] for key in heat["keys"]], abs=1e-5)
    assert heat["others"] == pytest.approx([0, 0], abs=1e-9)
    if scorer == "spelling":
        assert (places["points"], answer["at"]) == ([], None)
        assert "no vectors" in places["why"]
    else:
        assert {point["key"] for point in places["points"]} == set(COLORS)
        assert all(0 <= part <= 1 for part in answer["at"])


@pytest.mark.parametrize("items", [{}, {1: "one", None: 0, (1, 2): 2, "?!": 3}])
def test_a_dict_that_can_answer_nothing_says_so(items: dict[Any, Any]) -> None:
    answers = Answers(FuzzyDict(items))
    answer = answers.answer("red")
    assert "no key" in answer["verdict"]
    assert (answer["keys"], answer["matches"], answer["at"]) == ([], False, None)
    assert answers.keys_like("r") == {"keys": []}
    assert answers.map() == {"points": [], "why": "no key is a text with letters or digits"}
    assert answers.about()["sample"] == []
    with pytest.raises(NoMatchError):
        answers.heat(["red"])


def test_keys_that_are_no_texts_stand_beside_those_that_are() -> None:
    d = FuzzyDict({1: "one", "color": "black", None: "none"})
    d.aliases = {"first": 1, "last": None}
    answers = Answers(d)
    assert "no letters or digits" in answers.answer("?!")["verdict"]
    assert answers.about()["keys"] == 3
    assert [row["key"] for row in answers.answer("colour")["keys"]] == ["color"]
    first = answers.answer("first")
    assert (first["matches"], first["taught"]) == (True, True)
    assert [(row["key"], row["value"], row["weight"]) for row in first["keys"]] == [("1", "one", 1)]
    assert answers.answer("last")["not_pooled"] == "it was taught that no key is right"
    assert answers.keys_like("") == {"keys": ["color"]}


@pytest.mark.parametrize(
    ("values", "color", "number"),
    [
        ([(255, 0, 16), [0, 0, 128]], "#ff0010", None),
        ([np.array([255, 0, 16]), (0.0, 1.0, 2.0)], "#ff0010", None),
        (["#F01", "#00ff7f"], "#F01", None),
        ([1, np.float32(2.5)], None, 1.0),
        *(([(255, 0, 16), other], None, None) for other in ((0, 0, 256), (0.5, 0, 1), (0, 1))),
        *(([1, other], None, None) for other in (float("nan"), True, 10**400, None)),
        *(([other, "red"], None, None) for other in ([1, [2], 3], "#ff0")),
    ],
)
def test_colors_and_numbers_are_shown_as_such_if_all_values_are(
    values: list[Any], color: str | None, number: float | None
) -> None:
    answers = Answers(FuzzyDict(zip(["red", "blue"], values, strict=True)))
    (row,) = [row for row in answers.answer("red")["keys"] if row["key"] == "red"]
    assert (row["color"], row["number"]) == (color, number)
    assert answers.map()["points"][0]["color"] == color


def test_of_many_keys_some_are_shown_and_the_others_counted() -> None:
    answers = Answers(FuzzyDict({f"{place} words": float(place) for place in range(3000)}))
    places, answer = answers.map(), answers.answer("17 word")
    assert len({point["key"] for point in places["points"]}) == len(places["points"]) == 500
    assert (places["total"], answer["others"]) == (3000, 3000 - len(answer["keys"]))
    assert answers.keys_like("")["keys"] == [f"{place} words" for place in range(20)]
    assert answers.keys_like("7 WOR")["keys"][:3] == ["7 words", "17 words", "27 words"]
    assert "wordy" in Answers(FuzzyDict({"price": 1, "wordy": 2})).keys_like("wrdy")["keys"][0]
    heat = answers.heat(["17 word", "?!"])
    assert (len(heat["keys"]), heat["keys"][0]) == (24, "17 words")
    assert sum(heat["weights"][0]) + heat["others"][0] == pytest.approx(1)
    assert sum(heat["weights"][1]) + heat["others"][1] == 0
    points = np.array([point["at"] for point in Answers(FuzzyDict(COLORS)).map()["points"]])
    assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == ([0, 0], [1, 1])
    (point,) = Answers(FuzzyDict({"red": 1})).map()["points"]
    assert point["at"] == [0.5, 0.5]


def test_a_key_that_is_pooled_or_placed_is_so_as_the_dict_reads_it() -> None:
    d = FuzzyDict({"KST": 1.0, "cost center": 2.0, "supplier": 3.0}, mode="pool", score_cutoff=0.2)
    d.synonyms = {"KST": "cost center", "supplier": "vendor"}
    places = {point["key"]: point["at"] for point in Answers(d).map()["points"]}
    assert places["KST"] == places["cost center"] != places["supplier"]
    assert [Answers(d).answer(query)["pools"] for query in ("vendors", "qwzzt")] == [True, False]
