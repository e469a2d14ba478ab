"""The keys of a dict as arrays: vectors, n-grams, words, and statistics of all of them.

n keys, W words of a key at most, U different words, E numbers of a vector
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from zlib import crc32

import numpy as np

from fuzzydict._arrays import Rows, inverse_lengths, make_room
from fuzzydict.embedding.encoder import Background, background_of
from fuzzydict.text.lexicon import Entry, is_short_form, look_up, words_of
from fuzzydict.text.ngrams import Growing, Postings, ngrams_of_each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.word_vectors import KnownWord, WordVectors
    from fuzzydict.search.synonyms import SynonymRules


#: Words of a text that are compared one by one.
MOST_WORDS = 16
SHORT = 4  # letters of a short word
#: Keys whose cosines tell what is usual.
USUAL = 128
# Of what the mean of unrelated cosines leaves to 1: their least spread. A sentence encoder has as
# much. Letters counted have less, but texts with a few letters in common are no nearer in meaning.
_LEAST_SPREAD = 0.11
_FREQUENT = 30_000  # words of a table among which some are drawn
_NO_WORD = 0  # the number of a word that is not there
_MIXING = 0x9E3779B1  # odd, so that no bit of a hash is lost


# ---- words ---------------------------------------------------------------------------------------


class Word(NamedTuple):
    """A word as it is compared.

    Attributes:
        text: the word, in its first spelling.
        entry: what the lexicon says of it.
        unit: its vector, (E,), of length one, or zeros.
        length: that of its vector.
        weight: how much it says in English: rare words weigh more.
        trust: how far the vector can be trusted; 0 for a word never seen.
        is_known: whether it is a word of the table.
    """

    text: str
    entry: Entry
    unit: NDArray[np.float32]
    length: float
    weight: float
    trust: float
    is_known: bool

    @property
    def vector(self) -> NDArray[np.float32]:
        """Its vector, (E,)."""
        return self.unit * np.float32(self.length)


def compared_words(text: str) -> list[str]:
    """Return the words of a text in their first spellings: "colour" is "color"."""
    return [look_up(word).form for word in words_of(text)[:MOST_WORDS]]


class WordTable:
    """Words looked up in the lexicon and in a table of vectors, each once.

    Args:
        vectors: the table; None if nothing is compared by meaning.
    """

    def __init__(self, vectors: WordVectors | None) -> None:
        self.vectors = vectors
        self.synonyms: SynonymRules | None = None
        self.size = 0 if vectors is None else vectors.size
        self._kept: dict[str, Word] = {}
        self._none = np.zeros(self.size, np.float32)

    def with_synonyms(self, rules: SynonymRules) -> Self:
        """Return the same table for texts in which synonyms are replaced."""
        new = copy(self)
        new.synonyms = rules
        return new

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text in their first spellings, with synonyms replaced."""
        return compared_words(text if self.synonyms is None else self.synonyms.text(text))

    def written(self, texts: list[str]) -> list[str]:
        """Return texts with synonyms replaced."""
        return texts if self.synonyms is None else list(map(self.synonyms.text, texts))

    def synonyms_in(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the synonyms that are applied to some texts, as they were given."""
        applied: dict[str, str] = {}
        for text in texts:
            applied |= {} if self.synonyms is None else self.synonyms.applied(text)
        return applied

    def look_up(self, texts: Sequence[str]) -> list[Word]:
        """Return several words, whose vectors are looked up together; none is kept."""
        if self.vectors is None:
            return [self[text] for text in texts]
        return list(map(self._of, texts, self.vectors.look_up(texts)))

    def __getitem__(self, text: str) -> Word:
        word = self._kept.get(text)
        if word is None:
            word = self._of(text, None if self.vectors is None else self.vectors.word(text))
            make_room(self._kept, _KEPT)
            self._kept[text] = word
        return word

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of two unrelated words of the table."""
        if self.vectors is None or not len(self.vectors.words):
            return background_of(self._none[None])
        words = self.vectors.words
        some = words[: _FREQUENT : max(1, min(len(words), _FREQUENT) // USUAL)]
        return background_of(np.array([self[word].unit for word in some]))

    def _of(self, text: str, known: KnownWord | None) -> Word:
        entry = look_up(text)
        if known is None:
            return Word(text, entry, self._none, 0.0, 1.0, 0.0, False)
        return Word(
            text, entry, known.unit, known.length, known.weight, known.trust, known.is_known
        )


_KEPT = 1 << 12  # words that were looked up last


# ---- what all keys have in common ---------------------------------------------------------------


class Statistics(NamedTuple):
    """What a score needs to know of all keys.

    Attributes:
        count: how many keys were counted.
        stems: how many words of them have each stem.
        ngrams: how many of them have each n-gram, (65536,).
        background: the cosines to expect of two of them.
    """

    count: int  # type: ignore[assignment]  # of a tuple, nobody counts
    stems: dict[str, int]
    ngrams: NDArray[np.int64]
    background: Background


class Words:
    """The different words of some keys: row 0 stands for no word, so U + 1 rows of each array.

    The rows only grow. Who uses the first rows is not disturbed.
    """

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self.numbers: dict[str, int] = {}
        self.strings: list[str] = [""]
        self.stems: dict[str, int] = {}
        self.groups: dict[tuple[int, str], int] = {}
        self.facts = Rows(np.zeros(0, _FACTS))
        self.units = Rows(np.zeros((1, table.size), np.float32))
        self.hashes = Rows(_hashes([""]))
        none = np.zeros(1, _FACTS)
        none["stem"] = -1
        self.facts.extend(none)

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update({name: copy(value) for name, value in self.__dict__.items()})
        new.table = self.table
        return new

    def add(self, texts: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """Return the numbers of the words of m texts, (m, W), and add those that are new."""
        numbers, first = self.numbers, len(self.strings)
        rows = np.zeros((len(texts), MOST_WORDS), np.int32)
        for row, words in zip(rows, texts, strict=True):
            for place, word in enumerate(words):
                number = numbers.get(word)
                if number is None:
                    number = numbers[word] = len(self.strings)
                    self.strings.append(word)
                row[place] = number
        new = self.table.look_up(self.strings[first:])
        if new:
            facts = [self._facts_of(word) for word in new]
            self.facts.extend(np.array(facts, _FACTS))
            self.units.extend(np.array([word.unit for word in new]).reshape(len(new), -1))
            self.hashes.extend(_hashes(self.strings[first:]))
        return rows

    def _facts_of(self, word: Word) -> tuple[Any, ...]:
        return facts_of(
            word, self.stems.setdefault(word.entry.stem, len(self.stems)), self.member(word)
        )

    def member(self, word: Word) -> int:
        """Return the number of the member of a closed class that a word is; 0 if it is none."""
        entry = word.entry
        if entry.group < 0:
            return 0
        return self.groups.setdefault((entry.group, entry.member), len(self.groups) + 1)

    def known_member(self, word: Word) -> int:
        """Return what `member` does, or -1 if no key has this member."""
        entry = word.entry
        return 0 if entry.group < 0 else self.groups.get((entry.group, entry.member), -1)


def _hashes(words: Sequence[str]) -> NDArray[np.uint32]:
    return np.array([crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint32)


#: What is compared of a word, beside its letters and its vector.
_FACTS = np.dtype(
    [
        ("stem", np.int32),
        ("first", np.int32),  # its first character
        ("length", np.int32),
        ("letters", np.uint32),  # a bit for each, so that a word without one may be told
        ("group", np.int32),
        ("member", np.int32),
        ("weight", np.float32),
        ("trust", np.float32),
        ("known", np.bool_),
        ("sure", np.bool_),  # whether the vector is its own, or of what it is a form of
        ("filler", np.bool_),
        ("function", np.bool_),
        ("digit", np.bool_),
        ("denies", np.bool_),
        ("short_form", np.bool_),  # which need not have the letters of what it stands for
    ]
)


def facts_of(word: Word, stem: int, member: int) -> tuple[Any, ...]:
    """Return the facts of a word, as a row of an array."""
    entry, text = word.entry, word.text
    flags = entry.is_filler, entry.is_function, entry.has_digit, entry.denies
    return (
        *(stem, ord(text[0]), len(text), letters_of(text), entry.group, member, word.weight),
        *(word.trust, word.is_known, word.trust == 1, *flags, is_short_form(text)),
    )


def letters_of(text: str) -> int:
    """Return the letters of a text as bits; two may share one."""
    bits = 0
    for letter in set(text):
        bits |= 1 << (ord(letter) & 31)
    return bits


def by_name(facts: NDArray[np.void]) -> dict[str, NDArray[Any]]:
    """Return an array for each fact, which is quicker to gather from."""
    return {name: np.ascontiguousarray(facts[name]) for name in _FACTS.names or ()}


# ---- the keys -----------------------------------------------------------------------------------


class Texts(dict[int, str]):
    """The words of each key in the first spelling, joined by blanks, once they are asked for.

    Args:
        words: the different words.
        columns: the numbers of the words of each key, (n, W); they only grow.
    """

    def __init__(self, words: Words, columns: Rows) -> None:
        super().__init__()
        self._words, self._columns = words, columns

    def __missing__(self, slot: int) -> str:
        strings, numbers = self._words.strings, self._columns.rows[slot].tolist()
        text = self[slot] = " ".join([strings[number] for number in numbers if number])
        return text


class Arrays(NamedTuple):
    """What is kept of n keys, a row of each array a key.

    Attributes:
        vectors: of the whole texts, (n, E).
        inverse_lengths: one by the length of each vector, (n,); 0 for the zero vector.
        columns: the numbers of the words of each, (n, W); 0 for no word.
        counts: how many words each has, (n,).
        hashes: a number of each, (n,); those of the least numbers are a sample of all keys.
    """

    vectors: NDArray[np.float32]
    inverse_lengths: NDArray[np.float32]
    columns: NDArray[np.int32]
    counts: NDArray[np.intp]  # of words
    hashes: NDArray[np.uint32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32], columns: NDArray[np.int32], words: Words) -> Arrays:
        """Return the arrays of keys, given their vectors, (n, E), and words, (n, W)."""
        counts = np.count_nonzero(columns, axis=1)
        of_words, mixed = words.hashes.rows, np.zeros(len(columns), np.uint32)
        for place in range(int(counts.max(initial=0))):
            factor = np.uint32((2 * place + 1) * _MIXING & 0xFFFFFFFF)
            mixed += of_words[columns[:, place]] * factor
        hashes = mixed ^ (mixed >> np.uint32(15))
        return cls(vectors, inverse_lengths(vectors), columns, counts, hashes)

    def some(self, slots: NDArray[np.intp]) -> Arrays:
        """Return the arrays of some of the keys."""
        return Arrays._make(array[slots] for array in self)


class Known:
    """What was computed of keys, and may be used again when some are appended.

    Attributes:
        growing: their n-grams, inverted.
        background: that of the sample of some slots.
    """

    def __init__(self) -> None:
        self.growing = Growing()
        self._background: tuple[NDArray[np.intp], Background] | None = None

    def background(self, arrays: Arrays, sample: NDArray[np.intp]) -> Background:
        """Return the cosines to expect of two keys, given the slots of a sample of them."""
        known = self._background
        if known is None or not np.array_equal(known[0], sample):
            known = self._background = sample, usual_of(arrays.vectors[sample])
        return known[1]


class Keys:
    """The text keys of a dict as arrays: n slots, in the dict's order. They never change.

    Threads may compare with them at once, without a lock; what is computed when it is first needed
    is the same whoever computes it. A deleted key leaves its slot dead until the arrays are packed.
    What was written later may stand behind the first n names, texts and slots.

    Args:
        names: the keys as written, the first n.
        words: the different words.
        arrays: what is kept of each key; the vectors are read-only.
        texts: the words of each key in the first spelling, joined by blanks.
        ngrams: the n-grams of all texts, (N,), and how many each has, (n,).
        alive: which slots hold a key of the dict, (n,).
        slots: the slot of each key, for `slot_of`.
        generation: changes when the slots are numbered anew.
        known: what was computed of the first of these keys.

    Attributes:
        count: the number of living slots.
        dead: the dead slots, rising.
    """

    def __init__(
        self,
        names: list[str],
        words: Words,
        arrays: Arrays,
        texts: Texts,
        ngrams: tuple[NDArray[np.uint16], NDArray[np.int64]],
        alive: NDArray[np.bool_],
        slots: dict[str, int],
        generation: object = None,
        known: Known | None = None,
    ) -> None:
        self.names, self.texts, self.slots, self.alive = names, texts, slots, alive
        self.words, self.strings, self.table = words, words.strings, words.table
        self.facts, self.word_units = words.facts.rows, words.units.rows
        self.arrays = arrays
        self.vectors, self.inverse_lengths, self.columns, self.counts, self.hashes = arrays
        self.ngrams, self.generation = ngrams, generation
        self._known = known or Known()
        self.count = int(np.count_nonzero(alive))
        some_are_dead = self.count < len(alive)
        self.dead = np.flatnonzero(~alive) if some_are_dead else np.zeros(0, np.intp)
        self._given: Statistics | None = None
        self._initials: dict[int, str] = {}

    @classmethod
    def of(
        cls,
        table: WordTable,
        names: Sequence[str],
        vectors: NDArray[np.float32],
        statistics: Statistics | None = None,
    ) -> Keys:
        """Return keys, all different and with words, whose vectors are known, (n, E).

        ``statistics`` are those of all keys, if these are some of them.
        """
        words, split = Words(table), list(map(table.words_of, names))
        columns = words.add(split)
        alive = np.ones(len(names), np.bool_)
        slots = {name: slot for slot, name in enumerate(names)}
        of_each = ngrams_of_each(list(map(" ".join, split)))
        texts = Texts(words, Rows(columns))
        arrays = Arrays.of(vectors, columns, words)
        keys = cls(list(names), words, arrays, texts, of_each, alive, slots)
        return keys if statistics is None else keys.with_statistics(statistics)

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self.alive)

    def slot_of(self, name: str) -> int | None:
        """Return the slot of a living key, or None if there is no such key."""
        if not is_plain(type(name)):
            slots = self.living_slots().tolist()
            return next((slot for slot in slots if self.names[slot] is name), None)
        slot = self.slots.get(name)
        return slot if slot is not None and slot < len(self) and self.alive[slot] else None

    def living_slots(self) -> NDArray[np.intp]:
        """Return the slots of the living keys, S of them, rising."""
        return np.flatnonzero(self.alive)

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(compress(self.names, self.alive.tolist()))

    # ---- statistics ---------------------------------------------------------------------------

    @cached_property
    def statistics(self) -> Statistics:
        """What a score needs to know of all keys."""
        if self._given is not None:
            return self._given
        names = list(self.words.stems)
        of_stems = {names[i]: n for i, n in enumerate(self._stem_counts.tolist()) if n}
        return Statistics(self.count, of_stems, self.postings.frequency, self.background)

    @cached_property
    def _stem_counts(self) -> NDArray[np.int64]:
        columns = self.columns[:, : self.most_words]
        columns = columns[self.alive] if len(self.dead) else columns
        of_words = np.bincount(columns.ravel(), minlength=len(self.facts))[1 : len(self.facts)]
        stems = self.facts["stem"][1:]
        return np.bincount(stems, of_words, 1).astype(np.int64)

    def with_statistics(self, statistics: Statistics) -> Keys:
        """Return the same keys as some of many, of which these are the statistics."""
        new = copy(self)
        for name in _OF_ALL_KEYS:
            new.__dict__.pop(name, None)
        new._given = statistics
        return new

    def with_vectors(self, vectors: NDArray[np.float32]) -> Keys:
        """Return the same keys, with other vectors of the whole texts, (n, E)."""
        new = copy(self)
        for name in ("statistics", "background", "to_standard"):
            new.__dict__.pop(name, None)
        new.vectors, new.inverse_lengths = vectors, inverse_lengths(vectors)
        new.arrays = self.arrays._replace(vectors=vectors, inverse_lengths=new.inverse_lengths)
        new._known = Known()
        return new

    @cached_property
    def total(self) -> int:
        """How many keys were counted."""
        return self.count if self._given is None else self._given.count

    def frequency(self, stem: str) -> int:
        """Return how many words of all keys have a stem."""
        if self._given is not None:
            return self._given.stems.get(stem, 0)
        place = self.words.stems.get(stem, -1)
        counts = self._stem_counts
        return int(counts[place]) if 0 <= place < len(counts) else 0

    def rarity(self, counts: Any) -> Any:
        """Return how rare words are among the keys, given how often each stem occurs."""
        total = max(self.total, 1)
        return np.log1p(total / (counts + 0.5)) / np.log1p(2 * total)

    def weights_of(self, words: Sequence[Word]) -> list[float]:
        """Return the weights of the words of a query: rare in English, and among the keys."""
        total = max(self.total, 1)
        most = math.log1p(2 * total)
        return [
            word.weight * (math.log1p(total / (self.frequency(word.entry.stem) + 0.5)) / most)
            for word in words
        ]

    @cached_property
    def facts_by_name(self) -> dict[str, NDArray[Any]]:
        """What is compared of each word, (U + 1,), an array for each fact."""
        facts = by_name(self.facts)
        return facts | {
            "marked": facts["denies"] | facts["digit"],
            "short": (facts["length"] <= SHORT).astype(np.float32),
            "is_known": facts["known"].astype(np.float32),
        }

    @cached_property
    def most_words(self) -> int:
        """How many words a key has at most."""
        return int(self.counts.max(initial=0))

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """The weight of each word: rare in English, and among the keys, (U + 1,); 0 for no word."""
        if self._given is None:
            counts = self._stem_counts[self.facts["stem"].clip(0)]
        else:
            of_each = map(self._given.stems.get, (look_up(one).stem for one in self.strings[1:]))
            counts = np.array([0, *(one or 0 for one in of_each)])[: len(self.facts)]
        weights = np.asarray(self.facts["weight"] * self.rarity(counts), np.float32)
        weights[_NO_WORD] = 0
        return weights

    @cached_property
    def postings(self) -> Postings:
        """Which keys have each n-gram."""
        of_all = None if self._given is None else (self._given.ngrams, self._given.count)
        return Postings(*self.ngrams, self.alive, of_all, self._known.growing)

    @cached_property
    def to_standard(self) -> tuple[NDArray[np.float32], float]:
        """Scale, (n,), and shift that make a product with a unit vector standard deviations."""
        mean, spread = self.background
        return self.inverse_lengths / np.float32(spread), mean / spread

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of two keys, from those of a sample."""
        if self._given is not None:
            return self._given.background
        return self._known.background(self.arrays, self.sample(USUAL))

    def sample(self, count: int) -> NDArray[np.intp]:
        """Return the slots of some living keys, the same whatever the order of the keys."""
        slots = self.living_slots()
        if len(slots) <= count:
            return slots
        hashes = self.hashes[slots]
        return np.sort(slots[np.argpartition(hashes, count)[:count]])

    def initials(self, slots: Sequence[int]) -> list[str]:
        """Return the first letters of the words of some keys."""
        known = self._initials
        for slot in [one for one in slots if one not in known]:
            words = self.texts[slot].split(" ")[:MOST_WORDS]
            known[slot] = "".join([word[0] for word in words])
        return [known[slot] for slot in slots]

    # ---- some of them -------------------------------------------------------------------------

    def some(self, slots: NDArray[np.intp]) -> Keys:
        """Return the keys of c living slots, rising, as keys of their own."""
        places = slots.tolist()
        names, arrays = [self.names[i] for i in places], self.arrays.some(slots)
        few = Keys(
            names,
            self.words,
            arrays,
            Texts(self.words, Rows(arrays.columns)),
            ngrams_of_each([self.texts[i] for i in places]),
            np.ones(len(places), np.bool_),
            {name: slot for slot, name in enumerate(names)},
        )
        return few.with_statistics(self.statistics)


#: What is computed of all keys, of which a `Keys` may have some.
_OF_ALL_KEYS = (
    *("statistics", "_stem_counts", "postings", "background", "weights", "to_standard"),
    "total",
)


def usual_of(vectors: NDArray[np.float32]) -> Background:
    """Return the cosines to expect of two keys, given the vectors of some, (m, E)."""
    mean, spread = background_of(vectors[vectors.any(axis=1)])
    return Background(mean, max(spread, _LEAST_SPREAD * (1 - mean)))


_PLAIN = {str, np.str_}


def is_plain(kind: type) -> bool:
    """Tell whether keys of a class are equal to what has the same text, and no code is run.

    >>> class Loud(str):
    ...     def __eq__(self, other): print("asked"); return False
    >>> is_plain(str), is_plain(Loud), is_plain(int)
    (True, False, False)
    """
    if kind in _PLAIN:
        return True
    of_text: Any = str
    same = kind.__eq__ is of_text.__eq__ and kind.__hash__ is of_text.__hash__
    return issubclass(kind, str) and same


def shares_of(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return weights of words (..., W) as shares of their sum; zeros where there are none."""
    total = np.add.reduce(weights, axis=-1, keepdims=True)
    return np.asarray(weights / np.maximum(total, np.float32(1e-9)))
