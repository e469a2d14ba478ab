"""Which texts cannot mean the same, however alike they look: opposites, codes, sizes and units."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.text.abbreviations import expansions
from fuzzydict.text.forms import base_forms, compared
from fuzzydict.text.similarity import other_numbers
from fuzzydict.text.sketches import Sketches, bits_of
from fuzzydict.text.words import word_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_FEW = 2  # words of a text in which an opposite decides, whatever the other words are
_MOST_APART = 4  # words that are in one text alone, if a negation or an opposite decides


class _Text(NamedTuple):
    """What two texts are compared by.

    Attributes:
        words: the words of the text.
        bases: for each word, what it is a form or an abbreviation of.
        every: all of these.
        graded: the same, and what the words are comparatives or superlatives of.
        opposites: the opposites of all words.
        negated: the bases of words that a negation denies.
        members: what it names of each closed class: a month, a size.
        units: its expressions of units, such as "kilometre hour".
        has_digits: whether there is a digit.
    """

    words: tuple[str, ...]
    bases: tuple[frozenset[str], ...]
    every: frozenset[str]
    graded: frozenset[str]
    opposites: frozenset[str]
    negated: frozenset[str]
    members: dict[str, frozenset[str]]
    units: frozenset[str]
    has_digits: bool


class Contradictions:
    """What n texts say that others may contradict, for comparison with a query.

    Args:
        texts: n plain texts; more may be appended to the list.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._sketches = texts, Sketches(texts, _told)

    def of(self, query: str, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether a query and each of c texts contradict each other, (c,).

        They do if what they differ in, and in hardly anything else, are opposites ("max speed",
        "min speed"), or a word and its negation. They do if they name other members of a closed
        class (days, months, sizes, ordinals), other units, other numbers, or codes with other
        letters.

        Args:
            query: a plain text.
            places: the places of the c texts among the n.

        >>> texts = Contradictions(["min speed", "maximum speed", "speed", "room 12c", "room"])
        >>> texts.of("max speed", np.array([0, 1, 2])).tolist()
        [True, False, False]
        >>> texts.of("room 12b", np.array([3, 4])).tolist()
        [True, False]
        """
        found: NDArray[np.bool_] = self.of_each([query], places)[0]
        return found

    def of_each(self, queries: Sequence[str], places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether each of L queries and each of its c texts, (L, c), contradict each other.

        Args:
            queries: L plain texts.
            places: the places of the c texts of each, (L, c), or of all, (c,).
        """
        contradicted = np.zeros((len(queries), places.shape[-1]), np.bool_)
        for row, column, place in self._sketches.sharing(list(map(_asked, queries)), places):
            contradicted[row, column] = _contradict(_text(queries[row]), _text(self._texts[place]))
        return contradicted


def _contradict(a: _Text, b: _Text) -> bool:
    if a.words == b.words:
        return False
    if a.has_digits and b.has_digits and _have_other_codes(a, b):
        return True
    if not a.opposites.isdisjoint(b.graded) and _has_opposites(a, b):
        return True
    if (a.negated or b.negated) and _is_negation(a, b):
        return True
    if a.members and b.members and _name_others(a, b):
        return True
    return bool(a.units and b.units) and _have_other_units(a, b)


@lru_cache(maxsize=2048)
def _text(text: str) -> _Text:
    words = _words_of(text)
    each = tuple(map(_bases, words))
    every = frozenset().union(*each)
    return _Text(
        words,
        each,
        every,
        every.union(*map(compared, words)),
        frozenset().union(*map(opposites, words)),
        _negated(words),
        _members(words),
        _units(words),
        any(map(_has_digit, words)),
    )


def _words_of(text: str) -> tuple[str, ...]:
    if " " not in text:
        return (text,)
    for written, meant in _WRITTEN_AS:
        text = text.replace(written, meant)
    return tuple(_PARTED_SYMBOL.sub(r"\1\2", text).split())


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


@lru_cache(maxsize=8192)
def _bases(word: str) -> frozenset[str]:
    """Return what a word may be a form or an abbreviation of."""
    return base_forms(word) | expansions(word)


# ---- what may contradict at all ---------------------------------------------------------------


def _told(text: str) -> int:
    """Return what others may contradict in a text, as bits."""
    return _sketch(text)[0]


def _asked(text: str) -> int:
    """Return the bits, one of which a text that this one contradicts has."""
    return _sketch(text)[1]


@lru_cache(maxsize=8192)
def _sketch(text: str) -> tuple[int, int]:
    words, told, asked = _words_of(text), 0, 0
    for word in words:
        of_word = _sketch_of(word)
        told, asked = told | of_word[0], asked | of_word[1]
    if not _DENYING.isdisjoint(words) or "n't" in text:
        negated = bits_of(_negated(words), _WORDS)
        told, asked = told | negated << _DENIED, asked | negated << _NAMED
    return told, asked


# The bits of a sketch: the first ones of words that are opposites, named, and denied.
_HAVE_DIGITS, _HAVE_UNITS, _OF_CLASSES = 1, 2, 2  # a bit for each closed class
_OPPOSED, _NAMED, _DENIED = 10, 43, 53
_OPPOSITES, _WORDS = _NAMED - _OPPOSED, _DENIED - _NAMED  # how many bits there are for each


@lru_cache(maxsize=1 << 14)
def _sketch_of(word: str) -> tuple[int, int]:
    """Return what a word contributes to `_told` and `_asked`, but for what denies others."""
    named, negated = bits_of(_bases(word), _WORDS), 0
    if word.startswith(_NEGATIVE_PREFIXES) or word.endswith(_WITHOUT):
        negated = bits_of(_negated((word,)), _WORDS)
    told, asked = named << _NAMED | negated << _DENIED, negated << _NAMED | named << _DENIED
    if opposed := opposites(word):  # then some of these have opposites
        graded = [one for one in _bases(word) | compared(word) if one in _opposites()]
        told |= bits_of(graded, _OPPOSITES) << _OPPOSED
        asked |= bits_of(opposed, _OPPOSITES) << _OPPOSED
    both = _HAVE_DIGITS * _has_digit(word) | _HAVE_UNITS * _may_be_unit(word)
    if word in _named() or len(word) == 1:
        kinds = [*_CLASSES, _LETTER]
        both |= sum(1 << _OF_CLASSES + kinds.index(kind) for kind in _members((word,)))
    return told | both, asked | both


# ---- opposites --------------------------------------------------------------------------------


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """Return the opposites of words: WordNet's, and those of closed classes, computing, trade."""
    found = dict[str, set[str]]()
    for one, *others in (*word_list("opposites"), *word_list("opposite_terms")):
        for other in others:
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {word: frozenset(of) for word, of in found.items()}


@lru_cache(maxsize=8192)
def opposites(word: str) -> frozenset[str]:
    """Return the opposites of a word, of what it is a form of, and of what it abbreviates.

    >>> "minimum" in opposites("max"), "low" in opposites("highest"), opposites("table")
    (True, True, frozenset())
    """
    table = _opposites()
    return frozenset().union(*[table[one] for one in _bases(word) | compared(word) if one in table])


def _has_opposites(a: _Text, b: _Text) -> bool:
    """Tell whether the texts differ by opposites, and are short or have a word in common."""
    ours, theirs = _apart(a, b), _apart(b, a)
    is_short = max(len(a.words), len(b.words)) <= _FEW
    if not (is_short or len(ours) < len(a.words)) or not _differ_in_little(a, b):
        return False
    return any(
        not opposites(a.words[i]).isdisjoint(b.bases[j] | compared(b.words[j]))
        and a.bases[i].isdisjoint(a.negated) == b.bases[j].isdisjoint(b.negated)
        for i in ours
        for j in theirs
        if not (_is_listed(a.words, i) or _is_listed(b.words, j))
    )


def _is_listed(words: Sequence[str], place: int) -> bool:
    """Tell whether a word is one of several, of which another may be meant: "red and black"."""
    return not _LISTING.isdisjoint(words[max(place - 1, 0) : place + 2])


def _differ_in_little(a: _Text, b: _Text) -> bool:
    """Tell whether few words that say something are in one of the texts alone."""
    if len(a.words) + len(b.words) <= _MOST_APART:
        return True
    apart = [a.words[i] for i in _apart(a, b)] + [b.words[i] for i in _apart(b, a)]
    return sum(word not in _SAYING_LITTLE for word in apart) <= _MOST_APART


def _apart(a: _Text, b: _Text) -> list[int]:
    """Return the places of the words of one text that are not in the other."""
    return [i for i, of in enumerate(a.bases) if of.isdisjoint(b.every)]


# ---- negation -----------------------------------------------------------------------------------

_NEGATIONS = frozenset(
    ["not", "non", "no", "never", "without", "cannot", "except", "excluding", "excl"]
)
_PASSED_OVER = frozenset(
    ["a", "an", "the", "any", "be", "been", "for", "is", "to", "yet"]
)  # between a negation and its word
_COUNTS = frozenset(
    ["number", "num", "nr", "nos", "count", "quantity", "qty"]
)  # what "no" may stand for
_LISTING = frozenset(["and", "or"])
_SAYING_LITTLE = (
    _NEGATIONS
    | _PASSED_OVER
    | _LISTING
    | frozenset(["at", "by", "do", "does", "from", "in", "of", "on", "with"])
)
# Before "free" these do not name what is missing, nor does anything before what costs nothing.
_NOT_MISSING = "are break buy call feel get go keep my our run set this try was were win your"
_BEFORE_FREE = _SAYING_LITTLE.union(_NOT_MISSING.split())
_COSTS = "access admission delivery download entry gift parking returns sample shipping trial wifi"
_FREE_OF_CHARGE = frozenset(_COSTS.split())
_DENYING = _NEGATIONS | {"free"}  # these deny other words
_NEGATIVE_PREFIXES, _WITHOUT = ("un", "non", "mis"), "less"
_SHORTEST = 3  # letters of a word after such a prefix


def _negated(words: Sequence[str]) -> frozenset[str]:
    """Return the bases of the words that are negated: "not paid", "unpaid", "duty free"."""
    found = set[str]()
    for i, word in enumerate(words):
        rest = list[str]()
        if word in _NEGATIONS or word.endswith("n't"):
            rest = [other for other in words[i + 1 :] if other not in _PASSED_OVER]
        if rest:
            if words[i - 1 : i] == ("or",):  # "whether or not paid"
                continue
            if word != "no" or not (rest[0] == "of" or rest[0].isdigit()):
                found.update(_bases(rest[0]))
        elif word.endswith(_WITHOUT):
            found.update(_bases(word.removesuffix(_WITHOUT)))
        elif word == "free" and i and _FREE_OF_CHARGE.isdisjoint(words[i + 1 : i + 2]):
            found.update(_bases(words[i - 1]) if words[i - 1] not in _BEFORE_FREE else ())
        for prefix in _NEGATIVE_PREFIXES:
            if word.startswith(prefix) and len(word) >= len(prefix) + _SHORTEST:
                found.update(_bases(word.removeprefix(prefix)))
    return frozenset(found)


def _is_negation(a: _Text, b: _Text) -> bool:
    """Tell whether one text negates a word that the other has, and does not negate."""
    return _negates(a, b) or _negates(b, a)


def _negates(a: _Text, b: _Text) -> bool:
    if a.negated.isdisjoint(b.every) or not (a.negated & b.every) - b.negated:
        return False
    if "no" in a.words and not _COUNTS.isdisjoint(b.words):  # cust_no, "no_items"
        return False
    # "not null or empty" and "not null": the negation itself is in both.
    if any(word in _NEGATIONS and word in b.words for word in a.words):
        return False
    return _differ_in_little(a, b)


# ---- closed classes ----------------------------------------------------------------------------

# Sizes, and not per coin.
_WRITTEN_AS = (
    ("extra large", "xl"),
    ("x large", "xl"),
    ("extra small", "xs"),
    ("x small", "xs"),
    ("per cent", "percent"),
)
_SIZES = "xxs,xs,s small,m medium,l large,xl,xxl 2xl,xxxl 3xl,xxxxl 4xl"
_DAYS = "monday mon,tuesday tue tues,wednesday wed,thursday thu thur thurs,friday fri,saturday sat"
_MONTHS = "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug"
_ORDINALS = "first 1st,second 2nd,third 3rd,fourth 4th,fifth 5th,sixth 6th,seventh 7th,eighth 8th"
_NUMBERS = "one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,hundred,thousand,million"
_CLASSES = {
    "size": _SIZES,
    "day": f"{_DAYS},sunday sun",
    "month": f"{_MONTHS},september sep sept,october oct,november nov,december dec",
    "ordinal": f"{_ORDINALS},ninth 9th,tenth 10th",
    "number": _NUMBERS,
    "times": "single,double,triple,quadruple",
    "part": "half,quarter,whole",
}
_LETTER = "letter"


@cache
def _named() -> dict[str, list[tuple[str, str]]]:
    """Return for each word the classes that it may belong to, and what it names of each."""
    found = dict[str, list[tuple[str, str]]]()
    for kind, members in _CLASSES.items():
        for member in members.split(","):
            for word in member.split():
                found.setdefault(word, []).append((kind, member))
    return found


def _members(words: Sequence[str]) -> dict[str, frozenset[str]]:
    named, found = _named(), dict[str, set[str]]()
    for i, word in enumerate(words):
        for kind, member in named.get(word, ()):
            found.setdefault(kind, set()).add(member)
        if len(word) == 1 and word.isalpha() and (word != "a" or i == len(words) - 1):
            found.setdefault(_LETTER, set()).add(word)
    return {kind: frozenset(names) for kind, names in found.items()}


def _name_others(a: _Text, b: _Text) -> bool:
    """Tell whether each text names a member of a class that the other does not."""
    if "".join(a.words) == "".join(b.words):  # "e mail" and "email"
        return False
    return any(
        bool(names - b.members[kind] and b.members[kind] - names)
        for kind, names in a.members.items()
        if kind in b.members
    )


# ---- codes and numbers -------------------------------------------------------------------------

_RUNS = re.compile(r"\d+|[^\d\s]+")
_CODES = 16  # of one text that are compared with those of another
_SHORT = 3  # letters of a code, in which a slip is another code


def _have_other_codes(a: _Text, b: _Text) -> bool:
    """Tell whether numbers of both texts differ, or the letters that stand beside them."""
    shared = any(word in b.words for word in a.words if word.isalpha())
    if other_numbers(" ".join(a.words), " ".join(b.words), in_part=shared):
        return True
    if "".join(a.words) == "".join(b.words):  # "ip v4" and "ipv4"
        return False
    ours, theirs = (
        [word for word in text.words if word not in have and _is_code(word)][:_CODES]
        for text, have in ((a, frozenset(b.words)), (b, frozenset(a.words)))
    )
    return any(
        _is_other_code(_RUNS.findall(code), _RUNS.findall(other))
        for code in ours
        for other in theirs
    )


@lru_cache(maxsize=8192)
def _is_code(word: str) -> bool:
    return _has_digit(word) and not word.isdigit()


def _is_other_code(runs: list[str], others: list[str]) -> bool:
    """Tell whether two codes, as runs of digits and letters, have the same digits in other letters.

    The letters of a code may be misspelled if they are a word: "covdi19".
    """
    digits, letters = _parted(runs)
    same, other = _parted(others)
    if digits != same or letters == other or runs[0].isdigit() != others[0].isdigit():
        return False
    if len(letters) == len(other) == 1:
        both = (letters[0], other[0])
        is_word, are_units = min(map(len, both)) > _SHORT, all(map(_is_unit, both))
        return not (is_word or are_units)
    return True


def _parted(runs: list[str]) -> tuple[list[str], list[str]]:
    return [run for run in runs if run.isdigit()], [run for run in runs if not run.isdigit()]


# ---- units -------------------------------------------------------------------------------------

_PREFIXES = "kilo mega giga tera peta milli micro nano pico centi deci hecto kibi mebi gibi tebi"
_PREFIXED = (
    "meter gram second watt volt ampere byte bit joule newton hertz liter pascal calorie ohm"
)
_LONG_TIMES = "day week fortnight month quarter year decade century"
_PLAIN = (
    f"{_LONG_TIMES} minute hour "
    "inch foot feet yard mile acre hectare pound ounce ton tonne stone pint gallon quart cup "
    "teaspoon tablespoon celsius fahrenheit kelvin bar psi horsepower knot lumen lux candela "
    "mole dozen pixel percent decibel square cubic euro dollar cent penny rupee yen franc"
)
# Letters and words that are units after a number, after "per" or "in", or at the end.
_AMBIGUOUS = {"m": "meter", "g": "gram", "s": "second", "l": "liter", "w": "watt", "v": "volt"}
_AMBIGUOUS |= {"b": "byte", "c": "celsius", "f": "fahrenheit", "k": "kelvin", "min": "minute"}
_AMBIGUOUS |= {"t": "ton", "hp": "horsepower"}
_BEFORE_UNIT = frozenset(["per", "in"])
_BEFORE_RATE = frozenset(["per", "a", "an", "each", "every"])
_RATE = "per "
_CALENDAR = frozenset(_LONG_TIMES.split())
_HOW_OFTEN = {"hourly": "hour", "daily": "day", "annual": "year", "annually": "year"}
_HOW_OFTEN |= {f"{unit}ly": unit for unit in ("week", "fortnight", "month", "quarter", "year")}
_OF_SPACE = frozenset(["square", "cubic"])  # no units by themselves
# "kWh" and "MHz", which are parted like words in camel case
_PARTED_SYMBOL = re.compile(r"(?<![a-z])([kmgtpd]) (wh?|v|hz|b|j|ah?|pa|cal)\b")


@cache
def _units_by_word() -> dict[str, tuple[str, ...]]:
    names = [*_PLAIN.split(), *_PREFIXED.split()]
    names += [f"{prefix}{unit}" for prefix in _PREFIXES.split() for unit in _PREFIXED.split()]
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    found |= {
        name.replace(end, other): (name,)
        for end, other in (("meter", "metre"), ("liter", "litre"), ("gram", "gramme"))
        for name in names
        if name.endswith(end)
    }
    found |= {word: (unit,) for word, unit in _HOW_OFTEN.items()}
    found |= {symbol: tuple(of) for symbol, *of in word_list("units")}
    return found


def _is_unit(word: str) -> bool:
    return word in _AMBIGUOUS or any(one in _units_by_word() for one in base_forms(word))


def _may_be_unit(word: str) -> bool:
    symbol = word.lstrip("0123456789")
    return _is_unit(word) or symbol in _AMBIGUOUS or symbol in _units_by_word()


def _units(words: Sequence[str]) -> frozenset[str]:
    """Return the expressions of units in a text, each as sorted names: "kilometers per hour".

    How often something is stands for itself: "salary per year", "annual salary".
    """
    table, found, run, is_rate = _units_by_word(), set[str](), list[str](), False
    for i, word in enumerate((*words, "")):
        named = _unit(word, words, i, table) if word else ()
        is_link = word in ("per", "an") or (word == "a" and i < len(words) - 1)
        if run and not is_link and (not named or _begins_amount(word, words[i - 1])):
            found.add(_expression(run, is_rate=is_rate))
            run = []
        if named and not run:
            is_rate = word in _HOW_OFTEN or (i > 0 and words[i - 1] in _BEFORE_RATE)
        run += named
    return frozenset(found - _OF_SPACE)


def _expression(names: list[str], *, is_rate: bool) -> str:
    """Return an expression of units; of a time by itself, whether it is how often."""
    is_time = len(names) == 1 and names[0] in _HOW_OFTEN.values()
    return _RATE + names[0] if is_rate and is_time else " ".join(sorted(names))


def _begins_amount(word: str, before: str) -> bool:
    """Tell whether a unit after another one is no part of it: "kg 5m", "year month"."""
    return word[0].isdigit() or (word in _CALENDAR and _is_unit(before))


def _have_other_units(a: _Text, b: _Text) -> bool:
    """Tell whether each text has a unit, or a rate, that the other has not.

    An amount is not compared with a rate: "annual leave", "days of leave". How units are joined
    makes no difference: "weekly hours", "hours week".
    """
    ours, theirs = a.units - b.units, b.units - a.units
    kinds = ({unit.startswith(_RATE) for unit in units} for units in (ours, theirs))
    if set.isdisjoint(*kinds):
        return False
    first, second = (sorted(" ".join(units).split()) for units in (ours, theirs))
    return first != second


def _unit(
    word: str, words: Sequence[str], place: int, table: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the units that a word names, of which there may be none."""
    before = words[place - 1] if place else ""
    for one in (word, word.lstrip("0123456789"), *base_forms(word)):
        if one in table:
            return table[one]
    symbol = word.lstrip("0123456789")
    is_last = 0 < place == len(words) - 1
    if symbol in _AMBIGUOUS and (
        symbol != word or is_last or before.isdigit() or before in _BEFORE_UNIT
    ):
        return (_AMBIGUOUS[symbol],)
    return ()
