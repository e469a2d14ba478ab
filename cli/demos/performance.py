"""Learned attention: what "performance" means among the keys of a car.

Attention compares a query with keys in a space where words of similar meaning are near each other.
The built-in vectors come from a corpus of 1961, in which a performance is that of an orchestra, so
"performance" is first of all the top speed.

Attention learns what to compare through two matrices, Q for queries and K for keys:

    weights = softmax(score(query Q, key K))

Both start as the identity and change a little with each example: a query and the keys that are
right for it. A dozen examples say too little about other queries to prove that this helps, so that
`fit` would only remember them. Here it learns from them all the same, and holds none out.
"""

from typing import Any

from fuzzydict import FuzzyDict
from fuzzydict.cli.demos import Picture, demo, echo, echo_text

KEYS = ["battery", "top speed", "horse power", "color", "brand", "model", "price", "seats", "doors"]
SPORT = ["battery", "top speed", "horse power"]
EXAMPLES: dict[str, Any] = {
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


@demo
def main() -> Picture:
    """Learned Q and K: what a dozen examples change."""
    d = FuzzyDict(dict.fromkeys(KEYS, "..."))

    # 1. Before: every key gets some of the weight.
    echo_text(f"before: {d.attend('performance')}\n")
    before = {query: d.most_similar(query)[0] for query in UNSEEN}

    # 2. Learning Q and K, from a dozen examples.
    report = d.fit(EXAMPLES, remember=False, validation=0)
    echo_text(f"{report}\n")

    # 3. After: the keys of the examples have the weight, and the color hardly any.
    echo_text(f"after: {d.attend('performance')}\n")

    # 4. Queries that are not among the examples. A typo is found by its spelling, as before.
    for query, was in before.items():
        now = d.most_similar(query)[0]
        echo(f"{query}: {was.key} ({was.score:.2f}) -> {now.key} ({now.score:.2f})")
    return report.plot


if __name__ == "__main__":
    main()
