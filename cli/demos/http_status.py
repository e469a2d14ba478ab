"""HTTP status codes by phrase: an existing dict with fuzzy keys.

Python knows the phrase of each code. The reversed dict finds codes by phrases that people remember.
A list of queries is answered in one pass over the keys, which is faster than a loop.
"""

from http import HTTPStatus

from fuzzydict import Attention, FuzzyDict
from fuzzydict.cli.demos import Picture, demo, echo

CODES = {status.phrase: status.value for status in HTTPStatus}
QUERIES = ["not found", "notFound", "unauthorised", "too many request", "moved permanent"]


@demo
def main() -> Picture:
    """HTTP status codes by the phrases that people remember."""
    d = FuzzyDict(CODES)

    # 1. One pass for all queries.
    for query, match in zip(QUERIES, d.nearest(QUERIES), strict=True):
        echo(f"{query:18} {match.value}  {match.key} ({match.score:.2f} sure)")

    # 2. A vague query has several answers: the best few, whatever their score.
    echo("gateway may be")
    for match in d.most_similar("gateway", topn=3):
        echo(f"{'':18} {match.value}  {match.key} ({match.score:.2f} sure)")

    # 3. A mask selects the keys to attend to: here, the errors of the client.
    masked = d.attend("gateway", attn_mask=lambda key: 400 <= CODES[key] < 500)
    key, _, code = masked.top(1)[0]
    echo(f"with the server's errors masked, the best is {code}  {key}")

    # 4. A key is found exactly, and only keys are "in" the dict.
    echo(f"d['OK'] is {d['OK']}, and 'okay' in d is {'okay' in d}")
    attention: Attention = d.attend("gateway")
    return attention.plot


if __name__ == "__main__":
    main()
