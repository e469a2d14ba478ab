"""Code of the user that a read or write calls, and that reads or writes the same dict."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, FuzzyDictError

KEYS = [f"key {letter}" for letter in "abcdef"]
Act = Callable[[FuzzyDict[Any]], Any]


def vectors(texts: list[str]) -> Any:
    return np.array([np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts])


class Calls:
    """Runs an act in the middle of another, once."""

    def __init__(self) -> None:
        self.act: Callable[[], Any] | None = None

    def __call__(self) -> None:
        act, self.act = self.act, None
        if act is not None:
            act()


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
    "set": lambda d: d.__setitem__("key new", 1.0),
    "overwrite": lambda d: d.__setitem__("key b", 1.0),
    "del": lambda d: d.__delitem__("key c"),
    "pop": lambda d: d.pop("key d", None),
    "popitem": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "update": lambda d: d.update({"key u": 1.0, "key a": 1.0}),
    "setdefault": lambda d: d.setdefault("key s", 1.0),
    "alias": lambda d: d.aliases.update({"other": "key a"}),
    "get": lambda d: d.get("key x"),
    "get_many": lambda d: d.get_many(["key x", "key y"]),
    "most_similar": lambda d: d.most_similar("key z", None),
    "attend": lambda d: d.attend("key z", attn_mask=lambda _: True),
    "pool": lambda d: d.pool("key z"),
    "copy": lambda d: d.copy(),
}


@pytest.mark.parametrize("where", ["encode", "scorer", "key", "value"])
def test_nothing_is_lost_or_doubled(where: str) -> None:
    for (outer, act), (inner, nested) in itertools.product(ACTS.items(), ACTS.items()):
        for is_read in (False, True):
            calls = Calls()
            d = made(where, calls)
            if is_read:
                d.get("warm")
            calls.act = lambda d=d, nested=nested: nested(d)
            with contextlib.suppress(RuntimeError, FuzzyDictError, KeyError):
                act(d)  # or one clear error; what matters is the dict that is left
            calls.act = None
            note = f"{outer} that runs {inner} in {where}, read before: {is_read}"
            found = [match.key for match in d.most_similar("key q", None)] if d else []
            assert sorted(map(str, found)) == sorted(map(str, d)), note
            d._check()
