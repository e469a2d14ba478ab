"""What reads return: attention as text, and matches and attention in notebooks."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from fuzzydict import Attention, FuzzyDict, Match, NoMatchError
from fuzzydict.results.answers import Matches
from tests.results.test_tables import Table

MARKUP = "<script>alert('x') & more</script>"
BEST = [Match("color", "black", 0.9), Match("top speed", 260, 0.05)]


def attention(**values: float) -> Attention:
    d = FuzzyDict({name.replace("_", " "): value for name, value in values.items()})
    found: Attention = d.attend("top speed")
    return found


CAR = {"top_speed": 260.0, "speed": 1.0, "color": 2.0}


def test_top_is_the_best_keys_with_weights_and_values() -> None:
    a = attention(**CAR)
    top = a.top(2)
    assert [(key, value) for key, _, value in top] == [("top speed", 260.0), ("speed", 1.0)]
    assert [weight for _, weight, _ in top] == sorted(a.weights.tolist(), reverse=True)[:2]
    assert len(a.top()) == 3


def test_the_text_is_a_bar_chart() -> None:
    lines = str(attention(**CAR)).splitlines()
    assert lines[0] == "attention of 'top speed'"
    assert lines[1].split()[:2] == ["top", "speed"]
    assert lines[1].endswith("260.0")
    assert lines[1].count("█") > lines[2].count("█")


def test_the_chart_says_what_it_leaves_out() -> None:
    d = FuzzyDict({f"key {i}": i for i in range(25)})
    text = str(d.attend("key"))
    assert len(text.splitlines()) == 13
    assert "15 more keys" in text


def test_long_and_unprintable_keys_keep_the_chart_in_shape() -> None:
    d = FuzzyDict({"a" * 500: "x" * 500, "b\nc": "d\te", "e": None})
    lines = str(d.attend("a")).splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) < 120


def test_attention_says_how_many_keys_it_mixes() -> None:
    vectors = {"a": [1.0, 0, 0], "b": [0, 1.0, 0], "c": [0, 0, 1.0], "d": [1.0, 1.0, 0]}
    d = FuzzyDict(dict.fromkeys("abc", 1.0), embedding=vectors, scorer="dot")
    d.temperature = 1e-3
    assert d.attend("a").effective_keys == pytest.approx(1)
    assert d.attend("d").effective_keys == pytest.approx(2)
    assert d.attend("d", attn_mask=[True, False, True]).effective_keys == pytest.approx(1)
    d.temperature = 1e3
    assert d.attend("a").effective_keys == pytest.approx(3, abs=1e-3)


def test_attention_says_how_likely_no_key_is_right() -> None:
    for scorer in (None, "spelling"):
        d = FuzzyDict(CAR, scorer=scorer)
        for query in ("top_sped", "elephant", "colours"):
            a, e = d.attend(query), d.explain(query)
            assert a.none == pytest.approx(e.none, abs=1e-6)
            assert f"none is right with {e.none:.1%}" in str(a)
            assert f"{a.effective_keys:.1f} keys in effect" in a._repr_html_()
    assert d.attend("top_sped", attn_mask=lambda key: key == "color").none < 0.5
    assert d.attend("xqzzt").none > 0.5


def test_a_named_scorer_does_not_tell_whether_no_key_is_right() -> None:
    a = FuzzyDict(CAR, scorer="cosine").attend("speed")
    assert a.none is None
    assert str(a).endswith("keys in effect")


# ---- in notebooks --------------------------------------------------------------------------


def shown(what: Any) -> str:
    page: str = what._repr_html_()
    return page


def test_matches_are_a_table() -> None:
    rows = Table(shown(Matches(BEST))).rows
    assert rows[0] == ["key", "score", "value"]
    assert rows[1:] == [["color", "0.900", "black"], ["top speed", "0.050", "260"]]
    assert Table(shown(BEST[0])).rows == rows[:2]
    assert "no matches" in shown(Matches())


@pytest.mark.parametrize("key", [MARKUP, "a" * 500, "a\nb", "\x00a", "'a' \"b\"", "&lt;a&gt;"])
def test_any_key_and_value_is_shown_as_text(key: str) -> None:
    d = FuzzyDict({key: key, "other": {"<b>": "</td>"}})
    for page in (shown(d.most_similar("a")), shown(d.attend(key)), shown(d.nearest(key))):
        cells = [cell for row in Table(page).rows for cell in row]
        assert any(cell and cell[:5] in key.replace("\n", " ").replace("\0", " ") for cell in cells)
        assert not re.search("<(script|b)>", page)
        assert all(len(cell) < 100 for cell in cells)


def test_nothing_is_fetched_and_no_colour_hides_the_text() -> None:
    d = FuzzyDict({"color": 1, "top speed": 2})
    for page in (shown(d.most_similar("colour")), shown(d.attend("colour"))):
        assert not re.search("(src|href|class|id)=|https?:|url", page)
        assert not re.search(r"[;'\s]color:", page)
        shades = re.findall(r"rgba?\(([^)]*)\)|#[0-9a-f]{3,6}", page)
        assert shades
        assert all(0 < float(shade.split(",")[3]) < 0.6 for shade in shades)


def test_matches_are_a_list() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260})
    found = d.most_similar("colour")
    assert isinstance(found, list)
    assert found == list(found)
    assert repr(found) == repr(list(found))
    assert isinstance(found[0], Match)
    assert isinstance(found[:1], Matches)
    assert found[:1] == [found[0]]
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert again == found
        assert isinstance(again, Matches)


def test_reads_of_several_give_tables_too() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260})
    queries = ["colour", "topSpeed"]
    rows = Table(shown(d.nearest(queries))).rows
    assert [row[:2] for row in rows[1:]] == [["colour", "color"], ["topSpeed", "top speed"]]
    for row in d.most_similar(queries):
        assert len(Table(shown(row)).rows) == 3
    assert shown(d.nearest([])) == shown(FuzzyDict().most_similar("a"))


def test_matches_of_one_query_are_titled_with_it() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260})
    for found in (d.most_similar("colour"), d.nearest("colour"), d.nearest(["colour"])):
        assert "<caption>matches of &#x27;colour&#x27;</caption>" in shown(found)


def test_a_query_that_matches_nothing_has_a_row() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260})
    queries = ["qwzzt", "colour", "?!", "topSpeed", "xqq"]
    found = d.nearest(queries, default=None)
    keys = ["no match", "color", "no match", "top speed", "no match"]
    expected = [list(row) for row in zip(queries, keys, strict=True)]
    assert [row[:2] for row in Table(shown(found)).rows[1:]] == expected
    for part in (slice(2), slice(1, 4), slice(None, None, -1)):
        assert [row[:2] for row in Table(shown(found[part])).rows[1:]] == expected[part]
    assert found[2:].unmatched == ("?!", "xqq")
    found.pop(0)  # the queries of the others are not known any more
    assert [row[:2] for row in Table(shown(found)).rows[1:3]] == [
        ["colour", "color"],
        ["None", "no match"],
    ]
    assert Table(shown(d.nearest(["qwzzt"], default="?"))).rows[1] == ["no match", "", "?"]


def test_the_best_matches_of_several_queries_are_one_table() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260, "price": 1, "brand": "Porsche"})
    found = d.most_similar(["colour", "topSpeed"])
    rows = Table(shown(found)).rows
    assert rows[0] == ["query", "key", "score", "value"]
    assert [row[0] for row in rows[1:]] == ["colour", "", "", "topSpeed", "", ""]
    assert [rows[1][1], rows[4][1]] == ["color", "top speed"]
    assert "the best 3 of each query" in shown(found)
    assert "of each query" not in shown(d.most_similar(["colour", "topSpeed"], topn=3))
    alone = [d.most_similar("colour"), d.most_similar("topSpeed")]
    for some, same in zip(found, alone, strict=True):
        assert [one.key for one in some] == [one.key for one in same]


def test_the_attention_of_several_queries_is_a_table_of_weights() -> None:
    d = FuzzyDict(dict.fromkeys(["red", "navy", *(f"key {i}" for i in range(20))], 1.0))
    rows = Table(shown(d.attend(["rde", "nvy"]))).rows
    assert [row[0] for row in rows] == ["query", "rde", "nvy"]
    assert rows[0][-2:] == ["other keys", "none is right"]
    assert len(rows[0]) == 11
    for row in rows[1:]:
        (attention,) = d.attend([row[0]])
        weight_of = dict(zip(attention.names, attention.weights, strict=True))
        expected = [weight_of[name] for name in rows[0][1:9]]
        expected += [1 - sum(expected), attention.none]
        assert row[1:] == [f"{max(share, 0):.1%}" for share in expected]
    of_vectors = FuzzyDict({"red": 1.0, "navy": 2.0}, scorer="cosine").attend(["red", "navy"])
    assert Table(shown(of_vectors)).rows[0][-1] == "other keys"


def test_of_very_many_results_the_first_are_shown() -> None:
    d = FuzzyDict({"color": 1.0, "top speed": 2.0})
    queries = [f"colour {i}" for i in range(60)]
    for found, rows, note in (
        (d.nearest(queries, default=None), 50, "and 10 more matches"),
        (d.most_similar(queries, topn=1), 20, "and 40 more queries"),
        (d.attend(queries), 20, "and 40 more queries"),
        (d.explain(queries), 50, "and 10 more queries"),
    ):
        assert len(Table(shown(found)).rows) == 1 + rows
        assert f"<p>{note}</p>" in shown(found)


def test_scores_that_are_no_probabilities_have_no_bars() -> None:
    d = FuzzyDict({"a": 1, "b": 2}, embedding={"a": [3.0, 0], "b": [0, 1.0]}, scorer="dot")
    assert "gradient" not in shown(d.most_similar("a"))


def test_a_score_that_is_hardly_below_the_cutoff_is_seen_to_be() -> None:
    d = FuzzyDict({"Italy": 1, "Peru": 2})
    cutoff = d.nearest("Itly", score_cutoff=0).score + 1e-7
    with pytest.raises(NoMatchError, match=r"score 0\.\d{9}, below the cutoff 0\.\d{9}"):
        d.nearest("Itly", score_cutoff=cutoff)
