"""Processes forked while other threads read and write, or killed while they save."""

from __future__ import annotations

import os

import pytest

from tests.benchmarks.campaigns import forks, kills
from tests.support.properties import SLOW


@pytest.mark.more
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_child_hangs_or_answers_otherwise() -> None:
    assert forks(10 if SLOW else 4, seed=0) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_file_is_whole_whenever_a_save_is_killed() -> None:
    assert kills(20, seed=0) == []
