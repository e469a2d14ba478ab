"""Words -> rows of a vocabulary: the words in it, and what stands in for words never seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.phrases import Phrases, phrases_of
from fuzzydict.embedding.stand_ins import FEW, Spellings, StandIns, StandInsOfEach
from fuzzydict.errors import ArgumentTypeError, ShapeError, quoted
from fuzzydict.text.words import LONGEST
from fuzzydict.text.words import words as words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Found", "Vocabulary", "mean_trust"]

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
