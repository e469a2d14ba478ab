"""What tests share of the keys of a dict: checks of their arrays, and searches by a graph."""

from __future__ import annotations

import copy
import importlib.util
import pickle
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict
from fuzzydict.search.keys import Keys, exact_text, has_words
from fuzzydict.search.lookup import Exact

#: Marks a test that asks a graph.
needs_usearch = pytest.mark.skipif(
    importlib.util.find_spec("usearch") is None, reason="this engine needs the extra 'usearch'"
)

#: The scorers that a graph can serve.
SCORERS = [None, "cosine"]
#: Ways to copy a dict.
COPIES: list[Any] = [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]


def hashed(texts: list[str]) -> Any:
    """Return a vector of 12 numbers for each text, much the same for texts of the same words."""
    words = {word for text in texts for word in text.split()}
    known = {w: np.random.default_rng(list(w.encode())).standard_normal(12) for w in words}
    return np.array([sum(known[word] for word in text.split()) for text in texts]).reshape(-1, 12)


class Compared(FuzzyDict[Any]):
    """A dict that compares a query with every key, whatever its index."""

    def _current_reader(self) -> Any:
        reader = super()._current_reader()
        reader.lookup = Exact(reader.lookup.keys, reader.lookup.meaning, self.scorer)
        return reader


def compared(d: FuzzyDict[Any]) -> Compared:
    """Return a new dict of the same items and options that asks no graph."""
    options = {n: getattr(d, n) for n in ("embedding", "scorer", "temperature", "score_cutoff")}
    return Compared(d, **options)


def assert_same(found: Any, expected: Any, rel: float = 2e-4) -> None:
    """Assert that matches have the same scores, and the same keys where these tell them apart."""
    scores = [match.score for match in expected]
    assert [match.score for match in found] == pytest.approx(scores, rel=rel, abs=1e-6)
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        near = [s for j, s in enumerate(scores) if j != i and abs(s - scores[i]) <= rel * abs(s)]
        assert near or (one.key, one.value) == (other.key, other.value)


def check_keys(d: FuzzyDict[Any]) -> None:
    """Assert that the arrays of the keys are those of the dict, whatever was written."""
    if d._kept.encoded is None or not isinstance(d._kept.encoded[1], Keys):
        return
    before = copy.copy(d._kept.encoded[1])
    before._may_append = []  # the dict's own next update appends all the same
    size = before.vectors.shape[1]
    keys = before.updated(list(d), lambda new: np.zeros((len(new), size), np.float32))
    for each in (before, keys):
        assert len(each) == len(each.vectors) == len(each.columns) == len(each.inverse_lengths)
        split = map(each.table.words_of, map(exact_text, each.names[: len(each)]))
        assert each.texts[: len(each)] == list(map(" ".join, split))
        slots = np.flatnonzero(each.alive).tolist()
        assert [each.slot_of(each.names[slot]) for slot in slots] == slots
    assert list(map(id, keys.living())) == list(map(id, filter(has_words, d)))
