"""Every way in and out of a `FuzzyDict`, as docs/concepts/in-and-out.md tells them."""

from __future__ import annotations

import collections
import copy
import gc
import json
import math
import operator
import pickle
import string
import types
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, NoMatchError
from tests.support.recording import Recording
from tests.support.searching import check_keys

VECTORS = {"color": [1.0, 0.0], "brand": [0.0, 1.0], "colour": [0.9, 0.1]}
MODES = pytest.mark.parametrize("mode", ["nearest", "pool"])
ior: Any = operator.ior


def car(**options: Any) -> FuzzyDict[Any]:
    return FuzzyDict({"color": "black", "brand": "Porsche"}, embedding=VECTORS, **options)


def lengths(texts: list[str]) -> list[list[float]]:
    """Give each text a vector that costs nothing, for what is tested is not meaning."""
    return [[float(len(text)), float(sum(map(ord, text)) % 7), 1.0] for text in texts]


# ---- what reads by d[key] reads fuzzily ----------------------------------------------------


def matched(d: Any) -> Any:
    match d:
        case {"colour": value}:
            return value
    return "none"


# What each gives where nothing matches: "none", or an error.
FUZZY: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "d[query]": (lambda d: d["colour"], KeyError),
    "get": (lambda d: d.get("colour", "none"), "none"),
    "match": (matched, "none"),
    "itemgetter": (operator.itemgetter("colour"), KeyError),
    "format_map": (lambda d: "{colour}".format_map(d), KeyError),
    "percent": (lambda d: "%(colour)s" % d, KeyError),  # noqa: UP031
    "Template": (lambda d: string.Template("$colour").substitute(d), KeyError),
    "ChainMap": (lambda d: collections.ChainMap({}, d)["colour"], KeyError),
    "MappingProxyType": (lambda d: types.MappingProxyType(d)["colour"], KeyError),
    "namespace of eval": (lambda d: eval("colour", {}, d), NameError),
    "map": (lambda d: next(map(d.get, ["colour"])), None),
}


@pytest.mark.parametrize(("read", "missing"), FUZZY.values(), ids=FUZZY)
def test_these_read_fuzzily(read: Callable[[Any], Any], missing: Any) -> None:
    assert read(car()) == "black"
    for d in (car(score_cutoff=math.inf), dict(car())):
        if isinstance(missing, type):
            with pytest.raises(missing):
                read(d)
        else:
            assert read(d) == missing


# ---- what takes the items takes them as they are -------------------------------------------


TAKE_ITEMS: dict[str, Callable[[Any], Any]] = {
    "dict": dict,
    "**": lambda d: dict(**d),
    "{**d}": lambda d: {**d},
    "|": lambda d: {} | d,
    "update": lambda d: [new := {}, new.update(d)][0],
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
    "UserDict |=": lambda d: ior(collections.UserDict(), d).data,
    "items": lambda d: d.items(),
    "json": lambda d: json.loads(json.dumps(d)),
    "literal": lambda d: eval(repr(d)),
}
# These read each d[key], which in pool mode a named scorer pools.
READ_KEYS: dict[str, Callable[[Any], Any]] = {
    "UserDict": lambda d: collections.UserDict(d).data,
    "OrderedDict": collections.OrderedDict,
    "OrderedDict |=": lambda d: ior(collections.OrderedDict(), d),
    "dict of a proxy": lambda d: dict(types.MappingProxyType(d)),
    "items of a chain": lambda d: dict(collections.ChainMap({}, d).items()),
    "itemgetter": lambda d: dict(zip(d, operator.itemgetter(*d)(d), strict=True)),
    "get": lambda d: {key: d.get(key) for key in d},
    "get_many": lambda d: dict(zip(d, d.get_many(list(d)), strict=True)),
}
PRICES = {"color": 1.0, "brand": 3.0}


@pytest.mark.parametrize("way", [*TAKE_ITEMS, *READ_KEYS])
@pytest.mark.parametrize("options", [{}, {"score_cutoff": 0.7}])
def test_these_take_the_items(way: str, options: dict[str, Any]) -> None:
    taken = dict((TAKE_ITEMS | READ_KEYS)[way](car(**options)))
    assert list(taken.items()) == [("color", "black"), ("brand", "Porsche")]
    called: Any = lambda *, colour="none", **_: colour  # noqa: E731
    assert called(**car(**options)) == "none"  # and names are exact


def pooling(**options: Any) -> FuzzyDict[Any]:
    return FuzzyDict(PRICES, mode="pool", temperature=9.0, embedding=VECTORS, **options)


@pytest.mark.parametrize("scorer", [None, "spelling", "cosine"])
@pytest.mark.parametrize("way", TAKE_ITEMS)
def test_these_take_the_items_of_a_dict_in_pool_mode(way: str, scorer: str | None) -> None:
    assert dict(TAKE_ITEMS[way](pooling(scorer=scorer))) == PRICES


@pytest.mark.parametrize("way", READ_KEYS)
def test_what_reads_each_key_takes_the_items_too_unless_a_named_scorer_pools(way: str) -> None:
    assert dict(READ_KEYS[way](pooling())) == PRICES
    d = pooling(scorer="cosine")
    assert 1.0 < d["color"] < d["brand"] < 3.0
    assert dict(READ_KEYS[way](d)) == {"color": d["color"], "brand": d["brand"]}


def test_in_pool_mode_a_key_has_its_own_value_as_it_is_by_the_default_score() -> None:
    d = FuzzyDict({"red": (255, 0, 0), "navy": (0, 0, 128), "name": "no number"}, mode="pool")
    d.aliases = {"scarlet": "red"}
    assert d["red"] == d["scarlet"] == d.get("red") == (255, 0, 0)
    assert d.get_many(["red", "scarlet", "name"]) == [(255, 0, 0), (255, 0, 0), "no number"]
    del d["name"]
    for d.temperature in (0.1, 1.0, 50.0):
        np.testing.assert_allclose(d.pool(["red", "navy"]), [(255, 0, 0), (0, 0, 128)], atol=1e-6)


# ---- what makes another FuzzyDict ----------------------------------------------------------


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": lambda d: d.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "|": lambda d: d | {"more": 1.0},
    "reflected |": lambda d: {"more": 1.0} | d,
    "| of two": lambda d: d | FuzzyDict({"more": 1.0}, mode="pool", score_cutoff=0.9),
    "|=": lambda d: ior(d.copy(), {"more": 1.0}),
    "|= with pairs": lambda d: ior(d.copy(), [("more", 1.0)]),
    **{
        f"pickle {protocol}": lambda d, protocol=protocol: pickle.loads(pickle.dumps(d, protocol))  # type: ignore[misc]
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "pickle, in Python": lambda d: pickle._loads(pickle._dumps(d)),  # type: ignore[attr-defined]
}


@MODES
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("read_before", [False, True])
def test_these_make_the_same_kind(way: str, mode: str, read_before: bool) -> None:
    items = {"color": 1.0, "brand": 2.0}
    options = {"score_cutoff": 0.2, "temperature": 0.3, "scorer": "cosine"}
    d = FuzzyDict(items, mode=mode, embedding=VECTORS, **options)  # type: ignore[arg-type]
    d.aliases, d.synonyms = {"hue": "color", "beige": None}, {"tint": "colour"}
    if read_before:
        d.get("colour")
    other = COPIES[way](d)
    assert type(other) is type(d)
    assert {name: getattr(other, name) for name in options} == options
    assert other.items() - items.items() <= {("more", 1.0)}
    assert other.nearest("colour") == d.nearest("colour")
    assert (other.aliases, other.synonyms) == (d.aliases, d.synonyms)
    assert other.nearest("tint") == d.nearest("tint")
    del other.aliases["beige"]
    other.synonyms["make"] = "brand"
    other["colour"] = 5.0
    assert d == items
    assert d.aliases == {"hue": "color", "beige": None}
    assert d.synonyms == {"tint": "colour"}
    check_keys(other)
    check_keys(d)


class Sub(FuzzyDict[Any]):
    """A subclass with another constructor, attributes, and slots, one of them private."""

    __slots__ = ("__secret", "unset")
    score_cutoff = 0.3

    def __init__(self, name: str, **items: Any) -> None:
        super().__init__(items, embedding=VECTORS)
        self.name = name

    def keep(self, tags: list[str]) -> None:
        self.tags = self.__secret = tags

    def kept(self) -> tuple[list[str], list[str]]:
        return self.tags, self.__secret


class Pooling(Sub):
    __slots__ = ("more",)
    mode = "pool"


@pytest.mark.parametrize("kind", [Sub, Pooling])
@pytest.mark.parametrize("way", COPIES)
def test_a_subclass_is_copied_with_what_it_holds(way: str, kind: type[Sub]) -> None:
    d, is_new = kind("car", color=[1.0]), "deepcopy" in way or "pickle" in way
    assert not hasattr(COPIES[way](d), "tags")
    d.keep(["new"])
    other = COPIES[way](d)
    assert (type(other), other.name, other.score_cutoff) == (kind, "car", 0.3)
    assert other.nearest("colour").value == [1.0]
    assert other.kept() == (["new"], ["new"])
    assert other.kept()[0] is other.kept()[1]
    assert not hasattr(other, "unset")
    assert (other.tags is not d.tags) == (other["color"] is not d["color"]) == is_new
    assert other.embedding is d.embedding or "pickle" in way


def test_fromkeys_has_the_options_of_the_class_and_a_class_makes_both_modes() -> None:
    strict: Any = type("Strict", (FuzzyDict,), {"score_cutoff": 0.3})
    d = strict.fromkeys(["color"], 1)
    assert (type(d), d, d.score_cutoff) == (strict, {"color": 1}, 0.3)
    with pytest.raises(TypeError):
        Sub.fromkeys(["color"])  # as of any dict whose constructor needs an argument
    pooling: Any = type(FuzzyDict({"a": 1.0}, mode="pool"))
    assert pooling.fromkeys(["a"]).mode == "pool"
    near = pooling({"a": 1.0}, mode="nearest")
    assert (type(near), dict(near), near.mode) == (FuzzyDict, {"a": 1.0}, "nearest")
    assert issubclass(pooling, FuzzyDict)
    with pytest.raises(TypeError, match=r"'colour'.*mode, embedding, scorer.*dict"):
        FuzzyDict(colour="black")  # type: ignore[arg-type]


# ---- what it is ----------------------------------------------------------------------------


@MODES
def test_it_is_a_dict(mode: str) -> None:
    d = car(mode=mode)
    assert isinstance(d, MutableMapping)
    assert dict(d) == d != {}
    alias = FuzzyDict[str]
    assert (alias.__origin__, alias.__args__) == (FuzzyDict, (str,))  # type: ignore[attr-defined]
    d = alias(d, mode=mode, embedding=VECTORS)
    assert d.nearest("colour").value == "black"
    reference = weakref.ref(d)
    assert reference() is d
    del d
    gc.collect()
    assert reference() is None


def test_pandas_series_are_mapped_fuzzily() -> None:
    pandas: Any = pytest.importorskip("pandas", reason="pandas is no dependency, even of the tests")
    d = car()
    series = pandas.Series(["color", "colour", "brand"])
    assert series.map(d).tolist() == ["black", "black", "Porsche"]
    strange = pandas.Series(["colour", "qwzzt"])
    with pytest.raises(NoMatchError):
        strange.map(car(score_cutoff=0.5))
    assert strange.map(car(score_cutoff=0.5).get).isna().tolist() == [False, True]
    assert pandas.Series(d).to_dict() == d


# ---- writes, copies and classes ------------------------------------------------------------


def test_membership_and_writes_are_exact_and_an_update_may_fail_half_way() -> None:
    d = car()
    assert "colour" not in d
    for delete in (d.__delitem__, d.pop):
        with pytest.raises(KeyError):
            delete("colour")
        d["colour"] = "red"
        assert (d["color"], d["colour"]) == ("black", "red")
        delete("colour")
        assert d["colour"] == "black"
    assert d.pop("colour", None) is None
    d.update(colour="blue", self=1, write=2)
    assert (d.setdefault("colour", "red"), len(d)) == ("blue", 5)

    def pairs() -> Any:
        yield np.str_("color"), "black"  # whose texts are texts
        raise OSError("gone")

    d = FuzzyDict({"brand": "Porsche"})
    assert d["brnd"] == "Porsche"
    with pytest.raises(OSError, match="gone"):
        d.update(pairs())
    assert d == {"brand": "Porsche", "color": "black"}
    assert d["colour"] == d[np.str_("colour")] == "black"


def test_a_copy_does_not_encode_its_keys_again() -> None:
    recording = Recording(lengths)
    d = FuzzyDict(car(), embedding=recording)
    assert d["colour"] == "black"
    other = d.copy()
    del other["color"]
    other["colors"] = "red"
    recording.asked.clear()
    assert other["colour"] == "red"
    assert d["colour"] == "black"
    assert "colors" in recording.asked
    assert not {"color", "brand"} & set(recording.asked)
    for each in (d, other):
        check_keys(each)


def test_what_a_class_says_is_kept() -> None:
    class Told(FuzzyDict[Any]):
        embedding = lengths

        def scorer(query: Any, key: Any) -> Any:  # noqa: N805
            return query @ key.T

        def __getitem__(self, key: Any) -> Any:
            return "mine"

    d: Any = Told({"red": 1.0, "a": 2.0}, mode="pool")
    assert (d["red"], d.embedding) == ("mine", lengths)  # functions are no methods
    assert d.attend("of").scores.shape == (2,)
