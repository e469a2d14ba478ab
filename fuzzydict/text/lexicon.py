"""What the tables in `data/` say of words: forms, opposites, short forms, units, closed classes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.text.words import LONGEST, plain, word_list

#: Words of a text that are read; what follows them makes no difference.
MOST_READ = 32


class Entry(NamedTuple):
    """What the tables say of one plain word."""

    word: str
    form: str  # its first spelling: American, a number in digits, a unit for its symbol
    stem: str  # what the forms of a word share
    group: int  # the number of the closed class that it belongs to, or -1
    member: str  # which member of the class it is; "" outside
    unit: int  # the number of the unit that it stands for, as "s" may, or 0; see `other_units`
    is_filler: bool  # whether it says little: a legal form of firms, or a function word
    is_legal: bool
    denies: bool  # whether it denies other words
    is_number: bool  # whether it is digits or a number word
    has_digit: bool
    is_common: bool  # whether it is a word that texts often have
    opposites: frozenset[str]  # words that are, or whose stems are, its opposites; see `denials_of`

    def by_spelling(self) -> Entry:
        """Return the same without terms, which are a matter of meaning."""
        return self if self.group < _TERM_CLASSES else self._replace(group=-1, member="")

    @property
    def is_function(self) -> bool:
        """Whether it is a function word, such as "of"."""
        return self.is_filler and not self.is_legal


@lru_cache(maxsize=1 << 16)
def look_up(word: str) -> Entry:
    """Return what the tables say of a plain word.

    >>> look_up("colours").form, look_up("colours").stem, look_up("mon").member
    ('colors', 'color', 'monday')
    >>> look_up("twelve").form, look_up("kg").form, look_up("ltd").is_legal
    ('12', 'kilogram', True)
    """
    form, kinds, pairs = _forms().get(word, word), _table("kinds").get(word, ()), _opposites()
    of_class = _classes().get(word) or _classes().get(form) or _one_word_terms().get(form)
    stem, (group, member) = _stem(form), of_class or (-1, "")
    is_legal, denies = "legal" in kinds, "denial" in kinds or word.endswith("n't")
    has_digit = not word.isalpha() and any(map(str.isdigit, word))
    flags = is_legal or "function" in kinds, is_legal, denies, form.isdigit(), has_digit
    is_common = not _table("common").keys().isdisjoint((word, form, word.removesuffix("s")))
    opposites = [pairs[one] for one in (word, form, stem) if one in pairs]
    all_of_them = frozenset(denials_of(word)).union(*opposites) - {stem}
    units = {} if flags[0] else _units()  # "a" is no ampere
    unit = units.get(word) or units.get(stem, 0)
    return Entry(word, form, stem, group, member, unit, *flags, is_common, all_of_them)


#: What is denied by each prefix; "un", "de" and "dis" also undo what common words do.
_DENIABLE = {
    "un": re.compile(r".{3,}(?:ed|able|ible|ing|al|ive|ful|ary|ent|ous|ic)"),
    "non": re.compile(r"[^\W\d_]{4,}"),
}
_UNDOING = ("un", "de", "dis")
_SHORTEST_UNDONE = 4  # letters


def denials_of(word: str) -> list[str]:
    """Return what a word denies or undoes by a prefix, or what denies it; some are no words.

    >>> denials_of("unshipped"), denials_of("deregister"), denials_of("register")
    (['shipped'], ['register'], ['nonregister', 'unregister', 'deregister', 'disregister'])
    """
    for prefix, deniable in _DENIABLE.items():
        if word.startswith(prefix) and deniable.fullmatch(word, len(prefix)):
            return [word.removeprefix(prefix)]
    found = [prefix + word for prefix, deniable in _DENIABLE.items() if deniable.fullmatch(word)]
    if not _is_common(word):
        bare = [word.removeprefix(prefix) for prefix in _UNDOING if word.startswith(prefix)]
        return [one for one in bare if len(one) >= _SHORTEST_UNDONE and _is_common(one)] or found
    if len(word) >= _SHORTEST_UNDONE:
        undone = [prefix + word for prefix in _UNDOING]
        found += [one for one in undone if one not in found and not _is_common(one)]
    return found


def _is_common(word: str) -> bool:
    """Tell whether a word, or what it is a form of, is common."""
    return not _table("common").keys().isdisjoint((word, stem_of(word)))


@cache
def _table(name: str) -> dict[str, list[str]]:
    """Return the lines of a table by their first words."""
    return {word: rest for word, *rest in word_list(name)}


def _by_first(lines: Iterable[Sequence[str]]) -> dict[str, set[str]]:
    """Return what follows each first word on all lines that begin with it."""
    found = defaultdict[str, set[str]](set)
    for word, *rest in lines:
        found[word].update(rest)
    return dict(found)


# ---- forms, classes and opposites ---------------------------------------------------------------

_VOWEL = re.compile(r"[aeiouy]")
_ORDINAL = re.compile(r"[0-9]+(?=(?:st|nd|rd|th)$)")


@cache
def _forms() -> dict[str, str]:
    """Return the first spellings of words, and the units of symbols that mean nothing else."""
    none = 0, ""
    units = {
        symbol: unit
        for symbol, (unit, *others) in _table("units").items()
        if not others and _shorts()[symbol] == {unit} and _classes().get(symbol, none)[1] == unit
    }
    spelled = _table("variants") | _table("numbers")
    return units | {word: form for word, (form,) in spelled.items()}


@cache
def _bases() -> dict[str, str]:
    """Return what words are forms of where their endings do not tell; a few, of themselves."""
    return {line[0]: line[1] for name in ("irregular", "forms") for line in word_list(name)}


def stem_of(word: str) -> str:
    """Return the stem of a plain word, as `look_up` does.

    >>> stem_of("colours")
    'color'
    """
    return _stem(_forms().get(word, word))


def _stem(word: str) -> str:
    """Return the base of a word, or the base of that: of "payments" "payment", and so "pay"."""
    bases, forms, last = _bases(), _forms(), ""
    while last != word:
        last, base = word, bases.get(word) or without_ending(word)
        word = forms.get(base, base)
    return word


def without_ending(word: str) -> str:
    """Return what a word is a form of by the longest of the listed endings that it has.

    >>> without_ending("payments"), without_ending("9th")
    ('payment', '9')
    """
    endings = _table("endings")
    if ordinal := _ORDINAL.match(word):
        return ordinal[0]
    for start in range(2, len(word)):
        if (base := endings.get(word[start:])) is not None:
            return word[:start] + "".join(base) if _VOWEL.search(word, 0, start) else word
    return word


@cache
def _classes() -> dict[str, tuple[int, str]]:
    """Return the first class that lists a word or its plural, and which member the word is."""
    found, numbers = dict[str, tuple[int, str]](), dict[str, int]()
    for kind, member, *others in word_list("classes"):
        number = numbers.setdefault(kind, len(numbers))
        for word in (member, *others, *([f"{member}s"] if len(member) > 1 else [])):
            found.setdefault(word, (number, member))
    units = {symbol: " ".join(names) for symbol, names in _table("units").items()}
    return {symbol: found[unit] for symbol, unit in units.items() if unit in found} | found


@cache
def _units_by_name() -> dict[str, frozenset[int]]:
    """Return which units, by number, each name or symbol stands for: "m" for several."""
    found = defaultdict[str, set[int]](set)
    for number, (_, *names) in enumerate(one for one in word_list("classes") if one[0] == "unit"):
        for name in names:
            found[name].add(number)
    for symbol, names in _table("units").items():
        found[symbol] |= found.get(" ".join(names), set())
    return {name: frozenset(units) for name, units in found.items() if units}


@cache
def _units() -> dict[str, int]:
    """Return a number, from 1 on, of what each name or symbol of units stands for."""
    different = list(dict.fromkeys(_units_by_name().values()))
    return {name: different.index(units) + 1 for name, units in _units_by_name().items()}


@cache
def other_units() -> NDArray[np.bool_]:
    """Return which units, by the number of an `Entry`, are others than which, (n, n)."""
    different = [frozenset[int](), *dict.fromkeys(_units_by_name().values())]
    return np.array([[bool(a and b) and a.isdisjoint(b) for b in different] for a in different])


_TERM_CLASSES = 1000  # the number of the first; the classes of `classes.txt` are fewer


@cache
def _terms() -> list[list[list[str]]]:
    """Return the words of each of the terms on each line, which mean the same."""
    lines = [" ".join(line).split(" = ") for line in word_list("terms")]
    return [[[_forms().get(word, word) for word in term.split()] for term in one] for one in lines]


@cache
def _one_word_terms() -> dict[str, tuple[int, str]]:
    """Return a class of its own for each term, of which its words are one member."""
    found = dict[str, tuple[int, str]]()
    for number, line in enumerate(_terms(), _TERM_CLASSES):
        for words in line:
            if len(words) == 1:
                found.setdefault(words[0], (number, " ".join(line[0])))
    return found


@cache
def _same_terms() -> tuple[dict[tuple[str, ...], list[tuple[str, ...]]], set[str]]:
    """Return by the stems of a term those of the others of its line; and all first stems."""
    found = defaultdict[tuple[str, ...], list[tuple[str, ...]]](list)
    for line in _terms():
        stems = [tuple(map(_stem, words)) for words in line]
        for one in stems:
            found[one] += [
                other for other in stems if max(len(one), len(other)) > 1 and other != one
            ]
    return dict(found), {one[0] for one in found}


def same_terms(stems: Sequence[str]) -> Iterator[tuple[int, int, list[tuple[str, ...]]]]:
    """Yield the terms among words, given their stems, that have other names.

    Each is the place of its first word, how many it has, and the stems of the others.

    >>> list(same_terms(["my", "postal", "code"]))[0][:2]
    (1, 2)
    """
    others, firsts = _same_terms()
    for start in [place for place, stem in enumerate(stems) if stem in firsts]:
        for end in range(start + 1, min(len(stems), start + _LONGEST_TERM) + 1):
            if found := others.get(tuple(stems[start:end])):
                yield start, end - start, found


_LONGEST_TERM = 6  # words


@cache
def _opposites() -> dict[str, set[str]]:
    """Return the opposites of words; of a short form, those of the one word it stands for."""
    lines = [*word_list("opposites"), *word_list("opposite_terms"), *word_list("negated")]
    spelled = [[_forms().get(word, word) for word in line] for line in lines]
    pairs = [(one, other) for one, *others in (*lines, *spelled) for other in others]
    pairs += [(other, one) for one, other in pairs]
    shorts = defaultdict[str, list[str]](list)
    for short, *words in word_list("abbreviations"):
        if len(words) == 1:
            shorts[words[0]].append(short)
    short_pairs = [(short, other) for one, other in pairs for short in shorts.get(one, ())]
    return _by_first([*pairs, *short_pairs, *((other, one) for one, other in short_pairs)])


_SHORTEST_PART = 3  # letters


class Part(IntEnum):
    """How the stem of a word stands in that of another one with more letters."""

    NONE = 0  # it does not, or what is more is a suffix: "friend", "friendship"
    OF_ANOTHER = 1  # at the beginning, or behind a prefix: "cheese", "cheesecake"
    OF_ITS_KIND = 2  # at the end, so that the other may be a kind of it: "storm", "snowstorm"


#: Suffixes before which the last letter of a word is doubled: "red", "reddish".
_DOUBLING = {"-ish", "-y", "-ed", "-er", "-en", "-ing"}


def part_of(part: str, word: str) -> Part:
    """Return how the stem of a word stands in that of another one.

    >>> [part_of(*pair.split()).name for pair in ("berry strawberries", "order reorders")]
    ['OF_ITS_KIND', 'OF_ANOTHER']
    >>> [part_of(*pair.split()).name for pair in ("red reddish", "cheesecake cheese")]
    ['NONE', 'NONE']
    """
    part, word = look_up(part).stem, look_up(word).stem
    more = len(word) - len(part)
    if more < 2 or len(part) < _SHORTEST_PART or part not in word:
        return Part.NONE
    affixes, rest = _table("affixes"), f"-{word[-more:]}"
    if word.endswith(part):
        return Part.OF_ANOTHER if f"{word[:more]}-" in affixes else Part.OF_ITS_KIND
    is_doubled = word[-more] == part[-1] and f"-{rest[2:]}" in _DOUBLING
    is_other = word.startswith(part) and rest not in affixes and not is_doubled
    return Part.OF_ANOTHER if is_other else Part.NONE


# ---- abbreviations ------------------------------------------------------------------------------

_SHORTEST = 3  # letters of an abbreviation that is not listed; two are too often chance
_INNER_VOWELS = re.compile(r"(?<!^)[aeiou]"), re.compile(r"(?<!^)[aeiouy]")


def abbreviates(short: str, long: str) -> int:
    """Return how one of two plain words, in whichever order, abbreviates the other.

    Returns:
        0: it does not; 1: by convention, as listed, or as "i18n" counts letters; 2: it is the
        beginning; 3: it has no vowels, and else all letters or the first ones; 4: it has the first
        letter and others in order, with the last one or without vowels. A common word is none of
        2 to 4.

    >>> [abbreviates(*pair.split()) for pair in ("qty quantity", "transf transfer",
    ...     "dvlpr developer", "frmr farmers", "car carpet")]
    [1, 2, 3, 3, 0]
    """
    for one, other in ((short, long), (long, short)):
        if is_short_form(one) and _stands_for(one, other):
            return 1
    if len(short) > len(long):
        short, long = long, short
    if short[:1] != long[:1]:
        return 0
    if counted := _NUMERONYM.fullmatch(short):
        return int(counted[1]) == len(long) - 2 and short[-1] == long[-1]
    place = 0
    for letter in short:
        place = long.find(letter, place) + 1
        if not place:
            return 0
    return _abbreviates(short, long)


_NUMERONYM = re.compile("[a-z]([1-9][0-9]?)[a-z]")


def is_numeronym(word: str) -> bool:
    """Tell whether a plain word may count the letters of another, as "i18n" does."""
    return bool(_NUMERONYM.fullmatch(word))


@lru_cache(maxsize=1 << 14)
def is_short_form(word: str) -> bool:
    """Tell whether a plain word may stand for another.

    It, or that of which it is a plural, is listed as a short form, or it counts letters.
    """
    shorts = _shorts()
    return word in shorts or word[:-1] in shorts or is_numeronym(word)


@lru_cache(maxsize=1 << 14)
def _abbreviates(short: str, long: str) -> int:
    """Return what `abbreviates` does, of two words of which the second has all letters in order."""
    if not short.isalpha() or short in _ordinary():
        return 0
    consonants = [vowels.sub("", long) for vowels in _INNER_VOWELS]
    if short in consonants and len(short) > 1:
        return 3
    # A letter more or less is a form or a slip.
    if len(short) < _SHORTEST or len(long) - len(short) < 2 or _stem(short) == _stem(long):
        return 0
    if long.startswith(short):
        return 2
    if any(one.startswith(short) for one in consonants):
        return 3
    is_contraction = short[-1] == long[-1] or not _INNER_VOWELS[0].search(short)
    return 4 if is_contraction else 0


@lru_cache(maxsize=1 << 14)
def _stands_for(short: str, long: str) -> bool:
    shorts = _shorts()
    words = shorts.get(short) or (shorts.get(short[:-1]) if short.endswith("s") else None)
    return words is not None and (long in words or _stem(long) in map(_stem, words))


@cache
def _shorts() -> dict[str, set[str]]:
    """Return what listed short forms stand for: abbreviations, units, members of classes."""
    members = ([short, member] for _, member, *shorts in word_list("classes") for short in shorts)
    return _by_first([*word_list("abbreviations"), *word_list("units"), *members])


@cache
def _ordinary() -> set[str]:
    """Return the words that abbreviate no others but those listed."""
    members = {member for _, member in _classes().values()}
    often = [word for word, (n,) in _table("common").items() if int(n) > 2 and len(word) < 8]
    return members.union(often, *map(_table, ("kinds", "numbers")))


# ---- texts --------------------------------------------------------------------------------------

_SIGN = re.compile("[/&%€£¥]")
_SIGNS = re.compile(r"(?<![^\W_])[^\W\d_]+/[^\W\d_]*(?![^\W_])| & |%(?![^\W\d_])|[€£¥]")
_NUMBER_AND_UNIT = re.compile(r"\b([0-9]+)([a-z]{2,}|(?<=[0-9]{2})[a-z])\b")  # but not "5g"
_POSSESSIVE = re.compile(r"(?<=[^\W\d_]{2}) s(?= )")  # "patient_s_age", not "timeout_s"
_TURNS = frozenset("/>→⇒")
_TURNED = re.compile(r"[^\W\d_]\s*(?:/|[-=]?>|→|⇒)\s*[^\W\d_]")


def words_of(text: str) -> list[str]:
    """Return the words of a text as the tables write them, at most 32.

    They are those of `plain`, but what may be written in several ways is written in one.

    >>> words_of("price w/o tax"), words_of("In-active users"), words_of("10kg"), words_of("5 g")
    (['price', 'without', 'tax'], ['inactive', 'users'], ['10', 'kg'], ['5', 'gram'])
    """
    text, (_, first) = _POSSESSIVE.sub("s", plain(_spelled_out(text))), _written()
    words = _NUMBER_AND_UNIT.sub(_parted, text).split()
    for i in range(1, len(words)):
        if len(words[i]) == 1 and words[i - 1].isdigit():  # "5 g", where "g" alone is a letter
            words[i] = _table("units").get(words[i], words[i : i + 1])[0]
    return (words if first.isdisjoint(words) else _rewritten(words))[:MOST_READ]


def is_directed(text: str) -> bool:
    """Tell whether the order of the words of a text matters, as in "USD/EUR", "miles per hour".

    >>> [is_directed(text) for text in ("usd to eur", "km/h", "w/o tax", "e-mail", "from home")]
    [True, True, False, False, False]
    """
    text, kinds = _spelled_out(text), _table("kinds")
    inner = plain(text).split(" ")[1:-1]
    is_turned = not _TURNS.isdisjoint(text) and _TURNED.search(text)
    return bool(is_turned) or any("direction" in kinds.get(one, ()) for one in inner)


@cache
def _written() -> tuple[dict[str, str], frozenset[str]]:
    """Return how signs and words are written, "in active" as "inactive", and the first words."""
    negated = [(word, other) for word, other in word_list("negated") if other.endswith(word)]
    joined = (
        [first, word, "=", other]
        for word, other in negated
        for first in ("not", "non", other.removesuffix(word))
    )
    lines = [" ".join(line).split(" = ") for line in (*joined, *word_list("written"))]
    return dict(lines), frozenset(("no", *(left.split()[0] for left, _ in lines)))


def _spelled_out(text: str) -> str:
    """Return a text, and no more of it than is compared, with words for signs such as "w/o"."""
    (written, _), text = _written(), text[:LONGEST]
    if not _SIGN.search(text):
        return text
    return _SIGNS.sub(lambda sign: f" {written.get(sign[0].strip().lower(), sign[0])} ", text)


def _rewritten(words: list[str]) -> list[str]:
    (written, _), found = _written(), list[str]()
    for word in words:
        found.append(word)
        last = ""
        while last != found[-1]:
            last = found[-1]
            size = 2 if " ".join(found[-2:]) in written else 1
            found[-size:] = written.get(" ".join(found[-size:]), last).split()
    if found[0] == "no" and found[1:]:  # "no tax", but not "order no", "no 5" and "no of items"
        after = look_up(found[1])
        found[0] = found[0] if after.has_digit or after.is_filler else "without"
    return found


_APART = re.compile(r"(?<![0-9]) | (?![0-9])")  # but not between digits
_NUMBERS = re.compile(r"[0-9]+(?: [0-9]+)*")  # with nothing but blanks between them
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


_WRITTEN_NUMBER = re.compile(r"(?:^ *- *|(?<![\w.-])-?)[0-9]+(?:\.[0-9]+)*(?![0-9])")


def other_number(text: str, other: str) -> bool:
    """Tell whether texts as written have numbers that differ by a sign, or as versions do.

    >>> other_number("-15 C", "15 C"), other_number("v 1.1.2", "v 1.2"), other_number("3.0", "3")
    (True, True, False)
    """
    (ours, our_versions), (theirs, their_versions) = (
        _signs_and_versions(one[:LONGEST]) for one in (text, other)
    )
    have_both = our_versions and their_versions
    return ours != theirs or bool(have_both and our_versions != their_versions)


_CODE = re.compile(r"\b([a-z]{1,3})0*([0-9]+)\b")


def other_code(text: str, other: str) -> bool:
    """Tell whether plain texts have one number behind other letters, as many as there.

    >>> other_code("gate b5", "gate a5"), other_code("w12", "kw12"), other_code("b5", "b05")
    (True, False, False)
    """
    ours = {number: letters for letters, number in _CODE.findall(text)}
    theirs = {number: letters for letters, number in _CODE.findall(other)}
    return any(
        letters != theirs[number] and len(letters) == len(theirs[number])
        for number, letters in ours.items()
        if number in theirs
    )


@lru_cache(maxsize=1 << 12)
def _signs_and_versions(text: str) -> tuple[int, set[tuple[str, ...]]]:
    """Return how many numbers of a text have a minus, and the parts of those with points."""
    numbers = _WRITTEN_NUMBER.findall(text)
    signs = sum("-" in number for number in numbers)
    return signs, {_parts(number) for number in numbers if "." in number}


def _parts(number: str) -> tuple[str, ...]:
    """Return the parts of a version or a date that are not zero, in whichever order they are."""
    return tuple(sorted(part for one in number.split(".") if (part := one.lstrip(" -0"))))


_TIME = re.compile(r"\b([0-9]{1,2})(?: ([0-9]{2}))? ?([ap])m\b")


def numbers_of(text: str) -> list[str]:
    """Return the numbers in a plain text, without zeros before them.

    If there are any, months are numbers, and "5 pm" is 17 and 0.

    >>> numbers_of("5 jan 2024"), numbers_of("9 30 pm"), numbers_of("gate b07"), numbers_of("may")
    (['5', '1', '2024'], ['21', '30'], ['7'], [])
    """
    if not any(map(str.isdigit, text)):
        return []
    words = [_months().get(word, word) for word in _TIME.sub(_of_24_hours, text).split()]
    parts = "".join([c if c.isdigit() else " " for c in " ".join(words)]).split()
    return [part.lstrip("0") or "0" for part in parts]


def _of_24_hours(time: re.Match[str]) -> str:
    hour, minute, half = time.groups()
    return f"{int(hour) % 12 + 12 * (half == 'p')} {minute or '0'}"


@cache
def _months() -> dict[str, str]:
    lines = [words for kind, *words in word_list("classes") if kind == "month"]
    return {word: str(number) for number, words in enumerate(lines, 1) for word in words}


def _parted(stuck: re.Match[str]) -> str:
    """Return a number and a unit that are stuck together as two words, but codes as they are."""
    is_unit = stuck[2] in _table("units") or "unit" in _table("kinds").get(stuck[2], ())
    return " ".join(stuck.groups()) if is_unit and stuck[0] not in _classes() else stuck[0]
