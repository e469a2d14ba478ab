"""Processes forked while other threads read and write: the child reads and writes at once."""

from __future__ import annotations

import os

import pytest

from tests.benchmarks import forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_child_hangs_or_answers_otherwise() -> None:
    assert forks.failed(10, seed=0) == 0
