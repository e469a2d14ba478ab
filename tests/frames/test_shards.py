"""Pooling over shards is pooling over the one dict that has the items of all, in any split."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzzydict import (
    ArgumentTypeError,
    Boxcar,
    DoubtfulPoolWarning,
    FuzzyDict,
    Gaussian,
    NoMatchError,
    OptionError,
    PoolingError,
    RemoteDict,
    WordVectors,
    pool_shards,
)
from fuzzydict.embedding.projections import Projections
from fuzzydict.frames import shards as module
from tests.support.memory_store import MemoryStore

WORDS = (
    *("brand", "color", "model", "price", "speed", "weight", "height", "width", "year", "owner"),
    *("door", "seat", "window", "light", "brake", "fuel", "tank", "gear", "wheel", "date"),
    *("birth", "start", "end", "name", "street", "city"),
)
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 12)) + 0.3
EMBEDDING = WordVectors.from_mapping(dict(zip(WORDS, VECTORS, strict=True)))
#: Keys of one word and of two, of equal words, and of words that are not known.
NAMES = [
    *WORDS,
    *(f"{one} {other}" for one in WORDS[:8] for other in WORDS[5:18] if one != other),
    *("C", "C++", "C#", "c", "top_speed", "topSpeed", "Top speed", "top-speed", "Brand", "brand!"),
    *("qwzzt", "colour", "dob", "5551234", "555-1234", "weights", "date of birth", "max", "min"),
]
ASKED = ["colour", "brnd", "speed of tank", "c", "C++", "date", "qwzzt", "topspeed", "dob", "hight"]
SCORERS = [None, "spelling", "cosine", Gaussian(2.0)]
may_be_doubtful = pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
pytestmark = may_be_doubtful
ALL = -1e9  # a cutoff that every key reaches


def joined(shards: Sequence[FuzzyDict[Any]]) -> FuzzyDict[Any]:
    """Return the one dict that has the items of all, in their order."""
    return reduce(lambda one, other: one | other, shards)


def assert_same(queries: Any, shards: Sequence[Any], one: FuzzyDict[Any], **options: Any) -> None:
    options = {"score_cutoff": ALL} | options
    expected = one.pool(queries, score_cutoff=options["score_cutoff"])
    np.testing.assert_allclose(pool_shards(queries, shards, **options), expected, atol=1e-4)


def dicts_of(split: Sequence[Sequence[str]], **options: Any) -> list[FuzzyDict[float]]:
    """Return a dict for each list of keys; the values are from 0 to 1."""
    options = {"embedding": EMBEDDING} | options
    return [FuzzyDict({name: value_of(name) for name in names}, **options) for names in split]


def value_of(name: str) -> float:
    return zlib.crc32(name.encode()) / 2**32


# ---- any split --------------------------------------------------------------------------------


@st.composite
def splits(draw: st.DrawFn) -> list[list[str]]:
    """Draw keys, and in which shard each is; some shards may be empty."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=130, unique=True))
    count = draw(st.integers(1, 5))
    places = draw(st.lists(st.integers(0, count - 1), min_size=len(names), max_size=len(names)))
    return [
        [name for name, place in zip(names, places, strict=True) if place == one]
        for one in range(count)
    ]


@given(
    splits(),
    st.sampled_from(SCORERS),
    st.lists(st.sampled_from(ASKED), min_size=1, max_size=4),
    st.sampled_from([None, 0.5, 3.0]),
)
@example([NAMES[:70], NAMES[70:]], None, ASKED, None)
@example([NAMES[i::7] for i in range(7)], None, ASKED, None)
@example([NAMES[i::60] for i in range(60)], "spelling", ASKED, None)
@settings(max_examples=60)
def test_any_split_pools_as_the_one_dict(
    split: list[list[str]], scorer: Any, queries: list[str], temperature: float | None
) -> None:
    """Some queries and shards at a time, and keys that were deleted count for nothing."""
    shards = dicts_of([[*names, "door tank"] for names in split], scorer=scorer)
    for d in shards:
        d.temperature = temperature
        d.get("doors")  # which makes its index
        del d["door tank"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TOGETHER", 3)
        patch.setattr(module, "QUERIES", 2)
        assert_same(queries, shards, joined(shards))


MANY = [f"{one} {other} {third}" for one in WORDS[:12] for other in WORDS for third in WORDS[:10]]


def test_of_many_keys_a_sample_is_counted_as_in_the_one_dict() -> None:
    assert len(MANY) > 2 * 1024  # more than are counted, and than a background is told from
    shards = dicts_of([MANY[:500], MANY[500:1801], MANY[1801:]])
    assert_same(["colour of modell", "date of birth", "price price"], shards, joined(shards))


# ---- what is pooled -----------------------------------------------------------------------------


def test_arrays_and_texts_are_pooled_as_the_dict_pools_them() -> None:
    colors: list[FuzzyDict[Any]] = [FuzzyDict({"red": (255, 0, 0)})]
    colors.append(FuzzyDict({"navy": [0, 0, 128]}))
    one = joined(colors)
    assert pool_shards(["scarlet"], colors).shape == (1, 3)
    np.testing.assert_allclose(pool_shards("scarlet", colors), one.pool("scarlet"), atol=1e-4)
    assert pool_shards([], colors).tolist() == []
    texts = dicts_of([["brand"], ["color"]])
    for d in texts:
        d.update({name: "tank" if name == "brand" else "fuel" for name in d})
    assert_same(["brnd", "colour"], texts, joined(texts))
    turned = Projections(value=[[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]])
    options: dict[str, Any] = {"embedding": EMBEDDING, "projections": turned}
    pairs = [FuzzyDict({name: [value_of(name), 1.0]}, **options) for name in WORDS[:3]]
    assert_same(["colour", "brnd"], pairs, joined(pairs))


def test_values_that_no_query_reaches_may_be_anything() -> None:
    near = {"red": [1.0, 0.0], "pink": [0.9, 0.1], "blue": [0.0, 9.0], "navy": [0.0, 8.0]}
    near["far"] = [50.0, 50.0]
    items: list[dict[str, Any]] = [{"red": 1.0, "navy": None}, {"blue": "x"}]
    shards = [FuzzyDict(some, embedding=near, scorer=Boxcar(2.0)) for some in items]
    assert pool_shards(["red", "pink"], shards).tolist() == [1.0, 1.0]
    for queries in ("far", ["red", "far"]):
        with pytest.raises(NoMatchError, match="widen the scorer"):
            pool_shards(queries, shards)


def test_a_query_that_is_an_alias_is_read_as_its_key_unless_it_is_one_elsewhere() -> None:
    shards = dicts_of([["brand", "color"], ["price"], ["owner", "hue"]])
    shards[0].aliases = {"make": "brand", "hue": "color", "cost": "brand", "maker": None}
    shards[1].aliases = {"Cost": "price"}
    one = joined(shards)
    assert_same(["make", "Make", "hue", "cost", "COST"], shards, one)
    for queries in ("maker", ["brand", "maker"]):
        with pytest.raises(NoMatchError, match="taught"):
            pool_shards(queries, shards)


def test_a_doubtful_pool_is_warned_of() -> None:
    shards = [FuzzyDict({"studio flat": 650}), FuzzyDict({"parking space": 90})]
    with pytest.warns(DoubtfulPoolWarning, match="unicorn") as warned:
        pool_shards(["studio flats", "unicorn"], shards, score_cutoff=0)
    assert warned[0].filename == __file__
    with pytest.warns(DoubtfulPoolWarning) as same:
        joined(shards).pool(["studio flats", "unicorn"], score_cutoff=0)
    assert str(warned[0].message) == str(same[0].message)


# ---- stores -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scorer", [None, "cosine"])
def test_a_store_is_read_page_by_page(scorer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 7)
    remote = RemoteDict(MemoryStore(), embedding=EMBEDDING).open(create=True)
    remote.scorer = scorer
    remote.update({name: value_of(name) for name in (*NAMES[:120], "--")})
    (d,) = dicts_of([NAMES[120:]], scorer=scorer)
    in_order = FuzzyDict(remote.items(), embedding=EMBEDDING, scorer=scorer)
    assert_same(ASKED, [remote, d], in_order | d)
    assert_same(ASKED, [d, remote], d | in_order)
    remote.aliases["maker"] = "brand"
    both = [pool_shards(text, [d, remote], score_cutoff=ALL) for text in ("Maker", "brand")]
    assert both[0] == both[1]


def test_a_store_has_the_synonyms_that_its_keys_were_written_with() -> None:
    store, synonyms = MemoryStore(), {"KST": "brand"}
    remote = RemoteDict(store, embedding=EMBEDDING, synonyms=synonyms).open(create=True)
    remote.update({name: value_of(name) for name in ("brand", "KST name")})
    (d,) = dicts_of([["color", "price"]])
    for several in ([remote, d], [d, remote]):
        with pytest.raises(OptionError, match=r"different options.*with synonyms"):
            pool_shards("kst", several)
    d.synonyms = synonyms
    assert_same(["kst", "name of KST"], [remote, d], FuzzyDict(remote, embedding=EMBEDDING) | d)


# ---- other processes --------------------------------------------------------------------------


def as_elsewhere(function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    """Run tasks with what another process would get, and get back from it."""

    def sent(one: Any) -> Any:
        return pickle.loads(pickle.dumps(one))

    return [sent(sent(function)(sent(task))) for task in tasks]


def test_another_process_gets_little_of_a_file(tmp_path: Path) -> None:
    dicts = dicts_of([NAMES[::2], NAMES[1::2]], embedding=None)
    paths = [tmp_path / f"{number}.fuzzydict" for number in range(2)]
    for d, path in zip(dicts, paths, strict=True):
        d.save(path)
    assert_same(ASKED, [str(path) for path in paths], joined(dicts), map=as_elsewhere)
    paths[1].write_bytes(paths[0].read_bytes())
    with pytest.raises(OptionError, match=r"the key '.*' is in .* and in "):
        pool_shards(ASKED, paths, map=as_elsewhere)
    shards = dicts_of([NAMES[:10], NAMES[10:80]])  # which go there as they are
    assert_same(ASKED[:2], shards, joined(shards), map=as_elsewhere)


# ---- what is refused --------------------------------------------------------------------------


def test_shards_are_files_and_dicts() -> None:
    (d,) = dicts_of([["brand"]])
    with pytest.raises(OptionError, match="expected one or more, got none"):
        pool_shards("brand", [])
    wrong: Any
    for wrong in ("car.fuzzydict", d, 3):
        with pytest.raises(ArgumentTypeError, match="expected a list"):
            pool_shards("brand", wrong)
    with pytest.raises(ArgumentTypeError, match=r"shards\[1\].*got dict"):
        pool_shards("brand", [d, {"color": 1.0}])
    with pytest.raises(FileNotFoundError):
        pool_shards("brand", [d, "nowhere.fuzzydict"])
    with pytest.raises(OptionError, match="map: expected a result for each of 1 things"):
        pool_shards("brand", [d], map=lambda *_: [])


def test_shards_with_different_options_are_refused() -> None:
    others: list[tuple[dict[str, Any], str]] = [
        ({"temperature": 2.0}, r"temperature: None and 2\.0"),
        ({"score_cutoff": 0.3}, "score_cutoff"),
        ({"scorer": "cosine"}, "scorer: None and 'cosine'"),
        ({"scorer": Gaussian(1.0)}, "scorer"),
        ({"embedding": WordVectors.from_mapping({"brand": [1.0, 2.0]})}, "embedding"),
        ({"projections": Projections(query=np.eye(12) * 2)}, "embedding"),
    ]
    for options, told in others:
        shards = [*dicts_of([["brand"]]), *dicts_of([["color"]], **options)]
        with pytest.raises(OptionError, match=rf"shards\[0\] and shards\[1\] .*different.*{told}"):
            pool_shards("brand", shards)


def test_values_of_different_kinds_are_refused() -> None:
    cases: list[tuple[Any, Any, str]] = [
        (1.0, [1.0, 2.0], r"of 'brand' has shape \(\), that of 'color' has shape \(2,\)"),
        ("tank", np.zeros(12), "the value of 'brand' is a text, that of 'color' has shape"),
        (1.0, None, "the value of 'color' cannot be pooled"),
        (1.0, np.nan, "the value of 'color' has NaN"),
    ]
    for one, other, told in cases:
        pairs = ("brand", one), ("color", other)
        shards = [FuzzyDict({name: value}, embedding=EMBEDDING) for name, value in pairs]
        with pytest.raises(PoolingError, match=told):
            pool_shards("brand", shards)
        with pytest.raises(PoolingError):
            joined(shards).pool("brand")


@pytest.mark.parametrize("query", ["window shopping", ["brand", "zebra"], "--", 3, ["brand", None]])
def test_what_matches_nothing_is_refused_as_by_the_dict(query: Any) -> None:
    shards = dicts_of([["brand", "C++"], ["C"]], score_cutoff=0.999)
    assert_same(["C", "brand"], shards, joined(shards), score_cutoff=None)  # which are keys
    errors = []
    reads: list[Callable[[Any], Any]] = [joined(shards).pool, lambda q: pool_shards(q, shards)]
    for read in reads:
        with pytest.raises(NoMatchError) as raised:
            read(query)
        errors.append(str(raised.value))
    assert errors[0] == errors[1]
    with pytest.raises(NoMatchError, match="the dict is empty, or no key is a text"):
        pool_shards("brand", dicts_of([[], ["--"]]))
