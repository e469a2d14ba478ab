"""The best key of one query: what a glance, align and the judge do for many, without blocks.

    n keys, C candidates, w words of the query, W words of a key at most, F features,
    P pairs of the C candidates and their W words

The numbers are those of the block, up to rounding: `test_one_query_is_as_among_others` compares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from fuzzydict._arrays import largest, products
from fuzzydict.search import align as a
from fuzzydict.search import pairs as p
from fuzzydict.search.codes import MAY_BE_CODES, words_left_out
from fuzzydict.search.keys import Keys, Query, Word, amounts_in, is_word, letters_of, weigh_words
from fuzzydict.search.retrieve import TIE
from fuzzydict.search.score import Judge, Meaning
from fuzzydict.text.lexicon import (
    BOTH_KINDS,
    Part,
    abbreviates,
    are_measures,
    is_short_form,
    other_units,
    part_of,
    relations_of,
)


def best_of_one(
    query: Query, vector: NDArray[np.float32] | None, keys: Keys, meaning: Meaning
) -> tuple[int, float]:
    """Return the slot of the best key of a query with words, and the probability that it is right.

    ``vector`` is that of an encoder, (E,), if there is one.
    """
    words, judge = query.words, meaning.judge
    weights, count = keys.weights_of(words), len(words)
    has_signs, of_words = a.has_signs(query), weights
    if has_signs or words[-1].entry.unit:
        of_words, count = _without_amounts(words, weights)
    whole = max(sum(of_words), 1e-9)
    share = [weight / whole for weight in of_words]
    sure = sum([one for one, word in zip(share, words, strict=True) if word.trust == 1])
    if vector is None:
        vector = meaning.vector_of(query, weights)
    x, slots = _retrieve(query, weights, sure, vector, keys, meaning)
    counts = keys.counts[slots]
    width = max(counts.tolist())
    columns = keys.columns.take(slots, axis=0)[:, :width].astype(np.intp)
    facts = keys.facts.take(columns)  # (C, W)
    have_digits, is_single = np.count_nonzero(facts["digit"]), width == len(words) == 1
    left_out = None
    if width > 1 and MAY_BE_CODES.search("\n".join(map(keys.names.__getitem__, slots.tolist()))):
        left_out = words_left_out([query], keys, slots[None], columns[None])
    a.compare_strings(x[None], [query], keys, slots[None], left_out)
    edits = x[None, :, a.EDITS] if is_single else None
    told, against = _compare(words, keys, columns, facts, edits, judge)
    told = told.reshape(4, len(words), *columns.shape)
    shares = np.repeat(np.array([share], np.float32), len(slots), axis=0)  # (C, w)
    if is_single:
        other = np.ones((len(slots), 1), np.float32)
        _match_words(x, words[0], told[:, 0, :, 0], against)
    else:
        other = keys.weights[columns]
        has_units = np.count_nonzero(are_measures()[facts["unit"][:, 1:]])
        if have_digits or has_units or left_out is not None:
            (other,), (counts,) = weigh_words(keys.weights, keys.facts, columns[None], left_out)
        else:
            other /= np.maximum(np.add.reduce(other, axis=1, keepdims=True), np.float32(1e-9))
        told *= columns > 0
        block = _block_of(x, query, keys, slots, columns, told, against)
        a.match_several(block, judge.pair)
        a.tell_apart(block)
        a.compare_wholes(block)
        a.oppose(block, left_out)
        a.leave_out_notes(block, shares[None], other[None])
        _cover(x, words, shares, facts, other, told)
    if has_signs or have_digits:
        a.compare_numbers(x[None], [query], keys, slots[None], columns[None], other[None], left_out)
    if len(words) == 1:
        a.tell_codes_apart(x[None], [query], keys, slots[None])
    _set_context(x, query, count, counts, sure, keys)
    alive = keys.alive[slots] if len(keys.dead) else None
    anew = a.align_anew(x, query, keys, slots, judge.pair)
    place, odds = judge.best_of_one(x, keys.hashes[slots], alive)
    if place not in anew:  # else it is told
        of_best = keys, columns[place], facts[place], other[place], told[:, :, place]
        _tell_whether(x[place], words, shares[place].tolist(), *of_best)
    return int(slots[place]), judge.right_of_one(x[place], odds, place)


def _set_context(
    x: NDArray[np.float32],
    query: Query,
    count: int,
    counts: NDArray[np.intp],
    sure: float,
    keys: Keys,
) -> None:
    """Set what tells of query and keys, given how many of their words count, those of keys (C,)."""
    x[:, a.WORDS : a.LENGTH + 1] = (
        min(count, a.FEW_WORDS) / a.FEW_WORDS,
        0,  # the words of the key, below
        sure,
        math.log(max(keys.total, 1)) / 10,
        min(len(query.text), a.FEW_LETTERS) / a.FEW_LETTERS,
    )
    x[:, a.WORDS_KEY] = np.minimum(counts, a.FEW_WORDS) / a.FEW_WORDS


def _without_amounts(words: list[Word], weights: list[float]) -> tuple[list[float], int]:
    """Return the weights of the words of a query, and how many count, as `weigh_words` does."""
    told = [(word.text.isdecimal(), word.entry.unit, len(word.text)) for word in words]
    tell = ~amounts_in(*map(np.array, zip(*told, strict=True)))
    if not tell.any():
        tell[:] = True
    counts = tell & ~np.array([word.entry.has_digit for word in words])
    return (np.array(weights) * tell).tolist(), max(int(counts.sum()), 1)


def _retrieve(
    query: Query,
    weights: list[float],
    sure: float,
    vector: NDArray[np.float32],
    keys: Keys,
    meaning: Meaning,
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return features of the candidates, (C, F), of which n-grams and nearness are set, and slots.

    The weights are those of the words, of which the share ``sure`` has vectors of its own.
    """
    of_glance, whole = meaning.judge.glance.tolist(), max(sum(weights), 1e-9)
    trust = sum([one * word.trust for one, word in zip(weights, query.words, strict=True)]) / whole
    (of_ngrams,), (spelled,) = keys.likeness([query])
    odds = spelled * (of_glance[0] + of_glance[1] * spelled)
    near = np.zeros(len(odds), np.float32)
    if len(vector):
        wide = vector.astype(np.float64)  # a square of a vector from a file may overflow
        unit = vector / max(math.sqrt(float(wide @ wide)), 1e-9)
        near = products(unit[None], keys.vectors)[0]
        near *= keys.inverse_lengths
    told = [(a.NEAR, near, keys.background.above(near), of_glance[2] * trust, sure)]
    if meaning.is_encoded:
        told[0] = a.ENCODED, *told[0][1:3], of_glance[3], 1.0
        shares = np.array(weights, np.float32) / np.float32(whole)
        together = shares @ np.array([word.unit for word in query.words])
        near = keys.near_by_words(together[None])[0]
        above = keys.table.background.above(near)
        told.append((a.NEAR, near, above, of_glance[2] * trust, sure))
    for _, _, above, weight, _ in told:
        odds += np.maximum(above, 0) * np.float32(weight)
    if len(keys.dead):
        odds[keys.dead] = -np.inf
    n, most = len(odds), meaning.candidates
    slots = largest(odds, most, TIE) if n > most else np.arange(n)
    x = np.zeros((len(slots), len(a.FEATURES)), np.float32)
    x[:, a.NGRAMS] = of_ngrams[slots]
    for place, near, above, _, part in told:
        x[:, place], x[:, place + 1] = near[slots] * part, above[slots] / 10 * part
    return x, slots


#: For each feature from MEANT to WORST_KEY the row of what is told of two words that it copies.
_OF_ONE_WORD = np.array([1, 1, 2, 2, 2, 2])
_AGAINST = (a.CONVENTIONAL, a.OPPOSED, a.SIBLINGS, a.OTHER_KINDS)


def _match_words(
    x: NDArray[np.float32],
    word: Word,
    told: NDArray[np.float32],
    against: list[NDArray[np.float32] | None],
) -> None:
    """Set the features of the words where query and candidates have one each.

    Given is what `_compare` tells, (4, C), and against each, (1, C); None for nothing.
    """
    x[:, a.MEANT : a.WORST_KEY + 1] = told.take(_OF_ONE_WORD, axis=0).T
    x[:, a.OTHER_WORD] = told[3]
    for place, are in zip(_AGAINST, against, strict=True):
        if are is not None:
            x[:, place] = are[0]
            if place == a.SIBLINGS and word.entry.unit:  # other units are other amounts
                x[:, a.OTHER_NUMBERS] = are[0]


def _block_of(
    x: NDArray[np.float32],
    query: Query,
    keys: Keys,
    slots: NDArray[np.intp],
    columns: NDArray[np.intp],
    told: NDArray[np.float32],
    against: list[NDArray[np.float32] | None],
) -> a.Block:
    """Return the query as a block of one, whose features are ``x`` itself; see `_compare`."""
    tables = told.swapaxes(1, 2)[:, None]  # (4, 1, C, w, W)
    of_block = [
        one if one is None else one.reshape(told.shape[1:]).swapaxes(0, 1)[None] for one in against
    ]
    table = p.Table(tables[:3], tables[3], *of_block)
    return a.Block(x[None], [query], keys, slots[None], columns[None], table)


class _Theirs(NamedTuple):
    """The words of the candidates, P."""

    keys: Keys
    numbers: NDArray[np.intp]  # among all words of the keys, (P,)
    strings: list[str]
    facts: NDArray[Any]  # (P,)


def _compare(
    words: list[Word],
    keys: Keys,
    columns: NDArray[np.intp],
    facts: NDArray[Any],
    edits: NDArray[np.float32] | None,
    judge: Judge,
) -> tuple[NDArray[np.float32], list[NDArray[np.float32] | None]]:
    """Return how the words of the query and those of the candidates, (C, W), compare.

    The first are how far they are spelled alike, mean one thing, match, and are others that are
    spelled alike, (4, w, P); the second whether they are conventional, opposed, siblings and
    kindred, as in `pairs.Table`, (w, P). ``edits`` tells how few edits are between them, (w, P), if
    it is known.
    """
    flat, weights = columns.ravel(), judge.pair.tolist()
    theirs = _Theirs(keys, flat, [keys.strings[i] for i in flat.tolist()], facts.ravel())
    if edits is None:
        texts = [word.text for word in words]
        edits = cdist(texts, theirs.strings, scorer=OSA.normalized_similarity, dtype=np.float32)
    units = keys.word_units.take(flat, axis=0)
    told = np.zeros((4, *edits.shape), np.float32)
    found: dict[int, NDArray[np.float32]] = {}
    for i, word in enumerate(words):
        of_word = told[:, i]
        meant, matched = of_word[1], of_word[2]
        if keys.table.size:
            near = np.maximum(units @ word.unit, 0)
            if word.trust == 1:  # a slip stands for a word less surely
                np.multiply(near, theirs.facts["sure"], out=meant)
            np.multiply(weights[p.COSINE] + weights[p.COSINE_SQUARED] * meant, meant, out=matched)
            matched += weights[p.BY_SLIP] * (near - meant)
        _weigh_edits(of_word, edits[i], word, theirs, judge)
        _weigh_parts(of_word, word, theirs, weights)
        against = _weigh_kinds(of_word, edits[i], word, theirs, weights)
        for place, are in enumerate(against):
            if are is not None:
                found.setdefault(place, np.zeros_like(edits))[i] = are
    if any([word.meanings[0] for word in words]):  # else none is related
        _weigh_meanings(told, found, words, theirs, weights)
    told[2] += told[0]
    odds = told[:3:2]
    np.exp(np.negative(odds, out=odds), out=odds)
    odds += 1
    np.reciprocal(odds, out=odds)
    same = edits == 1
    if np.count_nonzero(same):
        np.copyto(told[:3], 1, where=same)
        np.copyto(told[3], 0, where=same)
    return told, list(map(found.get, range(4)))


#: Whether two words, given the kind of each, are both known or both common: others, (8, 8).
_ARE_OTHERS = (np.arange(8)[:, None] & np.arange(8) & 3 > 0).astype(np.float32)


def _weigh_edits(
    told: NDArray[np.float32], edits: NDArray[np.float32], word: Word, theirs: _Theirs, judge: Judge
) -> None:
    """Set the odds by how few edits are between words, and how far they are others, in (4, P)."""
    odds, kind, kinds = told[0], word.kind, theirs.facts["kind"]
    np.multiply(judge.of_squares[kind].take(kinds), edits, out=odds)
    odds += judge.pair[p.OF_EDITS]
    odds *= edits
    odds += judge.pair[p.BIAS]
    np.multiply(_ARE_OTHERS[kind].take(kinds), edits * edits, out=told[3])


def _weigh_parts(
    told: NDArray[np.float32], word: Word, theirs: _Theirs, weights: list[float]
) -> None:
    """Add to the odds against words that are part of a word, and so other ones, in (4, P)."""
    odds, meant, unlike = told[0], told[1], told[3]
    unlike *= 1 - meant
    if is_word(word):
        letters = theirs.facts["letters of the stem"]
        may = (letters & letters_of(word.entry.stem) == letters) & theirs.facts["word"]
        for j in may.nonzero()[0].tolist():
            if part := part_of(theirs.strings[j], word.text):
                odds[j] += weights[p.HELD[part]]
                unlike[j] = 1 if part == Part.OF_ANOTHER else 1 - meant[j]


def _weigh_kinds(
    told: NDArray[np.float32],
    edits: NDArray[np.float32],
    word: Word,
    theirs: _Theirs,
    weights: list[float],
) -> list[NDArray[np.bool_] | None]:
    """Add to the odds what the lexicon tells: forms, abbreviations, opposites, in (4, P).

    Return which are conventional abbreviations, opposites, and other members; None for none.
    """
    keys, flat, strings, facts = theirs
    odds, unlike = told[0], told[3]
    text, entry = word.text, word.entry
    if (stem := keys.stems.get(entry.stem)) is not None:
        are_forms = facts["stem"] == stem
        odds += weights[p.ONE_STEM] * are_forms
        np.copyto(unlike, 0, where=are_forms)
    are_short, others = np.zeros(len(flat), np.bool_), None
    if entry.group >= 0 or entry.unit:
        member, members = keys.members.get((entry.group, entry.member), -1), facts["member"]
        of_group = (facts["group"] == entry.group) & (members > 0)
        are_short = of_group & (members == member) & (edits < 1)
        others = of_group & (members != member) | other_units()[entry.unit, facts["unit"]]
    if entry.names and (are := keys.are_of(flat, entry.names)) is not None:
        are_short |= are & (edits < 1)
        others = None if others is None else others & ~are_short
    may = (facts["first"] == ord(text[0])) & (facts["length"] != len(text)) & ~are_short
    if not is_short_form(text):
        own, letters = letters_of(text), facts["letters"]
        both = letters & own
        may &= (both == letters) | (both == own) | facts["abbreviation"]
    for j in may.nonzero()[0].tolist():
        if kind := abbreviates(text, strings[j]):
            are_short[j] = kind == 1
            if kind > 1:
                size = len(text), len(strings[j])
                odds[j] += weights[p.ONE_STEM + kind]
                odds[j] += weights[p.OF_LETTERS] * (min(size) / max(size))
    opposites = keys.are_of(flat, entry.opposites) if entry.opposites else None
    against = [
        one if one is not None and np.count_nonzero(one) else None
        for one in (are_short, opposites, others)
    ]
    for one, place in zip(against, (p.CONVENTION, p.OPPOSITES, p.OTHER_MEMBERS), strict=True):
        if one is not None:
            odds += weights[place] * one
    if against[0] is not None:
        np.copyto(unlike, 0, where=are_short)
    if entry.has_digit:
        odds += weights[p.OTHER_DIGITS] * (facts["digit"] & (edits < 1))
    return against


def _weigh_meanings(
    told: NDArray[np.float32],
    found: dict[int, NDArray[np.float32]],
    words: list[Word],
    theirs: _Theirs,
    weights: list[float],
) -> None:
    """Add to the odds how the meanings of words are related, in (4, w, P).

    What was ``found`` against words, of which the first are conventional abbreviations, gets a
    fourth, (w, P): which are other kinds of one thing.
    """
    stems = [[theirs.keys.stems.get(word.entry.stem, -2)] for word in words]
    differ = theirs.facts["stem"] != np.array(stems)
    if 0 in found:
        differ &= found[0] == 0
    own = np.array([word.meanings for word in words], np.int32).T[:, :, None]  # (8, w, 1)
    of_keys = np.ascontiguousarray(theirs.facts["meanings"].T)[:, None]
    related = relations_of(own, of_keys) * differ  # (w, P)
    one, broader, kindred, none = weights[p.ONE_MEANING : p.UNRELATED + 1]
    told[2] += np.array([0, none, kindred, broader, 0, one], np.float32).take(related)
    are_kinds = related == BOTH_KINDS
    if np.count_nonzero(are_kinds):
        found[3] = are_kinds.astype(np.float32)


def _cover(
    x: NDArray[np.float32],
    words: list[Word],
    share: NDArray[np.float32],
    theirs: NDArray[Any],
    other: NDArray[np.float32],
    told: NDArray[np.float32],
) -> None:
    """Set how far the words of each are matched, given the facts of the candidates' words, (C, W).

    ``told`` is what `_compare` tells, (4, w, C, W); the shares of the words are (C, w) and (C, W).
    """
    by_word = told.transpose(3, 0, 1, 2).copy()  # since along short rows a maximum takes longer
    of_query = np.maximum.reduce(by_word)  # (4, w, C)
    of_key = np.maximum.reduce(told[:3], axis=1)  # (3, C, W)
    covered = np.add.reduce(of_query * share.T, axis=1)
    x[:, a.MEANT : a.WORST : 2] = covered[1:3].T
    np.maximum(x[:, a.OTHER_WORD], covered[3], out=x[:, a.OTHER_WORD])
    x[:, a.MEANT_KEY : a.WORST : 2] = np.add.reduce(of_key[1:] * other, axis=2).T
    x[:, a.WORST] = np.minimum.reduce(of_query[2], axis=0, initial=1, where=share.T > 0)
    x[:, a.WORST_KEY] = np.minimum.reduce(of_key[2], axis=1, initial=1, where=other > 0)
    if any([word.entry.denies for word in words]) or np.count_nonzero(theirs["denies"]):
        denies = np.array([word.entry.denies for word in words], np.int8)
        ours = a.undenied(denies, of_query[:3].swapaxes(1, 2))
        denied = a.undenied(theirs["denies"] * (other > 0), of_key)
        x[:, a.DENIED] = (1 - ours * denied) / 2


def _tell_whether(
    x: NDArray[np.float32],
    words: list[Word],
    share: list[float],
    keys: Keys,
    row: NDArray[np.intp],
    facts: NDArray[Any],
    other: NDArray[np.float32],
    told: NDArray[np.float32],
) -> None:
    """Set what tells whether the best candidate is right: heads, and what nothing matches.

    The words of the candidate are ``row``, (W,), with their facts and shares; ``told`` is what
    `_compare` tells of the pairs of words, (4, w, W).
    """
    entries, table, shares = [word.entry for word in words], told[2].tolist(), other.tolist()
    names = ("filler", "digit", "function", "variety")
    fillers, digits, functions, varieties = [facts[name].tolist() for name in names]
    of_query = [(one.is_filler or one.has_digit, one.is_function) for one in entries]
    of_key = [*zip(map(max, fillers, digits), functions, strict=True)]
    x[a.ONE_HEAD] = table[_head_of(of_query, share)][
        _head_of(of_key[: np.count_nonzero(row)], shares)
    ]
    ours = [
        0.0 if max(one) >= a.UNMATCHED or entry.is_filler else share_of
        for one, entry, share_of in zip(table, entries, share, strict=True)
    ]
    theirs = [
        0.0 if max(one) >= a.UNMATCHED or is_filler else share_of
        for one, is_filler, share_of in zip(zip(*table, strict=True), fillers, shares, strict=True)
    ]
    x[a.LEFT], x[a.LEFT_KEY] = sum(ours), sum(theirs)
    if not (any(ours) and any(theirs)):
        left = [*zip(ours, [entry.is_variety for entry in entries], strict=True)]
        left += zip(theirs, varieties, strict=True)
        x[a.VARIETY] = any([share_of and is_variety for share_of, is_variety in left])
    if any(ours) and len(ours) == len(theirs) == 1:
        near = max(float(words[0].unit @ keys.word_units[row[0]]), 0.0)
        x[a.LEFT_NEAR], x[a.LEFT_NEAR_KEY] = near if theirs[0] else 0.0, near
    elif any(ours):
        u = np.array(ours, np.float32) @ np.array([word.unit for word in words])
        for place, v in enumerate(np.array([theirs, shares], np.float32) @ keys.word_units[row]):
            product, length = float(u @ v), math.sqrt(float(u @ u) * float(v @ v))
            x[a.LEFT_NEAR + place] = product / length if product > 0 and length > 0 else 0.0


def _head_of(words: Sequence[tuple[bool, bool]], shares: list[float]) -> int:
    """Return the place of the head of a text, as `head_of` does.

    Given is of each word whether it is a filler or has a digit, whether it is a function word, and
    its share, which is 0 in an amount.
    """
    head = last = -1
    for place, ((is_no_head, is_function), share) in enumerate(zip(words, shares, strict=False)):
        if is_function and head >= 0:
            break
        if share:
            head, last = (head if is_no_head else place), place
    return head if head >= 0 else last
