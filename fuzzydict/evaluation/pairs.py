"""Pairs of words, and how alike people find them: WordSim-353, SimLex-999, and such files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from fuzzydict._files import decoded
from fuzzydict.errors import FileFormatError, quoted

__all__ = ["JudgedPair", "read_pairs", "similarity_pairs"]

_FILES = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}


class JudgedPair(NamedTuple):
    """Two words, and how alike people found them."""

    first: str
    second: str
    judged: float


def similarity_pairs() -> dict[str, list[JudgedPair]]:
    """Return WordSim-353 and SimLex-999, all pairs, as they come with gensim's test data.

    (L. Finkelstein et al., 2002; F. Hill, R. Reichart and A. Korhonen, 2015.)
    """
    from gensim.test.utils import datapath

    return {name: read_pairs(Path(datapath(file))) for name, file in _FILES.items()}


def read_pairs(path: Path) -> list[JudgedPair]:
    """Return the pairs of a file: two words and a number a line, parted by tabs; # comments.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: a line is something else, or there is none.
    """
    lines = decoded(path.read_bytes(), path).splitlines()
    pairs = [
        _pair(f"{path}: line {number}", line)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    if not pairs:
        raise FileFormatError(f"{path}: holds no pair of words")
    return pairs


def _pair(where: str, line: str) -> JudgedPair:
    try:
        first, second, judged = line.split("\t")
        pair = JudgedPair(first, second, float(judged))
    except ValueError:
        pair = None
    if pair is None or not math.isfinite(pair.judged):
        raise FileFormatError(
            f"{where} is not two words and a number parted by tabs: {quoted(line)}"
        )
    return pair
