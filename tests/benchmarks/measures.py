"""Judged data, read with care, and how well answers agree with it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Dictionary",
    "JudgedPair",
    "Query",
    "RetrievalSet",
    "hit_at_1",
    "mean_reciprocal_rank",
    "rank_correlation",
    "read_pairs",
    "read_sets",
    "similarity_pairs",
]

_SIMILARITY_FILES = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}


class Encoder(Protocol):
    """What gives each text a vector."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, E)."""


class Query(NamedTuple):
    """A query, and the keys that are right answers to it."""

    text: str
    accept: frozenset[str]


class Dictionary(NamedTuple):
    """The keys of a dict, and queries for it."""

    keys: list[str]
    queries: list[Query]


class RetrievalSet(NamedTuple):
    """Dictionaries of one kind."""

    name: str
    dictionaries: list[Dictionary]

    @property
    def queries(self) -> list[Query]:
        """The queries of all dictionaries."""
        return [query for dictionary in self.dictionaries for query in dictionary.queries]


class JudgedPair(NamedTuple):
    """Two words, and how alike people found them."""

    first: str
    second: str
    judged: float


# ---- measures -----------------------------------------------------------------------------


def hit_at_1(answers: Iterable[str | None], accepted: Iterable[Collection[str]]) -> float:
    """Return the share of answers that are accepted; None, no answer, is never one.

    >>> hit_at_1(["color", None], [{"color"}, {"brand"}])
    0.5
    """
    hits = [answer in right for answer, right in zip(answers, accepted, strict=True)]
    return sum(hits) / len(hits) if hits else float("nan")


def mean_reciprocal_rank(
    ranked: Iterable[Sequence[str]], accepted: Iterable[Collection[str]], *, topn: int = 10
) -> float:
    """Return the mean of one by the rank of the first right answer, 0 if not among ``topn``.

    >>> mean_reciprocal_rank([["brand", "color"], ["model"]], [{"color"}, {"brand"}])
    0.25
    """
    found = []
    for answers, right in zip(ranked, accepted, strict=True):
        ranks = (rank for rank, answer in enumerate(answers[:topn], 1) if answer in right)
        found.append(1 / next(ranks, float("inf")))
    return sum(found) / len(found) if found else float("nan")


def rank_correlation(encoder: Encoder, pairs: Sequence[JudgedPair]) -> float:
    """Return Spearman's correlation of the pairs' cosines with people's judgement.

    No pair is left out: a word never seen counts with the vector that the encoder gives it, and
    the cosine with the zero vector is 0.
    """
    from scipy.stats import spearmanr  # type: ignore[import-untyped]

    first = _unit(encoder.encode([pair.first for pair in pairs]))
    second = _unit(encoder.encode([pair.second for pair in pairs]))
    cosines = (first * second).sum(axis=1)
    return float(spearmanr(cosines, [pair.judged for pair in pairs]).statistic)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)


# ---- judged pairs -------------------------------------------------------------------------


def similarity_pairs() -> dict[str, list[JudgedPair]]:
    """Return WordSim-353 and SimLex-999, all pairs, as they come with gensim's test data."""
    from gensim.test.utils import datapath

    return {name: read_pairs(Path(datapath(file))) for name, file in _SIMILARITY_FILES.items()}


def read_pairs(path: Path) -> list[JudgedPair]:
    """Return the pairs of a file: two words and a number a line, parted by tabs; # comments.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: a line is something else, or there is none.
    """
    pairs = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                first, second, judged = line.split("\t")
                pairs.append(JudgedPair(first, second, float(judged)))
            except ValueError as error:
                raise FileFormatError(
                    f"{path}: line {number} is not two words and a number parted by tabs: {line!r}"
                ) from error
    if not pairs:
        raise FileFormatError(f"{path}: holds no pair of words")
    return pairs


# ---- retrieval sets -----------------------------------------------------------------------


def read_sets(paths: Iterable[Path]) -> list[RetrievalSet]:
    """Return the retrieval sets of files, and of the ``*.json`` files of folders.

    Raises:
        OSError: a file cannot be read.
        FileFormatError: a file is no retrieval set, or a folder holds none.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not found:
            raise FileFormatError(f"{path}: the folder holds no .json file")
        files += found
    return [_read_set(file) for file in files]


def _read_set(path: Path) -> RetrievalSet:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:  # not UTF-8, or not JSON
        raise FileFormatError(f"{path}: is not JSON ({error})") from error
    dictionaries = content.get("dictionaries") if isinstance(content, dict) else None
    if not isinstance(dictionaries, list) or not dictionaries:
        raise FileFormatError(
            f'{path}: is no retrieval set; expected {{"dictionaries": [{{"keys": [...], '
            f'"queries": [{{"query": "...", "accept": [...]}}]}}]}}'
        )
    read = [_dictionary(f"{path}: dictionary {i}", d) for i, d in enumerate(dictionaries)]
    return RetrievalSet(path.stem, read)


def _dictionary(where: str, content: Any) -> Dictionary:
    keys = _field(where, content, "keys")
    queries = _field(where, content, "queries")
    if not _are_texts(keys):
        raise FileFormatError(f"{where}: its keys must all be strings")
    if len(set(keys)) < len(keys):
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise FileFormatError(f"{where}: the key {twice!r} comes twice")
    known = set(keys)
    return Dictionary(
        keys, [_query(f"{where}, query {i}", q, known) for i, q in enumerate(queries)]
    )


def _query(where: str, content: Any, keys: set[str]) -> Query:
    accept = _field(where, content, "accept")
    text = content.get("query")
    if not isinstance(text, str):
        raise FileFormatError(f'{where}: its "query" must be a string, got {text!r}')
    if not _are_texts(accept) or not keys.issuperset(accept):
        odd = next(key for key in accept if not isinstance(key, str) or key not in keys)
        raise FileFormatError(f"{where}: {text!r} accepts {odd!r}, which is not among the keys")
    return Query(text, frozenset(accept))


def _field(where: str, content: Any, name: str) -> list[Any]:
    """Return a list that must be there and must not be empty."""
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list) or not found:
        raise FileFormatError(f'{where}: expected an object whose "{name}" is a list, not empty')
    return found


def _are_texts(things: list[Any]) -> bool:
    return all(isinstance(thing, str) for thing in things)
