"""`FuzzyKeyEncoder`: columns as keys or weights, and its life in scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import estimator_checks_generator

from fuzzydict import Boxcar, FuzzyDict, FuzzyKeyEncoder, OptionError

JOBS = ["engineer", "teacher", "nurse"]
TYPED = ["Enginer", "teachers", None, "qwzzt", "Nurse", "Enginer"]
FOUND: list[list[str | None]] = [["engineer"], ["teacher"], [None], [None], ["nurse"], ["engineer"]]
#: The values of an array of objects cannot be subtracted, as numpy's `assert_allclose` does.
OBJECTS = "compares by assert_allclose, which takes no objects; done for texts below"
COMPARING = (
    *("check_pipeline_consistency", "check_estimators_pickle", "check_fit_idempotent"),
    *("check_transformer_data_not_an_array", "check_transformer_general"),
    *("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
)
each_output = pytest.mark.parametrize("output", ["key", "weights"])


def checks(output: str) -> list[Any]:
    """Return scikit-learn's checks, each with the encoder; some are expected to fail."""
    encoder = FuzzyKeyEncoder(output=output)
    failing = dict.fromkeys(COMPARING, OBJECTS) if output == "key" else {}
    return list(estimator_checks_generator(encoder, expected_failed_checks=failing, mark="xfail"))


def name_of(value: Any) -> str:
    return getattr(getattr(value, "func", value), "__name__", repr(value))


@pytest.mark.parametrize(("encoder", "check"), [*checks("key"), *checks("weights")], ids=name_of)
def test_it_is_an_estimator(encoder: Any, check: Callable[[Any], None]) -> None:
    """The checks give it numbers, which are the keys."""
    check(encoder)


def equal(one: Any, other: Any) -> None:
    """Assert that two arrays are equal: keys are, and weights up to the last bits."""
    if one.dtype == object:
        np.testing.assert_array_equal(one, other)
    else:
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@each_output
def test_what_scikit_learn_checks_with_numbers_holds_for_texts(output: str) -> None:
    encoder = FuzzyKeyEncoder(JOBS, output=output).fit(TYPED)
    encoded = encoder.transform(TYPED)
    equal(clone(encoder).fit_transform(TYPED), encoded)
    equal(encoder.fit(TYPED).transform(TYPED), encoded)
    equal(pickle.loads(pickle.dumps(encoder)).transform(TYPED), encoded)
    order = [3, 0, 5, 1, 4, 2]
    equal(encoder.transform([TYPED[row] for row in order]), encoded[order])
    equal(np.vstack([encoder.transform([text]) for text in TYPED]), encoded)


# ---- columns -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        tuple(TYPED),
        [[text] for text in TYPED],
        np.array(TYPED, dtype=object),
        np.array(TYPED, dtype=object)[:, None],
        np.array([text or "?" for text in TYPED]),
        pd.Series(TYPED, index=range(6, 0, -1)),
        pd.Series(TYPED, dtype="category"),
        pd.Series(TYPED, dtype=object).replace({None: np.nan}),
        pd.DataFrame({"job": TYPED}),
        pl.Series(TYPED),
        pl.DataFrame({"job": TYPED}),
        pl.DataFrame({"job": pl.Series(TYPED, dtype=pl.Categorical)}),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_a_column_comes_in_any_form(column: Any) -> None:
    assert FuzzyKeyEncoder(JOBS).fit(column).transform(column).tolist() == FOUND
    weights = FuzzyKeyEncoder(JOBS, output="weights").fit_transform(column)
    equal(weights, FuzzyKeyEncoder(JOBS, output="weights").fit_transform(TYPED))


def test_each_column_is_encoded_by_itself() -> None:
    frame = pd.DataFrame({"job": ["Enginer", "nurse"], "town": ["Paris", None]})
    encoder = FuzzyKeyEncoder().fit(pd.DataFrame({"job": JOBS, "town": ["paris", "rome", None]}))
    assert encoder.transform(frame).tolist() == [["engineer", "paris"], ["nurse", None]]
    weights = encoder.set_params(output="weights").transform(frame)
    assert weights.shape == (2, 5)
    names = ["job_engineer", "job_teacher", "job_nurse", "town_paris", "town_rome"]
    assert encoder.get_feature_names_out().tolist() == names
    of_town = FuzzyKeyEncoder(["paris", "rome"], output="weights").fit_transform(["Paris", None])
    equal(weights[:, 3:], of_town)


def test_numbers_find_equal_keys_if_no_key_is_a_text() -> None:
    for output, expected in (
        ("key", [[3], [5], [None], [None]]),
        ("weights", [[1, 0], [0, 1], [0, 0], [0, 0]]),
    ):
        encoder = FuzzyKeyEncoder([3, 5], output=output)
        assert encoder.fit_transform([[3], [5], [np.nan], [7]]).tolist() == expected


# ---- keys ----------------------------------------------------------------------------------


def test_what_a_dict_was_taught_holds() -> None:
    d: Any = FuzzyDict.fromkeys(JOBS)
    d.aliases.update({"prof": "teacher", "nurses": None})
    encoder = FuzzyKeyEncoder(d).fit(JOBS)
    assert encoder.transform(["prof", "nurses"]).tolist() == [["teacher"], [None]]
    weights = encoder.set_params(output="weights").transform(["prof", "nurses"])
    assert weights.round(3).tolist() == [[0, 1, 0], [0, 0, 0]]
    del d["nurse"]  # which changes nothing of what is fitted
    assert encoder.set_params(output="key").transform(["nurse"]).tolist() == [["nurse"]]


# ---- weights -------------------------------------------------------------------------------


def test_weights_are_attention_times_the_probability_that_a_key_is_right() -> None:
    keys = ["dark red", "navy", "red", "?!", "software engineer"]
    d: Any = FuzzyDict.fromkeys(keys)
    texts = ["rde", "dark-red", "navy blue", "qwzzt", "enginer", "red", "?!", "!"]
    weights = FuzzyKeyEncoder(keys, output="weights").fit_transform(texts)
    for text, row in zip(texts[:6], weights[:6], strict=True):
        attention = d.attend(text)
        by_key = dict(zip(attention.names, attention.weights.tolist(), strict=True))
        expected = [by_key.get(key, 0.0) * (1 - attention.none) for key in keys]
        np.testing.assert_allclose(row, expected, atol=1e-6)
        assert row.sum() == pytest.approx(1 - attention.none, abs=1e-6)
    assert weights[6:].tolist() == [[0, 0, 0, 1, 0], [0, 0, 0, 0, 0]]  # an equal key, and none


def test_weights_of_what_is_unlike_all_keys() -> None:
    asked = [*JOBS, "qwzzt", None]
    weights = FuzzyKeyEncoder(JOBS, output="weights").fit(JOBS).transform(asked)
    np.testing.assert_allclose(weights[:3], np.eye(3), atol=1e-3)
    assert weights[3].sum() < 0.5
    assert weights[4].tolist() == [0, 0, 0]
    near = FuzzyKeyEncoder(JOBS, output="weights", scorer=Boxcar(0.5)).fit_transform(asked)
    assert near.tolist() == [*np.eye(3).tolist(), [0, 0, 0], [0, 0, 0]]
    weights = FuzzyKeyEncoder(JOBS, output="weights", scorer="cosine").fit_transform(asked)
    np.testing.assert_allclose(weights.sum(1), [1, 1, 1, 1, 0])  # they are no probabilities


# ---- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "encoder", "column", "message"),
    [
        (TypeError, FuzzyKeyEncoder(JOBS), [["nurse"], [5]], "in column 0, got int 5; .*astype"),
        (TypeError, FuzzyKeyEncoder(), pd.DataFrame({"a": ["x", 5]}), "in column 'a', got int 5"),
        (TypeError, FuzzyKeyEncoder(), [[{"a": 1}]], "got dict {'a': 1}"),
        (TypeError, FuzzyKeyEncoder("nurse"), JOBS, "keys: expected a column or .*, got str"),
        (OptionError, FuzzyKeyEncoder(output="value"), JOBS, "one of key, weights, got 'value'"),
        (OptionError, FuzzyKeyEncoder(), [None, None], "X: column 0: expected a text to be a key"),
        (OptionError, FuzzyKeyEncoder(JOBS, temperature=-1), JOBS, "temperature"),
        (OptionError, FuzzyKeyEncoder(FuzzyDict({"a": 1}), scorer="dot"), JOBS, "keys is a Fuzzy"),
        *(
            (ValueError, FuzzyKeyEncoder(JOBS), table, "array|sequence")
            for table in ("nurse", [], [["a"], ["b", "c"]], np.zeros((1, 1, 1)))
        ),
    ],
)
def test_what_does_not_fit_is_named(
    kind: type[Exception], encoder: FuzzyKeyEncoder, column: Any, message: str
) -> None:
    with pytest.raises(kind, match=message):
        encoder.fit(column)
    with pytest.raises(NotFittedError):
        clone(encoder).transform(JOBS)


def test_without_scikit_learn_all_else_is_there() -> None:
    code = """if True:
        import sys
        sys.modules["sklearn"] = None
        from fuzzydict import *
        print(FuzzyDict({"color": 1})["colour"])
        from fuzzydict import FuzzyKeyEncoder
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert "MissingExtraError" in done.stderr
    assert "pip install scikit-learn" in done.stderr
