"""The best key of one query: what retrieve, align and judge do for many, without blocks.

    n keys, C candidates, w words of the query, W words of a key at most, F features,
    P pairs of the C candidates and their W words

The numbers are those of the block, up to rounding; a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from fuzzydict._arrays import products
from fuzzydict.search import align as a
from fuzzydict.search.align import Query
from fuzzydict.search.judge import OF_BEST
from fuzzydict.search.keys import SHORT, Keys, Word, letters_of
from fuzzydict.search.retrieve import CANDIDATES, largest
from fuzzydict.search.score import Meaning
from fuzzydict.text.lexicon import Part, abbreviates, is_short_form, other_units, part_of
from fuzzydict.text.ngrams import ngrams


class _Asked(NamedTuple):
    """The words of a query.

    Attributes:
        query: the query.
        weights: of its words, w: they are rare in English, and among the keys.
        share: the weights as shares of their sum, w.
        trust: how far the vectors of the words can be trusted together.
        sure_share: of the words whose vectors are their own.
    """

    query: Query
    weights: list[float]
    share: list[float]
    trust: float
    sure_share: float

    @classmethod
    def of(cls, query: Query, keys: Keys) -> _Asked:
        """Return the words of a query."""
        words, weights = query.words, keys.weights_of(query.words)
        whole = max(sum(weights), 1e-9)
        share = [weight / whole for weight in weights]
        trust = sum([one * word.trust for one, word in zip(share, words, strict=True)])
        sure = sum([one for one, word in zip(share, words, strict=True) if word.trust == 1])
        return cls(query, weights, share, trust, sure)


class _Theirs(NamedTuple):
    """The words of the candidates, P.

    Attributes:
        keys: the keys that have them.
        numbers: theirs among all words of the keys, (P,).
        strings: the words.
        weights: what each of `PAIR` says against two words.
    """

    keys: Keys
    numbers: NDArray[np.intp]
    strings: list[str]
    weights: list[float]


class _Compared(NamedTuple):
    """How the words of the query and of the candidates compare.

    Attributes:
        strengths: how far they mean one thing, are spelled alike, and match, (3, w, P).
        unlike: how far other words are spelled alike, (w, P).
        conventional: whether one is short for the other, by convention, (w, P); None if none are.
        opposed: whether they are opposites, (w, P); None if none are.
        siblings: whether they are other members of a class, (w, P); None if none are.
    """

    strengths: NDArray[np.float32]
    unlike: NDArray[np.float32]
    conventional: NDArray[np.float32] | None
    opposed: NDArray[np.float32] | None
    siblings: NDArray[np.float32] | None


def best_of_one(
    query: Query, vector: NDArray[np.float32] | None, keys: Keys, meaning: Meaning
) -> tuple[int, float]:
    """Return the slot of the best key of a query with words, and the probability that it is right.

    ``vector`` is that of an encoder, (E,), if there is one.
    """
    asked, judge = _Asked.of(query, keys), meaning.judge
    x = np.zeros((min(CANDIDATES, len(keys)), len(a.FEATURES) + len(OF_BEST)), np.float32)
    slots = _retrieve(x, asked, vector, keys, meaning)
    width = min(keys.most_words, int(np.maximum.reduce(keys.counts[slots])))
    columns = keys.columns.take(slots, axis=0)[:, :width].astype(np.intp)
    a.compare_strings(x, query, keys, slots.tolist())
    is_single = width == len(query.words) == 1
    edits = x[None, :, a.EDITS] if is_single else None
    compared = _compare(asked, keys, columns.ravel(), edits, judge.pair)
    other = None
    if is_single:
        x[:, a.OTHER_WORD] = compared.unlike[0]
        x[:, a.SPELLED : a.TELLING_KEY + 1] = compared.strengths[:, 0].take(_OF_ONE_WORD, axis=0).T
        places = (a.CONVENTIONAL, a.OPPOSED, a.SIBLINGS)
        for place, are in zip(places, compared[2:], strict=True):
            if are is not None:
                x[:, place] = are[0]
        if query.words[0].entry.is_function:
            is_function = keys.facts_by_name["function"][columns[:, 0]]
            x[:, a.OTHER_SMALL] = is_function & (compared.strengths[1, 0] < a.SAME)
    else:
        other = keys.weights[columns]
        other /= np.maximum(np.add.reduce(other, axis=1, keepdims=True), np.float32(1e-9))
        _compare_several(x, asked, keys, slots, columns, other, compared, judge.pair)
    _contradict(x, asked, keys, slots, columns)
    x[:, a.WORDS : a.LENGTH + 1] = (
        min(len(query.words), a.FEW_WORDS) / a.FEW_WORDS,
        1 / a.FEW_WORDS,
        asked.sure_share,
        math.log(max(keys.total, 1)) / 10,
        min(len(query.text), a.FEW_LETTERS) / a.FEW_LETTERS,
    )
    if width > 1:
        x[:, a.WORDS_KEY] = np.minimum(keys.counts[slots], a.FEW_WORDS) / a.FEW_WORDS
    alive = keys.alive[slots] if len(keys.dead) else None
    place, odds = judge.best_of_one(x, keys.hashes[slots], alive)
    table = compared.strengths.reshape(3, len(query.words), *columns.shape)[:, :, place]
    _leave_over(
        x[place], asked, keys, columns[place], other if other is None else other[place], table
    )
    return int(slots[place]), judge.right_of_one(x[place], odds, place)


#: Which of the strengths each feature of the words is, if query and key have one word each.
_ORDER = np.array([1, 0, 2])
_OF_ONE_WORD = np.array([1, 1, 0, 0, 2, 2, 2, 2, 2, 2])


def _retrieve(
    x: NDArray[np.float32],
    asked: _Asked,
    vector: NDArray[np.float32] | None,
    keys: Keys,
    meaning: Meaning,
) -> NDArray[np.intp]:
    """Return the slots of the candidates, (C,), and set the features of n-grams and nearness."""
    weights = meaning.judge.glance.tolist()
    of_ngrams = keys.postings.likeness([ngrams(asked.query.text)])[0]
    odds = of_ngrams * (weights[0] + weights[1] * of_ngrams)
    told = []
    if vector is not None:
        near = _cosines(keys, vector)
        above = keys.background.above(near)
        odds += np.maximum(above, 0) * np.float32(weights[3])
        told.append((a.ENCODED, near, above, 1.0))
        near = keys.near_by_words(a.by_share(asked.query, asked.share)[None])[0]
        above = keys.table.background.above(near)
    else:
        near = _cosines(keys, meaning.vector_of(asked.query, asked.weights))
        above = keys.background.above(near)
    odds += np.maximum(above, 0) * np.float32(weights[2] * asked.trust)
    told.append((a.NEAR, near, above, asked.sure_share))
    if len(keys.dead):
        odds[keys.dead] = -np.inf
    n = len(odds)
    slots = largest(odds[None], CANDIDATES)[0] if n > CANDIDATES else np.arange(n)
    x[:, a.NGRAMS] = of_ngrams[slots]
    for place, near, above, share in told:
        x[:, place], x[:, place + 1] = near[slots] * share, above[slots] / 10 * share
    return slots


def _cosines(keys: Keys, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosines of a vector, (E,), and those of n keys; zeros where one is zero."""
    if not len(vector):
        return np.zeros(len(keys), np.float32)
    wide = vector.astype(np.float64)  # a square of a vector from a file may overflow
    near = products(keys.vectors, vector / max(math.sqrt(float(wide @ wide)), 1e-9))
    near *= keys.inverse_lengths
    return near


def _compare(
    asked: _Asked,
    keys: Keys,
    flat: NDArray[np.intp],
    edits: NDArray[np.float32] | None,
    pair: NDArray[np.float32],
) -> _Compared:
    """Return how the words of the query and those of the candidates, (P,), compare.

    ``edits`` tells how few edits are between them, (w, P), if this is known.
    """
    words, weights = asked.query.words, (-pair).tolist()
    facts, strings = keys.facts_by_name, [keys.strings[place] for place in flat.tolist()]
    theirs = _Theirs(keys, flat, strings, weights)
    if edits is None:
        texts = [word.text for word in words]
        edits = cdist(texts, strings, scorer=OSA.normalized_similarity, dtype=np.float32)
    found = np.zeros((3, *edits.shape), np.float32)
    units = keys.word_units.take(flat, axis=0)
    against: dict[int, NDArray[np.float32]] = {}
    unlike, same = np.zeros_like(edits), edits == 1
    are_one, holding = same.copy(), list[tuple[int, int]]()
    for i, word in enumerate(words):
        row = found[1, i]
        if keys.table.size:
            np.dot(units, word.unit, out=found[0, i])
        holding += [(i, j) for j in _weigh_spelling(row, unlike[i], edits[i], word, theirs)]
        stem = keys.stems.get(word.entry.stem)
        if stem is not None:
            is_form = facts["stem"][flat] == stem
            row += weights[a.ONE_STEM] * is_form
            are_one[i] |= is_form
        is_short = np.zeros(len(flat), np.bool_)
        if word.entry.group >= 0 and (member := keys.known_member(word)) > 0:
            is_short = (facts["member"][flat] == member) & (edits[i] < 1)
            row += weights[a.CONVENTION] * is_short
        _weigh_abbreviations(row, is_short, word.text, theirs)
        if np.count_nonzero(is_short):
            against.setdefault(a.CONVENTION, np.zeros_like(edits))[i] = is_short
            are_one[i] |= is_short
        for place, are in (
            (a.OPPOSITES, a.are_opposites(word, keys, flat)),
            (a.OTHER_MEMBERS, _are_others(word, theirs)),
        ):
            if are is not None:
                against.setdefault(place, np.zeros_like(edits))[i] = are
                row += weights[place] * are
        if word.entry.has_digit:
            row += weights[a.OTHER_DIGITS] * (facts["digit"][flat] & (edits[i] < 1))
    _set_strengths(found, words, theirs)
    unlike *= 1 - found[0]
    for i, j in holding:
        unlike[i, j] = 1
    np.copyto(unlike, 0, where=are_one)
    if np.count_nonzero(same):
        np.copyto(found, 1, where=same)
    places = (a.CONVENTION, a.OPPOSITES, a.OTHER_MEMBERS)
    return _Compared(found, unlike, *map(against.get, places))


def _weigh_spelling(
    row: NDArray[np.float32],
    unlike: NDArray[np.float32],
    edits: NDArray[np.float32],
    word: Word,
    theirs: _Theirs,
) -> list[int]:
    """Set the odds against some words, (P,), by how few edits are between them and a word.

    Also set how far they are others of like letters. Return the places of those that are part of
    the word, which is another thing for sure.
    """
    facts, flat, weights = theirs.keys.facts_by_name, theirs.numbers, theirs.weights
    known, common = facts["known"][flat], facts["common"][flat]
    are_short = facts["brief"][flat] | (len(word.text) <= SHORT)
    for is_so, are, weight in (
        (word.is_known, known, weights[a.BOTH_KNOWN]),
        (word.entry.is_common, common, weights[a.BOTH_COMMON]),
    ):
        if is_so:
            row += weight * are
            np.maximum(unlike, are, out=unlike)
            are_short &= ~are
    row += weights[a.SHORT_WORD] * are_short
    row += weights[a.SQUARED]
    row *= edits
    row += weights[a.OF_EDITS]
    row *= edits
    row += weights[a.BIAS]
    unlike *= edits * edits
    others = list[int]()
    if word.trust == 1 or word.entry.is_common:  # as `is_word` has it
        letters = facts["letters of the stem"][flat]
        may = (letters & np.uint32(letters_of(word.entry.stem)) == letters) & facts["word"][flat]
        for j in may.nonzero()[0].tolist():
            if part := part_of(theirs.strings[j], word.text):
                row[j] += weights[a.HELD[part]]
                unlike[j] = 1
                if part == Part.OF_ANOTHER:
                    others.append(j)
    return others


def _weigh_abbreviations(
    row: NDArray[np.float32], is_short: NDArray[np.bool_], text: str, theirs: _Theirs
) -> None:
    """Add to the odds against some words, (P,), of which one abbreviates the other.

    ``is_short`` tells which are short for each other, (P,): these are left out, and those that are
    by convention are set.
    """
    facts, weights = theirs.keys.facts_by_name, theirs.weights
    some = (facts["first"][theirs.numbers] == ord(text[0])).nonzero()[0]
    if not len(some):
        return
    words, own = theirs.numbers[some], np.uint32(letters_of(text))
    letters = facts["letters"][words]
    both = letters & own
    may = (both == letters) | (both == own) | facts["abbreviation"][words] | is_short_form(text)
    may &= (facts["length"][words] != len(text)) & ~is_short[some]
    for j in some[may].tolist():
        if kind := abbreviates(text, theirs.strings[j]):
            row[j] += weights[a.ONE_STEM + kind]
            if kind == 1:
                is_short[j] = True
            else:
                size = len(text), len(theirs.strings[j])
                row[j] += weights[a.OF_LETTERS] * (min(size) / max(size))


def _set_strengths(found: NDArray[np.float32], words: Sequence[Word], theirs: _Theirs) -> None:
    """Set how likely words mean one thing, by spelling and by all, in place.

    Given are their cosines, the odds against them by spelling, and room, (3, w, P).
    """
    meant, odds, weights = found[0], found[1:], theirs.weights
    np.maximum(meant, 0, out=meant)
    if theirs.keys.table.size:
        sure = theirs.keys.facts_by_name["sure"][theirs.numbers]
        for i, word in enumerate(words):  # a slip stands for a word less surely
            by_slip = meant[i] * ~sure if word.trust == 1 else meant[i].copy()
            meant[i] -= by_slip
            by_cosine = (weights[a.COSINE] + weights[a.COSINE_SQUARED] * meant[i]) * meant[i]
            found[2, i] = by_cosine + weights[a.BY_SLIP] * by_slip
    found[2] += found[1]
    np.exp(odds, out=odds)
    odds += 1
    np.reciprocal(odds, out=odds)


def _are_others(word: Word, theirs: _Theirs) -> NDArray[np.bool_] | None:
    """Return which words, (P,), are other members of a word's class, or other units; or None."""
    entry, facts, flat = word.entry, theirs.keys.facts_by_name, theirs.numbers
    if entry.group < 0 and not entry.unit:
        return None
    members = facts["member"][flat]
    are = (facts["group"][flat] == entry.group) & (members > 0)
    are &= members != theirs.keys.known_member(word)
    are |= other_units()[entry.unit, facts["unit"][flat]]
    return are if are.any() else None


def _compare_several(
    x: NDArray[np.float32],
    asked: _Asked,
    keys: Keys,
    slots: NDArray[np.intp],
    columns: NDArray[np.intp],
    other: NDArray[np.float32],
    compared: _Compared,
    pair: NDArray[np.float32],
) -> None:
    """Set what is told of several words: how far those of each are matched, and as a whole.

    Words that stand for several are matched, too, in place.
    """
    query = asked.query
    shape = len(query.words), *columns.shape
    tables = compared.strengths.reshape(3, *shape)
    tables *= columns > 0

    meant, spelled, matched = tables.swapaxes(1, 2)[:, None]  # (1, C, w, W) each, as a block has it
    against = [
        None if one is None else one.reshape(shape).swapaxes(0, 1)[None] for one in compared[2:]
    ]
    unlike = compared.unlike.reshape(shape).swapaxes(0, 1)[None] * (columns > 0)[None, :, None]
    table = a.Table(matched, spelled, meant, unlike, *against)
    theirs = columns.astype(np.int32)[None]
    block = a.Block(x[None], [query], keys, slots[None], theirs, table)
    a.match_several(block, pair)
    a.of_several(block)
    a.oppose(block)
    of_query = np.maximum.reduce(tables, axis=3)  # (3, w, C)
    of_key = np.maximum.reduce(tables, axis=1)  # (3, C, W)
    share = np.array(asked.share, np.float32)
    x[:, a.SPELLED : a.WORST : 2] = (share @ of_query)[_ORDER].T
    x[:, a.SPELLED_KEY : a.WORST : 2] = np.add.reduce(of_key * other, axis=2)[_ORDER].T
    x[:, a.OTHER_WORD] = share @ np.maximum.reduce(unlike[0], axis=2).T
    x[:, a.WORST] = np.minimum.reduce(of_query[2], axis=0)
    x[:, a.WORST_KEY] = np.minimum.reduce(np.where(other > 0, of_key[2], 1), axis=1)
    x[:, a.TELLING : a.TELLING_KEY + 1] = x[:, a.MATCHED : a.MATCHED_KEY + 1]
    fillers, facts = [word.entry.is_filler for word in query.words], keys.facts_by_name
    if any(fillers):
        function = [word.entry.is_function for word in query.words]
        ours = (of_query[1] < a.SAME)[function].any(axis=0)
        others = facts["function"][columns] & (of_key[1] < a.SAME)
        x[:, a.OTHER_SMALL] = ours & others.any(axis=1)
        telling = share * ~np.array(fillers)
        total = float(telling.sum())
        if total:
            x[:, a.TELLING] = (telling / total) @ of_query[2]
    is_filler = facts["filler"][columns]
    if is_filler.any():
        telling = other * ~is_filler
        telling = np.where(telling.any(axis=1, keepdims=True), telling, other)
        sums = np.maximum(telling.sum(axis=1), np.float32(1e-9))
        x[:, a.TELLING_KEY] = np.einsum("cw,cw->c", of_key[2], telling) / sums


def _contradict(
    x: NDArray[np.float32],
    asked: _Asked,
    keys: Keys,
    slots: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> None:
    """Set what speaks against a key as a whole: a denial, and other numbers."""
    facts, entries = keys.facts_by_name, [word.entry for word in asked.query.words]
    is_marked = any([entry.denies or entry.has_digit for entry in entries])
    if not is_marked and not np.count_nonzero(facts["marked"][columns]):
        return
    denied = sum([entry.denies for entry in entries])
    x[:, a.DENIED] = (denied + facts["denies"][columns].sum(axis=1)) % 2
    has_digit = np.asarray(facts["digit"][columns].any(axis=1))
    a.compare_numbers(x[None], [asked.query], keys, slots[None], has_digit[None])


def _leave_over(
    x: NDArray[np.float32],
    asked: _Asked,
    keys: Keys,
    row: NDArray[np.intp],
    other: NDArray[np.float32] | None,
    strengths: NDArray[np.float32],
) -> None:
    """Set how much of the query and the best candidate nothing matches, and how near this is.

    The words of the candidate are ``row``, (W,), and ``other`` their weights as shares of their
    sum; None if both are one word. The strengths are those of the pairs of words, (3, w, W).
    """
    matched, words = strengths[2].tolist(), asked.query.words
    fillers = keys.facts_by_name["filler"][row].tolist()
    shares = [1.0] if other is None else other.tolist()
    ours = [
        0.0 if max(one) >= a.UNMATCHED or word.entry.is_filler else share
        for one, word, share in zip(matched, words, asked.share, strict=True)
    ]
    theirs = [
        0.0 if max(one) >= a.UNMATCHED or is_filler else share
        for one, is_filler, share in zip(zip(*matched, strict=True), fillers, shares, strict=True)
    ]
    x[a.LEFT], x[a.LEFT_KEY] = sum(ours), sum(theirs)
    if not any(ours):
        return
    if other is None:
        near = max(float(words[0].unit @ keys.word_units[row[0]]), 0.0)
        x[a.LEFT_NEAR], x[a.LEFT_NEAR_KEY] = near if theirs[0] else 0.0, near
        return
    units = keys.word_units[row]
    p = np.array(ours, np.float32) @ np.array([word.unit for word in words])
    q, whole = np.array([theirs, shares], np.float32) @ units
    x[a.LEFT_NEAR], x[a.LEFT_NEAR_KEY] = _cosine(p, q), _cosine(p, whole)


def _cosine(p: NDArray[np.float32], q: NDArray[np.float32]) -> Any:
    """Return the cosine of two vectors, 0 at least."""
    product, length = float(p @ q), math.sqrt(float(p @ p) * float(q @ q))
    return product / length if product > 0 and length > 0 else 0.0
