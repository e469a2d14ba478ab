"""What a dict was taught of words: synonyms, applied to keys and queries alike."""

from __future__ import annotations

import json
import os
from enum import Enum
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import fuzzydict
from fuzzydict import ArgumentTypeError, FileFormatError, FuzzyDict, OptionError
from fuzzydict.search import taught as synonyms_module
from tests.benchmarks.measuring import in_child
from tests.support.damage import text, with_arrays
from tests.support.recording import Recording
from tests.support.searching import check_keys

COSTS = {"cost center name": 1, "KST number": 2, "Acme Ltd": 3, "supplier": 4}
SYNONYMS = {"KST": "cost center", "Ltd": ""}
OTHERS = {"WXYZ": "supplier"}


class Unit(str, Enum):  # noqa: UP042  # the `str` of StrEnum is the text
    COST = "KST"


def costs(**options: Any) -> FuzzyDict[int]:
    d: FuzzyDict[int] = FuzzyDict(COSTS, **options)
    d.synonyms = SYNONYMS
    return d


@pytest.mark.parametrize(
    ("query", "value"),
    [("KST name", 1), ("kstName", 1), ("cost centre number", 2), ("acme", 3), ("Supplier Ltd", 4)],
)
@pytest.mark.parametrize("options", [{}, {"scorer": "spelling"}, {"embedding": "english"}])
def test_every_read_replaces_them(query: str, value: int, options: dict[str, Any]) -> None:
    d = costs(**options)
    (key,) = (key for key in d if d[key] == value)
    assert d[query] == d.get(query) == d.get_many([query, query])[1] == value
    assert d.nearest(query).score > 0.9
    assert d.nearest([query, "KST name"])[0].key == d.most_similar(query, 1)[0].key == key
    assert d.attend(query).top(1)[0][0] == d.explain(query).best.key == key
    assert round(d.pool(query)) == value
    assert query not in d
    assert json.loads(json.dumps(d)) == COSTS


def test_an_encoder_is_given_what_stands_for_words() -> None:
    recording = Recording(lambda texts: [[len(text), text.count("c"), 1] for text in texts])
    d = costs(embedding=recording, scorer="cosine")
    assert d["KST name"] == 1
    asked = {"cost center name", "cost center number", "acme", "supplier"}
    assert asked <= set(recording.asked)
    assert "KST number" not in recording.asked


def test_columns_are_matched_with_them() -> None:
    column = pytest.importorskip("pandas").Series(["KST name", "acme"])
    assert costs().match(column)["value"].tolist() == [1, 3]
    assert fuzzydict.match(column, COSTS, synonyms=SYNONYMS)["value"].tolist() == [1, 3]


def test_explain_says_which_were_applied_also_after_a_fit() -> None:
    d = costs()
    d.fit({"who sells": "supplier"})
    assert (d["who sells"], d["KST name"]) == (4, 1)
    e = d.explain("cost centre number Ltd")
    assert e.synonyms == SYNONYMS  # one to the key, one to the query
    assert "synonym: KST is read as cost center" in str(e)
    assert "synonym: Ltd is left out" in e._repr_html_()
    assert d.explain("supplyer").synonyms == {}
    assert "synonym" not in str(d.explain("supplyer"))
    assert "synonyms: KST → cost center, Ltd → left out" in d._repr_html_()


@pytest.mark.parametrize(
    ("synonyms", "text", "read"),
    [
        ({"KST": "cost center"}, "the kst-number", "the cost center number"),
        ({"cost center": "KST"}, "costCenter number", "kst number"),
        ({"cost": "price", "cost center": "KST"}, "cost center", "kst"),  # the longest
        ({"cost": "price", "cost center": "KST"}, "cost number", "price number"),
        ({"a": "b", "b": "c"}, "a b", "c c"),  # what is put in is read, too
        ({"GmbH": "Ltd", "Ltd": ""}, "Acme GmbH", "acme"),
        ({"a": "b", "b": "a"}, "a b", "b b"),  # both ways: as it was named first
        ({"KST": "cost center", "cost center": "KST"}, "KST no", "cost center no"),
        ({"credit card": "credit card", "card": "credit card"}, "credit card", "credit card"),
        ({"color": "colour", "5": "five"}, "Color 5", "colour five"),  # themselves
        ({"Ltd": ""}, "Ltd", "Ltd"),  # nothing would be left
        ({"Ltd": "  "}, "Acme Ltd", "acme"),
        ({"café": "bar"}, "Cafe 5", "bar 5"),
        ({"SKU": "article number"}, "SKUs", "article number"),
        ({"colour": "hue"}, "color", "hue"),
        ({"KST": "cost center"}, "no such word?", "no such word?"),
    ],
)
def test_how_a_text_is_read(synonyms: dict[str, str], text: str, read: str) -> None:
    d = FuzzyDict({text: 1})
    d.synonyms = synonyms
    plain = FuzzyDict({read: 1})
    for query in ("name", "supplier"):
        assert d.attend(query).keys == pytest.approx(plain.attend(query).keys)


@pytest.mark.parametrize(
    ("synonyms", "message"),
    [
        ({"a": "b", "b": "c", "c": "a"}, "stands for '.' stands for '.'.*, in a circle"),
        ({"card": "credit card"}, "'card' is in the text that it stands for"),
        ({"": "x"}, "'' has no letters or digits"),
        ({"x": "?!"}, "'\\?!' has no letters or digits"),
        ({"KST": "a", "kst": "b"}, "'KST' and 'kst' are one text, given 'a' and 'b'"),
        ({"KST": None}, 'got NoneType None; give "" to leave the word out'),
        ({1: "a"}, "expected texts, got int 1"),
        (["KST"], "expected a mapping from texts to texts"),
        (3, "expected a mapping from texts to texts, got 3"),
    ],
)
def test_what_is_wrong_is_refused_and_changes_nothing(synonyms: Any, message: str) -> None:
    d = costs()
    with pytest.raises((OptionError, ArgumentTypeError), match=message):
        d.synonyms = synonyms
    with pytest.raises((OptionError, ArgumentTypeError), match=message):
        d.synonyms.update(synonyms)
    with pytest.raises((OptionError, ArgumentTypeError), match="expected a mapping"):
        d.synonyms.update({"a": "b"}, synonyms)
    assert d.synonyms == SYNONYMS
    assert d["KST name"] == 1
    with pytest.raises(TypeError, match=r"afterwards, d\.synonyms = "):
        FuzzyDict({}, synonyms=synonyms)


def test_a_class_may_have_some_or_none_or_those_of_what_it_derives_from(tmp_path: Path) -> None:
    class Costs(FuzzyDict[int]):
        synonyms = {"KST": "cost center"}  # type: ignore[assignment]  # noqa: RUF012

    assert Costs.fromkeys(["cost center name", "supplier"], 1)["KST name"] == 1
    d = Costs(COSTS)
    d.synonyms = {}
    d.save(tmp_path / "costs.fuzzydict")
    assert Costs.load(tmp_path / "costs.fuzzydict").synonyms == {}
    plain: Any = type("Plain", (Costs,), {"synonyms": None})
    assert (plain(COSTS).synonyms, plain(COSTS).get("KST name")) == ({}, None)

    others: Any = type("Others", (Costs,), {"synonyms": OTHERS})
    assert (others(COSTS)["wxyz"], others(COSTS).synonyms) == (4, OTHERS)


def test_an_exact_key_and_an_alias_go_first() -> None:
    d = FuzzyDict({"KST": 1, "cost center": 2, "supplier": 3})
    d.synonyms = {"KST": "cost center"}
    d.aliases["KST name"] = "supplier"
    assert d.get_many(["KST", "cost center", "KST name"]) == [1, 2, 3]
    assert (d["KST"], d["cost center"], d["KST name"], d.nearest("KST").score) == (1, 2, 3, 1.0)


def test_a_change_holds_from_the_next_read_on() -> None:
    d = FuzzyDict(COSTS)
    assert d.get("WXYZ") is None
    d.synonyms["WXYZ"] = "supplier"
    assert d["wxyz"] == 4
    d.synonyms["wxyz"] = "cost center name"
    assert (d["WXYZ"], list(d.synonyms.values())) == (1, ["cost center name"])
    d["WXYZ x"] = 5
    assert d.nearest("cost center name x").key == "WXYZ x"
    del d["WXYZ x"]
    del d.synonyms["Wxyz"]
    assert d.get("WXYZ") is None
    with pytest.raises(KeyError):
        del d.synonyms["WXYZ"]
    d.synonyms |= SYNONYMS
    assert d.synonyms | {"x": "y"} == {**SYNONYMS, "x": "y"}
    d.synonyms.clear()
    d.synonyms[Unit.COST] = "cost center"  # a text whose `str` is another
    assert (d.synonyms["kst"], dict(d.copy().synonyms)) == ("cost center", {"KST": "cost center"})
    del d.synonyms["kst"]
    assert dict(d.synonyms) == {}
    check_keys(d)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_those_that_were_taken_before_a_fork_can_be_changed_after_it() -> None:
    d = FuzzyDict(COSTS)
    synonyms, is_held, is_over = d.synonyms, Event(), Event()

    def hold() -> None:
        with d._lock:
            is_held.set()
            is_over.wait(60)

    thread = Thread(target=hold)
    thread.start()
    is_held.wait(60)

    def change() -> str:
        synonyms.update(OTHERS)
        return str(d["wxyz"])

    assert in_child(change) == "4"
    is_over.set()
    thread.join()


def test_a_file_with_wrong_ones_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "costs.fuzzydict"
    costs().save(path)
    content: Any
    for content in ([["a", "b"], ["b", "c"], ["c", "a"]], [1], [["KST", 1]], {}):
        with_arrays(path, partial(dict.update, synonyms=text(content)))
        with pytest.raises(FileFormatError, match=path.name):
            FuzzyDict.load(path)


def test_many_that_each_double_the_next_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    phrase_of = synonyms_module.phrase_of

    def counted(text: str) -> tuple[str, ...]:
        read.append(text)
        return phrase_of(text)

    monkeypatch.setattr(synonyms_module, "phrase_of", counted)
    d = FuzzyDict({"supplier": 1})
    many = {f"w{i}": f"w{i + 1} w{i + 1}" for i in range(2000)}
    d.synonyms = many
    assert d["suplier"] == 1
    assert d.get("w0") is None
    read.clear()
    assert dict(d.synonyms) == FuzzyDict(d).synonyms.copy() == many
    assert len(read) < 20 * len(many)  # and not each for each
