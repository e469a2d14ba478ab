"""`FuzzyDict` where a plain dict stood: membership, writes, and all that makes another dict."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, NoMatchError
from tests.support.properties import examples

CAR = {"brand": "Porsche", "model": "Taycan", "color": "black", 7: "seven", "!?": "marks"}

KEYS = st.one_of(
    st.sampled_from(["color", "colour", "Color", "top speed", "topSpeed", "", "!", "a", "of"]),
    st.text(max_size=4),
    st.integers(0, 3),
)


def hashed(texts: list[str]) -> list[list[float]]:
    """Give each text a vector that costs nothing, for what is tested is not meaning."""
    return [[float(len(text)), float(sum(map(ord, text)) % 7), 1.0] for text in texts]


def test_an_exact_key_and_a_resembling_query() -> None:
    d = FuzzyDict(CAR)
    assert d["color"] == "black"
    assert d["colour"] == "black"
    assert d[7] == "seven"
    assert d["!?"] == "marks"


def test_membership_and_writes_are_exact() -> None:
    d = FuzzyDict(CAR)
    assert "colour" not in d
    d["colour"] = "red"
    assert d["color"] == "black"
    assert d["colour"] == "red"
    del d["colour"]
    assert d["colour"] == "black"
    with pytest.raises(KeyError):
        del d["colour"]
    with pytest.raises(KeyError):
        d.pop("colour")
    assert d.pop("colour", None) is None
    assert d.setdefault("colour", "blue") == "blue"
    assert len(d) == len(CAR) + 1


def test_get_agrees_with_reading() -> None:
    d = FuzzyDict(CAR)
    assert d.get("colour") == d["colour"]
    assert d.get("zzzqx") is None
    assert d.get("zzzqx", "none") == "none"
    assert d.get(8, "none") == "none"
    assert d.get(7) == "seven"


def test_a_miss_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        FuzzyDict(CAR)["zzzqx"]


def test_an_unhashable_query_is_a_type_error_as_in_a_dict() -> None:
    d = FuzzyDict(CAR)
    for read in (lambda: d[{}], lambda: d.get([]), lambda: d.nearest({})):
        with pytest.raises(TypeError):
            read()


def test_it_is_a_dict_to_json_and_to_keywords() -> None:
    d = FuzzyDict({"a": 1, "b": [2, {"c": None}]})
    assert isinstance(d, dict)
    assert json.loads(json.dumps(d)) == d == {"a": 1, "b": [2, {"c": None}]}
    assert dict(**d) == d
    assert repr(d) == repr(dict(d))


@pytest.mark.parametrize("mode", ["nearest", "pool"])
def test_all_that_makes_a_dict_keeps_kind_and_options(mode: str) -> None:
    d = FuzzyDict({"red": 1.0, "navy": 2.0}, mode=mode, score_cutoff=0.4, temperature=0.1)
    others: list[FuzzyDict[Any]] = [
        d.copy(),
        copy.copy(d),
        copy.deepcopy(d),
        d | {"green": 3.0},
        {"green": 3.0} | d,
        *(pickle.loads(pickle.dumps(d, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)),
    ]
    for other in others:
        assert type(other) is type(d)
        assert (other.mode, other.score_cutoff, other.temperature) == (mode, 0.4, 0.1)
        assert other.items() >= d.items()
        assert other["rred"] == pytest.approx(d["rred"], abs=0.1)
        other["pink"] = 0.0
        assert "pink" not in d


def test_the_operators_order_keys_as_those_of_a_dict() -> None:
    a, b = {"x": 1, "y": 2}, {"y": 3, "z": 4}
    assert list((FuzzyDict(a) | b).items()) == list((a | b).items())
    assert list((a | FuzzyDict(b)).items()) == list((a | b).items())
    d = e = FuzzyDict(a)
    d |= [("w", 5)]
    assert d is e
    assert e["w"] == 5
    with pytest.raises(TypeError):
        _ = FuzzyDict(a) | [("w", 5)]


def test_fromkeys_and_a_class_with_options_of_its_own() -> None:
    class Strict(FuzzyDict[Any]):
        score_cutoff = float("inf")

    d = Strict.fromkeys(["color", "brand"], 1)
    assert type(d) is Strict
    assert d["color"] == 1
    with pytest.raises(NoMatchError, match="cutoff inf"):
        d["colour"]


def test_a_copy_does_not_encode_its_keys_again() -> None:
    asked: list[str] = []

    def encode(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[len(text), 1.0] for text in texts]

    d = FuzzyDict({"color": "black", "brand": "Porsche"}, embedding=encode)
    assert d["colour"] == "black"
    other = d.copy()
    del other["color"]
    other["colors"] = "red"
    asked.clear()
    assert other["colour"] == "red"
    assert d["colour"] == "black"
    assert "colors" in asked
    assert not {"color", "brand"} & set(asked)
    for each in (d, other):
        each._check()


def test_a_copy_of_a_subclass_that_writes_other_keys() -> None:
    class Shouting(FuzzyDict[Any]):
        def update(self, *args: Any, **kwargs: Any) -> None:
            super().update({key.upper(): v for key, v in dict(*args, **kwargs).items()})

    d = Shouting({"color": "black"})
    dict.__setitem__(d, "brand", "Porsche")
    assert d["colour"] == "black"
    other = d.copy()
    assert list(other) == ["COLOR", "BRAND"]
    assert other["brandt"] == "Porsche"
    other._check()


def test_a_subclass_with_another_constructor() -> None:
    class Named(FuzzyDict[Any]):
        def __init__(self, name: str, **items: Any) -> None:
            super().__init__(items)
            self.name = name

    d = Named("car", color="black")
    for other in (d.copy(), d | {"brand": "x"}, copy.deepcopy(d), pickle_in_place(d)):
        assert type(other) is Named
        assert other.name == "car"
        assert other["colour"] == "black"


def pickle_in_place(d: FuzzyDict[Any]) -> Any:
    """Copy by the protocol of pickle, for a class of a test cannot be imported."""
    return copy._reconstruct(d, None, *d.__reduce_ex__(4))  # type: ignore[attr-defined]


def test_a_dict_that_holds_itself() -> None:
    d: FuzzyDict[Any] = FuzzyDict({"a": 1})
    d["me"] = d
    assert copy.deepcopy(d)["me"]["me"]["a"] == 1
    assert pickle.loads(pickle.dumps(d))["me"]["a"] == 1
    assert repr(d) == "{'a': 1, 'me': {...}}"


def test_constructors_take_what_those_of_a_dict_take() -> None:
    pairs = [("a", 1), ("b", 2)]
    assert FuzzyDict(pairs) == FuzzyDict(dict(pairs)) == FuzzyDict(iter(pairs)) == dict(pairs)
    assert FuzzyDict() == {}
    with pytest.raises(TypeError, match=r"'colour'.*mode, embedding, scorer.*dict"):
        FuzzyDict(colour="black")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="length"):
        FuzzyDict([("a", 1, 2)])  # type: ignore[arg-type]


def test_an_update_that_fails_half_way_keeps_what_a_dict_keeps() -> None:
    def pairs() -> Any:
        yield "color", "black"
        raise OSError("gone")

    d: FuzzyDict[Any] = FuzzyDict({"brand": "Porsche"})
    assert d["brnd"] == "Porsche"
    with pytest.raises(OSError, match="gone"):
        d.update(pairs())
    assert d == {"brand": "Porsche", "color": "black"}
    assert d["colour"] == "black"


@given(st.dictionaries(KEYS, st.integers(), max_size=8), KEYS)
@examples(200)
def test_a_read_answers_with_a_value_or_a_key_error(items: dict[Any, int], query: Any) -> None:
    d = FuzzyDict(items, embedding=hashed)
    try:
        assert d[query] in items.values()
    except NoMatchError:
        assert query not in items
    if query in items:
        assert d[query] == items[query]


# ---- copies and classes -------------------------------------------------------------------


def test_a_deep_copy_copies_what_a_subclass_holds_and_shares_the_options() -> None:
    class Tagged(FuzzyDict[Any]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.tags = ["new"]

    d = Tagged({"color": [1]}, embedding=hashed)
    shallow, deep = copy.copy(d), copy.deepcopy(d)
    assert shallow.tags is d.tags
    assert deep.tags == d.tags
    assert deep.tags is not d.tags
    assert deep["color"] is not d["color"]
    assert deep.embedding is d.embedding


def test_a_class_of_the_other_mode_is_one_class() -> None:
    in_pool_mode: Any = FuzzyDict({"a": 1.0}, mode="pool")
    pooling: Any = type(in_pool_mode)
    assert type(in_pool_mode | {"b": 2.0}) is pooling
    assert type(pooling({"a": 1.0}, mode="pool")) is pooling
    assert type(pooling({"a": 1.0}, mode="nearest")) is FuzzyDict
    assert issubclass(pooling, FuzzyDict)
    assert pooling.__qualname__ == "FuzzyDict"


def test_functions_as_options_of_a_class_are_not_methods() -> None:
    class Sub(FuzzyDict[int]):
        embedding = hashed

        def scorer(query: Any, key: Any) -> Any:  # noqa: N805
            return query @ key.T

    d: Any = Sub({"color": 1, "a": 2})
    assert d.attend("of").scores.shape == (2,)
    assert d.embedding is hashed


def test_in_pool_mode_keys_that_are_not_embedded_are_found_exactly() -> None:
    d = FuzzyDict({"red": 1.0, "?!": 2.0, 5: 3.0}, mode="pool", embedding=hashed)
    assert (d["?!"], d[5]) == (2.0, 3.0)
    assert d.get("!?") is None
    assert d["red"] == pytest.approx(1.0)


def test_what_an_answer_shows_cannot_be_written_to() -> None:
    d = FuzzyDict({"color": 1.0, "brand": 2.0}, embedding=hashed)
    with pytest.raises(ValueError, match="read-only"):
        d.attend("colour").keys[0] = 0
