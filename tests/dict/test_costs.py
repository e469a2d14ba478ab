"""What writes cost: one batch of encoding, and then no more than what changed; by counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzydict import Brown, FuzzyDict
from fuzzydict.text import ngrams
from fuzzydict.text.similarity import likenesses


def one_hot(texts: list[str]) -> Any:
    return np.eye(5)[[sum(map(ord, text)) % 5 for text in texts]]


class Work:
    """Counts the texts that are encoded, the strings whose n-grams are indexed, the rows moved."""

    def __init__(self, monkeypatch: Any) -> None:
        self.encoded = self.indexed = 0
        original = ngrams._ngrams

        def counted(strings: Any) -> Any:
            self.indexed += len(strings)
            return original(strings)

        monkeypatch.setattr(ngrams, "_ngrams", counted)

    def encode(self, texts: list[str]) -> Any:
        self.encoded += len(texts)
        return one_hot(texts)


def test_writes_and_reads_in_turn_cost_what_changed(monkeypatch: Any) -> None:
    work = Work(monkeypatch)
    d = FuzzyDict({f"key {i}": i for i in range(2000)}, embedding=work.encode)
    d.get("query")
    assert (work.encoded, work.indexed) == (2000 + 1, 2000 + 1)  # one batch, and the query
    work.encoded = work.indexed = 0
    buffers = set()
    for i in range(1000):
        d[f"new {i}"] = i
        d.get("query")
        assert d._index is not None
        buffers.add(len(d._index._vectors._buffer))
    assert work.encoded == 2 * 1000
    # A query a read; each new key by log2 of the keys beside it; the old ones once.
    assert work.indexed <= 1000 + 1000 * 11 + 3000
    assert len(buffers) <= 6  # the matrix is moved each time it has grown by an eighth


def test_deletes_and_reads_in_turn_cost_what_changed(monkeypatch: Any) -> None:
    work = Work(monkeypatch)
    d = FuzzyDict({f"key {i}": i for i in range(2000)}, embedding=work.encode)
    d.get("query")
    work.encoded = work.indexed = 0
    for i in range(1900):
        del d[f"key {i}"]
        d.get("query")
        assert d._index is not None
        assert len(d._index) <= 2 * len(d) + 1
    assert work.encoded == 1900  # the queries
    # A query a read; the keys that are left when half are dead: 1000 + 500 + ...
    assert work.indexed <= 1900 + 2000


def test_a_key_removed_and_added_again_is_encoded_again_and_stands_last() -> None:
    calls: list[list[str]] = []

    def recorded(texts: list[str]) -> Any:
        calls.append(texts)
        return one_hot(texts)

    d = FuzzyDict({"color": 1, "brand": 2}, embedding=recorded)
    d.get("x1")
    d["color"] = 3  # a new value: nothing to encode
    d.get("x1")
    d["color"] = d.pop("color")
    assert d.attend("x1").names == ["brand", "color"]
    assert calls == [["color", "brand"], ["x1"], ["x1"], ["color"], ["x1"]]


def test_a_word_never_seen_is_compared_once_however_many_there_are(monkeypatch: Any) -> None:
    compared: list[str] = []

    def counted(words: Any, others: Any, heard: Any) -> Any:
        compared.extend(words)
        return likenesses(words, others, heard)

    monkeypatch.setattr("fuzzydict.embedding.vocabulary.likenesses", counted)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [f"colo{a}{b}" for a in letters for b in letters]
    words = [word for word in words if Brown().vocabulary.row(word) is None]
    Brown().vocabulary.stand_ins.cache_clear()
    keys = [f"{word} {other}" for word in words for other in ("color", "speedd")]
    d = FuzzyDict(dict.fromkeys(keys, 0), scorer="cosine")
    assert len(d.attend("speed").names) == len(d)
    assert sorted(compared) == sorted([*words, "speedd"])
