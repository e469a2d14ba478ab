"""Multi-head attention: each head looks for something else, and the next layer uses the result.

One softmax gives one distribution of weights. Heads look in several places at once: each projects
queries, keys and values by its own matrices, and their outputs stand side by side (Vaswani et al.
2017, section 3.2.2). A network learns the matrices; here they are set by hand, to show what each
head does:

    head 1 looks for the position before its own: the previous word
    head 2 looks for its own word: the other places where it occurs

A second attention uses the output of head 1. It looks for places after an earlier occurrence of its
own word and copies their words: what came next last time? Such pairs of heads are found in trained
language models, where they are called induction heads (Olsson et al. 2022).
"""

from typing import Any

import numpy as np

from fuzzydict import MultiHeadAttention, attention
from fuzzydict.cli.demos import Picture, demo, echo, heat_maps

TEXT = ["so", "the", "king", "rode", "the", "horse", "and", "the", "king"]
N = len(TEXT)
SHARP = 10 * N**0.5  # large scores, so that the softmax decides; attention divides by sqrt(N)


def two_heads() -> MultiHeadAttention:
    """Return heads for inputs [word (N), position (N)], of which each has N numbers."""
    heads = MultiHeadAttention(embed_dim=2 * N, num_heads=2, bias=False)
    word, place = np.s_[:N], np.s_[N:]  # of the input; and of the output, head 1 and head 2
    for matrix in heads.parameters.values():
        matrix[:] = 0
    heads.parameters["W_q"][word, place] = SHARP * np.eye(N, k=1)  # position i looks for i - 1
    heads.parameters["W_k"][word, place] = np.eye(N)
    heads.parameters["W_v"][word, word] = np.eye(N)  # and gets the word there
    heads.parameters["W_q"][place, word] = SHARP * np.eye(N)
    heads.parameters["W_k"][place, word] = np.eye(N)
    heads.parameters["W_v"][place, place] = np.eye(N)
    heads.parameters["W_o"][:] = np.eye(2 * N)
    return heads


@demo
def main() -> Picture:
    """Multi-head attention: each head looks for something else."""
    vocabulary = list(dict.fromkeys(TEXT))
    words = np.eye(N)[[vocabulary.index(word) for word in TEXT]]  # (L, N): a 1 for each word,
    x = np.hstack([words, np.eye(N)])  # and a 1 for its position: (L, 2 N)
    before: dict[str, Any] = {"is_causal": True, "need_weights": True}

    # 1. Both heads at once; is_causal keeps them from looking ahead.
    output, weights = two_heads()(x, x, x, average_attn_weights=False, **before)
    for i, word in enumerate(TEXT):
        one, other = (TEXT[head[i].argmax()] for head in weights)
        same = [j for j in range(N) if weights[1, i, j] > 0.1]
        echo(f"{i} {word:5}  head 1 looks at {one!r:7}  head 2 ({other}) at places {same}")

    # 2. The second attention: its keys are the words that head 1 found.
    copied, following = attention(words, output[:, :N], words, scale=10, **before)
    for i in (N - 2, N - 1):
        found = {w: f"{p:.0%}" for w, p in zip(vocabulary, copied[i], strict=False) if p > 0.01}
        echo(f"after {TEXT[i]!r} there came, as far as was read: {found}")
    titles = ["head 1: before me", "head 2: my word", "then: what came next"]
    maps = zip(titles, [*weights, following], strict=True)
    return lambda: heat_maps({t: (w.round(3), TEXT, TEXT) for t, w in maps}, (4.2, 3.8))


if __name__ == "__main__":
    main()
