"""A dict that learns: what it is, what it may become, and how well either answers queries.

L queries, S keys, E numbers of a vector, Ev of a value
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.embedding.projections import Projections, as_projections
from fuzzydict.learning.report import Measures
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.align import align
from fuzzydict.search.keys import Keys
from fuzzydict.search.meaning import Meaning
from fuzzydict.search.retrieve import candidates, glance
from fuzzydict.search.score import NamedScore, as_score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.learning.train import Epoch
    from fuzzydict.search.align import Query
    from fuzzydict.search.synonyms import SynonymRules


class Learned(NamedTuple):
    """What was learned, and the losses of each pass; by default nothing.

    ``layer`` is applied after the projections of the dict.
    """

    layer: Projections = Projections()
    scorer: Any = None
    temperature: float | None = None
    history: tuple[Epoch, ...] = ()


@dataclass(frozen=True)
class DictState:
    """A snapshot of a dict, from which learning starts."""

    every: Collection[Any]  # all keys of the dict
    found: Keys  # those that can be compared, S of them living
    is_current: bool  # whether their vectors are projected as the options say
    values: list[Any]  # theirs, S of them
    embedding: Any  # what encodes texts; None where they are compared by their letters alone
    options: Mapping[str, Any]  # those that `fit` may set, by name, as they are before it
    synonyms: SynonymRules | None = None

    @cached_property
    def projections(self) -> Projections | None:
        """The projections before anything is learned; None for none."""
        given = as_projections(self.options["projections"])
        return None if given is None or given.is_identity else given

    @cached_property
    def meaning(self) -> Meaning:
        """What keys and queries are compared by before anything is learned."""
        projections = None if self.embedding is None else self.projections
        return Meaning(self.embedding, projections, self.synonyms)

    @cached_property
    def names(self) -> list[str]:
        """The keys that can be compared, S."""
        return self.found.living()

    @cached_property
    def keys(self) -> Keys:
        """These alone, projected as the options say."""
        if self.is_current and not len(self.found.dead):
            return self.found
        alive = self.found.vectors[self.found.alive] if self.is_current else None
        vectors = self.meaning.of_keys(self.names) if alive is None else alive
        return Keys.of(self.meaning.table, self.names, vectors)

    @property
    def scorer(self) -> Any:
        """The option, None for the default score."""
        return self.options["scorer"]

    @property
    def cutoff(self) -> float:
        """The least score of a match: the option, or the default."""
        cutoff: float | None = self.options["score_cutoff"]
        return as_score(self.scorer).score_cutoff if cutoff is None else cutoff

    @property
    def nothing(self) -> Learned:
        """What a dict is that learns nothing."""
        return Learned(scorer=self.scorer, temperature=self.options["temperature"])

    def asked(self, texts: Sequence[str], scorer: Any) -> Asked:
        """Return queries as a scorer compares them."""
        queries = [self.meaning.query(text) for text in texts]
        if scorer is None:
            return Asked(queries, self.meaning.of_queries(queries, self.keys))
        return Asked(queries, self.meaning.of_texts(texts))

    def options_of(self, learned: Learned) -> dict[str, Any]:
        """Return the learned options by name."""
        options: dict[str, Any] = {}
        if not learned.layer.is_identity:
            made = (self.projections or Projections()).then(learned.layer)
            try:
                name: str | None = self.embedding.fingerprint()["name"]
            except Exception:  # of a user's function, which may know its own texts alone
                name = None
            options["projections"] = Projections(made.query, made.key, made.value, embedding=name)
        if learned.scorer is not self.scorer:
            options |= {"scorer": learned.scorer, "score_cutoff": None}  # scores of another scale
        if learned.temperature not in (None, self.options["temperature"]):
            options["temperature"] = learned.temperature
        return options


class Asked(NamedTuple):
    """L queries as they are compared, and their vectors, (L, E), projected as the dict does it."""

    queries: list[Query]
    vectors: Array

    def some(self, rows: NDArray[np.intp]) -> Asked:
        """Return the queries in some rows."""
        return Asked([self.queries[row] for row in rows.tolist()], self.vectors[rows])


# ---- answers, and how good they are ------------------------------------------------------------

_CHANCE = 1.64  # standard deviations: by chance alone, one in twenty gains more
_SMALLEST = 0.01  # relative change of an error that counts as a change


class Answers(NamedTuple):
    """The answers to L queries, (L,) each."""

    rank: NDArray[np.intp]  # of the best right key, from 1; 0 if no key is right
    # Of the right keys together; of "none" if no key is right (0 for a named scorer, which knows
    # no "none").
    log_probability: NDArray[np.float64]
    best: NDArray[np.intp]  # the place of the best key,
    score: NDArray[np.float64]  # its score,
    nearest: NDArray[np.intp]  # and the place of the best right key
    # The score of the best key if the right ones were not in the dict; -inf if there are no others.
    otherwise: NDArray[np.float64]

    def is_right(self, cutoff: float) -> NDArray[np.bool_]:
        """Return which are right, (L,): a right key, or none where no key is right."""
        is_given = self.score >= cutoff
        return np.where(self.rank == 0, ~is_given, (self.rank == 1) & is_given)

    def is_wrong(self, cutoff: float) -> NDArray[np.bool_]:
        """Return which are keys that are not right, (L,)."""
        wrong: NDArray[np.bool_] = (self.rank != 1) & (self.score >= cutoff)
        return wrong

    def measures(self, cutoff: float) -> Measures:
        """Return how good they are."""
        found = Measures(
            log_probability=float(self.log_probability.mean()),
            right_at_cutoff=float(self.is_right(cutoff).mean()),
            wrong_at_cutoff=float(self.is_wrong(cutoff).mean()),
        )
        ranks = self.rank[self.rank > 0]
        if not len(ranks):
            return found
        return found._replace(hit_at_1=float((ranks == 1).mean()), mrr=float((1 / ranks).mean()))

    def verdict(self, before: Answers, cutoff: float, *, held_out: bool) -> tuple[bool, str]:
        """Return whether to keep what gave these answers, and why or why not.

        The right answers must become more probable. This is all that is asked of training
        examples; of held-out examples it must be more than chance explains, and as many of the
        best keys must be right. At the cutoff, wrong answers must not grow by more than right
        ones, and each query is also asked without its right keys, when every answer is wrong.
        """
        where = "held-out examples" if held_out else "the examples themselves"
        gains = self.log_probability - before.log_probability
        # With random signs, the variance of the sum is the sum of the squared gains.
        deviation = float(np.sqrt(np.square(gains).sum()))
        gain = float(gains.sum()) / deviation if deviation else 0.0
        if gain <= 0:
            return False, f"{where} are answered no better"
        if held_out and gain < _CHANCE:
            return False, f"{where} are answered no better than chance explains"
        hits, right, wrong = (
            now - was for now, was in zip(self._counts(cutoff), before._counts(cutoff), strict=True)
        )
        if held_out and hits < 0:
            return False, f"fewer of {where} have a right key first"
        if held_out and wrong > max(right, 0):
            return False, f"of {where}, {right} more are answered right, but {wrong} more wrong"
        return True, f"{where} are answered better"

    def _counts(self, cutoff: float) -> tuple[int, int, int]:
        """Return how many have a right key first, are right, and are wrong, also without theirs."""
        wrong = np.count_nonzero(self.is_wrong(cutoff)) + np.count_nonzero(self.otherwise >= cutoff)
        right = np.count_nonzero(self.is_right(cutoff))
        return int(np.count_nonzero(self.rank == 1)), int(right), int(wrong)

    def changes(
        self, before: Answers, names: Sequence[str]
    ) -> Iterator[tuple[int, str, str, float]]:
        """Yield where the rank changed, both answers as texts, and the gain."""
        for i in np.flatnonzero(self.rank != before.rank).tolist():
            was, now = (
                names[one.best[i]]
                + ("" if one.rank[i] == 1 else f" (a right key is at {one.rank[i]})")
                for one in (before, self)
            )
            yield i, was, now, float(1 / self.rank[i] - 1 / before.rank[i])


class Errors(NamedTuple):
    """The root mean squared errors of pooled values, (L,)."""

    rmse: NDArray[np.float64]

    def measures(self, cutoff: float = 0.0) -> Measures:  # noqa: ARG002
        """Return how good the values are."""
        return Measures(rmse=float(np.sqrt(np.square(self.rmse).mean())))

    def verdict(self, before: Errors, cutoff: float, *, held_out: bool) -> tuple[bool, str]:  # noqa: ARG002
        """Return whether to keep what gave these values, and why or why not."""
        kept = self.measures().rmse < before.measures().rmse
        return kept, f"pooled values are {'nearer to' if kept else 'no nearer to'} their targets"

    def changes(
        self,
        before: Errors,
        names: Sequence[str],  # noqa: ARG002
    ) -> Iterator[tuple[int, str, str, float]]:
        """Yield where the error changed, both errors as texts, and by how much it fell."""
        for i, (was, now) in enumerate(zip(before.rmse.tolist(), self.rmse.tolist(), strict=True)):
            if abs(was - now) > _SMALLEST * max(was, now):
                yield i, f"off by {was:.4g}", f"off by {now:.4g}", was - now


# ---- the keys, with what was learned ------------------------------------------------------------

_LEAST = -20.0  # a log-probability, so that one example does not outweigh all others
AT_ONCE = 128  # queries that are compared at a time


class Candidate:
    """The keys of a dict, with what was learned.

    Args:
        state: the dict.
        learned: what was learned.
    """

    def __init__(self, state: DictState, learned: Learned) -> None:
        self._meaning, self._layer = state.meaning, learned.layer
        self._score = as_score(learned.scorer)
        self._temperature = learned.temperature or self._score.temperature
        self._keys = state.keys
        if not learned.layer.is_identity:
            vectors = learned.layer.project_keys(state.keys.vectors)
            self._keys = state.keys.with_vectors(vectors.astype(np.float32, copy=False))

    def answers(self, asked: Asked, right: Sequence[NDArray[np.intp]]) -> Answers:
        """Return the answers to queries whose right keys are in these places."""
        blocks = []
        for rows in self._blocks(asked):
            is_right = np.zeros((len(rows), len(self._keys)), np.bool_)
            for one, row in zip(is_right, rows.tolist(), strict=True):
                one[right[row]] = True
            blocks.append(self._answers(asked.some(rows), is_right))
        return Answers(*map(np.concatenate, zip(*blocks, strict=True)))

    def pooled(self, asked: Asked, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what queries pool of the keys' values (S, Ev), (L, Ev)."""
        nothing = np.zeros((1, len(values)), np.bool_)
        blocks = [
            softmax(self._scores(asked.some(rows), nothing)[0], self._temperature) @ values
            for rows in self._blocks(asked)
        ]
        return np.asarray(self._layer.project_values(np.concatenate(blocks)), np.float64)

    def _blocks(self, asked: Asked) -> list[NDArray[np.intp]]:
        """Return the rows to compare at a time, to bound memory."""
        rows, step = np.arange(len(asked.queries)), 2**21 // len(self._keys)
        return [rows[some] for some in slices(len(rows), int(np.clip(step, 1, AT_ONCE)))]

    def _answers(self, asked: Asked, right: NDArray[np.bool_]) -> Answers:
        found, otherwise = self._scores(asked, right)
        of_right = np.where(right, found, -np.inf)
        best, nearest, has_key = found.argmax(1), of_right.argmax(1), right.any(1)
        rank = 1 + np.count_nonzero(found > of_right.max(1)[:, None], axis=1)
        rank += (rank == 1) & ~right[np.arange(len(best)), best]  # of keys that tie, the first
        top = found.max(1)
        if isinstance(self._score, NamedScore):
            of_right = of_right / self._temperature
            total = np.logaddexp.reduce(found / self._temperature, axis=1)
            none, score = np.zeros(len(best)), top
        else:
            total, score = np.zeros(len(best)), np.exp(np.minimum(top, 0))
            none = np.log(np.maximum(1 - np.exp(found).sum(1), np.exp(_LEAST)))
        logs = np.maximum(np.logaddexp.reduce(of_right, axis=1) - total, _LEAST)
        rank, logs = np.where(has_key, rank, 0), np.where(has_key, logs, none)
        return Answers(rank, logs, best, score, nearest, otherwise)

    def _scores(
        self, asked: Asked, right: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of the keys, (L, S), or the logarithms of their probabilities.

        The second is the score of the best key if those that are right, (L, S), were not in the
        dict, (L,).
        """
        keys, meaning = self._keys, self._meaning
        vectors = self._layer.project_queries(asked.vectors).astype(np.float32, copy=False)
        if isinstance(self._score, NamedScore):
            scores = self._score.scores(vectors, keys).astype(np.float64)
            return scores, scores.max(1, where=~right, initial=-np.inf)
        judge, is_encoded = meaning.judge, meaning.is_encoded
        seen = glance(asked.queries, keys, vectors, judge.glance, is_encoded=is_encoded)
        found = candidates(seen)
        features = align(asked.queries, keys, found, judge.pair, is_encoded=is_encoded)
        said = judge.judge(features)
        others = ~np.take_along_axis(right, found.slots, 1)
        there = np.asarray(others.any(1))
        otherwise = judge.judge(features, others | ~there[:, None]).of_best()
        logs = judge.log_probabilities(said, found.slots, seen.odds)
        return logs, np.where(there, otherwise, -np.inf)
