"""Large dicts are opened without reading their vectors, and answer as if they had been read."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import FileFormatError, FuzzyDict
from fuzzydict import saving as saved_keys
from tests.support.damage import flip, with_arrays
from tests.support.searching import assert_same

KEYS = ["brand", "model", "color", "top speed", "?!", "maxPower", "colour blind", "é", "a\nb"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a dict whose vectors count as many."""
    monkeypatch.setattr(saved_keys, "_LITTLE", 0)
    made: FuzzyDict[Any] = FuzzyDict({key: i for i, key in enumerate(KEYS)})
    made[7] = made[None] = "no text"
    made.save(tmp_path / "d.fuzzy")
    return tmp_path / "d.fuzzy"


CHANGES: dict[str, Callable[[Any], Any]] = {
    "none": lambda _: None,
    "a new key": lambda d: d.update({"colored": 9}),
    "another value": lambda d: d.update({"color": 9}),
    "one key less": lambda d: d.pop("color"),
    "one less and another": lambda d: (d.pop("brand"), d.update({"colored": 9})),
    "a key that goes and comes back": lambda d: (d.pop("brand"), d.update({"brand": 9})),
    "goes, comes and goes": lambda d: (d.pop("brand"), d.update({"brand": 9}), d.pop("brand")),
    "a key that comes and goes": lambda d: (d.update({"colored": 9}), d.pop("colored")),
    "most keys gone": lambda d: [d.pop(key) for key in KEYS[2:]],
    "the last item gone": lambda d: d.popitem(),
    "a key that is no text gone": lambda d: d.pop(7),
    "all gone, and some new": lambda d: (d.clear(), d.update({"colored": 9, "car": 1})),
    "written by dict's own method": lambda d: dict.__setitem__(d, "colored", 9),
    "removed by dict's own method": lambda d: dict.__delitem__(d, "color"),
    "a setdefault": lambda d: d.setdefault("tint", 9),
    "another scorer": lambda d: setattr(d, "scorer", "cosine"),
    "no projections": lambda d: setattr(d, "projections", "identity"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_answers_as_a_new_dict(path: Path, change: Callable[[Any], Any]) -> None:
    opened: FuzzyDict[Any] = FuzzyDict.load(path)
    change(opened)
    fresh: FuzzyDict[Any] = FuzzyDict(
        opened, scorer=opened.scorer, projections=opened.projections, score_cutoff=-np.inf
    )
    for query in ("colour", "blind", "colored", "top-speed", "max power", "brandt"):
        assert_same(opened.most_similar(query), fresh.most_similar(query))
        assert opened.get(query) in (None, fresh[query])
    opened._check()


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda d: d | {}, lambda d: pickle.loads(pickle.dumps(d))]
)
def test_an_early_copy_answers_alike(path: Path, again: Callable[[Any], Any]) -> None:
    opened: FuzzyDict[Any] = FuzzyDict.load(path)
    other = again(opened)
    del other["color"]
    assert opened["colour"] == KEYS.index("color")
    assert other["colour"] == KEYS.index("colour blind")
    opened._check()
    other._check()


def test_vectors_stay_in_the_file_which_may_be_replaced(path: Path) -> None:
    opened: FuzzyDict[Any] = FuzzyDict.load(path)
    other: FuzzyDict[Any] = FuzzyDict({"color": "black"})
    other.save(path)
    assert opened["colour"] == KEYS.index("color")
    array: Any = opened.attend("colour").keys
    assert not array.flags.writeable
    while isinstance(array.base, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    assert isinstance(array, np.memmap)
    opened["tint"] = 1
    opened.save(path)
    again: FuzzyDict[Any] = FuzzyDict.load(path)
    assert again == opened
    assert again.most_similar("tints") == opened.most_similar("tints")


def test_every_read_tells_of_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = path.read_bytes()
    for name in ("keys", "values"):  # which are read at once
        flip(path, name)
        with pytest.raises(FileFormatError, match=f"array '{name}' of"):
            FuzzyDict.load(path)
        path.write_bytes(whole)
    with_arrays(path, lambda arrays: arrays["vectors"].__setitem__((-1, -1), np.inf))
    opened: FuzzyDict[Any] = FuzzyDict.load(path)
    with pytest.raises(FileFormatError, match="not finite"):
        opened.most_similar("colour")
    path.write_bytes(whole)
    flip(path, "vectors")
    opened = FuzzyDict.load(path)
    opened["tint"] = 1
    del opened["brand"]
    reads: list[Callable[[], Any]] = [
        lambda: opened["colour"],
        lambda: opened.get("colour"),
        lambda: opened.most_similar("colour"),
        lambda: opened.pool("colour"),
        lambda: opened.save(path),
        lambda: opened.copy()["colour"],
    ]
    for read_fuzzily in reads * 2:
        with pytest.raises(FileFormatError, match=r"array 'vectors' of .*d\.fuzzy is damaged"):
            read_fuzzily()
    assert opened["color"] == KEYS.index("color")
    assert dict(opened).keys() == {*KEYS, 7, None, "tint"} - {"brand"}
    with pytest.raises(FileFormatError, match="its items are whole"):
        opened.save(path)
    monkeypatch.undo()  # the vectors of a little dict are read at once
    with pytest.raises(FileFormatError, match=r"array 'vectors' of .*d\.fuzzy is damaged"):
        FuzzyDict.load(path)
    again: FuzzyDict[Any] = FuzzyDict(dict(opened))
    again.save(path)
    assert FuzzyDict.load(path) == again
