"""Strange keys and queries: an answer each, as docs/concepts/strange-text.md says."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, Match, NoMatchError
from fuzzydict.text.words import LONGEST
from tests.support.properties import examples
from tests.support.searching import check_keys

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def d() -> FuzzyDict[str]:
    keys = ["color", "Café", "naïve", "Straße", "top speed", "file", "القاهرة", "שלום", "Ελλάς"]
    return FuzzyDict({key: key for key in [*keys, "東京", "हिन्दी", "Ångström", "2", "don't"]})


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("ｃｏｌｏｒ", "color"),  # noqa: RUF001 - full width
        ("𝐜𝐨𝐥𝐨𝐫", "color"),  # noqa: RUF001 - mathematical letters
        ("ﬁle", "file"),  # a ligature
        ("STRASSE", "Straße"),
        ("²", "2"),
        ("ΕΛΛΆΣ", "Ελλάς"),
        ("don’t", "don't"),  # noqa: RUF001 - a typographic apostrophe
        ("co\u200blor", "color"),  # a zero-width space
        ("co\u00adlor", "color"),  # a soft hyphen
        ("\u202ecolor\u202c", "color"),  # a right-to-left override
        ("שָׁלוֹם", "שלום"),  # vowel points
        ("\u200fשלום\u200f", "שלום"),  # noqa: RUF001 - marks of direction
        ("top\u00a0speed", "top speed"),  # a no-break space
        ("top👍speed", "top speed"),
        ("color\ud800", "color"),  # half of a surrogate pair
    ],
)
def test_queries_that_have_the_words_of_a_key(d: FuzzyDict[str], query: str, key: str) -> None:
    if key not in d:
        d = FuzzyDict({key: key})
    match = d.nearest(query)
    assert (match.key, match.value) == (key, key)
    assert match.score >= 0.9
    assert query not in d


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\t\n", "\u3000", "\u200b", "\ufeff", "\u200d", "\u202e", "\0", "\0\0"),
        *("?!", "_", "--", "'", "👍", "👩\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "\u0301", "\ud800"),
        *("\udfff\ud83d", "§", "→", "\ue000", "\uffff", "\U0010ffff"),
    ],
)
def test_texts_without_letters_or_digits_are_found_exactly(text: str) -> None:
    for mode in ("nearest", "pool"):
        d = FuzzyDict({"color": 1.0}, mode=mode)
        with pytest.raises(NoMatchError, match="no letters or digits"):
            d[text]
        assert d.get(text, 7.0) == 7.0
        d[text] = 2.0
        assert (d[text], d.nearest(text), text in d) == (2.0, Match(text, 2.0, 1.0), True)
        assert [match.key for match in d.most_similar("colour")] == ["color"]
        assert d.attend("color").names == ["color"]
        del d[text]
        assert d.get(text) is None


LONG = {
    "one letter": "a" * MEGABYTE,
    "one word": "color" * (MEGABYTE // 5),
    "words": "top speed " * (MEGABYTE // 10),
    "words never seen": " ".join(f"q{i}x" for i in range(MEGABYTE // 8)),
    "humps": "aB" * (MEGABYTE // 2),
    "accents": "é" * MEGABYTE,
    "combining": "e" + "\u0301" * MEGABYTE,
    "emoji": "👍" * MEGABYTE,
    "blanks": " " * MEGABYTE,
    "apostrophes": "'" * MEGABYTE,
    "expanding": "\ufdfa" * MEGABYTE,  # one character that is eighteen in its plain form
    "surrogates": "\ud800" * MEGABYTE,
}


@pytest.mark.parametrize("name", LONG)
def test_a_megabyte_is_answered_in_little_memory(name: str) -> None:
    text = LONG[name]
    d = FuzzyDict({"color": 1.0, "top speed": 2.0})
    d.get("warm up")
    tracemalloc.start()
    d.get(text)
    d[text] = 3.0
    assert d[text] == 3.0
    assert d.get(text + "!", 3.0) in (2.0, 3.0)
    d.get(text[1:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * MEGABYTE
    check_keys(d)


def test_of_a_long_text_the_beginning_is_compared_and_none_is_kept() -> None:
    beginning = "the quick brown fox jumps over the lazy dog " * 30
    assert len(beginning) > LONGEST
    a, b = beginning + "one", beginning + "other"
    d = FuzzyDict({a: 1, b: 2, "color": 3})
    assert d.get(beginning) is None  # as far as they are compared, both are equal: which is it?
    assert d.get_many([beginning, "colors", "of"])[0] is None
    assert d.get(beginning, score_cutoff=0.4) == 1  # the first of the dict
    assert (d[a], d[b], d.nearest(b).value, d.most_similar(b)[0].value) == (1, 2, 2, 2)
    short = beginning[: LONGEST - 50]
    d = FuzzyDict({short + "a price in euros": 1, short + "other animals": 2})
    assert d[short + "other animals!"] == 2
    d = FuzzyDict({"color" * 1000: 1})
    d.get("warm up")
    tracemalloc.start()
    for i in range(30):
        d.get(f"{i}" + "q" * MEGABYTE)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept < MEGABYTE
    with pytest.raises(NoMatchError, match="'qqqq") as told:
        d["q" * MEGABYTE]
    assert len(str(told.value)) < 500


ANY = st.text(st.characters(exclude_categories=()), max_size=12)


@given(st.dictionaries(ANY, st.integers(), max_size=6), ANY)
@examples(150)
def test_any_text_is_a_key_and_a_query(items: dict[str, int], query: str) -> None:
    d = FuzzyDict(items, score_cutoff=-1.0)
    try:
        match = d.nearest(query)
    except NoMatchError:
        assert query not in items
        return
    assert items[match.key] == match.value == d[query]
    assert 0 <= match.score <= 1
    assert query not in items or match == Match(query, items[query], 1.0)
