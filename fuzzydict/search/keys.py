"""Queries and keys as arrays: words, vectors, n-grams, statistics.

n keys, W words of a key at most, U different words, E numbers of a vector; L queries
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from itertools import compress, count, islice, repeat
from operator import is_, is_not
from typing import Any, NamedTuple, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import ignore_invalid, inverse_lengths, make_room, products, slices, units
from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.search.taught import SynonymRules
from fuzzydict.text.lexicon import (
    MEANINGS,
    NO_MEANINGS,
    Entry,
    Term,
    are_measures,
    by_other_names,
    is_short_form,
    look_up,
    same_terms,
)
from fuzzydict.text.ngrams import Inverted, Postings, ngrams_of_each, ngrams_of_several
from fuzzydict.text.words import plain
from fuzzydict.text.writings import words_of

#: Words of a text that are compared one by one.
MOST_WORDS = 16
SHORT = 4  # letters of a short word
_UNIT = 4  # letters of a unit that says nothing at the end, at least
_ABBREVIATED = 4  # keys that may have one text as their initials; more tell nothing
#: Keys whose cosines tell what is usual.
USUAL = 128
_FREQUENT = 30_000  # words of a table among which some are drawn
_KEPT = 1 << 12  # words that were looked up last
_MIXING = 0x9E3779B1  # odd, so that no bit of a hash is lost
_GROWTH = 9 / 8  # room made at a time: few copies, little memory in vain
_DEAD_ALLOWED = 0.5  # share of dead slots from which on the arrays are packed


# ---- words ---------------------------------------------------------------------------------------


class Word(NamedTuple):
    """A word as it is compared."""

    text: str  # the word, in its first spelling
    entry: Entry  # what the lexicon says of it
    meanings: tuple[int, ...]  # as of its entry; none where letters alone are compared
    unit: NDArray[np.float32]  # its vector, (E,), of length one, or zeros
    length: float  # that of its vector
    weight: float  # how much it says in English: rare words weigh more
    is_known: bool  # whether it is a word of the table
    trust: float  # how far the vector can be trusted; 0 for a word never seen
    kind: int  # whether it is known (1), common (2), and short (4), added up


class Query(NamedTuple):
    """A query as it is compared."""

    asked: str
    text: str  # its words in the first spelling, joined by blanks
    words: list[Word]
    terms: list[Term]  # among its words; none where letters alone are compared
    names: list[str]  # the text with one term replaced by another name, likewise
    vector: NDArray[np.float32] | None = None  # that of the text, if an embedding gave it


class WordTable:
    """Words looked up in the lexicon and in a table of vectors, if there is one."""

    def __init__(self, vectors: WordVectors | None) -> None:
        self.vectors = vectors
        self.synonyms: SynonymRules | None = None  # which are replaced in texts
        self.size = 0 if vectors is None else vectors.size
        self._kept: dict[str, Word] = {}

    def written(self, texts: list[str]) -> list[str]:
        """Return texts with synonyms replaced."""
        return texts if self.synonyms is None else list(map(self.synonyms.text, texts))

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text in their first spellings, with synonyms replaced."""
        written = text if self.synonyms is None else self.synonyms.text(text)
        return [look_up(word).form for word in words_of(written)[:MOST_WORDS]]

    def synonyms_in(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the synonyms that are applied to some texts, as they were given."""
        each = map(self.synonyms.applied, texts) if self.synonyms is not None else ()
        return {name: text for applied in each for name, text in applied.items()}

    def look_up(self, entries: Sequence[Entry]) -> list[Word]:
        """Return several words, whose vectors are looked up together; none is kept."""
        if self.vectors is None:
            none = NO_MEANINGS, np.zeros(0, np.float32), 0.0, 1.0, False, 0.0
            spelled = [entry.by_spelling() for entry in entries]
            return [Word(one.word, one, *none, _kind_of(one, False)) for one in spelled]
        known = self.vectors.look_up([entry.word for entry in entries])
        return [
            Word(entry.word, entry, entry.meanings, *of, _kind_of(entry, of.is_known))
            for entry, of in zip(entries, known, strict=True)
        ]

    def of_each(self, texts: Sequence[Sequence[str]]) -> list[list[Word]]:
        """Return the words of several texts, looked up together, of which the last are kept."""
        kept = self._kept
        found = {word: kept.get(word) for words in texts for word in words}
        new = [look_up(word) for word, one in found.items() if one is None]
        for one in self.look_up(new) if new else ():
            make_room(kept, _KEPT)
            kept[one.text] = found[one.text] = one
        return [[found[word] for word in words] for words in texts]  # type: ignore[misc]

    def queries(self, asked: Sequence[str]) -> list[Query]:
        """Return queries as they are compared; they may have no words."""
        found, texts = list[Query](), list(map(self.words_of, asked))
        for text, words, known in zip(asked, texts, self.of_each(texts), strict=True):
            entries = [word.entry for word in known] if self.size else []
            terms = same_terms(entries)
            names = by_other_names(entries, terms)
            found.append(Query(text, " ".join(words), known, terms, names))
        return found

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of two unrelated words of the table."""
        words = self.vectors.words[:_FREQUENT] if self.vectors is not None else []
        some = self.of_each([words[:: max(1, len(words) // USUAL)]])[0]
        return background_of(np.array([word.unit for word in some]).reshape(len(some), self.size))


def _kind_of(entry: Entry, is_known: bool) -> int:
    return is_known + 2 * entry.is_common + 4 * (len(entry.word) <= SHORT)


# What is compared of a word beside its vector, and how it is kept.
_NUMBERS = "stem member group unit first length"  # the first is the first letter
_BITS = "letters, letters of the stem, hash"  # a bit for each letter; the hash of the word
_FLAGS = "known sure common word abbreviation filler function variety digit number"
FACTS = np.dtype(
    [
        *((name, np.int32) for name in _NUMBERS.split()),
        ("meanings", np.int32, 2 * MEANINGS),
        *((name, np.uint32) for name in _BITS.split(", ")),
        ("weight", np.float32),
        *((name, np.bool_) for name in _FLAGS.split()),
        ("denies", np.int8),
        ("kind", np.int8),
    ],
    align=True,
)


def facts_of(words: Sequence[Word], stems: Iterable[int], members: Iterable[int]) -> NDArray[Any]:
    """Return the `FACTS` of U words, (U,).

    Given are the numbers of their stems, and of the members of closed classes that they are; 0 is
    none. A "sure" word has a vector of its own; an "abbreviation" may stand for a longer word.
    """
    rows = [
        (
            *(stem, member, entry.group, entry.unit, ord(text[0]), len(text), word.meanings),
            *(letters_of(text), letters_of(entry.stem)),
            *(crc32(text.encode("utf-8", "surrogatepass")), word.weight),
            *(word.is_known, word.trust == 1, entry.is_common, is_word(word), is_short_form(text)),
            *(entry.is_filler, entry.is_function, entry.is_variety, entry.has_digit),
            *(text.isdecimal(), entry.denies, word.kind),
        )
        for word, stem, member in zip(words, stems, members, strict=True)
        for text, entry in [(word.text, word.entry)]
    ]
    return np.array(rows, FACTS)


def is_word(word: Word) -> bool:
    """Tell whether a word is known or a form of one, and no slip."""
    return word.trust == 1 or word.entry.is_common


@lru_cache(maxsize=1 << 14)
def letters_of(text: str) -> int:
    """Return the letters of a text as bits; two may share one."""
    bits = 0
    for letter in set(text):
        bits |= 1 << (ord(letter) & 31)
    return bits


def shares_of(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return weights of words (..., W) as shares of their sum; zeros where there are none."""
    total = np.add.reduce(weights, axis=-1, keepdims=True)
    return np.asarray(weights / np.maximum(total, np.float32(1e-9)))


def weigh_words(
    weights: NDArray[np.float32],
    facts: NDArray[Any],
    words: NDArray[np.integer[Any]],
    left_out: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the weights of words as shares of their sum, (..., W), and how many count, (...).

    Amounts, as "1.5 l", weigh nothing beside other words, since their numbers are compared apart;
    nor do metric units at the end, as in "weight (kg)", and what is ``left_out``, (..., W). They
    and other words with digits do not count. Weights and `FACTS` are those of U words.
    """
    are_words, amounts = words > 0, amounts_at(facts, words)
    tell = are_words & ~amounts
    if left_out is not None:
        tell &= ~left_out
    tell |= are_words & ~tell.any(axis=-1, keepdims=True)
    counts = np.maximum((tell & ~facts["digit"][words]).sum(axis=-1), 1)
    return shares_of(weights[words] * tell), counts


def initials_of(facts: NDArray[Any], words: NDArray[np.integer[Any]]) -> NDArray[np.uint32]:
    """Return `hash_of` the initials of n texts, and of those but for fillers, (n, 2).

    Given are the words, (n, W), and the `FACTS` of U words.
    """
    hashes = np.zeros((len(words), 2), np.uint32)
    for column in words.T:
        first, of_words = facts["first"][column].astype(np.uint32), column > 0
        for i, tell in enumerate((of_words, of_words & ~facts["filler"][column])):
            hashes[tell, i] = hashes[tell, i] * np.uint32(_MIXING) + first[tell]
    return hashes


def hash_of(letters: str) -> int:
    """Return a hash of some letters, of 32 bits."""
    code = 0
    for letter in letters:
        code = (code * _MIXING + ord(letter)) & 0xFFFFFFFF
    return code


def amounts_at(facts: NDArray[Any], words: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Return which words are amounts, (..., W), given the `FACTS` of U words; see `amounts_in`."""
    return amounts_in(facts["number"][words], facts["unit"][words], facts["length"][words])


def amounts_in(
    numbers: NDArray[np.bool_], units: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]
) -> NDArray[np.bool_]:
    """Return which words of texts are amounts, (..., W): units behind numbers, and these.

    So are units at the end, if one of them is of `are_measures`. Given is which words are
    numbers, which units they are, as `Entry` has them, and how many letters they have.
    """
    are_units = units > 0
    amounts = np.zeros_like(are_units)
    for i in range(1, units.shape[-1]):
        amounts[..., i] = are_units[..., i] & (numbers | amounts)[..., i - 1]
    for i in range(units.shape[-1] - 2, -1, -1):
        amounts[..., i] |= numbers[..., i] & amounts[..., i + 1]
    may_end = are_units | (lengths == 0)
    at_end = are_units & np.logical_and.accumulate(may_end[..., ::-1], axis=-1)[..., ::-1]
    are_named = at_end & are_measures()[units] & (lengths >= _UNIT)
    amounts |= at_end & are_named.any(axis=-1, keepdims=True)
    return amounts


def head_of(facts: NDArray[Any], words: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return the place of the head of each text, (...), given its words, (..., W).

    The head names what the text is: the last word before a small word, but for fillers, numbers
    and amounts. It is "box" of "a large box of eggs", "cable" of "cable 2 m". ``facts`` are
    those of all words, (U + 1,).
    """
    are_there = words > 0
    tells = are_there & ~(facts["filler"][words] | facts["digit"][words] | amounts_at(facts, words))
    after = np.logical_or.accumulate(tells, axis=-1) & facts["function"][words]
    before = tells & ~np.logical_or.accumulate(after, axis=-1)
    found = np.where(before.any(axis=-1, keepdims=True), before, are_there)
    last: NDArray[np.intp] = found.shape[-1] - 1 - found[..., ::-1].argmax(axis=-1)
    return last


# ---- keys ----------------------------------------------------------------------------------------


class Statistics(NamedTuple):
    """What a score needs to know of all keys."""

    total: int  # how many were counted
    stems: Mapping[str, int]  # how many words of them have each stem
    ngrams: NDArray[np.int64]  # how many of them have each n-gram, (65536,)
    background: Background  # the cosines to expect of two of them


class Keys:
    """The text keys of a dict as arrays: n slots, in the dict's order. They never change.

    `updated` returns other keys, which share the memory of these. So threads may compare with
    them at once, without a lock; what is computed when it is first needed is the same whoever
    computes it. A deleted key leaves its slot dead until the arrays are packed. A key without
    letters or digits has no slot: it is only found exactly.

    Later `Keys` append to the same lists and dicts, so these may have more than n keys, or more
    than the U + 1 words of these keys, of which the first is none.

    >>> keys = Keys.of(WordTable(None), ["red", "dark blue"], np.zeros((2, 0), np.float32))
    >>> longer = keys.updated(["red", "grey"], lambda new: np.zeros((len(new), 0), np.float32))
    >>> keys.living(), longer.living(), longer.names
    (['red', 'dark blue'], ['red', 'grey'], ['red', 'dark blue', 'grey'])
    """

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self.names, self.texts = list[str](), list[str]()  # and their words in first spellings
        self.slots = dict[str | int, int]()  # by what `_identity` gives for a name
        self.strings, self.numbers = [""], dict[str, int]()  # the words
        self.stems = dict[str, int]()
        self.members = dict[tuple[int, str], int]()  # of closed classes; 0 is none
        self.alive = np.zeros(0, np.bool_)  # which slots hold a key of the dict, (n,)
        self.of_dict: Sequence[Any] = ()  # all keys of the dict, in order
        self.has_slot = self.alive  # which of these are texts with words
        self.generation = object()  # another one if the slots are numbered anew
        self.vectors = np.zeros((0, 0), np.float32)  # of the whole texts, (n, E)
        self.inverse_lengths = np.zeros(0, np.float32)  # one by that of each vector; 0 for zero
        self.columns = np.zeros((0, MOST_WORDS), np.int32)  # the words of each; 0 for no word
        self.counts = np.zeros(0, np.int64)  # how many words each has, (n,)
        self.initials = np.zeros((0, 2), np.uint32)  # as of `initials_of`
        self.hashes = np.zeros(0, np.uint32)  # those of the least are a sample of all keys, (n,)
        self.ngrams = np.zeros(0, np.uint16)  # of all texts, one after the other
        self.ngram_counts = np.zeros(0, np.int64)  # how many each has, (n,)
        self.facts = np.zeros(1, FACTS)  # of each word, (U + 1,)
        self.facts["stem"] = -1
        self.word_units = np.zeros((1, table.size), np.float32)  # of length one, (U + 1, E)
        self._word_counts = np.zeros(1, np.int64)  # how often each word stands in a living key
        self._room: dict[str, NDArray[Any]] = {}  # the arrays, with what is free behind them
        self._may_append = [True]  # taken by the first that appends; others copy lists and arrays
        self._inverted: Inverted | None = None  # the n-grams of the first keys
        self._usual: tuple[Any, Background] | None = None  # of the keys in some slots
        self._given: Statistics | None = None

    @classmethod
    def of(cls, table: WordTable, names: Sequence[str], vectors: NDArray[np.float32]) -> Keys:
        """Return keys, all different and with words, whose vectors are known, (n, E)."""
        new = cls(table)
        if len(names):
            new._append(list(names), vectors)
        new.of_dict, new.has_slot = names, new.alive
        return new

    def some(self, slots: NDArray[np.intp]) -> Keys:
        """Return the keys of some slots, rising, as keys of their own that know of all."""
        names = [self.names[slot] for slot in slots.tolist()]
        return Keys.of(self.table, names, self.vectors[slots]).with_statistics(self.statistics)

    def with_statistics(self, statistics: Statistics) -> Keys:
        """Return the same keys as some of many, of which these are the statistics."""
        new = copy(self)
        new._forget()
        new._given = statistics
        return new

    def with_vectors(self, vectors: NDArray[np.float32]) -> Keys:
        """Return the same keys, with other vectors of the whole texts, (n, E)."""
        new = copy(self)
        new.__dict__.pop("statistics", None)
        new.vectors, new.inverse_lengths = vectors, inverse_lengths(vectors)
        new.background = usual_of(vectors[self.sample(USUAL)])
        new._may_append, new._usual = [], None
        return new

    def _forget(self) -> None:
        """Forget what was computed of other keys."""
        for name, made in vars(Keys).items():
            if isinstance(made, cached_property):
                self.__dict__.pop(name, None)

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self.alive)

    @cached_property
    def count(self) -> int:
        """How many keys are alive."""
        return int(np.count_nonzero(self.alive))

    @cached_property
    def dead(self) -> NDArray[np.intp]:
        """The slots that hold no key."""
        return np.flatnonzero(~self.alive)

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(compress(self.names, self.alive.tolist()))

    def slot_of(self, name: str) -> int | None:
        """Return the slot of a living key, or None if there is no such key."""
        slot = self.slots.get(name if type(name) is str else _identity(name))
        return slot if slot is not None and slot < len(self.alive) and self.alive[slot] else None

    def sample(self, count: int) -> NDArray[np.intp]:
        """Return the slots of some living keys, the same whatever the order of the keys."""
        slots = np.flatnonzero(self.alive)
        if len(slots) <= count:
            return slots
        return np.sort(slots[np.argpartition(self.hashes[slots], count)[:count]])

    # ---- changes -------------------------------------------------------------------------------

    def updated(
        self, of_dict: Sequence[Any], vectors_of: Callable[[list[str]], NDArray[np.float32]]
    ) -> Keys:
        """Return the keys of a dict, given all as they are now: these, if nothing was written.

        ``vectors_of`` gives m texts that are new their vectors, (m, E).
        """
        before, gone = self.of_dict, len(self.of_dict) - len(of_dict)
        differ = compress(count(), map(is_not, before, of_dict))
        same = next(differ, min(len(before), len(of_dict)))  # as many stand where they stood
        if same == len(before) == len(of_dict):
            return self
        stays = np.arange(len(before)) < same
        if gone > 0 and all(map(is_, before[same + gone :], of_dict[same:])):  # in one place
            stays[same + gone :] = True
        else:
            known = dict(zip(map(id, before[same:]), count(same), strict=False))
            ids = map(id, of_dict[same:])
            places = np.fromiter(map(known.get, ids, repeat(-1)), np.intp)
            is_later = np.append(np.diff(places, prepend=same - 1) > 0, False)
            stays[places[: is_later.argmin()]] = True  # what was not removed and added again
        added = of_dict[int(np.count_nonzero(stays)) :]
        are_new = [has_words(key) for key in added]
        names = list(compress(added, are_new))
        new = self._without(stays[self.has_slot])
        if names:
            new._append(names, vectors_of(list(map(exact_text, names))))
        new.of_dict = of_dict
        new.has_slot = np.append(self.has_slot[stays], np.array(are_new, np.bool_))
        return new

    def _without(self, stays: NDArray[np.bool_]) -> Keys:
        """Return a copy that has those of the living keys that stay, (S,)."""
        new, alive = copy(self), self.alive.copy()
        if stays.all():
            return new
        alive[alive] = stays
        if np.count_nonzero(~alive) > _DEAD_ALLOWED * len(alive):
            left = list(compress(self.names, alive.tolist()))
            return Keys.of(self.table, left, self.vectors[alive])
        new._forget()
        new.alive, gone = alive, self.columns[self.alive & ~alive].ravel()
        new._word_counts = self._word_counts - np.bincount(gone, minlength=len(self.word_units))
        return new

    def _append(self, names: list[str], vectors: NDArray[np.float32]) -> None:
        """Append m names to a copy that nobody has seen."""
        self._forget()
        n, known = len(self.counts), len(self.word_units)
        try:
            self._may_append.pop()
        except IndexError:  # other keys have come behind these, or that was interrupted
            self._room, self.names, self.texts = {}, self.names[:n], self.texts[:n]
            self.slots = {_identity(name): slot for slot, name in enumerate(self.names)}
            self.strings = self.strings[:known]
            self.numbers = {string: i for i, string in enumerate(self.strings) if i}
            self.stems, self.members = self.stems.copy(), self.members.copy()
        written = list(map(exact_text, names))
        rows = list(self._numbered(self.table.written(written)))
        self._add_words(self.strings[known:])
        counts = np.array(list(map(len, rows)))
        columns = np.zeros((len(rows), MOST_WORDS), np.int32)
        columns[np.arange(MOST_WORDS) < counts[:, None]] = [one for row in rows for one in row]
        word_counts = np.bincount(columns.ravel(), minlength=len(self.strings))
        word_counts[:known] += self._word_counts
        self._word_counts, hashes = word_counts, np.zeros(len(rows), np.uint32)
        for place in range(int(counts.max())):
            factor = np.uint32((2 * place + 1) * _MIXING & 0xFFFFFFFF)
            hashes += self.facts["hash"][columns[:, place]] * factor
        texts = [" ".join([self.strings[one] for one in row]) for row in rows]
        of_texts, ngram_counts = ngrams_of_each(texts)
        self._extend(
            vectors=vectors,
            inverse_lengths=inverse_lengths(vectors),
            columns=columns,
            counts=counts,
            initials=initials_of(self.facts, columns[:, : int(counts.max())]),
            hashes=hashes ^ (hashes >> np.uint32(15)),
            ngrams=of_texts,
            ngram_counts=ngram_counts,
        )
        new_slots = {_identity(name): slot for slot, name in enumerate(names, n)}
        if not self.slots.keys().isdisjoint(new_slots):  # others have such a key where it was
            self.slots = self.slots.copy()
        self.slots.update(new_slots)
        self.names += names
        # Most texts of keys are the keys, and are not held twice.
        self.texts += [a if a == b else b for a, b in zip(written, texts, strict=True)]
        self.alive = np.append(self.alive, np.ones(len(names), np.bool_))
        self._may_append = [True]

    def _numbered(self, texts: list[str]) -> Iterator[list[int]]:
        """Yield the numbers of the words of each text; new ones are put behind ``strings``."""
        numbers = dict[str, int]()  # of words as they are written
        for text in texts:
            words = words_of(text)[:MOST_WORDS]
            for word in words:
                if word not in numbers:
                    form = look_up(word).form
                    numbers[word] = self.numbers.setdefault(form, len(self.strings))
                    if numbers[word] == len(self.strings):
                        self.strings.append(form)
            yield [numbers[word] for word in words]

    def _add_words(self, strings: list[str]) -> None:
        """Put words behind the arrays of these, if there are any."""
        if not strings:
            return
        words, stems, members = self.table.look_up(list(map(look_up, strings))), [], []
        for _, entry, *_ in words:
            stems.append(self.stems.setdefault(entry.stem, len(self.stems)))
            member = entry.group, entry.member
            new = self.members.setdefault(member, len(self.members) + 1) if member[0] >= 0 else 0
            members.append(new)
        word_units = np.array([word.unit for word in words])
        self._extend(word_units=word_units, facts=facts_of(words, stems, members))

    def _extend(self, **rows: NDArray[Any]) -> None:
        """Put rows behind those of some arrays, in the same memory as long as there is room."""
        arrays = self.__dict__
        for name, new in rows.items():
            used, total, room = len(arrays[name]), len(arrays[name]) + len(new), new
            if used:
                room = self._room.get(name, arrays[name])
                if len(room) < total:
                    longer = max(total, int(len(room) * _GROWTH) + 8)
                    room = np.empty((longer, *new.shape[1:]), new.dtype)
                    room[:used] = arrays[name]
                room[used:total] = new
            self._room[name], arrays[name] = room, room[:total]
            arrays[name].flags.writeable = False  # scorers and answers are shown no copy

    # ---- statistics ---------------------------------------------------------------------------

    @cached_property
    def statistics(self) -> Statistics:
        """What a score needs to know of all keys."""
        if self._given is not None:
            return self._given
        return Statistics(self.count, self.stem_counts(), self.postings.frequency, self.background)

    @cached_property
    def total(self) -> int:
        """How many keys are counted: these, or the many of which these are some."""
        return self.count if self._given is None else self._given.total

    def stem_counts(self) -> dict[str, int]:
        """Return how many words of these keys have each stem."""
        counted = np.bincount(self.facts["stem"][1:], self._word_counts[1:]).astype(np.int64)
        pairs = zip(list(self.stems), counted.tolist(), strict=False)
        return {stem: times for stem, times in pairs if times}

    @cached_property
    def _stem_counts(self) -> NDArray[np.int64]:
        """How many words of all keys have each stem that these have."""
        if self._given is not None:
            return np.array([self._given.stems.get(stem, 0) for stem in list(self.stems)] or [0])
        stems = self.facts["stem"][1:]
        return np.bincount(stems, self._word_counts[1:], 1).astype(np.int64)

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """The weight of each word: rare in English, and among the keys, (U + 1,); 0 for no word."""
        counts, total = self._stem_counts[self.facts["stem"].clip(0)], max(self.total, 1)
        rarity = np.log1p(total / (counts + 0.5)) / np.log1p(2 * total)
        weights = np.asarray(self.facts["weight"] * rarity, np.float32)
        weights[0] = 0
        return weights

    def weights_of(self, words: Sequence[Word]) -> list[float]:
        """Return the weights of the words of a query, as those of the keys' words."""
        total, stems, of_each = max(self.total, 1), self.stems, self._stem_counts
        most, weights = math.log1p(2 * total), []
        for word in words:
            place, times = stems.get(word.entry.stem, -1), 0
            if self._given is not None:
                times = self._given.stems.get(word.entry.stem, 0)
            elif 0 <= place < len(of_each):
                times = int(of_each[place])
            weights.append(word.weight * math.log1p(total / (times + 0.5)) / most)
        return weights

    @cached_property
    def postings(self) -> Postings:
        """Which keys have each n-gram."""
        of_all = None if self._given is None else (self._given.ngrams, self._given.total)
        alive = self.alive if len(self.dead) else None
        made = Postings(self.ngrams, self.ngram_counts, alive, of_all, self._inverted)
        self._inverted = made.known
        return made

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of two keys, from those of a sample."""
        if self._given is not None:
            return self._given.background
        sample, usual = self.sample(USUAL), self._usual
        if usual is None or not np.array_equal(usual[0], sample):
            usual = self._usual = sample, usual_of(self.vectors[sample])
        return usual[1]

    def likeness(self, queries: Sequence[Query]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return how alike queries and keys are by n-grams, and the same by other names, (L, n).

        The second is the most for the query, and for it with one term replaced by another name:
        "swaziland" shares no n-gram with the key "eswatini". It is 1 where one is the initials of
        the other.
        """
        own, best = np.empty((2, len(queries), len(self.counts)), np.float32)
        texts = [text for query in queries for text in (query.text, *query.names)]
        each = iter(ngrams_of_several(texts))
        for i, query in enumerate(queries):
            rows = self.postings.likeness([*islice(each, 1 + len(query.names))])
            own[i] = rows[0]
            np.maximum.reduce(rows, axis=0, out=best[i])
            best[i, self._by_initials(query)] = 1
        return own, best

    def _by_initials(self, query: Query) -> NDArray[np.intp]:
        """Return the slots of keys that are the initials of a query, or whose initials it is."""
        words, text, numbers = query.words, query.text, self.numbers
        found = np.zeros(0, np.intp)
        if len(words) > 1:
            telling = [word for word in words if not word.entry.is_filler]
            initials = {"".join([word.text[0] for word in some]) for some in (words, telling)}
            if known := [numbers[one] for one in initials if len(one) > 1 and one in numbers]:
                found = np.flatnonzero((self.counts == 1) & np.isin(self.columns[:, 0], known))
        elif len(text) > 1 and text.isalpha() and text not in numbers:
            found = np.flatnonzero((self.initials == hash_of(text)).any(axis=1))
        return found if len(found) <= _ABBREVIATED else found[:0]

    def near_by_words(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of vectors of words, (L, E), and of those of each key, (L, n)."""
        of_words = products(units(vectors), self.word_units)
        near = np.zeros((len(vectors), len(self)), np.float32)
        for share, column in zip(self._shares, self.columns.T, strict=False):
            near += share * of_words[:, column]
        return near

    @cached_property
    def _shares(self) -> NDArray[np.float32]:
        """The shares of the words of each key, for which their sum has the length one, (W, n)."""
        columns = self.columns[:, : int(self.counts.max(initial=0))]
        shares, lengths = shares_of(self.weights[columns]), np.empty(len(self))
        for some in slices(len(self), 4096):
            whole = np.einsum("nw,nwe->ne", shares[some], self.word_units[columns[some]])
            lengths[some] = np.sqrt(np.einsum("ne,ne->n", whole, whole))
        return np.asarray((shares / np.maximum(lengths, 1e-9)[:, None]).T, np.float32)

    def are_of(self, words: NDArray[np.intp], texts: frozenset[str]) -> NDArray[np.bool_] | None:
        """Return which words of the keys, (P,), are some texts, or have them as stems.

        Given are their numbers, (P,). It is None if no word of a key is one.
        """
        are = None
        if self.stems.keys().isdisjoint(texts) and self.numbers.keys().isdisjoint(texts):
            return None
        for text in texts:
            stem, number = self.stems.get(text, -2), self.numbers.get(text, -2)
            if max(stem, number) >= 0:
                are = np.zeros(len(words), np.bool_) if are is None else are
                are |= (self.facts["stem"][words] == stem) | (words == number)
        return are


def _identity(name: str) -> str | int:
    """Return what tells a key from others: its text, unless its class may run code to compare it.

    Then it is a number, that of the object.
    """
    kind, of_text = type(name), cast("Any", str)
    is_plain = kind.__eq__ is of_text.__eq__ and kind.__hash__ is of_text.__hash__
    return name if is_plain or kind is np.str_ else id(name)


#: Returns a text as a `str` itself, so that no method of a derived class is called.
exact_text = str.__str__


def has_words(query: Any) -> bool:
    """Tell whether a key or query is a text with letters or digits, which can be compared."""
    return isinstance(query, str) and bool(plain(exact_text(query)))


# ---- queries -------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """L queries, and the different words in them; row 0 stands for no word, so U + 1 rows.

    Attributes:
        queries: the queries, L.
        words: their words, U.
        columns: the numbers of the words of each query, (L, w).
        facts: as those of the keys' words, (U + 1,).
        units: their vectors, of length one, (U + 1, E).
        weights: rare in English, and among the keys, (U + 1,).
    """

    queries: Sequence[Query]
    words: list[Word]
    columns: NDArray[np.int32]
    facts: NDArray[Any]
    units: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, queries: Sequence[Query], keys: Keys) -> Asked:
        """Return queries as they are compared with some keys."""
        different = {word.text: word for query in queries for word in query.words}
        words, numbers = list(different.values()), dict(zip(different, count(1), strict=False))
        rows = [[numbers[word.text] for word in query.words] for query in queries]
        columns = np.zeros((len(rows), max(map(len, rows), default=0)), np.int32)
        for column, row in zip(columns, rows, strict=True):
            column[: len(row)] = row
        facts = np.zeros(len(words) + 1, FACTS)
        units = np.zeros((len(words) + 1, keys.table.size), np.float32)
        weights = np.zeros(len(words) + 1, np.float32)
        stems = [keys.stems.get(word.entry.stem, -2) for word in words]
        members = [keys.members.get((word.entry.group, word.entry.member), -1) for word in words]
        facts[0]["stem"] = -2
        facts[1:] = facts_of(words, stems, members)
        if words:
            units[1:] = [word.unit for word in words]
        weights[1:] = keys.weights_of(words)
        return cls(queries, words, columns, facts, units, weights)

    def told(self, of_words: Iterable[float]) -> NDArray[np.float32]:
        """Return something of the words, U, as that of the words of each query, (L, w)."""
        return np.array([0, *of_words], np.float32)[self.columns]


# ---- cosines of unrelated texts ------------------------------------------------------------------

_LEAST_ABOVE, _MOST_ABOVE = -3.0, 12.0  # standard deviations
_USUAL_MEAN, _USUAL_SPREAD = 0.2, 0.1  # for word2vec and for sentence encoders
_PRIOR_PAIRS = 2.0  # the usual mean and spread weigh as much as so many pairs of texts
# Of what the mean of unrelated cosines leaves to 1: their least spread. A sentence encoder has as
# much. Letters counted have less, but texts with a few letters in common are no nearer in meaning.
_LEAST_SPREAD = 0.11


class Background(NamedTuple):
    """Mean and standard deviation of the cosines of unrelated texts."""

    mean: float
    spread: float

    def above(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how far cosines are above the mean, in standard deviations, clipped."""
        above = (cosines - np.float32(self.mean)) * np.float32(1 / self.spread)
        np.maximum(above, np.float32(_LEAST_ABOVE), out=above)  # sooner than `np.clip`
        np.minimum(above, np.float32(_MOST_ABOVE), out=above)
        return above


@ignore_invalid
def background_of(vectors: NDArray[np.float32]) -> Background:
    """Return the background of an embedding, estimated from the vectors of some texts, (n, E).

    Embeddings differ: in some, all cosines lie between 0.7 and 1. If there are few texts, the
    estimate is drawn towards the usual values.

    >>> mean, spread = background_of(np.eye(20, dtype=np.float32))
    >>> round(mean, 3), round(spread, 3)
    (0.002, 0.01)
    """
    unit = units(vectors)
    cosines = (unit @ unit.T)[~np.eye(len(unit), dtype=np.bool_)].astype(np.float64)  # each twice
    weight = len(cosines) / 2 + _PRIOR_PAIRS
    mean = (cosines.sum() / 2 + _PRIOR_PAIRS * _USUAL_MEAN) / weight
    squares = np.square(cosines - mean).sum() / 2 + _PRIOR_PAIRS * _USUAL_SPREAD**2
    return Background(float(mean), float(np.sqrt(squares / weight)))


def usual_of(vectors: NDArray[np.float32]) -> Background:
    """Return the cosines to expect of two keys, given the vectors of some, (m, E)."""
    mean, spread = background_of(vectors[vectors.any(axis=1)])
    return Background(mean, max(spread, _LEAST_SPREAD * (1 - mean)))
