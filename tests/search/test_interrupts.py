"""Ctrl-C at any line of a read or write: later reads answer as those of a new dict."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fuzzydict
from fuzzydict import FuzzyDict, saving
from tests.benchmarks.campaigns import interrupts
from tests.support.interrupting import at_line
from tests.support.searching import search_always

PACKAGE = Path(fuzzydict.__file__).parent
FILES = {
    str(PACKAGE / name)
    for name in (
        "mapping.py",
        "indexed.py",
        "saving.py",
        *(f"search/{name}.py" for name in ("features", "key_index", "lookup", "neighbours")),
        "search/backends/exact.py",
        "text/ngrams.py",
    )
}
KEYS = [f"key {letter}" for letter in "abcdefgh"]
SLOW = bool(os.environ.get("FUZZYDICT_SLOW"))
EVERY = 1 if SLOW else 25  # so many lines one is stopped at


def encode(texts: list[str]) -> Any:
    return [np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts]


Line = tuple[str, int]


def lines_of(act: Callable[[], None], stop: Line | None = None) -> set[Line]:
    """Run ``act``, and return its lines; raise KeyboardInterrupt before the first ``stop``."""
    lines = set[Line]()

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        line = frame.f_code.co_filename, frame.f_lineno
        if event == "line":
            if line == stop:
                raise KeyboardInterrupt
            lines.add(line)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return lines


def read(d: FuzzyDict[int]) -> None:
    d.get("key x")


def replace_most(d: FuzzyDict[int]) -> None:
    for key in KEYS[:6]:
        del d[key]
    d["key new"] = 10
    read(d)


def write_in_every_way(d: FuzzyDict[int]) -> None:
    d.update({"key i": 1, KEYS[0]: 2})
    d.setdefault("key j", 3)
    d.pop(KEYS[1])
    d.popitem()
    del d[KEYS[2]]
    read(d)


def empty_and_fill(d: FuzzyDict[int]) -> None:
    d.clear()
    d["key k"] = 1
    read(d)


@pytest.mark.more
@pytest.mark.parametrize("engine", [False, True], ids=["all keys", "keys of an engine"])
@pytest.mark.parametrize("warm", [False, True, None], ids=["new", "read before", "from a file"])
@pytest.mark.parametrize("act", [read, replace_most, write_in_every_way, empty_and_fill])
def test_reads_after_an_interrupt_are_those_of_a_new_dict(
    act: Callable[[FuzzyDict[int]], None],
    warm: bool | None,
    engine: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if engine:
        search_always(monkeypatch)
    monkeypatch.setattr(saving, "_LITTLE", 0)  # so that files are read when their keys are needed
    options: Any = {"embedding": encode, "scorer": None if act is read and not engine else "cosine"}
    new = FuzzyDict({key: i for i, key in enumerate(KEYS)}, **options)
    if warm is not False:
        new.get("warm")
    new.save(tmp_path / "d")

    def made() -> FuzzyDict[int]:
        d = new.copy() if warm is not None else FuzzyDict.load(tmp_path / "d", embedding=encode)
        if warm:
            d.get("warm")
        return d

    whole = made()
    for line in sorted(lines_of(lambda: act(whole)))[::EVERY]:
        d = made()
        with contextlib.suppress(KeyboardInterrupt):
            lines_of(lambda d=d: act(d), line)  # type: ignore[misc]
        assert_like_new(d, FuzzyDict(dict(d), **options))
        d["key later"] = 20
        d.pop(KEYS[7], None)
        assert_like_new(d, FuzzyDict(dict(d), **options))


def assert_like_new(d: FuzzyDict[int], new: FuzzyDict[int]) -> None:
    if not d:
        assert d.most_similar("key x") == []
        return
    found, expected = d.most_similar("key x", None), new.most_similar("key x", None)
    assert [match[:2] for match in found] == [match[:2] for match in expected]
    d._check()


def test_an_interrupt_at_any_line_leaves_the_items_of_before_or_after() -> None:
    assert interrupts(2000 if SLOW else 80, seed=3) == []


@pytest.mark.parametrize(
    "remove",
    [
        lambda d: d.clear(),
        lambda d: d.__delitem__("key"),
        lambda d: d.pop("key"),
        lambda d: d.popitem(),
    ],
)
def test_an_interrupted_removal_leaves_no_alias_that_comes_back(
    remove: Callable[[Any], Any],
) -> None:
    for line in range(1, 400):
        d = FuzzyDict({"other": 1, "key": 2}, scorer="spelling")
        d.aliases = {"alias": "key"}
        if at_line(partial(remove, d), line, KeyboardInterrupt, FILES.__contains__) < line:
            break
        was_removed = "key" not in d
        d["key"] = 3
        assert d.aliases == ({} if was_removed else {"alias": "key"})
