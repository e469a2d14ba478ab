"""How well a classifier learns from misspelled categories, by what encodes them.

    python -m tests.benchmarks.key_encoder

Names of colours are typed with some slips. From some rows a logistic regression learns which are
light, by ITU-R BT.709 lighter than half of them. Told is the share of others that it gets right.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from importlib import resources
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from fuzzydict import FuzzyKeyEncoder

from .measuring import optional, print_report
from .queries import changed

_ROWS, _ASKED, _DRAWS = 200, 500, 10  # rows to learn from, rows to classify


def main() -> None:
    colors = json.loads((resources.files("fuzzydict.data") / "colors.json").read_text("utf-8"))
    luminance = (np.array(list(colors.values())) / 255) ** 2.2 @ [0.2126, 0.7152, 0.0722]
    is_light = dict(zip(colors, (luminance > np.median(luminance)).tolist(), strict=True))

    def typed(slips: int, count: int, chance: random.Random) -> tuple[pd.DataFrame, list[bool]]:
        """Return so many rows of colours with slips, and whether they are light."""
        names = chance.choices(list(is_light), k=count)
        texts = list(names)
        for _ in range(slips):
            texts = [changed(text, chance) for text in texts]
        return pd.DataFrame({"color": texts}), [is_light[name] for name in names]

    rows = []
    for name, make in _encoders(list(is_light)).items():
        row = [name]
        for slips in range(3):
            shares = []
            for chance in map(random.Random, range(_DRAWS)):
                seen, asked = (typed(slips, count, chance) for count in (_ROWS, _ASKED))
                model = make_pipeline(make(), LogisticRegression(max_iter=1000)).fit(*seen)
                shares.append(model.score(*asked))
            row.append(f"{np.mean(shares):.3f} ± {np.std(shares):.3f}")
        rows.append(row)
    title = f"Share classified right, learned from {_ROWS} rows, {_DRAWS} draws"
    print_report(title, ["encoder", "no slip", "one slip", "two slips"], rows)


def _encoders(keys: list[str]) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {
        "`OneHotEncoder`": partial(OneHotEncoder, handle_unknown="ignore")
    }
    if (skrub := optional("skrub")) is not None:
        column = FunctionTransformer(itemgetter("color"))  # of a table of one column
        fixed = {"random_state": 0}
        for name, options in (("MinHash", {}), ("Gap", fixed), ("String", fixed)):
            encoder = getattr(skrub, f"{name}Encoder")(**options)
            found[f"skrub `{name}Encoder`"] = partial(make_pipeline, column, encoder)
    ours = partial(FuzzyKeyEncoder, output="weights")
    found["`FuzzyKeyEncoder`, weights over what was seen"] = ours
    found["`FuzzyKeyEncoder`, weights over the right names"] = partial(ours, keys)
    return found


if __name__ == "__main__":
    main()
