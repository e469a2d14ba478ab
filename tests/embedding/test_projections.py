"""Q, K and V: what they do to vectors and embeddings, that they do not change, and their files."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict, WordVectors
from fuzzydict._arrays import Array, units
from fuzzydict._files import read_arrays, write_arrays
from fuzzydict.embedding.calibration import OF_WORDS
from fuzzydict.embedding.projections import (
    NAMES,
    Factors,
    Projected,
    Projections,
    as_projections,
    project,
    project_forward,
    with_projections,
)
from fuzzydict.embedding.word_vectors import English, JoinedVectors
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    OptionError,
    ReadOnlyError,
    ShapeError,
)
from tests.support.gradients import check_gradients


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def some() -> Projections:
    return Projections(drawn(4, 3), drawn(4, 3, seed=1), Factors(drawn(2, 1), drawn(2, 1, seed=2)))


def test_none_is_the_identity() -> None:
    projections, x = Projections(), drawn(2, 4)
    assert projections.is_identity
    assert not some().is_identity
    for done in (projections.project_queries, projections.project_keys, projections.project_values):
        assert done(x) is x


def test_each_role_has_its_matrix() -> None:
    projections, x = some(), drawn(5, 4, seed=3)
    np.testing.assert_allclose(projections.project_queries(x), x @ drawn(4, 3))
    np.testing.assert_allclose(projections.project_keys(x), x @ drawn(4, 3, seed=1))
    v = drawn(5, 2, seed=4)
    whole = np.eye(2) + drawn(2, 1) @ drawn(2, 1, seed=2).T
    np.testing.assert_allclose(projections.project_values(v), v @ whole)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 5))
def test_factors_do_what_their_matrix_does(size: int, rank: int, rows: int) -> None:
    factors = Factors(drawn(size, rank), drawn(size, rank, seed=1))
    x = drawn(rows, size, seed=2)
    np.testing.assert_allclose(project(x, factors), x @ factors.whole, atol=1e-12)


def test_vectors_keep_their_dtype_and_batch_axes() -> None:
    projected = some().project_queries(drawn(2, 5, 4).astype(np.float32))
    assert projected.dtype == np.float32
    assert projected.shape == (2, 5, 3)


@pytest.mark.parametrize("low_rank", [False, True])
def test_the_way_back(low_rank: bool) -> None:
    parts = {"left": drawn(4, 2), "right": drawn(4, 2, seed=1)} if low_rank else {"w": drawn(4, 3)}
    x, d_y = drawn(2, 5, 4, seed=2), drawn(2, 5, 4 if low_rank else 3, seed=3)

    def made(p: Mapping[str, Array]) -> Any:
        return Factors(p["left"], p["right"]) if low_rank else p["w"]

    back: Any = project_forward(x, made(parts))[1](d_y)
    gradients = back._asdict() if low_rank else {"w": back}
    check_gradients(lambda p: float(np.vdot(project_forward(x, made(p))[0], d_y)), parts, gradients)


# ---- they do not change -------------------------------------------------------------------


def test_nothing_of_them_can_be_changed() -> None:
    given = drawn(2, 2)
    projections = Projections(given)
    given[:] = 0
    assert np.array_equal(projections.project_queries(np.eye(2)), drawn(2, 2))
    with pytest.raises(ReadOnlyError, match="query"):
        projections.query = None
    with pytest.raises(ReadOnlyError, match="key"):
        del projections.key
    with pytest.raises(ValueError, match="read-only"):
        projections.query[0, 0] = 1  # type: ignore[index]


def test_copies_and_pickles_are_equal() -> None:
    projections = some()
    assert copy.copy(projections) is copy.deepcopy(projections) is projections
    again = pickle.loads(pickle.dumps(projections))
    assert again == projections
    assert hash(again) == hash(projections)
    assert again != Projections()
    assert projections != 3


# ---- as arrays ----------------------------------------------------------------------------


def test_a_file_holds_them(tmp_path: Path) -> None:
    write_arrays(tmp_path / "file", "test", {}, {"other": np.ones(3), **some().arrays()})
    assert Projections.from_arrays(read_arrays(tmp_path / "file", "test").arrays) == some()
    assert Projections.from_arrays({}) == Projections()
    assert Projections().arrays() == {}


@pytest.mark.parametrize(
    "arrays",
    [
        {"query": np.ones(3)},
        {"query": np.full((2, 2), np.nan)},
        {"key": np.array([["a"]])},
        {"key.left": np.ones((2, 1))},
        {"key.left": np.ones((2, 1)), "key.right": np.ones((3, 1))},
        {"query": np.ones((2, 2)), "key": np.ones((2, 3))},
    ],
)
def test_arrays_that_are_no_projections(arrays: dict[str, Any]) -> None:
    with pytest.raises(FileFormatError, match="no whole projections"):
        Projections.from_arrays(arrays)


# ---- an embedding with projections --------------------------------------------------------


def test_queries_and_keys_are_projected_each_by_its_matrix() -> None:
    words = WordVectors(["red", "blue"], drawn(2, 4))
    projected = Projected(words, some())
    queries, trust = projected.encode_with_trust(["red", "blue"], of_queries=True)
    np.testing.assert_allclose(queries, words.vectors @ drawn(4, 3), rtol=1e-5)
    np.testing.assert_allclose(
        projected.encode(["red", "blue"]), words.vectors @ drawn(4, 3, seed=1), rtol=1e-5
    )
    assert trust.tolist() == words.trust(["red", "blue"]).tolist()
    features = projected.word_features(["blue"], of_query=True)
    np.testing.assert_allclose(features.units, units(queries[1:]), rtol=1e-5)


def test_learned_words_are_known_and_trusted() -> None:
    projected = Projected(WordVectors(["red", "blue"], drawn(2, 4)), Projections(words=["zzz"]))
    assert projected.vocabulary.known_share("zzz qqq") == 0.5
    assert projected.trust(["zzz", "qqq"]).tolist() == [1, 0]
    assert projected.word_features(["zzz", "qqq"], of_query=False).known.tolist() == [True, False]


def test_the_brown_vectors_have_projections_that_ship_unless_others_are_named() -> None:
    default = with_projections(Brown(), None)
    english, wordnet = (
        with_projections(Brown(), as_projections(name)) for name in ("english", "wordnet")
    )
    (one,), (same,), (other,) = (e.encode(["color"]) for e in (default, english, wordnet))
    assert one.tolist() == same.tolist()
    np.testing.assert_allclose(one[: len(other)], units(other[None])[0], rtol=1e-5)
    table = units(English().encode(["color"]))[0]
    np.testing.assert_allclose(units(one[None, len(other) :])[0], table, rtol=1e-5)
    assert with_projections(Brown(), as_projections("identity")) is Brown()
    own = WordVectors(["red"], [[1.0]])
    assert with_projections(own, None) is own


def test_a_word_of_the_table_alone_is_known_by_its_ngrams_and_the_table() -> None:
    default = with_projections(Brown(), None)
    assert Brown().vocabulary.row("smartphone") is None
    assert default.vocabulary.known_share("smartphone jury") == 1
    assert default.trust(["smartphone"]).tolist() == [1]
    vector = default.encode(["smartphone"])[0]
    assert not vector[: Brown().size].any()
    assert vector[Brown().size :].any()
    assert not default.vocabulary.knows("smartfone")
    best = default.vocabulary.stand_ins("smartfone").rows[0]
    assert default.vocabulary.word(best) == "smartphone"


def test_the_shipped_projections_are_used_without_hashing_the_vectors() -> None:
    program = (
        "import hashlib; hashlib.blake2b = None; from fuzzydict import FuzzyDict;"
        "print(FuzzyDict({'color': 1}, projections='wordnet')['colour']);"
        "print(FuzzyDict({'color': 1})['colours'])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("1\n1\n", "")


def test_projections_of_another_embedding_are_refused() -> None:
    red, blue = WordVectors(["red"], [[1.0]]), WordVectors(["blue"], [[1.0]])
    learned = Projections([[2.0]], embedding=red.fingerprint()["name"])
    assert with_projections(red, learned).encode(["red"]).tolist() == [[1.0]]
    with pytest.raises(OptionError, match=r"these are for word vectors .*, and the embedding is"):
        with_projections(blue, learned)


def test_a_fingerprint_tells_the_embedding_and_the_projections() -> None:
    red, blue = (WordVectors([word], [[1.0]]) for word in ("red", "blue"))
    projections = (Projections([[2.0]]), Projections([[3.0]]))
    names = [Projected(e, p).fingerprint()["name"] for e in (red, blue) for p in projections]
    assert len(set(names)) == 4
    assert Projected(red, Projections([[2.0]])).fingerprint()["name"] == names[0]


# ---- vectors beside --------------------------------------------------------------------------

WORDS = WordVectors(["red", "blue", "sky"], drawn(3, 4))
TABLE = WordVectors(["red", "phone"], [[3.0, 4.0], [0.0, 2.0]])


def test_vectors_beside_projected_ones_are_of_one_length_for_each_text() -> None:
    matrix = drawn(4, 3)
    projected = Projected(WORDS, Projections(matrix, matrix, beside=TABLE))
    texts = ["red", "red phone", "blue sky"]
    found, trust = projected.encode_with_trust(texts, of_queries=True)
    joined = JoinedVectors(WORDS, TABLE).encode(texts)
    np.testing.assert_allclose(found[:, :3], units(joined[:, :4] @ matrix), rtol=1e-5)
    np.testing.assert_allclose(units(found[:, 3:]), units(joined[:, 4:]), rtol=1e-5)
    assert np.ptp(np.linalg.norm(found[:2, 3:], axis=1)) < 1e-5
    assert not found[2, 3:].any()
    assert trust.tolist() == [1, 1, 1]
    assert projected.vocabulary.known_share("phone sky hue") == 2 / 3
    fitted = Projections(np.eye(5), base=Projections(matrix, matrix, beside=TABLE))
    on_top = Projected(WORDS, fitted).encode_with_trust(texts, of_queries=True)[0]
    np.testing.assert_allclose(on_top, found, rtol=1e-5)


def test_vectors_beside_are_saved(tmp_path: Path) -> None:
    projections = Projections(drawn(4, 3), beside=TABLE)
    assert not projections.is_identity
    projections.save(tmp_path / "p")
    for again in (Projections.load(tmp_path / "p"), pickle.loads(pickle.dumps(projections))):
        assert again == projections
        texts = ["red", "phone"]
        found, expected = (Projected(WORDS, p).encode(texts) for p in (again, projections))
        np.testing.assert_array_equal(found, expected)
    assert projections.digest != Projections(drawn(4, 3)).digest


# ---- projections that ship are named, not copied ----------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "identity"])
def test_projections_that_ship_are_named_where_they_are_saved(name: str, tmp_path: Path) -> None:
    shipped = Projections.shipped(name)
    assert pickle.loads(pickle.dumps(shipped)) is shipped
    fitted = Projections(Factors(drawn(6, 1), drawn(6, 1)), base=shipped)
    fitted.save(tmp_path / "p")
    assert (tmp_path / "p").stat().st_size < 3000
    assert Projections.load(tmp_path / "p").base is shipped
    other = OF_WORDS
    again = pickle.loads(pickle.dumps(shipped.calibrated(other)))
    assert (again.name, again.calibration, again.query) == (name, other, shipped.query)


def test_projections_that_have_changed_since_are_refused() -> None:
    shipped = Projections.shipped("wordnet")
    arrays = Projections(drawn(3, 3), base=shipped).arrays()
    for told in (["wordnet", "0"], ["latin", shipped.digest], ["wordnet"], 3):
        content = np.frombuffer(json.dumps(told).encode(), np.uint8)
        with pytest.raises(FileFormatError, match="these are no whole projections"):
            Projections.from_arrays({**arrays, "base.shipped": content})


# ---- bad input ----------------------------------------------------------------------------


def test_what_is_no_projection_is_told() -> None:
    with pytest.raises(ShapeError, match=r"query must be a matrix"):
        Projections([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"key.*finite"):
        Projections(key=[[np.inf]])
    with pytest.raises(ArgumentTypeError, match="value"):
        Projections(value=[["a"]])
    with pytest.raises(ShapeError, match="one size"):
        Projections(np.ones((4, 3)), np.ones((4, 2)))
    with pytest.raises(ShapeError, match="one shape"):
        Projections(Factors(np.ones((4, 3)), np.ones((4, 2))))


def test_vectors_of_another_size_are_told() -> None:
    with pytest.raises(ShapeError, match="key vectors takes vectors of 4 numbers, got shape"):
        some().project_keys(drawn(2, 3))
    with pytest.raises(ShapeError, match="takes vectors of 2 numbers"):
        some().project_values(drawn(3))


def test_their_repr_tells_what_they_are() -> None:
    assert repr(Projections()) == "Projections()"
    shown = "Projections(query=<array (4, 3)>, key=<array (4, 3)>, "
    assert repr(some()) == shown + "value=<identity and rank 1 (2, 2)>)"


def test_projections_with_vectors_beside_them_take_word_vectors() -> None:
    d = FuzzyDict({"a": 1}, embedding=lambda texts: [[1.0] * 510 for _ in texts])
    d.projections = Projections(beside=English())
    with pytest.raises(OptionError, match="give word vectors"):
        d["b"]
