"""One query gives what it gives among others, though it is answered in another way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzzydict import FuzzyDict
from fuzzydict.embedding.word_vectors import English

_SAID = [
    "color",
    "colour",
    "no",
    "tax",
    "without",
    "hot",
    "cold",
    "qty",
    "quantity",
    "5",
    "12",
    "twelve",
    "usd",
    "to",
    "eur",
    "white",
    "space",
    "whitespace",
    "monday",
    "tuesday",
    "international",
    "business",
    "machines",
    "ibm",
    "united",
    "states",
    "of",
    "america",
    "usa",
    "street",
    "st",
    "not",
    "paid",
    "unpaid",
    "velocity",
    "speed",
    "maximum",
    "max",
    "vat",
    "number",
    "new",
    "york",
    "ny",
    "R2D2",
    "Straße",
    "東京",
]
_SMALL = dict(zip(_SAID, English().encode(_SAID)[:, :20], strict=True))


def _encode(texts: list[str]) -> Any:
    return English().encode(list(texts))[:, :32]


KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "english": {"embedding": "english"},
    "spelling": {"scorer": "spelling"},
    "mapping": {"embedding": _SMALL},
    "encoder": {"embedding": _encode},
}

_letters = st.text("abcAB 1-/", min_size=1, max_size=8).filter(lambda text: text.strip(" -/"))
_words = st.lists(st.sampled_from(_SAID), min_size=1, max_size=4).map(" ".join)
_texts = _letters | _words


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(
    keys=st.lists(_texts, min_size=1, max_size=40, unique=True),
    gone=st.integers(0, 39),
    queries=st.lists(_texts, min_size=2, max_size=4, unique=True),
)
@example(["usd to eur", "ibm", "no tax"], 39, ["eur to usd", "international business machines"])
@example(["white space", "cold", "qty 5"], 1, ["whitespace", "quantity 6", "hot"])
def test_one_query_gives_what_it_gives_among_others(
    kind: str, keys: list[str], gone: int, queries: list[str]
) -> None:
    d: FuzzyDict[int] = FuzzyDict(dict.fromkeys(keys, 0), score_cutoff=-1, **KINDS[kind])
    if gone < len(keys) - 1:  # a slot without a key
        d.get("warm up")
        del d[keys[gone]]
    for query, among in zip(queries, d.nearest(queries), strict=True):
        alone = d.nearest(query)
        assert alone.score == pytest.approx(among.score, abs=1e-5)
        if alone.key != among.key:  # of two that are as good, either may be the first
            scores = {match.key: match.score for match in d.most_similar(query, topn=len(d))}
            assert scores[alone.key] == pytest.approx(scores[among.key], abs=1e-5)
        assert d.get(query, "none") == alone.value


@pytest.mark.parametrize("count", [24, 25, 300])
def test_among_more_keys_than_are_compared_in_detail(count: int) -> None:
    keys = [f"{one} {other}" for one in _SAID for other in _SAID if one < other][:count]
    d: FuzzyDict[int] = FuzzyDict(dict.fromkeys(keys, 0), score_cutoff=-1)
    queries = [f"{one}s" for one in _SAID]
    for query, among in zip(queries, d.nearest(queries), strict=True):
        assert d.nearest(query).score == pytest.approx(among.score, abs=1e-5)
