"""What speaks for and against each candidate of a query: strings, words and meaning, as numbers.

L queries, C candidates of each, w words of a query, W words of a key, P different pairs of words
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations, count, pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA, JaroWinkler
from rapidfuzz.process import cpdist

from fuzzydict._arrays import ignore_invalid, slices
from fuzzydict.search.keys import (
    FACTS,
    SHORT,
    Keys,
    Query,
    Word,
    exact_text,
    facts_of,
    head_of,
    is_word,
    weigh_words,
)
from fuzzydict.search.retrieve import Seen
from fuzzydict.text.directions import (
    are_other_persons,
    are_turned,
    aspect_of,
    is_directed,
    sides_in,
)
from fuzzydict.text.lexicon import (
    BOTH_KINDS,
    BROADER,
    NONE_IN_COMMON,
    ONE,
    Part,
    abbreviates,
    first_writings,
    given_names,
    is_other_compound,
    other_units,
    other_writings,
    part_of,
    relations_of,
    stem_of,
)
from fuzzydict.text.numbers import (
    Numbers,
    amounts_of,
    in_units_of,
    is_one_text,
    marks_of,
    told_by_numbers,
)
from fuzzydict.text.words import LONGEST


class Feature(NamedTuple):
    """What is told of a query and a candidate.

    Attributes:
        name: of the feature.
        sign: what the odds do where it rises: they rise (1), fall (-1), or either (0).
        group: what it belongs to when an answer is explained.
    """

    name: str
    sign: int
    group: str


#: The group, the sign and the names of features.
_LISTED = (
    ("meaning", 1, "nearness; nearness above the usual"),
    ("meaning", 1, "nearness by the encoder; nearness by the encoder above the usual"),
    ("spelling", 1, "n-grams; edits; edits from the beginning"),
    ("meaning", 1, "meant, of the query; meant, of the key"),
    ("words", 1, "matched, of the query; matched, of the key"),
    ("words", 1, "worst word of the query; worst word of the key"),
    ("meaning", 1, "may be related, of the query"),
    ("spelling", 1, "initials; conventional abbreviation; abbreviation"),
    ("words", 1, "the same numbers; the same amounts"),
    ("against", -1, "opposites; other members of a class; other numbers; numbers left out"),
    ("against", -1, "turned round; denied; another word of like letters"),
    ("against", -1, "other kinds of one thing"),
    ("words", 1, "one head"),
    ("against", -1, "left over, of the query; left over, of the key; alike beside these"),
    ("against", -1, "a word that makes another thing"),
    ("against", 1, "what is left over is near; what is left over of the query is near the key"),
    ("", 0, "words of the query; words of the key; share of known words; number of keys"),
    ("", 0, "length of the query"),
)
FEATURES = tuple(
    Feature(name, sign, group) for group, sign, names in _LISTED for name in names.split("; ")
)
# fmt: off
# The place of each, in order.
(
    NEAR, ABOVE, ENCODED, ENCODED_ABOVE, NGRAMS, EDITS, BEGINNING, MEANT, MEANT_KEY, MATCHED,
    MATCHED_KEY, WORST, WORST_KEY, RELATED, INITIALS, CONVENTIONAL, ABBREVIATED, SAME_NUMBERS,
    SAME_AMOUNTS, OPPOSED, SIBLINGS, OTHER_NUMBERS, NUMBERS_LEFT, TURNED, DENIED, OTHER_WORD,
    OTHER_KINDS, ONE_HEAD, LEFT, LEFT_KEY, ALIKE_BESIDE, VARIETY, LEFT_NEAR, LEFT_NEAR_KEY, WORDS,
    WORDS_KEY, KNOWN, COUNT, LENGTH,
) = range(len(FEATURES))
# fmt: on
SIGNS = np.array([feature.sign for feature in FEATURES], np.float32)
#: From here on features tell whether a key is right, not which: kinds, heads, what is left over.
WHETHER = OTHER_KINDS
CONTEXT = WORDS  # the first feature without a direction

#: What is compared of two words; the judge weighs it. Kinds of abbreviations follow "one stem" as
#: `abbreviates` numbers them.
PAIR = (
    *("bias", "edits", "edits squared", "edits squared, both known"),
    *("edits squared, both common", "edits squared, short, one is no word"),
    *("one stem", "conventional abbreviation", "beginning", "without vowels", "letters in order"),
    *("share of the letters", "cosine", "cosine squared", "cosine by a slip"),
    *("one meaning", "one is broader", "other kinds of one thing", "no meaning in common"),
    *("opposites", "other members of a class", "other digits"),
    *("other thing that holds the other", "kind of the other"),
)
BIAS, OF_EDITS, SQUARED, BOTH_KNOWN, BOTH_COMMON, SHORT_WORD, ONE_STEM, CONVENTION = range(8)
OF_LETTERS, COSINE, COSINE_SQUARED, BY_SLIP, ONE_MEANING = range(11, 16)
KINDRED, UNRELATED, OPPOSITES, OTHER_MEMBERS, OTHER_DIGITS, HOLDS, IS_KIND = range(17, 24)
_OF_MEANING = slice(COSINE, UNRELATED + 1)
FEW_WORDS, FEW_LETTERS = 6, 20  # of a text; more are told as so many
UNMATCHED = 0.5
_PAIRS = 1 << 13  # of words whose meanings are compared at a time
SAME = 0.8  # how alike words are that both have
#: Which of `PAIR` tells of a word of a key that is part of a word of a query.
HELD = {Part.OF_ANOTHER: HOLDS, Part.OF_ITS_KIND: IS_KIND}


# ---- the words of queries ---------------------------------------------------------------------


class Asked(NamedTuple):
    """The different words of L queries; row 0 stands for no word, so U + 1 rows.

    Attributes:
        words: the words, U.
        columns: the numbers of the words of each query, (L, w).
        facts: as those of the keys' words, (U + 1,).
        units: their vectors, of length one, (U + 1, E).
        weights: rare in English, and among the keys, (U + 1,).
    """

    words: list[Word]
    columns: NDArray[np.int32]
    facts: NDArray[Any]
    units: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, queries: Sequence[Query], keys: Keys) -> Asked:
        """Return the words of queries."""
        different = {word.text: word for query in queries for word in query.words}
        words, numbers = list(different.values()), dict(zip(different, count(1), strict=False))
        width = max([len(query.words) for query in queries])
        rows = [[numbers[word.text] for word in query.words] for query in queries]
        columns = np.array([row + [0] * (width - len(row)) for row in rows], np.int32)
        facts = np.zeros(len(words) + 1, FACTS)
        units = np.zeros((len(words) + 1, keys.table.size), np.float32)
        weights = np.zeros(len(words) + 1, np.float32)
        stems = [keys.stems.get(word.entry.stem, -2) for word in words]
        members = [keys.members.get((word.entry.group, word.entry.member), -1) for word in words]
        facts[0]["stem"] = -2
        facts[1:] = facts_of(words, stems, members)
        units[1:] = [word.unit for word in words]
        weights[1:] = keys.weights_of(words)
        return cls(words, columns, facts, units, weights)


# ---- pairs of words ---------------------------------------------------------------------------


def pairs_of(
    asked: Asked,
    keys: Keys,
    a: NDArray[np.intp],
    b: NDArray[np.intp],
    cosines: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return what `PAIR` names of words of queries and of keys, (24, P).

    Given are their numbers, and the cosines of their vectors, (P,).
    """
    words = asked.words
    names = [name for name in FACTS.names or () if name != "meanings"]
    x = {name: asked.facts[name][a] for name in names}
    y = {name: keys.facts[name][b] for name in names}
    strings = ["", *[word.text for word in words]]
    left, right = [strings[i] for i in a.tolist()], [keys.strings[j] for j in b.tolist()]
    phi = np.zeros((len(PAIR), len(a)), np.float32)
    phi[BIAS] = 1
    edits = cpdist(left, right, scorer=OSA.normalized_similarity, dtype=np.float32)
    phi[OF_EDITS] = edits = edits * ((a > 0) & (b > 0))
    phi[SQUARED] = square = edits * edits
    both_known, both_common = x["known"] & y["known"], x["common"] & y["common"]
    phi[BOTH_KNOWN], phi[BOTH_COMMON] = square * both_known, square * both_common
    is_short = np.minimum(x["length"], y["length"]) <= SHORT
    phi[SHORT_WORD] = square * (is_short & ~(both_known | both_common))
    phi[ONE_STEM] = x["stem"] == y["stem"]
    near = np.maximum(cosines, 0)
    phi[COSINE] = sure = near * (x["sure"] & y["sure"])
    phi[COSINE_SQUARED], phi[BY_SLIP] = sure * sure, near - sure
    differ = edits < 1
    if any(word.entry.group >= 0 or word.entry.unit for word in words):
        of_one_group = (x["group"] == y["group"]) & (y["member"] > 0)
        are_same = x["member"] == y["member"]
        phi[CONVENTION] = of_one_group & are_same & differ
        phi[OTHER_MEMBERS] = of_one_group & ~are_same | other_units()[x["unit"], y["unit"]]
    for number, word in enumerate(words, 1):
        are = are_opposites(word, keys, b) if word.entry.opposites else None
        if are is not None:
            phi[OPPOSITES] += are & (a == number)
    phi[OTHER_DIGITS] = x["digit"] & y["digit"] & differ
    of_stem = y["letters of the stem"]
    may = (of_stem & x["letters of the stem"] == of_stem) & x["word"] & y["word"]
    for i in may.nonzero()[0].tolist():  # not the key the query, which may be an abbreviation
        if part := part_of(right[i], left[i]):
            phi[HELD[part], i] = 1
    some = ((x["first"] == y["first"]) & (x["length"] != y["length"])).nonzero()[0]
    own, letters = x["letters"][some], y["letters"][some]
    both = own & letters
    may = (both == own) | (both == letters) | (x["abbreviation"] | y["abbreviation"])[some]
    for i in some[may & (phi[CONVENTION, some] == 0)].tolist():
        if kind := abbreviates(left[i], right[i]):
            phi[ONE_STEM + kind, i] = 1
            if kind > 1:
                lengths = len(left[i]), len(right[i])
                phi[OF_LETTERS, i] = min(lengths) / max(lengths)
    are_forms = (phi[ONE_STEM] > 0) | (phi[CONVENTION] > 0)
    for some in slices(len(a), _PAIRS):  # as many as fit in a cache, in rows
        of_both = asked.facts["meanings"][a[some]], keys.facts["meanings"][b[some]]
        related = relations_of(*[np.ascontiguousarray(one.T) for one in of_both])
        related *= ~are_forms[some]
        for place, one in enumerate((ONE, BROADER, BOTH_KINDS, NONE_IN_COMMON), ONE_MEANING):
            phi[place, some] = related == one
    return phi


def are_opposites(word: Word, keys: Keys, flat: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """Return which words of keys, (P,), or what they are forms of, are opposites of a word.

    It is None if no key has any.
    """
    are, opposites = None, word.entry.opposites
    if keys.stems.keys().isdisjoint(opposites) and keys.numbers.keys().isdisjoint(opposites):
        return None
    for opposite in opposites:
        stem, number = keys.stems.get(opposite, -2), keys.numbers.get(opposite, -2)
        if max(stem, number) >= 0:
            are = np.zeros(len(flat), np.bool_) if are is None else are
            are |= (keys.facts["stem"][flat] == stem) | (flat == number)
    return are


class Table(NamedTuple):
    """How the words of queries and candidates compare.

    Attributes:
        strengths: how far they are spelled alike, mean one thing, match, and may be related,
            (4, L, C, w, W).
        unlike: how far other words are spelled alike, (L, C, w, W).
        conventional: whether one is short for the other, (L, C, w, W); None if none are.
        opposed, siblings, kindred: whether they are opposites, other members of a class, or other
            kinds of one thing; likewise.
    """

    strengths: NDArray[np.float32]
    unlike: NDArray[np.float32]
    conventional: NDArray[np.float32] | None
    opposed: NDArray[np.float32] | None
    siblings: NDArray[np.float32] | None
    kindred: NDArray[np.float32] | None

    @classmethod
    def of(
        cls,
        asked: Asked,
        keys: Keys,
        theirs: NDArray[np.int32],
        units: NDArray[np.float32],
        weights: NDArray[np.float32],
    ) -> Table:
        """Compare each different pair of words once.

        Given are the words of the candidates, (L, C, W), and their vectors, (L, C, W, E).
        """
        size, (L, C, W) = len(keys.word_units), theirs.shape
        numbers = asked.columns[:, None, :, None].astype(np.int64) * size + theirs[:, :, None, :]
        places, first, back = np.unique(numbers.ravel(), return_index=True, return_inverse=True)
        a, b = np.divmod(places, size)
        own = asked.units[asked.columns]  # (L, w, E)
        cosines = own @ units.reshape(L, C * W, -1).swapaxes(1, 2)
        cosines = cosines.reshape(L, -1, C, W).swapaxes(1, 2).ravel()[first]
        phi = pairs_of(asked, keys, a, b, cosines)
        told = np.empty((5, len(a)), np.float32)  # spelled, meant, matched, related, unlike
        told[2] = np.einsum("i,ip->p", weights, phi)
        told[0] = told[2] - np.einsum("i,ip->p", weights[_OF_MEANING], phi[_OF_MEANING])
        told[:3:2] = 1 / (1 + np.exp(-told[:3:2]))
        told[1], same = phi[COSINE], phi[OF_EDITS] == 1
        told[3] = asked.facts["digit"][a] == keys.facts["digit"][b]
        told[3] *= keys.table.size > 0  # by letters alone nothing is known of meanings
        told[3] -= phi[KINDRED] + phi[UNRELATED]
        told[4] = phi[[BOTH_KNOWN, BOTH_COMMON, IS_KIND]].max(axis=0) * (1 - phi[COSINE])
        np.maximum(told[4], phi[HOLDS], out=told[4])
        told[4] *= ~(same | phi[[ONE_STEM, CONVENTION]].any(axis=0))
        told[:3, same] = 1
        real = (a > 0) & (b > 0)
        told *= real
        against = [
            (phi[i] * real)[back].reshape(numbers.shape) if phi[i].any() else None
            for i in (CONVENTION, OPPOSITES, OTHER_MEMBERS, KINDRED)
        ]
        table = told.take(back, axis=1).reshape(5, *numbers.shape)
        return cls(table[:4], table[4], *against)


# ---- features ----------------------------------------------------------------------------------


class Block(NamedTuple):
    """L queries and their candidates, and what is told of them.

    Attributes:
        X: the features, (L, C, F), set step by step.
        queries: the queries, each with words.
        keys: the keys.
        slots: those of the candidates, (L, C).
        theirs: the numbers of the words of these, (L, C, W).
        table: how the words of both compare.
    """

    X: NDArray[np.float32]
    queries: Sequence[Query]
    keys: Keys
    slots: NDArray[np.intp]
    theirs: NDArray[np.integer[Any]]
    table: Table


@ignore_invalid
def align(
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    seen: Seen,
    weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the `FEATURES` of the candidates of L queries with words, (L, C, F).

    Given are the slots of the candidates, (L, C), and what is seen of them; ``weights`` weigh what
    `PAIR` names, (24,).
    """
    asked, X = Asked.of(queries, keys), np.zeros((*slots.shape, len(FEATURES)), np.float32)
    theirs = keys.columns[slots, : max(int(keys.counts[slots].max()), 1)]  # (L, C, W)
    share, own = weigh_words(asked.weights, asked.facts, asked.columns)
    other, counts = weigh_words(keys.weights, keys.facts, theirs)
    sure = (share * asked.facts["sure"][asked.columns]).sum(1)[:, None]
    X[..., NEAR], X[..., ABOVE] = seen.near * sure, seen.above / 10 * sure
    X[..., ENCODED], X[..., ENCODED_ABOVE] = seen.encoded, seen.encoded_above / 10
    X[..., NGRAMS] = seen.of_ngrams
    compare_strings(X, queries, keys, slots)
    units = keys.word_units[theirs]
    table = Table.of(asked, keys, theirs, units, weights)
    block = Block(X, queries, keys, slots, theirs, table)
    if theirs.shape[2] > 1 or asked.columns.shape[1] > 1:
        match_several(block, weights)
    tell_apart(block)
    compare_wholes(block)
    oppose(block)
    _cover(block, asked, share[:, None], other, units)
    compare_numbers(X, queries, keys, slots, theirs, other)
    lengths = np.array([[len(query.text)] for query in queries])
    X[..., WORDS] = np.minimum(own, FEW_WORDS)[:, None] / FEW_WORDS
    X[..., WORDS_KEY] = np.minimum(counts, FEW_WORDS) / FEW_WORDS
    X[..., KNOWN], X[..., COUNT] = sure, np.log(max(keys.total, 1)) / 10
    X[..., LENGTH] = np.minimum(lengths, FEW_LETTERS) / FEW_LETTERS
    for i, query in enumerate(queries):
        align_amounts(X[i], query, keys, slots[i], weights)
    return X


_SEEN = [NEAR, ABOVE, ENCODED, ENCODED_ABOVE, NGRAMS, LENGTH]  # of the query as it is written


def align_amounts(
    x: NDArray[np.float32],
    query: Query,
    keys: Keys,
    slots: NDArray[np.intp],
    weights: NDArray[np.float32],
) -> list[int]:
    """Align a query anew with those of its candidates, (C,), that have its amounts in other units.

    Their features are set in ``x``, (C, F), but for what was seen. Return which they are.
    """
    asked, places = query.asked[:LONGEST], defaultdict[str, list[int]](list)
    for j, slot in enumerate(slots.tolist() if amounts_of(asked) else ()):
        if written := in_units_of(asked, exact_text(keys.names[slot])):
            places[written].append(j)
    for written, some in places.items():
        none = Seen(*np.zeros((6, 1, len(some)), np.float32))
        anew = align(keys.table.queries([written]), keys, slots[None, some], none, weights)[0]
        anew[:, _SEEN] = x[np.ix_(some, _SEEN)]
        x[some] = anew
    return [j for some in places.values() for j in some]


def compare_strings(
    X: NDArray[np.float32], queries: Sequence[Query], keys: Keys, slots: NDArray[np.intp]
) -> None:
    """Set how alike queries and candidates are as strings; the arguments are those of a `Block`."""
    ours, texts = [query.text for query in queries], [keys.texts[i] for i in slots.ravel().tolist()]
    plain, joined = [[text.replace(" ", "") for text in some] for some in (ours, texts)]
    for place, of_queries, of_keys, measure in (
        (EDITS, plain, joined, OSA),
        (BEGINNING, ours, texts, JaroWinkler),
    ):
        each = [text for text in of_queries for _ in range(slots.shape[1])]
        alike = cpdist(each, of_keys, scorer=measure.normalized_similarity, dtype=np.float32)
        X[..., place] = alike.reshape(slots.shape)


# ---- one word that stands for several ------------------------------------------------------------

_INITIALS = range(2, 6)  # letters that may be initials of several words
_LEAST_JOINED = 5  # letters of a word that may be two
_LEAST_AFTER = 4  # letters of a word that an initial may be joined to
#: Of a candidate, words of the query and of the candidate that stand for each other.
_Match: TypeAlias = tuple[int, slice, slice]


def match_several(block: Block, weights: NDArray[np.float32]) -> None:
    """Match words that stand for several of the other: initials, terms, words written as one.

    Initials and terms count as much as a conventional abbreviation.
    """
    X, queries, keys, slots, theirs, table = block
    by_convention = float(np.float32(1 / (1 + np.exp(-weights[BIAS] - weights[CONVENTION]))))

    def raise_to(strength: float, *at: Any) -> None:
        for place in (0, 2, 3) if keys.table.size else (0, 2):
            one = table.strengths[place][at]
            np.maximum(one, strength, out=one)
        table.unlike[at] = 0

    for i, query in enumerate(queries):
        for j, rows, columns in _initials_in(query, keys, slots[i], theirs[i]):
            raise_to(by_convention, i, j, rows, columns)
        for j, rows, columns in _joined_in(query, keys, theirs[i]):
            raise_to(1.0, i, j, rows, columns)
        for j, rows, columns in _initial_joined_in(query, keys, theirs[i]):
            raise_to(by_convention, i, j, rows, columns)
        for j, rows, columns, is_first in _letters_of_names_in(query, keys, theirs[i]):
            spelled = table.strengths[0, i, j]
            if max(spelled[rows].max(), spelled[:, columns].max()) < by_convention:
                if is_first:
                    raise_to(SAME, i, j, rows, columns)
                else:
                    X[i, j, SIBLINGS] = 1
        for j, rows, columns in _terms_in(query, keys, theirs[i]):
            raise_to(by_convention, i, j, rows, columns)
            is_whole = columns.start == 0 and not theirs[i, j, columns.stop :].any()
            if is_whole and rows.stop - rows.start == len(query.words):
                X[i, j, CONVENTIONAL] = 1
        for j in (X[i, :, EDITS] == 1).nonzero()[0].tolist():
            if is_one_text(query.text, keys.texts[slots[i, j]]):
                raise_to(1.0, i, j)


def _initials_in(
    query: Query, keys: Keys, slots: NDArray[np.intp], theirs: NDArray[np.integer[Any]]
) -> Iterator[_Match]:
    """Yield where a word of one is the initials of words of the other."""
    sizes = range(_INITIALS.start, min(_INITIALS.stop, theirs.shape[1] + 1))
    short = [(m, word.text) for m, word in enumerate(query.words) if len(word.text) in sizes]
    if short:
        for j, slot in enumerate(slots.tolist()):
            initials = "".join([word[0] for word in keys.texts[slot].split(" ")])
            if len(initials) > 1:
                for m, text in short:
                    first = initials.find(text)
                    if first >= 0:
                        yield j, slice(m, m + 1), slice(first, first + len(text))
    initials = "".join([word.text[0] for word in query.words])
    for first, end in combinations(range(len(initials) + 1), 2):
        text = initials[first:end]
        number = keys.numbers.get(text) if len(text) in _INITIALS else None
        if number is not None and initials.find(text) == first:
            for j, m in zip(*(theirs == number).nonzero(), strict=True):
                yield j, slice(first, end), slice(m, m + 1)


def _joined_in(query: Query, keys: Keys, theirs: NDArray[np.integer[Any]]) -> Iterator[_Match]:
    """Yield where two words of one are written as one word of the other."""
    words, numbers, first_of = query.words, keys.numbers, first_writings()
    for k, (one, other) in enumerate(pairwise(words)):
        for whole in _wholes(one.text, other.text):
            # "timeout s" is no plural.
            if whole != one.entry.stem and (stem := keys.stems.get(whole)) is not None:
                for j, m in zip(*(keys.facts["stem"][theirs] == stem).nonzero(), strict=True):
                    yield j, slice(k, k + 2), slice(m, m + 1)
    for m, word in enumerate(words):
        for cut in range(2, len(word.text) - 1) if len(word.text) >= _LEAST_JOINED else ():
            begin, end = word.text[:cut], word.text[cut:]
            first = numbers.get(first_of.get(begin, begin))
            if first is not None and (second := numbers.get(first_of.get(end, end))) is not None:
                both = (theirs[:, :-1] == first) & (theirs[:, 1:] == second)
                for j, k in zip(*both.nonzero(), strict=True):
                    yield j, slice(m, m + 1), slice(k, k + 2)


def _wholes(one: str, other: str) -> list[str]:
    """Return the stems of two words as one: "firstname" of "1st name"."""
    ways = [[text, *other_writings().get(text, ())] for text in (one, other)]
    return [stem_of(first + second) for first, second in product(*ways)]


def _initial_joined_in(
    query: Query, keys: Keys, theirs: NDArray[np.integer[Any]]
) -> Iterator[_Match]:
    """Yield where a word and the initial of the one before are one word of the other: "fname".

    The one word is none that is known, so there is a table of words.
    """
    facts, numbers = keys.facts, keys.numbers if keys.table.size else {}
    for k, (one, other) in enumerate(pairwise(query.words)):
        number = numbers.get(one.text[0] + other.text)
        if number is not None and len(other.text) >= _LEAST_AFTER and not facts["word"][number]:
            for j, m in zip(*(theirs == number).nonzero(), strict=True):
                yield j, slice(k, k + 2), slice(m, m + 1)
    for m, word in enumerate(query.words):
        number = numbers.get(word.text[1:])
        if number is not None and len(word.text) > _LEAST_AFTER and not is_word(word):
            both = (facts["first"][theirs[:, :-1]] == ord(word.text[0])) & (theirs[:, 1:] == number)
            for j, k in zip(*both.nonzero(), strict=True):
                yield j, slice(m, m + 1), slice(k, k + 2)


def _letters_of_names_in(
    query: Query, keys: Keys, theirs: NDArray[np.integer[Any]]
) -> Iterator[tuple[int, slice, slice, bool]]:
    """Yield where a letter of one and a given name of the other are, and whether it begins so.

    "R. Miller" may be "Robert Miller", and is not "Kate Miller". Those that begin so come first.
    """
    facts, given_name = keys.facts, given_names()
    found = list[tuple[int, int, int, bool]]()
    for m, word in enumerate(query.words if len(query.words) > 1 else ()):
        if len(word.text) == 1 and word.text.isalpha():
            may = facts["group"][theirs] == given_name
        elif word.entry.group == given_name:
            may = (facts["length"][theirs] == 1) & ~facts["digit"][theirs]
        else:
            continue
        are_first = facts["first"][theirs] == ord(word.text[0])
        found += [(j, m, k, bool(are_first[j, k])) for j, k in np.argwhere(may).tolist()]
    for j, m, k, is_first in sorted(found, key=lambda one: not one[3]):
        yield j, slice(m, m + 1), slice(k, k + 1), is_first


def _terms_in(query: Query, keys: Keys, theirs: NDArray[np.integer[Any]]) -> list[_Match]:
    """Return where words of both name one thing, as the lexicon has it."""
    found = list[_Match]()
    for start, size, others in query.terms:
        for other in others:
            stems = [keys.stems.get(stem, -2) for stem in other]
            if -2 in stems or len(stems) > theirs.shape[1]:
                continue
            of_keys = keys.facts["stem"][theirs]
            for first in range(theirs.shape[1] - len(stems) + 1):
                columns = slice(first, first + len(stems))
                for j in (of_keys[:, columns] == stems).all(axis=1).nonzero()[0].tolist():
                    found.append((j, slice(start, start + size), columns))
    return found


def _cover(
    block: Block,
    asked: Asked,
    share: NDArray[np.float32],
    other: NDArray[np.float32],
    units: NDArray[np.float32],
) -> None:
    """Set how far the words of each are matched by those of the other, and what is left over.

    Given are the weights of the words as shares of their sum, (L, 1, w) and (L, C, W), and the
    vectors of the words of the candidates, (L, C, W, E).
    """
    X, _, keys, _, theirs, table = block
    X[..., DENIED], left, heads, varieties = 1, [], [], []
    of_query, of_key = [_highest(table.strengths, axis) for axis in (4, 3)]  # (4, L, C, w), with W
    sides = [
        (asked.facts, asked.columns[:, None], share, of_query),
        (keys.facts, theirs, other, of_key),
    ]
    for place, (facts, words, shares, best) in enumerate(sides):
        X[..., MEANT + place : WORST : 2] = np.moveaxis((best[1:3] * shares).sum(3), 0, 2)
        X[..., WORST + place] = np.where(shares > 0, best[2], 1).min(2)
        heads.append(head_of(facts, words))
        denies = facts["denies"][words]
        if denies.any():
            X[..., DENIED] *= undenied(denies, best)
        left.append(shares * (~facts["filler"][words] & (best[2] < UNMATCHED)))
        X[..., LEFT + place] = left[place].sum(2)
        varieties.append((left[place] * facts["variety"][words]).any(2))
    rows, columns = np.ogrid[: len(X), : X.shape[1]]
    X[..., ONE_HEAD] = table.strengths[2][rows, columns, *heads]
    X[..., RELATED] = (of_query[3] * share).sum(2)
    unlike = (_highest(table.unlike, 3) * share).sum(2)
    X[..., OTHER_WORD] = np.maximum(X[..., OTHER_WORD], unlike)
    X[..., DENIED] = (1 - X[..., DENIED]) / 2
    # "hide the menu" is not "show the menu", however many letters they share.
    both_left = (X[..., LEFT] > 0) & (X[..., LEFT_KEY] > 0)
    X[..., VARIETY] = (varieties[0] | varieties[1]) & ~both_left
    X[..., ALIKE_BESIDE] = both_left * (X[..., EDITS] + X[..., BEGINNING]) / 2
    a = (left[0] @ asked.units[asked.columns])[:, :, None]  # (L, C, 1, E)
    b = np.stack([left[1], other], axis=2) @ units
    squares = np.einsum("lcie,lcie->lci", a, a) * np.einsum("lcie,lcie->lci", b, b)
    near = np.einsum("lcie,lcje->lcj", a, b) / np.sqrt(np.maximum(squares, np.float32(1e-24)))
    X[..., LEFT_NEAR : LEFT_NEAR_KEY + 1] = np.maximum(near, 0)


def undenied(denies: NDArray[np.int8], best: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the product of ``1 - 2 p`` over the words of a text, (...).

    p is how far the other text has what a word denies, and not the denial: "not able to see" denies
    nothing of "blind". So two denials are none. ``best`` tells how far each word is spelled as, and
    matched by, one of the other text, (3 or more, ..., W).
    """
    spelled, _, matched, *_ = best
    # The two words behind a denial, or the one before: "smoke-free".
    denied = np.zeros_like(matched)
    denied[..., :-1] = matched[..., 1:]
    denied[..., :-2] = np.maximum(denied[..., :-2], matched[..., 2:])
    before = np.zeros_like(matched)
    before[..., 1:] = matched[..., :-1]
    denied = np.where(denies > 0, denied, before) * ((denies != 0) & (spelled < SAME))
    return np.asarray(np.multiply.reduce(1 - 2 * denied, axis=-1))


def _highest(table: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Return the maximum along a short axis; several times as fast as `max`."""
    return np.asarray(reduce(np.maximum, np.moveaxis(table, axis, 0)))


# ---- whole texts -------------------------------------------------------------------------------


def tell_apart(block: Block) -> None:
    """Set what tells texts of much the same words apart.

    That are words that change sides of a direction; other aspects, "created_at" and "created_by",
    which count as other members of a class; other persons; and compounds of other kinds.
    """
    X, queries, keys, slots, _, table = block
    own, counts = np.array([[len(query.words)] for query in queries]), keys.counts[slots]
    as_others = [OTHER_WORD, OTHER_KINDS] if keys.table.size else [OTHER_WORD]
    for i, query in enumerate(queries):
        count = len(query.words)
        if count == 1:
            continue
        ours = sides_in(query.text) if is_directed(query.asked, query.text) else []
        aspect, is_name = aspect_of(query.text), query.words[0].entry.group == given_names()
        for j in (counts[i] > 1).nonzero()[0].tolist() if ours or aspect or is_name else ():
            text, written = keys.texts[slots[i, j]], exact_text(keys.names[slots[i, j]])
            if ours and is_directed(written, text):
                rows = table.strengths[0, i, j, :count]
                places = [(m, int(row.argmax())) for m, row in enumerate(rows) if row.max() > SAME]
                X[i, j, TURNED] = are_turned(places, ours, sides_in(text))
            if aspect and aspect_of(text) not in ("", aspect):
                X[i, j, SIBLINGS] = 1
            elif is_name and are_other_persons(query.text, text, written):
                X[i, j, [SIBLINGS, *as_others]] = 1
    for i, j in np.argwhere(own != counts).tolist():
        text, other = queries[i].text, keys.texts[slots[i, j]]
        if text.endswith(other) or other.endswith(text):
            X[i, j, as_others] = is_other_compound(text, other)


def compare_wholes(block: Block) -> None:
    """Set which of query and key abbreviates the other as a whole."""
    X, queries, keys, slots, theirs, table = block
    own, counts = np.array([[len(query.words)] for query in queries]), keys.counts[slots]
    is_one, key_is_one = own == 1, counts == 1
    if table.conventional is not None:
        X[..., CONVENTIONAL] += is_one & key_is_one & (table.conventional[:, :, 0, 0] > 0)
    differ = is_one != key_is_one
    if not np.count_nonzero(differ):
        return
    joined = [query.text.replace(" ", "") for query in queries]
    first = {name: keys.facts[name][theirs[:, :, 0]] for name in ("first", "length")}
    may = differ & (first["first"] == [[ord(one[0])] for one in joined])
    for i, j in np.argwhere(may).tolist():
        text = keys.texts[slots[i, j]]
        are_apart = {*queries[i].text.split(" ")}.isdisjoint(text.split(" "))
        whole = text.replace(" ", "")
        if are_apart and joined[i] != whole and (kind := abbreviates(joined[i], whole)):
            X[i, j, CONVENTIONAL if kind == 1 else ABBREVIATED] = 1
    may = is_one & ([[len(one)] for one in joined] <= counts) | key_is_one & (
        first["length"] <= own
    )
    for i, j in np.argwhere(may & differ).tolist():
        short, long = queries[i].text, keys.texts[slots[i, j]]
        fillers = keys.facts["filler"][theirs[i, j]].tolist()
        if key_is_one[i, j]:
            short, long = long, short
            fillers = [word.entry.is_filler for word in queries[i].words]
        letters = [word[0] for word in long.split(" ")]
        telling = [one for one, is_filler in zip(letters, fillers, strict=False) if not is_filler]
        X[i, j, INITIALS] = short in ("".join(letters), "".join(telling))


def compare_numbers(
    X: NDArray[np.float32],
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    theirs: NDArray[np.integer[Any]],
    other: NDArray[np.float32],
) -> None:
    """Set whether query and candidate have other numbers, or marks as "A-" has.

    The arguments are those of a `Block`, and the weights of the candidates' words, (L, C, W). Where
    all numbers of a candidate are in amounts, which weigh nothing, it has the same amounts.
    """
    written = keys.table.written
    asked = written([query.asked for query in queries])
    may_differ = np.array([[has_signs(query)] for query in queries])
    have_digits = keys.facts["digit"][theirs]
    tell = (have_digits & (other > 0)).any(2)
    for i, j in np.argwhere(have_digits.any(2) | may_differ).tolist():
        (name,) = written([str.__str__(keys.names[slots[i, j]])])
        told = told_by_numbers(queries[i].text, keys.texts[slots[i, j]], asked[i], name)
        if told == Numbers.SAME:
            X[i, j, SAME_NUMBERS if tell[i, j] else SAME_AMOUNTS] = 1
        elif told == Numbers.MARKED:  # A+ and A- are members of a class as well
            X[i, j, [OTHER_NUMBERS, SIBLINGS]] = 1
        elif told != Numbers.NOTHING:
            X[i, j, OTHER_NUMBERS if told == Numbers.OTHER else NUMBERS_LEFT] = 1


def has_signs(query: Query) -> bool:
    """Tell whether a query has numbers, marks, or a letter that a key may mark."""
    for word in query.words:
        if word.entry.has_digit or len(word.text) == 1:
            return True
    return any(marks_of(query.asked[:LONGEST]))


def oppose(block: Block) -> None:
    """Set whether words are opposites, or other members of a class, that are spelled like no other.

    They count as far as the words beside them match: "ordinary" in a description says little of
    "unusual". Nearness in meaning does not excuse them: "distance" is near to "miles", not to "km".
    """
    X, queries, keys, slots, _, table = block
    told = (OPPOSED, table.opposed), (SIBLINGS, table.siblings), (OTHER_KINDS, table.kindred)
    sizes = np.array([len(query.words) for query in queries])
    for place, against in told:
        if against is None:
            continue
        query, key, i, j = np.nonzero(against)
        spelled, _, matched, _ = table.strengths[:, query, key]  # (P, w, W) each
        each = np.arange(len(query))
        spelled[each, i, j] = 0
        alike = np.maximum(spelled[each, i].max(axis=1), spelled[each, :, j].max(axis=1))
        size, size_key = sizes[query], keys.counts[slots[query, key]]
        of_query = _beside(matched.max(axis=2), i, size)
        of_key = _beside(matched.max(axis=1), j, size_key)
        rest = np.where(size + size_key > 2, np.maximum(of_query, of_key), 1)
        are_others = alike < SAME
        np.maximum.at(X[..., place], (query, key), are_others * rest)
        if place == SIBLINGS:  # and other units are other amounts
            words = zip(query.tolist(), i.tolist(), strict=True)
            are_units = [queries[at].words[k].entry.unit > 0 for at, k in words]
            others = are_others * rest * np.array(are_units, np.bool_)
            np.maximum.at(X[..., OTHER_NUMBERS], (query, key), others)


def _beside(
    matched: NDArray[np.float32], places: NDArray[np.intp], counts: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the mean of each row but for one place, (P,), given how many numbers it has."""
    others = matched.sum(axis=1) - matched[np.arange(len(matched)), places]
    return np.asarray(others / np.maximum(counts - 1, 1))
