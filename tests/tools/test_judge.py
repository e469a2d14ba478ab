"""How the judge learns: gradients, signs, and what is written is read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzzydict.search.align import CONTEXT, FEATURES, SIGNS
from fuzzydict.search.pairs import PAIR
from fuzzydict.search.score import Judge, Meaning
from tools import judge
from tools.questions import Asked, Questions

F = len(FEATURES)
SPELLING = Meaning(None)


def lists(count: int = 40) -> judge.Lists:
    """Return lists of 2 to 5 candidates, of which the right one has more of what speaks for it."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (count, 5, F)).astype(np.float32)
    X[:, :, CONTEXT:] = X[:, :1, CONTEXT:]
    mask = np.arange(5) < random.integers(2, 6, (count, 1))
    right = np.zeros((count, 5), np.bool_)
    right[np.arange(count * 3 // 4), 0] = True
    X[right] += 0.3 * SIGNS
    rest = np.where(random.random((count, 4)) < 0.7, random.normal(size=(count, 4)), -np.inf)
    weight = random.uniform(0.3, 1, count).astype(np.float32)
    share = np.full(count, 2, np.float32)
    return judge.Lists(X, mask, right, rest.astype(np.float32), share, weight)


def check(loss: Any, start: Any) -> None:
    """Assert that the gradient of a loss is that along random directions."""
    random = np.random.default_rng(1)
    for _ in range(3):
        at = start + 0.1 * random.standard_normal(len(start))
        direction = random.standard_normal(len(start))
        direction /= np.linalg.norm(direction)
        step = 1e-2
        found = (loss(at + step * direction)[0] - loss(at - step * direction)[0]) / (2 * step)
        assert found == pytest.approx(float(loss(at)[1] @ direction), rel=2e-2, abs=2e-4)


def drawn(columns: int) -> tuple[Any, Any, Any]:
    """Return evidence, what is true and weights."""
    random = np.random.default_rng(0)
    seen = random.standard_normal((50, columns)).astype(np.float32)
    return seen, random.random(50) < 0.5, random.random(50).astype(np.float32)


@pytest.mark.parametrize(
    "learn",
    [
        lambda: judge.learned_which(lists(), lists().X, 0, 1),
        lambda: judge.learned_whether(*drawn(F + 3), 1, 1),  # some features have no direction
        lambda: judge.learned_logistic(*drawn(len(PAIR))),
    ],
    ids=["which is best", "whether it is right", "what two words tell"],
)
def test_the_gradients_of_what_is_learned(
    learn: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    def keep(loss: Any, start: Any, *_: Any) -> Any:
        found.append((loss, start))
        return start

    monkeypatch.setattr(judge, "minimised", keep)
    learn()
    check(*found[0])


def slips() -> list[Questions]:
    """Return dicts of words, and slips of some of them; every third is of a word that is no key."""
    words = ["red", "green", "blue", "black", "white", "yellow", "orange", "purple", "brown"]
    words += ["silver", "golden", "copper"]
    random, made = np.random.default_rng(0), []
    for _ in range(30):
        keys = random.permutation(words)[:6].tolist()
        others = [word for word in words if word not in keys][:3]
        asked = [Asked(f"{key[:-1]}x{key[-1]}", frozenset([key]), "slip") for key in keys]
        asked += [Asked(f"{word}x", frozenset(), "absent") for word in others]
        made.append(Questions(keys, asked, "words"))
    return made


@pytest.fixture(scope="module")
def learned() -> Judge:
    dicts = list(judge.prepared(slips(), SPELLING))
    weights = {"glance": judge.learned_glance(dicts, 0)}
    weights["pair"] = judge.learned_pair(dicts, weights["glance"])
    return judge.learned([judge.lists_of(dicts, weights)], weights, steps=(30, 30))


def test_what_is_learned_of_a_few_slips_finds_them(learned: Judge) -> None:
    dicts = judge.prepared(slips(), SPELLING)
    found = [answer for one in dicts for answer in judge.answers(one, learned)]
    present = [answer for answer in found if answer.present]
    hits = np.mean([answer.hit for answer in present])
    assert hits > 0.95
    sure = np.mean([answer.probability for answer in present])
    assert sure > 0.8 > 0.4 > np.mean([one.probability for one in found if not one.present])
    assert f"{len(present)} hit@1 {hits:.3f} | 0.25: " in judge.report("slips", present)
