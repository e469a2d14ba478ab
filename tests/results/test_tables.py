"""What reads return as text and in notebooks: tables whole and escaped, bars, a dict."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from fuzzydict import Attention, FuzzyDict, Match
from fuzzydict.results.answers import Matches


def rows_of(page: str) -> list[list[str]]:
    """Return the cells of a table in rows; raises unless every tag is closed."""
    tree = fromstring(f"<div>{page}</div>")
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]


def shown(what: Any) -> str:
    page: str = what._repr_html_()
    return page


MARKUP = "<script>alert('x') & more</script>"
PAGES: dict[str, Callable[[FuzzyDict[Any], str], Any]] = {
    "match": lambda d, query: d.nearest(query),
    "matches": lambda d, query: d.most_similar(query),
    "of several": lambda d, query: d.most_similar([query, "a"]),
    "attention": lambda d, query: d.attend(query),
    "attentions": lambda d, query: d.attend([query, "a"]),
    "explanation": lambda d, query: d.explain(query),
    "by a function": lambda d, query: FuzzyDict(d, embedding=lengths).explain(query + "b"),
    "by a scorer": lambda d, query: FuzzyDict(d, embedding=lengths, scorer="dot").explain(query),
    "explanations": lambda d, query: d.explain([query, "w " * 100, 5]),
    "dict": lambda d, _: d,
}


def lengths(texts: list[str]) -> list[list[int]]:
    return [[len(text), text.count("a"), 1] for text in texts]


@pytest.mark.parametrize("what", PAGES)
@pytest.mark.parametrize("key", [MARKUP, "a" * 500, "a\nb", "\x00a", "'a' \"b\"", "&lt;a&gt;"])
def test_any_page_is_whole_escaped_and_fetches_nothing(what: str, key: str) -> None:
    d = FuzzyDict({key: key, "other": {"<b>": "</td>"}, 5: "five"})
    page = shown(PAGES[what](d, key))
    cells = [cell for row in rows_of(page) for cell in row]
    assert any(
        cell and cell[:5] in key.replace("\n", r"\n").replace("\0", r"\x00") for cell in cells
    )
    assert all(len(cell) < 100 for cell in cells)
    assert not re.search("<(script|b)>", page)
    assert not re.search(r"(src|href|class|id)=|https?:|url|[;'\s]color:", page)
    shades = re.findall(r"rgba?\(([^)]*)\)|#[0-9a-f]{3,6};", page)
    assert all(0 <= float(shade.split(",")[3]) < 0.6 for shade in shades)
    assert shades or what in ("dict", "by a scorer")


def test_a_dict_shows_its_size_what_it_was_taught_and_its_options() -> None:
    page = shown(FuzzyDict({f"key {i}": i for i in range(1200)}))
    assert "<p>FuzzyDict of 1,200 items</p>" in page
    assert rows_of(page) == [["key", "value"], *([f"key {i}", str(i)] for i in range(8))]
    assert "<p>and 1,192 more items</p>" in page
    assert not rows_of(shown(FuzzyDict()))
    d = FuzzyDict({"color": 1, "price": 2})
    d.aliases.update({"hue": "color", "zip": None})
    assert "<p>aliases: hue → color, zip → no key</p>" in shown(d)
    d.aliases.update({f"cost {letter}": "price" for letter in "abcdefgh"})
    assert "cost f → price, and 2 more aliases</p>" in shown(d)

    d = FuzzyDict({"a": 1}, mode="pool", embedding={"a": [1.0, 0]}, score_cutoff=2)
    page = shown(d).replace("&#x27;", "'")
    for line in ("mode: 'pool'", "embedding: {'a': [1.0, 0]}", "score_cutoff: 2.0"):
        assert f"<p>{line}</p>" in page


def test_whatever_is_in_a_dict_is_short() -> None:
    large = list(range(10**5))

    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    d: FuzzyDict[Any] = FuzzyDict({MARKUP: [MARKUP], "b": Hostile()})
    d.aliases[MARKUP + "!"] = MARKUP
    page = shown(d)
    assert ("<script" in page, "an object of Hostile" in page) == (False, True)
    assert all(len(cell) <= 24 for row in rows_of(page) for cell in row)
    values: list[Any] = ["x" * 10**7, b"x" * 10**7, large, dict.fromkeys(large), set(large)]
    assert len(shown(FuzzyDict(enumerate([*values, d, *large])))) < 5000


def test_ipython_prints_the_values_of_a_dict_that_pools() -> None:
    printed: list[Any] = []
    printer: Any = SimpleNamespace(text=printed.append, pretty=printed.append)
    for cycle in (False, True):
        FuzzyDict({"color": "black", "size": 5}, mode="pool")._repr_pretty_(printer, cycle=cycle)
    assert printed == [{"color": "black", "size": 5}, "{...}"]
    assert type(printed[0]) is dict


CAR = {"top speed": 260.0, "speed": 1.0, "color": 2.0}
TWO = {"color": "black", "top speed": 260}


def rows(what: Any) -> list[list[str]]:
    return rows_of(shown(what))


def test_top_and_the_bar_chart_are_the_best_keys_with_weights_and_values() -> None:
    a: Attention = FuzzyDict(CAR).attend("top speed")
    top = a.top(2)
    assert [(key, value) for key, _, value in top] == [("top speed", 260.0), ("speed", 1.0)]
    assert [weight for _, weight, _ in top] == sorted(a.weights.tolist(), reverse=True)[:2]
    assert len(a.top()) == 3
    title, first, second, *_ = str(a).splitlines()
    assert title == "attention of 'top speed'"
    assert re.match(r"  top speed +[\d.]+% █+ +260\.0$", first)
    assert first.count("█") > second.count("█")
    items = {"a" * 500: "x" * 500, "b\nc": "d\te"} | {f"key {i}": i for i in range(25)}
    lines = str(FuzzyDict(items).attend("key")).splitlines()
    assert (len(lines), max(map(len, lines)) < 120) == (13, True)
    assert "17 more keys" in lines[-2]


def test_attention_says_how_many_keys_it_mixes_and_how_likely_none_is_right() -> None:
    vectors = {"a": [1.0, 0, 0], "b": [0, 1.0, 0], "c": [0, 0, 1.0], "d": [1.0, 1.0, 0]}
    d = FuzzyDict(dict.fromkeys("abc", 1.0), embedding=vectors, scorer="dot")
    for temperature, query, count in ((1e-3, "a", 1), (1e-3, "d", 2), (1e3, "a", 3)):
        d.temperature = temperature
        assert d.attend(query).effective_keys == pytest.approx(count, abs=1e-3)
        assert d.attend(query).none is None  # these scores are no probabilities
        assert str(d.attend(query)).endswith("keys in effect")
    car = FuzzyDict(CAR)
    for query in ("top_sped", "elephant", "colours"):
        a, e = car.attend(query), car.explain(query)
        assert a.none == pytest.approx(e.none, abs=1e-6)
        assert f"no key is right: {e.none:.1%}" in str(a)
        assert f"{a.effective_keys:.1f} keys in effect" in shown(a)


def test_matches_are_a_list_and_a_table() -> None:
    best = [Match("color", "black", 0.9), Match("top speed", 260, 0.05)]
    assert rows(Matches(best)) == [
        ["key", "score", "value"],
        ["color", "0.900", "black"],
        ["top speed", "0.050", "260"],
    ]
    assert rows(best[0]) == rows(Matches(best))[:2]
    d = FuzzyDict(TWO)
    found = d.most_similar("colour")
    assert (found, repr(found)) == (list(found), repr(list(found)))
    assert isinstance(found[:1], Matches)
    for one in (found, d.nearest("colour"), d.nearest(["colour"])):
        assert "<caption>matches of &#x27;colour&#x27;</caption>" in shown(one)
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert again == found
        assert isinstance(again, Matches)


def test_a_query_that_matches_nothing_has_a_row() -> None:
    d = FuzzyDict(TWO)
    queries = ["qwzzt", "colour", "?!", "topSpeed", "xqq"]
    found = d.nearest(queries, default=None)
    keys = ["no match", "color", "no match", "top speed", "no match"]
    expected = [list(row) for row in zip(queries, keys, strict=True)]
    assert [row[:2] for row in rows(found)[1:]] == expected
    assert [row[:2] for row in rows(found[1:4])[1:]] == expected[1:4]
    assert found[2:].unmatched == ("?!", "xqq")
    found.pop(0)  # the queries of the others are not known any more
    assert [row[:2] for row in rows(found)[1:3]] == [["colour", "color"], ["None", "no match"]]
    assert rows(d.nearest(["qwzzt"], default="?"))[1] == ["no match", "", "?"]


def test_several_queries_are_one_table() -> None:
    d = FuzzyDict({**TWO, "price": 1, "brand": "Porsche"})
    found = d.most_similar(["colour", "topSpeed"])
    table = rows(found)
    assert table[0] == ["query", "key", "score", "value"]
    assert [row[0] for row in table[1:]] == ["colour", "", "", "topSpeed", "", ""]
    assert [table[1][1], table[4][1]] == ["color", "top speed"]
    d = FuzzyDict(dict.fromkeys(["red", "navy", *(f"key {i}" for i in range(20))], 1.0))
    table = rows(d.attend(["rde", "nvy"]))
    assert [row[0] for row in table] == ["query", "rde", "nvy"]
    assert table[0][-2:] == ["other keys", "none is right"]
    assert len(table[0]) == 11
    for row in table[1:]:
        attention = d.attend(row[0])
        weight_of = dict(zip(attention.names, attention.weights, strict=True))
        shares = [weight_of[name] for name in table[0][1:9]]
        shares += [1 - sum(shares), attention.none]
        assert row[1:] == [f"{max(share, 0):.1%}" for share in shares]


def test_of_very_many_results_the_first_are_shown() -> None:
    d = FuzzyDict({"color": 1.0, "top speed": 2.0})
    queries = [f"colour {i}" for i in range(60)]
    for found, count, note in (
        (d.nearest(queries, default=None), 50, "and 10 more matches"),
        (d.most_similar(queries, topn=1), 20, "and 40 more queries"),
        (d.attend(queries), 20, "and 40 more queries"),
        (d.explain(queries), 50, "and 10 more queries"),
    ):
        assert len(rows(found)) == 1 + count
        assert f"<p>{note}</p>" in shown(found)
