"""An embedding without vectors, for a score that compares texts as they are spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.base import Background, WordFeatures, background_of
from fuzzydict.embedding.calibration import OF_SPELLING
from fuzzydict.embedding.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class NoVectors:
    """An embedding whose vectors have no numbers, and which knows no words: nothing is loaded.

    >>> NO_VECTORS.encode(["color", "colour"]).shape
    (2, 0)
    """

    calibration = OF_SPELLING
    tells_words = False
    vocabulary = Vocabulary([], [])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 0)."""
        return np.zeros((len(texts), 0), np.float32)

    def encode_with_trust(
        self,
        texts: Sequence[str],
        *,
        of_queries: bool = False,  # noqa: ARG002
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return (n, 0), and 0 for each text, (n,)."""
        return self.encode(texts), self.trust(texts)

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return 0 for each text, (n,)."""
        return np.zeros(len(texts), np.float32)

    def word_features(self, words: Sequence[str], *, of_query: bool) -> WordFeatures:  # noqa: ARG002
        """Return the features of words never seen, which all weigh the same."""
        ones, trust = np.ones(len(words), np.float32), self.trust(words)
        known, lengths = np.zeros(len(words), np.bool_), trust[:, None]
        return WordFeatures(known, ones, trust, self.encode(words), lengths)

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the usual background."""
        return background_of(keys[:0])

    def fingerprint(self) -> dict[str, Any]:
        """Return a name."""
        return {"name": "no vectors"}


#: The one that all dicts share.
NO_VECTORS = NoVectors()
