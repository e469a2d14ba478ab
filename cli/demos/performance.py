"""Learned attention: what "performance" means where the keys are those of a car.

Attention compares a query with keys in a space where what means alike lies near. Whose meaning? The
vectors that ship were read from a corpus of 1961, where a performance is that of an orchestra. So
a car's table, asked for "performance", pays attention to nothing in particular.

Attention learns what to compare by two matrices, Q for queries and K for keys:

    weights = softmax(score(query Q, key K))

Here both start as the identity, where nothing is learned, and turn a little with each example of a
query and the keys that are right for it. What is learned is kept only if queries are answered
better that were not learned from: a dozen examples is little, so each is held out in its turn.
"""

from __future__ import annotations

from pathlib import Path

import click

from fuzzydict import FuzzyDict
from fuzzydict.cli.demos._lesson import as_command, save_picture

KEYS = ["battery", "top speed", "horse power", "color", "brand", "model", "price", "seats", "doors"]
SPORT = ["battery", "top speed", "horse power"]
EXAMPLES = {
    "performance": SPORT,
    "acceleration": ["top speed", "horse power"],
    "power": ["horse power", "battery"],
    "how quick is it": "top speed",
    "engine strength": "horse power",
    "range": "battery",
    "paint": "color",
    "shade": "color",
    "cost": "price",
    "how expensive": "price",
    "maker": "brand",
    "manufacturer": "brand",
}
UNSEEN = ["colour", "how fast", "velocity", "expense", "battry"]  # none is among the examples


def lesson(save: Path | None) -> None:
    """Learned Q and K: a dozen examples tell what is meant."""
    d = FuzzyDict(dict.fromkeys(KEYS, "..."))

    # 1. Before: every key gets some of the weight.
    click.echo(f"before: {d.attend('performance')}\n")
    before = {query: d.most_similar(query)[0] for query in UNSEEN}

    # 2. Learning Q and K, from a dozen examples.
    report = d.fit(list(EXAMPLES), list(EXAMPLES.values()))
    click.echo(f"{report}\n")

    # 3. After: the weight is where the examples said, and hardly any on the color.
    click.echo(f"after: {d.attend('performance')}\n")

    # 4. Queries that no example had. A slip of the keyboard is found by its spelling, as before.
    for query, was in before.items():
        now = d.most_similar(query)[0]
        click.echo(f"{query}: {was.key} ({was.score:.2f}) -> {now.key} ({now.score:.2f})")
    if save:
        save_picture(report.plot(), save)


main = as_command(lesson)
if __name__ == "__main__":
    main()
