"""A dict's keys and some examples -> projections that suit both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.embedding.calibration import Calibration
from fuzzydict.embedding.projections import Projected, Projections
from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.learning.calibration import Question
from fuzzydict.learning.projections import Span, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, as_scorer
from fuzzydict.nn.softmax import softmax
from fuzzydict.search import key_index
from fuzzydict.search.features import Query, compare, encode, nearness
from fuzzydict.search.score import as_score, log_odds, log_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.learning.gradient_descent import Epoch, Settings
    from fuzzydict.nn.scorers import ScorerLike

__all__ = [
    "Keys",
    "Learned",
    "Outcome",
    "Subject",
    "Trial",
    "answered",
    "learn_keys",
    "learn_values",
]


# A temperature at which a cosine says what it says in the default score is within these.
_COLD, _WARM = 0.03, 0.5
_COPIED = 2**24  # numbers of queries' vectors that may be repeated
_ENOUGH = 100  # examples, to learn what words never seen say
_BLURRED = 0.3  # where it starts to pool: what blends many values is drawn to all of them


class Learned(NamedTuple):
    """What was learned, and how the losses went."""

    layer: Projections = Projections()
    scorer: Any = None
    temperature: float | None = None
    history: tuple[Epoch, ...] = ()


class Subject(NamedTuple):
    """A dict before it learns."""

    keys: Keys  # their vectors as they are seen through `start`
    start: Projections  # on top of which it learns
    calibration: Calibration
    scorer: Any
    temperature: float | None
    score_cutoff: float | None

    @property
    def cutoff(self) -> float:
        """The least score of a match, whether it was set or is the scorer's own."""
        usual = as_score(self.scorer).score_cutoff
        return usual if self.score_cutoff is None else self.score_cutoff

    @property
    def unfitted(self) -> Learned:
        """Nothing learned."""
        return Learned(scorer=self.scorer, temperature=self.temperature)

    def trial(self, learned: Learned) -> Trial:
        """Return the keys as they would be with what was learned."""
        return Trial(
            self.keys,
            on_top(self.start, learned.layer),
            learned.layer,
            learned.scorer,
            learned.temperature,
        )


def on_top(start: Projections, layer: Projections) -> Projections:
    """Return projections whose last ones are ``layer``."""
    if layer.is_identity:
        return start
    words = layer.words | start.words
    return Projections(layer.query, layer.key, layer.value, base=start, words=words)


def learn_keys(
    subject: Subject,
    queries: Sequence[str],
    x: Array,
    pairs: NDArray[np.intp],
    settings: Settings,
) -> Learned:
    """Learn from L queries with vectors x (L, E), and pairs (n, 2) of a query and a right key.

    Q and K are learned by `fitting.fit_retrieval`. For the default score the temperature is the
    one at which cosines, less their background and in units of its spread, weigh as the evidence
    of meaning does: so that what makes the loss small makes the score right. Words never seen are
    known from now on, for what they mean here was told.
    """
    if not len(pairs):
        return subject.unfitted
    asked = [queries[row] for row in np.unique(pairs[:, 0]).tolist()]
    x, pairs = _each_alone(x, pairs)
    y = subject.keys.vectors
    if subject.scorer is None:
        settings = replace(settings, temperature=_as_in_the_score(subject))
    settings = _scored(settings, subject.scorer)
    span = Span.of(x, y) if settings.scorer == "cosine" else Span(None)  # scaled by its size
    settings = span.paced(settings)
    fitted = fit_retrieval(span.inside(x), span.inside(y), pairs, settings)
    parts: tuple[Any, Any] = fitted.projections.query, fitted.projections.key
    layer = Projections(*map(span.outside, parts), words=_unseen(subject, asked))
    temperature = _temperature(subject.scorer, fitted.temperature, x.shape[1])
    return Learned(layer, subject.scorer, temperature, fitted.history)


def learn_values(
    subject: Subject, x: Array, values: Array, targets: Array, settings: Settings
) -> Learned:
    """Learn from queries with vectors x (L, E), and what they shall pool (L, Ev) of values (S, Ev).

    With the default scorer the cosine is learned, and takes its place: pooled values are to come
    out right, whatever the probability is that a key does.
    """
    name = "cosine" if subject.scorer is None else subject.scorer
    settings = _scored(settings, name)
    if settings.scorer == "cosine":
        settings = replace(settings, start_temperature=_BLURRED)
    fitted = fit_pooling(x, subject.keys.vectors, values, targets, settings)
    temperature = _temperature(name, fitted.temperature, x.shape[1])
    return Learned(fitted.projections, name, temperature, fitted.history)


def _each_alone(x: Array, pairs: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
    """Return a query of its own for each pair, so that all keys that are right get their share.

    It would be enough otherwise that a query finds one of them. So it is of very many pairs, of
    which there is no room for copies.
    """
    if len(pairs) * x.shape[1] > _COPIED:
        return x, pairs
    return x[pairs[:, 0]], np.stack([np.arange(len(pairs)), pairs[:, 1]], axis=1)


def _unseen(subject: Subject, queries: Sequence[str]) -> set[str]:
    """Return the words of queries that the embedding has not seen.

    A model that does not tell which words it knows gives every text a vector to be trusted; what
    that says of words that are rare is learned with the score, if there are examples enough.
    """
    if len(queries) >= _ENOUGH and not isinstance(subject.keys.embedding, WordVectors):
        return set()
    vocabulary = subject.keys.embedding.vocabulary
    words = {token for query in queries for token in vocabulary.tokens(query)}
    return {word for word in words if not vocabulary.known_share(word)}


def _as_in_the_score(subject: Subject) -> float:
    """Return at which temperature the softmax of cosines is that of the evidence of meaning."""
    meaning, reach = subject.calibration.known.meaning, subject.calibration.reach
    slope = meaning[2] + meaning[3] * reach
    _, spread = subject.trial(subject.unfitted).index.background
    return float(np.clip(spread / max(slope, 1e-9), _COLD, _WARM))


def _scored(settings: Settings, scorer: Any) -> Settings:
    cosine = scorer is None or isinstance(as_scorer(scorer), Cosine)
    return replace(settings, scorer="cosine" if cosine else "scaled_dot")


def _temperature(scorer: Any, fitted: float, size: int) -> float | None:
    """Return what a scorer's scores are to be divided by; scaled dots were, of size E."""
    if scorer is None:
        return None
    made = as_scorer(scorer)
    if isinstance(made, Cosine):
        return fitted
    scale = getattr(made, "scale", 1.0)  # of a plain dot 1, and None for E to the power of -0.5
    return fitted if scale is None else float(fitted * scale * size**0.5)


_SCORES = 2**21  # that are made at once: queries times keys
_LEAST = -20.0  # a log-probability, so that one surprise does not outweigh everything


class Keys(NamedTuple):
    """The keys of a dict that can be attended to, S of them, and what gives texts their vectors."""

    names: list[str]
    vectors: Array  # (S, E), before any projection is learned
    embedding: Embedding  # not seen through projections


class Outcome(NamedTuple):
    """What a query is answered.

    Attributes:
        rank: of the best right key, 1 is the first; 0 if no key is right.
        log_probability: the logarithm of the weight of all right keys together; if none is, of
            there being none (0 where a scorer cannot tell).
        answer: the place of the best key.
        score: its score.
    """

    rank: int
    log_probability: float
    answer: int
    score: float

    @property
    def hit(self) -> bool:
        """Whether the best key is right."""
        return self.rank == 1


class Trial:
    """Keys under projections and a scorer.

    Args:
        keys: the keys.
        projections: all of them, from the embedding's vectors on.
        layer: the last of them, which is still to be applied to the keys' vectors and to queries.
        scorer: what compares; None is the default score.
        temperature: what scores are divided by; None is the scorer's default.
    """

    def __init__(
        self,
        keys: Keys,
        projections: Projections,
        layer: Projections,
        scorer: ScorerLike | None = None,
        temperature: float | None = None,
    ) -> None:
        self._embedding, self.layer = Projected(keys.embedding, projections), layer
        vectors = layer.project_keys(keys.vectors).astype(np.float32, copy=False)
        trust = self._embedding.trust(keys.names)
        self.index = key_index.Keys.of(self._embedding, keys.names, vectors, trust)
        self.score = as_score(scorer)
        self.temperature = temperature or self.score.temperature

    def questions(
        self, queries: Sequence[str], vectors: Array, right: Sequence[NDArray[np.intp]]
    ) -> list[Question]:
        """Return how alike queries and keys are, for the default score.

        Args:
            queries: L texts,
            vectors: theirs, (L, E), before the last projections,
            right: and which keys are right for each.
        """
        found: list[Question] = []
        for some, asked in self._in_blocks(queries, vectors):
            for query, near, keys in zip(
                asked, nearness(asked, self.index), right[some], strict=True
            ):
                features = compare(query, near.copy(), self.index)
                found.append(Question(features, query.known, keys))
        return found

    def logits(self, queries: Sequence[str], vectors: Array) -> Iterator[NDArray[np.float64]]:
        """Yield what the softmax makes weights of, (S,) for each query, not yet divided."""
        for _, asked in self._in_blocks(queries, vectors):
            yield from self.score.log_weights(asked, self.index).astype(np.float64)

    def _in_blocks(
        self, queries: Sequence[str], vectors: Array
    ) -> Iterator[tuple[slice, list[Query]]]:
        """Yield queries, some at a time, with their places."""
        projected = self.layer.project_queries(vectors).astype(np.float32, copy=False)
        step = max(1, _SCORES // len(self.index))
        for start in range(0, len(queries), step):
            some = slice(start, start + step)
            asked = [Query.of(query, self._embedding) for query in queries[some]]
            encode(asked, self._embedding, projected[some])
            yield some, asked

    def outcomes(
        self, queries: Sequence[str], vectors: Array, right: Sequence[NDArray[np.intp]]
    ) -> list[Outcome]:
        """Return what queries are answered by a scorer that is named."""
        return [
            _outcome(row, row / self.temperature, keys)
            for row, keys in zip(self.logits(queries, vectors), right, strict=True)
        ]

    def pooled(
        self, queries: Sequence[str], vectors: Array, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what queries pool of the keys' values (S, Ev): (L, Ev)."""
        rows = [softmax(row, self.temperature) @ values for row in self.logits(queries, vectors)]
        return np.asarray(self.layer.project_values(np.stack(rows)), np.float64)


def answered(questions: Sequence[Question], calibration: Calibration) -> list[Outcome]:
    """Return what questions are answered by the default score."""
    found = []
    for question in questions:
        logs = log_probabilities(log_odds(question.features, question.known, calibration))
        outcome = _outcome(np.exp(logs), logs, question.right)
        if not len(question.right):
            none = max(1 - float(np.exp(logs).sum()), 1e-12)
            outcome = outcome._replace(log_probability=float(np.log(none)))
        found.append(outcome)
    return found


def _outcome(
    scores: NDArray[np.float64], logits: NDArray[np.float64], right: NDArray[np.intp]
) -> Outcome:
    answer = int(scores.argmax())
    if not len(right):
        return Outcome(0, 0.0, answer, float(scores[answer]))
    rank = 1 + int((scores > scores[right].max()).sum())
    if rank == 1:  # of those that tie the dict's first is the answer
        rank += int(answer not in right)
    likely = np.logaddexp.reduce(logits[right]) - np.logaddexp.reduce(logits)
    return Outcome(rank, float(max(likely, _LEAST)), answer, float(scores[answer]))
