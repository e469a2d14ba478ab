"""What shards compute of their keys: merged in any order and grouping, it is that of all keys."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fuzzydict.embedding.calibration import OF_ENGLISH
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.nn.attention import finish
from fuzzydict.search.features import Query, encode
from fuzzydict.search.key_index import KeyIndex, Keys, Share
from fuzzydict.search.score import (
    DefaultScore,
    ProbabilityScore,
    SpellingScore,
    log_odds,
    log_probabilities,
)
from fuzzydict.search.shards import (
    Judged,
    Kind,
    PartialPool,
    best_contenders,
    contenders,
    finished,
    judged,
    merged,
    partial_pool,
    sampled,
    statistics_of,
)

TIE = 1e-4
LOG_ODDS = st.floats(-30, 30) | st.sampled_from([2.0, 2.0 - 1e-5, 2.0 + 1e-5, 1.9])


@st.composite
def keys_of_one_query(draw: st.DrawFn) -> tuple[list[float], list[int], list[int]]:
    """Draw log-odds of keys, which of them have the query's words, and the shard of each."""
    odds = draw(st.lists(LOG_ODDS, min_size=1, max_size=12))
    same = draw(st.lists(st.integers(0, len(odds) - 1), max_size=3, unique=True))
    places = st.integers(0, 3)
    shards = draw(st.lists(places, min_size=len(odds), max_size=len(odds)))
    return odds, sorted(same), shards


def slow(odds: NDArray[np.float64], alike: dict[int, float]) -> NDArray[np.float64]:
    """Return the log-probabilities of the keys of one dict."""
    if len(alike) > 1:
        for place, like in alike.items():
            less = max(alike.values()) - like
            odds[place] -= 10 * ((less > 0) + less)
    logs = log_probabilities(odds, OF_ENGLISH.growth, len(odds), OF_ENGLISH.nesting)
    return np.where(logs > logs.max() - TIE, logs.max(), logs)


@given(keys_of_one_query(), st.sampled_from([0.3, 1.0, 4.0]), st.booleans())
def test_shards_merge_to_what_one_dict_computes(
    drawn: tuple[list[float], list[int], list[int]], temperature: float, from_the_left: bool
) -> None:
    odds, same, shards = drawn
    values, alike = np.sin(np.arange(len(odds))), {place: 1 / (1 + place) for place in same}
    logs = slow(np.array(odds), alike)
    kind = Kind.of(DefaultScore(), OF_ENGLISH, temperature)
    pools = []
    for shard in {*shards}:
        mine = np.flatnonzero(np.array(shards) == shard)
        told = [i for i, place in enumerate(mine.tolist()) if place in alike]
        found = Judged(
            np.array(odds)[None, mine],
            [np.array(told, np.intp)],
            [np.array([alike[int(mine[i])] for i in told])],
        )
        names = [str(place) for place in mine.tolist()]
        pools.append(partial_pool(found, names, values[mine, None], kind))

    def both(a: PartialPool, b: PartialPool) -> PartialPool:
        return merged(a, b, kind)

    pool = reduce(both, pools if from_the_left else pools[::-1])
    done = finished(pool, kind, OF_ENGLISH, len(odds))
    weights = np.exp((logs - logs.max()) / temperature)
    assert done.none is not None
    assert done.best[0] == pytest.approx(np.exp(logs.max()), rel=1e-9)
    assert done.none[0] == pytest.approx(max(0, 1 - np.exp(logs).sum()), abs=1e-9)
    assert logs[int(str(done.names[0]))] == logs.max()
    pooled = float(finish(done.attention)[0, 0])
    assert pooled == pytest.approx(weights @ values / weights.sum(), abs=1e-9)


# ---- keys -------------------------------------------------------------------------------------

NAMES = [f"{one} {other}" for one in ("red", "blue", "pale") for other in map(str, range(60))]
VECTORS: dict[str, Any] = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "pale": [0.7, 0.7]}
EMBEDDING = as_embedding(VECTORS)


def keys_of(names: list[str]) -> Keys:
    index = KeyIndex(EMBEDDING)
    for name in names:
        index.add(name)
    return index.keys()


def asked(texts: list[str]) -> list[Query]:
    queries = [Query.of(text, EMBEDDING) for text in texts]
    encode(queries, EMBEDDING)
    return queries


@pytest.mark.parametrize("cut", [1, 7, 100, 179])
def test_samples_of_shards_make_the_statistics_of_all(cut: int) -> None:
    parts = keys_of(NAMES[:cut]), keys_of(NAMES[cut:])
    shares = Share(0, len(NAMES)), Share(cut, len(NAMES))
    samples = [sampled(*one) for one in zip(parts, shares, strict=True)]
    assert statistics_of(samples, EMBEDDING) == keys_of(NAMES).statistics


@pytest.mark.parametrize("score", [DefaultScore(), SpellingScore()])
@pytest.mark.parametrize("size", [1, 40, 100])
def test_keys_are_chosen_among_all_and_judged_as_among_all(
    score: ProbabilityScore, size: int
) -> None:
    queries, whole = asked(["redd 5", "blue", "17", "zz"]), keys_of(NAMES)
    features = score.features(queries, whole)
    starts = range(0, len(NAMES), size)
    parts = [keys_of(NAMES[i : i + size]).with_statistics(whole.statistics) for i in starts]
    some = [contenders(queries, part, score, i) for i, part in zip(starts, parts, strict=True)]
    chosen = best_contenders(some, score)
    for row in range(len(queries)):
        both = {*chosen.near[row].tolist(), *chosen.spelled[row].tolist()}
        assert both == {*features.candidates[row].tolist()}
    odds = [
        judged(queries, part, score, chosen.near - i, chosen.spelled - i).odds
        for i, part in zip(starts, parts, strict=True)
    ]
    expected = log_odds(features, [query.known for query in queries], whole.calibration)
    np.testing.assert_allclose(np.concatenate(odds, axis=1), expected, atol=1e-4)
