"""Processes forked while other threads read and write, or killed while they save."""

from __future__ import annotations

import os

import pytest

from tests.benchmarks.campaigns import campaign
from tests.support.properties import SLOW


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(("attack", "count"), [("forks", 10 if SLOW else 4), ("kills", 20)])
def test_no_child_hangs_or_answers_otherwise_and_no_file_is_torn(attack: str, count: int) -> None:
    assert not campaign(attack, count).wrong
