"""A dict that attends: query, key, value, and why "colour" finds "color".

A dict compares a query with its keys and returns the value of the equal one. Attention compares it
with all keys, gives each a weight, and returns the weighted sum of all values:

    weights = softmax(scores / temperature)        answer = sum_i weights_i * value_i

The weights sum to 1. If one key has all the weight, the answer is its value, as in a dict.
"""

import numpy as np

from fuzzydict import FuzzyDict, NoMatchError
from fuzzydict.cli.demos import Picture, demo, echo, echo_text

CAR = {"brand": "Porsche", "model": "Taycan", "color": "black", "top speed": 260, "doors": 4}


@demo
def main() -> Picture:
    """Query, key, value: a car's data by other words."""
    d = FuzzyDict(CAR)

    # 1. A query that is no key is answered with the value of the nearest one.
    for query in ("color", "colour", "Top-Speed", "modle", "maximum speed"):
        match = d.nearest(query)
        echo(f"d[{query!r}] is {match.value!r}: key {match.key!r}, {match.score:.3f} sure")

    # 2. A query that is near no key raises an error, as in a plain dict.
    try:
        d["qwzzt"]
    except NoMatchError as error:
        echo(f"d['qwzzt'] is refused: {error.key!r} is nearest, {error.score:.3f} sure")

    # 3. Membership and writes are exact: a write never changes a similar key.
    d["colour"] = "white"
    echo(f"after d['colour'] = 'white', d['color'] is {d['color']!r}: there are two keys")
    del d["colour"]

    # 4. Each key has a vector, a score against the query, and a weight. The weights sum to 1.
    attention = d.attend("colour")
    echo(f"the query's vector has {attention.query.size} numbers, as has each key's")
    echo_text(str(attention))
    echo(f"the weights sum to {attention.weights.sum():.3f}")

    # 5. The weights are the softmax of the scores, here by hand.
    powers = np.exp(attention.scores.astype(float))
    same = np.allclose(powers / powers.sum(), attention.weights)
    echo(f"the softmax by hand is the same: {same}")
    return lambda: d.attend("maximum speed").plot(kind="map")


if __name__ == "__main__":
    main()
