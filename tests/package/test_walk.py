"""Where one looks for how a query is answered, there are few files and calls to read."""

from __future__ import annotations

import pytest

from tests.benchmarks import walk


@pytest.mark.parametrize("name", walk.READS)
def test_a_walk_is_short(name: str) -> None:
    query, calls, files = walk.READS[name]
    found = walk.read(walk.dict_of_words(), query)
    assert found.files[0] == "mapping.py"
    assert 10 < len(found.calls) <= calls, found
    assert len(found.files) <= files, found.files
