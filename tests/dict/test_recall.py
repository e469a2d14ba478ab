"""A query asked again: found as at first, whatever was written or set meanwhile."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, Gaussian, NoMatchError
from fuzzydict.recall import _LONGEST, _MOST, Recall


class Counting:
    """An embedding that counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: list[str]) -> Any:
        self.asked += 1
        return np.eye(5)[[sum(map(ord, text)) % 5 for text in texts]]


def test_what_is_asked_again_is_not_looked_up_again_and_values_are_read() -> None:
    model = Counting()
    d: FuzzyDict[Any] = FuzzyDict({"color": "black", "brand": "Porsche"}, embedding=model)
    d.score_cutoff = 0  # and a query that its spelling does not settle
    found = d["the colour"]
    asked = model.asked
    assert d["the colour"] == d.get("the colour") == found
    assert model.asked == asked
    for key in d:
        dict.__setitem__(d, key, "red")
    assert d["the colour"] == "red"
    assert model.asked == asked
    d["another colour"] = "blue"
    assert d["the colour"] in ("red", "blue")
    assert model.asked > asked


WRITES: dict[str, tuple[Callable[[Any], object], object]] = {
    "a key that is nearer": (lambda d: d.update({"Colour": 1}), 1),
    "another value": (lambda d: d.update({"color": 2}), 2),
    "del": (lambda d: d.__delitem__("color"), "Porsche"),
    "pop": (lambda d: d.pop("color"), "Porsche"),
    "clear": (lambda d: (d.clear(), d.update({"colour's": 3})), 3),
    "setdefault": (lambda d: d.setdefault("Colour", 4), 4),
    "a method of dict that adds": (lambda d: dict.__setitem__(d, "Colour", 5), 5),
    "a method of dict that removes": (lambda d: dict.__delitem__(d, "color"), "Porsche"),
    "a scorer": (lambda d: setattr(d, "scorer", lambda q, k: -abs(q @ k.T)), "Porsche"),
    "an embedding": (lambda d: setattr(d, "embedding", {"colour": [1, 0], "color": [0, 1]}), None),
    "another class option": (lambda d: setattr(type(d), "score_cutoff", float("inf")), None),
    "a cutoff": (lambda d: setattr(d, "score_cutoff", float("inf")), None),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_was_found_is_forgotten_at_any_change(name: str) -> None:
    class Own(FuzzyDict[Any]):
        score_cutoff = -10.0

    write, value = WRITES[name]
    d = Own({"color": "black", "brand": "Porsche"})
    assert d["colour"] == "black"
    write(d)
    if value is not None:
        assert d["colour"] == value
    fresh = Own(d, embedding=d.embedding, scorer=d.scorer, score_cutoff=d.score_cutoff)
    assert d.get("colour") == fresh.get("colour")


def test_the_same_embedding_set_again_may_have_changed() -> None:
    axes = {"ask": [1.0, 0.0], "one": [1.0, 0.0], "two": [0.0, 1.0]}
    d = FuzzyDict({"one": 1, "two": 2}, embedding=axes, scorer="cosine")
    assert d["ask"] == 1
    axes["ask"] = [0.0, 1.0]
    d.embedding = axes
    assert d["ask"] == 2


def test_a_scorer_that_is_changed_where_it_is_is_heeded() -> None:
    scorer = Gaussian(1.0)
    d = FuzzyDict({"one": 1}, embedding={"one": [1, 0], "ask": [0, 1]}, scorer=scorer)
    d.score_cutoff = -10.0
    assert d["ask"] == 1
    scorer.width *= 0.1
    assert d.get("ask") is None


def test_what_matches_nothing_is_told_each_time() -> None:
    d = FuzzyDict({"color": 1}, score_cutoff=float("inf"))
    for _ in range(2):
        with pytest.raises(NoMatchError, match="below the cutoff"):
            d["colour"]


def test_it_is_bounded_and_no_copy_has_it() -> None:
    recall = Recall(1, None, None, None, None, "exact")
    for number in range(2 * _MOST):
        recall.note(f"query {number}", "key")
    recall.note("x" * (_LONGEST + 1), "key")
    recall.note(1, "key")
    assert list(recall.keys) == [f"query {number}" for number in range(_MOST, 2 * _MOST)]
    d = FuzzyDict({"color": 1}, embedding={"color": [1.0]})
    assert d["colour"] == 1
    assert d._recall is not None
    copies = (d.copy(), pickle.loads(pickle.dumps(d)), d | {})
    assert all(copy._recall is None for copy in copies)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_reads_and_writes_agree_with_a_dict_that_forgets(data: st.DataObject) -> None:
    d: FuzzyDict[Any] = FuzzyDict({"aa": 0}, embedding=Counting(), score_cutoff=0.0)
    texts = st.text("ab", min_size=1, max_size=3)
    for number in range(data.draw(st.integers(1, 12))):
        key, query = data.draw(texts), data.draw(texts)
        match data.draw(st.sampled_from(["write", "pop", "setdefault", "cutoff", "scorer"])):
            case "write":
                d[key] = number
            case "pop":
                d.pop(key, None)
            case "setdefault":
                d.setdefault(key, number)
            case "cutoff":
                d.score_cutoff = data.draw(st.sampled_from([0.0, 0.02]))
            case _:
                d.scorer = data.draw(st.sampled_from([None, "cosine"]))
        if d:
            assert d.get(query) == d.get(query) == d.copy().get(query)
