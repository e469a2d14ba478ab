"""Files of version 0.1, and what was answered before they were saved.

They were made by that version, in this folder's ``files``, by

    python -m tests.saving.older_files tests/saving/files
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import fuzzydict
from fuzzydict import Bilinear, Brown, FuzzyDict, WordVectors

__all__ = ["QUERIES", "WORDS", "answers", "embedding_of", "encoded", "settings"]

_NAMES = [
    *("red", "crimson", "scarlet", "navy", "blue", "azure", "green", "olive", "lime", "grey"),
    *("silver", "slate", "dark", "light", "sky", "sea", "grass", "brand", "maker", "model"),
    *("colour", "tone", "price", "cost"),
]
WORDS = {
    word: [((5 + 3 * i) * (7 + 11 * j) % 17 - 8) / 8 for j in range(8)]
    for i, word in enumerate(_NAMES)
}
QUERIES = ["crimson", "navy", "light sky", "maker", "olve", "cost of grass", "red"]
_EXAMPLES = {
    "crimson": "red",
    "azure": "navy blue",
    "sea": "navy blue",
    "cost": "price",
    "grey": "silver",
    "slate": "silver",
    "tone": "price",
    "lime": "dark green",
    "olive": "dark green",
    "grass": "dark green",
}
_OPTIONS = ("mode", "temperature", "score_cutoff", "index")


def embedding_of(name: str) -> Any:
    """Return the embedding of the dict of this name."""
    return None if name.startswith("brown") else WORDS


def answers(d: FuzzyDict[Any]) -> list[Any]:
    """Return what a dict answers to each query, as JSON holds it."""
    return [[query, *_answer(d, query)] for query in QUERIES]


def _answer(d: FuzzyDict[Any], query: str) -> tuple[Any, ...]:
    matches = [[match.key, match.score] for match in d.most_similar(query, topn=3)]
    attended = d.attend(query)
    # What was the default at the time.
    is_default = d.scorer is None and d.score_cutoff is None
    cutoff = 0.02 if is_default else None
    value = encoded(d.get(query, score_cutoff=cutoff))
    return value, matches, np.sort(attended.weights)[::-1][:3].tolist()


def encoded(value: Any) -> Any:
    """Return a value as JSON holds it, with the name of its type."""
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, list | tuple):
        plain = [part.tolist() if isinstance(part, np.generic) else part for part in plain]
    return [type(value).__name__, plain]


def settings(d: FuzzyDict[Any]) -> dict[str, Any]:
    """Return those options of a dict that JSON holds, and the names of the others' types."""
    named = {name: type(getattr(d, name)).__name__ for name in ("scorer", "projections")}
    return {**{name: getattr(d, name) for name in _OPTIONS}, **named}


def _numbers() -> dict[str, float]:
    return {"red": 1.0, "navy blue": 2.0, "dark green": 3.0, "silver": 4.0, "price": 5.0}


def _plain() -> FuzzyDict[Any]:
    d: FuzzyDict[Any] = FuzzyDict({"scarlet": 0, "brand": "Porsche", "sky blue": [1, (2, None)]})
    d.embedding = WORDS
    d["slate"] = d[7] = d[("a", 1.5)] = {"nested": True}
    d.get("crimson")
    del d["scarlet"]
    return d


def _pooled(values: Any) -> FuzzyDict[Any]:
    items = dict(zip(_numbers(), values, strict=True))
    return FuzzyDict(items, mode="pool", embedding=WORDS, temperature=0.5)


def _fitted(**options: Any) -> FuzzyDict[Any]:
    """Return a dict with projections, which are kept for no example is held out."""
    d: FuzzyDict[Any] = FuzzyDict(_numbers(), embedding=WORDS)
    d.fit(_EXAMPLES, validation=0.0, **options)
    if d.projections is None:
        raise ValueError("nothing was learned: the files would hold no projections")
    return d


def _brown() -> FuzzyDict[Any]:
    items = {"brand": "Porsche", "model": "Taycan", "color": "black"}
    d: FuzzyDict[Any] = FuzzyDict(items, projections="identity")
    d.fit({"paint": "color", "make": "brand", "vehicle type": "model"}, rank=1)
    return d


def _dicts() -> dict[str, FuzzyDict[Any]]:
    matrix = np.eye(8) + np.outer(np.arange(8), np.arange(8)[::-1]) / 40
    chosen = FuzzyDict(_numbers(), embedding=WORDS, scorer="gaussian", projections="identity")
    chosen.temperature, chosen.score_cutoff = 0.7, -1.0
    return {
        "plain": _plain(),
        "pool_arrays": _pooled(np.arange(20, dtype=np.float32).reshape(5, 2, 2)),
        "pool_tuples": _pooled([(i, i / 2, -i) for i in range(5)]),
        "pool_numbers": _pooled(_numbers().values()),
        "bilinear": FuzzyDict(_numbers(), embedding=WORDS, scorer=Bilinear(matrix)),
        "options": chosen,
        "fitted": _fitted(),
        "fitted_rank": _fitted(rank=2),
        "usearch": FuzzyDict(_numbers(), embedding=WORDS, index="usearch"),
        "brown": FuzzyDict({"brand": "Porsche", "model": "Taycan", "color": "black"}),
        "brown_fitted": _brown(),
    }


def main() -> None:
    """Make the files, and one of what is answered."""
    folder = Path(sys.argv[1])
    expected = {}
    for name, d in _dicts().items():
        items = [[encoded(key), encoded(value)] for key, value in d.items()]
        expected[name] = {"items": items, "options": settings(d), "answers": answers(d)}
        d.save(folder / f"{name}.fuzzydict")
    words = WordVectors(list(WORDS), list(WORDS.values()), np.arange(len(WORDS), 0, -1))
    words.save(folder / "float32.vectors")
    words.save(folder / "int8.vectors", dtype="int8")
    _fitted(rank=2).projections.save(folder / "rank.projections")
    lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in expected.items()]
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    print(f"made with {fuzzydict.__version__}, {Brown().size} numbers a word")


if __name__ == "__main__":
    main()
