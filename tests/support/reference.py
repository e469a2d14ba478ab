"""The default score, slow and obvious: from texts to probabilities, one number after the other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler

from fuzzydict import FuzzyDict
from fuzzydict.search.score import CONTRADICTED, LEAST_COVERAGE, SAME
from fuzzydict.text.abbreviations import abbreviation_likeness
from fuzzydict.text.similarity import sounds, written_alike
from fuzzydict.text.words import plain
from tests.support.rules import asked_of_each, contradictions, form_likeness, runs_of

# The constants of the score, as `search.features` and `search.score` have them.
WORDS, SAME_WORD, SHARPNESS, DOUBTED, RARE, COUNTERPART = 32, 12.0, 4, 0.4, 0.97, 0.5
FEW, HALF, OF_QUERY, TELLING, WRITTEN_LESS_ALIKE = 3, 0.5, 2, 0.6, 10.0
COMPARED, BEFORE = 256, 64  # characters of long strings, and of these before they differ

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
    ours, theirs = a, b
    if min(len(a), len(b)) > COMPARED and a[:BEFORE] == b[:BEFORE]:  # from where they differ
        pairs = enumerate(zip(a, b, strict=False))
        start = next((i for i, (x, y) in pairs if x != y), min(len(a), len(b))) - BEFORE
        ours, theirs = a[start : start + COMPARED], b[start : start + COMPARED]
    parts = ours[:COMPARED], theirs[:COMPARED]
    heard = (sound[:COMPARED] for sound in sounds([ours, theirs]))
    alike = (
        OSA.normalized_similarity(*parts) / 2
        + JaroWinkler.normalized_similarity(*parts) / 4
        + OSA.normalized_similarity(*heard) / 4
    )
    if max(len(a), len(b)) <= 3 and sorted(a) != sorted(b) and not re.search(r"\d", a + b):
        alike = min(alike, 0.5)
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
    """Return how alike a text and another are if one abbreviates the other by rule; else 0."""
    short, long = sorted((word, other), key=len)
    if " " in short or len(short) == len(long) or short[0] != long[0]:
        return 0.0
    if " " in long:
        is_small = {"a", "an", "and", "of", "the", "for"}.__contains__
        every = long.split()
        initials = [[p[0] for p in every], [p[0] for p in every if not is_small(p)]]
        is_phrase = list(short) in initials and len(short) > 1 and short.isalpha()
        return (0.85 if len(short) == 2 else 0.95) if is_phrase else 0.0
    bare = long[0] + "".join(letter for letter in long[1:] if letter not in "aeiou")
    begins = short in {text[:end] for text in (long, bare) for end in range(len(text) + 1)}
    drawn = short[-1] == long[-1] and re.search(".*".join(map(re.escape, short)), long)
    base = 0.8 if begins else 0.7 if drawn else None
    if base is None or len(short) < 3 or re.search(r"\d", short):
        return 0.0
    return base + 0.2 * len(short) / len(long)


def cosine_of(a: Any, b: Any) -> float:
    """Return the cosine of two vectors, 0 for the zero vector."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    lengths = math.sqrt(a @ a) * math.sqrt(b @ b)
    return float(a @ b) / lengths if lengths else 0.0


def coverage_of(
    alike: Any, weights: Any, key: Iterable[int], key_weights: Any
) -> tuple[float, float]:
    """Return how far a query's words, the rows of ``alike``, and a key's, columns, have likes."""
    columns = list(key)
    found = sum(
        weight * max(alike[row][column] for column in columns) for row, weight in enumerate(weights)
    )
    covered = sum(
        key_weights[column] * max(alike[row][column] for row in range(len(weights)))
        for column in columns
    )
    return float(found / sum(weights)), float(covered / sum(key_weights[c] for c in columns))


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
        calibration = self.embedding.calibration
        with asked_of_each():
            less = self.written_less_alike(query)
            odds = {key: sum(map(math.exp, self.log_odds(query, key))) for key in self.keys}
        odds = {key: number * math.exp(-less.get(key, 0.0)) for key, number in odds.items()}
        odds = {key: number ** (1 / calibration.nesting) for key, number in odds.items()}
        of_any, none = sum(odds.values()), len(self.keys) ** calibration.growth
        any_right = of_any**calibration.nesting / (of_any**calibration.nesting + none)
        return {key: odds[key] / of_any * any_right for key in self.keys}

    def written_less_alike(self, query: str) -> dict[str, float]:
        """Return the log-odds that keys of the query's words lose for how they are written."""
        same = [key for key in self.keys if self.looks_alike(plain(query), plain(key)) == 1]
        alike = {key: written_alike(query, key) for key in same}
        less = {key: max(alike.values()) - one for key, one in alike.items()}
        return {key: WRITTEN_LESS_ALIKE * (1 + one) for key, one in less.items() if one > 0}

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
            words, others = words[:WORDS], others[:WORDS]
            alike = self.alike(words, others)
            shares = self.coverage(alike, words, others)
            surface = (OF_QUERY * shares[0] + shares[1]) / (OF_QUERY + 1)
            if max(len(words), len(others)) <= FEW:
                surface *= min(1, max(shares) / TELLING) ** 2
                near -= self.excess(near, alike, words, others)
            by_words = [line("words", surface)] if surface >= LEAST_COVERAGE * (1 - known) else []
        spelling = SAME if likeness == 1 else line("spelling", likeness)
        lost = CONTRADICTED * float(contradictions(plain(query), [plain(key)])[0])
        return [odds - lost for odds in (spelling, line("meaning", surface), *by_words)]

    def looks_alike(self, text: str, other: str) -> float:
        """Return how alike a text and another look; words that both have say nothing of others."""
        alike = likeness_of(text, other)
        ours, theirs = text.split(), other.split()
        apart = [w for w in ours if w not in theirs], [w for w in theirs if w not in ours]
        if all(apart) and len(apart[0]) < len(ours) and alike > 0.5:
            alike = min(alike, likeness_of(*map(" ".join, apart)))
        return max(alike, self.derived(text, other))

    def derived(self, text: str, other: str) -> float:
        """Return how alike two texts are as forms, or as a text and its abbreviation."""

        vocabulary = self.embedding.vocabulary
        is_known = vocabulary.knows(text)

        def is_rare(word: str) -> bool:
            return vocabulary.weight(word) >= RARE and (is_known or word == text)

        of_form = 0.0 if " " in text else form_likeness(text, [other])[0] * (1 if is_known else 0.9)
        return float(max(of_form, abbreviation_likeness(text, [other], is_rare)[0]))

    def nearness(self, query: str, key: str) -> float:
        """Return how near two texts are in meaning, in spreads of unrelated texts."""
        (vector,), _ = self.embedding.encode_with_trust([query], of_queries=True)
        cosine = cosine_of(vector, self.vectors[key])
        trust, trust_in_key = map(float, self.embedding.trust([query, key]))
        return self.standardized(cosine, trust * trust_in_key)

    def standardized(self, cosine: float, trust: float) -> float:
        """Return the nearness that a cosine stands for."""
        near = (cosine - self.mean) / self.spread * trust
        reach = self.embedding.calibration.reach
        return reach * math.tanh(near / reach) if near > 0 else near

    def excess(
        self, near: float, alike: list[list[float]], words: list[str], others: list[str]
    ) -> float:
        """Return what is taken from the nearness of texts whose other words are less near."""
        ours = [word for word, row in zip(words, alike, strict=True) if max(row) < COUNTERPART]
        columns = zip(*alike, strict=True)
        theirs = [word for word, row in zip(others, columns, strict=True) if max(row) < COUNTERPART]
        if not ours or not theirs or len(ours) == len(words):
            return 0.0
        (vector, trust), (other, trust_in_other) = (
            self.mixture(some, of_query=some is ours)
            for some in (ours, list(dict.fromkeys(theirs)))
        )
        if not len(vector):
            return 0.0
        of_others = self.standardized(cosine_of(vector, other), 1.0)
        return HALF * trust * trust_in_other * max(near - of_others, 0)

    def mixture(self, words: list[str], *, of_query: bool) -> tuple[Any, float]:
        """Return the weighted means of the words' vectors of length one and of their trust."""
        features = self.embedding.word_features(words, of_query=of_query)
        weights = [self.weight(word) for word in words]
        trust = np.average(features.trust, weights=weights)
        return np.average(features.units, axis=0, weights=weights), float(trust)

    def alike(self, words: list[str], others: list[str]) -> list[list[float]]:
        """Return how alike each word of a text is to each of another."""
        alike = [[self.words_alike(word, other) for other in others] for word in words]
        for _, rows, places, of_run in runs_of(words, [others]):
            for row, place in product(range(*rows.indices(99)), range(*places.indices(99))):
                alike[row][place] = max(alike[row][place], of_run)
        return alike

    def coverage(
        self, alike: list[list[float]], words: list[str], others: list[str]
    ) -> tuple[float, float]:
        """Return how far each word of one has its like in the other."""
        ours, theirs = ([self.weight(word) for word in some] for some in (words, others))
        return coverage_of(alike, ours, range(len(others)), theirs)

    def weight(self, word: str) -> float:
        """Return how much a word counts: less if it is frequent, in English or among the keys."""
        total, holders = len(self.keys), sum(word in plain(key).split() for key in self.keys)
        rarity = max(math.log((total + 1) / max(holders, 1)) / math.log(total + 1), 0.05)
        return self.embedding.vocabulary.weight(word) * rarity

    def words_alike(self, a: str, b: str) -> float:
        """Return how alike two words are, in spelling or in meaning."""
        (vector,) = self.embedding.word_features([a], of_query=True).units
        (other,) = self.embedding.word_features([b], of_query=False).units
        meaning, vocabulary = 0.0, self.embedding.vocabulary
        if len(vector):
            cosine = cosine_of(vector, other)
            near = (cosine - self.mean) / self.spread * vocabulary.trust(a) * vocabulary.trust(b)
            meaning = min(max(near / SAME_WORD, 0), 1)
        alike = likeness_of(a, b)
        slip = max(alike - DOUBTED, 0) / (1 - DOUBTED)
        spelling = alike**SHARPNESS if vocabulary.knows(a) else slip
        spelling = max(spelling, self.derived(a, b))
        return 1 - (1 - spelling) * (1 - meaning)


def assert_probabilities(d: FuzzyDict[Any], query: str) -> None:
    """Assert that a dict of few text keys scores a query as the reference does."""
    expected = Reference(d).probabilities(query)
    found = {match.key: match.score for match in d.most_similar(query, None)}
    assert found.keys() == expected.keys()
    keys = list(expected)
    np.testing.assert_allclose([found[k] for k in keys], [expected[k] for k in keys], rtol=2e-4)
