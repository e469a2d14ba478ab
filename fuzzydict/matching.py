"""The default score: a key matches if it means the same as the query, or looks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fuzzydict.spelling import likeness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.index import KeyIndex

__all__ = ["MeaningOrSpelling"]

_MEANING = 0.5  # the most that a cosine of 1 alone may say
_SHARPNESS = 4  # likeness to this power: strings that hardly differ count, most others do not
_SPELLED_ALIKE = 48  # keys compared as strings, for they share n-grams with the query
_MEANT_ALIKE = 16  # and for they mean the most alike


class MeaningOrSpelling:
    """``1 - (1 - spelling) (1 - meaning)``: a "noisy or" of two reasons to match, in [0, 1].

    Meaning is half the cosine of the vectors, as far as both can be believed (a word never seen
    has the vector of those that resemble it, and is trusted as far as they do). Spelling is the
    fourth power of the strings' likeness. Equal words score 1. The score grows with either
    reason; it is not a probability.

    (The noisy or: J. Pearl, 1988, "Probabilistic Reasoning in Intelligent Systems", 4.3.2.)
    """

    temperature = 0.05  # an exact key among a thousand then has 0.9 of the weight and more
    score_cutoff = 0.2  # lenient: meaning alone, of rare words, says little more than this

    def scores(
        self,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        trust: NDArray[np.float32],
        index: KeyIndex,
    ) -> NDArray[np.float32]:
        """Score queries against the slots of an index.

        Args:
            texts: L queries in plain words.
            vectors: theirs, (L, E).
            trust: how far each can be believed, (L,).
            index: n slots.

        Returns:
            (L, n).
        """
        meaning = self._meaning(vectors, trust, index)
        dead = np.flatnonzero(~index.alive)
        meaning[:, dead] = -1  # no deleted key may take a candidate's place
        for text, row in zip(texts, meaning, strict=True):
            candidates = self._candidates(text, row, index, dead)
            self._add_spelling(text, row, index, candidates)
        return meaning

    def _meaning(
        self, vectors: NDArray[np.float32], trust: NDArray[np.float32], index: KeyIndex
    ) -> NDArray[np.float32]:
        """Return the part that the vectors say, (L, n)."""
        lengths = np.linalg.norm(vectors, axis=1)
        believed = np.divide(_MEANING * trust, lengths, where=lengths > 0, out=lengths)
        meaning: NDArray[np.float32] = (vectors * believed[:, None]) @ index.vectors.T
        meaning *= index.inverse_lengths * index.trust
        return np.clip(meaning, 0.0, _MEANING, out=meaning)

    def _candidates(
        self, text: str, row: NDArray[np.float32], index: KeyIndex, dead: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return the slots that are worth a comparison of strings."""
        shared = index.ngrams.similarities(text)
        shared[dead] = -1
        return np.union1d(_largest(shared, _SPELLED_ALIKE), _largest(row, _MEANT_ALIKE))

    def _add_spelling(
        self, text: str, row: NDArray[np.float32], index: KeyIndex, candidates: NDArray[np.intp]
    ) -> None:
        """Turn a row of meaning, (n,), into scores, where spelling has a say."""
        plain = index.plain
        alike = np.array([likeness(text, plain[i]) for i in candidates.tolist()], np.float32)
        row[candidates] = 1 - (1 - alike**_SHARPNESS) * (1 - row[candidates])


def _largest(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` largest values, in no order; of equals the first."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    return np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])
