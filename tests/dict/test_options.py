"""Options: what each takes, wherever it is set, and from when on it holds."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzydict import (
    ArgumentTypeError,
    FuzzyDict,
    OptionError,
    ReadOnlyError,
    ShapeError,
    UnknownOptionError,
)

VECTORS = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "violet": [0.8, 0.6], "grey": [0.6, 0.6]}


@pytest.mark.parametrize(
    ("option", "value", "kind", "told"),
    [
        ("mode", "nearst", OptionError, "mode.*expected one of 'nearest', 'pool'.*'nearst'"),
        ("scorer", "euclid", OptionError, "the names are spelling, dot.*cosine.*passed as objects"),
        ("scorer", 5, ArgumentTypeError, "scorer"),
        ("temperature", 0, OptionError, "temperature.*a finite number above 0.*0"),
        ("temperature", "0.5", ArgumentTypeError, "temperature.*got '0.5'"),
        ("score_cutoff", float("nan"), OptionError, "score_cutoff.*None, or inf.*got nan, which"),
        ("score_cutoff", "0.5", ArgumentTypeError, "score_cutoff must be a number.*got '0.5'"),
        ("embedding", "glove", ArgumentTypeError, "embedding.*None, .*a mapping.*got 'glove'"),
        ("index", "faiss", OptionError, "index: expected one of 'exact', 'usearch', got 'faiss'"),
        ("embedding", {"a": [1.0], "b": [1.0, 2.0]}, ShapeError, "'b'"),
        ("projections", "wordnets", OptionError, "projections"),
    ],
)
def test_a_bad_option_is_told(option: str, value: Any, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        FuzzyDict({"a": 1}, **{option: value})
    with pytest.raises(kind, match=told):
        type("Sub", (FuzzyDict,), {option: value})
    if option != "mode":
        with pytest.raises(kind, match=told):
            setattr(FuzzyDict(), option, value)


def test_a_misspelled_option_is_told_and_one_set_later_holds() -> None:
    d = FuzzyDict({"color": 1.0})
    with pytest.raises(UnknownOptionError, match=r"did you mean 'score_cutoff'\?") as told:
        d.cutoff = 0.9
    assert "items" not in str(told.value)
    axes: dict[str, list[float]] = {**VECTORS}
    d = FuzzyDict(dict.fromkeys(["red", "blue", "grey"], 1.0), embedding=axes)
    before = d.most_similar("violet")
    d.scorer = "dot"
    assert d.most_similar("violet") != before
    d.scorer = None
    assert d.most_similar("violet") == before
    axes["violet"] = [0.0, 1.0]  # is not seen until the embedding is set again
    assert d.most_similar("violet") == before
    d.embedding = axes
    assert d.most_similar("violet")[0].key == "blue"
    with pytest.raises(ReadOnlyError, match="mode"):
        d.mode = "pool"


def test_a_subclass_sets_options_as_class_attributes() -> None:
    class Pooling(FuzzyDict[float]):
        mode = "pool"
        embedding = VECTORS
        temperature = 1e-3

    assert Pooling({"red": 1.0, "blue": 2.0})["red"] == pytest.approx(1.0)
    assert Pooling({"red": 1.0, "blue": 3.0}, mode="nearest")["red"] == 1.0

    class Late(FuzzyDict[float]):
        def __init__(self, items: dict[str, float], kind: str) -> None:
            super().__init__(items, mode=kind)

    assert Late({"red": 1.0}, "nearest").mode == "nearest"
    with pytest.raises(OptionError, match=r"Late is made in mode 'nearest'.*mode = 'pool'"):
        Late({"red": 1.0}, "pool")


def test_texts_alone_make_no_dict_and_it_says_what_to_write() -> None:
    for texts in (["red", "navy"], ("red",), {"navy"}):
        with pytest.raises(ArgumentTypeError, match=r"FuzzyDict\.fromkeys\(texts\) makes keys of"):
            FuzzyDict(texts)  # type: ignore[arg-type]
