"""What a dict tells its page: nearest keys, weights, pooled values, places on a map."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, NoMatchError
from fuzzydict.io.explore.answers import Answers, reasons
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.nn.softmax import softmax
from tests.support.exploring import answered, asked, serving

COLORS = {"red": (255, 0, 0), "navy": (0, 0, 128), "sea green": (46, 139, 87)}
CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": 109000}
AXES = {"red": [3.0, 0.0], "blue": [0.0, 2.0], "far": [9.0, 9.0]}
NARROW = ("boxcar", "triangular", "epanechnikov")  # what is farther has no weight at all


# ---- one query ------------------------------------------------------------------------------


def test_why_there_is_no_pooled_value() -> None:
    far = FuzzyDict({"red": 1, "blue": 2}, embedding=AXES, scorer="boxcar")
    for d, query, why in (
        (FuzzyDict({"doors": 4, "color": "black"}), "colour", "the value of 'color' cannot be"),
        (FuzzyDict({"brand": "Porsche", "color": "black"}), "colour", "the values are texts"),
        (far, "far", "nothing to attend to"),
    ):
        told = Answers(d).answer(query)
        assert (told["pooled"], why in told["not_pooled"]) == (None, True)


# ---- every kind of dict -----------------------------------------------------------------------


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
    assert answer["verdict"] == str(explanation).partition("\n")[0]
    assert (answer["why"], answer["matches"]) == (reasons(explanation), explanation.matches)
    assert answer["pools"] == (mode == "pool" and explanation.matches)
    assert answer["none"] == pytest.approx(attention.none)
    assert json.loads(answer["pooled"]["text"]) == pytest.approx(attention.output, abs=1e-3)
    hexadecimal = "".join(f"{round(part):02x}" for part in attention.output)
    assert answer["pooled"]["color"] == f"#{hexadecimal}"
    assert np.sum(heat["weights"], axis=1) == pytest.approx([1, 1])
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
        *(
            (values, None, None)
            for values in (
                *([(255, 0, 16), (0, 0, 256)], [(255, 0, 16), (0.5, 0, 1)], [(255, 0, 16), (0, 1)]),
                *([[1, [2], 3], [1, 2, 3]], ["#ff0", "red"], [1, float("nan")], [1, True]),
                *([1, 10**400], [1, None]),
            )
        ),
    ],
)
def test_colors_and_numbers_are_shown_as_such_if_all_values_are(
    values: list[Any], color: str | None, number: float | None
) -> None:
    answers = Answers(FuzzyDict(zip(["red", "blue"], values, strict=True)))
    (row,) = [row for row in answers.answer("red")["keys"] if row["key"] == "red"]
    assert (row["color"], row["number"]) == (color, number)
    assert answers.map()["points"][0]["color"] == color


# ---- several queries, keys to choose, many keys -------------------------------------------------


def test_a_heat_map_has_the_best_keys_of_each_query() -> None:
    things = ("car", "boat", "plane", "train", "bus", "tram", "lorry", "van", "bicycle", "ferry")
    d = FuzzyDict({f"{color} {thing}": 1 for color in ("red", "blue", "green") for thing in things})
    queries = ["blue ship", "lorries", "a green bike"]
    heat = Answers(d).heat(queries, 0.7)
    assert heat["queries"] == queries
    assert len(heat["keys"]) == len(set(heat["keys"])) == 24
    for query, weights, others in zip(queries, heat["weights"], heat["others"], strict=True):
        attention = d.attend(query)
        rows = dict(zip(attention.names, softmax(attention.scores.astype(float), 0.7), strict=True))
        assert weights == pytest.approx([rows[key] for key in heat["keys"]], abs=1e-5)
        assert others == pytest.approx(1 - sum(weights), abs=1e-9)
        assert max(rows, key=rows.__getitem__) in heat["keys"]
    assert sum(Answers(d).heat(["navy", "?!"])["weights"][1]) == 0


def test_keys_to_choose_begin_with_a_text_then_contain_it_then_are_like_it() -> None:
    keys = ["speed", "Top Speed", "speedometer", "velocity", "price", "Speed limit"]
    d = FuzzyDict(dict.fromkeys(keys, 1))
    found = Answers(d).keys_like("SPEE")["keys"]
    assert found[:4] == ["speed", "speedometer", "Speed limit", "Top Speed"]
    assert Answers(d).keys_like("velocty")["keys"][0] == "velocity"
    many = Answers(FuzzyDict(dict.fromkeys(f"{i} key" for i in range(50))))
    assert many.keys_like("")["keys"] == [f"{i} key" for i in range(20)]


def test_of_many_keys_some_are_shown_and_the_others_counted() -> None:
    answers = Answers(FuzzyDict({f"{place} words": float(place) for place in range(3000)}))
    places, answer = answers.map(), answers.answer("17 word")
    assert len({point["key"] for point in places["points"]}) == len(places["points"]) == 500
    assert (places["total"], answer["others"]) == (3000, 3000 - len(answer["keys"]))
    points = np.array([point["at"] for point in Answers(FuzzyDict(COLORS)).map()["points"]])
    assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == ([0, 0], [1, 1])
    (point,) = Answers(FuzzyDict({"red": 1})).map()["points"]
    assert point["at"] == [0.5, 0.5]


# ---- why ---------------------------------------------------------------------------------------


def test_reasons_are_sentences() -> None:
    d = FuzzyDict(CAR)
    d.aliases["zip"] = None
    for query, said in {
        "colour": "'color' has 0.9",
        "qwzzt": "'qwzzt' is not known, ",
        "colorr": "'colorr' is not known; it is taken for color.",
        "top velocity": "Known words: top, velocity.",
        "highest speed": "For it: its words are matched",
        "cheapest speed": "Against it: ",
        "one two three four five six seven eight": "It has 2 more words.",
        "brand": "An equal key always comes first.",
        "zip": "What was taught comes before all that is only similar.",
    }.items():
        assert any(line.startswith(said) for line in reasons(d.explain(query))), query
