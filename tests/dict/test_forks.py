"""Threads that read and write, processes forked beside them, or killed while they save."""

from __future__ import annotations

import os

import pytest

from tests.benchmarks.campaigns import campaign
from tests.support.properties import SLOW

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.mark.parametrize(
    ("attack", "count"),
    [
        ("threads", 10 if SLOW else 3),
        pytest.param("forks", 10 if SLOW else 4, marks=needs_fork),
        pytest.param("kills", 20, marks=needs_fork),
    ],
)
def test_what_is_read_is_possible_no_child_hangs_and_no_file_is_torn(
    attack: str, count: int
) -> None:
    assert not campaign(attack, count, seed=1)[0]
