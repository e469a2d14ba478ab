"""The keys of a dict as arrays: vectors, n-grams, words, and statistics of all of them.

n keys, W words of a key at most, U different words, E numbers of a vector
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from zlib import crc32

import numpy as np

from fuzzydict._arrays import Rows, inverse_lengths, make_room, units
from fuzzydict.text.lexicon import Entry, is_short_form, look_up, words_of
from fuzzydict.text.ngrams import Growing, Postings, ngrams_of_each
from fuzzydict.text.words import LONGEST, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.word_vectors import WordVectors
    from fuzzydict.search.taught import SynonymRules


#: Words of a text that are compared one by one.
MOST_WORDS = 16
SHORT = 4  # letters of a short word
#: Keys whose cosines tell what is usual.
USUAL = 128
_FREQUENT = 30_000  # words of a table among which some are drawn
_KEPT = 1 << 12  # words that were looked up last
_MIXING = 0x9E3779B1  # odd, so that no bit of a hash is lost


# ---- words ---------------------------------------------------------------------------------------


class Word(NamedTuple):
    """A word as it is compared."""

    text: str  # the word, in its first spelling
    entry: Entry  # what the lexicon says of it
    unit: NDArray[np.float32]  # its vector, (E,), of length one, or zeros
    length: float  # that of its vector
    weight: float  # how much it says in English: rare words weigh more
    is_known: bool  # whether it is a word of the table
    trust: float  # how far the vector can be trusted; 0 for a word never seen


def compared_words(text: str) -> list[str]:
    """Return the words of a text in their first spellings: "colour" is "color"."""
    return [look_up(word).form for word in words_of(text)[:MOST_WORDS]]


class WordTable:
    """Words looked up in the lexicon and in a table of vectors, if there is one, each once."""

    def __init__(self, vectors: WordVectors | None) -> None:
        self.vectors = vectors
        self.synonyms: SynonymRules | None = None  # which are replaced in texts
        self.size = 0 if vectors is None else vectors.size
        self._kept: dict[str, Word] = {}
        self._none = np.zeros(self.size, np.float32), 0.0, 1.0, False, 0.0

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text in their first spellings, with synonyms replaced."""
        return compared_words(text if self.synonyms is None else self.synonyms.text(text))

    def written(self, texts: list[str]) -> list[str]:
        """Return texts with synonyms replaced."""
        return texts if self.synonyms is None else list(map(self.synonyms.text, texts))

    def synonyms_in(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the synonyms that are applied to some texts, as they were given."""
        applied: dict[str, str] = {}
        for text in texts if self.synonyms is not None else ():
            applied |= self.synonyms.applied(text)  # type: ignore[union-attr]
        return applied

    def look_up(self, texts: Sequence[str]) -> list[Word]:
        """Return several words, whose vectors are looked up together; none is kept."""
        known = [self._none] * len(texts) if self.vectors is None else self.vectors.look_up(texts)
        return [Word(text, look_up(text), *of) for text, of in zip(texts, known, strict=True)]

    def __getitem__(self, text: str) -> Word:
        word = self._kept.get(text)
        if word is None:
            known = self._none if self.vectors is None else self.vectors.word(text)
            word = Word(text, look_up(text), *known)
            make_room(self._kept, _KEPT)
            self._kept[text] = word
        return word

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of two unrelated words of the table."""
        words = self.vectors.words[:_FREQUENT] if self.vectors is not None else []
        some = words[:: max(1, len(words) // USUAL)]
        return background_of(np.array([self[word].unit for word in some] or [self._none[0]]))


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
        none = np.zeros(1, _FACTS)
        none["stem"] = -1
        self.facts = Rows(none)
        self.units = Rows(np.zeros((1, table.size), np.float32))
        self.hashes = Rows(np.zeros(1, np.uint32))

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
            for place, text in enumerate(words):
                number = numbers.get(text)
                if number is None:
                    number = numbers[text] = len(self.strings)
                    self.strings.append(text)
                row[place] = number
        facts, stems = [], self.stems
        new = self.table.look_up(self.strings[first:])
        for word in new:
            of_class, member = (word.entry.group, word.entry.member), 0
            if word.entry.group >= 0:
                member = self.groups.setdefault(of_class, len(self.groups) + 1)
            facts.append(facts_of(word, stems.setdefault(word.entry.stem, len(stems)), member))
        if new:
            hashes = [crc32(word.text.encode("utf-8", "surrogatepass")) for word in new]
            self.facts.extend(np.array(facts, _FACTS))
            self.units.extend(np.array([word.unit for word in new]).reshape(len(new), -1))
            self.hashes.extend(np.array(hashes, np.uint32))
        return rows

    def known_member(self, word: Word) -> int:
        """Return the number of the member of a closed class that a word is.

        It is 0 if the word is of no class, and -1 if no key has this member.
        """
        entry = word.entry
        return 0 if entry.group < 0 else self.groups.get((entry.group, entry.member), -1)


#: What is compared of a word, beside its letters and its vector.
_FACTS = np.dtype(
    [
        # The first character, and a bit for each letter, so that a word without one may be told.
        *((name, np.int32) for name in ("stem", "first", "length", "group", "member")),
        *(("letters", np.uint32), ("weight", np.float32), ("trust", np.float32)),
        # Whether the vector is its own, or of what it is a form of; whether it is short for others.
        *((name, np.bool_) for name in ("known", "sure", "short_form")),
        *((name, np.bool_) for name in ("filler", "function", "digit", "denies")),
    ]
)


def facts_of(word: Word, stem: int, member: int) -> tuple[Any, ...]:
    """Return the facts of a word, as a row of an array."""
    entry, text = word.entry, word.text
    return (
        *(stem, ord(text[0]), len(text), entry.group, member),
        *(letters_of(text), word.weight, word.trust),
        *(word.is_known, word.trust == 1, is_short_form(text)),
        *(entry.is_filler, entry.is_function, entry.has_digit, entry.denies),
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


def shares_of(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return weights of words (..., W) as shares of their sum; zeros where there are none."""
    total = np.add.reduce(weights, axis=-1, keepdims=True)
    return np.asarray(weights / np.maximum(total, np.float32(1e-9)))


# ---- keys that are appended ----------------------------------------------------------------------


class Texts(dict[int, str]):
    """The words of each key in the first spelling, joined by blanks, once they are asked for."""

    def __init__(self, words: Words, columns: Rows) -> None:
        super().__init__()
        self._words, self._columns = words, columns

    def __missing__(self, slot: int) -> str:
        strings, numbers = self._words.strings, self._columns.rows[slot].tolist()
        text = self[slot] = " ".join([strings[number] for number in numbers if number])
        return text


class Columns:
    """Keys in arrays that only grow: who reads the first n rows is not disturbed."""

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self.is_whole = True  # False while rows are appended, and after that was interrupted
        self.generation = object()  # another one if the slots are numbered anew
        self.names: list[str] = []
        self.slots: dict[str, int] = {}  # of the names whose text tells whether they are equal
        self.has_others = False  # names of a class with its own `__eq__` or `__hash__`
        self.words = Words(table)
        none = {name: Rows(np.zeros(0, kind)) for name, kind in _ROWS.items()}
        columns = Rows(np.zeros((0, MOST_WORDS), np.int32))
        self.rows = {"vectors": Rows(np.zeros((0, 0), np.float32)), "columns": columns, **none}
        self.texts = Texts(self.words, columns)
        self.growing = Growing()  # the n-grams, inverted
        self.usual: tuple[Any, Background] | None = None  # of the keys in some slots

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.names, new.slots, new.words = self.names.copy(), self.slots.copy(), copy(self.words)
        new.rows = {name: copy(rows) for name, rows in self.rows.items()}
        new.texts, new.growing = Texts(new.words, new.rows["columns"]), Growing()
        return new

    def append(
        self, names: Sequence[str], vectors: NDArray[np.float32], split: Split | None = None
    ) -> None:
        """Append keys with words, m of them, and their vectors, (m, E); maybe split before."""
        self.is_whole, first = False, len(self.names)
        if split is None:
            words = [self.table.words_of(exact_text(name)) for name in names]
            columns = self.words.add(words)
            ngrams, ngram_counts = ngrams_of_each(list(map(" ".join, words)))
        else:
            columns = split.columns(self.words)
            ngrams, ngram_counts = split.ngrams, split.ngram_counts
        counts, of_words = np.count_nonzero(columns, axis=1), self.words.hashes.rows
        mixed = np.zeros(len(names), np.uint32)
        for place in range(int(counts.max(initial=0))):
            factor = np.uint32((2 * place + 1) * _MIXING & 0xFFFFFFFF)
            mixed += of_words[columns[:, place]] * factor
        new = {
            "vectors": vectors,
            "inverse_lengths": inverse_lengths(vectors),
            "columns": columns,
            "counts": counts,
            "hashes": mixed ^ (mixed >> np.uint32(15)),
            "ngrams": ngrams,
            "ngram_counts": ngram_counts,
        }
        for name, rows in new.items():
            self.rows[name].extend(rows)
        slots = zip(names, range(first, first + len(names)), strict=True)
        if all(map(is_plain, set(map(type, names)))):
            self.slots.update(slots)
        else:
            self.has_others = True
            self.slots.update([(name, slot) for name, slot in slots if is_plain(type(name))])
        self.names.extend(names)
        self.is_whole = True


_ROWS = {"inverse_lengths": np.float32, "counts": np.intp, "hashes": np.uint32}
_ROWS |= {"ngrams": np.uint16, "ngram_counts": np.int64}


class Split(NamedTuple):
    """The words and n-grams of S keys, as a file keeps them."""

    words: list[str]  # the different words
    numbers: NDArray[np.int32]  # of the words of all keys, one key after the other, from 1 on
    counts: NDArray[np.uint8]  # how many words each key has, (S,)
    ngrams: NDArray[np.uint16]  # of all keys, one key after the other
    ngram_counts: NDArray[np.int64]  # how many each has, (S,)

    @classmethod
    def of(cls, keys: Keys) -> Split:
        """Return the words and n-grams of the living keys, and of no others."""
        ngrams, ngram_counts, columns = keys.ngrams, keys.ngram_counts, keys.columns
        if len(keys.dead):
            ngrams = ngrams[np.repeat(keys.alive, ngram_counts)]
            ngram_counts, columns = ngram_counts[keys.alive], columns[keys.alive]
        counts = np.count_nonzero(columns, axis=1).astype(np.uint8)
        used, numbers = np.unique(columns[columns > 0], return_inverse=True)
        words = [keys.strings[number] for number in used.tolist()]
        return cls(words, (numbers + 1).astype(np.int32), counts, ngrams, ngram_counts)

    def check(self) -> None:
        """Raise ValueError unless these are words and n-grams of keys."""
        words, numbers, counts, sums = self.words, self.numbers, self.counts, self.ngram_counts
        if not (
            len(set(words)) == len(words)
            and all(0 < len(word) <= LONGEST and " " not in word for word in words)
            and len(numbers) == counts.sum(dtype=np.int64)
            and len(self.ngrams) == sums.sum(dtype=np.int64)
            and 1 <= counts.min(initial=1) <= counts.max(initial=1) <= MOST_WORDS
            and 1 <= numbers.min(initial=1) <= numbers.max(initial=0) <= len(words)
            and sums.min(initial=1) > 0
        ):
            raise ValueError("its words are not those of its keys")

    def is_current(self) -> bool:
        """Tell whether the tables still say that these are first spellings of words."""
        return all(look_up(word).form == word for word in self.words)

    def columns(self, words: Words) -> NDArray[np.int32]:
        """Return the numbers of the words of each key, (S, W), among those of a dict."""
        known = np.append(0, words.add([[word] for word in self.words])[:, 0]).astype(np.int32)
        columns = np.zeros((len(self.counts), MOST_WORDS), np.int32)
        columns[np.arange(MOST_WORDS) < self.counts[:, None]] = known[self.numbers]
        return columns


# ---- keys that never change ----------------------------------------------------------------------


class Statistics(NamedTuple):
    """What a score needs to know of all keys."""

    total: int  # how many were counted
    stems: dict[str, int]  # how many words of them have each stem
    ngrams: NDArray[np.int64]  # how many of them have each n-gram, (65536,)
    background: Background  # the cosines to expect of two of them


class Keys:
    """The text keys of a dict as arrays: n slots, in the dict's order. They never change.

    Threads may compare with them at once, without a lock; what is computed when it is first needed
    is the same whoever computes it. A deleted key leaves its slot dead until the arrays are packed.
    What was written later may stand behind the first n names, texts and slots.

    Args:
        columns: the keys, and maybe others that are appended later.
        alive: which of the first n slots hold a key of the dict, (n,).
    """

    vectors: NDArray[np.float32]  # of the whole texts, (n, E), read-only
    inverse_lengths: NDArray[np.float32]  # one by the length of each vector, (n,); 0 for zero
    columns: NDArray[np.int32]  # the numbers of the words of each, (n, W); 0 for no word
    counts: NDArray[np.intp]  # how many words each has, (n,)
    hashes: NDArray[np.uint32]  # of each, (n,); those of the least are a sample of all keys
    ngrams: NDArray[np.uint16]  # of all texts, one after the other
    ngram_counts: NDArray[np.int64]  # how many each has, (n,)

    def __init__(self, columns: Columns, alive: NDArray[np.bool_]) -> None:
        self.__dict__.update({name: rows.rows for name, rows in columns.rows.items()})
        self.vectors = self.vectors.view()
        self.vectors.flags.writeable = False  # scorers and answers are shown them, not a copy
        self._columns, self.generation = columns, columns.generation
        self.names, self.texts, self.slots = columns.names, columns.texts, columns.slots
        self.words, self.table = columns.words, columns.table
        self.strings = self.words.strings
        self.facts, self.word_units = self.words.facts.rows, self.words.units.rows
        self.alive = alive
        self.count = self.total = int(np.count_nonzero(alive))  # those here, and those counted
        self.dead = np.flatnonzero(~alive) if self.count < len(alive) else np.zeros(0, np.intp)
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
        columns = Columns(table)
        columns.append(names, vectors)
        keys = cls(columns, np.ones(len(names), np.bool_))
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
        return slot if slot is not None and slot < len(self.alive) and self.alive[slot] else None

    def living_slots(self) -> NDArray[np.intp]:
        """Return the slots of the living keys, S of them, rising."""
        return np.flatnonzero(self.alive)

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(compress(self.names, self.alive.tolist()))

    def initials(self, slots: Sequence[int]) -> list[str]:
        """Return the first letters of the words of some keys."""
        known = self._initials
        for slot in [one for one in slots if one not in known]:
            known[slot] = "".join([word[0] for word in self.texts[slot].split(" ")])
        return [known[slot] for slot in slots]

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
        for name, made in vars(Keys).items():
            if isinstance(made, cached_property):
                new.__dict__.pop(name, None)
        new._given, new.total = statistics, statistics.total
        return new

    def with_vectors(self, vectors: NDArray[np.float32]) -> Keys:
        """Return the same keys, with other vectors of the whole texts, (n, E)."""
        new = copy(self)
        for name in ("statistics", "to_standard"):
            new.__dict__.pop(name, None)
        new.vectors, new.inverse_lengths = vectors, inverse_lengths(vectors)
        new.background = usual_of(vectors[self.sample(USUAL)])
        return new

    def frequency(self, stem: str) -> int:
        """Return how many words of all keys have a stem."""
        if self._given is not None:
            return self._given.stems.get(stem, 0)
        place, counts = self.words.stems.get(stem, -1), self._stem_counts
        return int(counts[place]) if 0 <= place < len(counts) else 0

    def rarity(self, counts: Any) -> Any:
        """Return how rare words are among the keys, given how often each stem occurs."""
        total = max(self.total, 1)
        return np.log1p(total / (counts + 0.5)) / np.log1p(2 * total)

    def weights_of(self, words: Sequence[Word]) -> list[float]:
        """Return the weights of the words of a query: rare in English, and among the keys."""
        total, most = max(self.total, 1), math.log1p(2 * max(self.total, 1))
        counts = [self.frequency(word.entry.stem) + 0.5 for word in words]
        rarity = [math.log1p(total / count) / most for count in counts]
        return [word.weight * rare for word, rare in zip(words, rarity, strict=True)]

    @cached_property
    def facts_by_name(self) -> dict[str, NDArray[Any]]:
        """What is compared of each word, (U + 1,), an array for each fact."""
        facts = by_name(self.facts)
        facts["marked"] = facts["denies"] | facts["digit"]
        facts["short"] = (facts["length"] <= SHORT).astype(np.float32)
        return facts | {"is_known": facts["known"].astype(np.float32)}

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
        weights[0] = 0
        return weights

    @cached_property
    def postings(self) -> Postings:
        """Which keys have each n-gram."""
        of_all = None if self._given is None else (self._given.ngrams, self._given.total)
        growing = self._columns.growing
        return Postings(self.ngrams, self.ngram_counts, self.alive, of_all, growing)

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
        sample, usual = self.sample(USUAL), self._columns.usual
        if usual is None or not np.array_equal(usual[0], sample):
            usual = self._columns.usual = sample, usual_of(self.vectors[sample])
        return usual[1]

    def sample(self, count: int) -> NDArray[np.intp]:
        """Return the slots of some living keys, the same whatever the order of the keys."""
        slots = self.living_slots()
        if len(slots) <= count:
            return slots
        return np.sort(slots[np.argpartition(self.hashes[slots], count)[:count]])

    def some(self, slots: NDArray[np.intp]) -> Keys:
        """Return the keys of c living slots, rising, as keys of their own."""
        names = [self.names[slot] for slot in slots.tolist()]
        return Keys.of(self.table, names, self.vectors[slots], self.statistics)


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


def exact_text(text: str) -> str:
    """Return a text as a `str` itself, so that no method of a derived class is called."""
    return text if type(text) is str else str.__str__(text)


def texts_with_words(keys: Iterable[Any]) -> list[str]:
    """Return the keys that are texts and have words."""
    return [key for key in keys if isinstance(key, str) and plain(exact_text(key))]


# ---- cosines of unrelated texts ------------------------------------------------------------------

LEAST_ABOVE, MOST_ABOVE = -3.0, 12.0  # standard deviations
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
        return np.clip(above, LEAST_ABOVE, MOST_ABOVE, out=above)


def background_of(vectors: NDArray[np.float32]) -> Background:
    """Return the background of an embedding, estimated from the vectors of some texts, (n, E).

    Embeddings differ: in some, all cosines lie between 0.7 and 1. If there are few texts, the
    estimate is drawn towards the usual values.

    >>> mean, spread = background_of(np.eye(20, dtype=np.float32))
    >>> round(mean, 3), round(spread, 3)
    (0.002, 0.01)
    """
    unit = units(vectors)
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), 1)].astype(np.float64)
    weight = len(cosines) + _PRIOR_PAIRS
    mean = (cosines.sum() + _PRIOR_PAIRS * _USUAL_MEAN) / weight
    squares = np.square(cosines - mean).sum() + _PRIOR_PAIRS * _USUAL_SPREAD**2
    return Background(float(mean), float(np.sqrt(squares / weight)))


def usual_of(vectors: NDArray[np.float32]) -> Background:
    """Return the cosines to expect of two keys, given the vectors of some, (m, E)."""
    mean, spread = background_of(vectors[vectors.any(axis=1)])
    return Background(mean, max(spread, _LEAST_SPREAD * (1 - mean)))
