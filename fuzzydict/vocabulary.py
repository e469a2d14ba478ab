"""Words -> rows of a vocabulary: the words in it, and what stands in for words never seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from copy import copy
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.errors import ArgumentTypeError, ShapeError
from fuzzydict.normalizers import softmax
from fuzzydict.phrases import Phrases
from fuzzydict.spelling import NgramIndex, likenesses
from fuzzydict.text import LONGEST, quoted
from fuzzydict.text import words as words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["StandIns", "Vocabulary"]

_CANDIDATES = 64  # words that share n-grams with the unseen one, to be compared exactly
_SHARED = 0.2  # the least cosine of n-grams of a candidate
_KEPT = 4  # words that stand in
_TEMPERATURE = 0.03  # in units of likeness: how far the best stand-in outweighs the others
_PRIOR = 0.015  # likeness that a word is given for each power of ten of its frequency
_SMOOTHING = 1e-3  # a word of this relative frequency weighs half as much as a rare one
_SAYS_MUCH = 0.25  # share of a rare word's weight from which on a word's vector is its meaning's
_DOUBTED, _TRUSTED = 0.5, 0.9  # likeness at which a stand-in is not, or fully, taken for the word


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
        row = self.row(word)
        count = self._least if row is None else int(self.counts[row])
        return _SMOOTHING / (_SMOOTHING + count / self._total)

    def trust(self, word: str) -> float:
        """Return how far the vector of ``word`` can be believed, from 0 to 1.

        A word that was seen is believed, but for those that stand everywhere ("the"); one never
        seen as far as its stand-ins.
        """
        if word in self._learned:
            return 1.0
        if word not in self._rows:
            return self.stand_ins(word).trust
        return min(self.weight(word) / (_SAYS_MUCH * self._most), 1.0)

    def trusts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far each text can be believed, (n,): the weighted mean of its words' trust."""
        phrases = Phrases([self.tokens(text) for text in texts])
        trust = np.array([[self.trust(word)] for word in phrases.words], np.float32).reshape(-1, 1)
        # The mean of ones may be more by a rounding.
        return np.minimum(phrases.means(trust, self.weights(phrases.words))[:, 0], 1)

    def weights(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the `weight` of each of U words, (U,)."""
        return np.array([self.weight(word) for word in words], np.float32)

    def with_learned(self, words: Collection[str]) -> Vocabulary:
        """Return a vocabulary that knows these words, too, though it has no vectors of theirs.

        >>> vocabulary = Vocabulary(["color"], [140]).with_learned(["hue"])
        >>> vocabulary.known_share("hue color"), vocabulary.trust("hue"), vocabulary.row("hue")
        (1.0, 1.0, None)
        """
        new = copy(self)
        new._learned = frozenset(words)
        return new

    def knows(self, token: str) -> bool:
        """Tell whether a word was seen, or its meaning here was learned."""
        return token in self._rows or token in self._learned

    def _stand_ins(self, word: str) -> StandIns:
        """Attend to the vocabulary by spelling: the words that ``word`` may be, and how surely.

        Nothing stands in for a code or a number: 1961 is not nearly 1962.
        """
        if any(map(str.isdigit, word)):
            return StandIns(np.zeros(0, np.intp), np.zeros(0, np.float32), 0.0)
        shared = self._ngrams.similarities(word)
        rows = np.flatnonzero(shared >= _SHARED)
        if len(rows) > _CANDIDATES:
            rows = rows[np.argpartition(-shared[rows], _CANDIDATES)[:_CANDIDATES]]
        if not len(rows):
            return StandIns(rows, np.zeros(0, np.float32), 0.0)
        (alike,) = likenesses([word], [self._ngrams.strings[row] for row in rows.tolist()])
        scores = alike + self._prior[rows]
        best = np.argsort(-scores, kind="stable")[:_KEPT]
        weights = softmax(scores[best], temperature=_TEMPERATURE)
        return StandIns(rows[best], weights, float(alike[best[0]]))

    def _plain(self, row: int) -> str:
        word = self.words[row]
        return word if word.isascii() and word.islower() else " ".join(words_of(word))

    @cached_property
    def _most(self) -> float:
        """The weight of the rarest words."""
        return _SMOOTHING / (_SMOOTHING + self._least / self._total)

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
    def _prior(self) -> NDArray[np.float32]:
        return _PRIOR * np.log10(np.maximum(self.counts, 1)).astype(np.float32)

    @cached_property
    def _ngrams(self) -> NgramIndex:
        return NgramIndex([self._plain(row) for row in range(len(self.words))])


def _checked_counts(counts: Sequence[int] | NDArray[Any], size: int) -> NDArray[np.int64]:
    given = np.asarray(counts)
    if given.shape != (size,):
        raise ShapeError(f"counts: expected {size}, one a word, got {given.size} ({given.shape})")
    if given.dtype.kind not in "biuf":
        raise ArgumentTypeError(f"counts: expected numbers, got dtype {given.dtype}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ShapeError("counts: expected numbers of 0 or more, got one below, NaN or infinity")
    return given.astype(np.int64, copy=False)
