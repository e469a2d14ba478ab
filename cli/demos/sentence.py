"""Attention over a sentence: to itself, to another sentence, and only to earlier words.

The built-in word vectors are queries, keys and values alike, without projections. So a word attends
to words of similar meaning, and most of all to itself. (Learned projections let a network look for
other things, such as the subject of a verb; see the demo `heads`.) The three kinds differ only in
what the queries and keys are:

    self-attention      attention(x, x, x)
    cross-attention     attention(x, y, y)
    masked (causal)     attention(x, x, x, is_causal=True)
"""

from typing import Any

import numpy as np

from fuzzydict import Brown, attention
from fuzzydict.cli.demos import Picture, demo, echo, echo_text, heat_maps

ONE = ["the", "king", "gave", "his", "prince", "a", "horse"]
OTHER = ["the", "queen", "rode", "away"]
OPTIONS: dict[str, Any] = {"scorer": "cosine", "temperature": 0.2, "need_weights": True}


def show(title: str, weights: Any, rows: list[str], columns: list[str]) -> None:
    """Print weights in per cent, a row for each query."""
    echo_text(f"\n{title} (weights in %)")
    echo(" " * 10 + "".join(f"{word:>9}" for word in columns))
    for word, row in zip(rows, weights, strict=True):
        echo(f"{word:>10}" + "".join(f"{share:9.0%}" if share else f"{'-':>9}" for share in row))


@demo
def main() -> Picture:
    """Self-, cross- and masked attention over a sentence."""
    brown = Brown()
    x, y = brown.encode(ONE), brown.encode(OTHER)

    # 1. Self-attention: each word attends to the words of its own sentence.
    _, self_weights = attention(x, x, x, **OPTIONS)
    show("Self-attention", self_weights, ONE, ONE)
    others = self_weights - np.diag(np.diag(self_weights))
    for i, j in enumerate(others.argmax(axis=1)):
        echo(f"beside itself, {ONE[i]!r} looks most at {ONE[j]!r}")

    # 2. Cross-attention: each word attends to another sentence, as in translation.
    _, cross_weights = attention(x, y, y, **OPTIONS)
    show("Cross-attention", cross_weights, ONE, OTHER)
    for i, j in enumerate(cross_weights.argmax(axis=1)):
        echo(f"{ONE[i]!r} looks most at {OTHER[j]!r}")

    # 3. Masked: a word attends only to itself and the words before it.
    _, causal_weights = attention(x, x, x, is_causal=True, **OPTIONS)
    show("Masked self-attention", causal_weights, ONE, ONE)
    maps = {
        "self-attention": (self_weights, ONE, ONE),
        "cross-attention": (cross_weights, ONE, OTHER),
        "masked": (causal_weights, ONE, ONE),
    }
    return lambda: heat_maps(maps, (4.0, 3.6))


if __name__ == "__main__":
    main()
