"""What tells the numbers of two texts apart: dates, versions, units, codes, signs and marks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise

from rapidfuzz.distance import OSA

from fuzzydict.text.amounts import (
    AMOUNT,
    amounts_of,
    in_plain_numbers,
    other_amounts,
    other_rates,
)
from fuzzydict.text.lexicon import (
    abbreviates,
    is_numeronym,
    look_up,
    short_forms,
    table_of,
    unit_of,
)
from fuzzydict.text.words import LONGEST, compatible, plain, word_list
from fuzzydict.text.writings import first_writings, with_plain_numbers, with_signs, words_of


class Numbers(Enum):
    """What the numbers and marks of two texts tell."""

    NOTHING = 0
    SAME = 1
    OTHER = 2  # the texts are of other numbers
    LEFT = 3  # one text has a number that the other has not
    MARKED = 4  # they mark a word, or compare a number, in other ways


def told_by_numbers(text: str, other: str, written: str, other_written: str) -> Numbers:
    """Return what numbers and marks tell, given two texts in first spellings and as written.

    If the first has no numbers, it may leave out those that the other has in brackets.

    >>> told_by_numbers("q3 2024", "q4 2024", "Q3 2024", "Q4 2024").name
    'OTHER'
    >>> told_by_numbers("june 2022", "2022 06", "June 2022", "2022-06").name
    'SAME'
    """
    written, other_written = written[:LONGEST], other_written[:LONGEST]
    if other_marks(written, other_written):
        return Numbers.MARKED
    text, other = without_numeronyms(text, other), without_numeronyms(other, text)
    text = with_whole_years(text, other, written)
    other = with_whole_years(other, text, other_written)
    ours, theirs = numbers_of(text), numbers_of(other)
    if not (ours or theirs):
        return Numbers.NOTHING
    written, other_written = with_plain_numbers(written), with_plain_numbers(other_written)
    if other_code(text, other) or other_letter(text, other):
        return Numbers.OTHER
    if other_symbol(written, other_written):
        return Numbers.OTHER
    if other_number(written, other_written) or other_rates(written, other_written):
        return Numbers.OTHER
    if is_one_text(text, other):
        has_cents = [bool(_CENTS.search(one)) for one in (written, other_written)]
        is_other = text != other and has_cents[0] != has_cents[1]
        return Numbers.OTHER if is_other else Numbers.SAME
    if other_capitals(written, other_written):
        return Numbers.OTHER
    months, their_months = months_of(text, written), months_of(other, other_written)
    if months and their_months and months.isdisjoint(their_months):
        return Numbers.OTHER
    if ours == theirs:
        # the units of amounts tell which is which
        may_be_other = len(ours) > 1 and not (amounts_of(written) or amounts_of(other_written))
        return Numbers.OTHER if may_be_other and are_exchanged(text, other) else Numbers.SAME
    more, less = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    if not (more or less):
        are_same = may_be_one_date(text, other)
        if len({*ours}) == len(ours) or {*_RUN.findall(text)} == {*_RUN.findall(other)}:
            are_same |= are_at_one_word(text, other)  # but "1 2 1" is not "1 1 2"
        if are_same or are_amounts_turned(written, other_written):
            return Numbers.SAME
        return Numbers.NOTHING if are_sides_turned(text, other) else Numbers.OTHER
    if (more and less) or other_amounts(written, other_written):
        return Numbers.OTHER
    longer, shorter = (written, other_written) if more else (other_written, written)
    if {*more, *less} == {"0"}:
        zeros = re.split("[.:]", "".join(_POINT_ZERO.findall(longer)))
        if len(zeros) - 1 == (more + less)["0"]:
            return Numbers.SAME  # "2.0", "2"
    left = {*more, *less}
    if {*_TWICE.findall(longer)} & left:
        return Numbers.OTHER  # "1.1", "1"
    pointed = {*_POINTED.findall(longer)} - {*_POINTED.findall(shorter)}
    if any(whole in left and part not in left for whole, part in pointed):
        return Numbers.OTHER  # "2.5", "5"
    is_left = are_left(more, written, other) or are_left(less, other_written, text)
    is_left &= bool(ours) or not are_aside(other_written)
    return Numbers.LEFT if is_left else Numbers.NOTHING


# At the end of a number, or of an hour.
_POINT_ZERO = re.compile(r"(?<=[0-9])(?:(?:\.0+)+(?![0-9]|\.[0-9])|:00(?![0-9:]))")
_CENTS = re.compile(r"[0-9]\.(?!00?(?![0-9]))[0-9]{1,2}(?![0-9.])")  # "1234.50" is not "123450"
_POINTED = re.compile(r"(?<![0-9.])0*([0-9]+)\.0*([0-9]+)(?![0-9.])")
_TWICE = re.compile(r"(?<![0-9])0*([0-9]+)[./-]0*\1(?![0-9])")
_APART = re.compile(r"(?<![0-9]) | (?![0-9])")  # but not between digits
_DIGITS = re.compile("[0-9]+")
_NUMBERS = re.compile(r"[0-9]+(?: [0-9]+)*")  # with nothing but blanks between them
_RUN = re.compile(r"\b[0-9]+(?: [0-9]+){2,}\b")  # three numbers or more
_LONG_NUMBER = re.compile(r"[0-9]{5}")


def is_one_text(text: str, other: str) -> bool:
    """Tell whether two plain texts differ at most in which of their words are written together.

    Digits make another number, unless they are five or more.

    >>> is_one_text("eu 38", "eu38"), is_one_text("1 5 kg", "15 kg"), is_one_text("10 000", "10000")
    (True, False, True)
    """
    if text.replace(" ", "") != other.replace(" ", ""):
        return False
    ours, theirs = (_NUMBERS.findall(_APART.sub("", one)) for one in (text, other))
    return all(
        a == b or _LONG_NUMBER.search(a) or _LONG_NUMBER.search(b)
        for a, b in zip(ours, theirs, strict=True)
    )


_WRITTEN_NUMBER = re.compile(r"(?:^ *- *|(?<![\w.-])[-v]?)[$€£¥]?[0-9]+(?:\.[0-9]+)*(?![0-9])")
_MINUS = re.compile(
    r"(?<![\w.])(?<!\b\w )minus (?=[$€£¥]?[0-9])"
    r"|[\u2010-\u2013](?=[$€£¥]?[0-9])|\u2212(?= ?[$€£¥]?[0-9])"
)
_YEAR = re.compile("(?:19|20)[0-9]{2}")


@lru_cache(maxsize=1 << 12)
def _signs_and_versions(text: str) -> tuple[int, set[tuple[str, ...]]]:
    """Return how many numbers of a text have a minus, and the parts of those with points.

    Zeros before a part say nothing, but in a fraction, which is behind no year: 0.05 is not 0.5.
    Parts that are zero are left out at the end. Those of a date with a year are sorted.
    """
    numbers = _WRITTEN_NUMBER.findall(_MINUS.sub("-", text.lower()))
    versions = set[tuple[str, ...]]()
    for number in numbers:
        whole, *others = number.split(".")
        if others:
            parts = [part.lstrip(" -v0$€£¥") for part in (whole, *others)]
            if len(others) == 1 and parts[1] and not _YEAR.fullmatch(parts[0]):
                parts[1] = others[0]
            while parts and not parts[-1]:
                del parts[-1]
            is_date = any(map(_YEAR.fullmatch, parts))
            versions.add(tuple(sorted(filter(None, parts)) if is_date else parts))
    return sum("-" in number for number in numbers), versions


def other_number(text: str, other: str) -> bool:
    """Tell whether texts as written have numbers that differ by a sign, or as versions do.

    >>> other_number("-15 C", "15 C"), other_number("v 1.1.2", "v 1.2"), other_number("3.0", "3")
    (True, True, False)
    >>> other_number("0.05 mg", "0.5 mg"), other_number("05.2024", "2024.05")
    (True, False)
    >>> other_number("10.0.0.1", "10.0.1.0"), other_number("v1.0.1", "v1.1.0")
    (True, True)
    >>> other_number("minus 5", "5"), other_number("\u20135", "-5"), other_number("v1.01", "v1.1")
    (True, False, True)
    """
    signs, versions = _signs_and_versions(text[:LONGEST])
    their_signs, their_versions = _signs_and_versions(other[:LONGEST])
    have_both = versions and their_versions
    return signs != their_signs or bool(have_both and versions != their_versions)


# A sign that compares with a number, and is no arrow; a tag; a mark that ends a word.
_COMPARED = re.compile(r"(?<![-=])([<>]=?)(?= *[$€£¥]? *[.0-9])")
_TAG = re.compile("<[^<>]*>")
_MARKED = re.compile(r"(?<!\w)(\w+)(?: (?=[+#]+$))?([+]{1,2}|#|-{1,2}(?=$| ?[,;()/]))(?!\w)")
# The signs that words stand for.
_SAID = dict.fromkeys(
    ["above", "over", "more", "greater", "exceeding", "least", "minimum", "min"], ">"
)
_SAID |= dict.fromkeys(["below", "under", "less", "fewer", "most", "maximum", "max"], "<")
_WRITTEN_OTHERWISE = str.maketrans({"≤": "<=", "≥": ">=", "♯": "#", "\u2212": "-"})


@lru_cache(maxsize=1 << 12)
def marks_of(text: str) -> tuple[list[str], dict[str, set[str]]]:
    """Return the signs that compare with numbers, and the marks that end words, by these words.

    >>> marks_of("age > 65, size ≤ 3"), marks_of("grade A-, in C sharp, 3 -> 5")
    ((['<=', '>'], {}), ([], {'a': {'-'}, 'c': {'#'}}))
    """
    if not text.isascii():
        text = compatible(text.translate(_WRITTEN_OTHERWISE))
    text = with_signs(text)
    marked = defaultdict[str, set[str]](set)
    for word, mark in _MARKED.findall(text.lower()):
        marked[word].add(mark)
    return sorted(_COMPARED.findall(_TAG.sub(" ", text))), dict(marked)


def other_marks(text: str, other: str) -> bool:
    """Tell whether texts as written compare numbers, or mark one word, in different ways.

    Signs that one of them alone has may stand in words in the other, "over 5", or be left out. So
    they count in texts of the same words: signs that compare, and marks of a letter or a number.

    >>> other_marks("age > 65", "age < 65"), other_marks("A+", "A-"), other_marks("C", "C#")
    (True, True, True)
    >>> other_marks("disney", "Disney+"), other_marks("> 5", "over 5"), other_marks("> 5", "5")
    (False, False, True)
    >>> other_marks("age < 18", "age at least 18"), other_marks("cpp", "C++")
    (True, False)
    """
    text, other = with_signs(text[:LONGEST]), with_signs(other[:LONGEST])
    (ours, marked), (theirs, they_mark) = marks_of(text), marks_of(other)
    if any(marked[word] != they_mark[word] for word in marked.keys() & they_mark.keys()):
        return True
    if ours != theirs:
        our_ways, their_ways = _directions(ours, text), _directions(theirs, other)
        if (ours and theirs) or (our_ways and their_ways and our_ways.isdisjoint(their_ways)):
            return True
    alone = marked.keys() ^ they_mark.keys()
    counts = ours != theirs or any(len(word) == 1 or word.isdecimal() for word in alone)
    return counts and _without_brackets(text) == _without_brackets(other)


_BRACKETS = re.compile(r" \([^()]*\)| \[[^\[\]]*\]")


def _without_brackets(text: str) -> str:
    """Return the words of a text but for what is in brackets, without case."""
    return plain(_BRACKETS.sub("", text.lower()))


def _directions(signs: list[str], text: str) -> set[str]:
    """Return which ways a text compares, by its signs or else by its words."""
    said = {_SAID[word] for word in plain(text).split() if word in _SAID}
    return {sign[0] for sign in signs} or said


_CODE = re.compile(r"\b([a-z]{1,3})( ?)0*([0-9]+)\b(?=(?: ([a-z]+)\b)?)")
_LED = re.compile(r"(?:\b([a-z]{3,}) )?\b([a-z])0*([0-9]{1,2})\b")  # "gate a1"; but "Nikon D750"
_BEHIND_WORD = re.compile(r"\b([a-z]{3,}) 0*([0-9]+)\b")
_LETTER_BEHIND = re.compile(r"([0-9]+)-([A-Z])(?![^\W_])")
_BEHIND = re.compile(r"([0-9]+)\W?([a-z]?)")
_CAPITALS = re.compile(
    r"(?<![^\W_])([A-Z]{2,4})(?:[-/_]?(?=[0-9]{3})|-|(?<=[A-Z]{3}))([0-9]+)(?![^\W_])"
)


def other_code(text: str, other: str) -> bool:
    """Tell whether plain texts have one number behind other letters, as many as there.

    Letters that both texts have are words in another order, or stand before others.

    >>> other_code("gate b5", "gate a5"), other_code("uk 38", "eu 38"), other_code("b5", "b05")
    (True, True, False)
    >>> other_code("abc 123", "acb 123"), other_code("iso 9001", "iso iec 9001")
    (True, False)
    >>> other_code("red led 5 mm", "led red 5 mm")
    False
    >>> other_code("w12", "kw12"), other_code("of 2024", "in 2024"), other_code("no 5", "nr 5")
    (False, False, False)

    A text with a code of one or two letters, and one with its letters alone, differ as well; and
    so do one with a letter from "a" to "e" before a number, and one with the number alone.

    >>> other_code("co ppm", "co2 ppm"), other_code("co 2", "co2")
    (True, False)
    >>> other_code("gate a1", "gate 1"), other_code("c1", "chapter 1")
    (True, False)
    """
    ours, theirs, shorts = _codes_of(text), _codes_of(other), short_forms()
    in_both = {*text.split()}.intersection(other.split())
    if not theirs and _are_letters_alone(ours, {*other.split()}, in_both):
        return True
    if not ours and _are_letters_alone(theirs, {*text.split()}, in_both):
        return True
    if _is_number_alone(text, other, is_query=True) or _is_number_alone(other, text):
        return True
    for number in ours.keys() & theirs.keys():
        one, two = ours[number], theirs[number]
        if one in in_both or two in in_both:
            continue
        if len(one) == len(two) and shorts.get(one, {one}).isdisjoint(shorts.get(two, {two})):
            return True
    return False


def other_capitals(text: str, other: str) -> bool:
    """Tell whether texts as written have one number of a code beside other capitals.

    Behind a number, one of them has "-" and a capital, and the other has no such letter.

    >>> other_capitals("CDE-4456", "CD 4456"), other_capitals("CDE-4456", "CD-4456")
    (False, True)
    >>> other_capitals("MAT-4", "INF-4"), other_capitals("MAT-4", "maths 4")
    (True, False)
    >>> other_capitals("BX-10", "BX-10-B"), other_capitals("24-H", "24 hours")
    (True, False)
    """
    ours, theirs = ({number: a for a, number in _CAPITALS.findall(one)} for one in (text, other))
    if any(ours[number] != theirs[number] for number in ours.keys() & theirs.keys()):
        return True
    for one, without in ((text, other), (other, text)):
        if letters := _LETTER_BEHIND.findall(one):
            behind = dict(_BEHIND.findall(without.lower()))
            if any(behind.get(number, a.lower()) != a.lower() for number, a in letters):
                return True
    return False


def _are_letters_alone(codes: dict[str, str], words: set[str], in_both: set[str]) -> bool:
    """Tell whether the letters of a code of one text are a word of another, without the number."""
    return any(
        len(letters) < 3 and letters in words - in_both and number not in words
        for number, letters in codes.items()
        if letters != "i" and "function" not in table_of("kinds").get(letters, ())
    )


def _is_number_alone(text: str, other: str, *, is_query: bool = False) -> bool:
    """Tell whether the other text alone has the number of a code of one letter by itself.

    The letter is one from "a" to "e", and none of the words that the first text has not begins with
    it: "c1" may be "chapter 1". Any other letter but "v" tells, too, if the first text is the code
    alone, "s2" and "bus 2", or a query, and one word stands before both, "line n2" and "line 2".
    """
    more, found = {*other.split()} - {*text.split()}, _LED.findall(text)
    for before, letter, number in found:
        if letter in "abcde" and number in more and not any(word[0] == letter for word in more):
            return True
        for word, one in _BEHIND_WORD.findall(other):
            tells = (is_query and word == before) or len(letter + number) == len(text)
            if number == one and tells and letter not in ("v", word[0]):
                return True
    return False


_LETTERED = re.compile(r"(?<![0-9])0*([0-9]+)([a-z]?)\b")
_IN_CODE = re.compile(r"[a-z]([0-9]+)[a-e]\b")
# A symbol behind a number, as written: "5 A".
_SYMBOL = re.compile(r"(?<![\w.,])([0-9]+(?:\.[0-9]+)?) ?([A-Za-z])(?![^\W_])")


def other_letter(text: str, other: str) -> bool:
    """Tell whether a number of plain texts has another letter behind it, or one of "abcde" or none.

    Other letters alone may be units: "42t" is "42 teeth". The first may leave out that of a code.

    >>> other_letter("12 a st", "12a st"), other_letter("12a elm st", "12b elm st")
    (False, True)
    >>> other_letter("cat6a", "cat6"), other_letter("cr123", "cr123a")
    (True, False)
    """
    ours, theirs = (dict(_LETTERED.findall(one)) for one in (text, other))
    in_codes = _IN_CODE.findall(other)
    for number in ours.keys() & theirs.keys():
        one, two = ours[number], theirs[number]
        if one != two and one and two:
            return True
        letter = one or ("" if number in in_codes else two)
        if one != two and letter and letter in "abcde":
            beside = {*(theirs if one else ours).values(), *(other if one else text).split()}
            if {letter, unit_of(letter)}.isdisjoint([*beside, *map(unit_of, beside)]):
                return True
    return False


def other_symbol(text: str, other: str) -> bool:
    """Tell whether one number of texts as written has a capital behind it, and another letter.

    >>> other_symbol("relay 5 A", "Relay 5V"), other_symbol("5 A", "5a"), other_symbol("5 A", "5")
    (True, False, False)
    """
    ours, theirs = (dict(_SYMBOL.findall(one)) for one in (text, other))
    pairs = [ours[number] + theirs[number] for number in ours.keys() & theirs.keys()]
    return any(pair[0].lower() != pair[1].lower() and not pair.islower() for pair in pairs)


def _codes_of(text: str) -> dict[str, str]:
    """Return the letters before each number of a text, but not a small word: "of 2024".

    Nor are words, "box 5", or amounts, "cap 15 mm".
    """
    kinds, found = table_of("kinds"), dict[str, str]()
    for letters, gap, number, word in _CODE.findall(text):
        is_word = bool({*kinds.get(letters, ())} - {"legal"})
        if len(letters) == 3:
            is_word |= look_up(letters).is_common or letters in _months()
        if not gap or not (is_word or look_up(word).unit):
            found[number] = letters
    return found


_TIME = re.compile(r"\b([0-9]{1,2})(?: ([0-9]{2}))? ?([ap])m\b")


@cache
def _months() -> dict[str, str]:
    lines = [words for kind, *words in word_list("classes") if kind == "month"]
    return {word: str(number) for number, words in enumerate(lines, 1) for word in words}


@lru_cache(maxsize=1 << 12)
def numbers_of(text: str) -> list[str]:
    """Return the numbers in a plain text, without zeros before them.

    If there are any, months are numbers, and "5 pm" is 17 and 0.

    >>> numbers_of("5 jan 2024"), numbers_of("9 30 pm"), numbers_of("gate b07"), numbers_of("may")
    (['5', '1', '2024'], ['21', '30'], ['7'], [])
    >>> numbers_of("may 5"), numbers_of("3 pets may stay")
    (['5', '5'], ['3'])
    """

    def of_24_hours(time: re.Match[str]) -> str:
        return f"{int(time[1]) % 12 + 12 * (time[3] == 'p')} {time[2] or '0'}"

    if not any(map(str.isdigit, text)):
        return []
    words = _with_months(_TIME.sub(of_24_hours, text).split())
    parts = "".join([c if c.isdigit() else " " for c in " ".join(words)]).split()
    return [part.lstrip("0") or "0" for part in parts]


def _with_months(words: list[str]) -> list[str]:
    """Return words with the numbers of months; "may" and "march" are months beside a number."""
    found = list[str]()
    for i, word in enumerate(words):
        beside = "".join([*words[max(i - 1, 0) : i], *words[i + 1 : i + 2]])
        is_other = word in ("may", "march", "mai") and not any(map(str.isdigit, beside))
        found.append(word if is_other else _months().get(word, word))
    return found


_SAME_LETTERS = 0.65  # of a number word and a slip of it


def are_left(left: Counter[str], as_written: str, other: str) -> bool:
    """Tell whether numbers of a text are left over beside another, given in its first spelling.

    A number word is not, where the other has it in a word, "firstname", or a slip of it, "fisrt".
    Nor is "one", which seldom counts.
    """
    words = plain(as_written.lower()).split()
    for word, number in zip(words, _with_months(words), strict=True):
        digits = first_writings().get(word, word) if number == word else number
        if not left.keys().isdisjoint(numbers_of(digits)):
            if digits == word:
                return True
            alike = OSA.normalized_similarity
            slips = (word in one or alike(word, one) >= _SAME_LETTERS for one in other.split())
            if word != "one" and not any(slips):
                return True
    return False


def are_aside(text: str) -> bool:
    """Tell whether all numbers of a text as written are in brackets: "Hitachi (6501)"."""
    return not numbers_of(" ".join(words_of(_BRACKETS.sub("", text))))


def without_numeronyms(text: str, other: str) -> str:
    """Return a plain text without the words that count the letters of words of another.

    >>> without_numeronyms("k8s 1 28", "kubernetes v1 28")
    '1 28'
    """
    words = text.split()
    if not any(map(is_numeronym, words)):
        return text
    theirs = other.split()
    return " ".join(
        word
        for word in words
        if not (is_numeronym(word) and any(abbreviates(word, one) == 1 for one in theirs))
    )


def are_at_one_word(text: str, other: str) -> bool:
    """Tell whether each number of a plain text is behind, or before, the same word in the other.

    A number may be beside other words, if no other number has these, and another number is not.

    >>> are_at_one_word("unit 2 219 elm street", "219 elm st unit 2")
    True
    >>> are_at_one_word("q3 2024", "2024 q3")
    True
    >>> are_at_one_word("chapter 3 page 5", "chapter 5 page 3"), are_at_one_word("5 to 3", "3 to 5")
    (False, False)
    """
    ours, theirs = _beside_numbers(text), _beside_numbers(other)
    if ours.keys() != theirs.keys():
        return False
    if sum(map(str.isdigit, ours)) == 1:  # beside codes, as "q3 2024"
        return True
    same = {one for one in ours if ours[one] & theirs[one]}
    owners = {stem: one for one, beside in theirs.items() for _, stem in beside}
    left = [(one, stem) for one in ours.keys() - same for _, stem in ours[one]]
    return bool(same) and all(owners.get(stem, one) == one for one, stem in left)


def are_exchanged(text: str, other: str) -> bool:
    """Tell whether a word has one number in a plain text, and another in the other.

    >>> are_exchanged("9 elm st apt 2", "apt 9 2 elm st")
    True
    >>> are_exchanged("2 adults 3 children", "2 children 3 adults")
    True
    >>> are_exchanged("python 3 10", "3 10 python")  # one version
    False
    """
    both = [_beside_numbers(text), _beside_numbers(other)]
    for sides in ((1,), (-1,), (1, -1)):  # one alone, if each number of both has a word there
        words = [
            {one: [stem for at, stem in of if at in sides and stem.isalpha()] for one, of in beside}
            for beside in (one.items() for one in both)
        ]
        if all(all(of.values()) for of in words):
            break
    owners, of_other = ({of[0]: one for one, of in by.items() if len(of) == 1} for by in words)
    in_both = both[0].keys() & both[1].keys()
    return any(
        one != of_other[stem]
        and {one, of_other[stem]} <= in_both
        and not all(_are_of_one(either, one, of_other[stem]) for either in (text, other))
        for stem, one in owners.items()
        if stem in of_other
    )


def _are_of_one(text: str, number: str, other: str) -> bool:
    """Tell whether two numbers of a text may be parts of one: a version, a date, a range."""
    words = [word.lstrip("0") or "0" for word in text.split()]
    first, last = sorted(map(words.index, (number, other)))
    return all(
        one.has_digit or one.is_filler or one.word == "x" or one.word in _months()
        for one in map(look_up, words[first:last])
    )


@lru_cache(maxsize=1 << 12)  # of a query, for each of its candidates
def _beside_numbers(text: str) -> dict[str, set[tuple[int, str]]]:
    """Return the stems of the words before (-1) and behind (1) each word with digits.

    Those are left out that several numbers are beside, or that are small words or units.
    """
    words, found = [look_up(word) for word in text.split()], dict[str, set[tuple[int, str]]]()
    times, kinds = Counter[tuple[int, str]](), table_of("kinds")
    for i, word in enumerate(words):
        if word.has_digit:
            beside = [(at, words[i + at]) for at in (-1, 1) if 0 <= i + at < len(words)]
            stems = {
                (at, one.stem)
                for at, one in beside
                if not (one.is_filler or one.unit or "direction" in kinds.get(one.word, ()))
            }
            times.update(stems)
            found.setdefault(word.word.lstrip("0") or "0", set()).update(stems)
    return {number: {one for one in stems if times[one] == 1} for number, stems in found.items()}


def may_be_one_date(text: str, other: str) -> bool:
    """Tell whether plain texts of the same numbers may be one day or month, written in two ways.

    Where both write the year in one place, and the month as a number, they write it in one way.
    Where a year comes first, the next number is the month.

    >>> may_be_one_date("5 jan 2024", "2024 01 05"), may_be_one_date("2024 05 01", "2024 01 05")
    (True, False)
    >>> may_be_one_date("5 jan 2024", "2024 05 01")
    False
    >>> may_be_one_date("june 2022", "2022 06"), may_be_one_date("2023 w12", "week 12 2023")
    (True, True)
    """
    numbers = [_DIGITS.findall(one) for one in (text, other)]
    years = [[i for i, number in enumerate(some) if len(number) == 4] for some in numbers]
    sizes = {len(numbers_of(one)) for one in (text, other)}
    if not all(years) or sizes not in ({2}, {3}):
        return False
    named = [{_months()[w] for w in one.split() if w in _months()} for one in (text, other)]
    if all(named) and named[0] != named[1]:
        return False
    for months, (year, *rest) in zip(named, reversed(numbers), strict=True):
        if months and len(year) == 4 and rest and rest[0].lstrip("0") not in months:
            return False
    return years[0] != years[1] or any(len(some) not in sizes for some in numbers)


def of_one_date(text: str, other: str) -> list[tuple[int, int]]:
    """Return the places of the numbers and months of plain texts that may be one date.

    >>> of_one_date("due 2 jan 2024", "2024 01 02"), of_one_date("due 2 jan", "02 01")
    ([(1, 2), (2, 1), (3, 0)], [])
    """
    if sorted(numbers_of(text)) != sorted(numbers_of(other)) or not may_be_one_date(text, other):
        return []
    ours, theirs = (_with_months(one.split()) for one in (text, other))
    return [
        (i, j)
        for i, one in enumerate(ours)
        for j, two in enumerate(theirs)
        if one.isdecimal() and two.isdecimal() and int(one) == int(two)
    ]


# "1.2.2023", "2023-02-01"
_DATED = re.compile(
    r"(?<![\w.])[0-9]{1,2}\.0?([0-9]{1,2})\.[0-9]{2,4}(?![\w.])"
    r"|(?<![\w-])[0-9]{4}-0?([0-9]{1,2})-[0-9]{1,2}(?![\w-])"
)


def months_of(text: str, written: str) -> set[str]:
    """Return the months that a text has, given its plain words, and it as written.

    They are named, or the second number of a date that has points, or a year first.

    >>> months_of("feb 1 2023", "Feb 1, 2023"), months_of("02 01 2023", "02.01.2023")
    ({'2'}, {'1'})
    >>> months_of("2023 02 01", "2023-02-01"), months_of("02 01 2023", "02/01/2023")
    ({'2'}, set())
    """
    words = text.split()
    named = {b for a, b in zip(words, _with_months(words), strict=True) if a != b}
    return named or {a or b for a, b in _DATED.findall(written) if int(a or b) <= 12}


# Two digits behind an apostrophe, a quarter, or "FY".
_SHORT_YEAR = re.compile(
    r"(?i)(?:['\u2019]|\b(?:fy|[qh][1-4]|[1-4]q)[ /'-]{0,2}"
    r"|(?<![\w./])[0-9]{1,2}(?:\.[0-9]{1,2}\.|/[0-9]{1,2}/))([0-9]{2})(?![\w./])"
)


def with_whole_years(text: str, other: str, written: str) -> str:
    """Return a plain text with the years that another has in place of their last two digits.

    Given is the text as written, too. Two digits behind a month may be a year, and in "Q3 '24".

    >>> with_whole_years("june 22", "2022 06", "Jun-22"), with_whole_years("22", "2022", "gate 22")
    ('june 2022', '22')
    """
    short = {*_SHORT_YEAR.findall(written)}
    short |= {b for a, b in pairwise(text.split()) if a in _months() and len(b) == 2}
    if not short:
        return text
    numbers, others = numbers_of(text), numbers_of(other)
    years = {one[2:]: one for one in others if _YEAR.fullmatch(one) and one not in numbers}
    may = short.difference(others) & years.keys()
    return _DIGITS.sub(lambda one: years[one[0]] if one[0] in may else one[0], text)


def are_amounts_turned(text: str, other: str) -> bool:
    """Tell whether texts as written have the same amounts, and beside these the same numbers.

    The amounts have different units, so that each can be told from the others.

    >>> are_amounts_turned("H7 12V 55W", "H7, 55 W, 12 V"), are_amounts_turned("5 3", "3 5")
    (True, False)
    >>> are_amounts_turned("5 km to 10 km", "10 km to 5 km")
    False
    """
    ours, theirs = ({one.written: one.value for one in amounts_of(one)} for one in (text, other))
    units = [one.unit for one in amounts_of(text)]
    if not ours or len({*units}) < len(units) or {*ours.values()} != {*theirs.values()}:
        return False
    rest, their_rest = (_numbers_beside(one, some) for one, some in ((text, ours), (other, theirs)))
    return rest == their_rest


def _numbers_beside(text: str, amounts: Container[str]) -> list[str]:
    """Return the numbers of a text as written that are not in some amounts."""
    text = in_plain_numbers(text)
    return numbers_of(plain(AMOUNT.sub(lambda one: "" if one[0] in amounts else one[0], text)))


_LENGTHS_OF_SIDES = re.compile(
    r"[0-9]+(?: [0-9]+)?(?: x [0-9]+(?: [0-9]+)?)+(?= (?:(?:milli|centi)?meter|inch|foot)\b)"
)


def are_sides_turned(text: str, other: str) -> bool:
    """Tell whether texts in first spellings differ in the order of sides.

    >>> are_sides_turned("board 2 x 4 inch", "board 4 x 2 inch"), are_sides_turned("2 x 4", "4 x 2")
    (True, False)
    """

    def in_order(sides: re.Match[str]) -> str:
        return " ".join(sorted(sides[0].split(" x ")))

    return numbers_of(_LENGTHS_OF_SIDES.sub(in_order, text)) == numbers_of(
        _LENGTHS_OF_SIDES.sub(in_order, other)
    )
