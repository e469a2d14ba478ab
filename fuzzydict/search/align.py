"""What speaks for and against each candidate of a query: strings, words and meaning, as numbers.

L queries, C candidates of each, w words of a query, W words of a key, P different pairs of words
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rapidfuzz.distance import OSA, Indel, JaroWinkler
from rapidfuzz.process import cdist, cpdist

from fuzzydict._arrays import ignore_invalid
from fuzzydict.search.keys import MOST_WORDS, SHORT, Keys, Word, facts_of, is_word, shares_of
from fuzzydict.text.lexicon import (
    Part,
    abbreviates,
    is_directed,
    is_numeronym,
    is_one_text,
    numbers_of,
    other_code,
    other_number,
    other_units,
    part_of,
    same_terms,
    stem_of,
)


class Query(NamedTuple):
    """A query as it is compared.

    Attributes:
        asked: the query.
        text: its words in the first spelling, joined by blanks.
        words: these, looked up.
        vector: that of the text, (E,), if an embedding gave it; the words have theirs.
    """

    asked: str
    text: str
    words: list[Word]
    vector: NDArray[np.float32] | None = None


def by_share(query: Query, shares: ArrayLike) -> NDArray[np.float32]:
    """Return the vectors of the words of a query together, (E,), given the share of each."""
    units = np.array([word.unit for word in query.words])
    return np.asarray(np.asarray(shares, np.float32) @ units)


class Found(NamedTuple):
    """The candidates of L queries among the keys.

    Attributes:
        slots: of the candidates, (L, C).
        of_ngrams: the cosines of their n-grams, (L, C).
        near: the cosines of the vectors of their words, (L, C).
        above: how far these are above the usual, in standard deviations, (L, C).
        encoded: the cosines by an encoder of whole texts, (L, C); zeros without one.
        encoded_above: as ``above``.
    """

    slots: NDArray[np.intp]
    of_ngrams: NDArray[np.float32]
    near: NDArray[np.float32]
    above: NDArray[np.float32]
    encoded: NDArray[np.float32]
    encoded_above: NDArray[np.float32]


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
    ("spelling", 1, "n-grams; letters; edits; edits from the beginning; as written"),
    ("spelling", 1, "spelled, of the query; spelled, of the key"),
    ("meaning", 1, "meant, of the query; meant, of the key"),
    ("words", 1, "matched, of the query; matched, of the key"),
    ("words", 1, "worst word of the query; worst word of the key"),
    ("words", 1, "matched but for fillers, of the query; matched but for fillers, of the key"),
    ("spelling", 1, "initials; three initials or more; conventional abbreviation; abbreviation"),
    ("words", 1, "the same numbers"),
    ("against", -1, "opposites; other members of a class; other numbers; numbers left out"),
    ("against", -1, "turned round; denied; another word of like letters; other small words"),
    ("against", -1, "left over, of the query; left over, of the key"),
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
    NEAR, ABOVE, ENCODED, ENCODED_ABOVE, NGRAMS, LETTERS, EDITS, BEGINNING, WRITTEN, SPELLED,
    SPELLED_KEY, MEANT, MEANT_KEY, MATCHED, MATCHED_KEY, WORST, WORST_KEY, TELLING,
    TELLING_KEY, INITIALS, LONG_INITIALS, CONVENTIONAL, ABBREVIATED, SAME_NUMBERS, OPPOSED,
    SIBLINGS, OTHER_NUMBERS, NUMBERS_LEFT, TURNED, DENIED, OTHER_WORD, OTHER_SMALL, LEFT,
    LEFT_KEY, LEFT_NEAR, LEFT_NEAR_KEY, WORDS, WORDS_KEY, KNOWN, COUNT, LENGTH,
) = range(len(FEATURES))
# fmt: on
SIGNS = np.array([feature.sign for feature in FEATURES], np.float32)
#: The features of what is left over, which tell whether a key is right, not which.
LEFT_OVER = slice(LEFT, LEFT_NEAR_KEY + 1)
CONTEXT = WORDS  # the first feature without a direction

#: What is compared of two words; the judge weighs it. Kinds of abbreviations follow "one stem" as
#: `abbreviates` numbers them.
PAIR = (
    *("bias", "edits", "edits squared", "edits squared, both known"),
    *("edits squared, both common", "edits squared, short, one is no word"),
    *("one stem", "conventional abbreviation", "beginning", "without vowels", "letters in order"),
    *("share of the letters", "cosine", "cosine squared", "cosine by a slip"),
    *("opposites", "other members of a class", "other digits"),
    *("other thing that holds the other", "kind of the other"),
)
BIAS, OF_EDITS, SQUARED, BOTH_KNOWN, BOTH_COMMON, SHORT_WORD, ONE_STEM, CONVENTION = range(8)
OF_LETTERS, COSINE, COSINE_SQUARED, BY_SLIP = range(11, 15)
OPPOSITES, OTHER_MEMBERS, OTHER_DIGITS, HOLDS, IS_KIND = range(15, 20)
_OF_MEANING = slice(COSINE, BY_SLIP + 1)
FEW_WORDS, FEW_LETTERS = 6, 20  # of a text; more are told as so many
UNMATCHED = 0.5
#: Which of `PAIR` tells of a word of a key that is part of a word of a query.
HELD = {Part.OF_ANOTHER: HOLDS, Part.OF_ITS_KIND: IS_KIND}


# ---- the words of queries ---------------------------------------------------------------------


class Asked(NamedTuple):
    """The different words of L queries; row 0 stands for no word, so U + 1 rows.

    Attributes:
        words: the words, U.
        columns: the numbers of the words of each query, (L, w).
        facts: as those of the keys' words, by name, (U + 1,).
        units: their vectors, of length one, (U + 1, E).
        weights: rare in English, and among the keys, (U + 1,).
    """

    words: list[Word]
    columns: NDArray[np.int32]
    facts: dict[str, NDArray[Any]]
    units: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, queries: Sequence[Query], keys: Keys) -> Asked:
        """Return the words of queries."""
        numbers: dict[str, int] = {}
        words: list[Word] = []
        width = max(len(query.words) for query in queries)
        columns = np.zeros((len(queries), min(width, MOST_WORDS)), np.int32)
        for row, query in zip(columns, queries, strict=True):
            for place, word in enumerate(query.words):
                if word.text not in numbers:
                    words.append(word)
                    numbers[word.text] = len(words)
                row[place] = numbers[word.text]
        stems = [keys.stems.get(word.entry.stem, -2) for word in words]
        of_words = facts_of(words, stems, map(keys.known_member, words))
        facts = {name: np.append(of.dtype.type(0), of) for name, of in of_words.items()}
        facts["stem"][0] = -2
        units = np.zeros((len(words) + 1, keys.table.size), np.float32)
        for row, word in zip(units[1:], words, strict=True):
            row[:] = word.unit
        counts = np.array([keys.frequency(one.entry.stem) for one in words], np.float64)
        weights = np.zeros(len(words) + 1, np.float32)
        weights[1:] = facts["weight"][1:] * keys.rarity(counts)
        return cls(words, columns, facts, units, weights)


# ---- pairs of words ---------------------------------------------------------------------------


class Pairs(NamedTuple):
    """How P pairs of words compare.

    Attributes:
        evidence: what `PAIR` names, (P, 20).
        same: whether the two are one word, (P,).
        real: whether both are words, (P,).
    """

    evidence: NDArray[np.float32]
    same: NDArray[np.bool_]
    real: NDArray[np.bool_]


def pairs_of(asked: Asked, keys: Keys, a: NDArray[np.intp], b: NDArray[np.intp]) -> Pairs:
    """Return how words of queries and of keys compare, given their numbers, (P,) and (P,)."""
    ours, theirs = [word.text for word in asked.words], keys.strings
    x = {name: fact[a] for name, fact in asked.facts.items()}
    y = {name: fact[b] for name, fact in keys.facts_by_name.items()}
    real = (a > 0) & (b > 0)
    strings = ["", *ours]
    left, right = [strings[i] for i in a.tolist()], [theirs[j] for j in b.tolist()]
    edits = cpdist(left, right, scorer=OSA.normalized_similarity, dtype=np.float32) * real
    same = (edits == 1) & real
    phi = np.zeros((len(PAIR), len(a)), np.float32).T
    phi[:, BIAS] = 1
    phi[:, OF_EDITS] = edits
    square = edits * edits
    phi[:, SQUARED] = square
    both_known, both_common = x["known"] & y["known"], x["common"] & y["common"]
    phi[:, BOTH_KNOWN], phi[:, BOTH_COMMON] = square * both_known, square * both_common
    is_short = np.minimum(x["length"], y["length"]) <= SHORT
    phi[:, SHORT_WORD] = square * (is_short & ~(both_known | both_common))
    phi[:, ONE_STEM] = x["stem"] == y["stem"]
    sure = x["sure"] & y["sure"]
    different, places = _numbered(b, len(keys.word_units))
    cosines = asked.units @ keys.word_units[different].T
    near = np.maximum(cosines[a, places], 0)
    phi[:, COSINE] = near * sure
    phi[:, COSINE_SQUARED] = phi[:, COSINE] ** 2
    phi[:, BY_SLIP] = near * ~sure
    of_one_member = (x["member"] == y["member"]) & (y["member"] > 0) & ~same
    phi[:, CONVENTION] = of_one_member
    both = x["letters"] & y["letters"]
    of_stem = y["letters of the stem"]
    may = (of_stem & x["letters of the stem"] == of_stem) & x["word"] & y["word"]
    for i in np.flatnonzero(may).tolist():  # not the key the query, which may be an abbreviation
        if part := part_of(right[i], left[i]):
            phi[i, HELD[part]] = 1
    may = (x["first"] == y["first"]) & (x["length"] != y["length"])
    may &= real & ~same & ~of_one_member
    may &= (both == x["letters"]) | (both == y["letters"]) | x["abbreviation"] | y["abbreviation"]
    for i in np.flatnonzero(may).tolist():
        kind = abbreviates(left[i], right[i])
        if kind:
            phi[i, ONE_STEM + kind] = 1
            if kind > 1:
                lengths = len(left[i]), len(right[i])
                phi[i, OF_LETTERS] = min(lengths) / max(lengths)
    for number, word in enumerate(asked.words, 1):
        are = are_opposites(word, keys, b)
        if are is not None:
            phi[:, OPPOSITES] += are & (a == number)
    others = (x["group"] == y["group"]) & (x["member"] != y["member"]) & (y["member"] > 0)
    others |= other_units()[x["unit"], y["unit"]]
    phi[:, OTHER_MEMBERS] = others
    phi[:, OTHER_DIGITS] = x["digit"] & y["digit"] & ~same
    return Pairs(phi, same, real)


def _numbered(numbers: NDArray[np.intp], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the different ones of numbers below a count, rising, and which of them each is."""
    places = np.zeros(count, np.intp)
    places[numbers] = 1
    different = places.nonzero()[0]
    places[different] = np.arange(len(different))
    return different, places[numbers]


def are_opposites(word: Word, keys: Keys, flat: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """Return which words of keys, (P,), or what they are forms of, are opposites of a word.

    It is None if no key has any.
    """
    stems, are = keys.facts_by_name["stem"], None
    for opposite in word.entry.opposites:
        stem, number = keys.stems.get(opposite, -2), keys.numbers.get(opposite, -2)
        if max(stem, number) >= 0:
            are = np.zeros(len(flat), np.bool_) if are is None else are
            are |= (stems[flat] == stem) | (flat == number)
    return are


def strengths(
    pairs: Pairs, weights: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return how likely pairs of words mean one thing, (P,), and how likely by spelling alone."""
    evidence = pairs.evidence
    odds = evidence @ weights
    by_spelling = odds - evidence[:, _OF_MEANING] @ weights[_OF_MEANING]
    both = []
    for one in (odds, by_spelling):
        share = np.asarray(1 / (1 + np.exp(-one)), np.float32)
        share[pairs.same] = 1
        both.append(share * pairs.real)
    return both[0], both[1]


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
    theirs: NDArray[np.int32]
    table: Table

    def fact(self, name: str) -> NDArray[Any]:
        """Return a fact of each word of the candidates, (L, C, W)."""
        fact: NDArray[Any] = self.keys.facts_by_name[name][self.theirs]
        return fact


@ignore_invalid
def align(
    queries: Sequence[Query],
    keys: Keys,
    found: Found,
    weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the `FEATURES` of the candidates of L queries with words, (L, C, F).

    ``weights`` weigh what `PAIR` names, (20,).
    """
    asked = Asked.of(queries, keys)
    slots = found.slots
    X = np.zeros((*slots.shape, len(FEATURES)), np.float32)
    width = int(np.count_nonzero(keys.columns[slots], axis=2).max(initial=1))
    theirs = keys.columns[slots][:, :, :width]  # (L, C, W)
    share, other = shares_of(asked.weights[asked.columns]), shares_of(keys.weights[theirs])
    sure_share = (share * asked.facts["sure"][asked.columns]).sum(1)[:, None]
    X[..., NEAR], X[..., ABOVE] = found.near * sure_share, found.above / 10 * sure_share
    X[..., ENCODED], X[..., ENCODED_ABOVE] = found.encoded, found.encoded_above / 10
    X[..., NGRAMS] = found.of_ngrams
    for x, query, of_query in zip(X, queries, slots.tolist(), strict=True):
        compare_strings(x, query, keys, of_query)
    block = Block(X, queries, keys, slots, theirs, Table.of(asked, keys, theirs, weights))
    match_several(block, weights)
    _cover(block, share[:, None], other, asked)
    of_several(block)
    _contradict(block, asked)
    _leave_over(block, share[:, None], other, asked)
    count = np.count_nonzero(asked.columns, axis=1)[:, None]
    length = np.array([[len(query.text)] for query in queries])
    X[..., WORDS] = np.minimum(count, FEW_WORDS) / FEW_WORDS
    X[..., WORDS_KEY] = np.minimum(np.count_nonzero(theirs, axis=2), FEW_WORDS) / FEW_WORDS
    X[..., KNOWN] = sure_share
    X[..., COUNT] = np.log(max(keys.total, 1)) / 10
    X[..., LENGTH] = np.minimum(length, FEW_LETTERS) / FEW_LETTERS
    return X


_LONGEST = 256  # characters of a text as written that are compared


def compare_strings(x: NDArray[np.float32], query: Query, keys: Keys, slots: list[int]) -> None:
    """Set how alike a query and its candidates are as strings, in (C, F)."""
    texts, names = [keys.texts[slot] for slot in slots], [keys.names[slot] for slot in slots]
    ours, joined = query.text.replace(" ", ""), [text.replace(" ", "") for text in texts]
    measured = [
        (LETTERS, ours, joined, Indel),
        (EDITS, ours, joined, OSA),
        (BEGINNING, query.text, texts, JaroWinkler),
    ]
    if query.asked != ours or names != joined:  # but for capitals: "c" is C, and not C++
        as_written = keys.table.written([query.asked, *map(str.__str__, names)])
        asked, *written = [text[:_LONGEST].lower() for text in as_written]
        measured.append((WRITTEN, asked, written, Indel))
    for place, text, others, measure in measured:
        alike = cdist([text], others, scorer=measure.normalized_similarity, dtype=np.float32)
        x[:, place] = alike[0]
    if len(measured) == 3:
        x[:, WRITTEN] = x[:, LETTERS]


class Table(NamedTuple):
    """How the words of queries and candidates compare, each (L, C, w, W)."""

    matched: NDArray[np.float32]
    spelled: NDArray[np.float32]
    meant: NDArray[np.float32]
    unlike: NDArray[np.float32]
    conventional: NDArray[np.float32] | None  # one is short for the other
    opposed: NDArray[np.float32] | None
    siblings: NDArray[np.float32] | None

    @classmethod
    def of(
        cls, asked: Asked, keys: Keys, theirs: NDArray[np.int32], weights: NDArray[np.float32]
    ) -> Table:
        """Compare each different pair of words once."""
        size = len(keys.word_units)
        numbers = asked.columns[:, None, :, None].astype(np.int64) * size + theirs[:, :, None, :]
        if len(asked.columns) == 1:
            places, back = numbers.ravel(), None
        else:
            places, back = np.unique(numbers.ravel(), return_inverse=True)
        pairs = pairs_of(asked, keys, *np.divmod(places, size))
        matched, spelled = strengths(pairs, weights)

        def whole(one: NDArray[np.float32]) -> NDArray[np.float32]:
            return (one if back is None else one[back]).reshape(numbers.shape)

        evidence, meant = pairs.evidence, pairs.evidence[:, COSINE]
        unlike = evidence[:, [BOTH_KNOWN, BOTH_COMMON, IS_KIND]].max(axis=1) * (1 - meant)
        unlike = np.maximum(unlike, evidence[:, HOLDS])
        unlike *= ~(evidence[:, [ONE_STEM, CONVENTION]].any(axis=1) | pairs.same)
        meant = np.where(pairs.same, 1, meant) * pairs.real
        against = [
            whole(pairs.evidence[:, i] * pairs.real) if pairs.evidence[:, i].any() else None
            for i in (CONVENTION, OPPOSITES, OTHER_MEMBERS)
        ]
        return cls(
            whole(matched), whole(spelled), whole(meant.astype(np.float32)), whole(unlike), *against
        )


# ---- one word that stands for several ------------------------------------------------------------

_INITIALS = range(2, 6)  # letters that may be initials of several words
_LEAST_JOINED = 5  # letters of a word that may be two
_LEAST_AFTER = 4  # letters of a word that an initial may be joined to


def match_several(block: Block, weights: NDArray[np.float32]) -> None:
    """Match words that stand for several of the other: initials, terms, words written as one.

    Initials and terms count as much as a conventional abbreviation.
    """
    X, queries, keys, slots, theirs, table = block
    by_convention = float(1 / (1 + np.exp(-(weights[0] + weights[CONVENTION]))))
    for i, query in enumerate(queries):
        count = len(query.words)
        for j, k, m, size in _initials_in(query, keys, slots[i], theirs[i]):
            rows, columns = (m, slice(k, k + size)) if j > 0 else (slice(k, k + size), m)
            _raise_to(table, (i, abs(j) - 1, rows, columns), by_convention)
        for at in _joined_in(query, keys, theirs[i]):
            _raise_to(table, (i, *at), 1.0)
        for at in _initial_joined_in(query, keys, theirs[i]):
            _raise_to(table, (i, *at), by_convention)
        for j, ours, others in _terms_in(query, keys, theirs[i]):
            _raise_to(table, (i, j, ours, others), by_convention)
            is_whole = others.start == 0 and not theirs[i, j, others.stop :].any()
            if is_whole and ours.stop - ours.start == count:
                X[i, j, CONVENTIONAL] = 1
        for j in (X[i, :, EDITS] == 1).nonzero()[0].tolist():
            if is_one_text(query.text, keys.texts[slots[i, j]]):
                _raise_to(table, (i, j, slice(None), slice(None)), 1.0)


def _raise_to(table: Table, at: tuple[Any, ...], strength: float) -> None:
    for one in (table.matched, table.spelled):
        one[at] = np.maximum(one[at], strength)
    table.unlike[at] = 0


def _initials_in(
    query: Query, keys: Keys, slots: NDArray[np.intp], theirs: NDArray[np.int32]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield where a word of the query is the initials of words of a candidate, and the reverse.

    Each is ``(j + 1, first, word, count)``, with ``-(j + 1)`` where a word of the candidate is the
    initials of words of the query; the candidate j, the first of the words, the one, how many.
    """
    short = [(m, w.text) for m, w in enumerate(query.words) if len(w.text) in _INITIALS]
    if short:
        for j, initials in enumerate(keys.initials(slots.tolist())):
            if len(initials) > 1:
                for m, text in short:
                    first = initials.find(text)
                    if first >= 0:
                        yield j + 1, first, m, len(text)
    if len(query.words) > 1:
        initials = "".join([word.text[0] for word in query.words])
        lengths = keys.facts_by_name["length"][theirs]
        may = (lengths > 1) & (lengths <= min(len(initials), _INITIALS[-1]))
        for j, m in np.argwhere(may).tolist():
            text = keys.strings[theirs[j, m]]
            first = initials.find(text)
            if first >= 0:
                yield -(j + 1), first, m, len(text)


def _joined_in(query: Query, keys: Keys, theirs: NDArray[np.int32]) -> Iterator[tuple[Any, ...]]:
    """Yield where two words of one are written as one word of the other: (j, words, words)."""
    words, numbers = query.words, keys.numbers
    for k, (one, other) in enumerate(pairwise(words)):
        whole = stem_of(one.text + other.text)
        # "timeout s" is no plural.
        if whole != one.entry.stem and (stem := keys.stems.get(whole)) is not None:
            for j, m in zip(*(keys.facts_by_name["stem"][theirs] == stem).nonzero(), strict=True):
                yield j, slice(k, k + 2), m
    for m, word in enumerate(words):
        for cut in range(2, len(word.text) - 1) if len(word.text) >= _LEAST_JOINED else ():
            first = numbers.get(word.text[:cut])
            if first is not None and (second := numbers.get(word.text[cut:])) is not None:
                both = (theirs[:, :-1] == first) & (theirs[:, 1:] == second)
                for j, k in zip(*both.nonzero(), strict=True):
                    yield j, m, slice(k, k + 2)


def _initial_joined_in(
    query: Query, keys: Keys, theirs: NDArray[np.int32]
) -> Iterator[tuple[Any, ...]]:
    """Yield where a word and the initial of the one before are one word of the other: "fname".

    Each is (j, words, words). The one word is none that is known, so there is a table of words.
    """
    facts, numbers = keys.facts_by_name, keys.numbers if keys.table.size else {}
    for k, (one, other) in enumerate(pairwise(query.words)):
        number = numbers.get(one.text[0] + other.text)
        if number is not None and len(other.text) >= _LEAST_AFTER and not facts["word"][number]:
            for j, m in zip(*(theirs == number).nonzero(), strict=True):
                yield j, slice(k, k + 2), m
    for m, word in enumerate(query.words):
        number = numbers.get(word.text[1:])
        if number is not None and len(word.text) > _LEAST_AFTER and not is_word(word):
            both = (facts["first"][theirs[:, :-1]] == ord(word.text[0])) & (theirs[:, 1:] == number)
            for j, k in zip(*both.nonzero(), strict=True):
                yield j, m, slice(k, k + 2)


def _terms_in(
    query: Query, keys: Keys, theirs: NDArray[np.int32]
) -> Iterator[tuple[int, slice, slice]]:
    """Yield where words of both name one thing, as the lexicon has it: (j, words, words)."""
    stems_of_query = [word.entry.stem for word in query.words] if keys.table.size else []
    for start, size, others in same_terms(stems_of_query):
        for other in others:
            stems = [keys.stems.get(stem, -2) for stem in other]
            if -2 in stems or len(stems) > theirs.shape[1]:
                continue
            of_keys = keys.facts_by_name["stem"][theirs]
            for first in range(theirs.shape[1] - len(stems) + 1):
                columns = slice(first, first + len(stems))
                for j in (of_keys[:, columns] == stems).all(axis=1).nonzero()[0].tolist():
                    yield j, slice(start, start + size), columns


def _cover(
    block: Block, share: NDArray[np.float32], other: NDArray[np.float32], asked: Asked
) -> None:
    """Set how far the words of each are matched by those of the other."""
    X, table = block.X, block.table
    for i, one in ((SPELLED, table.spelled), (MEANT, table.meant), (MATCHED, table.matched)):
        X[..., i] = (_highest(one, 3) * share).sum(2)
        X[..., i + 1] = (_highest(one, 2) * other).sum(2)
    of_query, of_key = _highest(table.matched, 3), _highest(table.matched, 2)
    X[..., OTHER_WORD] = (_highest(table.unlike, 3) * share).sum(2)
    X[..., WORST] = np.where(share > 0, of_query, 1).min(2)
    X[..., WORST_KEY] = np.where(other > 0, of_key, 1).min(2)
    telling = share * ~asked.facts["filler"][asked.columns][:, None]
    X[..., TELLING] = _mean(of_query, np.where(telling.any(2, keepdims=True), telling, share))
    telling = other * ~block.fact("filler")
    X[..., TELLING_KEY] = _mean(of_key, np.where(telling.any(2, keepdims=True), telling, other))


def _highest(table: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Return the maximum along a short axis; several times as fast as `max`."""
    highest: NDArray[np.float32] = reduce(np.maximum, np.moveaxis(table, axis, 0))
    return highest


def _mean(values: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray((values * weights).sum(2) / np.maximum(weights.sum(2), np.float32(1e-9)))


def of_several(block: Block) -> None:
    """Set which of query and key abbreviates the other as a whole, and where words are turned."""
    X, queries, keys, slots, theirs, table = block
    own, counts = np.array([[len(query.words)] for query in queries]), keys.counts[slots]
    if table.conventional is not None:
        X[..., CONVENTIONAL] += ((own == 1) & (counts == 1)) * table.conventional[:, :, 0, 0]
    joined = [query.text.replace(" ", "") for query in queries]
    facts, beginnings = keys.facts_by_name, theirs[:, :, 0]
    firsts, lengths = facts["first"][beginnings], facts["length"][beginnings]
    may = (firsts == [[ord(one[0])] for one in joined]) & ((own == 1) != (counts == 1))
    for i, j in np.argwhere(may).tolist():
        whole = keys.texts[slots[i, j]].replace(" ", "")
        if joined[i] != whole:
            kind = abbreviates(joined[i], whole)
            if kind:
                X[i, j, CONVENTIONAL if kind == 1 else ABBREVIATED] = 1
    sizes = np.array([[len(one)] for one in joined])
    may = ((own == 1) & (sizes <= counts)) | ((counts == 1) & (lengths <= own))
    may &= own != counts
    for i, j in np.argwhere(may).tolist():
        text, is_ours = keys.texts[slots[i, j]], len(queries[i].words) == 1
        short = joined[i] if is_ours else text
        of = _initials(text, keys, theirs[i, j]) if is_ours else _initials_of(queries[i])
        X[i, j, INITIALS], X[i, j, LONG_INITIALS] = short in of, short in of and len(short) > 2
    for i, query in enumerate(queries):
        count = len(query.words)
        if count > 1 and is_directed(query.asked):
            for j in (counts[i] > 1).nonzero()[0].tolist():
                if is_directed(keys.names[slots[i, j]]):
                    X[i, j, TURNED] = _is_turned(table.spelled[i, j, :count, : counts[i, j]])


def _initials(text: str, keys: Keys, columns: NDArray[np.int32]) -> set[str]:
    """Return the first letters of the words of a key, and of those that are no fillers."""
    words = text.split()
    fillers = keys.facts_by_name["filler"][columns[: len(words)]].tolist()
    some = [word for word, filler in zip(words, fillers, strict=False) if not filler]
    return {"".join(word[0] for word in several) for several in (words, some)}


def _initials_of(query: Query) -> set[str]:
    some = [word for word in query.words if not word.entry.is_filler]
    return {"".join(word.text[0] for word in several) for several in (query.words, some)}


SAME = 0.8  # how alike words are that both have


def _is_turned(spelled: NDArray[np.float32]) -> bool:
    """Tell whether words that both have stand in another order."""
    places = [int(row.argmax()) for row in spelled if row.max() > SAME]
    return len(places) > 1 and places != sorted(places)


def _contradict(block: Block, asked: Asked) -> None:
    """Set what speaks against a key: opposites, other members, other numbers, a denial."""
    X, table = block.X, block.table
    oppose(block)
    denied = asked.facts["denies"][asked.columns].sum(1)[:, None]
    X[..., DENIED] = (denied + block.fact("denies").sum(2)) % 2
    ours = asked.facts["function"][asked.columns][:, None] & (_highest(table.spelled, 3) < SAME)
    others = block.fact("function") & (_highest(table.spelled, 2) < SAME)
    X[..., OTHER_SMALL] = ours.any(2) & others.any(2)
    has_digit = np.asarray(block.fact("digit").any(2))
    compare_numbers(X, block.queries, block.keys, block.slots, has_digit)


def compare_numbers(
    X: NDArray[np.float32],
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    has_digit: NDArray[np.bool_],
) -> None:
    """Set whether query and candidate have other numbers, given which candidates have any."""
    ours = [numbers_of(query.text) for query in queries]
    has_any = np.array([bool(one) for one in ours])[:, None]
    for i, j in np.argwhere(has_digit | has_any).tolist():
        text = keys.texts[slots[i, j]]
        theirs = numbers_of(text)
        if not (ours[i] and theirs) and _counts_letters(queries[i].text, text):
            continue
        as_written = queries[i].asked, str.__str__(keys.names[slots[i, j]])
        if other_code(queries[i].text, text) or other_number(*as_written):
            X[i, j, OTHER_NUMBERS] = 1
        elif ours[i] == theirs or (X[i, j, EDITS] == 1 and is_one_text(queries[i].text, text)):
            X[i, j, SAME_NUMBERS] = 1
        elif sorted(ours[i]) == sorted(theirs):  # a day, a month and a year
            is_date = len(theirs) == 3 and any(len(number) == 4 for number in theirs)
            X[i, j, SAME_NUMBERS if is_date else OTHER_NUMBERS] = 1
        else:
            more, less = Counter(ours[i]) - Counter(theirs), Counter(theirs) - Counter(ours[i])
            X[i, j, OTHER_NUMBERS if more and less else NUMBERS_LEFT] = 1


def _counts_letters(text: str, other: str) -> bool:
    """Tell whether a word of one text is short for a word of the other, as "i18n" is."""
    return any(
        abbreviates(a, b) == 1
        for a in text.split()
        for b in other.split()
        if is_numeronym(a) != is_numeronym(b)
    )


def oppose(block: Block) -> None:
    """Set whether words are opposites, or other members of a class, that are spelled like no other.

    Nearness in meaning does not count: "distance" is near to "miles", and does not excuse "km".
    """
    X, table = block.X, block.table
    for place, against in ((OPPOSED, table.opposed), (SIBLINGS, table.siblings)):
        for query, key, i, j in [] if against is None else np.argwhere(against).tolist():
            spelled = table.spelled[query, key]
            of_query = np.delete(spelled[i], j).max(initial=0)
            of_key = np.delete(spelled[:, j], i).max(initial=0)
            free = float((1 - of_query) * (1 - of_key))
            X[query, key, place] = max(X[query, key, place], free)


def _leave_over(
    block: Block, share: NDArray[np.float32], other: NDArray[np.float32], asked: Asked
) -> None:
    """Set how much of each nothing of the other matches, and how near this is."""
    X, _, keys, _, theirs, table = block
    is_filler = asked.facts["filler"][asked.columns][:, None]
    ours_left = share * (_highest(table.matched, 3) < UNMATCHED) * ~is_filler
    theirs_left = other * (_highest(table.matched, 2) < UNMATCHED) * ~block.fact("filler")
    X[..., LEFT], X[..., LEFT_KEY] = ours_left.sum(2), theirs_left.sum(2)
    at = ours_left.any(2).nonzero()
    a = (ours_left @ asked.units[asked.columns])[at]  # (P, E), as b
    lengths = np.einsum("pe,pe->p", a, a)
    shares = np.stack([theirs_left[at], other[at]], axis=1)
    both = shares @ keys.word_units[theirs[at]]  # (P, 2, E)
    for i, b in ((LEFT_NEAR, both[:, 0]), (LEFT_NEAR_KEY, both[:, 1])):
        squares = lengths * np.einsum("pe,pe->p", b, b)
        near = np.einsum("pe,pe->p", a, b) / np.sqrt(np.maximum(squares, np.float32(1e-24)))
        X[(*at, i)] = np.maximum(near, 0)
