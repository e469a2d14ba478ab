"""Pairs out of WordNet: which there are, and that what is excluded is not among them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzzydict import MissingCorpusError
from fuzzydict.learning.wordnet import (
    WEIGHTS,
    Pair,
    Synset,
    related_pairs,
    wordnet_synsets,
)

TINY = [
    Synset(
        "car.n.01",
        ("car", "auto", "motorcar", "Machine"),
        "a motor vehicle",
        related=(("broader", "vehicle.n.01"), ("see also", "gone.n.01")),
        derived=(("auto", "drive.v.01", "drive"),),
    ),
    Synset("vehicle.n.01", ("motor_vehicle",), "a thing that moves"),
    Synset("drive.v.01", ("drive", "motor"), "", related=(("similar", "car.n.01"),)),
]
KNOWN = {"car", "auto", "machine", "motor", "vehicle", "thing", "moves", "drive", "a"}


def texts(pairs: list[Pair]) -> set[frozenset[str]]:
    return {frozenset((pair.first, pair.second)) for pair in pairs}


def test_the_pairs_are_of_known_words_each_once_as_its_best_kind() -> None:
    pairs = related_pairs(TINY, KNOWN)
    assert len(texts(pairs)) == len(pairs)
    found = {frozenset((pair.first, pair.second)): pair.kind for pair in pairs}
    assert found == {
        frozenset(("car", "auto")): "synonym",
        frozenset(("car", "machine")): "synonym",
        frozenset(("auto", "machine")): "synonym",
        frozenset(("drive", "motor")): "synonym",
        frozenset(("car", "motor vehicle")): "broader",
        frozenset(("auto", "motor vehicle")): "broader",
        frozenset(("machine", "motor vehicle")): "broader",
        frozenset(("car", "a motor vehicle")): "definition",
        frozenset(("auto", "a motor vehicle")): "definition",
        frozenset(("machine", "a motor vehicle")): "definition",
        frozenset(("motor vehicle", "a thing moves")): "definition",
        frozenset(("auto", "drive")): "similar",  # "derived" as well, which says less
        frozenset(("car", "drive")): "similar",
        frozenset(("machine", "drive")): "similar",
        frozenset(("car", "motor")): "similar",
        frozenset(("auto", "motor")): "similar",
        frozenset(("machine", "motor")): "similar",
    }


def test_excluded_pairs_are_left_out_whatever_their_kind() -> None:
    excluded = {frozenset(("car", "machine")), frozenset(("auto", "drive"))}
    assert texts(related_pairs(TINY, KNOWN, excluded=excluded)) == (
        texts(related_pairs(TINY, KNOWN)) - excluded
    )


def test_of_a_synset_held_out_nothing_is_known() -> None:
    pairs = related_pairs(TINY, KNOWN, without={"car.n.01"})
    assert texts(pairs) == {
        frozenset(("motor vehicle", "a thing moves")),
        frozenset(("drive", "motor")),
    }


def test_kinds_weigh_more_than_nothing_and_synonyms_most() -> None:
    assert 0 < min(WEIGHTS.values()) <= max(WEIGHTS.values()) == WEIGHTS["synonym"]


# ---- WordNet itself -----------------------------------------------------------------------


@pytest.mark.skipif("FUZZYDICT_SLOW" not in os.environ, reason="slow; set FUZZYDICT_SLOW=1")
def test_wordnet_is_read() -> None:
    try:
        synsets = wordnet_synsets()
    except MissingCorpusError as error:
        pytest.skip(str(error))
    assert len(synsets) == 117_659
    car = next(synset for synset in synsets if synset.name == "car.n.01")
    assert car.lemmas[:2] == ("car", "auto")
    assert ("broader", "motor_vehicle.n.01") in car.related
    assert {kind for synset in synsets for kind, _ in synset.related} <= set(WEIGHTS)


def test_without_wordnet_one_learns_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(
        "nltk.corpus.wordnet",
        nltk.corpus.util.LazyCorpusLoader("wordnet", nltk.corpus.reader.WordNetCorpusReader, None),
    )
    with pytest.raises(MissingCorpusError, match=r"nltk\.downloader wordnet"):
        wordnet_synsets()
