"""What bounds settle is what the whole score finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict, NoMatchError
from fuzzydict.embedding.calibration import OF_TEXTS, OF_WORDNET, OF_WORDS, Calibration
from fuzzydict.embedding.projections import Projections
from fuzzydict.search import bounds as settling
from fuzzydict.text.words import plain

FEW = ["color", "colour", "colors", "collar", "engine", "engines", "Top Speed", "top_speed", "of"]
MANY = [w for w in Brown().words[500:6000] if w.isalpha() and w.islower() and len(w) > 1]


def slip(word: str, place: int, letter: str, kind: int) -> str:
    place %= len(word)
    return word[:place] + letter * (kind < 2) + word[place + (kind > 0) :]


def slips(words: list[str]) -> st.SearchStrategy[str]:
    """Draw words with a letter put in, taken away or changed."""
    letters = st.sampled_from("aeisx")
    return st.builds(slip, st.sampled_from(words), st.integers(0, 9), letters, st.integers(0, 2))


CUTOFFS = st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9, 0.99])


def settles(d: FuzzyDict[Any], query: str) -> str | None:
    assert d.score_cutoff is not None
    with d._lookup() as lookup:
        return lookup.settled(query, d.score_cutoff)


def assert_settled_rightly(d: FuzzyDict[Any], query: str) -> bool:
    """Tell whether a query is settled; assert that it finds then what the whole score finds."""
    key = settles(d, query)
    if key is not None:
        best, *others = d.most_similar(query, 2)
        assert key == best.key
        assert best.score >= (d.score_cutoff or 0)
        assert all(other.score < best.score for other in others)
    return key is not None


def encoded(texts: list[str]) -> Any:
    """Give texts vectors by their letters, as a model of whole texts might."""
    return [[1.0 + text.count(letter) for letter in "aeionrst"] for text in texts]


@given(
    st.lists(st.sampled_from(FEW), min_size=1, unique=True),
    slips(FEW),
    CUTOFFS,
    st.sampled_from([None, encoded, {"color": [1.0, 0.0], "engine": [0.0, 1.0]}]),
)
@example(["Top Speed", "top_speed"], "topSpeed", 0.02, None)
@example(["of", "engine"], "engin", 0.99, encoded)
@settings(max_examples=100, deadline=None)
def test_what_is_settled_among_few_keys_is_what_the_score_finds(
    keys: list[str], query: str, cutoff: float, embedding: Any
) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1), score_cutoff=cutoff, embedding=embedding)
    if any(map(str.isalnum, query)):
        assert_settled_rightly(d, query)


@pytest.fixture(scope="module")
def many() -> FuzzyDict[str]:
    """Return a dict of words and pairs of words: so many that vectors of queries are used."""
    d = FuzzyDict((key, key) for key in MANY[::2])
    d.update((f"{a} {b}", a) for a, b in zip(MANY, MANY[50:], strict=False))
    assert len(d) > settling._MANY
    d.get("so that the keys are encoded once")
    return d


@given(slips([*MANY[::2], *map(" ".join, zip(MANY[:900], MANY[50:], strict=False))]), CUTOFFS)
@settings(max_examples=60, deadline=None)
def test_what_is_settled_among_many_keys_is_what_the_score_finds(
    many: FuzzyDict[str], query: str, cutoff: float
) -> None:
    many.score_cutoff = cutoff
    assert_settled_rightly(many, query)


def test_nearly_all_slips_are_settled(many: FuzzyDict[str]) -> None:
    """Or the bounds would be right and good for nothing."""
    many.score_cutoff = 0.02
    words = [word for word in MANY[::40] if len(word) > 6]
    pairs = [f"{a} {b}" for a, b in zip(MANY, MANY[50:], strict=False)][::40]
    for keys, least in ((words, 0.9), (pairs, 0.6)):
        asked = [key[:4] + "x" + key[4:] for key in keys]
        assert np.mean([assert_settled_rightly(many, query) for query in asked]) > least


def test_deleted_keys_neither_win_nor_count(many: FuzzyDict[str]) -> None:
    d = many.copy()
    d.score_cutoff = 0.02
    query = MANY[0][:3] + "x" + MANY[0][3:]
    assert settles(d, query) == MANY[0]
    del d[MANY[0]]
    assert settles(d, query) != MANY[0]
    assert_settled_rightly(d, query)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("colour", {"scorer": "cosine"}),  # scores that are no probabilities
        ("engine", {}),  # what a known word means decides
        ("colour", {"score_cutoff": float("inf")}),
        ("the colour", {}),
    ],
)
def test_what_spelling_does_not_settle_is_left_to_the_score(
    query: str, options: dict[str, Any]
) -> None:
    d = FuzzyDict({"color": 1, "brand": 2, "motor": 3}, **{"score_cutoff": 0.02, **options})
    assert settles(d, query) is None


def test_a_read_that_is_settled_answers_as_others_do() -> None:
    d = FuzzyDict({"color": 1, "brand": 2})
    assert settles(FuzzyDict(d, score_cutoff=0.02), "colour") == "color"
    assert d["colour"] == d.get("colour") == d.nearest("colour").value == 1
    d["color"] = 5
    assert d["colour"] == 5
    d["colours"] = 7
    assert (d["colourss"], d["colour"]) == (7, d.nearest("colour").value)
    with pytest.raises(NoMatchError, match="no letters or digits"):
        d["?!"]
    with pytest.raises(NoMatchError, match="the dict has no key"):
        FuzzyDict({})["colour"]


@given(
    st.sampled_from([OF_WORDS, OF_WORDNET, OF_TEXTS]),
    slips(FEW),
    st.lists(st.sampled_from(FEW), min_size=1, unique=True),
)
@settings(max_examples=60, deadline=None)
def test_bounds_hold_whatever_is_known_of_nearness(
    calibration: Calibration, query: str, keys: list[str]
) -> None:
    projections = Projections.shipped("wordnet").calibrated(calibration)
    d = FuzzyDict(dict.fromkeys(keys, 1), projections=projections)
    if not any(map(str.isalnum, query)):
        return
    with d._lookup() as lookup:
        (told,) = lookup.explain([query])  # brings the index up to date
        contest = settling._Contest(query, plain(query), lookup.index)
        low, high = contest.bounds()
        embedding = lookup.index.embedding
        vectors = embedding.encode_queries([query])
        (judged,) = lookup.matching.judge([query], [plain(query)], vectors, lookup.index)
    assert judged.reasons is not None
    odds = judged.reasons.log_odds[contest._slots]
    np.testing.assert_allclose(contest.odds(), odds, atol=1e-4)
    assert (low <= odds + 1e-4).all()
    assert (odds <= high + 1e-4).all()
    assert told.best.name in keys
