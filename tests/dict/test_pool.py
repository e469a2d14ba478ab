"""Pooled values are stacked once, until a write, and are never out of date."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict
from tests.support.properties import SLOW
from tests.support.recording import Recording

KEYS = [f"key {letter}" for letter in "abcdef"]


def encode(texts: list[str]) -> Any:
    return [np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts]


@pytest.mark.filterwarnings("ignore:pool")
def test_values_are_converted_once_until_a_write() -> None:
    recording = Recording(encode)
    d = FuzzyDict(dict.fromkeys(KEYS, "red"), embedding=recording, score_cutoff=0.0)
    asked = recording.asked
    for query in ("Key_1", "Key_2", "Key_3"):
        d.pool(query)
    assert asked.count("red") == len(KEYS)
    d[KEYS[0]] = "blue"
    for query in ("Key_1", "Key_2"):
        d.pool(query)
    assert (asked.count("red"), asked.count("blue")) == (2 * len(KEYS) - 1, 1)


@pytest.mark.more
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "new",
    [
        float,
        lambda x: [float(x), 1.0],
        lambda x: ([float(x), 3.0], [1.0, 2.0]),
        lambda x: np.array([x, 2.0]),
        lambda x: f"word {x}",
    ],
    ids=["numbers", "lists", "lists in tuples", "arrays", "texts"],
)
def test_what_is_pooled_is_what_a_new_dict_pools(new: Any, seed: int) -> None:
    chance = random.Random(seed)
    d: FuzzyDict[Any] = FuzzyDict({key: new(i) for i, key in enumerate(KEYS)}, embedding=encode)
    d.scorer = "cosine"
    for step in range(60 if SLOW else 30):
        key, act = chance.choice(KEYS), chance.randrange(6)
        if act == 0:
            d[key] = new(step)
        elif act == 1:
            dict.__setitem__(d, key, new(step))  # past the methods of the dict
        elif act == 2 and len(d) > 2:
            d.pop(key, None)
        elif act == 3:
            d[f"{key} {step % 3}"] = new(step)
        elif act == 4:
            d.update({key: new(step), KEYS[0]: new(step + 1)})
        elif isinstance(held := dict.get(d, key), list | tuple | np.ndarray):
            (held[0] if isinstance(held, tuple) else held)[0] += 1.0  # in place
        expected = FuzzyDict(dict(d), embedding=encode, scorer="cosine").pool("key x")
        np.testing.assert_allclose(d.pool("key x"), expected, rtol=1e-6, atol=1e-6)
