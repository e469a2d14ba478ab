"""`FuzzyKeyEncoder`: what matches each text of a column, as features for scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict.errors import ArgumentTypeError, NoMatchError, OptionError, needing, quoted
from fuzzydict.frames.match import as_dict
from fuzzydict.mapping import FuzzyDict
from fuzzydict.results.answers import Attention
from fuzzydict.search.keys import has_words

with needing("FuzzyKeyEncoder needs scikit-learn 1.6 or later", "scikit-learn"):
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data

OUTPUTS = ("key", "weights")
_OPTIONS = ("score_cutoff", "scorer", "embedding", "temperature")
_TOGETHER = 1024  # texts that are compared with all keys at once


class FuzzyKeyEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace texts by the keys that match them, or by their attention weights over the keys.

    A transformer of scikit-learn (1.6 or later, extra ``sklearn``). With ``output="weights"`` it
    is a soft one-hot encoder: a text that is spelled otherwise, or means the same, has nearly the
    features of its key, and one that may be either of two keys has some of both.

    X is a frame or array of n rows, each column of which is encoded by itself; or a single column:
    a list of texts, a Series or an array (n,). What is missing (None, NaN) matches nothing. A
    column without texts may be encoded too, if no key is a text: a number finds an equal key.

    Args:
        keys: a list of texts, a mapping or a `FuzzyDict`, whose keys are meant; by default the
            different texts of each column in ``fit``.
        output: "key" for the key that matches, an array of objects (n, 1); "weights" for the
            attention weights over the S keys, (n, S).
        unmatched: what stands for a key where none matches.
        score_cutoff: the least score of a match; weights have no cutoff.
        scorer: as in `FuzzyDict`, like the next two. A `FuzzyDict` has options of its own.
        embedding: what gives texts their vectors.
        temperature: what scores are divided by before the softmax.

    Attributes:
        dicts_: the `FuzzyDict` of each column, whose keys are in the order of the weights.
        n_features_in_: the number of columns.
        feature_names_in_: their names, if all are texts.

    The weights of a row sum to the probability that one of the keys is right, so that a text unlike
    all keys has nearly zeros. With a scorer that gives no probabilities they sum to 1.

    Example:
        >>> jobs = FuzzyKeyEncoder(["engineer", "teacher"])
        >>> jobs.fit_transform(["Enginer", "teachers", None]).tolist()
        [['engineer'], ['teacher'], [None]]
        >>> encoder = FuzzyKeyEncoder(output="weights").fit(["engineer", "teacher"])
        >>> encoder.get_feature_names_out().tolist()
        ['x0_engineer', 'x0_teacher']
        >>> (encoder.transform(["Enginer", "qwzzt"]) > 0.5).tolist()
        [[True, False], [False, False]]
    """

    def __init__(
        self,
        keys: Any = None,
        *,
        output: str = "key",
        unmatched: Any = None,
        score_cutoff: float | None = None,
        scorer: Any = None,
        embedding: Any = None,
        temperature: float | None = None,
    ) -> None:
        self.keys, self.output, self.unmatched = keys, output, unmatched
        self.score_cutoff, self.scorer = score_cutoff, scorer
        self.embedding, self.temperature = embedding, temperature

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 -- scikit-learn's names
        """Make the keys known, or learn them from the columns of X.

        Raises:
            OptionError: ``output`` or an option has a value that it does not take, or a column
                has no text to learn a key from.
            ArgumentTypeError: a cell of X is no text, though a key is; or it can be no key.
            ValueError: X is no table; the message is scikit-learn's.
        """
        columns = self._columns(X, reset=True)
        given = {name: one for name in _OPTIONS if (one := getattr(self, name)) is not None}
        shared = None if self.keys is None else as_dict(self.keys, given).copy()
        self.dicts_ = []
        for name, values, _ in columns:
            d = as_dict(dict.fromkeys(values), given) if shared is None else shared
            if not d:
                what = f"X: column {name}" if shared is None else "keys"
                raise OptionError(f"{what}: expected a text to be a key, got none")
            _require_texts(name, values, d)
            self.dicts_.append(d)
        return self

    def transform(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the keys of X, (n, columns), or the weights over the keys of its columns.

        Raises:
            NotFittedError: ``fit`` has not been called; the error is scikit-learn's.
            OptionError, ArgumentTypeError, ValueError: As in ``fit``.
        """
        check_is_fitted(self)
        encoded, columns = [], self._columns(X, reset=False)
        for d, (name, values, places) in zip(self.dicts_, columns, strict=True):
            _require_texts(name, values, d)
            if self.output == "weights":
                found: NDArray[Any] = _weights(d, values)
            else:  # the last is what is missing
                matches = [*d.nearest(values, default=None), None]
                keys = [self.unmatched if match is None else match.key for match in matches]
                found = np.fromiter(keys, object, len(keys))[:, None]
            encoded.append(found[places])
        return np.hstack(encoded)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns; for weights, "column_key" for each key."""
        names: NDArray[Any] = super().get_feature_names_out(input_features)
        if self.output == "key":
            return names
        named = zip(names, self.dicts_, strict=True)
        return np.array([f"{name}_{key}" for name, d in named for key in d], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _columns(self, X: Any, *, reset: bool) -> list[tuple[str, list[Any], NDArray[np.intp]]]:  # noqa: N803
        """Return each column's name, different values, and where in these each cell is, or -1."""
        if not isinstance(self.output, str) or self.output not in OUTPUTS:
            expected = ", ".join(OUTPUTS)
            raise OptionError(f"output: expected one of {expected}, got {quoted(self.output)}")
        if hasattr(X, "to_frame"):  # a Series
            X = X.to_frame()  # noqa: N806
        else:  # numbers are not to become texts
            X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)  # noqa: N806
            if len(X.shape) == 1 and any(isinstance(value, str | None) for value in X):
                X = np.asarray(X, dtype=object)[:, None]  # noqa: N806
        table = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        names, columns = getattr(self, "feature_names_in_", range(self.n_features_in_)), []
        for name, cells in zip(map(quoted, names), table.T.tolist(), strict=True):
            place_of: dict[Any, int] = {}
            places = np.full(len(cells), -1)
            for row, cell in enumerate(cells):
                if not _is_missing(cell):
                    try:
                        places[row] = place_of.setdefault(cell, len(place_of))
                    except TypeError:
                        raise _expected_texts(name, cell) from None
            columns.append((name, list(place_of), places))
        return columns


def _require_texts(name: str, values: list[Any], d: FuzzyDict[Any]) -> None:
    """Raise if some key is a text and a value is none, which would quietly match nothing."""
    others = [value for value in values if not isinstance(value, str)]
    if others and any(isinstance(key, str) for key in d):
        raise _expected_texts(name, others[0])


def _expected_texts(name: str, value: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"X: expected texts in column {name}, got {type(value).__name__} {quoted(value)}; make "
        f"them texts first, by astype(str) or cast"
    )


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA neither equals itself nor does not
        return True


def _weights(d: FuzzyDict[Any], values: list[Any]) -> NDArray[np.float64]:
    """Return the weights of each value over S keys, (n + 1, S), the last for what is missing."""
    weights = np.zeros((len(values) + 1, len(d)))
    place_of = {key: place for place, key in enumerate(d)}
    can_compare, asked = any(map(has_words, d)), []
    for row, value in enumerate(values):
        if can_compare and has_words(value):
            if d.aliases.get(value, value) is not None:  # or it was taught to have no key
                asked.append(row)
        elif value in place_of:
            weights[row, place_of[value]] = 1.0
    names, places = list[str](), list[int]()
    for some in slices(len(asked), _TOGETHER):
        rows = asked[some]
        for row, attention in zip(rows, _attended(d, [values[row] for row in rows]), strict=True):
            if attention is not None:
                if attention.names is not names:  # which many have in common
                    names, places = attention.names, [place_of[name] for name in attention.names]
                weights[row, places] = attention.weights * (1 - (attention.none or 0.0))
    return weights


def _attended(d: FuzzyDict[Any], texts: list[str]) -> Sequence[Attention | None]:
    """Return the attention of each text; None if every key is farther than the scorer's width."""
    try:
        return list(d.attend(texts))
    except NoMatchError:
        return [None] if len(texts) == 1 else [_attended(d, [text])[0] for text in texts]
