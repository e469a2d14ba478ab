"""Every public argument that takes numbers, given odd ones: it answers, or raises an own error.

An answer comes without a warning other than this package's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fuzzydict
from fuzzydict import FuzzyDict, FuzzyDictError, KernelRegression, MultiHeadAttention, WordVectors
from fuzzydict.errors import quoted
from fuzzydict.io.explore.answers import Answers
from fuzzydict.nn.attention import attention, attention_forward
from fuzzydict.nn.scorers import KERNELS, Additive, Bilinear, Concat, ScaledDot
from fuzzydict.nn.softmax import NORMALIZERS, normalize, softmax
from tests.support.properties import SLOW

# ---- odd numbers ---------------------------------------------------------------------------


class Unwilling:
    """An object that raises whatever is asked of it."""

    def __float__(self) -> float:
        raise ZeroDivisionError

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise LookupError

    def __repr__(self) -> str:
        raise RuntimeError


class Refusing(Fraction):
    """A number that can be neither shown nor made a float."""

    def __float__(self) -> float:
        raise ZeroDivisionError

    def __repr__(self) -> str:
        raise RuntimeError


class Half:
    """What can be made a float, but does not say that it is a number."""

    def __float__(self) -> float:
        return 0.5


ODD: list[Any] = [
    *(Fraction(9, 10), Fraction(10**400), Fraction(1, 10**400), Refusing(1, 2), Unwilling()),
    *(Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e400"), Decimal("-Infinity")),
    *(0, 1, 2, -1, True, False, 10**30, 10**400, -(10**400), 10**5000, [10**5000], (10**400, 1.0)),
    *(-0.0, 5e-324, 1e-320, 1e-50, 0.1, 1.5, 1e50, 1e308, -1.7e308, float("nan"), float("inf")),
    *(np.float16(0.5), np.float32(0.25), np.float64("nan"), np.longdouble("1e4000"), np.bool_(1)),
    *(np.int8(2), np.uint64(2**64 - 1), np.datetime64("2020-01-01"), np.timedelta64(5, "s")),
    *(np.array(0.5), np.array([0.5]), np.array([[0.5, 1.0]]), np.array("0.5"), np.array(1j)),
    *(Half(), np.ma.masked),
    *(np.array(Fraction(1, 2), object), np.zeros((0, 2)), np.array([np.inf, 1e308])),
    *(1j, complex("nan"), "0.5", "", "\ud800", b"1", None, ..., object(), range(2)),
    *({}, {1: 2}, set(), [], [1, [2, 3]], [[1.0], [1.0, 2.0]], [None, 1.0], [1e308, 1e308]),
    *([[1e308, -1e308]], [True, False], [False, False], [[5e-324, 1.0]], [Fraction(1, 2), 0.5]),
    [[Decimal("0.5"), 1]],
]
# ---- the arguments -------------------------------------------------------------------------

VECTORS = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "violet": [0.8, 0.6], "grey": [0.6, 0.6]}
VECTORS["dusk"] = [-1.0, -0.2]  # which is far from all
KEYS = ["red", "blue", "violet", "grey"]


def colors(**options: Any) -> FuzzyDict[Any]:
    return FuzzyDict(dict.fromkeys(KEYS, 1.0), **{"embedding": VECTORS} | options)


def of_values(value: Any, other: Any, **options: Any) -> FuzzyDict[Any]:
    vectors = {"a": [1.0, 1.0], "b": [1.0, 1.0]}
    return FuzzyDict({"a": value, "b": other}, embedding=vectors, **options)


def read(d: FuzzyDict[Any], **options: Any) -> None:
    """Read in all ways; a default is the answer where nothing matches."""
    for query in ("grye", "red"):
        assert d.get(query, "default", **options) is not None
        d.nearest([query], default=None, **options)
        d.get_many([query], **options)


def pool_all(d: FuzzyDict[Any]) -> None:
    attended = d.attend("grey")
    weights = attended.weights
    assert weights.sum() == pytest.approx(1.0)
    assert weights[attended.scores.argmax()] >= weights.max() - 1e-9
    assert str(attended)
    d.pool(["grey", "red"])


def fit(**options: Any) -> None:
    epochs = options.get("epochs")
    if not isinstance(epochs, int) or epochs < 5:  # else it takes long
        colors().fit({"ruby": "red", "navy": "blue"}, **{"epochs": 1, "validation": 0} | options)


def fit_values(target: Any) -> None:
    colors().fit({"grey": target, "blue": 1.0, "red": 0.5}, epochs=1, validation=0)


def kernels(width: Any) -> None:
    for name in KERNELS:
        for dtype in (np.float32, np.float64):
            rows = np.array([[0.0, 1.0], [0.5, 1e-30]], dtype)
            scores = KERNELS[name](width)(rows, rows)
            assert not scores.diagonal().any()  # a vector is nearest to itself
            attention(rows, rows, rows, scorer=KERNELS[name](width))


def tempered(temperature: Any) -> None:
    for dtype in (np.float32, np.float64):
        rows = np.array([[3.0, 1.0, 3.0]], dtype)
        for name in NORMALIZERS:
            weights, _ = normalize(rows, temperature, name)
            assert weights.sum() == pytest.approx(1.0)
            assert weights[0, 0] == weights[0, 2] == weights.max()
            assert float(temperature) > 1e-30 or weights[0, 1] == 0
            assert float(temperature) < 1e30 or weights[0, 1] == pytest.approx(1 / 3)
        one = attention([[1.0]], rows.T, rows.T, scorer="dot", temperature=temperature)
        both, _ = attention(
            [[1.0]], rows.T, rows.T, scorer="dot", temperature=temperature, need_weights=True
        )
        np.testing.assert_allclose(one, both, rtol=1e-5)
        attention_forward([[1.0]], rows.T, rows.T, temperature=temperature)[2](np.ones((1, 1)))


ROWS = [[0.5, 1.0], [1.0, 0.0]]
IN_32_BITS = np.array(ROWS, np.float32)


def heads(**options: Any) -> None:
    sizes = [size for size in options.values() if isinstance(size, int | np.integer)]
    # A matrix of a million rows fits, and takes long. A timedelta64 is an integer to numpy.
    if all(isinstance(size, np.timedelta64) or size < 100 for size in sizes):
        MultiHeadAttention(**{"embed_dim": 2, "num_heads": 1} | options)


def regress(X: Any, y: Any, bandwidth: Any = 1.0) -> None:  # noqa: N803
    model = KernelRegression(bandwidth=bandwidth).fit(X, y)
    model.predict(X)
    model.score(X, y)


ARGUMENTS: dict[str, Callable[[Any], object]] = {
    "score_cutoff": lambda x: read(colors(score_cutoff=x)),
    "score_cutoff in pool mode": lambda x: colors(score_cutoff=x, mode="pool").get("grey"),
    "score_cutoff, of a class": lambda x: type("Sub", (FuzzyDict,), {"score_cutoff": x})(),
    "score_cutoff of reads": lambda x: read(colors(), score_cutoff=x),
    "score_cutoff of pool": lambda x: colors().pool("grey", score_cutoff=x),
    "score_cutoff, saved": lambda x: colors(score_cutoff=x).copy(),
    "temperature": lambda x: pool_all(colors(temperature=x)),
    "temperature of a scorer": lambda x: pool_all(colors(temperature=x, scorer="dot")),
    "temperature of a search": lambda x: pool_all(colors(temperature=x, index="usearch")),
    "temperature of explore": lambda x: Answers(colors()).answer("grye", x),
    "topn": lambda x: colors().most_similar("grye", topn=x),
    "attn_mask of attend": lambda x: colors().attend("grey", attn_mask=x),
    "attn_mask of pool": lambda x: colors().pool("grey", attn_mask=lambda _: x),
    "n of top": lambda x: colors().attend("grey").top(x),
    "n of chart": lambda x: colors().attend("grey").chart(x),
    "rank": lambda x: fit(rank=x),
    "epochs": lambda x: fit(epochs=x),
    "learning_rate": lambda x: fit(learning_rate=x),
    "validation": lambda x: fit(validation=x),
    "seed": lambda x: fit(seed=x),
    "learn": lambda x: fit(learn=x),
    "targets": fit_values,
    "values": lambda x: of_values(x, 1.0).pool("a"),
    "values in pool mode": lambda x: of_values(x, 1.0, mode="pool")["a"],
    "embedding, a mapping": lambda x: colors(embedding={"red": x, "blue": x}).get("red"),
    "embedding, its encode": lambda x: colors(embedding=lambda texts: [x] * len(texts)).get("rde"),
    "scorer": lambda x: colors(scorer=x),
    "scorer, its scores": lambda x: colors(scorer=lambda *_: x).get("rde"),
    "mode": lambda x: colors(mode=x),
    "index": lambda x: colors(index=x),
    "projections": lambda x: colors(projections=x),
    "aliases": lambda x: setattr(colors(), "aliases", {"ruby": x} if x is not None else x),
    "softmax: scores": softmax,
    "sparsemax: scores": lambda x: normalize(x, 1.0, "sparsemax"),
    "softmax: temperature": tempered,
    "attention: query": lambda x: attention(x, ROWS, ROWS),
    "attention: key": lambda x: attention(ROWS, x, ROWS, scorer="cosine"),
    "attention: value": lambda x: attention(ROWS, ROWS, x),
    "attention: all": lambda x: attention(x, x, x, need_weights=True),
    "attention: scale": lambda x: attention(ROWS, ROWS, ROWS, scale=x),
    "attention: scale, in 32 bits": lambda x: ScaledDot(x)(IN_32_BITS, IN_32_BITS),
    "attention: attn_mask": lambda x: attention(ROWS, ROWS, ROWS, attn_mask=x),
    "attention: valid_lens": lambda x: attention(ROWS, ROWS, ROWS, valid_lens=x),
    "attention: normalizer": lambda x: attention(ROWS, ROWS, ROWS, normalizer=x),
    "attention: scorer": lambda x: attention(ROWS, ROWS, ROWS, scorer=x),
    "width": kernels,
    "M": lambda x: Bilinear(x)(ROWS, ROWS),
    "W_q": lambda x: Additive(x, x)(ROWS, ROWS),
    "w": lambda x: Additive(w=x)(ROWS, ROWS),
    "W": lambda x: Concat(x, x)(ROWS, ROWS),
    "bandwidth": lambda x: regress(ROWS, [1.0, 2.0], x),
    "X": lambda x: regress(x, [1.0, 2.0]),
    "y": lambda x: regress(ROWS, x),
    "y, the bandwidth learned": lambda x: regress(ROWS, x, "fit"),
    "kernel": lambda x: KernelRegression(x).fit(ROWS, [1.0, 2.0]),
    "embed_dim": lambda x: heads(embed_dim=x),
    "num_heads": lambda x: heads(num_heads=x),
    "kdim": lambda x: heads(kdim=x),
    "seed of heads": lambda x: heads(seed=x),
    "dtype of heads": lambda x: heads(dtype=x),
    "heads: query": lambda x: MultiHeadAttention(2, 1)(x, ROWS, ROWS),
    "heads: attn_mask": lambda x: MultiHeadAttention(2, 1)(ROWS, ROWS, ROWS, attn_mask=x),
    "heads: parameters": lambda x: MultiHeadAttention(2, 1).with_parameters({"W_q": x}),
    "vectors of words": lambda x: WordVectors(["a", "b"], x),
    "counts of words": lambda x: WordVectors(["a", "b"], ROWS, counts=x),
}


def check(argument: str, value: Any) -> None:
    """Assert that an argument is answered, or refused in one line with an own error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for own in (fuzzydict.EmptyRowWarning, fuzzydict.DoubtfulPoolWarning):
            warnings.simplefilter("ignore", own)
        told = "answered"
        try:
            ARGUMENTS[argument](value)
        except FuzzyDictError as error:
            told = str(error)
        assert 0 < len(told) < 1000


@pytest.mark.more
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_an_odd_number_is_taken_or_refused(argument: str) -> None:
    start, step = (0, 1) if SLOW else (list(ARGUMENTS).index(argument) % 3, 3)
    failed = {}
    for value in ODD[start::step]:
        try:
            check(argument, value)
        except Exception as error:
            failed[quoted(value)] = f"{type(error).__name__}: {error}"[:200]
    assert failed == {}


# ---- what has a clear meaning --------------------------------------------------------------

NINE_TENTHS = [Fraction(9, 10), Decimal("0.9"), np.float64(0.9), np.array(0.9), 0.9]


@pytest.mark.parametrize("number", NINE_TENTHS, ids=lambda number: type(number).__name__)
def test_every_kind_of_number_means_the_same(number: Any) -> None:
    d = colors(score_cutoff=number, temperature=number, scorer="cosine")
    assert (type(d.score_cutoff), d.score_cutoff, d.temperature) == (float, 0.9, 0.9)
    assert d.get("violet", "no match", score_cutoff=1) == 1.0
    for cutoff in (number, None):
        with pytest.raises(fuzzydict.NoMatchError, match=r"below the cutoff 0\.900"):
            d.nearest("dusk", score_cutoff=cutoff)
    assert colors(temperature=number).pool("grey") == colors(temperature=0.9).pool("grey")
    assert softmax([1.0, 2.0], number).tolist() == softmax([1.0, 2.0], 0.9).tolist()
    assert fuzzydict.Gaussian(number).width == ScaledDot(number).scale == 0.9
    rows = [[number, 1.0]]
    assert attention(rows, rows, rows).tolist() == [[0.9, 1.0]]
    assert FuzzyDict({"a": number, "b": number}, scorer="spelling").pool("a") == 0.9
