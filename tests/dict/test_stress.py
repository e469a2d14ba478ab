"""Any sequence of writes leaves what it leaves in a dict, and lookups as in a new one."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import fuzzydict
from fuzzydict import FuzzyDict, FuzzyDictError, saving
from fuzzydict.search.keys import Keys
from tests.benchmarks.campaigns import campaign
from tests.support.interrupting import at_line
from tests.support.properties import SLOW
from tests.support.searching import check_keys

KEYS = st.one_of(
    st.sampled_from(["color", "colour", "Color", "top speed", "topSpeed", "", "!", "a", "of"]),
    st.text(max_size=4),
    st.sampled_from([0, 1, 2, 3, "hue"]),
)
ALIASES = st.sampled_from(["hue", "make of it", "color 2", "number one", "zzz"])


def by_letters(texts: list[str]) -> Any:
    """Return vectors that are near for texts of much the same letters."""
    letters = "abcdefghijklmnopqrstuvwxyz 0123456789"
    return np.array([[*map(text.lower().count, letters), 0.1] for text in texts])


def outcome(d: FuzzyDict[Any], query: Any) -> Any:
    try:
        matches = d.most_similar(query, topn=None)
        assert matches == sorted(matches, key=lambda match: -match.score)
        scores = {match.key: match.score for match in matches}
        return d.get(query), scores, d.attend(query).weights
    except FuzzyDictError as error:
        return str(error)


def assert_same_outcome(d: FuzzyDict[Any], new: FuzzyDict[Any], query: Any, note: str = "") -> None:
    """Assert equal answers; the last bits of scores depend on how many slots a matrix has."""
    found, expected = outcome(d, query), outcome(new, query)
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected, note
        return
    assert found[0] == expected[0], note
    assert found[1] == pytest.approx(expected[1], rel=1e-3, abs=1e-9), note
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-3, atol=1e-9, err_msg=note)


class EqualTo:
    """A key that is no text and equals one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return other == self.text


class Writes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[Any, int] = {}
        self.fuzzy: FuzzyDict[int] = FuzzyDict(embedding=by_letters)
        self.aliases: dict[str, Any] = {}
        self.left: list[tuple[FuzzyDict[int], dict[Any, int], dict[str, Any]]] = []

    @rule(key=KEYS, value=st.integers())
    def put(self, key: Any, value: int) -> None:
        self.plain[key] = self.fuzzy[key] = value

    @rule(items=st.dictionaries(KEYS, st.integers(), max_size=5))
    def update(self, items: dict[Any, int]) -> None:
        self.plain.update(items)
        self.fuzzy.update(items)

    @rule(items=st.dictionaries(KEYS, st.integers(), max_size=5))
    def operators(self, items: dict[Any, int]) -> None:
        self.plain |= items
        self.fuzzy |= items
        self.plain, self.fuzzy = items | self.plain, items | self.fuzzy

    @rule(key=KEYS, value=st.integers())
    def default(self, key: Any, value: int) -> None:
        assert self.plain.setdefault(key, value) == self.fuzzy.setdefault(key, value)

    @rule(key=KEYS)
    def pop(self, key: Any) -> None:
        assert self.plain.pop(key, None) == self.fuzzy.pop(key, None)

    @rule()
    def delete_the_first(self) -> None:
        for key in list(self.plain)[:1]:
            equal = EqualTo(key) if isinstance(key, str) else key
            del self.plain[key]
            del self.fuzzy[equal]

    @rule()
    def pop_last(self) -> None:
        if self.plain:
            assert self.plain.popitem() == self.fuzzy.popitem()

    @rule()
    def clear(self) -> None:
        self.plain.clear()
        self.fuzzy.clear()

    @rule(how=st.sampled_from([copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]))
    def go_on_with_a_copy(self, how: Any) -> None:
        self.left.append((self.fuzzy, self.plain.copy(), self.aliases.copy()))
        self.fuzzy = how(self.fuzzy)

    @rule(little=st.sampled_from([0, 1 << 26]))
    def go_on_with_what_comes_back_from_a_file(self, little: int) -> None:
        """Its vectors stay in the file, or are read at once."""
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
            patched.setattr(saving, "_LITTLE", little)
            self.fuzzy.save(path := Path(folder) / "d.fuzzydict")
            self.fuzzy = FuzzyDict.load(path, embedding=by_letters)

    @rule(number=st.integers(0, 9))
    def go_on_with_one_that_was_left(self, number: int) -> None:
        if self.left:
            state, place = (self.fuzzy, self.plain, self.aliases), number % len(self.left)
            (self.fuzzy, self.plain, self.aliases), self.left[place] = self.left[place], state

    @rule(key=KEYS, value=st.integers())
    def write_by_the_method_of_dict(self, key: Any, value: int) -> None:
        outcome(self.fuzzy, "zzz")  # the next read notices, if not as many keys come and go
        self.plain[key] = value
        dict.__setitem__(self.fuzzy, key, value)

    @rule(key=KEYS)
    def remove_by_the_method_of_dict(self, key: Any) -> None:
        outcome(self.fuzzy, "zzz")
        assert dict.pop(self.plain, key, 0) == dict.pop(self.fuzzy, key, 0)
        gone = [text for text, of in self.aliases.items() if of == key and of is not None]
        assert not set(gone) & self.fuzzy.aliases.keys()
        for text in gone:
            del self.aliases[text]
        self.fuzzy.aliases = self.aliases  # otherwise they would be back with their key

    @rule(text=ALIASES, data=st.data(), has_key=st.booleans())
    def teach(self, text: str, data: st.DataObject, *, has_key: bool) -> None:
        key = data.draw(st.sampled_from([*self.plain, None])) if has_key else None
        if text not in self.plain:
            self.fuzzy.aliases[text] = self.aliases[text] = key

    @rule(text=ALIASES)
    def forget(self, text: str) -> None:
        assert self.fuzzy.aliases.pop(text, 0) == self.aliases.pop(text, 0)

    @rule(text=ALIASES)
    def read_an_alias(self, text: str) -> None:
        key = self.aliases.get(text, 0)
        if text in self.plain or text not in self.aliases:
            return
        assert self.fuzzy.get(text.upper(), "none") == ("none" if key is None else self.plain[key])

    @rule(key=KEYS)
    def read(self, key: Any) -> None:
        new = FuzzyDict(self.plain, embedding=by_letters)
        new.aliases.take_over(self.aliases)
        assert_same_outcome(self.fuzzy, new, key)

    @invariant()
    def is_the_same_dict(self) -> None:
        assert list(self.fuzzy.items()) == list(self.plain.items())
        # Those of a key go with it.
        kept = {text: key for text, key in self.aliases.items() if key is None or key in self.plain}
        self.aliases = kept
        assert self.fuzzy.aliases == kept
        check_keys(self.fuzzy)


TestWrites = pytest.mark.more(Writes.TestCase)
TestWrites.settings = settings(
    max_examples=250 if SLOW else 30, stateful_step_count=40, deadline=None
)


def test_a_key_that_is_put_while_another_goes_by_the_method_of_dict_is_found() -> None:
    d = FuzzyDict({"": 0, "colour": 1}, embedding=by_letters)
    d.get("colr")
    d.setdefault("brand", 2)
    dict.pop(d, "")
    assert (d["brnd"], d["colr"]) == (2, 1)


@pytest.mark.parametrize("gone", [0, 30])
def test_an_index_whose_change_was_interrupted_is_made_anew(gone: int, monkeypatch: Any) -> None:
    """While keys are added, or after so many deletions that the index is packed."""

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    keys = ["color", *(f"key {i}" for i in range(40))]
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=by_letters)
    d.get("colour")
    d["brand"] = 2
    for i in range(gone):
        del d[f"key {i}"]
    with monkeypatch.context() as patch:
        patch.setattr(Keys, "_numbered", interrupted)
        with pytest.raises(KeyboardInterrupt):
            d.get("colour")
    assert d["colour"] == 1
    assert_same_outcome(d, FuzzyDict(d, embedding=by_letters), "brnd")
    check_keys(d)


LETTERS = [f"key {letter}" for letter in "abcdef"]


def by_sines(texts: list[str]) -> Any:
    return [np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts]


CHANGES: dict[str, Callable[[FuzzyDict[Any], Any], Any]] = {
    "a value": lambda d, new: d.update({"key a": new(5), "key b": new(6)}),
    "past the methods": lambda d, new: dict.__setitem__(d, "key c", new(7)),
    "in place": lambda d, _: increase(d["key d"]),
    "a key less": lambda d, _: d.pop("key a"),
    "a key more": lambda d, new: d.__setitem__("key n", new(8)),
}


def increase(held: Any) -> None:
    if isinstance(held, list | tuple | np.ndarray):
        (held[0] if isinstance(held, tuple) else held)[0] += 1.0


@pytest.mark.parametrize(
    "new",
    [
        float,
        lambda x: [float(x), 1.0],
        lambda x: ([float(x), 3.0], [1.0, 2.0]),
        lambda x: np.array([x, 2.0]),
        lambda x: f"word {x}",
    ],
    ids=["numbers", "lists", "lists in tuples", "arrays", "texts"],
)
def test_what_is_pooled_is_what_a_new_dict_pools(new: Any) -> None:
    options: Any = {"embedding": by_sines, "scorer": "cosine", "temperature": 1.0}
    for first, second in itertools.product(CHANGES, CHANGES):
        d = FuzzyDict({key: new(i) for i, key in enumerate(LETTERS)}, **options)
        for change in (first, second):
            d.pool("key x")
            if change != "a key less" or "key a" in d:
                CHANGES[change](d, new)
        expected = FuzzyDict(dict(d), **options).pool("key x")
        np.testing.assert_allclose(d.pool("key x"), expected, rtol=1e-6, atol=1e-6)


PACKAGE = str(Path(str(fuzzydict.__file__)).parent)


def is_ours(path: str) -> bool:
    return path.startswith(PACKAGE)


@pytest.mark.more
def test_an_interrupt_leaves_what_was_before_or_after() -> None:
    assert not campaign("interrupts", 700 if SLOW else 50, seed=3)[0]


@pytest.mark.parametrize("call", [["clear"], ["__delitem__", "key"], ["pop", "key"], ["popitem"]])
def test_no_alias_comes_back_after_an_interrupt(call: list[str]) -> None:
    for line in range(1, 400):
        d = FuzzyDict({"other": 1, "key": 2}, scorer="spelling")
        d.aliases = {"alias": "key"}
        remove = partial(getattr(d, call[0]), *call[1:])
        if at_line(remove, line, KeyboardInterrupt, is_ours) < line:
            break
        was_removed = "key" not in d
        d["key"] = 3
        assert d.aliases == ({} if was_removed else {"alias": "key"})
