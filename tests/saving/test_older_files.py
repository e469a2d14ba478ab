"""A file that version 0.1 saved is opened, answers as it did, and is saved again."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, WordVectors
from fuzzydict.embedding.projections import Projections

from .older_files import QUERIES, WORDS, answers, embedding_of, encoded, settings

FILES = Path(__file__).with_name("files")
EXPECTED: dict[str, Any] = json.loads((FILES / "expected.json").read_text("utf-8"))


def loaded(path: Path) -> FuzzyDict[Any]:
    return FuzzyDict.load(path, embedding=embedding_of(path.stem))


def items_of(d: FuzzyDict[Any]) -> list[Any]:
    items: list[Any] = as_json([[encoded(key), encoded(value)] for key, value in d.items()])
    return items


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def assert_as_before(d: FuzzyDict[Any], expected: dict[str, Any]) -> None:
    """Assert that items and options are the same, and answers to a part in 100,000.

    The default score has changed since; so its answers are those of the same vectors as before.
    """
    assert items_of(d) == expected["items"]
    options = expected["options"]
    if d.embedding is None and options["projections"] == "NoneType":  # the default of that time
        assert d.projections == "wordnet"
        options = options | {"projections": "str"}
    assert settings(d) == options
    if d.scorer is None:
        new = FuzzyDict(dict(d), embedding=d.embedding, projections=d.projections)
        for query in QUERIES:
            np.testing.assert_allclose(d.attend(query).keys, new.attend(query).keys, atol=1e-6)
        return
    found = as_json(answers(d))
    for (query, value, matches, weights), told in zip(found, expected["answers"], strict=True):
        assert query == told[0]
        if value[0] in ("float", "ndarray"):  # read or pooled
            assert value[0] == told[1][0]
            np.testing.assert_allclose(value[1], told[1][1], rtol=1e-5, atol=1e-7)
        else:
            assert value == told[1]
        assert [key for key, _ in matches] == [key for key, _ in told[2]]
        scores, expected_scores = ([score for _, score in part] for part in (matches, told[2]))
        np.testing.assert_allclose(scores, expected_scores, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(weights, told[3], rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_dict_answers_as_it_did_and_is_saved_again(name: str, tmp_path: Path) -> None:
    if name == "usearch" and importlib.util.find_spec("usearch") is None:
        pytest.skip("this engine needs the extra 'usearch'")
    path = tmp_path / f"{name}.fuzzydict"
    shutil.copy(FILES / path.name, path)
    d = loaded(path)
    assert_as_before(d, EXPECTED[name])
    d["another key"] = next(iter(d.values()))
    d.save(path)
    back = loaded(path)
    assert items_of(back) == items_of(d)
    assert answers(back) == answers(d)


@pytest.mark.parametrize(("kind", "atol"), [("float32", 0.0), ("int8", 0.005)])
def test_word_vectors_are_as_they_were_and_are_saved_again(
    kind: str, atol: float, tmp_path: Path
) -> None:
    words = WordVectors.load(FILES / f"{kind}.vectors")
    assert words.words == list(WORDS)
    assert words.counts.tolist() == list(range(len(WORDS), 0, -1))
    np.testing.assert_allclose(words.vectors, list(WORDS.values()), atol=atol)
    words.save(tmp_path / "again")
    again = WordVectors.load(tmp_path / "again")
    np.testing.assert_array_equal(again.encode(QUERIES), words.encode(QUERIES))


def test_projections_are_as_they_were_and_are_saved_again(tmp_path: Path) -> None:
    learned = Projections.load(FILES / "rank.projections")
    same = loaded(FILES / "fitted_rank.fuzzydict").projections
    vectors = np.eye(8)
    learned.save(tmp_path / "again")
    for other in (same, Projections.load(tmp_path / "again")):
        for project in ("project_queries", "project_keys"):
            found, expected = (getattr(p, project)(vectors) for p in (other, learned))
            np.testing.assert_array_equal(found, expected)
            assert not np.allclose(found, vectors)
