"""How well a classifier learns from misspelled categories, by what encodes them.

    python -m tests.benchmarks.key_encoder [--rows 200] [--asked 500] [--draws 10]

The categories are the colours of ``data/colors.json``. Their names are typed with as many slips as
the head of a column says: a letter left out, added or changed, or two swapped. From some rows a
logistic regression learns which colours are light, by ITU-R BT.709 lighter than half of them. What
is told is the share of other rows, with slips of their own, that it classifies right: the mean of
the draws, and their standard deviation. All options have their defaults. Encoders of skrub (``pip
install '.[bench]'``) are left out if it is not there.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from importlib import resources
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from fuzzydict import FuzzyKeyEncoder

from .measuring import command, optional, print_report
from .queries import changed

_SLIPS = {"no slip": 0, "one slip": 1, "two slips": 2}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Measure `FuzzyKeyEncoder`.")
    parser.add_argument("--rows", type=int, default=200, help="rows to learn from")
    parser.add_argument("--asked", type=int, default=500, help="rows to classify")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    is_light = _light_colors()
    table = [
        [name, *(_told(make, is_light, slips, options) for slips in _SLIPS.values())]
        for name, make in _encoders(list(is_light)).items()
    ]
    title = f"Share classified right, learned from {options.rows} rows, {options.draws} draws"
    print_report(title, ["encoder", *_SLIPS], table)


def _light_colors() -> dict[str, bool]:
    """Return of each colour whether it is lighter than half of them."""
    file = resources.files("fuzzydict.data") / "colors.json"
    colors = json.loads(file.read_text("utf-8"))
    luminance = (np.array(list(colors.values())) / 255) ** 2.2 @ [0.2126, 0.7152, 0.0722]
    return dict(zip(colors, (luminance > np.median(luminance)).tolist(), strict=True))


def _encoders(keys: list[str]) -> dict[str, Callable[[], Any]]:
    """Return what makes each encoder, by its name."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    def of_column(encoder: Any) -> Any:
        """Return an encoder that takes a column as one that takes a table of one column."""
        return make_pipeline(FunctionTransformer(itemgetter("color")), encoder)

    found: dict[str, Callable[[], Any]] = {
        "`OneHotEncoder`": lambda: OneHotEncoder(handle_unknown="ignore"),
    }
    if (skrub := optional("skrub")) is not None:
        found["skrub `MinHashEncoder`"] = lambda: of_column(skrub.MinHashEncoder())
        found["skrub `GapEncoder`"] = lambda: of_column(skrub.GapEncoder(random_state=0))
        found["skrub `StringEncoder`"] = lambda: of_column(skrub.StringEncoder(random_state=0))
    seen, named = (
        "`FuzzyKeyEncoder`, weights over " + of for of in ("what was seen", "the right names")
    )
    found[seen] = lambda: FuzzyKeyEncoder(output="weights")
    found[named] = lambda: FuzzyKeyEncoder(keys, output="weights")
    return found


def _told(
    make: Callable[[], Any], is_light: dict[str, bool], slips: int, options: argparse.Namespace
) -> str:
    """Return the share that is classified right, of several draws."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    shares = []
    for draw in range(options.draws):
        chance = random.Random(draw)
        rows, target = _typed(is_light, slips, options.rows, chance)
        asked, right = _typed(is_light, slips, options.asked, chance)
        model = make_pipeline(make(), LogisticRegression(max_iter=1000)).fit(rows, target)
        shares.append(model.score(asked, right))
    return f"{np.mean(shares):.3f} ± {np.std(shares):.3f}"


def _typed(
    is_light: dict[str, bool], slips: int, count: int, chance: random.Random
) -> tuple[pd.DataFrame, list[bool]]:
    """Return so many rows of colours with slips, and whether they are light."""
    names = chance.choices(list(is_light), k=count)
    texts = list(names)
    for _ in range(slips):
        texts = [changed(text, chance) for text in texts]
    return pd.DataFrame({"color": texts}), [is_light[name] for name in names]


if __name__ == "__main__":
    command(main)
