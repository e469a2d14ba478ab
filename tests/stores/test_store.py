"""Stores: what each writes, finds and removes, compared with plain Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fuzzydict import StoreError, StoreWarning
from fuzzydict.stores.base import Alias, Counts, Row, Store, id_of
from fuzzydict.stores.values import conditions_of, satisfies
from fuzzydict.text.words import plain
from tests.stores.conftest import Connect
from tests.support.memory_store import MemoryStore
from tests.support.stores import (
    CALLS,
    META,
    E,
    all_rows,
    check_found,
    check_same,
    check_spelled,
    nearness,
    row,
    rows_of,
    search,
)

#: Texts that mean something to a shell, to SQL, to a format, or to a reader of Unicode.
STRANGE = [
    *("O'Brien", "'; DROP TABLE keys; --", '" OR 1=1 --', "$$; SELECT 1", "\\'; --", "100 %"),
    *("%s %(key)s {key} {0} $1 :key ?", '{"must": []}', "a\tb\nc\rd", "\x1b[2J\x7f", "naïve"),
    *("nai\u0308ve", "Straße", "日本語", "עברית", "العربية", "हिन्दी", "ไทย", "👩‍👩‍👧‍👦 🚗"),
    *("\ufeffmark", "\ufffe\uffff", "\U0001d518\U0001d52b\U0001d526", "a" * 100_000, " padded "),
    *(" ", "\u200b", "", "null", "NULL", "__proto__"),
]
#: Of all types of JSON.
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 2**53 + 1, 2**63, -(2**70), 10**300, 0.1, -1e-300),
    *(1.7976931348623157e308, "1", "true", '{"a": 1}', "", *STRANGE, [], {}),
    [[], {}, [None, True, 1, "1", 1.5, 10**400, 0.1 + 0.2, 5e-324, 1.0, -0.0, 1e22]],
    {"": 0, "a.b": 1, "a": {"b": 2}, "key": "k", "vector": [1], "$and": [], "'": '"'},
]
UNSTORABLE = ["a\x00b", "\x00", "\ud800", "a\udfff"]


def keys_of(hits: Any) -> list[str]:
    return [hit.key for hit in hits]


# ---- what is created ------------------------------------------------------------------------


def test_before_it_is_created_nothing_is_there_and_other_calls_say_so(connect: Connect) -> None:
    store = connect()
    assert store.meta() is None
    for call in CALLS[2:]:
        with pytest.raises(StoreError) as error:
            call(store)
        assert store.place in str(error.value)


def test_what_is_created_is_empty_and_stays(connect: Connect, store: Store) -> None:
    assert (store.meta(), store.count()) == (META, 0)
    assert ([*store.pages(10)], [*store.aliases()]) == ([], [])
    assert store.rows(["red"], ["red"])[:2] == ({}, {})
    assert store.search([search("red")]) == [([], [], {})]
    store.write(rows_of(3))
    store.teach([Alias("crimson", "crimson", "red")])
    store.create(E, {"format": 2})
    connect().create(E, {"format": 2})
    assert (store.meta(), store.count()) == (META, 3)


# ---- keys and values ------------------------------------------------------------------------


def test_a_key_that_is_written_again_is_replaced(store: Store) -> None:
    store.write([row("red", {"old": 1}), row("blue", 2)])
    other = row("quilt", ["new"])._replace(key="red")
    full, bare = row("red", 1), row("red", 1)._replace(vector=None, words="")
    for one in (other, full, bare, full):  # which may lose and gain its vector and words
        store.write([one])
        check_same(all_rows(store).values(), [one, row("blue", 2)])
        assert store.count() == 2
        (hits,) = store.search([search("red")])
        assert ("red" in keys_of(hits.spelled)) == (one is full)
        assert ("red" in keys_of(hits.near)) == (one is not bare)


def test_keys_are_what_they_are_in_all_scripts(store: Store) -> None:
    rows = [row(key, {"of": key}) for key in STRANGE]
    store.write(rows)
    assert store.count() == len(rows)
    assert store.rows(STRANGE).values == {key: {"of": key} for key in STRANGE}
    check_same(all_rows(store).values(), rows)
    hits = store.search([search(key, 1, 1) for key in STRANGE])
    for key, found in zip(STRANGE, hits, strict=True):
        assert keys_of(found.near) == ([key] if plain(key) else [])
        assert len(found.spelled) == bool(plain(key))
    aliases = [Alias(f"words {key}", f"written {key}", key) for key in STRANGE]
    store.teach(aliases)
    assert set(store.aliases()) == set(aliases)
    assert store.rows([], [one.words for one in aliases]).keys == {a.words: a.key for a in aliases}
    assert store.forget([one.words for one in aliases[-5:]]) == 5
    assert store.remove(STRANGE[:10]) == 10
    assert all_rows(store).keys() == set(STRANGE[10:])
    assert set(store.aliases()) == set(aliases[10:-5])


def test_keys_are_compared_as_they_are_and_any_text_may_be_asked_for(store: Store) -> None:
    store.write([row("Red", 1), row("red ", 2), row("r\u00e9d", 3)])
    asked = ["red", "RED", "Red", "red ", "re\u0301d"]
    assert store.rows(asked).values == {"Red": 1, "red ": 2}
    store.teach([Alias("hue", "hue", None)])
    asked = [*UNSTORABLE, *STRANGE, "\0meta", "\0alias\0hue"]
    assert store.rows(asked, asked)[:2] == ({}, {})
    assert store.remove(asked) == store.forget(asked) == 0
    assert (store.count(), len(list(store.aliases())), store.meta()) == (3, 1, META)


def test_values_are_those_of_json(store: Store) -> None:
    deep: Any = 1
    for _ in range(16):
        deep = {"a": [deep]}
    values = [*VALUES, deep]
    store.write([row(f"key {i}", value) for i, value in enumerate(values)])
    found = store.rows([f"key {i}" for i in range(len(values))]).values
    for i, value in enumerate(values):
        kept = json.dumps(found[f"key {i}"], sort_keys=True)  # which shows types
        assert kept == json.dumps(value, sort_keys=True)
    assert all_rows(store).keys() == found.keys()


def test_a_vector_of_another_length_is_refused_and_nothing_is_written(store: Store) -> None:
    with pytest.raises(StoreError):
        store.write([one._replace(vector=np.ones(E + 1, np.float32)) for one in rows_of(3)])
    assert store.count() == 0
    store.write([row("red")])
    assert store.count() == 1


def test_thousands_are_written_at_once(store: Store) -> None:
    rows = [row(f"key {i}", i) for i in range(3000)]
    store.write(rows)
    store.write(rows[1000:])
    assert store.count() == 3000
    assert store.rows([one.key for one in rows]).values == {one.key: one.value for one in rows}
    aliases = [Alias(f"alias {i}", f"Alias {i}", "key 1") for i in range(2000)]
    store.teach(aliases)
    assert set(store.aliases()) == set(aliases)
    assert store.remove(["key 1"]) == 1
    assert list(store.aliases()) == []


# ---- pages, and the sample --------------------------------------------------------------------


def test_pages_come_in_the_order_of_ids(store: Store) -> None:
    rows = rows_of(20)
    store.write(rows)
    for size in (1, 7, 10, 100):
        pages = list(store.pages(size))
        assert [len(page) for page in pages[:-1]] == [size] * (len(pages) - 1)
        assert 0 < len(pages[-1]) <= size
        found = [one for page in pages for one in page]
        assert [one.key for one in found] == sorted((one.key for one in rows), key=id_of)
        check_same(found, [one._replace(vector=None) for one in rows])


def test_pages_may_be_left_and_others_read_meanwhile(store: Store) -> None:
    store.write(rows_of(20))
    pages = store.pages(3)
    first = next(pages)
    assert store.count() == 20
    assert next(store.pages(3))[0].key == first[0].key
    store.write([row(one.key, "seen") for one in first])
    rest = [one for page in pages for one in page]
    assert len({one.key for one in (*first, *rest)}) == 20
    unfinished = store.pages(3)
    next(unfinished)
    del unfinished
    assert store.count() == 20


def test_the_sample_is_what_comes_first_and_only_what_is_new_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_hits(hits: Any, expected: list[Row]) -> None:
        found = [Row(hit.key, None, hit.vector) for hit in hits]
        check_same(found, [one._replace(value=None) for one in expected])

    monkeypatch.setattr(f"{type(store).__module__}.SAMPLE", 10)
    rows = sorted(rows_of(30), key=lambda one: id_of(one.key))
    store.write(rows[:20])
    sample = store.sample([])
    assert (sample.total, sample.ids) == (20, [id_of(one.key) for one in rows[:10]])
    check_hits(sample.hits, rows[:10])
    assert sample.version == store.rows([]).version
    store.remove([one.key for one in rows[2:5]])
    later = store.sample(sample.ids)
    assert later.ids == [id_of(one.key) for one in [*rows[:2], *rows[5:13]]]
    check_hits(later.hits, rows[10:13])


def test_the_version_is_another_after_each_change_of_the_sample(
    connect: Connect, store: Store
) -> None:
    other, versions = connect(), [store.rows([]).version]
    changes: list[Callable[[], Any]] = [
        lambda: store.write([row("red")]),
        lambda: other.write([row("blue")]),
        lambda: store.remove(["red"]),
        store.clear,
    ]
    for change in changes:
        change()
        versions.append(store.rows([]).version)
        assert other.rows([]).version == other.sample([]).version == versions[-1]
    assert len(set(versions)) == len(versions)


@pytest.mark.parametrize("keys", [0, 60])  # of many, a sample stands for all
def test_counts_are_kept_until_there_are_others(
    connect: Connect, store: Store, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{type(store).__module__}.SAMPLE", 8)
    store.write(rows_of(keys))
    other, counts = connect(), Counts(2, {"red": 2, "日本": 1})
    for one in (other, store):
        assert (one.sample([]).counts, one.sample([]).counted) == (None, 0)
    store.keep_counts(counts)
    for one in (store, other):
        sample = one.sample([])
        assert (sample.counts, sample.version) == (counts, one.rows([]).version)
    assert other.sample([], sample.counted).counts is None
    store.keep_counts(counts._replace(keys=3))
    store.write([row("red")])
    assert other.sample([], sample.counted).counts == counts._replace(keys=3)
    store.clear()
    assert other.sample([], sample.counted).counts == Counts(0, {})
    for text in ("[3]", "7", "{", '[1, {"red": -1}]', '[1, {"red": 0.5}]', "[" * 100_000):
        with pytest.warns(StoreWarning, match="the count of the words of its keys is left out"):
            assert store.counts_of(text) == Counts(0, {})


# ---- search ---------------------------------------------------------------------------------


def test_search_finds_what_comparing_all_finds(store: Store) -> None:
    rows = rows_of(60)
    store.write(rows)
    asked = [search(text, 7, 4) for text in ("amber 3", "amberr", "blak 4", "qwzzt", "1", "O'B")]
    asked.append(search("amber 1", 100, 100))  # more than there are
    for one, hits in zip(asked, store.search(asked), strict=True):
        check_found(hits.near, rows, one, nearness, one.near)
        check_spelled(hits.spelled, rows, one)
    found = store.search([search(one.key, 1, 1) for one in rows] * 5)
    assert [hits.near[0].key for hits in found] == [one.key for one in rows] * 5


def test_what_has_no_vector_or_ngrams_finds_and_is_found_by_the_other(store: Store) -> None:
    bare, other, alone = row("amber")._replace(vector=None), row("amber azure"), row("qwzzt")
    store.write([bare, other, alone])
    full = search("amber")
    without = [full._replace(vector=None), full._replace(words=""), search(" ")]
    both, by_ngrams, by_vector, by_none = store.search([full, *without])
    assert set(keys_of(both.near)) == {"amber azure", "qwzzt"}
    assert (both.spelled[0].key, both.spelled[0].vector) == ("amber", None)
    assert "qwzzt" not in keys_of(both.spelled)
    assert (by_ngrams.near, keys_of(by_ngrams.spelled)) == ([], keys_of(both.spelled))
    assert (keys_of(by_vector.near), by_vector.spelled) == (keys_of(both.near), [])
    assert by_none == ([], [], {})


# ---- where ----------------------------------------------------------------------------------

FIELDS: list[Any] = [
    *({"a": 1}, {"a": 1.0}, {"a": True}, {"a": False}, {"a": "1"}, {"a": None}, {"a": [1]}),
    *({"a": ["x", "1"]}, {"a": {"b": 1}}, {"a": {"b": "x", "c": {"d": 5}}}, {"a.b": 1}),
    *({"a": [{"b": 1}]}, {"a": ""}, {"a": 2**53 + 1}, {"a": -0.5, "b": "O'Brien"}),
    *({"a": 99, "b": '"; DROP'}, {"b": 1, "0": 1}, {"A": 1}, {"a": "X"}, {"a": "x"}, {}, []),
    {"'": 1, "$and": 1, "naïve": "日本", "a-b c": 2, "key": "k", "vector": 1},
    *([1], 1, "a", None, True),
]
ASKED: list[dict[str, Any]] = [
    *({"a": 1}, {"a": True}, {"a": False}, {"a": "1"}, {"a": ""}, {"a": None}, {"a": "x"}),
    *({"a": 2**53 + 1}, {"a": 2**53}, {"a": [1, "1"]}, {"a": [None, True, "x", 99]}),
    *({"a": {"gt": 0}}, {"a": {"gte": 1, "lt": 99}}, {"a": {"lte": 1}}, {"a": {"gt": 1}}),
    *({"a": {"lt": -0.25}}, {"a": {"gt": 5, "lt": 3}}, {"a.b": 1}, {"a.b": ["x", 1]}),
    *({"a.c.d": {"gte": 5}}, {"a.c": 5}, {"a.0": 1}, {"0": 1}, {"b": "O'Brien"}),
    *({"b": '"; DROP'}, {"a": -0.5, "b": "O'Brien"}, {"a": 1, "b": 1}, {"'": 1}, {"$and": 1}),
    *({"naïve": "日本"}, {"a-b c": 2}, {"key": "k"}, {"vector": 1}, {"{a}": 1}, {"a[0]": 1}),
    *({"'; DROP TABLE keys; --": 1}, {"a": "') OR true --"}, {"a": "*"}, {"b": {"gt": 0}}),
]


def test_search_finds_only_what_satisfies_where(store: Store) -> None:
    rows = [row(f"amber {i}", value) for i, value in enumerate(FIELDS)]
    store.write(rows)
    asked = search("amber 1", 40, 40)
    for where in ASKED:
        conditions = conditions_of(where)
        allowed = [one for one in rows if satisfies(one.value, conditions)]
        (hits,) = store.search([asked], conditions)
        assert {hit.key for hit in hits.near} == {one.key for one in allowed}, where
        check_found(hits.near, allowed, asked, nearness, 40)
        check_spelled(hits.spelled, allowed, asked)


# ---- several at once ------------------------------------------------------------------------


@pytest.mark.parametrize("clients", [1, 2])
def test_two_writers_write_all_that_they_write(
    connect: Connect, store: Store, clients: int
) -> None:
    """What both write is that of one of them, as a whole."""
    others = [store, connect() if clients == 2 else store]
    both = [f"both {i}" for i in range(20)]

    def write(number: int) -> None:
        for block in range(5):
            names = [f"own {number} {block} {i}" for i in range(20)] + both
            # In different orders, so that each may wait for the other.
            others[number].write([row(one, number) for one in names[:: 1 - 2 * number]])
            others[number].search([search("both 1")])
            if block < 4:
                others[number].remove([*names[5:15], *both[:9]])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(2)))
    assert store.count() == 140
    found = {key: one.value for key, one in all_rows(store).items()}
    assert {found[one] for one in both} in ({0}, {1})
    assert {value for key, value in found.items() if key.startswith("own 1")} == {1}


# ---- any sequence ---------------------------------------------------------------------------

ANY_KEYS = ["red", "Red", "blue", "O'Brien", "", "日本"]
ASKED_FOR = [search(key, 9, 9) for key in ("red", "O'Brien", "日本")]
_KEYS = st.sampled_from(ANY_KEYS)
_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _FLOATS | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)
_CALLS = st.one_of(
    st.tuples(st.just("write"), st.dictionaries(_KEYS, _JSON, max_size=3)),
    st.tuples(st.sampled_from(["remove", "forget"]), st.lists(_KEYS, max_size=2)),
    st.tuples(st.just("teach"), st.dictionaries(_KEYS, st.none() | _KEYS, max_size=2)),
    st.sampled_from([("close",), ("clear",)]),
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(_CALLS, max_size=8))
@example(  # a key takes its aliases along, whether it was there or not, and comes back without them
    calls=[
        ("write", {"red": 1, "blue": 2}),
        ("teach", {"Red": "red", "日本": "blue", "O'Brien": None, "red": "Red"}),
        ("teach", {"日本": "red", "blue": "blue"}),
        ("write", {"red": 2}),
        ("remove", ["red", "Red", "red"]),
        ("write", {"red": 3}),
        ("forget", ["O'Brien", "日本", "O'Brien"]),
    ]
)
@example(calls=[("write", {"red": 1}), ("teach", {"blue": "red", "Red": None}), ("clear",)])
def test_any_calls_leave_what_they_would_leave_in_memory(store: Store, calls: list[Any]) -> None:
    store.clear()
    store.forget([alias.words for alias in store.aliases()])
    memory = MemoryStore()
    memory.create(E, META)
    both = store, memory
    for call in calls:
        assert _called(store, *call) == _called(memory, *call)
    check_same(all_rows(store).values(), all_rows(memory).values())
    assert len({frozenset(one.aliases()) for one in both}) == 1
    assert store.count() == memory.count() == len(store.sample([]).ids)
    mine, its = (one.rows(ANY_KEYS, ANY_KEYS)[:2] for one in both)
    assert mine == its
    for one, other in zip(*(each.search(ASKED_FOR) for each in both), strict=True):
        assert keys_of(one.near) == keys_of(other.near)
        assert set(keys_of(one.spelled)) == set(keys_of(other.spelled))


def _called(store: Store, name: str, *given_: Any) -> Any:
    if name == "write":
        return store.write([row(key, value) for key, value in given_[0].items()])
    if name == "teach":
        return store.teach([Alias(words, words.upper(), key) for words, key in given_[0].items()])
    return getattr(store, name)(*given_)
