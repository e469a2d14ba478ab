"""Any object as a query: it is answered as a dict would, or with the default, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, FuzzyDict, NoMatchError
from fuzzydict.errors import quoted
from tests.support.searching import needs_usearch

ITEMS = {"color": 1.0, "price": 2.0, "brand": 3.0}


def refuse(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError


def text_whose(**methods: Any) -> Any:
    """Return the text "colour", of a class with other methods than those of a text."""
    return type("Text", (str,), {"__hash__": str.__hash__} | methods)("colour")


def number_whose(**methods: Any) -> Any:
    """Return an object that equals no key, of a class with other methods."""
    return type("Number", (), {"__hash__": lambda _: 5} | methods)()


SPOILT = dict.fromkeys(
    [
        *("__len__", "__iter__", "__getitem__", "__repr__", "__str__", "__contains__", "replace"),
        *("lower", "casefold", "split", "strip", "translate", "encode", "isascii", "__format__"),
    ],
    refuse,
)
ODD_QUERIES: list[Any] = [
    *(None, True, 0, -0.0, float("nan"), 10**400, 10**5000, -(10**5000), 1j, Decimal("NaN"), ...),
    *((), (1, 2), ("colour",), b"colour", frozenset(), range(3), type, len, object()),
    *("", " ", "?!", "\x00", "\ud800", "\udc80x", "\u202e", "x" * 5000, "e\u0301" * 2000),
    *(np.float64("nan"), np.str_("colour"), np.str_(""), np.bool_(True), np.datetime64("NaT", "D")),
    text_whose(__eq__=refuse),
    text_whose(__eq__=lambda *_: True),
    text_whose(__eq__=lambda *_: False, __hash__=lambda _: 7),
    text_whose(**SPOILT),
    number_whose(__eq__=refuse, __repr__=refuse),
    number_whose(__eq__=lambda *_: False, __str__=refuse, __float__=refuse, __index__=refuse),
]
UNHASHABLE: list[Any] = [[], ["colour"], {}, {"colour"}, bytearray(b"a"), np.array(["colour"])]

OPTIONS: list[dict[str, Any]] = [
    {},
    {"scorer": "spelling"},
    {"scorer": "cosine", "score_cutoff": 0.9},
    {"score_cutoff": math.inf},
    {"score_cutoff": -np.inf},
    {"score_cutoff": np.inf, "mode": "pool"},
    {"mode": "pool"},
]
READS: dict[str, Callable[[Any, Any], Any]] = {
    "get": lambda d, q: d.get(q, "default"),
    "get, any score": lambda d, q: d.get(q, "default", score_cutoff=-np.inf),
    "get, no score": lambda d, q: d.get(q, "default", score_cutoff=np.inf),
    "get_many": lambda d, q: d.get_many([q], "default")[0],
    "nearest": lambda d, q: d.nearest([q], default="default")[0],
}


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(
    "options", [*OPTIONS, pytest.param({"index": "usearch"}, marks=needs_usearch)], ids=str
)
def test_any_query_gets_an_answer_or_the_default(options: dict[str, Any], read: str) -> None:
    d, other = FuzzyDict(ITEMS, **options), FuzzyDict(ITEMS, **options)
    d.aliases = other.aliases = {"hue": "color", "nothing": None}
    for query in ODD_QUERIES:
        assert READS[read](d, query) is not None, quoted(query)
    for text in ("color", "colour", "hue"):  # what was asked before spoils no other query
        assert READS[read](d, text) == READS[read](other, text)


@pytest.mark.parametrize("query", UNHASHABLE, ids=quoted)
def test_what_cannot_be_hashed_is_a_type_error_as_of_a_dict(query: Any) -> None:
    for options in OPTIONS:
        d = FuzzyDict(ITEMS, **options)
        for cutoff in (None, 0.5):
            with pytest.raises(TypeError, match="unhashable"):
                d.get(query, "default", score_cutoff=cutoff)
        with pytest.raises(ArgumentTypeError, match=r"^queries\[1\]: expected a text"):
            d.get_many(["colour", query])
        for read in (d.nearest, d.most_similar, d.explain, d.attend, d.pool):
            with pytest.raises(ArgumentTypeError, match=r"^queries\[2\]: expected a text"):
                read(["colour", "brand", query])
            if not isinstance(query, list):
                with pytest.raises(ArgumentTypeError, match=r"query: .* several .* in a list"):
                    read(query)


@pytest.mark.parametrize("options", [{}, {"scorer": "spelling"}, {"scorer": "cosine"}], ids=str)
@pytest.mark.parametrize("query", ["", "?!", " ", np.str_("\u00a0")], ids=repr)
def test_a_text_without_words_in_a_list_has_an_empty_answer(query: Any, options: Any) -> None:
    d: FuzzyDict[float] = FuzzyDict(ITEMS, **options)
    for queries in ([query], ["color", query, "brand"]):
        place = queries.index(query)
        read = d.most_similar(queries), d.explain(queries), d.attend(queries)
        similar, explained, attended = read
        assert [len(some) for some in similar] == [0 if one is query else 3 for one in queries]
        assert similar[place]._repr_html_() == "<p>no matches</p>"
        why, found = explained[place], attended[place]
        assert (why.best, why.runner_up, why.matches, why.margin) == (None, None, False, None)
        assert (found.names, found.top(), found.effective_keys) == ([], [], 0)
        assert why.none == found.none == (None if options.get("scorer") == "cosine" else 1.0)
        for shown in read:
            assert all(one._repr_html_() and str(one) and repr(one) for one in (shown, *shown))
        with pytest.raises(NoMatchError):
            _ = found.output
        for no in (d.pool, d.explain):
            with pytest.raises(NoMatchError):
                no(queries if no == d.pool else query)
    d["?!!"] = 4.0  # a key without words is found in a list
    d.aliases = {"hue": "?!!"}
    queries = ["hue", "!!", "?!!"]
    assert [[one.key for one in some] for some in d.most_similar(queries)] == [["?!!"], [], ["?!!"]]


@pytest.mark.parametrize("query", [None, 5, 10**5000], ids=quoted)
def test_an_error_names_the_place_of_a_query_that_has_nothing_to_compare(query: Any) -> None:
    d = FuzzyDict(ITEMS)
    for read in (d.most_similar, d.explain, d.attend, d.pool):
        with pytest.raises(NoMatchError, match=r"\(queries\[1\]: leave it out\)$"):
            read(["color", query, "brand"])
        with pytest.raises(NoMatchError) as alone:
            read(query)
        assert "queries[" not in str(alone.value)


def test_a_text_of_another_class_reads_as_its_text() -> None:
    d = FuzzyDict(ITEMS)
    for query in (np.str_("colour"), text_whose(), text_whose(**SPOILT), text_whose(__eq__=refuse)):
        assert d[query] == d["colour"] == 1.0
        assert d.nearest(query).query is query
    with pytest.raises(NoMatchError) as told:
        FuzzyDict(ITEMS, score_cutoff=math.inf)[query := text_whose(**SPOILT)]
    assert told.value.args[0] is query
