"""The page of a dict answers as the dict does: its scripts are run, by node and by a browser."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from typing import Any

import numpy as np
import pytest

from fuzzydict import Brown, FuzzyDict, WordVectors
from fuzzydict.embedding.projections import Factors, Projections
from fuzzydict.embedding.word_vectors import ngram_vector
from fuzzydict.io.explore import explore_page
from fuzzydict.text.similarity import likeness
from fuzzydict.text.words import plain

from .javascript import Engine, browser, in_browser, in_node, node

ENGINES = [
    pytest.param(in_node, marks=node, id="node"),
    pytest.param(in_browser, marks=browser, id="browser"),
]
ODD_KEYS = [
    *("Porsche", "topSpeed", "max_power", "C#", "C++", "Café Zoë", "Straße 12", "flat 1961"),
    *("日本語", "ОДОС ΣΑΣ", "don't panic", "the colour of money", "a" * 60, "ﬁne art", "x²"),
]
ODD_QUERIES = [
    *("topspeed", "TopSpeed", "max power", "maximum power", "c", "C #", "cafe zoe", "STRASSE 12"),
    *("flat 1962", "flat1961", "日本", "οδοσ σας", "dont panic", "color of money", "HTTPStatus"),
    *("qwzzt", "xyzzy plugh", "porsch", "porsche", "aaaa", "fine arts", "x2", "'", "the"),
    *("e\u0301cole", "\u200btop\u00adspeed", "\U0001d4b3", "Zürich-1961", "of", "NASA's", "\ud800"),
]


def a_dict(seed: int) -> FuzzyDict[float]:
    """Return a dict of words, phrases, and names that the vectors do not know."""
    draw = random.Random(seed)
    words = [word for word in Brown().words[100:12000] if word.isalpha()]
    phrases = [" ".join(draw.sample(words[:4000], draw.choice([2, 3]))) for _ in range(60)]
    keys = dict.fromkeys([*draw.sample(words, 120), *phrases, *ODD_KEYS])
    return FuzzyDict({key: float(i) for i, key in enumerate(keys)})


def queries_of(d: FuzzyDict[Any], seed: int) -> list[str]:
    """Return known words, phrases, keys with a slip, and what else people type."""
    draw = random.Random(seed)
    words = Brown().words[:9000]
    phrases = [" ".join(draw.sample(words, draw.choice([2, 3]))) for _ in range(40)]
    slips = [slip(draw, key) for key in draw.sample(list(d), 40)]
    return [*draw.sample(words, 60), *phrases, *slips, *draw.sample(list(d), 10), *ODD_QUERIES]


def slip(draw: random.Random, key: str) -> str:
    place = draw.randrange(len(key))
    letter = draw.choice(["", key[place] * 2, draw.choice("aeiounst"), key[place].upper()])
    return key[:place] + letter + key[place + 1 :]


def answers(run: Engine, page: str, queries: list[str]) -> list[Any]:
    """Return the best key of each query, its probability and what that is made of."""
    code = f"""return {json.dumps(queries)}.map((query) => {{
        const judged = view.matching.judge(query);
        const slot = judged.order[0];
        const {{ parts }} = view.matching.parts(judged, slot);
        return [view.matching.names[slot], Math.exp(judged.logs[slot]), parts];
    }});"""
    found: list[Any] = run(page, code)
    return found


def check_answers(
    run: Engine, d: FuzzyDict[Any], queries: list[str], *, words: int, within: float = 2e-3
) -> None:
    """Compare the answers of a page with those of its dict.

    They differ by a little, for the vectors of the keys' words never seen are rounded.
    """
    asked = [query for query in queries if plain(query)]
    found = answers(run, explore_page(d, words=words), asked)
    best = d.most_similar(asked, topn=1)
    for query, explained, answer, ranked in zip(asked, d.explain(asked), found, best, strict=True):
        ((key, _, score),) = ranked
        assert answer[0] == key, query
        assert answer[1] == pytest.approx(score, abs=within), query
        if explained.best.key == key:  # not an equal key in the place of its twin
            assert answer[2] == pytest.approx(explained.best_parts[:3], abs=within), query


@pytest.mark.parametrize("run", ENGINES)
def test_a_page_of_all_words_answers_as_its_dict(run: Engine) -> None:
    d = a_dict(1)
    check_answers(run, d, queries_of(d, 2), words=len(Brown()))


@node
def test_a_page_of_fewer_words_answers_as_its_dict_where_it_knows_the_words() -> None:
    d = a_dict(3)
    inside = set(Brown().words[:3000])
    tokens = Brown().vocabulary.tokens
    known = [q for q in queries_of(d, 4) if inside.issuperset(tokens(q)) or q in d]
    assert len(known) > 30
    check_answers(in_node, d, known, words=3000)


@node
def test_a_word_that_is_left_out_is_taken_for_one_never_seen() -> None:
    d = FuzzyDict({"color": 1.0, "price": 2.0})
    (rare,) = set(Brown().words[-1:])
    code = f"""return [view.matching.vocabulary.knownShare({json.dumps(rare)}),
        view.matching.vocabulary.omitted.has({json.dumps(rare)})];"""
    assert in_node(explore_page(d, words=100), code) == [0, True]
    assert in_node(explore_page(d, words=len(Brown())), code) == [1, False]


@node
@pytest.mark.parametrize("kind", ["identity", "matrix", "factors", "more"])
def test_other_projections_are_gone_through(kind: str) -> None:
    draw = np.random.default_rng(5)
    size, shipped = Brown().size, Projections.shipped("wordnet")
    longer = shipped.project_queries(np.ones((1, size)), ["one"]).shape[1]
    factors, more = (
        Factors(*draw.normal(0, 0.05, (2, n, 3)).astype(np.float32)) for n in (size, longer)
    )
    projections: Any = {
        "identity": "identity",
        "matrix": Projections(query=np.eye(size) + draw.normal(0, 0.01, (size, size))),
        "factors": Projections(query=factors, key=Factors(factors.right, factors.left)),
        "more": Projections(key=more, base=shipped),
    }[kind]
    keys = random.Random(6).sample(list(a_dict(6)), 40)
    d = FuzzyDict(dict.fromkeys(keys, 1.0), projections=projections)
    check_answers(in_node, d, queries_of(d, 7)[::4], words=len(Brown()))


@node
def test_what_was_taught_is_known_to_the_page_as_well() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "brand", "price", "top speed", "seats"], 1.0))
    report = d.fit({"hue": "color", "colourway": "color", "maker": "brand"}, validation=0)
    assert report.kept
    asked = ["hue", "the hue", "colourway", "maker", "colour", "velocity", "hues"]
    check_answers(in_node, d, asked, words=len(Brown()))


@node
def test_vectors_of_ones_own_with_capitals_and_underscores() -> None:
    draw = np.random.default_rng(8)
    words = ["the", "color", "Paris", "new_york", "new", "york", "speed", "Ünlü", "top", "état"]
    vectors = WordVectors(words, draw.normal(size=(10, 12)), np.arange(1000, 0, -100))
    keys = ["paris", "New York", "top speed", "color", "unlu", "Etat", "colour of Paris"]
    d = FuzzyDict(dict.fromkeys(keys, 1.0), embedding=vectors)
    asked = ["Paris", "new york", "york", "newyork", "colour", "état", "ÜNLÜ", "speed", "tpo sped"]
    check_answers(in_node, d, asked, words=100, within=0.02)  # for a byte a number is less exact


@node
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_weights_and_the_pooled_value_are_those_of_the_dict(temperature: float) -> None:
    colors = {"red": (255, 0, 0), "navy": (0, 0, 128), "dark green": (0, 100, 0)}
    d = FuzzyDict(colors, temperature=temperature)
    code = f"""const judged = view.matching.judge("crimson grass");
        const weights = attend(judged, {temperature});
        return [weights, Array.from(pool(weights, view.data.pooling))];"""
    page = explore_page(d, words=len(Brown()))
    weights, pooled = in_node(page, code)
    attention = d.attend("crimson grass")
    assert weights == pytest.approx(attention.weights.tolist(), abs=1e-5)
    assert pooled == pytest.approx(attention.output.tolist(), abs=1e-2)


@node
def test_the_same_words_in_a_text() -> None:
    # Characters of Unicode 3.2, on which whatever runs the page agrees with this Python.
    old = unicodedata.ucd_3_2_0
    codes = filter(lambda code: not 0xD800 <= code < 0xE000, range(sys.maxunicode + 1))
    some = [chr(c) for c in codes if old.category(chr(c)) not in ("Cn", "Co", "Cs")]
    texts = [f"a{''.join(some[i : i + 3])}B'x" for i in range(0, len(some), 3)]
    code = f"return {json.dumps(texts)}.map((text) => view.matching.text.plain(text));"
    found = in_node(explore_page(FuzzyDict({"a": 1}), words=10), code)
    differ = {t: (f, plain(t)) for t, f in zip(texts, found, strict=True) if f != plain(t)}
    assert not differ


@node
def test_the_same_likeness_and_vectors_of_letters() -> None:
    draw = random.Random(9)
    letters = "aaeeiioouustrnlcqzphgk 12é日\U0001f600"
    pairs = [
        ["".join(draw.choices(letters, k=draw.randrange(12))) for _ in "ab"] for _ in range(2000)
    ]
    code = f"""return [{json.dumps(pairs)}.map(([a, b]) => view.matching.spelling.likeness(a, b)),
        Array.from(ngramVector("colour", 40))];"""
    alike, letters_of = in_node(explore_page(FuzzyDict({"a": 1}), words=10), code)
    assert alike == pytest.approx([likeness(a, b) for a, b in pairs], abs=1e-6)
    assert letters_of == ngram_vector("colour", 40).tolist()
