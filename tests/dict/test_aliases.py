"""What a dict was taught: aliases are other names of its keys, or of none."""

from __future__ import annotations

import copy
import json
import pickle
from threading import Thread
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, FuzzyDict, NoMatchError, OptionError
from fuzzydict.search.taught import Aliases

VECTORS = {"red": [1.0, 0.0], "navy": [0.0, 1.0], "violet": [0.8, 0.6], "rouge": [0.1, 0.9]}
SCORERS = [None, "cosine", "dot", "gaussian", lambda q, k: q @ k.T]


def colors(**options: Any) -> FuzzyDict[Any]:
    d: FuzzyDict[Any] = FuzzyDict({"red": 1.0, "navy": 2.0}, embedding=VECTORS, **options)
    d.aliases = {"rouge": "red", "beige": None}
    return d


@pytest.mark.parametrize("query", ["rouge", "Rouge", "ROUGE!", "rougé", " rouge "])
@pytest.mark.parametrize("scorer", SCORERS)
def test_an_alias_is_read_as_its_key_however_it_is_written(query: str, scorer: Any) -> None:
    d = colors(scorer=scorer)
    assert d[query] == d.get(query) == d.get_many([query])[0] == 1.0
    assert d.nearest(query) == d.nearest("red")
    assert (d.nearest(query).query, d.nearest(query).matches) == (query, True)
    assert d.most_similar(query) == d.most_similar("red")
    assert d.pool(query) == d.pool("red")
    np.testing.assert_array_equal(d.attend(query).weights, d.attend("red").weights)
    assert d.attend(query).text == query
    e = d.explain(query)
    assert (e.best, e.taught, e.matches, e.equal) == (d.explain("red").best, True, True, False)
    assert "taught: another name of 'red'" in str(e)
    assert query not in d
    assert json.loads(json.dumps(d)) == {"red": 1.0, "navy": 2.0}


@pytest.mark.parametrize("scorer", SCORERS)
def test_an_alias_of_none_matches_nothing(scorer: Any) -> None:
    d = colors(scorer=scorer)
    for read in (d.__getitem__, d.nearest, d.pool, lambda query: d.nearest(["red", query])):
        with pytest.raises(NoMatchError, match=r"'Beige': this was taught.*d\.aliases\['Beige'\]"):
            read("Beige")
    assert d.get("beige", 7) == 7
    assert d.get("beige", 7, score_cutoff=-np.inf) == 7
    assert d.get_many(["beige", "red"], 7) == [7, 1.0]
    assert d.nearest(["beige", "red"], default=None) == [None, d.nearest("red")]
    assert not any(match.matches for match in d.most_similar("beige"))
    refused = d.explain("beige")
    assert (refused.taught, refused.matches, d.explain("navvy").taught) == (True, False, False)
    assert "taught: no key" in str(refused)
    np.testing.assert_array_equal(len(d.attend("beige").weights), 2)


def test_signs_tell_aliases_apart_and_an_equal_key_wins() -> None:
    d = colors()
    d.aliases["RED"] = "navy"
    assert (d["red"], d["RED"], d["Red"], d["rouge"]) == (1.0, 2.0, 2.0, 1.0)
    d["rouge"] = 3.0
    d.aliases |= {"rouge": "red", "navy": "navy"}  # which changes nothing
    for same in (d, copy.deepcopy(d), pickle.loads(pickle.dumps(d)), d | {}, {"rouge": 3.0} | d):
        assert (same["rouge"], same["Rouge"], same["Navy"]) == (3.0, 1.0, 2.0)
    pooling = colors(mode="pool")
    pooling[5] = 7.0
    pooling.aliases["five"] = 5
    found = pooling.get_many(["five", "beige", 5, "Rouge"], "none")
    assert found == [7.0, "none", 7.0, pooling["red"]]
    d = FuzzyDict({"csharp": 1, "cpp": 2, "good": 3, "poor": 4})
    d.aliases = {"C#": "csharp", "C++": "cpp", "A+": "good", "A-": "poor"}
    keys = [d.nearest(query).key for query in ("c#", "c++", "a+", "A-", "A-.")]
    assert keys == ["csharp", "cpp", "good", "poor", "poor"]
    d.aliases = {"dark-good": "good", "Dark Good": "good"}
    assert list(d.aliases.items()) == [("dark-good", "good")]


def test_a_key_that_is_not_compared_has_aliases_too() -> None:
    d: FuzzyDict[str] = FuzzyDict({5: "five", "!": "bang", None: "nothing", ("a", 1): "pair"})
    d.aliases = {"number five": 5, "bang": "!", "a pair": ("a", 1)}
    assert d.get("number 5ive") is None
    for query, key in (("Number Five", 5), ("bang", "!"), ("a-pair", ("a", 1))):
        match = d.nearest(query)
        assert (d[query], match.key, match.score, match.query) == (d[key], key, 1.0, query)
        assert d.most_similar(query) == [match]
        assert (d.explain(query).best, d.explain(query).taught) == (match, True)
    d.aliases["quintet"] = 5.0  # which equals the key
    assert d["quintet"] == "five"
    del d[5]
    assert "quintet" not in d.aliases


def test_aliases_are_a_mapping_by_plain_words() -> None:
    d = colors()
    assert d.aliases == {"rouge": "red", "beige": None} == {**d.aliases} == {} | d.aliases
    assert d.aliases == {"Rouge": "red", "BEIGE": None}
    assert (list(d.aliases), d.aliases["ROUGE"]) == (["rouge", "beige"], "red")
    assert d.aliases.get(5) is None  # type: ignore[call-overload]
    assert d.aliases.setdefault("Rouge", "navy") == "red"
    assert d.aliases.pop("rouge") == "red"
    with pytest.raises(KeyError):
        del d.aliases["rouge"]
    d.aliases |= {"dark blue": "navy"}
    assert repr(d.aliases) == "Aliases({'beige': None, 'dark blue': 'navy'})"
    for again in (copy.copy(d.aliases), pickle.loads(pickle.dumps(d.aliases))):
        assert (type(again), again) == (dict, d.aliases)
    d.aliases.clear()
    d.aliases.update(before="red", what="navy")
    assert d.aliases == {"before": "red", "what": "navy"}
    dict.__delitem__(d, "red")  # unseen by the dict, so that an alias of no key is left
    d.aliases["Before"] = "navy"
    assert {**d.aliases} == {"Before": "navy", "what": "navy"}


def test_of_threads_that_pop_an_alias_one_has_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    d, popped = colors(), list[Any]()
    other = Thread(target=lambda: popped.append(d.aliases.pop("rouge", "gone")))
    delete = type(d.aliases).__delitem__

    def slowly(aliases: Any, alias: str) -> None:
        if not other.ident:
            other.start()
            other.join(0.2)
        delete(aliases, alias)

    monkeypatch.setattr(type(d.aliases), "__delitem__", slowly)
    popped.append(d.aliases.pop("rouge", "gone"))
    other.join()
    assert popped == ["red", "gone"]


WRONG: list[tuple[Any, type[Exception], str]] = [
    ({"rose": "pink"}, OptionError, "'rose' is given 'pink', which is no key of the dict"),
    ({"navy": "red"}, OptionError, "'red' for 'navy': 'navy' is a key and always finds itself"),
    ({"navy": None}, OptionError, "None for 'navy': 'navy' is a key"),
    ({"?!": "red"}, OptionError, r"'\?!' has no letters or digits.*make it a key"),
    ({5: "red"}, ArgumentTypeError, "expected texts, got int 5"),
    ({"dark-red": "red", "Dark Red": "navy"}, OptionError, "one alias, given 'red' and 'navy'"),
    (7, ArgumentTypeError, "aliases: expected a mapping from texts to keys, got 7"),
]


@pytest.mark.parametrize(("wrong", "kind", "told"), WRONG)
def test_what_is_no_alias_is_refused(wrong: Any, kind: type[Exception], told: str) -> None:
    d = colors()
    before = dict(d.aliases)
    with pytest.raises(kind, match=told):
        d.aliases = wrong
    if isinstance(wrong, dict):
        with pytest.raises(kind, match=told):
            d.aliases.update({"good": "red", **wrong} if all(map(str, wrong)) else wrong)
    assert d.aliases == before
    assert isinstance(d.aliases, Aliases)


def test_of_two_dicts_the_right_one_decides_and_copies_of_keys_keep_theirs() -> None:
    left, right = colors(), colors()
    left.aliases["only left"] = "red"
    right.aliases.update({"rouge": "navy", "only right": "red"})
    merged = {"rouge": "navy", "beige": None, "only left": "red", "only right": "red"}
    assert FuzzyDict(left).aliases == FuzzyDict().__ior__(left).aliases == left.aliases
    assert (left | right).aliases == merged
    assert (left | dict(right)).aliases == left.aliases
    left |= right
    assert left.aliases == merged
    key = type("Key", (), {})()  # equal to itself alone
    d = FuzzyDict({key: 1})
    d.aliases["the key"] = key
    for new in (copy.deepcopy(d), copy.copy(d)):
        assert new["the key"] == 1
        assert new.aliases["the key"] is next(iter(new))
