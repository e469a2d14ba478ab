"""The forms of English words: plurals, tenses, British spellings, words derived from one stem."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.text.sketches import Sketches, bits_of
from fuzzydict.text.words import word_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray


# ---- British and American spellings ----------------------------------------------------------

_AFTER_L = "(?:ed|ings?|[eo]rs?|ation|ous|ments?|ful|ity)"
# What the British write, what Americans do, and what stands before it and after it. The letters
# before it keep short words apart: "four" and "for", "prise" and "prize", "filler" and "filer".
_SPELLINGS = (
    ("our", "or", "...", ""),  # colour, neighbourhood
    ("is", "iz", "...", "(?=(?:e[drs]?|ers|ings?|ations?|ational|able)$)"),
    ("ys", "yz", "..l", "(?=(?:e[drs]?|ers|ing)$)"),  # analyse
    ("re", "er", "..[bgt]|..uv", "(?=s?$)(?<!timbre)"),  # centre, manoeuvre
    ("red", "ered", "..[bgt]", "$"),
    ("ogue", "og", "..", "(?=s?$)"),
    ("ence", "ense", "..", "(?=[ds]?$)"),  # licence
    ("ae", "e", ".", "(?=[^lr])"),  # anaemia, but Michael and aerial
    ("oe", "e", ".", "(?=dem|str|soph|uv)"),
    ("oe", "e", "f|rrh|^am|^hom", ""),  # foetus, but poet and shoes
    ("oe", "e", "^", "(?=dem|str|soph)"),
    ("ae", "e", "^", "(?=sth|tio|on)"),
    ("ll", "l", "..[^aeiou][aeiou]|.[aeiou][aeiou]", f"(?={_AFTER_L}?$)"),  # travelled, dialled
    ("skil", "skill", "^", "(?=ful)"),
    ("wil", "will", "^", "(?=ful)"),
    ("odour", "odor", "^", ""),
    ("tyre", "tire", "^", "(?=s?$)"),
    ("programme", "program", "^", "(?=s?$)"),
    ("chequer", "checker", "^", ""),
    ("cheque", "check", "^", ""),
    ("grey", "gray", "", ""),
    ("aluminium", "aluminum", "", ""),
    ("sulph", "sulf", "", ""),
    ("mould", "mold", "", ""),
    ("moult", "molt", "^", ""),
    ("plough", "plow", "", ""),
    ("draught", "draft", "", ""),
    ("sceptic", "skeptic", "^", ""),
    ("jewellery", "jewelry", "^", ""),
    ("woollen", "woolen", "^", ""),
    ("moustache", "mustache", "^", ""),
    ("pyjama", "pajama", "^", ""),
    ("yoghurt", "yogurt", "^", ""),
    ("doughnut", "donut", "^", ""),
    ("practise", "practice", "^", ""),
    ("cosy", "cozy", "^", "$"),
    ("artefact", "artifact", "^", ""),
    ("mollusc", "mollusk", "^", ""),
    ("liquorice", "licorice", "^", ""),
    ("carburett", "carburet", "^", ""),
    ("omelette", "omelet", "^", ""),
    ("enquir", "inquir", "^", ""),
    ("ageing", "aging", "^", "$"),
    ("kerb", "curb", "^", "(?=s?$)"),
    ("dgement", "dgment", "..", ""),  # judgement
)


def _spelled_as(british: str, before: str, after: str) -> str:
    """Return a pattern that begins with letters, so that it is sought quickly."""
    parts = "|".join(f"(?<={part}{british})" for part in before.split("|")) if before else ""
    return f"{british}(?:{parts}){after}"


_BRITISH = re.compile("|".join(_spelled_as(one, *around) for one, _, *around in _SPELLINGS))
_AMERICAN = {british: american for british, american, *_ in _SPELLINGS}


@lru_cache(maxsize=1 << 14)
def american(word: str) -> str:
    """Return a plain word in one spelling for British and American English.

    The result is what spellings of one word have in common; it need not be a word.

    >>> american("colour"), american("organisation"), american("centre"), american("four")
    ('color', 'organization', 'center', 'four')
    """
    return _BRITISH.sub(lambda part: _AMERICAN[part[0]], word)


# ---- inflected words ----------------------------------------------------------------------------

_VOWEL = re.compile(r"[aeiouy]")
_TWICE = re.compile(r"([b-df-hj-np-tv-z])\1")


class _Ending(NamedTuple):
    """An ending, how many letters must be before it, and what replaces it."""

    text: str
    least: int
    bases: tuple[str, ...]
    doubles: bool = False  # the last consonant before it: "log", "logging"


def _by_last_letter(*endings: _Ending) -> dict[str, list[_Ending]]:
    found = dict[str, list[_Ending]]()
    for ending in endings:
        found.setdefault(ending.text[-1], []).append(ending)
    return found


_ENDINGS = _by_last_letter(
    _Ending("s", 2, ("",)),
    _Ending("'s", 2, ("",)),
    _Ending("es", 2, ("",)),
    _Ending("ies", 2, ("y",)),
    _Ending("ied", 2, ("y",)),
    _Ending("ices", 3, ("ex", "ix")),
    _Ending("ed", 2, ("", "e"), doubles=True),
    _Ending("ing", 2, ("", "e"), doubles=True),
    _Ending("ion", 5, ("", "e")),
)
_COMPARED = _by_last_letter(
    _Ending("er", 2, ("", "e"), doubles=True),
    _Ending("ier", 2, ("y",)),
    _Ending("est", 2, ("", "e"), doubles=True),
    _Ending("iest", 2, ("y",)),
)
_NO_ENDINGS = ("ss", "us", "is", "eed")  # "address", "status", "analysis", "speed"


def same_form(a: str, b: str) -> bool:
    """Tell whether two plain words are forms or spellings of one word, or one is a form's base.

    Forms of one word have the same first letter.

    >>> [same_form("caching", word) for word in ("cache", "caches", "cached", "cash")]
    [True, True, True, False]
    >>> same_form("https", "http"), same_form("status", "stat"), same_form("mice", "mouse")
    (False, False, True)
    """
    if american(a) == american(b):
        return True
    return a[0] == b[0] and not base_forms(a).isdisjoint(base_forms(b))


@lru_cache(maxsize=1 << 14)
def base_forms(word: str) -> frozenset[str]:
    """Return a word, and the words that it may be a form of; not all of them exist.

    >>> sorted(base_forms("proxies")), sorted(base_forms("stopped"))
    (['proxi', 'proxie', 'proxies', 'proxy'], ['stop', 'stopp', 'stoppe', 'stopped'])
    >>> "color" in base_forms("colours"), base_forms("centre") & base_forms("centers")
    (True, frozenset({'center'}))
    """
    bases = regular_bases(word).union(_irregular().get(word, ()))
    return bases.union(map(american, bases))


def regular_bases(word: str) -> frozenset[str]:
    """Return a word, and the words that it may be a form of by rule.

    The rules are those of English spelling, after the first step of M. F. Porter (1980), "An
    algorithm for suffix stripping".
    """
    bases = _without_ending(word, _ENDINGS)  # "connections": "connection", and of this "connect"
    return frozenset({word}.union(bases, *(_without_ending(base, _ENDINGS) for base in bases)))


@cache
def _irregular() -> dict[str, tuple[str, ...]]:
    """Return the bases of irregular forms, which WordNet lists."""
    return {form: tuple(of) for form, *of in word_list("irregular")}


def compared(word: str) -> set[str]:
    """Return what a word may be a comparative or superlative of.

    >>> sorted(compared("highest")), sorted(compared("bigger"))
    (['high', 'highe'], ['big', 'bigg', 'bigge'])
    """
    return _without_ending(word, _COMPARED)


def _without_ending(word: str, endings: Mapping[str, Sequence[_Ending]]) -> set[str]:
    bases: set[str] = set()
    if word[-1:] not in endings or word.endswith(_NO_ENDINGS):
        return bases
    for text, least, replacements, doubles in endings[word[-1]]:
        if not word.endswith(text):
            continue
        rest = word[: -len(text)]
        if len(rest) < least or not _VOWEL.search(rest):
            continue
        bases.update(rest + letters for letters in replacements)
        if doubles and _TWICE.fullmatch(rest[-2:]):
            bases.add(rest[:-1])
    return bases


# ---- derived words ------------------------------------------------------------------------------

_SHORTEST_STEM = 5  # letters of the stem that two derived words share
_DERIVED = re.compile(
    r"(?:i[sz]ation|i[sz]ing|i[sz]e[drs]?|ations?|at(?:e[ds]?|ing|ors?|ive)|[ts]ions?|ments?|ness"
    r"|an(?:ce|t)s?|en(?:ce|t)s?|[ai]ble|[ai]bility|[ai]bly|ives?|ions?|e[dr]s?|ors?|ings?|al(?:ly)?"
    r"|ists?|ity|ly|y|ies|es?|s)$"
)
_OF_INFLECTED, _OF_DERIVED = 0.95, 0.85  # likeness of two forms of one word, or of one stem


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return what is left of a word without its endings; "" if that is short.

    >>> stem("irrigation") == stem("irrigated"), stem("station")
    (True, '')
    """
    left = _DERIVED.sub("", american(word)).removesuffix("e")
    left = left[:-1] if left[-2:-1] == left[-1:] else left
    return left if len(left) >= _SHORTEST_STEM else ""


class Forms:
    """The forms of n words, for comparison with a word.

    Args:
        words: n words; more may be appended to the list.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words, self._sketches = words, Sketches(words, _sketch)

    def likeness(self, word: str, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return how alike a word and each of c words are as forms of one word, (c,); otherwise 0.

        Two spellings of one word are equal: 1. Its forms have the same first letter.

        Args:
            word: a plain word.
            places: the places of the c words among the n.

        >>> forms = Forms(["color", "colors", "irrigate", "irrigator", "irritation"])
        >>> print(forms.likeness("colour", np.array([0, 1, 2])).round(2))
        [1.   0.95 0.  ]
        >>> print(forms.likeness("irrigated", np.array([2, 3, 4])).round(2))
        [0.95 0.85 0.  ]
        """
        alike = np.zeros(len(places), np.float32)
        for _, column, likeness in self.found([word], places):
            alike[column] = likeness
        return alike

    def found(
        self,
        texts: Sequence[str],
        places: NDArray[np.intp],
        owners: NDArray[np.intp] | None = None,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield the `likeness` of each of L texts and its c words where it is not 0.

        Args:
            texts: L plain texts; phrases have no forms.
            places: the places of the c words of each, (L, c), or of all, (c,); or of the word of
                each pair, (P,).
            owners: the number of the text of each pair, (P,), if pairs are compared.

        Yields:
            The place of the text among the L, the column of the other (for a pair, its number), and
            the likeness.
        """
        last, word, bases, root = -1, "", frozenset[str](), ""
        asked = list(map(_sketch, texts))
        for row, column, place in self._sketches.sharing(asked, places, owners):
            if row != last:
                last, word = row, texts[row]
                is_word = " " not in word
                bases, root = (base_forms(word), stem(word)) if is_word else (frozenset(), "")
            other = self._words[place]
            likeness = 0.0
            if not bases.isdisjoint(base_forms(other)):
                likeness = _of_one_word(word, other)
            elif root and root == stem(other) and word[:1] == other[:1]:
                likeness = _OF_DERIVED
            if likeness:
                yield row, column, likeness


def _of_one_word(word: str, other: str) -> float:
    """Return how alike two words are that have a base in common."""
    if american(word) == american(other):
        return 1.0
    return _OF_INFLECTED if word[:1] == other[:1] else 0.0


@lru_cache(maxsize=1 << 14)
def _sketch(word: str) -> int:
    """Return bits that two words share if they are forms of one; a phrase has none."""
    if " " in word:
        return 0
    return bits_of(base_forms(word)) | bits_of([f"{stem(word)}-"] if stem(word) else [])
