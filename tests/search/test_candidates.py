"""Which keys are scored, and which of these are compared as strings."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.search.candidates import NEAREST, SPELLED_ALIKE, candidates, shortlist
from fuzzydict.search.features import Query, encode
from fuzzydict.search.key_index import KeyIndex, Keys
from fuzzydict.search.score import DefaultScore, SpellingScore
from fuzzydict.text.ngrams import most_alike

WORDS = ["brand", "color", "model", "price", "speed", "weight", "height", "width", "year", "owner"]
MANY = [f"{one} {other} {i}" for i in range(3) for one in WORDS for other in WORDS]
EMBEDDING = as_embedding({w: np.eye(10)[i] + 0.1 for i, w in enumerate(WORDS)})


def keys_of(names: list[str], gone: tuple[str, ...] = ()) -> Keys:
    index = KeyIndex(EMBEDDING)
    for name in names:
        index.add(name)
    index.keys()
    for name in gone:
        index.discard(name)
    return index.keys()


def asked(text: str) -> Query:
    query = Query.of(text, EMBEDDING)
    encode([query], EMBEDDING)
    return query


def test_all_of_few_keys_are_compared_as_strings() -> None:
    chosen = candidates(["colour"], np.zeros((1, 10), np.float32), keys_of(WORDS))
    assert (chosen.slots.tolist(), chosen.near) == ([list(range(10))], 0)


@pytest.mark.parametrize("are_told", [False, True], ids=["counted", "told"])
def test_of_many_keys_the_nearest_and_those_spelled_alike_are(are_told: bool) -> None:
    gone = (MANY[7], MANY[44])
    keys, near = keys_of(MANY, gone), np.random.default_rng(0).random((1, 300), np.float32)
    near[0, [7, 8]] = 2
    shared = keys.ngrams.similarities("colour price 2")[None] if are_told else None
    chosen = candidates(["colour price 2"], near, keys, shared)
    assert chosen.slots.shape == (1, NEAREST + SPELLED_ALIKE)
    assert chosen.near == NEAREST
    nearest, spelled = np.split(chosen.slots[0], [NEAREST])
    alive = np.flatnonzero(keys.alive)
    assert set(nearest) == set(alive[np.argsort(-near[0, alive])][:NEAREST])
    found, _ = most_alike(keys.ngrams, "colour price 2", SPELLED_ALIKE, keys.alive)
    assert set(spelled) == set(found.tolist())


def test_what_an_engine_found_is_listed_with_what_is_spelled_alike_and_an_equal_key() -> None:
    keys, near = keys_of(MANY), np.array([120, 3, 77])
    equal = MANY[200]
    listed = shortlist(equal, equal, near, keys, SPELLED_ALIKE)
    found, cosines = most_alike(keys.ngrams, equal, SPELLED_ALIKE, keys.alive)
    assert set(listed.keys.names) == {MANY[i] for i in [120, 3, 77, 200, *found[cosines > 0]]}
    assert listed.keys.names[listed.last] == MANY[77]
    assert listed.left == len(MANY) - len(listed.keys)
    assert listed.others is not None
    assert (listed.others.total, listed.others.left) == (len(MANY), listed.left)
    assert listed.shared is not None
    np.testing.assert_allclose(
        listed.shared.max(), keys.ngrams.similarities(equal).max(), rtol=1e-6
    )
    alone = shortlist(equal, equal, near, keys, 0)  # a score that compares vectors alone
    assert alone.keys.names == [MANY[i] for i in (3, 77, 120, 200)]
    assert (alone.shared, alone.others, alone.left) == (None, None, len(MANY) - 4)


@pytest.mark.parametrize("score", [DefaultScore(), SpellingScore()], ids=["default", "spelling"])
def test_a_list_of_all_keys_is_judged_as_all_keys_are(score: DefaultScore | SpellingScore) -> None:
    keys = keys_of(MANY)
    for text in ("colour price 2", "brand brand 0", "weigth", "qwzzt"):
        query = asked(text)
        listed = shortlist(text, query.text, np.arange(len(MANY)), keys, SPELLED_ALIKE)
        assert (listed.left, listed.others) == (0, None)
        judged = score.judge(query, listed)
        np.testing.assert_allclose(
            judged.log_weights, score.log_weights([query], keys)[0], rtol=1e-5, atol=1e-5
        )
