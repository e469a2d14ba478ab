"""What tests of engines share: each engine that is installed, and dicts that search by it."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from fuzzydict import mapping
from fuzzydict.approximate import Approximate
from fuzzydict.engines import ENGINES

#: The engines by name; one that is not installed is skipped, and the reason is printed.
EACH_ENGINE = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name == "usearch" and importlib.util.find_spec("usearch") is None,
            reason="this engine needs the extra 'usearch'",
        ),
    )
    for name in ENGINES
]


def search_always(patch: pytest.MonkeyPatch) -> None:
    """Let every dict ask its engine, the exact one too, which compares with all keys as it is."""
    patch.setattr(
        mapping, "lookup_by", lambda engine, keys, scorer: Approximate(keys, scorer, engine)
    )


def hashed(texts: list[str]) -> Any:
    """Return a vector of 12 numbers for each text, much the same for texts of the same words."""
    words = {word for text in texts for word in text.split()}
    known = {w: np.random.default_rng(list(w.encode())).standard_normal(12) for w in words}
    return np.array([sum(known[word] for word in text.split()) for text in texts]).reshape(-1, 12)
