"""What the tables in `data/` say of words: forms, opposites, short forms, units, closed classes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from fuzzydict.text.words import line_of, word_list


class Entry(NamedTuple):
    """What the tables say of one plain word."""

    word: str
    form: str  # its first spelling: American, a number in digits, a unit for its symbol
    stem: str  # what the forms of a word share
    group: int  # the number of the closed class that it belongs to, or -1
    member: str  # which member of the class it is; "" outside
    unit: int  # the number of the unit that it stands for, as "s" may, or 0; see `other_units`
    is_filler: bool  # whether it says little: a legal form, a function word, or a courtesy
    is_function: bool  # whether it is a function word, such as "of"
    is_variety: bool  # whether a name that has it beside is that of another thing: "pro", "junior"
    denies: int  # what it denies: the words behind it (1), the one before it (-1), nothing (0)
    has_digit: bool
    is_common: bool  # whether it is a word that texts often have
    opposites: frozenset[str]  # words that are, or whose stems are, its opposites
    names: frozenset[str]  # stems of its other names, where it is of several classes
    meanings: tuple[int, ...]  # its first meanings, then what each is a kind of; see `relations_of`

    def by_spelling(self) -> Entry:
        """Return the same without what other names mean: terms, and names of other letters."""
        if self.group >= TERM_CLASSES:
            return self._replace(group=-1, member="", names=frozenset())
        word, name = self.word, self.member
        if min(len(word), len(name)) > _SHORT_NAME and word[0] != name[0]:  # "bombay", no "lbs"
            return self._replace(member=word, names=frozenset())
        return self._replace(names=frozenset())


@lru_cache(maxsize=1 << 16)
def look_up(word: str) -> Entry:
    """Return what the tables say of a plain word.

    >>> look_up("colours").form, look_up("colours").stem, look_up("mon").member
    ('colors', 'color', 'monday')
    >>> look_up("twelve").form, look_up("kg").form, look_up("ltd").is_filler
    ('12', 'kilogram', True)
    """
    form, stem = first_spellings().get(word, word), stem_of(word)
    kinds, common = table_of("kinds").get(word, ()), table_of("common")
    classes, owner = classes_of_words(), form.removesuffix("'s")  # "mary's" is as "mary" is
    listed = [_listed(one) for one in (word, form, stem)]
    group = classes.get(word) or classes.get(owner) or listed[1].term or (-1, "")
    is_function = "function" in kinds
    is_filler = is_function or "legal" in kinds or "courtesy" in kinds
    units = {} if is_filler else _units()[0]  # "a" is no ampere
    has_digit = not word.isalpha() and any(map(str.isdigit, word))
    by_affix = [] if has_digit else [*denials_of(word, stem), *_with_opposite_prefix(word)]
    return Entry(
        *(word, form, stem, *group),
        unit=units.get(word) or units.get(stem, 0),
        is_filler=is_filler,
        is_function=is_function,
        is_variety="variety" in kinds,
        denies=-1 if "before" in kinds else int("denial" in kinds or word.endswith("n't")),
        has_digit=has_digit,
        is_common=word in common or form in common or word.removesuffix("s") in common,
        opposites=frozenset(by_affix).union(*(one.opposites for one in listed)) - {word, stem},
        names=listed[1].names - {stem},
        meanings=next(filter(any, (one.meanings for one in listed)), NO_MEANINGS),
    )


#: The most meanings of a word that are known, each with what it is a kind of.
MEANINGS = 4
NO_MEANINGS = (0,) * (2 * MEANINGS)


class _Listed(NamedTuple):
    """What the table "words" says of a word."""

    meanings: tuple[int, ...] = NO_MEANINGS
    opposites: frozenset[str] = frozenset()
    term: tuple[int, str] | None = None  # the class of terms of one thing, and their first one
    same: tuple[str, ...] = ()  # the words that are of this class alone
    names: frozenset[str] = frozenset()  # as those of an `Entry`


@lru_cache(maxsize=1 << 16)
def _listed(word: str) -> _Listed:
    if not (line := line_of("words", word)):
        return _Listed()
    meanings, opposites, number, first, same, names = line
    return _Listed(
        tuple(map(int, meanings.split(" "))) if meanings else NO_MEANINGS,
        frozenset(opposites.split()),
        (int(number), first) if number else None,
        tuple(same.split()),
        frozenset(names.split()),
    )


@cache
def legal_forms() -> frozenset[str]:
    """Return the words that are legal forms of firms, as "ltd"."""
    return frozenset(word for word, kinds in table_of("kinds").items() if "legal" in kinds)


@cache
def given_names() -> int:
    """Return the number of the class of given names."""
    return look_up("robert").group


@cache
def table_of(*names: str) -> dict[str, list[str]]:
    """Return the lines of tables by their first words."""
    return {word: rest for name in names for word, *rest in word_list(name)}


# ---- forms --------------------------------------------------------------------------------------

_VOWEL = re.compile(r"[aeiouy]")
_ORDINAL = re.compile(r"[0-9]+(?=(?:st|nd|rd|th)$)")


@cache
def first_spellings() -> dict[str, str]:
    """Return the first spellings of words, and the units of symbols that mean nothing else."""
    forms = {}
    for symbol, unit in table_of("units").items():
        member = classes_of_words().get(symbol, (0, ""))[1]
        if [member] == unit and short_forms()[symbol] == {member}:
            forms[symbol] = member
    return forms | {word: form for word, (form,) in table_of("variants", "numbers").items()}


@lru_cache(maxsize=1 << 16)
def stem_of(word: str) -> str:
    """Return the base of a plain word, or the base of that: of "payments" "payment", so "pay"."""
    forms, last = first_spellings(), ""
    word = forms.get(word, word)
    while last != word:
        last, base = word, _base_of(word)
        word = forms.get(base, base)
    return word


def _base_of(word: str) -> str:
    """Return what a plain word is a form of, as a table has it or its ending tells."""
    bases = table_of("irregular", "forms")
    return bases[word][0] if word in bases else without_ending(word)


def without_ending(word: str) -> str:
    """Return what a word is a form of by the longest of the listed endings that it has.

    >>> without_ending("payments"), without_ending("9th")
    ('payment', '9')
    """
    endings = table_of("endings")
    if ordinal := _ORDINAL.match(word):
        return ordinal[0]
    for start in range(2, len(word) if word[-1:] in _ends() else 0):
        if (base := endings.get(word[start:])) is not None:
            return word[:start] + "".join(base) if _VOWEL.search(word, 0, start) else word
    return word


@cache
def _ends() -> frozenset[str]:
    """Return the last letters of the listed endings."""
    return frozenset(ending[-1] for ending in table_of("endings"))


_SHORTEST_PART = 3  # letters


def are_singular_and_plural(text: str, other: str) -> bool:
    """Tell whether two plain texts differ only in that words of one are plurals.

    Those of three letters are left out: "GPS" is no plural.

    >>> are_singular_and_plural("mobile phone", "mobile phones")
    True
    >>> are_singular_and_plural("booking", "book"), are_singular_and_plural("lorry", "lorries")
    (False, True)
    """
    if (text[-1:] == "s") == (other[-1:] == "s"):
        return False
    singular, plural = (text, other) if other[-1:] == "s" else (other, text)
    one, many = singular.split(" "), plural.split(" ")
    return len(one) == len(many) and all(
        a == b or (len(a) > _SHORTEST_PART and b[-1] == "s" and _base_of(b) == a)
        for a, b in zip(one, many, strict=True)
    )


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
    affixes, rest = table_of("affixes"), f"-{word[-more:]}"
    if word.endswith(part):
        return Part.OF_ANOTHER if f"{word[:more]}-" in affixes else Part.OF_ITS_KIND
    is_doubled = word[-more] == part[-1] and f"-{rest[2:]}" in _DOUBLING
    is_other = word.startswith(part) and rest not in affixes and not is_doubled
    return Part.OF_ANOTHER if is_other else Part.NONE


@cache
def _compounds() -> dict[str, set[str]]:
    """Return the last words of the listed compounds, by the words before them."""
    found = defaultdict[str, set[str]](set)
    for *before, head in word_list("compounds"):
        found[" ".join(before)].add(head)
    return dict(found)


def is_other_compound(text: str, other: str) -> bool:
    """Tell whether one plain text is the other with words before it that make it another thing.

    They do if with the first word of the other they are a listed compound.

    >>> is_other_compound("mexico", "new mexico"), is_other_compound("sweet potatoes", "potatoes")
    (True, True)
    >>> is_other_compound("new car", "car"), is_other_compound("black tea", "tea")
    (False, False)
    """
    short, long = sorted((text, other), key=len)
    if not long.endswith(f" {short}"):
        return False
    heads, head = _compounds().get(long[: -len(short) - 1], ()), short.split(" ", 1)[0]
    return bool(heads) and not {head, stem_of(head)}.isdisjoint(heads)


# ---- closed classes, units and terms ------------------------------------------------------------

TERM_CLASSES = 1000  # the number of the first; the classes of `classes.txt` are fewer
_SHORT_NAME = 3  # letters of a name that is written by convention, as "lb"
_MOST_NAMED = 8  # texts in which something has another name


@cache
def classes_of_words() -> dict[str, tuple[int, str]]:
    """Return the first class that lists a word or its plural, and which member the word is."""
    found, numbers = dict[str, tuple[int, str]](), dict[str, int]()
    for kind, member, *others in word_list("classes"):
        number = numbers.setdefault(kind, len(numbers))
        plurals = [f"{member}s"] if len(member) > 1 and member[-1] != "s" else []
        for word in (member, *others, *plurals):
            found.setdefault(word, (number, member))
    units = {symbol: " ".join(names) for symbol, names in table_of("units").items()}
    return {symbol: found[unit] for symbol, unit in units.items() if unit in found} | found


#: What `relations_of` tells: of several that hold the last, which is why they are in this order.
#: Of words of which one only may have a meaning of the other, nothing more is told.
NO_RELATION, NONE_IN_COMMON, BOTH_KINDS, BROADER, MAY_BE_ONE, ONE = range(6)
_OF_NO_WORD = 1 << 30  # equals no meaning
#: What is told if a meaning of a word, or what is above one, is that of the other, (8, 8).
_IF_ONE = np.full((2 * MEANINGS, 2 * MEANINGS), BROADER, np.int8)
_IF_ONE[:MEANINGS, :MEANINGS], _IF_ONE[MEANINGS:, MEANINGS:] = MAY_BE_ONE, BOTH_KINDS


def relations_of(ours: NDArray[np.int32], theirs: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return how words are related, (...), given the meanings of both and what is above, (8, ...).

    The numbers are `NO_RELATION` to `ONE`.
    """
    sought = np.concatenate([ours[:MEANINGS], np.abs(ours)])  # a meaning may be below 0
    np.copyto(sought, _OF_NO_WORD, where=sought <= 0)
    sure, own = sought[:MEANINGS, None], sought[MEANINGS:, None]
    meet = own == np.abs(theirs)  # (8, 8, ...)
    told = meet * _IF_ONE.reshape(*_IF_ONE.shape, *[1] * (meet.ndim - 2))
    told[:MEANINGS, :MEANINGS] += sure == theirs[:MEANINGS]  # from MAY_BE_ONE to ONE
    have_both = (ours[0] != 0) & (theirs[0] != 0)  # NONE_IN_COMMON, if nothing else is told
    related: NDArray[np.int8] = np.maximum(np.maximum.reduce(told, axis=(0, 1)), have_both)
    return related


#: The power of ten that each prefix is.
PREFIXES = {"pico": -12, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "deci": -1}
PREFIXES |= {"hecto": 2, "kilo": 3, "mega": 6, "giga": 9, "tera": 12}


@cache
def _units() -> tuple[dict[str, int], NDArray[np.bool_]]:
    """Return which units, as a number from 1 on, a name or a symbol stands for: "m" for several.

    Of two such numbers, (n, n), the array tells whether they have no unit in common.
    """
    found = defaultdict[str, set[int]](set)
    for number, (_, *names) in enumerate(one for one in word_list("classes") if one[0] == "unit"):
        for name in names:
            found[name].add(number)
    for symbol, names in table_of("units").items():
        found[symbol] |= found.get(" ".join(names), set())
    # No unit is another than "x", as in "6 x 330 ml".
    found["x"] = {number for numbers in found.values() for number in numbers}
    some = [frozenset[int](), *dict.fromkeys(frozenset(units) for units in found.values() if units)]
    others = [[bool(a and b) and a.isdisjoint(b) for b in some] for a in some]
    return {name: some.index(frozenset(units)) for name, units in found.items()}, np.array(others)


@cache
def are_measures() -> NDArray[np.bool_]:
    """Return which units, by the number of an `Entry`, say nothing at the end of a name, (n,).

    They are those with a prefix, as "kilogram", and some that are listed.
    """
    are = np.zeros(len(other_units()), np.bool_)
    for kind, name, *_ in word_list("classes"):
        kinds = table_of("kinds").get(name, ())
        if kind == "unit" and (name.startswith((*PREFIXES,)) or "measure" in kinds):
            are[_units()[0][name]] = True
    return are


@cache
def _unit_names() -> dict[str, str]:
    lines = [names for kind, *names in word_list("classes") if kind == "unit"]
    of_classes = {symbol: name for name, *symbols in reversed(lines) for symbol in symbols}
    return of_classes | {symbol: " ".join(unit) for symbol, unit in table_of("units").items()}


def unit_of(symbol: str) -> str:
    """Return the name of the unit that a symbol or a name may stand for.

    >>> unit_of("kg"), unit_of("MW"), unit_of("s"), unit_of("Volts"), unit_of("tons")
    ('kilogram', 'megawatt', 'second', 'volt', 'tonne')
    """
    names, small = _unit_names(), symbol.lower()
    return names.get(symbol) or names.get(small) or names.get(stem_of(small), stem_of(small))


def other_units() -> NDArray[np.bool_]:
    """Return which units, by the number of an `Entry`, are others than which, (n, n)."""
    return _units()[1]


#: The place of the first word of a term, how many words it has, and the stems of its other names.
Term: TypeAlias = tuple[int, int, list[list[str]]]


@lru_cache(maxsize=1 << 14)
def _terms_of(stems: str) -> tuple[int, list[list[str]]]:
    """Return how many words terms have that begin so, and the other names if this is one."""
    longest, *names = line_of("terms", stems) or ["0"]
    return int(longest), [name.split(" ") for name in names]


def same_terms(entries: Sequence[Entry]) -> list[Term]:
    """Return the terms among words that have other names.

    >>> same_terms([look_up(word) for word in ("my", "postal", "codes")])[0][:2]
    (1, 2)
    """
    found, stems = list[Term](), list[str]()
    for entry in entries:  # "hr" is read as "hour", and a term, which "hours" is not
        stems.append(entry.word if entry.unit else entry.stem)
    for start, first in enumerate(stems):
        for end in range(start + 1, min(len(stems), start + _terms_of(first)[0]) + 1):
            if names := _terms_of(" ".join(stems[start:end]))[1]:
                found.append((start, end - start, names))
    return found


@cache
def _names() -> dict[tuple[int, str], list[str]]:
    """Return the words that are one member of a closed class."""
    found = defaultdict[tuple[int, str], list[str]](list)
    for word, member in classes_of_words().items():
        found[member].append(word)
    return found


def by_other_names(entries: Sequence[Entry], terms: Sequence[Term]) -> list[str]:
    """Return the words of a text with one term, or listed word, by another of its names, 8 at most.

    Names of several words are given by the stems of these.

    >>> entries = [look_up("my"), look_up("zip")]
    >>> by_other_names(entries, same_terms(entries))[:2]
    ['my postal code', 'my zip code']
    """
    words, found = [entry.word for entry in entries], dict[str, None]()
    for start, size, others in terms:
        for other in others:
            found[" ".join([*words[:start], *other, *words[start + size :]])] = None
    listed = [(i, entry) for i, entry in enumerate(entries) if entry.group >= 0 or entry.names]
    for i, entry in listed:
        names = dict[str, str]()
        of_class = _names().get((entry.group, entry.member)) or _listed(entry.form).same
        for name in (*of_class, *sorted(entry.names)):
            names.setdefault(stem_of(name), name)  # and no plural beside it
        for stem, name in names.items():
            if stem != entry.stem:
                found[" ".join([*words[:i], name, *words[i + 1 :]])] = None
    return list(found)[:_MOST_NAMED]


# ---- opposites ----------------------------------------------------------------------------------


def _with_opposite_prefix(word: str) -> list[str]:
    """Return a word with the opposite prefix: "outlet" of "inlet"; it need not be a word."""
    prefixes = _opposite_prefixes()
    if not word.startswith(tuple(prefixes)):  # as of most, sooner than one by one
        return []
    return [
        other + word[len(prefix) :]
        for prefix, others in prefixes.items()
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST_PART
        for other in others
    ]


@cache
def _opposite_prefixes() -> dict[str, list[str]]:
    """Return the listed prefixes, each with its opposites."""
    found = defaultdict[str, list[str]](list)
    for one, other, *_ in word_list("opposite_terms"):
        if one.endswith("-"):
            found[one[:-1]].append(other[:-1])
            found[other[:-1]].append(one[:-1])
    return dict(found)


#: What is denied by each prefix; "un", "de" and "dis" also undo what is done.
_DENIABLE = {
    "un": re.compile(r".{3,}(?:ed|able|ible|ing|al|ive|ful|ary|ent|ous|ic)"),
    "non": re.compile(r"[^\W\d_]{4,}"),
}
_UNDOING, LACKING = ("un", "de", "dis", "no"), "less"
_SHORTEST_UNDONE, _SHORTEST_UNDONE_COMMON, _SHORTEST_LACKING = 4, 3, 3  # letters


def denied_in(word: str) -> str:
    """Return what a word denies by an affix; it need not be a word, and is "" if there is none.

    >>> denied_in("unshipped"), denied_in("nonsmoker"), denied_in("paperless"), denied_in("unlock")
    ('shipped', 'smoker', 'paper', '')
    """
    for prefix, deniable in _DENIABLE.items():
        if word.startswith(prefix) and deniable.fullmatch(word, len(prefix)):
            return word.removeprefix(prefix)
    is_lacking = word.endswith(LACKING) and len(word) >= _SHORTEST_LACKING + len(LACKING)
    return word.removesuffix(LACKING) if is_lacking else ""


def denials_of(word: str, stem: str) -> list[str]:
    """Return what a word denies or undoes by an affix, and what denies it or its stem.

    Some are no words.

    >>> denials_of("unshipped", "unship"), denials_of("deregister", "deregister")[0]
    (['shipped', 'ship'], 'register')
    >>> denials_of("beds", "bed")[:2], denials_of("register", "register")[1:3]
    (['bedsless', 'bedless'], ['nonregister', 'unregister'])
    """
    if denied := denied_in(word):
        return [denied, stem_of(denied)]
    lacked = [one for one in ([word] if word == stem else [word, stem]) if one.isalpha()]
    found = [one + LACKING for one in lacked if len(one) >= _SHORTEST_LACKING]
    found += [prefix + word for prefix, deniable in _DENIABLE.items() if deniable.fullmatch(word)]
    common = table_of("common")
    is_uncommon = word not in common and stem not in common
    may_be_undone = _may_be_undone(word)
    for prefix in _UNDOING:
        if is_uncommon and word.startswith(prefix) and _may_be_undone(word.removeprefix(prefix)):
            found.insert(0, word.removeprefix(prefix))
        if may_be_undone and common.keys().isdisjoint([prefix + word, prefix + stem]):
            found.append(prefix + word)
    return found


def _may_be_undone(word: str) -> bool:
    least = _SHORTEST_UNDONE_COMMON if word in table_of("common") else _SHORTEST_UNDONE
    return len(word) >= least


# ---- abbreviations ------------------------------------------------------------------------------

_SHORTEST = 3  # letters of an abbreviation that is not listed; two are too often chance
_LONGEST_COMMON = 8  # letters from which on a common word may be one
_INNER_VOWELS = re.compile(r"(?<!^)[aeiou]"), re.compile(r"(?<!^)[aeiouy]")
_NUMERONYM = re.compile("[a-z]([1-9][0-9]?)[a-z]")


@cache
def short_forms() -> dict[str, set[str]]:
    """Return what listed short forms stand for: abbreviations, units, members of classes."""
    found = defaultdict[str, set[str]](set)
    for short, *words in (*word_list("abbreviations"), *word_list("units")):
        found[short].update(words)
    for _, member, *shorts in word_list("classes"):
        for short in shorts:
            found[short].add(member)
    return dict(found)


def is_numeronym(word: str) -> bool:
    """Tell whether a plain word may count the letters of another, as "i18n" does."""
    return bool(_NUMERONYM.fullmatch(word))


@lru_cache(maxsize=1 << 14)
def is_short_form(word: str) -> bool:
    """Tell whether a plain word, or what it is a plural of, is listed as short, or a numeronym."""
    shorts = short_forms()
    return word in shorts or word[:-1] in shorts or bool(_NUMERONYM.fullmatch(word))


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
    shorts = short_forms()
    for one, other in ((short, long), (long, short)):
        listed = shorts.get(one) or (shorts.get(one[:-1]) if one.endswith("s") else None)
        if listed and (other in listed or look_up(other).stem in {look_up(w).stem for w in listed}):
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
    is_common = len(short) < _LONGEST_COMMON and int(table_of("common").get(short, "0")[0]) > 2
    is_member = classes_of_words().get(short, (-1, ""))[1] == short
    kinds = table_of("kinds").get(short, ())
    is_listed = short in table_of("numbers") or not {"counted"}.issuperset(kinds)
    if is_common or is_member or is_listed or not short.isalpha():
        return 0
    consonants = [vowels.sub("", long) for vowels in _INNER_VOWELS]
    if short in consonants and len(short) > 1:
        return 3
    if len(short) < _SHORTEST or len(long) - len(short) < 2:  # a letter less is a slip
        return 0
    if look_up(short).stem == look_up(long).stem:
        return 0
    if long.startswith(short):
        return 2
    if any(one.startswith(short) for one in consonants):
        return 3
    return 4 if short[-1] == long[-1] or not _INNER_VOWELS[0].search(short) else 0


# ---- persons -----------------------------------------------------------------------------------

_MOST_BEHIND = 3  # words behind the given name of a person
_SLIP = 0.75  # how alike a surname and a slip of it are, at least; short ones are one edit apart


def are_other_persons(text: str, key: str, written: str) -> bool:
    """Tell whether a query and a key begin with given names and share no word behind them.

    Of one given name and surname, what is between tells. Given are both as plain texts, and the
    key as written: the name of a person has capitals. Slips are shared, and initials tell nothing.
    Common words, as "mark", are no given names here.

    >>> are_other_persons("david cost", "david price", "David Price")
    True
    >>> are_other_persons("david prise", "david price", "David Price")
    False
    >>> are_other_persons("julia package", "julia library", "Julia library")
    False
    >>> are_other_persons("david paul price", "david peter price", "David Peter Price")
    True
    """
    (first, *ours), (their_first, *theirs) = text.split(" "), key.split(" ")
    if not (ours and theirs) or max(len(ours), len(theirs)) > _MOST_BEHIND:
        return False
    if {first, their_first} & {*ours, *theirs} or "".join(ours) == "".join(theirs):
        return False  # "Gabriel, Peter", "Ben Mac Dui"
    if min(map(len, [*ours, *theirs])) == 1 or not all(w[0].isupper() for w in written.split()):
        return False
    firsts = [look_up(first), look_up(their_first)]
    if first == their_first and len(ours) == len(theirs) > 1 and ours[-1] == theirs[-1]:
        del ours[-1], theirs[-1]
    if not all(one.group == given_names() and not one.is_common for one in firsts):
        return False
    return all(
        OSA.normalized_similarity(one, another) < _SLIP and OSA.distance(one, another) > 1
        for one in ours
        for another in theirs
    )
