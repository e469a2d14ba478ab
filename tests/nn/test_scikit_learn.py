"""Kernel regression where the estimators of scikit-learn are used."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzydict.nn.kernel_regression import KernelRegression
from tests.nn.test_regression import noisy

pytest.importorskip("sklearn", reason="these tests need scikit-learn")

from sklearn.base import clone, is_regressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def test_it_is_a_regressor_that_can_be_cloned() -> None:
    model = KernelRegression("boxcar", 0.7).fit(*noisy())
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "bandwidth_")
    assert is_regressor(model)


def test_its_score_is_the_coefficient_of_determination() -> None:
    x, y = noisy()
    for targets in (y, np.stack([y, y**2, np.ones(100)], axis=1)):
        model = KernelRegression().fit(x, targets)
        assert model.score(x, targets) == pytest.approx(r2_score(targets, model.predict(x)))


def test_it_works_in_a_pipeline_and_cross_validation() -> None:
    x, y = noisy()
    folds = KFold(5, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), KernelRegression(bandwidth="fit"))
    assert cross_val_score(model, x, y, cv=folds).mean() > 0.7


def test_a_grid_search_chooses_its_bandwidth() -> None:
    x, y = noisy()
    folds = KFold(5, shuffle=True, random_state=0)
    grid = {"bandwidth": [0.3, 100.0], "kernel": ["gaussian", "boxcar"]}
    search = GridSearchCV(KernelRegression(), grid, cv=folds).fit(x, y)
    assert search.best_params_["bandwidth"] == 0.3
