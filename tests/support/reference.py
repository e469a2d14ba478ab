"""The default score, slow and obvious: from texts to probabilities, one number after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler

from fuzzydict import FuzzyDict
from fuzzydict.search.score import LEAST_COVERAGE, SAME
from fuzzydict.text.similarity import sounds
from fuzzydict.text.words import plain

# The constants of the score, as `search.features` has them.
WORDS, SAME_WORD, SHARPNESS, DOUBTED = 32, 12.0, 4, 0.4

__all__ = [
    "Reference",
    "assert_probabilities",
    "coverage_of",
    "likeness_of",
    "of_numbers",
    "shortened_of",
]


def likeness_of(a: str, b: str) -> float:
    """Return how alike two strings look."""
    alike = (
        OSA.normalized_similarity(a, b) / 2
        + JaroWinkler.normalized_similarity(a, b) / 4
        + OSA.normalized_similarity(*sounds([a, b])) / 4
    )
    if a.replace(" ", "") == b.replace(" ", ""):
        alike = 1
    return alike * of_numbers(a, b)


def of_numbers(a: str, b: str) -> float:
    """Return what is left of a likeness of two texts for the numbers in them."""
    numbers = re.findall(r"\d+", a), re.findall(r"\d+", b)
    if not all(numbers) or numbers[0] == numbers[1]:
        return 1.0
    for text, parts, others in ((a, *numbers), (b, *numbers[::-1])):
        is_fraction = len(parts) == 2 and 1 in map(len, parts)
        if others == ["".join(parts)] and len(others[0]) >= 5 and " ".join(parts) in text:
            return 0.5 if is_fraction else 1.0
    return 0.5


def shortened_of(word: str, other: str) -> float:
    """Return how alike a word and another, or a phrase, are if it abbreviates them; else 0."""
    if re.search(r"\d", word) or " " in word or len(word) >= len(other) or word[0] != other[0]:
        return 0.0
    if " " in other:
        return 0.7 if list(word) == [part[0] for part in other.split()] else 0.0
    bare = other[0] + "".join(letter for letter in other[1:] if letter not in "aeiou")
    begins = word in {text[:end] for text in (other, bare) for end in range(len(text) + 1)}
    drawn = word[-1] == other[-1] and re.search(".*".join(map(re.escape, word)), other)
    base = 0.7 if begins else 0.55 if drawn else None
    return 0.0 if base is None or len(word) < 3 else base + 0.3 * len(word) / len(other)


def cosine_of(a: Any, b: Any) -> float:
    """Return the cosine of two vectors, 0 for the zero vector."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    lengths = math.sqrt(a @ a) * math.sqrt(b @ b)
    return float(a @ b) / lengths if lengths else 0.0


def coverage_of(alike: Any, weights: Any, key: Iterable[int], key_weights: Any) -> float:
    """Return how far a query's words, the rows of ``alike``, and a key's, columns, have likes."""
    columns = list(key)
    found = sum(
        weight * max(alike[row][column] for column in columns) for row, weight in enumerate(weights)
    )
    covered = sum(
        key_weights[column] * max(alike[row][column] for row in range(len(weights)))
        for column in columns
    )
    return float(found / sum(weights) + covered / sum(key_weights[c] for c in columns)) / 2


class Reference:
    """The default score of a dict's keys, all of which have letters or digits.

    They are to be so few that the dict compares each with every query.
    """

    def __init__(self, d: FuzzyDict[Any]) -> None:
        self.keys: list[str] = list(d)
        self.embedding = d._projected_embedding()
        vectors = self.embedding.encode(self.keys)
        self.vectors = dict(zip(self.keys, vectors, strict=True))
        self.mean, self.spread = self.embedding.background(vectors)

    def probabilities(self, query: str) -> dict[str, float]:
        """Return the probability of each key to be the right one."""
        odds = {key: sum(map(math.exp, self.log_odds(query, key))) for key in self.keys}
        none = len(self.keys)
        return {key: odds[key] / (none + sum(odds.values())) for key in self.keys}

    def log_odds(self, query: str, key: str) -> list[float]:
        """Return the log-odds of a key for each reason: spelling, meaning, and maybe words."""
        calibration, vocabulary = self.embedding.calibration, self.embedding.vocabulary
        tokens = vocabulary.tokens(query)
        known = sum(map(vocabulary.knows, tokens)) / len(tokens)
        near = self.nearness(query, key)

        def line(reason: str, likeness: float) -> float:
            """Return the line of known words and that of unknown ones, mixed by their shares."""
            mixed = 0.0
            for share, evidence in ((known, calibration.known), (1 - known, calibration.unknown)):
                bias, of_likeness, of_nearness, of_square = getattr(evidence, reason)
                mixed += share * (bias + of_likeness * likeness**2 + of_nearness * near)
                mixed += share * of_square * max(near, 0) ** 2
            return mixed

        likeness = surface = self.looks_alike(plain(query), plain(key))
        words, others, by_words = plain(query).split(), plain(key).split(), []
        if len(words) > 1 or len(others) > 1:
            surface = self.coverage(words[:WORDS], others[:WORDS])
            surface *= of_numbers(plain(query), plain(key))
            by_words = [line("words", surface)] if surface >= LEAST_COVERAGE * (1 - known) else []
        spelling = SAME if likeness == 1 else line("spelling", likeness)
        return [spelling, line("meaning", surface), *by_words]

    def looks_alike(self, word: str, other: str) -> float:
        """Return how alike a word, or a text, and another look."""
        if self.embedding.vocabulary.knows(word):
            return likeness_of(word, other)
        return max(likeness_of(word, other), shortened_of(word, other))

    def nearness(self, query: str, key: str) -> float:
        """Return how near two texts are in meaning, in spreads of unrelated texts."""
        (vector,), _ = self.embedding.encode_with_trust([query], of_queries=True)
        cosine = cosine_of(vector, self.vectors[key])
        trust, trust_in_key = map(float, self.embedding.trust([query, key]))
        near = (cosine - self.mean) / self.spread * trust * trust_in_key
        reach = self.embedding.calibration.reach
        return reach * math.tanh(near / reach) if near > 0 else near

    def coverage(self, words: list[str], others: list[str]) -> float:
        """Return how far each word of one has its like in the other."""
        weight = self.embedding.vocabulary.weight
        return coverage_of(
            [[self.words_alike(word, other) for other in others] for word in words],
            [weight(word) for word in words],
            range(len(others)),
            [weight(other) for other in others],
        )

    def words_alike(self, a: str, b: str) -> float:
        """Return how alike two words are, in spelling or in meaning."""
        (vector,) = self.embedding.word_features([a], of_query=True).units
        (other,) = self.embedding.word_features([b], of_query=False).units
        meaning, vocabulary = 0.0, self.embedding.vocabulary
        if len(vector):
            cosine = cosine_of(vector, other)
            near = (cosine - self.mean) / self.spread * vocabulary.trust(a) * vocabulary.trust(b)
            meaning = min(max(near / SAME_WORD, 0), 1)
        alike = self.looks_alike(a, b)
        slip = max(alike - DOUBTED, 0) / (1 - DOUBTED)
        spelling = alike**SHARPNESS if vocabulary.knows(a) else slip
        return 1 - (1 - spelling) * (1 - meaning)


def assert_probabilities(d: FuzzyDict[Any], query: str) -> None:
    """Assert that a dict of few text keys scores a query as the reference does."""
    expected = Reference(d).probabilities(query)
    found = {match.key: match.score for match in d.most_similar(query, None)}
    assert found.keys() == expected.keys()
    keys = list(expected)
    np.testing.assert_allclose([found[k] for k in keys], [expected[k] for k in keys], rtol=2e-4)
