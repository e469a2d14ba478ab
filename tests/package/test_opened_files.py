"""Which files of the package a dict opens: none of Brown's unless its vectors are asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_PROGRAM = """
import sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from fuzzydict import FuzzyDict, WordVectors
keys = {"color": 1, "top speed": 2, "price": 3}
axes = {"color": [1.0, 0.0], "hue": [0.9, 0.1], "price": [0.0, 1.0]}
d = FuzzyDict(keys, **(%s))
d.most_similar("colour"), d.get("hue"), d.explain("maximum spede"), d.get_many(["cost", "colr"])
d.fit({"paint": "color"})
d.save(sys.argv[1])
FuzzyDict.load(sys.argv[1], embedding=d.embedding).get("colours")
import json
print(json.dumps(opened))
"""
_SLOW = pytest.mark.slow("it starts a process, much as the others do")
_BROWN = {"brown.vectors"}
_ENGLISH = {"english.vectors"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{}", _BROWN | _ENGLISH),
        ("{'embedding': 'english'}", _ENGLISH),
        ("{'embedding': lambda texts: [[len(t), 1.0] for t in texts]}", _ENGLISH),
        pytest.param("{'embedding': axes}", set(), marks=_SLOW),
        pytest.param(
            "{'embedding': WordVectors(list(axes), list(axes.values()))}", set(), marks=_SLOW
        ),
        ("{'scorer': 'spelling'}", set()),
    ],
)
def test_only_the_vectors_that_are_needed_are_opened(
    options: str, expected: set[str], tmp_path: object
) -> None:
    command = [sys.executable, "-c", _PROGRAM % options, f"{tmp_path}/d.fuzzydict"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    opened = {path.replace("\\", "/").rpartition("/")[2] for path in json.loads(done.stdout)}
    assert opened & (_BROWN | _ENGLISH) == expected
