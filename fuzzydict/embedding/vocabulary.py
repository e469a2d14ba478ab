"""The words that an embedding knows, their weights in a phrase, and what stands in for others."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA, Indel
from rapidfuzz.process import cdist

from fuzzydict._arrays import as_array
from fuzzydict._files import array_of, texts_of
from fuzzydict.errors import ArgumentTypeError, ShapeError, quoted
from fuzzydict.text.lexicon import look_up
from fuzzydict.text.words import LONGEST, plain
from fuzzydict.text.words import words as words_of

_SMOOTHING = 1e-3  # a word of this relative frequency weighs half as much as a rare one
_FREQUENT = 30_000  # the most frequent words, which a slip may have meant
_SHORTEST = 5  # letters of a word in which a slip is looked for
_REMEMBERED = 1 << 14  # words never seen whose stand-ins are kept
_MOST_COUNTED = 1 << 62  # in all, so that sums of counts are exact
_AMERICAN = re.compile(r"(?<=[iy])s(?=[aei])")  # "moisturiser", as far as no table lists it


class Found(NamedTuple):
    """What a vocabulary says of a word."""

    row: int  # its own, or that of what stands in for it; -1 if nothing does
    weight: float  # in a phrase
    is_known: bool  # whether the row is its own
    trust: float  # 1 for a known word or a form of one, less for a slip, and 0 for nothing


class Vocabulary:
    """The V words of an embedding, most frequent first, and their counts, (V,).

    >>> vocabulary = Vocabulary(["the", "color", "Paris"], [70000, 140, 60])
    >>> vocabulary.row("color"), vocabulary.row("paris"), vocabulary.row("colour")
    (1, 2, None)
    >>> vocabulary.find("colour").row
    1
    """

    def __init__(self, words: Sequence[str], counts: Sequence[int] | NDArray[Any]) -> None:
        self.words = list(words)
        if any(not issubclass(kind, str) for kind in set(map(type, self.words))):
            odd = next(word for word in self.words if not isinstance(word, str))
            raise ArgumentTypeError(f"words: expected texts, got {quoted(odd)}")
        self._rows = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(self._rows) < len(self.words):
            ((twice, _),) = Counter(self.words).most_common(1)
            raise ShapeError(f"words: {quoted(twice)} comes twice; keep one of its vectors")
        together = "".join(self.words)
        self.has_phrases = " " in together or "_" in together
        if not together.isascii() or together != together.lower():  # else all are plain already
            for row, word in enumerate(self.words):
                if not (word.isascii() and word.islower()):
                    plainly = word.lower() if word.isascii() else " ".join(words_of(word))
                    self._rows.setdefault(plainly, row)
        given, size = as_array("counts", counts), len(self.words)
        if given.shape != (size,):
            raise ShapeError(f"counts: expected {size}, one a word, got shape {given.shape}")
        if given.dtype.kind not in "biuf":
            raise ArgumentTypeError(f"counts: expected numbers, got dtype {given.dtype}")
        are_counts = ((given >= 0) & (given <= _MOST_COUNTED)).all()
        if not are_counts or given.sum(dtype=np.float64) > _MOST_COUNTED:
            most = f"{_MOST_COUNTED} in all, and neither NaN nor infinity"
            raise ShapeError(f"counts: expected numbers from 0 on, {most}; scale down")
        self.counts: NDArray[np.int64] = given.astype(np.int64, copy=False)
        self._stand_in = lru_cache(_REMEMBERED)(self._nearest_word)

    def __len__(self) -> int:
        return len(self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.words, self.counts)

    def row(self, word: str) -> int | None:
        """Return the row of ``word``, spelled as in the vocabulary or in its plain form."""
        return self._rows.get(word)

    def find(self, word: str) -> Found:
        """Return what is known of a word in its plain form, or what stands in for it.

        It is the word of which it is a form, or else the most frequent word that one slip after
        the first letter makes of it. No two numbers mean the same, though their vectors are alike.
        """
        row = self._rows.get(word)
        if row is not None:
            return Found(row, float(self._weights[row]), True, 0.0 if word.isdecimal() else 1.0)
        row, trust = self._stand_in(word)
        return Found(row, float(self._weights[-1]), False, trust)

    def _nearest_word(self, word: str) -> tuple[int, float]:
        """Return the row of what a word never seen is a form or a slip of, and how sure that is."""
        if " " in word:
            return -1, 0.0
        entry = look_up(word)
        for base in (entry.form, entry.stem, _AMERICAN.sub("z", word)):
            if base in self._rows:
                return self._rows[base], 1.0
        if len(word) < _SHORTEST or not (word.isalpha() and word.isascii()):
            return -1, 0.0
        slips, sizes = [], range(len(word) - 1, len(word) + 2)
        for letters in (word[:2], word[0] + word[-2:]):  # one slip leaves some of them
            rows = [row for size in sizes for row in self._frequent.get((letters, size), ())]
            known = [self.words[row] for row in rows]
            if known:
                edits = cdist([word], known, scorer=OSA.distance, score_cutoff=1, dtype=np.uint8)
                slips += [rows[place] for place in np.flatnonzero(edits[0] <= 1).tolist()]
        if not slips:
            return -1, 0.0
        return min(slips), Indel.normalized_similarity(word, self.words[min(slips)])

    @cached_property
    def _frequent(self) -> dict[tuple[str, int], list[int]]:
        """The rows of the frequent words with some letters, and so many in all."""
        rows: dict[tuple[str, int], list[int]] = {}
        for row, word in enumerate(self.words[:_FREQUENT]):
            if len(word) >= _SHORTEST - 1:
                for letters in (word[:2], word[0] + word[-2:]):
                    rows.setdefault((letters, len(word)), []).append(row)
        return rows

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The weight of each word, and at last that of a word never seen, (V + 1,).

        It is near 1 if the word is rare, 0.03 for "of": ``a / (a + p)``, with the relative
        frequency ``p`` of the word (Arora, Liang and Ma, 2017, "A Simple but Tough-to-Beat Baseline
        for Sentence Embeddings", equation 1). One never seen weighs as much as the rarest.
        """
        if not len(self):
            return np.ones(1)
        shares = np.append(self.counts, self.counts.min()) / max(self.counts.sum(), 1)
        return np.asarray(_SMOOTHING / (_SMOOTHING + shares), np.float64)

    def tokens(self, text: str) -> list[str]:
        """Return ``text`` as tokens of the vocabulary: the text itself if it is one, or its words.

        Phrases that the vocabulary writes with underscores ("new_york") are one token. Only the
        beginning of a long text is read.
        """
        text = text[:LONGEST]
        if " " in text and not self.has_phrases:
            return plain(text).split()
        for whole in (text, text.lower()):
            if whole in self._rows:
                return [whole]
        words = plain(text).split()
        joined = "_".join(words)
        return [joined] if len(words) > 1 and joined in self._rows else words

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a file holds, by name; `from_arrays` reads them."""
        is_small = self.counts.max(initial=0) < 1 << 32
        words = np.frombuffer(json.dumps(self.words).encode("ascii"), np.uint8)
        return {"words": words, "counts": self.counts.astype(np.uint32 if is_small else np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Vocabulary:
        """Return the vocabulary of which `arrays` returned the arrays."""
        counts = array_of(arrays, "counts", "i1 u1 i2 u2 i4 u4 i8 u8", None)
        return cls(texts_of(arrays["words"]), counts)
