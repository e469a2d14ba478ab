"""Embeddings of tests: one that costs little, and one that records what it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def one_hot(texts: list[str]) -> Any:
    return np.eye(5)[[sum(map(ord, text)) % 5 for text in texts]]


class Recording:
    """Give what a function gives, and keep the texts that it was given in ``asked``."""

    def __init__(self, encode: Callable[[list[str]], Any]) -> None:
        self.given = encode
        self.asked: list[str] = []

    def encode(self, texts: list[str]) -> Any:
        self.asked.extend(texts)
        return self.given(texts)
