"""How alike a query and keys are: in spelling, in meaning, and word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import inverse_lengths, units
from fuzzydict.embedding.base import encode_queries
from fuzzydict.search.texts import WORDS
from fuzzydict.text.abbreviations import (
    abbreviation_likeness,
    is_conventional,
    looks_abbreviated,
)
from fuzzydict.text.forms import same_form
from fuzzydict.text.ngrams import largest, most_alike_of_each
from fuzzydict.text.similarity import (
    OTHER_NUMBER,
    coverage,
    likeness_of_differences,
    likenesses,
)
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding, WordFeatures
    from fuzzydict.search.key_index import Keys
    from fuzzydict.search.texts import Strings, Texts
    from fuzzydict.text.similarity import Coverage


SPELLED_ALIKE = 48  # keys compared as strings, those that share the most n-grams with the query
NEAREST = 16  # keys compared as strings, those nearest in meaning
NEAREST_LIKENESS = 0.6  # the limit of likeness and coverage for these: they share few n-grams
_SAME_WORD = 12.0  # nearness at which two words count as the same
_FEW = 3  # words of a short text
_TELLING = 0.6  # coverage below which words that are not covered tell short texts apart
_HALF = 0.5  # share of the nearness of short texts that is that of the words they differ in
_COUNTERPART = 0.5  # likeness from which on a word of one text is one of the other
_RARE = 0.97  # weight of a word from which on it may be an abbreviation: "prod", not "car"
_UNSURE = 0.9  # the factor for the likeness of forms of a word never seen
_DOUBTED = 0.4  # likeness at which an unknown word begins to count as a misspelling of another


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
    words = [query.text.split()[:WORDS] for query in new] if with_words else None
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
        candidates: the slots of the candidates of each query, (L, c), all in order if c is n.
            Otherwise a slot may come twice; then the last place counts.
        spelling: how alike the strings are spelled, (L, c), from 0 to 1.
        words: how well the words of query and key cover each other, (L, c), from 0 to 1; -inf
            where both are single words.
        contradicted: whether each contradicts the query, (L, c): it says "min" for "max", or has
            another number.
    """

    nearness: NDArray[np.float32]
    candidates: NDArray[np.intp]
    spelling: NDArray[np.float32]
    words: NDArray[np.float32]
    contradicted: NDArray[np.bool_]

    def surface(self) -> NDArray[np.float32]:
        """Return how alike the texts look, (L, c): by words if there are several."""
        return np.where(self.words >= 0, self.words, self.spelling)

    def of(self, rows: list[int]) -> Features:
        """Return the features of some of the queries."""
        near, candidates, spelling, words, contradicted = self
        return Features(
            near[rows], candidates[rows], spelling[rows], words[rows], contradicted[rows]
        )

    @property
    def are_all_candidates(self) -> bool:
        """Whether all keys are candidates."""
        return self.candidates.shape == self.nearness.shape

    def nearness_of_candidates(self) -> NDArray[np.float32]:
        """Return the nearness of the candidates, (L, c)."""
        if self.are_all_candidates:
            return self.nearness
        return self.nearness[np.arange(len(self.nearness))[:, None], self.candidates]

    def put(self, of_candidates: NDArray[Any], of_keys: NDArray[Any]) -> None:
        """Put numbers of the candidates, (L, c), among those of the keys, (L, n)."""
        for row, slots, numbers in zip(of_keys, self.candidates, of_candidates, strict=True):
            row[slots] = numbers  # the last of those for one slot


def compare(
    queries: Sequence[Query],
    near: NDArray[np.float32],
    keys: Keys,
    shared: NDArray[np.float32] | None = None,
) -> Features:
    """Return the features of L queries and n keys.

    Args:
        queries: the queries, with their vectors and words.
        near: their `nearness` to the keys, (L, n), which becomes that of the features.
        keys: the keys; the features of dead slots mean nothing.
        shared: the cosines of the n-grams of queries and keys, (L, n), if they are known.
    """
    slots, few = _candidates(queries, near, keys, shared)
    texts, places = keys.texts.among(slots)
    spelling = _spelled(queries, texts.whole, places, keys)
    words = np.full(slots.shape, -np.inf, np.float32)
    contradicted = texts.contradictions.of_each([query.text for query in queries], places)
    features = Features(near, slots, spelling, words, contradicted)
    if keys.has_phrases or any(" " in query.text for query in queries):
        near = features.nearness_of_candidates()
        for i, query in enumerate(queries):
            _compare_words(query, texts, places[i], words[i], near[i], keys)
        features.put(near, features.nearness)
    if few:
        for alike in (spelling[:, :few], words[:, :few]):
            np.minimum(alike, NEAREST_LIKENESS, out=alike)
    return features


def _candidates(
    queries: Sequence[Query],
    near: NDArray[np.float32],
    keys: Keys,
    shared: NDArray[np.float32] | None,
) -> tuple[NDArray[np.intp], int]:
    """Return the slots that are compared as strings, (L, c), and how many are so for nearness.

    These come first, then those that share n-grams, which may be the same.
    """
    spelled = spelled_alike(queries, keys, shared)
    if spelled.shape[1] == len(keys):
        return spelled, 0
    if len(keys.dead):
        near = near.copy()
        near[:, keys.dead] = -np.inf
    nearest = np.array([largest(row, NEAREST) for row in near])
    return np.concatenate([nearest, spelled], axis=1), NEAREST


def nearness(queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
    """Return how near queries and keys are, (L, n); see `Features.nearness`."""
    vectors = np.array([query.vector for query in queries])
    trust = np.array([[query.trust] for query in queries], np.float32)
    vectors *= trust * inverse_lengths(vectors)[:, None]
    scale, shift = keys.standard
    near: NDArray[np.float32] = vectors @ keys.vectors.T
    near *= scale
    near -= trust * shift
    return _levelled(near, keys.calibration.reach)


def _levelled(near: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """Return a nearness that levels off at a reach, of any shape."""
    limit = near / np.float32(reach)
    np.tanh(limit, out=limit)
    limit *= np.float32(reach)
    np.minimum(near, limit, out=limit)  # below 0, tanh is above
    return limit


def spelled_alike(
    queries: Sequence[Query], keys: Keys, shared: NDArray[np.float32] | None = None
) -> NDArray[np.intp]:
    """Return the slots that share the most n-grams with each query, (L, c)."""
    if len(keys) <= SPELLED_ALIKE:
        return np.arange(len(keys))[None].repeat(len(queries), axis=0)
    count = min(SPELLED_ALIKE, keys.count)
    if shared is None:
        texts = [query.text for query in queries]
        return most_alike_of_each(keys.ngrams, texts, count, keys.alive)[0]
    return np.array([largest(np.where(keys.alive, row, -1), count) for row in shared])


def _spelled(
    queries: Sequence[Query], texts: Strings, places: NDArray[np.intp], keys: Keys
) -> NDArray[np.float32]:
    """Return how alike queries and c texts each are spelled, (L, c).

    One may be a form or an abbreviation of the other. What phrases have in common says nothing of
    their other words.
    """
    asked = [query.text for query in queries]
    if places.shape[1] == len(keys):  # all keys, for each query
        places = places[0]
    alike = texts.spellings.likeness_of_each(asked, places)
    for i, text in enumerate(asked):
        if " " in text:
            some = places if places.ndim == 1 else places[i]
            likeness_of_differences(text, texts.of(some), alike[i])
    _raise_derived(asked, [query.is_word for query in queries], texts, places, keys, alike)
    return alike


def _raise_derived(
    asked: list[str],
    are_known: list[bool],
    others: Strings,
    places: NDArray[np.intp],
    keys: Keys,
    alike: NDArray[np.float32],
) -> None:
    """Raise how alike L texts and c others are, (L, c), if they are forms or abbreviations.

    A word never seen may be misspelled: the rules say less of it, and none makes another word an
    abbreviation of it.

    Args:
        asked: L words or phrases.
        are_known: whether each is a known word.
        others: strings, some of which are compared.
        places: their places, (L, c), or those for all, (c,).
        keys: all keys.
        alike: what is raised, (L, c).
    """

    def may_abbreviate(row: int, word: str) -> bool:
        return (are_known[row] or word == asked[row]) and keys.weight(word) >= _RARE

    words = [i for i, text in enumerate(asked) if " " not in text]
    if words:
        some = places if places.ndim == 1 else places[words]
        forms = others.forms.likeness_of_each([asked[i] for i in words], some)
        unsure = [i for i, row in enumerate(words) if not are_known[row]]
        if unsure:
            forms[unsure] *= _UNSURE
        alike[words] = np.maximum(alike[words], forms)
    short = others.abbreviations.likeness_of_each(asked, places, may_abbreviate)
    np.maximum(alike, short, out=alike)


def _compare_words(
    query: Query,
    texts: Texts,
    places: NDArray[np.intp],
    covered: NDArray[np.float32],
    near: NDArray[np.float32],
    keys: Keys,
) -> None:
    """Set how well the words of a query and of c keys cover each other, and how near they are.

    Short texts with a word in common are near for that alone. If each has other words that the
    other has not, half of the nearness is that of those: of "shoe" and "file" for "shoe size" and
    "file size". An encoder, which gives no vectors of words, reads the whole text and needs no such
    rule.

    Args:
        query: the query, with its vector and words.
        texts: a table that holds the plain words of the keys.
        places: the places of the c keys in it.
        covered: the coverage, (c,), -inf where it is not set.
        near: the nearness of the whole texts, (c,).
        keys: all keys.
    """
    words = query.text.split(" ", WORDS)[:WORDS]
    several = texts.with_several_words(places) if len(words) == 1 else np.arange(len(places))
    if not len(several):
        return
    others = texts.columns(places[several])
    features = texts.features(others.places).weighed(keys.rarity_of(texts, others.places))
    asked = query.words.weighed(keys.rarity(words))
    cosines = asked.units @ features.units.T
    shares = coverage(
        _words_alike(words, asked, texts.words, others.places, features, cosines, keys),
        asked.weights,
        others.columns,
        features.weights,
        texts.runs.of(words, places[several]),
    )
    mean = shares.mean()
    # In a short text each word tells: "birth date" asks for another thing than "start date".
    short = np.flatnonzero(np.maximum(others.lengths, len(words)) <= _FEW)
    if len(short):
        few = shares.of(short)
        mean[short] *= np.minimum(1, few.larger() / _TELLING) ** 2
        if len(words) > 1:
            some, columns = several[short], others.columns[short]
            near[some] = _of_differences(near[some], asked, features, columns, few, keys)
    covered[several] = mean


def _of_differences(
    near: NDArray[np.float32],
    asked: WordFeatures,
    features: WordFeatures,
    columns: NDArray[np.intp],
    shares: Coverage,
    keys: Keys,
) -> NDArray[np.float32]:
    """Return the nearness of c keys, (c,), half of it that of the words without a counterpart."""
    if not asked.units.shape[1]:
        return near
    lacks = shares.of_query.T < _COUNTERPART  # (c, m)
    is_other = (shares.of_keys < _COUNTERPART) & (columns < len(features.weights))
    differ = np.flatnonzero(lacks.any(axis=1) & ~lacks.all(axis=1) & is_other.any(axis=1))
    if not len(differ):
        return near
    rows, places = np.nonzero(is_other[differ])
    words = columns[differ[rows], places]
    theirs = np.zeros((len(differ), len(features.weights)), np.float32)
    theirs[rows, words] = features.weights[words]
    ours, theirs = _shares(asked.weights * lacks[differ]), _shares(theirs)
    cosines = np.einsum("ce,ce->c", units(ours @ asked.units), units(theirs @ features.units))
    trust = (ours @ asked.trust) * (theirs @ features.trust)
    mean, spread = keys.background
    of_others = _levelled((cosines - np.float32(mean)) / np.float32(spread), keys.calibration.reach)
    limited = near.copy()
    limited[differ] -= _HALF * trust * np.maximum(near[differ] - of_others, 0)
    return limited


def _shares(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the weights, (c, n), so that those of each row sum to 1."""
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


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
    queries: Sequence[Query], keys: Keys, shared: NDArray[np.float32] | None = None
) -> Features:
    """Return the features of L queries and n keys by their spelling alone; nearness is 0.

    Two phrases are spelled as alike as the words that are least alike: each word of one needs its
    counterpart in the other, in any order. "DB_PORT" is not "DB_HOST", though most letters are
    the same. ``words`` is how well their words cover each other.

    Args:
        queries: the queries.
        keys: the keys; the features of dead slots mean nothing.
        shared: the cosines of the n-grams of queries and keys, (L, n), if they are known.
    """
    slots = spelled_alike(queries, keys, shared)
    texts, places = keys.texts.among(slots)
    spelling, words = np.empty((2, *slots.shape), np.float32)
    for i, query in enumerate(queries):
        spelling[i], words[i] = _spelled_word_by_word(query.text, texts.whole.of(places[i]))
    near = np.zeros((len(queries), len(keys)), np.float32)
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


def _words_alike(
    words: list[str],
    asked: WordFeatures,
    others: Strings,
    places: NDArray[np.intp],
    found: WordFeatures,
    cosines: NDArray[np.float32],
    keys: Keys,
) -> NDArray[np.float32]:
    """Return how alike m words and U others are, (m, U), in spelling or in meaning: a "noisy or".

    (J. Pearl, 1988, "Probabilistic Reasoning in Intelligent Systems", 4.3.2.) A known word is the
    same word as another or hardly alike, so the fourth power of the likeness counts.
    """
    alike = others.spellings.likeness_of_each(words, places)
    slips = np.maximum(alike - _DOUBTED, 0)
    slips /= np.float32(1 - _DOUBTED)
    alike = np.where(asked.known[:, None], np.square(np.square(alike)), slips)
    _raise_derived(words, asked.known.tolist(), others, places, keys, alike)
    if not asked.units.shape[1]:
        return alike
    mean, spread = keys.background
    near = (cosines - np.float32(mean)) * (asked.trust[:, None] / np.float32(spread * _SAME_WORD))
    near *= found.trust
    unlike = 1 - np.minimum(np.maximum(near, 0), 1)
    return np.asarray(1 - (1 - alike) * unlike, np.float32)
