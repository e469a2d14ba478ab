"""`FuzzyDict` where a plain dict stood: membership, writes, and all that makes another dict."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fuzzydict import FuzzyDict

CAR = {"brand": "Porsche", "model": "Taycan", "color": "black", 7: "seven", "!?": "marks"}


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
    assert other["brands"] == "Porsche"
    other._check()


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


def test_what_an_answer_shows_cannot_be_written_to() -> None:
    d = FuzzyDict({"color": 1.0, "brand": 2.0}, embedding=hashed)
    with pytest.raises(ValueError, match="read-only"):
        d.attend("colour").keys[0] = 0


# ---- a class and its other mode ----------------------------------------------------------------


def test_the_class_of_a_dict_in_another_mode_makes_dicts_of_both() -> None:
    pooled = FuzzyDict({"red": 1.0}, mode="pool")
    near = type(pooled)({"red": 2.0}, mode="nearest")
    assert (dict(near), near.mode) == ({"red": 2.0}, "nearest")


def test_a_getitem_of_ones_own_is_kept_in_both_modes() -> None:
    class Told(FuzzyDict[Any]):
        mode = "pool"

        def __getitem__(self, key: Any) -> Any:
            return "mine"

    assert Told({"red": 1.0})["red"] == Told({"red": 1.0}, mode="nearest")["red"] == "mine"


def test_a_key_whose_comparison_writes_while_it_is_removed_hides_none() -> None:
    class Writing(str):
        def __eq__(self, other: object) -> bool:
            d["model"] = 9
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    d = FuzzyDict[Any]({"color": 1, "brand": 2})
    assert d["colour"] == 1
    d.pop(Writing("color"))
    assert "color" not in d
    assert d["modle"] == 9
