"""Additive attention in a decoder: dates as people write them become ISO dates.

The encoder makes a vector h_i of each character and its neighbours. The decoder writes "1998-05-03"
one character at a time. The year comes first in the output but often last in the input, so before
each character the decoder attends to all h_i (Bahdanau, Cho and Bengio 2015, appendix A):

    c_t = sum_i a_i h_i    a = softmax_i w' tanh(W_q q_t + W_k h_i)    attention
    s_t = tanh(W_s [q_t; c_t] + b_s)                                   the state
    y_t ~ softmax(W_y s_t + b_y)                                       the character

The query q_t is the place t and the character before, y_{t-1}, where theirs is the state before,
s_{t-1}: so all characters of an example are learned at once. The h_i are keys and values. All
matrices are learned from pairs of texts.

Axes: B dates, S characters read, T = 10 characters written, V symbols, D the size of h and s.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta

import click
import numpy as np
from threadpoolctl import threadpool_limits

from fuzzydict import Additive
from fuzzydict._arrays import Array, glorot, linear, linear_backward
from fuzzydict.cli._options import option
from fuzzydict.cli.demos import Picture, demo, echo
from fuzzydict.learning.train import Adam
from fuzzydict.nn.attention import attention_forward
from fuzzydict.nn.softmax import softmax
from fuzzydict.results.plotting import plot_heatmap

READ = " ,./-0123456789abcdefghijklmnopqrstuvwxyz"  # any other character is read as padding
WRITTEN = "0123456789-"
LENGTH = len("1998-05-03")
NEIGHBOURS = 4  # h_i knows the characters i-4 to i+4
SIZE, BATCH, RATE = 32, 64, 0.015
LEARNED, TESTED = 20_000, 1_000
FORMS = (
    *("{0.day} {0:%B} {0.year}", "{0:%B} {0.day}, {0.year}", "{0.day}-{0:%b}-{0.year}"),
    *("{0:%A}, {0.day} {0:%B} {0.year}", "{0:%a} {0:%b} {0.day} {0.year}"),
    *("{0:%A}, the {0.day}{1} of {0:%B}, {0.year}", "{0:%b} {0.day}{1} {0.year}"),
    *("{0:%d}.{0:%m}.{0.year}", "{0.month}/{0.day}/{0.year}"),  # the month comes first before "/"
)
ENDINGS = {1: "st", 21: "st", 31: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}  # others: th
EXAMPLE = "Sunday, the 3rd of May, 1998"


def date_examples(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Return different days of 1900 to 2099, as people write them and in ISO format."""
    random, first = np.random.default_rng(seed), date(1900, 1, 1)
    numbers = random.choice((date(2099, 12, 31) - first).days + 1, count, replace=False)
    days = [first + timedelta(int(number)) for number in numbers]
    texts = [str(random.choice(FORMS)).format(day, ENDINGS.get(day.day, "th")) for day in days]
    return texts, [str(day) for day in days]


def one_hot(texts: list[str], alphabet: str) -> Array:
    """Return a vector with a single 1 for each character: (B, S, V). Padding is all 0."""
    size = max(map(len, texts))
    codes = [[alphabet.find(c) for c in text.lower().ljust(size, "\0")] for text in texts]
    rows = np.eye(len(alphabet) + 1, len(alphabet), dtype=np.float32)
    vectors: Array = rows[np.array(codes)]  # -1, not found, is the last row
    return vectors


def new_parameters(seed: int) -> dict[str, Array]:
    """Draw the parameters to begin with."""
    random, asked = np.random.default_rng(seed), LENGTH + len(WRITTEN)
    shapes = {"W_h": (SIZE, (2 * NEIGHBOURS + 1) * len(READ)), "W_q": (SIZE, asked)}
    shapes |= {"W_k": (SIZE, SIZE), "w": (1, SIZE), "W_s": (SIZE, asked + SIZE)}
    shapes |= {"W_y": (len(WRITTEN), SIZE)}
    p = {name: glorot(random, *shape, np.float32) for name, shape in shapes.items()}
    biases = {f"b_{name}": np.zeros(len(p[f"W_{name}"]), np.float32) for name in "hsy"}
    return p | {"w": p["w"][0]} | biases


def forward(
    p: Mapping[str, Array], texts: list[str], before: Array
) -> tuple[Array, Array, Callable[[Array], dict[str, Array]]]:
    """Return the probabilities of each character, given those before: (B, T, V) for (B, T, V).

    Beside them are the weights (B, T, S), and what takes the gradient of the logits and returns
    those of the parameters.
    """
    # The encoder: each character with its neighbours (B, S, 9 V), and the vectors h (B, S, D).
    padded = np.pad(one_hot(texts, READ), [(0, 0), (NEIGHBOURS, NEIGHBOURS), (0, 0)])
    beside = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=1)
    x = beside.swapaxes(2, 3).reshape(*beside.shape[:2], -1).astype(p["W_h"].dtype)
    h = np.tanh(linear(x, p["W_h"], p["b_h"]))

    # The decoder: it attends to all h, and writes by what it found.
    places = np.broadcast_to(np.eye(LENGTH), (len(texts), LENGTH, LENGTH))
    query = np.concatenate([places, before], axis=-1).astype(h.dtype)
    scorer = Additive(W_q=p["W_q"], W_k=p["W_k"], w=p["w"])
    context, weights, attention_backward = attention_forward(
        query, h, h, scorer=scorer, valid_lens=list(map(len, texts))
    )
    inputs = np.concatenate([query, context], axis=-1)
    state: Array = np.tanh(linear(inputs, p["W_s"], p["b_s"]))

    def backward(d_logits: Array) -> dict[str, Array]:
        d_state, d_w_y, d_b_y = linear_backward(d_logits, state, p["W_y"])
        d_inputs, d_w_s, d_b_s = linear_backward(d_state * (1 - state**2), inputs, p["W_s"])
        d = attention_backward(d_inputs[..., query.shape[-1] :])
        _, d_w_h, d_b_h = linear_backward((d.key + d.value) * (1 - h**2), x, p["W_h"])
        of_layers = {"W_y": d_w_y, "b_y": d_b_y, "W_s": d_w_s, "b_s": d_b_s}
        return {**d.parameters, **of_layers, "W_h": d_w_h, "b_h": d_b_h}

    return softmax(linear(state, p["W_y"], p["b_y"])), weights, backward


def loss_and_gradients(
    p: Mapping[str, Array], texts: list[str], answers: list[str]
) -> tuple[float, dict[str, Array]]:
    """Return the mean cross-entropy of a character, in nats, and its gradients."""
    target = one_hot(answers, WRITTEN)  # (B, T, V)
    before = np.pad(target, [(0, 0), (1, 0), (0, 0)])[:, :-1]
    likelihoods, _, backward = forward(p, texts, before)
    loss = -float(np.log((likelihoods * target).sum(-1)).mean())
    return loss, backward((likelihoods - target) / (target.shape[0] * LENGTH))


def write(p: Mapping[str, Array], texts: list[str]) -> tuple[list[str], Array]:
    """Return the most likely dates, character by character, and the weights (B, T, S)."""
    answers = [""] * len(texts)
    for t in range(LENGTH):
        before = one_hot([f" {text}".ljust(LENGTH) for text in answers], WRITTEN)[:, :LENGTH]
        likelihoods, weights, _ = forward(p, texts, before)
        best = likelihoods[:, t].argmax(axis=-1)
        answers = [text + WRITTEN[i] for text, i in zip(answers, best, strict=True)]
    return answers, weights


@demo
@option("--steps", "Of learning.", click.IntRange(1), default=200)
@option("--seed", "Other dates and parameters.", click.IntRange(0), default=0)
def main(steps: int, seed: int) -> Picture:
    """A decoder that learns to read dates, in about ten seconds."""
    # 1. Examples. The days to test are not among those to learn from.
    texts, answers = date_examples(LEARNED + TESTED, seed)
    for text, answer in zip(texts[:5], answers, strict=False):
        echo(f"to learn  {answer}  {text}")

    # 2. Learning, by one thread: for matrices as small as these, several wait for each other.
    echo(f"learning by {steps} steps of {BATCH} dates; 200 take 3 to 15 seconds", err=True)
    p, random = new_parameters(seed), np.random.default_rng(seed)
    adam = Adam(p, RATE)
    with threadpool_limits(1, user_api="blas"):
        for number in range(steps):
            some = random.integers(LEARNED, size=BATCH)
            batch = [texts[i] for i in some], [answers[i] for i in some]
            loss, gradients = loss_and_gradients(p, *batch)
            adam.learning_rate = RATE * (1 - number / steps)
            adam.step(gradients)
            if number % 50 == 0:
                echo(f"step {number}: loss {loss:.4f}", err=True)

    # 3. Testing: an answer is right if all of its characters are.
    tested, truths = texts[LEARNED:], answers[LEARNED:]
    found, _ = write(p, tested)
    right = [answer == truth for answer, truth in zip(found, truths, strict=True)]
    for text, answer, good in list(zip(tested, found, right, strict=True))[:5]:
        echo(f"asked     {answer}  {text}{'' if good else '  (wrong)'}")
    echo(f"{sum(right) / len(right):.1%} of {len(right)} unseen dates are right")

    # 4. Weights: each row shows where the decoder looked before it wrote that character.
    (written_date,), (weights,) = write(p, [EXAMPLE])
    shades = np.array(list(" .:-=+*#%@"))  # the darker, the larger
    echo(f"     {EXAMPLE}")
    for name, row in zip(written_date, weights, strict=True):
        echo(f"  {name} |{''.join(shades[np.minimum(row * 10, 9).astype(int)])}|")
    title = "Where the decoder looked"
    labels = {"row_label": "character written", "column_label": "character read"}
    return lambda: plot_heatmap(weights, list(written_date), list(EXAMPLE), title=title, **labels)


if __name__ == "__main__":
    main()
