"""What a word is: identifiers, accents, scripts, and any text at all."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict.embedding.vocabulary import Vocabulary
from fuzzydict.text.words import LONGEST, plain, words

# Any code points, half of the time from the alphabets in which rules of this module meet.
ANY = st.text(st.characters(exclude_categories=())) | st.text(
    "aBéÉßŒşǅ'_-. 0\u2019\u0301\u200d\uff19\uff42\uff22"
)


def full_width(text: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in text)


PARTED = "topSpeed = top speed; TopSpeed = top speed; top_speed = top speed; ?! = ; ___ = ; "
PARTED += "TOP-SPEED = top speed; Top   speed! = top speed; —… = ; 🙂 = ; \u0301 = ; \u093f = ; "
PARTED += "\ud800 = ; \0 = ; "
PARTED += "HTTPStatus = http status; topSpeed2 = top speed2; caféName = cafe name; C++ = c; "
PARTED += "911 = 911; 93.4 kWh = 93 4 k wh; Zoë = zoe; naïve Ångström = naive angstrom; "
PARTED += "Straße = strasse; ÉCOLE = ecole; ﬁne = fine; soft\u00adhyphen = softhyphen; "
PARTED += "日本語 = 日本語; Привет, мир = привет мир; हिन्दी = हिन्दी; 한국어 = 한국어; "
PARTED += "שלום עולם = שלום עולם"


@pytest.mark.parametrize("told", PARTED.split("; "))
def test_texts_of_any_letters_and_their_words(told: str) -> None:
    text, found = told.split(" = ")
    assert words(text) == found.split()


@pytest.mark.parametrize("apostrophe", ["'", "\u2019", "\u02bc", "\uff07"])
def test_an_apostrophe_belongs_to_its_word_but_quotes_do_not(apostrophe: str) -> None:
    assert words(f"Don{apostrophe}t {apostrophe}shout{apostrophe}") == ["don't", "shout"]
    assert words(f"{apostrophe * 2} {apostrophe}") == []


@given(ANY)
@example("\ud800a\udfff")
@example("éA")
@example(full_width("aB"))
@example(full_width("topSpeed"))
def test_words_of_any_text_are_plain_and_the_same_in_every_form_of_it(text: str) -> None:
    found = words(text)
    for word in found:
        assert any(map(str.isalnum, word))
        assert not set(word) & set(" _-.")
        assert word == word.strip("'")
    assert words(" ".join(found)) == found
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert words(unicodedata.normalize(form, text)) == found
    assert plain(text) == " ".join(found)
    assert plain(plain(text)) == plain(text)
    assert words(f"_{text}_") == found  # which is not plain, whatever the text


@given(st.text("abcXYZ019 _-.,'", max_size=30))
def test_case_of_a_whole_text_does_not_matter(text: str) -> None:
    assert words(text.upper()) == words(text.lower())


@given(ANY, ANY)
def test_a_blank_parts_texts(a: str, b: str) -> None:
    assert words(f"{a} {b}") == words(a) + words(b)


@pytest.mark.parametrize(
    "text",
    [
        "\ufdfa" * 1000,  # one letter is eighteen
        "ﷺ ﷻ" * 300,  # and blanks among them
        "각" * 1000,  # three letters in between
        "\u0390" * 1000,
        "ﬃ" * 1000,
        "Œ" * 1000,
        "½" * 1000,
        "㍿" * 1000,
        "e" + "\u0301" * 5000,
        "aB" * 5000,
        "a.b." * 5000,
        ". " * 5000,
    ],
)
def test_a_plain_text_is_no_longer_than_what_is_compared(text: str) -> None:
    found = plain(text)
    assert len(found) <= LONGEST
    assert found == found.strip()
    assert plain(found) == found
    assert Vocabulary(["color"], [1]).tokens(text) == found.split()


def test_no_more_than_thirty_marks_of_a_letter_are_put_in_order() -> None:
    marks = "\u0301\u0323" * 500  # of two kinds, so that each is moved before others
    assert words(f"e{marks}t, a{marks}b") == ["et", "ab"]
    assert words(f"e{marks}!{marks}t") == ["e", "t"]
    assert words("é" + "\u200d" * 50 + "t") == ["et"]
    assert len(words("א" + "\u05b0" * 1000)[0]) == 1
