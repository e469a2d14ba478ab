"""Words -> rows of a vocabulary: the words in it, and what stands in for words never seen."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict.errors import ArgumentTypeError, ShapeError, quoted
from fuzzydict.nn.softmax import softmax
from fuzzydict.text.ngrams import NgramIndex, shared_by_each
from fuzzydict.text.similarity import likenesses, sound
from fuzzydict.text.words import LONGEST
from fuzzydict.text.words import words as words_of

__all__ = [
    "FEW",
    "Found",
    "Phrases",
    "Spellings",
    "StandIns",
    "StandInsOfEach",
    "Vocabulary",
    "mean_trust",
    "phrases_of",
    "sums",
]


#: Words that are asked for one by one, and remembered; more are compared together.
FEW = 256
_CANDIDATES = 64  # words that share n-grams with the unseen one, to be compared exactly
_SHARED = 0.2  # the least cosine of n-grams of a candidate
_KEPT = 4  # words that stand in
_TEMPERATURE = 0.03  # in units of likeness: how far the best stand-in outweighs the others
_PRIOR = 0.015  # likeness that a word is given for each power of ten of its frequency
_DOUBTED, _TRUSTED = 0.5, 0.9  # likeness at which a stand-in is not, or fully, taken for the word
_NOBODY = np.float32(-100)  # likeness of a candidate that is not there
_BLOCK = 256  # words compared at a time, so that memory stays bounded


class StandIns(NamedTuple):
    """Rows (n,) of the words that stand in for one never seen, best first; weights (n,), sum 1.

    ``likeness`` is how alike the best of them and the unseen word look, 0 where there is none.
    """

    rows: NDArray[np.intp]
    weights: NDArray[np.float32]
    likeness: float

    @property
    def trust(self) -> float:
        """How far they can be taken for the word: rises from 0 to 1 with the likeness."""
        return min(max((self.likeness - _DOUBTED) / (_TRUSTED - _DOUBTED), 0.0), 1.0)


class StandInsOfEach(NamedTuple):
    """The same of U words: rows and weights (U, 4), 0 where there are fewer; likeness (U,)."""

    rows: NDArray[np.intp]
    weights: NDArray[np.float32]
    likeness: NDArray[np.float64]

    @classmethod
    def of(cls, each: Sequence[StandIns]) -> StandInsOfEach:
        """Return those of words that were asked for one by one."""
        found = cls.of_none(len(each))
        for i, one in enumerate(each):
            found.rows[i, : len(one.rows)] = one.rows
            found.weights[i, : len(one.rows)] = one.weights
            found.likeness[i] = one.likeness
        return found

    @classmethod
    def of_none(cls, count: int) -> StandInsOfEach:
        """Return that nothing stands in for so many words."""
        shape = (count, _KEPT)
        return cls(np.zeros(shape, np.intp), np.zeros(shape, np.float32), np.zeros(count))

    @property
    def trust(self) -> NDArray[np.float64]:
        """How far they can be taken for the words, (U,)."""
        return np.clip((self.likeness - _DOUBTED) / (_TRUSTED - _DOUBTED), 0, 1)


class Spellings:
    """How V known words are spelled, and how often each occurs, (V,).

    >>> spellings = Spellings(["color", "speed"], np.array([140, 60]))
    >>> spellings.stand_ins("colour").rows.tolist()
    [0]
    >>> spellings.stand_ins_of_each(["colour", "spede"]).rows[:, 0].tolist()
    [0, 1]
    """

    def __init__(self, strings: Sequence[str], counts: NDArray[np.int64]) -> None:
        self._ngrams = NgramIndex(strings)
        self._prior = _PRIOR * np.log10(np.maximum(counts, 1)).astype(np.float32)

    def stand_ins(self, word: str) -> StandIns:
        """Attend to the known words by spelling: those that ``word`` may be, and how surely.

        Nothing stands in for a code or a number: 1961 is not nearly 1962.
        """
        if _is_code(word):
            return StandIns(np.zeros(0, np.intp), np.zeros(0, np.float32), 0.0)
        shared = self._ngrams.similarities(word)
        rows = np.flatnonzero(shared >= _SHARED)
        rows = _candidates(rows, shared[rows])
        if not len(rows):
            return StandIns(rows, np.zeros(0, np.float32), 0.0)
        (alike,) = likenesses([word], [self._ngrams.strings[row] for row in rows.tolist()])
        scores = alike + self._prior[rows]
        best = np.argsort(-scores, kind="stable")[:_KEPT]
        weights = softmax(scores[best], temperature=_TEMPERATURE)
        return StandIns(rows[best], weights, float(alike[best[0]]))

    def stand_ins_of_each(self, words: Sequence[str]) -> StandInsOfEach:
        """Return the `stand_ins` of many words, which are compared many at a time."""
        stand_ins, sounds = StandInsOfEach.of_none(len(words)), _Sounds(self._ngrams.strings)
        asked = np.array([i for i, word in enumerate(words) if not _is_code(word)], np.intp)
        shared = shared_by_each(self._ngrams, [words[i] for i in asked.tolist()], _SHARED)
        for some in (asked[part] for part in slices(len(asked), _BLOCK)):
            found = np.zeros((len(some), _CANDIDATES), np.intp)
            alike, scores = np.full((2, *found.shape), _NOBODY)
            for i, place in enumerate(some.tolist()):
                near = _candidates(*next(shared))
                found[i, : len(near)] = near
                alike[i, : len(near)] = self._alike(words[place], near.tolist(), sounds)
                scores[i, : len(near)] = alike[i, : len(near)] + self._prior[near]
            best = np.argsort(-scores, axis=1, kind="stable")[:, :_KEPT]
            likeness = np.take_along_axis(alike, best, 1)
            there = likeness > _NOBODY
            weights = softmax(np.take_along_axis(scores, best, 1), temperature=_TEMPERATURE)
            stand_ins.rows[some] = np.take_along_axis(found, best, 1) * there
            stand_ins.weights[some] = weights * there
            stand_ins.likeness[some] = likeness[:, 0] * there[:, 0]
        return stand_ins

    def _alike(self, word: str, rows: list[int], sounds: _Sounds) -> NDArray[np.float32]:
        if not rows:
            return np.zeros(0, np.float32)
        known = [self._ngrams.strings[row] for row in rows]
        (alike,) = likenesses([word], known, [sounds[row] for row in rows])
        return np.asarray(alike, np.float32)


class _Sounds(dict[int, str]):
    """How strings sound, by their places; told of each when it is first asked for."""

    def __init__(self, strings: Sequence[str]) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, place: int) -> str:
        heard = self[place] = sound(self._strings[place])
        return heard


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word))


def _candidates(rows: NDArray[np.intp], shared: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the rows that share the most n-grams, given the cosines of all that share some."""
    if len(rows) <= _CANDIDATES:
        return rows
    return rows[np.argpartition(-shared, _CANDIDATES)[:_CANDIDATES]]


_DIFFERENT = 1 << 15  # words of texts read at once, whose vectors are held in passing
_BLOCK_OF_PHRASES = 512  # lists summed at a time: their sums stay near the processor


class Phrases:
    """The words of n texts, each different word kept once, U of them.

    Args:
        split: the words of each text; of an iterator no more are taken than are held.
        most: different words, after which no further text is taken; by default all are.

    >>> phrases = Phrases([["top", "speed"], [], ["speed"]])
    >>> phrases.words
    ['top', 'speed']
    >>> phrases.means(np.eye(2, dtype=np.float32), np.array([3, 1], np.float32)).tolist()
    [[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, split: Iterable[Sequence[str]], most: int | None = None) -> None:
        numbers: dict[str, int] = {}
        flat, lengths = array("q"), array("q")
        for words in split:
            found = [numbers.setdefault(word, len(numbers)) for word in words]
            # The first word is added last: so means are, to the bit, those in older files.
            flat.extend(found if len(found) < 3 else (*found[1:], found[0]))
            lengths.append(len(found))
            if most is not None and len(numbers) > most:
                break
        self.words = list(numbers)
        self._flat, self._lengths = np.array(flat, np.intp), np.array(lengths, np.intp)

    def __len__(self) -> int:
        """Return the number of texts n."""
        return len(self._lengths)

    def means(self, rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted mean of the rows, (U, E), of each text's words, (n, E); 0 of none.

        Args:
            rows: of the different words, in their order.
            weights: theirs, (U,), above 0.
        """
        found = sums(rows * weights[:, None], self._flat, self._lengths)
        total = sums(weights[:, None], self._flat, self._lengths)
        return np.divide(found, total, out=found, where=total > 0)


def phrases_of(split: Iterable[Sequence[str]]) -> Iterator[tuple[slice, Phrases]]:
    """Yield texts some at a time, and where they stand, so that their words are not too many.

    >>> [(where, phrases.words) for where, phrases in phrases_of([["top", "speed"], ["speed"]])]
    [(slice(0, 2, None), ['top', 'speed'])]
    """
    left, start = iter(split), 0
    while len(phrases := Phrases(left, _DIFFERENT)):
        yield slice(start, start + len(phrases)), phrases
        if len(phrases.words) <= _DIFFERENT:  # so no text is left
            return
        start += len(phrases)


def sums(
    rows: NDArray[np.float32], places: NDArray[np.intp], lengths: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the sum of the rows, (U, E), that each of n lists names, (n, E), in their order.

    All lists are summed together, place by place, which is several times as fast as one by one.

    Args:
        rows: what is summed.
        places: the lists one after the other, whole numbers below U.
        lengths: theirs, (n,).

    >>> sums(np.eye(2, dtype=np.float32), np.array([0, 1, 1]), np.array([3, 0])).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    found = np.zeros((len(lengths), rows.shape[1]), np.float32)
    if len(lengths) == 1:  # a query
        for place in places.tolist():
            found += rows[place]
        return found
    starts = np.cumsum(lengths) - lengths
    for some in slices(len(lengths), _BLOCK_OF_PHRASES):
        part, first, length = found[some], starts[some], lengths[some]
        for i in range(length.max(initial=0)):
            if i < length.min():
                part += rows[places[first + i]]
            else:
                longer = np.flatnonzero(length > i)
                part[longer] += rows[places[first[longer] + i]]
    return found


_SMOOTHING = 1e-3  # a word of this relative frequency weighs half as much as a rare one
_SAYS_MUCH = 0.25  # share of a rare word's weight from which on a word's vector is its meaning's


class Vocabulary:
    """The words of an embedding, V of them, most frequent first, and their counts, (V,).

    >>> vocabulary = Vocabulary(["the", "color", "Paris"], [70000, 140, 60])
    >>> vocabulary.row("color"), vocabulary.row("paris"), vocabulary.row("colour")
    (1, 2, None)
    >>> vocabulary.stand_ins("colour").rows.tolist()
    [1]
    """

    def __init__(self, words: Sequence[str], counts: Sequence[int] | NDArray[np.int64]) -> None:
        self.words = list(words)
        self._learned: frozenset[str] = frozenset()
        self.counts = _checked_counts(counts, len(self.words))
        stranger = next((word for word in self.words if not isinstance(word, str)), None)
        if stranger is not None:
            raise ArgumentTypeError(f"words: expected texts, got {quoted(stranger)}")
        if len(set(self.words)) < len(self.words):
            (twice, _), *_ = Counter(self.words).most_common(1)
            raise ShapeError(f"words: {twice!r} comes twice; keep one of its vectors")
        # Bounded: a long-lived process meets any number of misspellings.
        self.stand_ins = lru_cache(maxsize=4096)(self._stand_ins)

    def __len__(self) -> int:
        return len(self.words)

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[list[str], NDArray[np.int64]]]:
        # Without what can be derived, or is learned: projections have that.
        return Vocabulary, (self.words, self.counts)

    def row(self, word: str) -> int | None:
        """Return the row of ``word``, spelled as in the vocabulary or in its plain form."""
        return self._rows.get(word)

    def tokens(self, text: str) -> list[str]:
        """Return ``text`` as the vocabulary's tokens: itself if it is one, else its words.

        Phrases that the vocabulary writes with underscores ("new_york") are found as such. Of a
        long text the beginning is read.
        """
        text = text[:LONGEST]
        if text in self._rows:
            return [text]
        lower = text.lower()
        if lower in self._rows:
            return [lower]
        words = words_of(text)
        joined = "_".join(words)
        return [joined] if len(words) > 1 and joined in self._rows else words

    def known_share(self, text: str) -> float:
        """Return which share of the words of ``text`` is in the vocabulary; 0 if it has none."""
        tokens = self.tokens(text)
        return sum(map(self.knows, tokens)) / max(len(tokens), 1)

    def weight(self, word: str) -> float:
        """Return how much ``word`` counts in a phrase: near 1 if rare, "of" 0.03.

        A word never seen weighs as much as the rarest that was.

        ``a / (a + p)`` with the word's relative frequency ``p`` (Arora, Liang and Ma, 2017, "A
        Simple but Tough-to-Beat Baseline for Sentence Embeddings", equation 1).
        """
        return float(self._weights[self._rows.get(word, -1)])

    def trust(self, word: str) -> float:
        """Return how far the vector of ``word`` can be believed, from 0 to 1.

        A word that was seen is believed, but for those that stand everywhere ("the"), and for
        numbers: all stand in the same places, and 1961 does not mean 1962. One never seen is
        believed as far as its stand-ins.
        """
        if word in self._learned:
            return 1.0
        row = self._rows.get(word)
        return self.stand_ins(word).trust if row is None else float(self._trust[row])

    def phrases(self, texts: Sequence[str]) -> Iterator[tuple[slice, Phrases]]:
        """Yield the tokens of texts some at a time, as `phrases_of` does."""
        return phrases_of(map(self.tokens, texts))

    def trusts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far each text can be believed, (n,): the weighted mean of its words' trust."""
        trust = np.empty(len(texts), np.float32)
        for some, phrases in self.phrases(texts):
            trust[some] = mean_trust(phrases, Found(self, phrases.words))
        return trust

    def weights(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the `weight` of each of U words, (U,)."""
        row = self._rows.get
        return np.asarray(self._weights[[row(word, -1) for word in words]], np.float32)

    def with_learned(self, words: Collection[str]) -> Vocabulary:
        """Return a vocabulary that knows these words, too, though it has no vectors of theirs.

        >>> vocabulary = Vocabulary(["color"], [140]).with_learned(["hue"])
        >>> vocabulary.known_share("hue color"), vocabulary.trust("hue"), vocabulary.row("hue")
        (1.0, 1.0, None)
        """
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)  # with all that was derived, for the words are the same
        new._learned = frozenset(words)
        return new

    def knows(self, token: str) -> bool:
        """Tell whether a word was seen, or its meaning here was learned."""
        return token in self._rows or token in self._learned

    def _stand_ins(self, word: str) -> StandIns:
        return self._spellings.stand_ins(word)

    def _plain(self, row: int) -> str:
        word = self.words[row]
        return word if word.isascii() and word.islower() else " ".join(words_of(word))

    @cached_property
    def _least(self) -> int:
        return int(self.counts.min()) if len(self) else 0

    @cached_property
    def _total(self) -> int:
        return max(int(self.counts.sum()), 1)

    @cached_property
    def _rows(self) -> dict[str, int]:
        rows = {word: row for row, word in enumerate(self.words)}
        for row, word in enumerate(self.words):
            if not (word.isascii() and word.islower()):  # else it is written plainly
                plain = word.lower() if word.isascii() else " ".join(words_of(word))
                rows.setdefault(plain, row)
        return rows

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The weight of each word, and last that of a word never seen, (V + 1,)."""
        share = np.append(self.counts, self._least) / self._total
        return np.asarray(_SMOOTHING / (_SMOOTHING + share), np.float64)

    @cached_property
    def _trust(self) -> NDArray[np.float64]:
        """How far the vector of each word can be believed, (V,), and 1, for those never seen."""
        trust = np.minimum(self._weights / (_SAYS_MUCH * self._weights[-1]), 1)
        trust[:-1][list(map(str.isdecimal, self.words))] = 0
        return np.asarray(trust, np.float64)

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings([self._plain(row) for row in range(len(self.words))], self.counts)


class Found:
    """U words looked up in a vocabulary, all of them at once.

    >>> found = Found(Vocabulary(["the", "color"], [70000, 140]), ["color", "colour"])
    >>> found.rows.tolist(), found.unseen, found.stand_ins.rows[:, 0].tolist()
    ([1, -1], ['colour'], [1])
    """

    def __init__(self, vocabulary: Vocabulary, words: Sequence[str]) -> None:
        self._vocabulary, self._words = vocabulary, words
        row = vocabulary._rows.get
        self.rows = np.array([row(word, -1) for word in words], np.intp)  # (U,), -1 has none
        self.places = np.flatnonzero(self.rows < 0)  # of the words never seen
        self.unseen = [words[place] for place in self.places.tolist()]

    @property
    def weights(self) -> NDArray[np.float32]:
        """How much each word counts in a phrase, (U,)."""
        return self._vocabulary._weights[self.rows].astype(np.float32)

    @property
    def trust(self) -> NDArray[np.float32]:
        """How far the vector of each word can be believed, (U,)."""
        learned, trust = self._vocabulary._learned, self._vocabulary._trust[self.rows]
        if self.unseen:
            trust[self.places] = self.stand_ins.trust
        if learned:
            trust[[word in learned for word in self._words]] = 1
        return np.asarray(trust, np.float32)

    @cached_property
    def stand_ins(self) -> StandInsOfEach:
        """What stands in for the words never seen; told when it is first asked for, once."""
        if len(self.unseen) > FEW:
            return self._vocabulary._spellings.stand_ins_of_each(self.unseen)
        return StandInsOfEach.of(list(map(self._vocabulary.stand_ins, self.unseen)))


def mean_trust(phrases: Phrases, found: Found) -> NDArray[np.float32]:
    """Return how far texts can be believed, (n,), whose words were looked up."""
    # The mean of ones may be more by a rounding.
    (means,) = phrases.means(found.trust[:, None], found.weights).T
    return np.asarray(np.minimum(means, 1), np.float32)


def _checked_counts(counts: Sequence[int] | NDArray[Any], size: int) -> NDArray[np.int64]:
    given = np.asarray(counts)
    if given.shape != (size,):
        raise ShapeError(f"counts: expected {size}, one a word, got {given.size} ({given.shape})")
    if given.dtype.kind not in "biuf":
        raise ArgumentTypeError(f"counts: expected numbers, got dtype {given.dtype}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ShapeError("counts: expected numbers of 0 or more, got one below, NaN or infinity")
    return given.astype(np.int64, copy=False)
