"""What the tables say of words, and how texts are written before they are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.lexicon import abbreviates, look_up
from fuzzydict.text.words import word_list, words
from fuzzydict.text.writings import MOST_READ, words_of

LISTED = sorted({word for name in ("written", "negated", "units") for word, *_ in word_list(name)})
PARTS = st.lists(st.sampled_from([*LISTED, "no", "in", "un", "5"]))
TEXTS = st.text(max_size=40) | PARTS.map(" ".join)

SPELLINGS = "colour color, organisation organization, tyre tire, iii 3, twelfth 12th, kg kilogram"
THEMSELVES = "12th promise filler percent v usd 12 a5 sat sun mar may march second min ft"
PAIRS = [*SPELLINGS.split(", "), *(f"{word} {word}" for word in THEMSELVES.split())]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_word_has_one_spelling(pair: str) -> None:
    word, form = pair.split()
    assert look_up(word).form == form


FORMS = "child children, city cities, run running runs, hop hopping hopped, hope hoping hoped, "
FORMS += "pay paid pays paying payment payments, cache caching caches cached, address addresses, "
FORMS += "organize organised organizes organisation organisations, color colours colouring, "
FORMS += "containerised containerized containerizing, kilogram kg kilograms kgs"
OTHERS = "car care, new news, gas ga, hop hope, state statement, left leave, datum data"
SHARED = [(some, True) for some in FORMS.split(", ")]
SHARED += [(pair, False) for pair in OTHERS.split(", ")]


@pytest.mark.parametrize(("words", "share"), SHARED)
def test_forms_of_a_word_share_its_stem_and_others_do_not(words: str, *, share: bool) -> None:
    assert (len({look_up(word).stem for word in words.split()}) == 1) == share


WRITTEN = """
topSpeed = top speed; price W/O tax = price without tax; tea w/ milk = tea with milk; %d = d;
w/barrow = w barrow; excl. VAT = excluding vat; in-active users = inactive users; un paid =
unpaid; non-profit = nonprofit; non-EU = not eu; in stock = in stock; Health & Safety = health and
safety; R&D = rd; 10kg = 10 kg; 24h = 24 hour; 100 Mbps = 100 megabits per second; mg/mL = mg
milliliter; tax % = tax percent; usage (kWh) = usage kilowatt hours; a5 h2o 5G 12c 2xl 1st = a5
h2o 5g 12c 2xl 1st; no 5 = no 5; no tax = without tax; No. of items = number of items; OrderNo =
order no; no = no; has no tax = has without tax; price/kg = price per kg; type V = type 5;
do I = do i; 7,5 m = 7 5 meter; temp °C = temp celsius; ?! = ; \u017f/n \u212a = serial number k
"""  # the last: letters that are written in other forms


@pytest.mark.parametrize("told", WRITTEN.replace("\n", " ").strip(" ").split("; "))
def test_a_text_is_written_in_one_way(told: str) -> None:
    text, _, found = told.partition(" =")
    assert words_of(text) == found.split()
    assert words_of("w/o " * 100) == ["without"] * MOST_READ  # more are not compared


ABBREVIATIONS = {
    1: "qty quantity, depts departments, mon monday, lb pounds, m metre, first 1st",
    2: "transf transfer",
    3: "dvlpmnt development, frmr former, bk book",
    4: "pymt payment",
    0: "car carpet, being breeding, user users, color colour, tx2 tx2000, a apple, same same",
}


@pytest.mark.parametrize(
    ("pair", "kind"), [(p, kind) for kind, some in ABBREVIATIONS.items() for p in some.split(", ")]
)
def test_a_word_abbreviates_another(pair: str, kind: int) -> None:
    short, long = pair.split()
    assert abbreviates(short, long) == abbreviates(long, short) == kind
    assert abbreviates("", long) == 0


@given(TEXTS)
def test_written_again_a_text_is_the_same(text: str) -> None:
    found = words_of(text)
    assert words_of(" ".join(found)) == found


@given(TEXTS, TEXTS)
def test_every_word_can_be_looked_up(a: str, b: str) -> None:
    for word in words(a):
        entry = look_up(word)
        assert entry.word == word
        assert entry.stem not in entry.opposites
        assert look_up(entry.stem).stem == entry.stem
        assert (entry.group < 0) == (entry.member == "")
        for other in words(b):
            assert abbreviates(word, other) == abbreviates(other, word) in range(5)
