"""What a word is, in any text at all; n-grams against loops over sets."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict import WordVectors
from fuzzydict.text.ngrams import Postings, ngrams, ngrams_of_each
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
PARTED += "93.4 kWh = 93 4 k wh; naïve Ångström = naive angstrom; ÉCOLE = ecole; "
PARTED += "日本語 = 日本語; Привет, мир = привет мир; हिन्दी = हिन्दी; 한국어 = 한국어; "
PARTED += "שלום עולם = שלום עולם; Don't 'shout' = don't shout; Don\u2019t = don't; '' ' = "


@pytest.mark.parametrize("told", PARTED.split("; "))
def test_texts_of_any_letters_and_their_words(told: str) -> None:
    text, found = told.split(" = ")
    assert words(text) == found.split()


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
    assert words(f"{text} topSpeed {text}") == [*found, "top", "speed", *found]
    if text.isascii() and "/" not in text:  # "A/C" is one word
        assert words(text.upper()) == words(text.lower())


@pytest.mark.parametrize(
    "text",
    [
        "\ufdfa" * 1000,  # one letter is eighteen
        "ﷺ ﷻ" * 300,  # and blanks among them
        "각" * 1000,  # three letters in between
        "\u0390" * 1000,
        "ﬃ" * 1000,
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
    assert WordVectors(["color"], [[1.0]]).tokens(text) == found.split()


def test_no_more_than_thirty_marks_of_a_letter_are_put_in_order() -> None:
    marks = "\u0301\u0323" * 500  # of two kinds, so that each is moved before others
    assert words(f"e{marks}t, a{marks}b") == ["et", "ab"]
    assert words(f"e{marks}!{marks}t") == ["e", "t"]
    assert words("é" + "\u200d" * 50 + "t") == ["et"]
    assert len(words("א" + "\u05b0" * 1000)[0]) == 1


LETTERS = st.text("abcdeo ", max_size=12)
TEXTS = st.lists(LETTERS | ANY, max_size=12)


def number(ngram: str) -> int:
    """Return the number of one n-gram, in whole numbers without bound."""
    first, second, third = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
    codes = [ord(character) for character in ngram]
    if len(codes) == 2:
        return (codes[0] * first + codes[1] * second) % 2**32 >> 16
    return sum(c**3 * third + c**2 * second + c * first for c in codes) % 2**32 >> 16


def numbers(text: str) -> set[int]:
    padded = f" {text} "
    return {number(padded[i : i + n]) for n in (2, 3) for i in range(len(padded) - n + 1)}


@given(TEXTS)
def test_ngrams_are_those_of_a_loop(texts: list[str]) -> None:
    assert list(map(ngrams, texts)) == [sorted(numbers(text)) for text in texts]
    flat, counts = ngrams_of_each(texts)
    assert counts.tolist() == [len(numbers(text)) for text in texts]
    assert flat.tolist() == [one for text in texts for one in sorted(numbers(text))]


def likeness(texts: list[str], query: str) -> Any:
    """Return the cosines of n-grams that weigh more the fewer texts have them."""
    sets = list(map(numbers, texts))
    counts = Counter(one for some in sets for one in some)

    def squares(some: set[int]) -> float:
        return sum(math.log1p(len(texts) / max(counts[one], 1)) ** 2 for one in some)

    asked = numbers(query)
    lengths = [math.sqrt(squares(asked) * squares(some)) for some in sets]
    return [squares(asked & s) / length for s, length in zip(sets, lengths, strict=True)]


@given(st.lists(st.tuples(LETTERS | ANY, st.booleans()), max_size=12), LETTERS | ANY)
def test_likeness_is_a_cosine_and_the_dead_do_not_count(
    texts: list[tuple[str, bool]], query: str
) -> None:
    alive = np.array([is_alive for _, is_alive in texts], np.bool_)
    flat = ngrams_of_each([text for text, _ in texts])
    (found,) = Postings(*flat, alive).likeness([ngrams(query)])
    living = [text for text, is_alive in texts if is_alive]
    np.testing.assert_allclose(found[alive], likeness(living, query), rtol=1e-6)
    assert not found[~alive].any()
