"""What cosines to expect of unrelated texts, against a loop."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from fuzzydict.embedding.encoder import background_of
from tests.support.reference import cosine_of


def by_loop(vectors: Any) -> tuple[float, float]:
    """Return mean and spread of the cosines of all pairs, beside two pairs of 0.2 +- 0.1."""
    cosines = [cosine_of(a, b) for a, b in itertools.combinations(vectors, 2)]
    mean = (sum(cosines) + 2 * 0.2) / (len(cosines) + 2)
    squares = sum((cosine - mean) ** 2 for cosine in cosines) + 2 * 0.1**2
    return mean, math.sqrt(squares / (len(cosines) + 2))


@pytest.mark.parametrize("count", range(6))
def test_the_background_is_that_of_a_loop(count: int) -> None:
    vectors = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
    vectors[count // 2 :: 4] = 0  # the vector of a text without words
    assert background_of(vectors) == pytest.approx(by_loop(vectors), rel=1e-5)


def test_where_all_texts_are_alike_there_still_is_a_spread_to_divide_by() -> None:
    mean, spread = background_of(np.ones((128, 3), np.float32))
    assert mean == pytest.approx(1, abs=1e-3)
    assert spread > 0
