"""What tests of graphs share: dicts that search by one, or compare with every key."""

from __future__ import annotations

import copy
import importlib.util
import pickle
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict
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
