"""How alike a query and keys are: in spelling, in meaning, and word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import inverse_lengths
from fuzzydict.embedding.base import encode_queries
from fuzzydict.search.key_index import levelled
from fuzzydict.search.texts import WORDS
from fuzzydict.search.word_by_word import compare_words
from fuzzydict.text.abbreviations import (
    abbreviation_likeness,
    is_conventional,
    looks_abbreviated,
)
from fuzzydict.text.forms import same_form
from fuzzydict.text.similarity import (
    OTHER_NUMBER,
    likeness_of_differences,
    likenesses,
)
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding, WordFeatures
    from fuzzydict.search.candidates import Candidates
    from fuzzydict.search.key_index import Keys
    from fuzzydict.search.texts import Strings


#: The limit of likeness and coverage of candidates for their nearness: they share few n-grams.
NEAREST_LIKENESS = 0.6


@dataclass(slots=True, eq=False)
class Query:
    """A query, and all that the comparison needs to know of it, computed once.

    `encode` sets the vector, the trust and the words, for many queries at once.

    Attributes:
        asked: the query as asked.
        text: its plain words, joined by blanks.
        known: the share of its words that the embedding knows.
        is_word: whether the whole text is a known word.
        is_encoded: whether the following attributes are set.
        vector: its vector, (E,).
        trust: how far to trust the vector, from 0 to 1.
        words: the features of its first words, m of them.
    """

    asked: str
    text: str
    known: float
    is_word: bool
    is_encoded: bool = field(init=False, default=False)
    vector: NDArray[np.float32] = field(init=False)
    trust: float = field(init=False)
    words: WordFeatures = field(init=False)

    @classmethod
    def of(cls, asked: str, embedding: Embedding) -> Query:
        """Return a query that is not encoded yet; its text is empty if it has no words."""
        text, vocabulary = plain(asked), embedding.vocabulary
        return cls(asked, text, vocabulary.known_share(asked), vocabulary.knows(text))

    def first_words(self) -> list[str]:
        """Return the words that are compared one by one."""
        return self.text.split(maxsplit=WORDS)[:WORDS]


def encode(
    queries: Sequence[Query],
    embedding: Embedding,
    vectors: NDArray[np.float32] | None = None,
    *,
    with_words: bool = True,
) -> None:
    """Set the vector, the trust and the words of each query that has none.

    Args:
        queries: L queries.
        embedding: what encodes them.
        vectors: theirs, (L, E), if they are known.
        with_words: whether the words are needed.
    """
    new = [query for query in queries if not query.is_encoded]
    if not new:
        return
    texts = [query.asked for query in new]
    words = [query.first_words() for query in new] if with_words else None
    found = encode_queries(embedding, texts, words, vectors)
    for i, query in enumerate(new):
        query.vector, query.trust = found.vectors[i], float(found.trust[i])
        if found.words:
            query.words = found.words[i]
        query.is_encoded = True  # at last: what was interrupted is done again


class Features(NamedTuple):
    """How alike L queries and n keys are; c of the keys, the candidates, were compared as strings.

    Attributes:
        nearness: in meaning, (L, n): the cosine less the mean of unrelated texts, divided by their
            standard deviation, times the trust in both vectors. It levels off at the
            calibration's ``reach``: very near words may be opposites, so they are no better
            evidence than near ones.
        candidates: the slots of the candidates of each query, (L, c). A slot may come twice; then
            the last place counts.
        spelling: how alike the strings are spelled, (L, c), from 0 to 1.
        words: how well the words of query and key cover each other, (L, c), from 0 to 1; -inf
            where both are single words.
        contradicted: whether each contradicts the query, (L, c): it says "min" for "max", or has
            another number.
        are_all: whether the candidates are all keys, in order.
    """

    nearness: NDArray[np.float32]
    candidates: NDArray[np.intp]
    spelling: NDArray[np.float32]
    words: NDArray[np.float32]
    contradicted: NDArray[np.bool_]
    are_all: bool = False

    def surface(self) -> NDArray[np.float32]:
        """Return how alike the texts look, (L, c): by words if there are several."""
        return np.where(self.words >= 0, self.words, self.spelling)

    def of(self, rows: list[int]) -> Features:
        """Return the features of some of the queries."""
        return self._replace(
            nearness=self.nearness[rows],
            candidates=self.candidates[rows],
            spelling=self.spelling[rows],
            words=self.words[rows],
            contradicted=self.contradicted[rows],
        )

    def nearness_of_candidates(self) -> NDArray[np.float32]:
        """Return the nearness of the candidates, (L, c)."""
        if self.are_all:
            return self.nearness
        return self.nearness[np.arange(len(self.nearness))[:, None], self.candidates]

    def put(self, of_candidates: NDArray[Any], of_keys: NDArray[Any]) -> None:
        """Put numbers of the candidates, (L, c), among those of the keys, (L, n)."""
        for row, slots, numbers in zip(of_keys, self.candidates, of_candidates, strict=True):
            row[slots] = numbers  # the last of those for one slot


def compare(
    queries: Sequence[Query], near: NDArray[np.float32], candidates: Candidates, keys: Keys
) -> Features:
    """Return the features of L queries and n keys.

    Args:
        queries: the queries, with their vectors and words.
        near: their `nearness` to the keys, (L, n), which becomes that of the features.
        candidates: which of the keys are compared as strings.
        keys: the keys; the features of dead slots mean nothing.
    """
    slots, few = candidates
    texts, places = keys.texts.among(slots)
    spelling = _spelled(queries, texts.whole, places if few else places[0], keys)
    words = np.full(slots.shape, -np.inf, np.float32)
    contradicted = texts.contradictions.of_each([query.text for query in queries], places)
    features = Features(near, slots, spelling, words, contradicted, are_all=not few)
    if keys.has_phrases or any(" " in query.text for query in queries):
        near = features.nearness_of_candidates()
        split = [query.first_words() for query in queries]
        of_each = [query.words for query in queries]
        words[:] = compare_words(split, of_each, texts, places, near, keys)
        features.put(near, features.nearness)
    if few:
        for alike in (spelling[:, :few], words[:, :few]):
            np.minimum(alike, NEAREST_LIKENESS, out=alike)
    return features


def nearness(queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
    """Return how near queries and keys are, (L, n); see `Features.nearness`."""
    vectors = np.array([query.vector for query in queries])
    trust = np.array([[query.trust] for query in queries], np.float32)
    vectors *= trust * inverse_lengths(vectors)[:, None]
    scale, shift = keys.standard
    near: NDArray[np.float32] = vectors @ keys.vectors.T
    near *= scale
    near -= trust * shift
    return levelled(near, keys.calibration.reach)


def _spelled(
    queries: Sequence[Query], texts: Strings, places: NDArray[np.intp], keys: Keys
) -> NDArray[np.float32]:
    """Return how alike queries and c texts are spelled, (L, c); the texts of each, or of all, (c,).

    One may be a form or an abbreviation of the other. What phrases have in common says nothing of
    their other words.
    """
    asked = [query.text for query in queries]
    alike = texts.spellings.likeness_of_each(asked, places)
    likeness_of_differences(asked, texts.strings, places, alike)
    are_known = [query.is_word for query in queries]
    texts.raise_derived(asked, are_known, places, keys.weight, alike)
    return alike


# ---- spelling alone ---------------------------------------------------------------------------

_FILLERS = {"an", "and", "of", "the"}  # words that a phrase may have or not
_FORM = 0.97  # likeness of two forms of a word
_ABBREVIATED = 0.5  # the likeness of an abbreviation counts so much, and 1 the rest
# The factor for words with other first letters. Few slips are made in the first letter: 3% of
# 50,000 (J. Pollock and A. Zamora, 1984, "Automatic spelling correction in scientific and scholarly
# text"), while many words differ by it: "host", "post".
_OTHER_FIRST = 0.9
_LEFT_OUT = 2  # letters that an abbreviation leaves out at least; a slip leaves out fewer
_OTHER_INITIALS = 0.5  # the factor for two words without vowels, each of which stands for others
_DIGITS, _VOWEL = re.compile(r"\d+"), re.compile(r"[aeiouy]")


def compare_spelling(
    queries: Sequence[Query], near: NDArray[np.float32], slots: NDArray[np.intp], keys: Keys
) -> Features:
    """Return the features of L queries and n keys by their spelling alone.

    Two phrases are spelled as alike as the words that are least alike: each word of one needs its
    counterpart in the other, in any order. "DB_PORT" is not "DB_HOST", though most letters are
    the same. ``words`` is how well their words cover each other.

    Args:
        queries: the queries.
        near: zeros, (L, n).
        slots: which of the keys are compared, (L, c).
        keys: the keys; the features of dead slots mean nothing.
    """
    texts, places = keys.texts.among(slots)
    spelling, words = np.empty((2, *slots.shape), np.float32)
    for i, query in enumerate(queries):
        spelling[i], words[i] = _spelled_word_by_word(query.text, texts.whole.of(places[i]))
    contradicted = texts.contradictions.of_each([query.text for query in queries], places)
    return Features(near, slots, spelling, words, contradicted)


def _spelled_word_by_word(
    text: str, strings: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return how alike a text and c strings are spelled, (c,), and how their words cover it, (c,).

    The second is -inf where both are single words.
    """
    asked, split = _telling_words(text), list(map(_telling_words, strings))
    columns, different = _columns(split)
    alike = _words_spelled_alike(asked, different)
    pairs = np.where(columns >= 0, alike[:, columns], 0)  # (m, c, longest)
    found, covered = pairs.max(axis=2), pairs.max(axis=0)  # (m, c), (c, longest)
    least = np.minimum(found.min(axis=0), np.where(columns >= 0, covered, 1).min(axis=1))
    words = (found.mean(axis=0) + covered.sum(axis=1) / (columns >= 0).sum(axis=1)) / 2
    one = np.array([len(asked) == 1 or len(key) == 1 for key in split])
    several = np.array([len(asked) > 1 or len(key) > 1 for key in split])
    joined = _joined_likeness(text, strings)
    counts = one & several | (joined == 1)
    spelling = np.where(counts, np.maximum(least, joined), least)
    for i in _with_other_digits(text, strings):
        spelling[i], words[i] = spelling[i] * OTHER_NUMBER, words[i] * OTHER_NUMBER
    return spelling, np.where(several, words, -np.inf)


def _telling_words(text: str) -> list[str]:
    """Return the first words of a text without fillers, if any are left."""
    words = text.split()[:WORDS]
    return [word for word in words if word not in _FILLERS] or words


def _words_spelled_alike(words: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
    """Return how alike m words and U others are spelled, (m, U): forms and abbreviations too."""
    alike = likenesses(words, others)
    have_vowels = np.array([bool(_VOWEL.search(other)) for other in others])
    for row, word in zip(alike, words, strict=True):
        row[[not _begin_alike(word, other) for other in others]] *= _OTHER_FIRST
        if not _VOWEL.search(word):
            row[~have_vowels & (row < 1)] *= _OTHER_INITIALS
        abbreviates = abbreviation_likeness(word, others)
        for j, other in enumerate(others):
            if other != word and same_form(word, other):
                row[j] = _FORM
            elif abbreviates[j] and _is_abbreviation(word, other):
                row[j] = max(row[j], 1 - _ABBREVIATED * (1 - abbreviates[j]))
    return alike


def _is_abbreviation(word: str, other: str) -> bool:
    """Tell whether one of two words is a conventional abbreviation of the other, or looks it."""
    if is_conventional(word, other):
        return True
    short, long = sorted((word, other), key=len)
    return len(long) - len(short) >= _LEFT_OUT and looks_abbreviated(short, long)


def _begin_alike(word: str, other: str) -> bool:
    """Tell whether two words have the same first letter, or one of them with a slip there."""
    return word[0] in other[:2] or other[0] in word[:2]


def _joined_likeness(text: str, strings: Sequence[str]) -> NDArray[np.float32]:
    """Return how alike a text and c strings are without their blanks, or as initials, (c,).

    It is 0 where one has more letters than a slip leaves out: "port" is not "db port".
    """
    joined = [string.replace(" ", "") for string in strings]
    length = len(text.replace(" ", ""))
    alike: NDArray[np.float32] = likenesses([text.replace(" ", "")], joined)[0]
    alike[[abs(len(string) - length) >= _LEFT_OUT for string in joined]] = 0
    return np.maximum(alike, abbreviation_likeness(text, strings))


def _with_other_digits(text: str, strings: Sequence[str]) -> list[int]:
    """Return the places of the strings whose digits differ from those of a text."""
    digits = "".join(_DIGITS.findall(text))
    return [i for i, string in enumerate(strings) if "".join(_DIGITS.findall(string)) != digits]


# ---- words ------------------------------------------------------------------------------------


def _columns(split: list[list[str]]) -> tuple[NDArray[np.intp], list[str]]:
    """Return the places of the words of c texts among all U, (c, longest), then -1; and the U."""
    columns = np.full((len(split), max(map(len, split))), -1)
    numbers: dict[str, int] = {}
    for row, words in zip(columns, split, strict=True):
        for i, word in enumerate(words):
            row[i] = numbers.setdefault(word, len(numbers))
    return columns, list(numbers)
