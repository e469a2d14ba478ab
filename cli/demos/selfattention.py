"""Self-attention by hand: a well-known worked example of three inputs, step by step.

Each input is projected three times, by matrices that a network would learn and that are given here:
to a query, what it looks for; to a key, what it is found by; to a value, what it contributes.

    Q = X W_Q     K = X W_K     V = X W_V     output = softmax(Q K') V

Vaswani et al. 2017, equation 1, without the division by sqrt(E), which is the last step here.
"""

from typing import Any

import numpy as np

from fuzzydict import attention
from fuzzydict.cli.demos import Picture, demo, echo, echo_text, heat_maps

X = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])  # (L, 4): three inputs
W_Q = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])  # (4, E): to queries,
W_K = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])  # keys,
W_V = np.array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])  # and values
INPUTS = ["input 1", "input 2", "input 3"]


def show(what: str, matrix: Any) -> None:
    """Print a matrix under its name."""
    echo_text(f"{what}\n{np.array2string(matrix, precision=3, suppress_small=True)}")


@demo
def main() -> Picture:
    """Self-attention by hand, step by step, on a worked example."""
    show("1. The inputs X, a row each", X)

    query, key, value = X @ W_Q, X @ W_K, X @ W_V
    show("2. Queries Q = X W_Q", query)
    show("   Keys K = X W_K", key)
    show("   Values V = X W_V", value)

    scores = query @ key.T
    show("3. Scores Q K': a row for each query, a column for each key", scores)

    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    show("4. Weights: the softmax of each row, which then sums to 1", weights)

    first = weights[0, :, None] * value
    show("5. The values, each times its weight for input 1", first)
    show("   Their sum is the output of input 1", first.sum(axis=0))
    show("   All outputs: weights times V, of the shape of Q", weights @ value)

    output, _ = attention(query, key, value, scorer="dot", need_weights=True)
    same = np.allclose(output, weights @ value)
    echo(f"6. attention(Q, K, V, scorer='dot') is the same: {same}")

    # Long vectors have large products, with which a softmax gives one key all the weight.
    # Dividing by sqrt(E) prevents this.
    _, softer = attention(query, key, value, need_weights=True)
    show("7. Weights of scores divided by sqrt(3), the scaled dot product", softer)
    maps = {"dot product": weights, "scaled dot product": softer}
    return lambda: heat_maps({t: (w, INPUTS, INPUTS) for t, w in maps.items()}, (3.8, 3.0))


if __name__ == "__main__":
    main()
