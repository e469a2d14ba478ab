"""A candidate for a dict: parameters trained on examples, and the answers they give."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.embedding.projections import (
    Projected,
    Projections,
    as_projections,
    with_projections,
)
from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.learning.projections import Span, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, as_scorer
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.features import Query, encode
from fuzzydict.search.key_index import Keys
from fuzzydict.search.score import as_score, is_probability, is_spelling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.learning.projections import Epoch, Settings


class Parameters(NamedTuple):
    """Learned parameters, and the losses of each pass; by default none are learned."""

    layer: Projections = Projections()  # to be applied after the projections of the dict
    scorer: Any = None
    temperature: float | None = None
    history: tuple[Epoch, ...] = ()


class KeyExamples(NamedTuple):
    """L distinct queries, and for each the places of its right keys, (r,), maybe none."""

    queries: list[str]
    right: list[NDArray[np.intp]]

    @property
    def pairs(self) -> NDArray[np.intp]:
        """The row of a query and the place of a right key, (n, 2)."""
        counts = [len(keys) for keys in self.right]
        rows = np.repeat(np.arange(len(counts)), counts)
        return np.stack([rows, np.concatenate(self.right)], axis=1).astype(np.intp)

    def some(self, rows: NDArray[np.intp]) -> KeyExamples:
        """Return the examples in these rows."""
        chosen = rows.tolist()
        return KeyExamples([self.queries[i] for i in chosen], [self.right[i] for i in chosen])


@dataclass(frozen=True)
class DictState:
    """A snapshot of a dict, from which learning starts.

    Attributes:
        keys: all keys of the dict.
        names: the keys that can be attended to, S of them, in order.
        vectors: theirs, (S, E), with the projections of the options; None if they are not known.
        values: theirs, S of them.
        embedding: what encodes texts, without projections.
        options: the options that `fit` may set, by name.
    """

    keys: Collection[Any]
    names: list[str]
    vectors: NDArray[np.float32] | None
    values: list[Any]
    embedding: Any
    options: Mapping[str, Any]

    @cached_property
    def projected(self) -> Any:
        """The embedding with the projections of the options; for spelling, without vectors."""
        if is_spelling(self.scorer):
            return self.embedding
        found = with_projections(self.embedding, as_projections(self.options["projections"]))
        return found if isinstance(found, Projected) else Projected(self.embedding, Projections())

    @cached_property
    def key_vectors(self) -> NDArray[np.float32]:
        """The projected vectors of the keys, (S, E)."""
        return self.projected.encode(self.names) if self.vectors is None else self.vectors

    @property
    def scorer(self) -> Any:
        """The option, None for the default score."""
        return self.options["scorer"]

    @property
    def cutoff(self) -> float:
        """The least score of a match: the option, or the default."""
        cutoff: float | None = self.options["score_cutoff"]
        return as_score(self.scorer).score_cutoff if cutoff is None else cutoff

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters of a dict that learns nothing."""
        return Parameters(scorer=self.scorer, temperature=self.options["temperature"])

    @cached_property
    def unchanged(self) -> Candidate:
        """The candidate that learned nothing."""
        return Candidate(self, self.parameters)


# ---- training --------------------------------------------------------------------------------

_COLDEST, _WARMEST = 0.03, 0.5  # limits of the temperature for the default score
_POOLING_TEMPERATURE = 0.3  # at the start; at a low one, only the best key would get a gradient
_COPIED = 2**24  # numbers of the queries' vectors, from which on they are not repeated
_MANY = 100  # examples from which the score learns how far to trust words never seen


def train_on_keys(
    state: DictState,
    queries: Sequence[str],
    x: Array,
    pairs: NDArray[np.intp],
    settings: Settings,
) -> Parameters:
    """Learn Q and K by which queries find their keys.

    For the default score the temperature is fixed, so that a cosine changes the loss as much as
    it changes the log-odds. Unknown words of the queries become known words.

    Args:
        state: the dict.
        queries: L texts.
        x: their vectors, (L, E), with the projections of the dict.
        pairs: (n, 2), the row of a query, and the place of a right key.
        settings: hyper-parameters.
    """
    if not len(pairs):
        return state.parameters
    asked = [queries[row] for row in np.unique(pairs[:, 0]).tolist()]
    if len(pairs) * x.shape[1] <= _COPIED:  # one query for each pair, so that each key is found
        x, pairs = x[pairs[:, 0]], np.stack([np.arange(len(pairs)), pairs[:, 1]], axis=1)
    y = state.key_vectors
    settings = replace(settings, scorer=_scorer_of_loss(state.scorer))
    if state.scorer is None:
        settings = replace(settings, temperature=_temperature_of_meaning(state))
    # The scale of scaled dot products depends on the size, so they need the whole space.
    span = Span.of(x, y) if settings.scorer == "cosine" else Span(None)
    fitted = fit_retrieval(span.inside(x), span.inside(y), pairs, span.paced(settings))
    parts: list[Any] = [fitted.projections.query, fitted.projections.key]
    layer = Projections(*map(span.outside, parts), words=_unknown_words(state, asked))
    temperature = _temperature_of_scorer(state.scorer, fitted.temperature, x.shape[1])
    return Parameters(layer, state.scorer, temperature, fitted.history)


def train_on_values(
    state: DictState, x: Array, values: Array, targets: Array, settings: Settings
) -> Parameters:
    """Learn Q, K and a temperature by which queries pool their targets.

    The default scorer is replaced with the cosine, since a weighted mean of values needs weights,
    not the probability that a key is right.

    Args:
        state: the dict.
        x: vectors of the queries, (L, E), with the projections of the dict.
        values: (S, Ev).
        targets: (L, Ev).
        settings: hyper-parameters.
    """
    scorer = "cosine" if state.scorer is None else state.scorer
    settings = replace(settings, scorer=_scorer_of_loss(scorer))
    if settings.scorer == "cosine":
        settings = replace(settings, start_temperature=_POOLING_TEMPERATURE)
    fitted = fit_pooling(x, state.key_vectors, values, targets, settings)
    temperature = _temperature_of_scorer(scorer, fitted.temperature, x.shape[1])
    return Parameters(fitted.projections, scorer, temperature, fitted.history)


def _unknown_words(state: DictState, queries: Sequence[str]) -> set[str]:
    """Return the words of queries that the embedding does not know.

    A model that encodes any text does not tell which words it knows. If there are many examples,
    the calibration of the score learns how far to trust its rare words instead.
    """
    if len(queries) >= _MANY and not isinstance(state.embedding, WordVectors):
        return set()
    vocabulary = state.projected.vocabulary
    words = {token for query in queries for token in vocabulary.tokens(query)}
    return {word for word in words if not vocabulary.known_share(word)}


def _scorer_of_loss(scorer: Any) -> str:
    is_cosine = scorer is None or isinstance(as_scorer(scorer), Cosine)
    return "cosine" if is_cosine else "scaled_dot"


def _temperature_of_meaning(state: DictState) -> float:
    """Return the temperature at which a cosine counts as much as in the default score."""
    calibration = state.projected.calibration
    meaning = calibration.known.meaning
    slope = meaning[2] + meaning[3] * calibration.reach
    _, spread = state.unchanged.keys.background
    return float(np.clip(spread / max(slope, 1e-9), _COLDEST, _WARMEST))


def _temperature_of_scorer(scorer: Any, fitted: float, size: int) -> float | None:
    """Return the temperature for a scorer, from that for cosines or scaled dots of this size."""
    if scorer is None:
        return None
    made = as_scorer(scorer)
    if isinstance(made, Cosine):
        return fitted
    scale = getattr(made, "scale", 1.0)  # 1 for a plain dot, None for E^-0.5
    return fitted if scale is None else float(fitted * scale * size**0.5)


# ---- answers ---------------------------------------------------------------------------------

_SCORES = 2**21  # queries times keys that are scored at a time
_LEAST = -20.0  # a log-probability, so that one example does not outweigh all others


class Answer(NamedTuple):
    """The answer to a query.

    Attributes:
        rank: of the best right key, from 1; 0 if no key is right.
        log_probability: of the right keys together; of "none" if no key is right (0 for a named
            scorer, which knows no "none").
        best: the place of the best key.
        score: its score.
        otherwise: the score of the best key if the right keys were not in the dict; -inf if there
            are no others.
    """

    rank: int
    log_probability: float
    best: int
    score: float
    otherwise: float = -np.inf

    @property
    def hit(self) -> bool:
        """Whether the best key is right."""
        return self.rank == 1


class Candidate:
    """The keys of a dict under learned parameters.

    Args:
        state: the dict.
        parameters: what was learned.
    """

    def __init__(self, state: DictState, parameters: Parameters) -> None:
        self._layer, self._embedding = parameters.layer, state.projected
        if not self._layer.is_identity:
            projections = _joined(state.projected.projections, self._layer)
            self._embedding = Projected(state.embedding, projections)
        vectors = self._layer.project_keys(state.key_vectors).astype(np.float32, copy=False)
        trust = self._embedding.trust(state.names)
        self.keys = Keys.of(self._embedding, state.names, vectors, trust)
        self._score = as_score(parameters.scorer)
        self._is_probability = is_probability(parameters.scorer)
        self._temperature = parameters.temperature or self._score.temperature

    def answers(
        self, queries: Sequence[str], vectors: Array, right: Sequence[NDArray[np.intp]]
    ) -> list[Answer]:
        """Return the answers to L queries.

        Args:
            queries: the texts,
            vectors: theirs, (L, E), with the projections of the dict,
            right: and the places of their right keys.
        """
        found = zip(self._log_weights(queries, vectors), right, strict=True)
        if self._is_probability:
            calibration = self.keys.calibration
            return [_probable_answer(logs, keys, calibration) for logs, keys in found]
        return [_answer(scores, scores / self._temperature, keys) for scores, keys in found]

    def nearest(
        self, queries: Sequence[str], vectors: Array, right: Sequence[NDArray[np.intp]]
    ) -> list[int]:
        """Return the place of the best right key of each of L queries; see `answers`."""
        found = zip(self._log_weights(queries, vectors), right, strict=True)
        return [int(keys[scores[keys].argmax()]) for scores, keys in found]

    def pooled(
        self, queries: Sequence[str], vectors: Array, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what L queries pool of the keys' values (S, Ev), (L, Ev)."""
        logits = self._log_weights(queries, vectors)
        rows = [softmax(row, self._temperature) @ values for row in logits]
        return np.asarray(self._layer.project_values(np.stack(rows)), np.float64)

    def _log_weights(self, queries: Sequence[str], vectors: Array) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of each query, (S,), not yet divided by the temperature."""
        for asked in self._blocks(queries, vectors):
            yield from self._score.log_weights(asked, self.keys).astype(np.float64)

    def _blocks(self, queries: Sequence[str], vectors: Array) -> Iterator[list[Query]]:
        """Yield the encoded queries, some at a time."""
        projected = self._layer.project_queries(vectors).astype(np.float32, copy=False)
        step = max(1, _SCORES // len(self.keys))
        for start in range(0, len(queries), step):
            asked = [Query.of(query, self._embedding) for query in queries[start : start + step]]
            encode(asked, self._embedding, projected[start : start + step])
            yield asked


def _joined(first: Projections, layer: Projections) -> Projections:
    words = layer.words | first.words
    return Projections(layer.query, layer.key, layer.value, base=first, words=words)


def _probable_answer(
    logs: NDArray[np.float64], right: NDArray[np.intp], calibration: Calibration
) -> Answer:
    """Return the answer from log-probabilities, of which "none" has the rest."""
    scores = np.exp(logs)
    answer, none = _answer(scores, logs, right), max(1 - scores.sum(), np.exp(_LEAST))
    if not len(right):
        return answer._replace(log_probability=float(np.log(none)))
    probability = scores[right].sum()
    return answer._replace(
        log_probability=max(float(np.log(probability)), _LEAST),
        otherwise=_best_of(np.delete(logs, right), logs, calibration),
    )


def _best_of(
    others: NDArray[np.float64], logs: NDArray[np.float64], calibration: Calibration
) -> float:
    """Return the best score of the other keys if they were all, as `log_probabilities` has it."""
    left, every = np.logaddexp.reduce(others), np.logaddexp.reduce(logs)
    if left == -np.inf:
        return -np.inf
    none = np.log(max(-np.expm1(every), np.finfo(np.float64).eps))
    any_right = every - none + calibration.nesting * (left - every)  # as log-odds
    any_right += calibration.growth * np.log(len(logs) / len(others))
    return float(np.exp(others.max() - left - np.logaddexp(0, -any_right)))


def _answer(
    scores: NDArray[np.float64], logits: NDArray[np.float64], right: NDArray[np.intp]
) -> Answer:
    best = int(scores.argmax())
    if not len(right):
        return Answer(0, 0.0, best, float(scores[best]))
    rank = 1 + int((scores > scores[right].max()).sum())
    if rank == 1:  # of keys that tie, the dict's first is the answer
        rank += int(best not in right)
    log_probability = np.logaddexp.reduce(logits[right]) - np.logaddexp.reduce(logits)
    otherwise = float(np.delete(scores, right).max(initial=-np.inf))
    return Answer(rank, float(max(log_probability, _LEAST)), best, float(scores[best]), otherwise)
