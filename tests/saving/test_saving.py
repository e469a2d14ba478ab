"""A dict comes back from its file as it was, or is not saved; large ones are not read whole."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import ArgumentTypeError, FileFormatError, FuzzyDict, OptionError, WordVectors
from fuzzydict import saving as saved_keys
from tests.support.damage import flip, with_arrays
from tests.support.properties import examples
from tests.support.recording import Recording, one_hot
from tests.support.searching import assert_same, check_keys


def again(d: Any, tmp_path: Path, **options: Any) -> Any:
    """Return the dict that comes back from a file."""
    d.save(tmp_path / "saved")
    return type(d).load(tmp_path / "saved", **options)


def alike(a: Any, b: Any) -> bool:
    """Tell whether two values are equal, of one type, and so are all that they hold."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return alike(list(a.items()), list(b.items()))
    if isinstance(a, float):
        return math.isnan(b) if math.isnan(a) else a.hex() == b.hex()
    return bool(a == b)


# ---- what comes back ----------------------------------------------------------------------


def test_items_of_every_type_come_back(tmp_path: Path) -> None:
    values = [
        *("text", "", "\0", "é\u0301👍", "\ud800", "\ud83d\ude00", "a" * 10_000),
        *(0, -1, 10**400, True, False, None, 0.1, -0.0, math.inf, math.nan, 5e-324),
        *([], (), {}, [1, (2, [3.0, None])], {"a": {1: (2,)}, (1, "b"): [True]}),
        *(
            np.arange(6.0).reshape(2, 3),
            np.zeros((0, 3), "f4"),
            np.array(7, "i1"),
            np.ones((1,) * 31),
        ),
        *(np.array([True, False]), np.array([np.nan, -0.0, np.inf]), np.arange(4, dtype="<i4")),
        *(np.float16(0.5), np.bool_(True), np.uint64(2**64 - 1)),
        [np.arange(3), {"x": np.arange(3)}],
    ]
    keys = [
        *("color", "", "?!", "a\0b", "\ud83d\ude00", "😀", "\udfff\ud800", "é", "e\u0301"),
        *(1, 2.5, None, (), (1, ("a", None)), -0.0, math.nan, float("nan"), 10**30),
        *(np.float32(7.5), np.int64(9)),
    ]
    items = {f"key {i}": v for i, v in enumerate(values)} | {key: i for i, key in enumerate(keys)}
    d: FuzzyDict[Any] = FuzzyDict(items, embedding=one_hot)
    back = again(d, tmp_path, embedding=one_hot)
    assert type(back) is FuzzyDict
    assert alike(list(d.items()), list(back.items()))
    check_keys(back)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda v: st.lists(v, max_size=3) | st.tuples(v, v) | st.dictionaries(st.text(), v, max_size=3),
    max_leaves=8,
)
HASHABLE = st.none() | st.integers() | st.text(st.characters()) | st.tuples(st.text(), st.floats())


@given(st.dictionaries(HASHABLE, VALUES, max_size=6))
@examples(80)
def test_any_items_come_back(
    tmp_path_factory: pytest.TempPathFactory, items: dict[Any, Any]
) -> None:
    d = FuzzyDict(items, embedding=one_hot)
    back = again(d, tmp_path_factory.getbasetemp(), embedding=one_hot)
    assert alike(list(items.items()), list(back.items()))
    check_keys(back)


@pytest.mark.parametrize("mode", ["nearest", "pool"])
@pytest.mark.parametrize(
    ("scorer", "cutoff"),
    [
        *((None, 0.01), ("dot", 1), ("gaussian", -math.inf), (fuzzydict.Cosine(), np.float32(0.5))),
        *(
            (fuzzydict.Gaussian(0.5), Fraction(1, 2)),
            (fuzzydict.ScaledDot(2.0), Decimal("0.5")),
            (fuzzydict.ScaledDot(), None),
        ),
        *(
            (fuzzydict.Bilinear(np.eye(5)), 0.0),
            (fuzzydict.Concat(np.ones((3, 10)), np.ones(3)), 0.0),
        ),
    ],
    ids=str,
)
def test_options_come_back(tmp_path: Path, mode: str, scorer: Any, cutoff: Any) -> None:
    items = {"color": 1.0, "brand": 2.0, "speed": 4.0}
    options: dict[str, Any] = {"temperature": 0.2, "score_cutoff": cutoff, "mode": mode}
    d = FuzzyDict(items, scorer=scorer, embedding=one_hot, **options)
    back = again(d, tmp_path, embedding=one_hot)
    assert type(back) is type(d)
    assert {name: getattr(back, name) for name in options} == options
    assert type(back.score_cutoff) in (int, float, type(None))
    assert (type(back.scorer), repr(back.scorer)) == (type(scorer), repr(scorer))
    a, b = d.attend("colour"), back.attend("colour")
    np.testing.assert_array_equal(a.scores, b.scores)
    np.testing.assert_array_equal(a.weights, b.weights)


class Named(FuzzyDict[Any]):
    mode = "pool"
    embedding = one_hot

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def test_a_subclass_loads_as_itself_without_its_constructor(tmp_path: Path) -> None:
    d = Named("numbers")
    d["color"] = 2.0
    back = again(d, tmp_path)
    assert (type(back), back["color"], hasattr(back, "name")) == (Named, 2.0, False)
    plain: Any = FuzzyDict.load(tmp_path / "saved", embedding=one_hot)
    assert (plain.mode, plain["color"]) == ("pool", 2.0)
    FuzzyDict({"color": 2.0}, embedding=one_hot).save(tmp_path / "nearest")
    assert Named.load(tmp_path / "nearest").mode == "nearest"


def test_a_loaded_dict_encodes_nothing_again_and_is_saved_over_its_file(tmp_path: Path) -> None:
    recording = Recording(one_hot)
    d = FuzzyDict({f"key {i}": i for i in range(50)}, embedding=one_hot)
    d.get("k")
    for i in range(0, 40, 2):
        del d[f"key {i}"]
    back = again(d, tmp_path, embedding=recording.encode)
    recording.asked.clear()
    (tmp_path / "saved").unlink()  # nothing is left in the file
    assert list(back.items()) == list(d.items())
    assert back.most_similar("key 1x", topn=None) == d.most_similar("key 1x", topn=None)
    assert recording.asked == ["key 1x"]
    for _ in range(2):  # over the file that it was loaded from, too
        back["more"] = 2
        assert again(back, tmp_path, embedding=one_hot) == back
        back = again(back, tmp_path, embedding=one_hot)
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


def test_another_embedding_is_refused_naming_both(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    red, same, blue = (WordVectors(["red", "blue"], np.eye(2)[::i]) for i in (1, 1, -1))
    FuzzyDict({"red": 1}, embedding=red).save(path)
    names = {vectors.fingerprint()["name"] for vectors in (red, blue)}
    for another, named in {blue: names, None: (), one_hot: ()}.items():
        with pytest.raises(OptionError, match=r"saved with word vectors.*loaded with.*") as told:
            FuzzyDict.load(path, embedding=another)
        assert all(name in str(told.value) for name in named)
    assert FuzzyDict.load(path, embedding=same) == {"red": 1}
    # Functions are told apart by what they give, but for its last digits.
    FuzzyDict({"red": 1}, embedding=one_hot).save(path)
    assert FuzzyDict.load(path, embedding=lambda texts: one_hot(texts) + 1e-4) == {"red": 1}
    functions: dict[str, Callable[[list[str]], Any]] = {
        "a function to vectors of 5, .*gives other vectors": lambda texts: one_hot(texts) * 2,
        "vectors of 5.*vectors of 2.*pass the f": lambda texts: np.ones((len(texts), 2)),
    }
    for message, function in functions.items():
        with pytest.raises(OptionError, match=message):
            FuzzyDict.load(path, embedding=function)


# ---- what is refused at save --------------------------------------------------------------


class Level(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    x: int


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
REFUSED = [
    *(object(), b"bytes", {1, 2}, 1j, Decimal(1), Level.LOW, Pair(1), len, nested(102), CYCLE),
    *(np.array([object()]), np.array(["text"]), np.complex128(1), np.datetime64("2020")),
    *(np.array([1.0]).view(np.ma.MaskedArray), np.ones((1,) * 32), FuzzyDict(), [{"a": [set()]}]),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_the_first_value_that_cannot_be_saved_is_named(tmp_path: Path, value: Any) -> None:
    d: FuzzyDict[Any] = FuzzyDict(
        {"fine": 1, "first": value, "second": object()}, embedding=one_hot
    )
    (tmp_path / "saved").write_text("old")
    with pytest.raises(ArgumentTypeError, match=r"the item of key 'first' cannot be saved: .*conv"):
        d.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_keys_and_scorers_that_cannot_be_saved_are_refused(tmp_path: Path) -> None:
    for key in (frozenset({1}), b"bytes", Level.LOW, type("Text", (str,), {})("x")):
        with pytest.raises(ArgumentTypeError, match=r"the item of key .* cannot be saved"):
            FuzzyDict({"a": 1, key: 2}, embedding=one_hot).save(tmp_path / "saved")
    d = FuzzyDict({"a": 1}, embedding=one_hot, scorer=lambda q, k: q @ k.T)
    with pytest.raises(ArgumentTypeError, match=r"scorer: .*holds no functions; set d.scorer"):
        d.save(tmp_path / "saved")


# ---- where it cannot be written -----------------------------------------------------------


def test_a_name_that_no_file_can_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    d = FuzzyDict({"a": 1}, embedding=one_hot)
    for name in ("t/", "t/.", "t//", "."):
        with pytest.raises(IsADirectoryError, match="names a folder; name a"):
            d.save(name)
    with pytest.raises(FileNotFoundError, match="name is empty; name a file: ''"):
        d.save("")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("name", ["pipe", "link"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    d = FuzzyDict({"a": 1, "b": np.arange(3.0)}, embedding=one_hot)
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        d.save(tmp_path / name)
        received = os.read(reader, 2**16)
    finally:
        os.close(reader)
    d.save(tmp_path / "saved")
    assert received == (tmp_path / "saved").read_bytes()
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "saved"]


# ---- large files, whose vectors are not read at once ---------------------------------------


KEYS = ["brand", "model", "color", "top speed", "?!", "maxPower", "colour blind", "é", "a\nb"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a dict whose vectors count as many."""
    monkeypatch.setattr(saved_keys, "_LITTLE", 0)
    made: FuzzyDict[Any] = FuzzyDict({key: i for i, key in enumerate(KEYS)})
    made[7] = made[None] = "no text"
    made.save(tmp_path / "d.fuzzy")
    return tmp_path / "d.fuzzy"


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
    for option, value in {"scorer": "cosine", "projections": "identity"}.items():
        one: FuzzyDict[Any] = FuzzyDict.load(path)
        setattr(one, option, value)
        fresh = FuzzyDict(one)
        setattr(fresh, option, value)
        assert_same(one.most_similar("colour"), fresh.most_similar("colour"))


def test_every_read_tells_of_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = path.read_bytes()
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
