"""Texts into texts: the whole model's gradient, learning, alignment, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from fuzzydict.alphabet import Alphabet
from fuzzydict.arrays import Array
from fuzzydict.errors import ArgumentTypeError, NotFittedError, OptionError, ShapeError
from fuzzydict.translation import EncoderDecoder
from tests.gradients import check_gradients

INPUTS, OUTPUTS = ["abc", "b", "cab"], ["XY", "", "YYX"]


def _small(**options: Any) -> EncoderDecoder:
    return EncoderDecoder(**{"state_size": 5, "attention_size": 4, **options})


@pytest.fixture(scope="module")
def mirror() -> EncoderDecoder:
    """Return a translator that turns short texts around."""
    random = np.random.default_rng(0)
    texts = ["".join(random.choice([*"abcd"], random.integers(1, 6))) for _ in range(500)]
    turned = [text[::-1] for text in texts]
    return EncoderDecoder(state_size=24, attention_size=24).fit(texts, turned, steps=600)


def test_the_gradients_of_the_whole_model_agree_with_differences() -> None:
    model = _small(dtype=np.float64).fit(INPUTS, OUTPUTS, steps=3)
    batch = model._read_examples(INPUTS, OUTPUTS)

    def loss(at: Mapping[str, Array]) -> float:
        for name, parameter in model.parameters_.items():
            parameter[...] = at[name]
        return model._loss(batch)[0]

    at = {name: parameter.copy() for name, parameter in model.parameters_.items()}
    check_gradients(loss, at, model._loss(batch)[1])


def test_the_loss_is_the_mean_over_characters_and_ends() -> None:
    model = _small(dtype=np.float64).fit(INPUTS, OUTPUTS, steps=1)
    losses = [
        model._loss(model._read_examples(INPUTS, OUTPUTS).rows(np.array([i])))[0] for i in range(3)
    ]
    both, _ = model._loss(model._read_examples(INPUTS, OUTPUTS))
    assert both == pytest.approx(np.average(losses, weights=[3, 1, 4]))


def test_it_learns_to_turn_texts_around(mirror: EncoderDecoder) -> None:
    assert np.mean(mirror.losses_[-10:]) < 0.05 < 1 < mirror.losses_[0]
    assert mirror.predict(["abcd", "d", "acbda"]) == ["dcba", "d", "adbca"]


def test_it_looks_where_it_copies_from(mirror: EncoderDecoder) -> None:
    text, weights = mirror.align("abcd")
    assert (text, weights.shape) == ("dcba", (4, 4))
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


def test_many_texts_are_translated_as_each_alone(mirror: EncoderDecoder) -> None:
    texts = ["abcd", "d", "bbac"] * 100
    assert mirror.predict(texts) == [mirror.align(text)[0] for text in texts[:3]] * 100
    assert mirror.predict([]) == []


def test_the_seed_decides_everything() -> None:
    one, same, other = (_small(seed=s).fit(INPUTS, OUTPUTS, steps=5).losses_ for s in (1, 1, 2))
    assert one == same != other


def test_progress_is_told() -> None:
    told: list[tuple[int, float]] = []
    model = _small().fit(INPUTS, OUTPUTS, steps=3, progress=lambda *what: told.append(what))
    assert told == [*zip([1, 2, 3], model.losses_, strict=True)]


def test_fitting_again_starts_anew() -> None:
    model = _small().fit(["zzz"], ["zzz"], steps=2).fit(INPUTS, OUTPUTS, steps=5)
    assert model.losses_ == _small().fit(INPUTS, OUTPUTS, steps=5).losses_


def test_nothing_but_empty_outputs_can_be_learned() -> None:
    model = _small().fit(["a", "b"], ["", ""], steps=5)
    assert model.predict(["a"]) == [""]
    assert model.align("ab")[1].shape == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["a"], ["b", "c"]), ShapeError, "1 inputs and 2 outputs"),
        (([], []), ShapeError, "0 inputs"),
        (("a", ["b"]), ArgumentTypeError, "inputs must be a list of texts"),
        ((["a"], [1]), ArgumentTypeError, r"outputs\[0\] must be a text, got int"),
        ((["a", ""], ["b", "c"]), OptionError, r"inputs\[1\] is empty"),
    ],
)
def test_examples_that_are_none_are_refused(
    arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _small().fit(*arguments)


@pytest.mark.parametrize("name", ["steps", "batch_size", "learning_rate"])
def test_numbers_that_are_not_above_zero_are_refused(name: str) -> None:
    model = _small()
    with pytest.raises(OptionError, match=name):
        model.fit(INPUTS, OUTPUTS, **{name: 0})  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=name):
        model.fit(INPUTS, OUTPUTS, **{name: "ten"})  # type: ignore[arg-type]


def test_a_size_that_is_not_above_zero_is_refused() -> None:
    with pytest.raises(OptionError, match="state_size must be at least 1, got 0"):
        _small(state_size=0).fit(INPUTS, OUTPUTS)


def test_nothing_can_be_asked_before_it_was_learned() -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        _small().predict(["a"])
    with pytest.raises(NotFittedError, match="call fit first"):
        _small().align("a")


def test_questions_that_cannot_be_read_are_refused(mirror: EncoderDecoder) -> None:
    with pytest.raises(OptionError, match="the character 'z'"):
        mirror.predict(["abz"])
    with pytest.raises(OptionError, match="empty"):
        mirror.align("")
    with pytest.raises(ArgumentTypeError, match="list of texts"):
        mirror.predict("abc")


def test_an_alphabet_reads_back_what_it_wrote() -> None:
    texts = ["straße", "", "日本", "a"]
    letters = Alphabet(texts)
    symbols, lengths = letters.encode(texts)
    assert symbols.shape == (4, 7)
    assert lengths.tolist() == [6, 0, 2, 1]
    assert [letters.decode(row) for row in symbols] == texts
