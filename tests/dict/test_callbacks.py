"""Code of the user that a read or write calls, and that reads or writes the same dict."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzzydict import Attention, Explanation, FuzzyDict, FuzzyDictError, Match
from tests.support.properties import SLOW
from tests.support.searching import check_keys

KEYS = [f"key {letter}" for letter in "abcdef"]
Act = Callable[[FuzzyDict[Any], Callable[[str], bool]], Any]
ERRORS = (RuntimeError, FuzzyDictError, KeyError)


def vectors(texts: list[str]) -> Any:
    return np.array([np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts])


class Calls(list[Callable[[], Any]]):
    """Runs the act that is in it in the middle of another, once."""

    def __call__(self) -> None:
        if self:
            self.pop()()


class Key(str):
    """A text with a comparison of its own, which calls the user's code."""

    calls: Calls

    __slots__ = ("calls",)

    def __eq__(self, other: object) -> bool:
        self.calls()
        return str.__eq__(self, other) is True

    def __hash__(self) -> int:
        self.calls()
        return str.__hash__(self)


class Value:
    """A number that calls the user's code when it is made an array."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.calls()
        return np.array(1.0, dtype)


def made(where: str, calls: Calls) -> FuzzyDict[Any]:
    def encode(texts: list[str]) -> Any:
        if where == "encode":
            calls()
        return vectors(texts)

    def score(queries: Any, keys: Any) -> Any:
        if where == "scorer":
            calls()
        return queries @ keys.T

    d: FuzzyDict[Any] = FuzzyDict(embedding=encode, scorer=score, score_cutoff=-100.0)
    for key in KEYS:
        name: Any = key
        if where == "key":
            name = Key(key)
            name.calls = calls
        d[name] = Value(calls) if where == "value" else 1.0
    return d


ACTS: dict[str, Act] = {
    "set": lambda d, _: d.__setitem__("key new", 1.0),
    "overwrite": lambda d, _: d.__setitem__("key b", 1.0),
    "del": lambda d, _: d.__delitem__("key c"),
    "pop": lambda d, _: d.pop("key d", None),
    "popitem": lambda d, _: d.popitem(),
    "clear": lambda d, _: d.clear(),
    "update": lambda d, _: d.update({"key u": 1.0, "key a": 1.0}),
    "setdefault": lambda d, _: d.setdefault("key s", 1.0),
    "alias": lambda d, _: d.aliases.update({"other": "key a"}),
    "get": lambda d, _: d.get("key x"),
    "get_many": lambda d, _: d.get_many(["key x", "key y"]),
    "most_similar": lambda d, _: d.most_similar("key z", None),
    "attend": lambda d, mask: d.attend("key z", attn_mask=mask),
    "pool": lambda d, _: d.pool("key z"),
    "pool some": lambda d, mask: d.pool("key z", attn_mask=mask),
    "explain": lambda d, _: d.explain("key z"),
    "copy": lambda d, _: d.copy(),
}


def answer(found: Any) -> Any:
    """Return what a read returned as something that can be compared."""
    if isinstance(found, Attention):
        return [
            (str(n), round(s, 4)) for n, s in zip(found.names, found.scores.tolist(), strict=True)
        ]
    if isinstance(found, FuzzyDict):
        return sorted(map(str, found))
    found = found.best if isinstance(found, Explanation) else found
    if isinstance(found, tuple):
        return str(found[0]), round(found.score, 4) if isinstance(found, Match) else None
    if isinstance(found, list):
        return list(map(answer, found))
    return 1.0 if isinstance(found, Value) else found


def outcome(d: FuzzyDict[Any], *acts: Act) -> Any:
    """Return the answer of the last of some acts, or that it failed."""
    with contextlib.suppress(*ERRORS):
        for act in acts[:-1]:
            act(d, lambda _: True)
        return answer(acts[-1](d, lambda _: True))
    return "failed"


def allow(calls: Calls, _: str) -> bool:
    """Allow every key, as a mask that calls the user's code."""
    calls()
    return True


@functools.cache
def possible(outer: str, inner: str) -> list[Any]:
    """Return what an act answers before another, and after it."""
    act, nested = ACTS[outer], ACTS[inner]
    return [outcome(made("", Calls()), act), outcome(made("", Calls()), nested, act)]


@pytest.mark.parametrize("where", ["encode", "scorer", "key", "value", "mask"])
def test_nothing_is_lost_or_doubled(where: str) -> None:
    for outer, inner in [*itertools.product(ACTS, ACTS)][:: 1 if SLOW else 5]:
        for is_read in (False, True):
            calls, found = Calls(), "failed"
            d = made(where, calls)
            if is_read:
                d.get("warm")
            calls.append(lambda d=d, inner=inner: ACTS[inner](d, lambda _: True))  # type: ignore[misc]
            mask = functools.partial(allow, calls if where == "mask" else Calls())
            with contextlib.suppress(*ERRORS):  # or one clear error
                found = answer(ACTS[outer](d, mask))
            calls.clear()
            note = f"{outer} that runs {inner} in {where}, read before: {is_read}"
            assert found == "failed" or found in possible(outer, inner), note
            keys = [match.key for match in d.most_similar("key q", None)] if d else []
            assert sorted(map(str, keys)) == sorted(map(str, d)), note
            check_keys(d)


def test_an_embedding_may_not_need_the_dict_whose_keys_it_encodes() -> None:
    acts: list[Callable[[], Any]] = [lambda: d.get("key x"), lambda: d.update({f"{len(d)}": 1})]
    for act in acts:

        def encode(texts: list[str], act: Callable[[], Any] = act) -> Any:
            act()
            return vectors(texts)

        d = FuzzyDict(dict.fromkeys(KEYS, 1), embedding=vectors, scorer="cosine")
        d.embedding = encode
        with pytest.raises(RuntimeError, match="its encode reads or writes the dict"):
            d.nearest("key y")
        d.embedding = vectors
        assert {match.key for match in d.most_similar("key y", None)} == set(d)


def test_embeddings_may_not_read_each_others_dicts() -> None:
    def reading(other: str) -> Callable[[list[str]], Any]:
        return lambda texts: (dicts[other].get("key x"), vectors(texts))[1]

    dicts = {
        name: FuzzyDict(dict.fromkeys(KEYS, 1), embedding=reading(other), scorer="cosine")
        for name, other in (("one", "other"), ("other", "one"))
    }
    with pytest.raises(RuntimeError, match="its encode reads or writes the dict"):
        dicts["one"].nearest("key y")
