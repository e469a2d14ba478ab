"""What attention says of arguments that do not fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.nn.attention import attention, pool

Q, K, VALUE = (np.ones((2, n, size)) for n, size in ((4, 3), (5, 3), (5, 2)))
Call = Callable[[], object]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: attention(Q, K, VALUE[:, :4]),
            r"S = 5, got value \(2, 4, 2\)",
        ),
        (lambda: attention(Q, K, np.ones(5)), r"got value \(5,\)"),
        (lambda: attention(Q, K[..., :2], VALUE), r"query \(2, 4, 3\) and key \(2, 5, 2\)"),
        (lambda: attention(Q, K, np.ones((3, 5, 2))), "batch axes.*do not broadcast"),
        (lambda: attention(Q, K, VALUE, attn_mask=np.ones((5, 4), bool)), r"\(2, 4, 5\)"),
        (lambda: attention(Q, K, VALUE, attn_mask=np.ones((3, 2, 4, 5), bool)), "broadcast"),
        (lambda: attention(Q, K, VALUE, attn_mask=np.full((4, 5), np.nan)), "attn_mask must not"),
        (lambda: attention(Q, K, VALUE, valid_lens=[1, 2, 3]), r"shape \(2,\).*or \(2, 4\)"),
        (lambda: attention(Q, K, VALUE, valid_lens=[1, 9]), "between 0 and S = 5, got 1 to 9"),
        (lambda: attention(Q, K, VALUE * np.inf), r"^value of shape"),
        (lambda: attention(Q, K, VALUE * np.nan, need_weights=True), r"^value of shape"),
        (
            lambda: attention(Q, K, VALUE, scorer=lambda q, k: 0 * q @ k.swapaxes(1, 2) + np.nan),
            "look at the scorer",
        ),
        (
            lambda: pool(np.ones((2, 3)), np.ones((4, 2))),
            r"weights \(2, 3\) and",
        ),
    ],
)
def test_what_does_not_fit_is_named(call: Call, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention(Q, K, VALUE, attn_mask=np.ones((4, 5), int)), r"int64.*astype\(bool\)"),
        (lambda: attention(Q, K, VALUE, valid_lens=[1.5, 2.0]), "valid_lens must be integers"),
        (lambda: attention(Q, K, [["a"]] * 5), "value must be an array of real numbers"),
    ],
)
def test_what_is_of_the_wrong_type_is_named(call: Call, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention(Q, K, VALUE, scorer="dots"), "scorer 'dots' is not known"),
        (lambda: attention(Q, K, VALUE, normalizer="max"), "one of softmax, sparsemax, got 'max'"),
        (lambda: attention(Q, K, VALUE, temperature=0), "temperature must be"),
        (lambda: attention(Q, K, VALUE, scorer="dot", scale=1.0), "use temperature"),
        (lambda: attention(Q, K, VALUE, scale=-1.0), "scale must be"),
    ],
)
def test_an_option_that_does_not_exist_is_named(call: Call, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call()
