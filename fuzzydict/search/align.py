"""What speaks for and against each candidate of a query: strings, words and meaning, as numbers.

L queries, C candidates of each, w words of a query, W words of a key, P places in tables of words
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA, JaroWinkler
from rapidfuzz.process import cpdist

from fuzzydict._arrays import ignore_invalid
from fuzzydict.search.codes import code_of, other_codes, rest_of, words_left_out
from fuzzydict.search.keys import Asked, Keys, Query, exact_text, head_of, weigh_words
from fuzzydict.search.pairs import BIAS, CONVENTION, Table
from fuzzydict.search.retrieve import Seen
from fuzzydict.text.amounts import amounts_of, in_units_of
from fuzzydict.text.lexicon import (
    LACKING,
    abbreviates,
    are_other_persons,
    are_singular_and_plural,
    denied_in,
    given_names,
    is_other_compound,
    legal_forms,
    look_up,
    stem_of,
)
from fuzzydict.text.numbers import (
    Numbers,
    is_one_text,
    marks_of,
    months_of,
    numbers_of,
    of_one_date,
    told_by_numbers,
)
from fuzzydict.text.words import LONGEST, same_text
from fuzzydict.text.writings import (
    are_turned,
    aspect_of,
    first_writings,
    is_directed,
    other_writings,
    sides_in,
    words_before_note,
)


class Feature(NamedTuple):
    """What is told of a query and a candidate.

    Attributes:
        name: of the feature.
        sign: what the odds do where it rises: they rise (1), fall (-1), or either (0); but see
            `score.EITHER`.
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
    ("spelling", 1, "initials; conventional abbreviation; abbreviation"),
    ("words", 1, "the same numbers; the same amounts"),
    ("against", -1, "opposites; other members of a class; other numbers; numbers left out"),
    ("against", -1, "turned round; denied; another word of like letters"),
    ("against", -1, "other kinds of one thing"),
    ("words", 1, "one head"),
    ("against", -1, "left over, of the query; left over, of the key"),
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
    MATCHED_KEY, WORST, WORST_KEY, INITIALS, CONVENTIONAL, ABBREVIATED, SAME_NUMBERS,
    SAME_AMOUNTS, OPPOSED, SIBLINGS, OTHER_NUMBERS, NUMBERS_LEFT, TURNED, DENIED, OTHER_WORD,
    OTHER_KINDS, ONE_HEAD, LEFT, LEFT_KEY, VARIETY, LEFT_NEAR, LEFT_NEAR_KEY, WORDS,
    WORDS_KEY, KNOWN, COUNT, LENGTH,
) = range(len(FEATURES))
# fmt: on
SIGNS = np.array([feature.sign for feature in FEATURES], np.float32)
#: From here on features tell whether a key is right, not which: kinds, heads, what is left over.
WHETHER = OTHER_KINDS
CONTEXT = WORDS  # from here on features tell of query and key, not of how they compare

FEW_WORDS, FEW_LETTERS = 6, 20  # of a text; more are told as so many
UNMATCHED = 0.5
SAME = 0.8  # how alike words are that both have
_SLIGHTLY = 0.01  # which rounding and small words may change in a share of words
ALIKE_IN_FORM = 0.99  # texts that are written in another way, where a key is written as the query


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
    asked: Asked,
    keys: Keys,
    slots: NDArray[np.intp],
    seen: Seen,
    weights: NDArray[np.float32],
    *,
    is_anew: bool = False,
) -> NDArray[np.float32]:
    """Return the `FEATURES` of the candidates of L queries with words, (L, C, F).

    Given are the slots of the candidates, (L, C), and what is seen of them; ``weights`` weigh what
    `PAIR` names, (24,). What ``is_anew`` is another reading of a query, and has no other.
    """
    queries, X = asked.queries, np.zeros((*slots.shape, len(FEATURES)), np.float32)
    theirs = keys.columns[slots, : max(int(keys.counts[slots].max()), 1)]  # (L, C, W)
    share, own = weigh_words(asked.weights, asked.facts, asked.columns)
    left_out = words_left_out(queries, keys, slots, theirs)
    other, counts = weigh_words(keys.weights, keys.facts, theirs, left_out)
    sure = (share * asked.facts["sure"][asked.columns]).sum(1)[:, None]
    X[..., NEAR], X[..., ABOVE] = seen.near * sure, seen.above / 10 * sure
    X[..., ENCODED], X[..., ENCODED_ABOVE] = seen.encoded, seen.encoded_above / 10
    X[..., NGRAMS] = seen.of_ngrams
    compare_strings(X, queries, keys, slots, left_out)
    units = keys.word_units[theirs]
    table = Table.of(asked, keys, theirs, units, weights)
    block = Block(X, queries, keys, slots, theirs, table)
    if theirs.shape[2] > 1 or asked.columns.shape[1] > 1:
        match_several(block, weights)
    tell_apart(block)
    compare_wholes(block)
    oppose(block, left_out)
    share_of_each = np.repeat(share[:, None], slots.shape[1], axis=1)  # (L, C, w)
    leave_out_notes(block, share_of_each, other)
    _cover(block, asked, share_of_each, other, units)
    compare_numbers(X, queries, keys, slots, theirs, other, left_out)
    tell_codes_apart(X, queries, keys, slots)
    lengths = np.array([[len(query.text)] for query in queries])
    X[..., WORDS] = np.minimum(own, FEW_WORDS)[:, None] / FEW_WORDS
    X[..., WORDS_KEY] = np.minimum(counts, FEW_WORDS) / FEW_WORDS
    X[..., KNOWN], X[..., COUNT] = sure, np.log(max(keys.total, 1)) / 10
    X[..., LENGTH] = np.minimum(lengths, FEW_LETTERS) / FEW_LETTERS
    for i, query in enumerate(queries if not is_anew else ()):
        align_anew(X[i], query, keys, slots[i], weights)
    return X


# A code at the beginning of a query. But "2024 budget" is not "budget".
_CODE = re.compile(
    r"\s*(?:[A-Z]{2,}-?)?(?!(?:1[5-9]|20)[0-9]{2}\b)[0-9]{3,}(?:[:.,]|\s[\u2013-])?\s+(?=[^\W\d_]{2})"
)
_SAID_PLUS = re.compile(r"(?i)(?<=[^\W\d_]{2}) plus\b")
#: Of the query as it is written: what is seen, and the context, which all candidates share.
_AS_WRITTEN = [NEAR, ABOVE, ENCODED, ENCODED_ABOVE, WORDS, KNOWN, LENGTH]


def align_anew(
    x: NDArray[np.float32],
    query: Query,
    keys: Keys,
    slots: NDArray[np.intp],
    weights: NDArray[np.float32],
) -> list[int]:
    """Align a query in another reading with those of its candidates, (C,), that ask for it.

    Its amounts are read in the units of a candidate, and "plus" as its "+"; and a code before it,
    as in "6010 Rent", is left out if no candidate has a number. The features are set in ``x``,
    (C, F). Return the places of these candidates.
    """
    asked, places = query.asked[:LONGEST], defaultdict[str, list[int]](list)
    if amounts_of(asked):
        for j, slot in enumerate(slots.tolist()):
            if written := in_units_of(asked, exact_text(keys.names[slot])):
                places[written].append(j)
    elif (code := _CODE.match(asked)) and not _have_numbers(keys, slots):
        places[asked[code.end() :]] = [*range(len(slots))]
    elif (signed := _SAID_PLUS.sub("+", asked)) != asked:
        texts = [exact_text(keys.names[slot]) for slot in slots.tolist()]
        places[signed] = [j for j, text in enumerate(texts) if "+" in text]
    found = list[int]()
    for written, some in places.items():
        again = keys.table.queries([written])
        if not (some and again[0].words):
            continue
        none = Seen(*np.zeros((6, 1, len(some)), np.float32))
        asked_so, few = Asked.of(again, keys), slots[None, some]
        anew = align(asked_so, keys, few, none, weights, is_anew=True)[0]
        anew[:, _AS_WRITTEN] = x[np.ix_(some, _AS_WRITTEN)]
        anew[:, NGRAMS] = np.maximum(x[some, NGRAMS], anew[:, EDITS])
        x[some] = anew
        found += some
    return found


def _have_numbers(keys: Keys, slots: NDArray[np.intp]) -> bool:
    """Tell whether one of some keys has a word with a digit; deleted ones do not count."""
    return bool(keys.facts["digit"][keys.columns[slots[keys.alive[slots]]]].any())


def compare_strings(
    X: NDArray[np.float32],
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    left_out: NDArray[np.bool_] | None,
) -> None:
    """Set how alike queries and candidates are as strings.

    The arguments are those of a `Block`, and which words of the candidates are left out, as
    `words_left_out` tells, (L, C, W).
    """
    ours, texts = [query.text for query in queries], [keys.texts[i] for i in slots.ravel().tolist()]
    if left_out is not None:
        texts = [*map(rest_of, texts, left_out.reshape(len(texts), -1))]
    one, other = [[text.replace(" ", "") for text in some] for some in (ours, texts)]
    for place, some, theirs, measure in (
        (EDITS, one, other, OSA),
        (BEGINNING, ours, texts, JaroWinkler),
    ):
        each = [text for text in some for _ in range(slots.shape[1])]
        alike = cpdist(each, theirs, scorer=measure.normalized_similarity, dtype=np.float32)
        X[..., place] = alike.reshape(slots.shape)
    if left_out is not None:
        np.maximum(X[..., NGRAMS], X[..., EDITS], out=X[..., NGRAMS], where=left_out.any(2))
    same = X[..., BEGINNING] == 1
    if np.count_nonzero(same) > 1:
        for i in (np.count_nonzero(same, axis=1) > 1).nonzero()[0].tolist():
            places = same[i].nonzero()[0]
            names = [exact_text(keys.names[slot]) for slot in slots[i, places].tolist()]
            asked, *written = map(same_text, keys.table.written([queries[i].asked, *names]))
            are_other = np.array([text != asked for text in written])
            if not are_other.all():  # "colour", where "color" is a key as well
                X[i, places[are_other], BEGINNING] = ALIKE_IN_FORM
    for i, query in enumerate(queries):
        if query.names and not same[i].any():  # of "phone", "phones" comes before "telephone"
            j = int(X[i, :, EDITS].argmax())
            other = texts[i * slots.shape[1] + j]
            if query.text[:1] == other[:1] and are_singular_and_plural(query.text, other):
                X[i, j, BEGINNING] = 1


# ---- notes in brackets --------------------------------------------------------------------------


def leave_out_notes(block: Block, share: NDArray[np.float32], other: NDArray[np.float32]) -> None:
    """Let a note in brackets at the end of a text weigh nothing, if nothing else has it.

    The shares of the words of queries and candidates, (L, C, w) and (L, C, W), are changed. "CFO"
    is "CFO (interim)", unless there is "CFO (former)" as well. "Rent (old)" is "Rent", unless a key
    with that word has a word of the note, too. Where query and key both have notes, they are of
    other kinds: "Rent (office)" and "Rent (store)".
    """
    X, queries, keys, slots, theirs, table = block
    for i, query in enumerate(queries):
        texts = "".join([query.asked, *map(keys.names.__getitem__, slots[i].tolist())])
        if ")" not in texts and "]" not in texts:
            continue
        own, of_keys = _before_note(keys, query.asked), np.zeros(len(slots[i]), np.intp)
        for j in keys.alive[slots[i]].nonzero()[0].tolist():
            of_keys[j] = _before_note(keys, exact_text(keys.names[slots[i, j]]))
        matched = table.strengths[2, i] >= UNMATCHED  # (C, w, W)
        of_note, of_rest = (one.any(axis=(1, 2)) for one in (matched[:, own:], matched[:, :own]))
        is_left = own and not (of_note & of_rest).any()
        before = [theirs[i, j, :first].tobytes() for j, first in enumerate(of_keys)]
        for j, first in enumerate(of_keys.tolist()):
            if first and not matched[j, :, first:].any():
                if is_left:
                    X[i, j, OTHER_KINDS] = 1
                elif not own and before.count(before[j]) == 1:
                    _leave_out(other[i, j], first)
            elif is_left and matched[j, :own, other[i, j] > 0].any(axis=1).all():
                _leave_out(share[i, j], own)


def _before_note(keys: Keys, text: str) -> int:
    """Return how many words, with synonyms replaced, a text has before its note; 0 without one."""
    return words_before_note(*keys.table.written([text[:LONGEST]]))


def _leave_out(shares: NDArray[np.float32], first: int) -> None:
    """Set the shares of words from the first on, (W,), to 0; the others have the sum 1, if any."""
    if (rest := shares[:first].sum()) > 0:
        shares[first:] = 0
        shares /= rest


# ---- one word that stands for several ------------------------------------------------------------

_INITIALS = range(2, 6)  # letters that may be initials of several words
_LEAST_JOINED = 5  # letters of a word that may be two
#: Of a candidate, words of the query and of the candidate that stand for each other.
_Match: TypeAlias = tuple[int, slice, slice]


def match_several(block: Block, weights: NDArray[np.float32]) -> None:
    """Match words that stand for several of the other: initials, terms, words written as one.

    Initials and terms count as much as a conventional abbreviation.
    """
    X, queries, keys, slots, theirs, table = block
    by_convention = float(np.float32(1 / (1 + np.exp(-weights[BIAS] - weights[CONVENTION]))))

    def raise_to(strength: float, *at: Any) -> None:
        for place in (0, 2):
            one = table.strengths[place][at]
            np.maximum(one, strength, out=one)
        table.unlike[at] = 0

    for i, query in enumerate(queries):
        for j, rows, columns in _initials_in(query, keys, slots[i], theirs[i]):
            raise_to(by_convention, i, j, rows, columns)
        for j, rows, columns in _joined_in(query, keys, theirs[i]):
            raise_to(1.0, i, j, rows, columns)
        for j, rows, columns, is_first in _letters_in(query, keys, theirs[i]):
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
        if len(numbers_of(query.text)) in (2, 3):  # as dates have
            for j, slot in enumerate(slots[i].tolist()):
                for m, k in of_one_date(query.text, keys.texts[slot]):
                    raise_to(1.0, i, j, slice(m, m + 1), slice(k, k + 1))
    if table.opposed is not None:
        for at in _denied_in(block, table.opposed):
            raise_to(SAME, *at)


def _initials_in(
    query: Query, keys: Keys, slots: NDArray[np.intp], theirs: NDArray[np.integer[Any]]
) -> Iterator[_Match]:
    """Yield where a word of one is the initials of words of the other."""
    sizes = range(_INITIALS.start, min(_INITIALS.stop, theirs.shape[1] + 1))
    short = [(m, word.text) for m, word in enumerate(query.words) if len(word.text) in sizes]
    if short:
        fillers = keys.facts["filler"][theirs].tolist()
        for j, slot in enumerate(slots.tolist()):
            for initials, places in _initials_of(keys.texts[slot].split(" "), fillers[j]):
                for m, text in short:
                    first = initials.find(text)
                    if first >= 0:
                        last = places[first + len(text) - 1]
                        yield j, slice(m, m + 1), slice(places[first], last + 1)
    words = [word.text for word in query.words]
    for initials, places in _initials_of(words, [word.entry.is_filler for word in query.words]):
        for first, end in combinations(range(len(initials) + 1), 2):
            text = initials[first:end]
            number = keys.numbers.get(text) if len(text) in _INITIALS else None
            if number is not None and initials.find(text) == first:
                for j, m in zip(*(theirs == number).nonzero(), strict=True):
                    yield j, slice(places[first], places[end - 1] + 1), slice(m, m + 1)


def _initials_of(words: Sequence[str], fillers: Sequence[bool]) -> list[tuple[str, Sequence[int]]]:
    """Return the initials of two words or more, and of those but for fillers, with their places."""
    ways: list[Sequence[int]] = [range(len(words))]
    if any(fillers[: len(words)]):
        ways.append([place for place in ways[0] if not fillers[place]])
    return [("".join([words[i][0] for i in places]), places) for places in ways if len(places) > 1]


def _joined_in(query: Query, keys: Keys, theirs: NDArray[np.integer[Any]]) -> Iterator[_Match]:
    """Yield where two words of one are written as one word of the other."""
    words, numbers, first_of = query.words, keys.numbers, first_writings()
    for k, both in enumerate(pairwise(words)):
        ways = [[word.text, *other_writings().get(word.text, ())] for word in both]
        for first, second in product(*ways):  # "1st name" as "firstname"
            whole = stem_of(first + second)
            # "timeout s" is no plural.
            if whole != both[0].entry.stem and (stem := keys.stems.get(whole)) is not None:
                for j, m in zip(*(keys.facts["stem"][theirs] == stem).nonzero(), strict=True):
                    yield j, slice(k, k + 2), slice(m, m + 1)
    for m, word in enumerate(words):
        for cut in range(2, len(word.text) - 1) if len(word.text) >= _LEAST_JOINED else ():
            begin, end = word.text[:cut], word.text[cut:]
            number = numbers.get(first_of.get(begin, begin))
            if number is not None and (stem := keys.stems.get(stem_of(end))) is not None:
                is_second = keys.facts["stem"][theirs[:, 1:]] == stem
                are_both = (theirs[:, :-1] == number) & is_second
                for j, k in zip(*are_both.nonzero(), strict=True):
                    yield j, slice(m, m + 1), slice(k, k + 2)


_POINTED = re.compile(r"(?<!\w)([a-z])(?:\.(?=\s*[^\W\d]|$)|/(?=[a-z]{2}))")


def _letters_in(
    query: Query, keys: Keys, theirs: NDArray[np.integer[Any]]
) -> Iterator[tuple[int, slice, slice, bool]]:
    """Yield where a letter of one and a word of the other are, and whether the word begins so.

    "R. Miller" may be "Robert Miller", and is not "Kate Miller". Those that begin so come first.
    The word is a given name; or any, if the letter of the query has a mark: "W. wheat", "w/pump".
    """
    facts, given_name, asked = keys.facts, given_names(), query.asked.lower()
    pointed = _POINTED.findall(asked)
    if len(pointed) == 1 and asked.endswith(f" {pointed[0]}."):  # of the sentence: "grade c."
        pointed = []
    found = list[tuple[int, int, int, bool]]()
    for m, word in enumerate(query.words if len(query.words) > 1 else ()):
        if len(word.text) == 1 and word.text.isalpha():
            may = facts["group"][theirs] == given_name
            if word.text in pointed:
                may |= (facts["first"][theirs] == ord(word.text)) & (facts["length"][theirs] > 1)
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


# What denies a word as "un-" does, and what as "-less" does; and what may stand before the word.
_NOT = {"not", "non", "un", "no", "never", "neither", "nor"}
_WITHOUT = {"without", "no", "0", "sans", "lacking", "excluding", "except", "free of", "free from"}
_ARTICLES = {"a", "an", "the", "any", "my", "your"}


def _denied_in(block: Block, opposed: NDArray[Any]) -> Iterator[tuple[int, int, slice, slice]]:
    """Yield where one denies a word, and the other denies it by an affix: "no sugar", "sugarless".

    Other opposites leave a third: what is not bought need not be sold. Given is which words are
    opposites, (L, C, w, W).
    """
    _, queries, keys, _, theirs, _ = block
    for i, j, m, k in np.argwhere(opposed).tolist():
        own = [word.text for word in queries[i].words]
        of_key = [keys.strings[word] for word in theirs[i, j].tolist()]
        if here := _with_denial(own, m, of_key[k]):
            yield i, j, here, slice(k, k + 1)
        elif there := _with_denial(of_key, k, own[m]):
            yield i, j, slice(m, m + 1), there


def _with_denial(words: Sequence[str], place: int, other: str) -> slice | None:
    """Return where a word is with what denies it, if this says what another does by an affix."""
    bare, is_lacking = look_up(words[place]), other.endswith(LACKING)
    if denied_in(other) not in (bare.word, bare.stem):
        return None
    if is_lacking and words[place + 1 : place + 2] == ["free"]:
        return slice(place, place + 2)
    end = place - 1 if place and words[place - 1] in _ARTICLES else place  # "without a wire"
    denials = _WITHOUT if is_lacking else _NOT
    for start in (end - 1, end - 2):
        if start >= 0 and " ".join(words[start:end]) in denials:
            return slice(start, place + 1)
    return None


def _cover(
    block: Block,
    asked: Asked,
    share: NDArray[np.float32],
    other: NDArray[np.float32],
    units: NDArray[np.float32],
) -> None:
    """Set how far the words of each are matched by those of the other, and what is left over.

    Given are the weights of the words as shares of their sum, (L, C, w) and (L, C, W), and the
    vectors of the words of the candidates, (L, C, W, E).
    """
    X, _, keys, _, theirs, table = block
    X[..., DENIED], left, heads, varieties = 1, [], [], []
    of_query, of_key = [_highest(table.strengths, axis) for axis in (4, 3)]  # (3, L, C, w), with W
    sides = [
        (asked.facts, asked.columns[:, None], share, of_query),
        (keys.facts, theirs, other, of_key),
    ]
    for place, (facts, words, shares, best) in enumerate(sides):
        X[..., MEANT + place : WORST : 2] = np.moveaxis((best[1:] * shares).sum(3), 0, 2)
        X[..., WORST + place] = np.where(shares > 0, best[2], 1).min(2)
        heads.append(head_of(facts, np.where(shares > 0, words, 0)))
        denies = facts["denies"][words] * (shares > 0)
        if denies.any():
            X[..., DENIED] *= undenied(denies, best)
        left.append(shares * (~facts["filler"][words] & (best[2] < UNMATCHED)))
        X[..., LEFT + place] = left[place].sum(2)
        varieties.append((left[place] * facts["variety"][words]).any(2))
    rows, columns = np.ogrid[: len(X), : X.shape[1]]
    X[..., ONE_HEAD] = table.strengths[2][rows, columns, *heads]
    unlike = (_highest(table.unlike, 3) * share).sum(2)
    X[..., OTHER_WORD] = np.maximum(X[..., OTHER_WORD], unlike)
    X[..., DENIED] = (1 - X[..., DENIED]) / 2
    both_left = (X[..., LEFT] > 0) & (X[..., LEFT_KEY] > 0)
    X[..., VARIETY] = (varieties[0] | varieties[1]) & ~both_left
    a = (left[0] @ asked.units[asked.columns])[:, :, None]  # (L, C, 1, E)
    b = np.stack([left[1], other], axis=2) @ units
    squares = np.einsum("lcie,lcie->lci", a, a) * np.einsum("lcie,lcie->lci", b, b)
    near = np.einsum("lcie,lcje->lcj", a, b) / np.sqrt(np.maximum(squares, np.float32(1e-24)))
    X[..., LEFT_NEAR : LEFT_NEAR_KEY + 1] = np.maximum(near, 0)


def undenied(denies: NDArray[np.int8], best: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the product of ``1 - 2 p`` over the words of a text, (...).

    p is how far the other text has what a word denies, and not the denial: "not able to see" denies
    nothing of "blind". So two denials are none. ``best`` tells how far each word is spelled as, and
    matched by, one of the other text, (3, ..., W).
    """
    spelled, _, matched = best
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

    That are words that change sides of a direction; other aspects, "created_at" and "created_by";
    other persons; other firms, "Apex Ltd" and "Acme Ltd"; and compounds of other kinds.
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
        is_firm = not legal_forms().isdisjoint(query.text.split(" "))
        has_more = ours or aspect or is_name or is_firm
        for j in (counts[i] > 1).nonzero()[0].tolist() if has_more else ():
            text, written = keys.texts[slots[i, j]], exact_text(keys.names[slots[i, j]])
            if ours and is_directed(written, text):
                rows = table.strengths[0, i, j, :count]
                places = [(m, int(row.argmax())) for m, row in enumerate(rows) if row.max() > SAME]
                X[i, j, TURNED] = are_turned(places, ours, sides_in(text))
            if aspect and aspect_of(text) not in ("", aspect):
                X[i, j, SIBLINGS] = 1
            elif is_name and are_other_persons(query.text, text, written):
                X[i, j, [SIBLINGS, *as_others]] = 1
            elif is_firm and not legal_forms().isdisjoint(text.split(" ")):
                X[i, j, SIBLINGS] = _are_other_firms(block, i, j)
    for i, j in np.argwhere(own != counts).tolist():
        text, other = queries[i].text, keys.texts[slots[i, j]]
        if text.endswith(other) or other.endswith(text):
            X[i, j, as_others] = is_other_compound(text, other)


def _are_other_firms(block: Block, i: int, j: int) -> bool:
    """Tell whether two texts with legal forms have a word each that is spelled like no other."""
    spelled = block.table.strengths[0, i, j] >= UNMATCHED
    tells = [not word.entry.is_filler for word in block.queries[i].words]
    tells_key = (block.theirs[i, j] > 0) & ~block.keys.facts["filler"][block.theirs[i, j]]
    left, left_key = ~spelled.any(axis=1)[: len(tells)], ~spelled.any(axis=0)
    return bool((left & tells).any() and (left_key & tells_key).any())


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
        words = long.split(" ")
        letters = [word[0] for word in words]
        telling = [one for one, is_filler in zip(letters, fillers, strict=False) if not is_filler]
        of_long = "".join(letters), "".join(telling)
        X[i, j, INITIALS] = short in of_long and short not in words  # "v1" is one of "v1.1"


def compare_numbers(
    X: NDArray[np.float32],
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    theirs: NDArray[np.integer[Any]],
    other: NDArray[np.float32],
    left_out: NDArray[np.bool_] | None,
) -> None:
    """Set whether query and candidate have other numbers, or marks as "A-" has.

    The arguments are those of a `Block`, the weights of the candidates' words, (L, C, W), and which
    are left out, as `words_left_out` tells, (L, C, W). Where all numbers of a candidate are in
    amounts, which weigh nothing, it has the same amounts, as far as other words are matched, and
    neither units nor members of a class are others. A number alone has those of the key, and one of
    few digits, as "10", only a number of its first or last word.
    """
    written = keys.table.written
    asked = written([query.asked for query in queries])
    may_differ = np.array([[has_signs(query)] for query in queries])
    have_digits = keys.facts["digit"][theirs]
    if left_out is not None:
        have_digits &= ~left_out
    tell = (have_digits & (other > 0)).any(2)
    # Those of the candidates with the numbers of a query.
    months: list[dict[int, set[str]]] = [{} for _ in queries]
    for i, j in np.argwhere(have_digits.any(2) | may_differ).tolist():
        (name,) = written([exact_text(keys.names[slots[i, j]])])
        text = keys.texts[slots[i, j]]
        if left_out is not None and left_out[i, j].any() and (code := code_of(name[:LONGEST])):
            text = rest_of(text, left_out[i, j])
            name = code.parted(name)[int(left_out[i, j, 0] != code.is_behind)]
        own = queries[i].text
        told = told_by_numbers(own, text, asked[i], name)
        if told == Numbers.SAME:
            months[i][j] = months_of(text, name)
            if not tell[i, j]:  # which says nothing of another thing
                matched = X[i, j, MATCHED_KEY if own.isdecimal() else MATCHED]
                X[i, j, SAME_AMOUNTS] = matched * (1 - X[i, j, [OTHER_NUMBERS, SIBLINGS]].max())
            elif not _FEW_DIGITS.fullmatch(own) or _is_at_end(own, text):
                X[i, j, SAME_NUMBERS] = 1
        elif told == Numbers.MARKED:  # A+ and A- are members of a class as well
            X[i, j, [OTHER_NUMBERS, SIBLINGS]] = 1
        elif told != Numbers.NOTHING:
            X[i, j, OTHER_NUMBERS if told == Numbers.OTHER else NUMBERS_LEFT] = 1
    for i, of_candidates in enumerate(months):
        if len(of_candidates) > 1 and not months_of(queries[i].text, asked[i]):
            X[i, _of_other_months(of_candidates, X[i, :, MATCHED]), OTHER_NUMBERS] = 1


def _of_other_months(months: dict[int, set[str]], matched: NDArray[np.float32]) -> list[int]:
    """Return the places of candidates that are other days, of which a query may be any.

    Given are the months of candidates with the numbers of the query, and how far the words of the
    query are matched, (C,): "5/3/2024" may be either of two days, unless other words tell.
    """
    dated = {j: matched[j] for j, some in months.items() if some}
    best = [j for j, share in dated.items() if share > max(dated.values()) - _SLIGHTLY]
    return best if best and not set.intersection(*(months[j] for j in best)) else []


def tell_codes_apart(
    X: NDArray[np.float32], queries: Sequence[Query], keys: Keys, slots: NDArray[np.intp]
) -> None:
    """Set that other codes of capitals are other ones, but for names of one thing: "US", "USA"."""
    for i, query in enumerate(queries):
        if len(query.text) < 5 and (others := other_codes(query, keys, slots[i])):
            X[i, others, OTHER_NUMBERS] = X[i, others, CONVENTIONAL] == 0


_FEW_DIGITS = re.compile("[0-9]{1,2}")


def _is_at_end(number: str, text: str) -> bool:
    """Tell whether the first or the last word of a plain text has a number: "v10", "10 downing"."""
    words = text.split(" ")
    return any(numbers_of(number) == numbers_of(word) for word in (words[0], words[-1]))


def has_signs(query: Query) -> bool:
    """Tell whether a query has numbers, marks, or a letter that a key may mark."""
    for word in query.words:
        if word.entry.has_digit or len(word.text) == 1:
            return True
    return any(marks_of(query.asked[:LONGEST]))


def oppose(block: Block, left_out: NDArray[np.bool_] | None) -> None:
    """Set whether words are opposites, or other members of a class, that are spelled like no other.

    They count as far as the words beside them match; fillers do not count. "ordinary" in a
    description says little of "unusual". Nearness in meaning does not excuse them: "distance" is
    near to "miles", not to "km". Given are the words that are left out, as `words_left_out` tells.
    """
    X, queries, keys, _, theirs, table = block
    if table.opposed is table.siblings is table.kindred is None:
        return
    told = (OPPOSED, table.opposed), (SIBLINGS, table.siblings), (OTHER_KINDS, table.kindred)
    tells = np.zeros((len(queries), table.strengths.shape[3]), np.bool_)
    for row, asked in zip(tells, queries, strict=True):
        row[: len(asked.words)] = [not word.entry.is_filler for word in asked.words]
    tells_key = (theirs > 0) & ~keys.facts["filler"][theirs]
    if left_out is not None:
        tells_key &= ~left_out
    for place, against in told:
        if against is None:
            continue
        query, key, i, j = np.nonzero(against)
        spelled, _, matched = table.strengths[:, query, key]  # (P, w, W) each
        each = np.arange(len(query))
        spelled[each, i, j] = 0
        alike = np.maximum(spelled[each, i].max(axis=1), spelled[each, :, j].max(axis=1))
        of_query, size = _beside(matched.max(axis=2), i, tells[query])
        of_key, size_key = _beside(matched.max(axis=1), j, tells_key[query, key])
        rest = np.where(size + size_key > 0, np.maximum(of_query, of_key), 1)
        are_others = alike < SAME
        np.maximum.at(X[..., place], (query, key), are_others * rest)
        if place == SIBLINGS:  # and other units are other amounts
            words = zip(query.tolist(), i.tolist(), strict=True)
            are_units = [queries[at].words[k].entry.unit > 0 for at, k in words]
            others = are_others * rest * np.array(are_units, np.bool_)
            np.maximum.at(X[..., OTHER_NUMBERS], (query, key), others)


def _beside(
    matched: NDArray[np.float32], places: NDArray[np.intp], tells: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the mean of the words that tell, but for one place, and how many they are, (P,)."""
    others = tells.copy()
    others[np.arange(len(matched)), places] = False
    sizes = np.count_nonzero(others, axis=1)
    return (matched * others).sum(axis=1) / np.maximum(sizes, 1), sizes
