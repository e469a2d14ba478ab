"""Colours pooled by meaning: the answer is a mixture, and the temperature decides of how many.

The 141 named colours of CSS are the keys, their RGB values (0 to 255) the values. In pool mode the
answer to a query is the mean of all colours, weighted by the probability of each:

    weights = softmax(log probability / temperature)        colour = sum_i weights_i * rgb_i

If one key matches a query well, the answer is its colour. If several match, it is a mixture of
theirs. If none does, all colours count a little, and the answer is greyish. A temperature below 1
moves the weights towards the best colour; a temperature above 1 evens them out.
"""

import json
from importlib import resources
from typing import Any

import numpy as np

from fuzzydict import FuzzyDict
from fuzzydict.cli.demos import Picture, demo, echo
from fuzzydict.results.plotting import panels

QUERIES = ("crimsn", "sea", "night sky", "forest", "blood", "sunset")
TEMPERATURES = (0.25, 1.0, 4.0)


@demo
def main() -> Picture:
    """Colours of CSS pooled by meaning: "sea", "blood", "sunset"."""
    colors = json.loads((resources.files("fuzzydict.data") / "colors.json").read_text("utf-8"))
    d = FuzzyDict(colors, mode="pool")
    patches = np.zeros((len(QUERIES), len(TEMPERATURES), 3))
    for row, query in enumerate(QUERIES):
        best = d.most_similar(query, topn=1)[0]
        echo(f"{query}: best key {best.key!r}, {best.score:.2f} sure")
        for column, temperature in enumerate(TEMPERATURES):
            d.temperature = temperature
            attention = d.attend(query)
            patches[row, column] = attention.output
            r, g, b = attention.output.round().astype(int)
            mixture = f"a mixture of {attention.effective_keys:.1f} keys"
            echo(f"  temperature {temperature:4}: rgb({r}, {g}, {b}), {mixture}")

    def picture() -> Any:
        axes = panels(1, 1, (5.2, 4.2))[0, 0]
        axes.imshow(patches / 255, aspect="auto")
        axes.set_xticks(range(len(TEMPERATURES)), TEMPERATURES)
        axes.set_yticks(range(len(QUERIES)), QUERIES)
        axes.set(title="Colours pooled by meaning", xlabel="temperature", ylabel="query")
        return axes

    return picture


if __name__ == "__main__":
    main()
