"""Other people's embeddings: what is taken, what is copied, and what each bad one is told."""

from __future__ import annotations

import pickle
from collections import UserDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from fuzzydict import ArgumentTypeError, Brown, FuzzyDict, ShapeError, WordVectors
from fuzzydict.embedding.encoder import Encoder, as_embedding, name_of
from fuzzydict.embedding.word_vectors import English
from tests.support.refusals import Refused, refused

WORDS = ["the", "red", "blue"]
ROWS = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], np.float32)


def keyed_vectors() -> Any:
    keyed = KeyedVectors(2)
    keyed.add_vectors(WORDS, ROWS.copy())
    return keyed


class Model:
    """An embedding such as those of sentence-transformers: an object with ``encode``."""

    def encode(self, texts: list[str]) -> Any:
        assert type(texts) is list
        return [[len(text), 1] for text in texts]


def test_what_is_an_embedding_is_taken_and_anything_else_told() -> None:
    assert as_embedding(None) is as_embedding(Brown()) is Brown()
    for embedding in (WordVectors(WORDS, ROWS), Encoder(Model().encode)):
        assert as_embedding(embedding) is embedding
    table = English()
    assert as_embedding("english") is as_embedding(English) is as_embedding(table) is table
    assert [name_of(e) for e in ("english", English, table)] == ["english"] * 3
    assert [name_of(e) for e in (None, Brown(), {"red": [1.0]})] == [None] * 3
    for other in NO_EMBEDDINGS:
        with pytest.raises(ArgumentTypeError, match="expected None, 'english', WordVectors"):
            as_embedding(other)


def test_a_dict_with_the_english_table_is_saved_copied_and_pickled(tmp_path: Path) -> None:
    for embedding in ("english", English()):
        d = FuzzyDict({"color": 1, "price": 2}, embedding=embedding)
        d.save(tmp_path / "d")
        assert (tmp_path / "d").stat().st_size < 100_000
        loaded: FuzzyDict[Any] = FuzzyDict.load(tmp_path / "d")
        assert loaded.embedding == "english"
        for again in (d.copy(), loaded, FuzzyDict.load(tmp_path / "d", embedding="english")):
            assert again.most_similar("hue") == d.most_similar("hue")
    named = FuzzyDict({"color": 1}, embedding="english")
    assert len(pickle.dumps(named)) < 100_000
    assert pickle.loads(pickle.dumps(named)).embedding == "english"


def test_a_model_of_gensim_brings_its_counts() -> None:
    sentences = [["red", "car"], ["blue", "car"], ["red", "sky"], ["the", "car"]]
    model = Word2Vec(sentences, vector_size=4, min_count=1, epochs=1, workers=1, seed=1)
    embedding = as_embedding(model)
    assert isinstance(embedding, WordVectors)
    counts = dict(zip(embedding.words, embedding.counts.tolist(), strict=True))
    assert counts == {"car": 3, "red": 2, "blue": 1, "sky": 1, "the": 1}
    for word in embedding.words:
        np.testing.assert_allclose(embedding.encode([word])[0], model.wv[word], rtol=1e-6)


def test_files_without_counts_are_taken_by_the_order_of_their_words(tmp_path: Path) -> None:
    names = [f"word{i}" for i in range(1000)]
    keyed = KeyedVectors(3)
    keyed.add_vectors(names, np.ones((1000, 3), np.float32))
    keyed.save_word2vec_format(tmp_path / "vectors", binary=True)
    for vectors in (keyed, KeyedVectors.load_word2vec_format(tmp_path / "vectors", binary=True)):
        table = WordVectors.from_gensim(vectors)
        assert (np.diff(table.counts) <= 0).all()
        assert table.word("word0").weight < 0.02
        assert table.word("word999").weight > 0.8


def test_each_kind_serves_a_dict() -> None:
    for model in (Model(), Model().encode, lambda texts: Model().encode(texts)):
        encoded = as_embedding(model).encode(("red", "navy"))
        assert encoded.tolist() == [[3, 1], [4, 1]]
        assert encoded.dtype == np.float32
    table = dict(zip(WORDS, ROWS, strict=True))
    for kind in (dict, UserDict, MappingProxyType):
        for vector in (list, tuple, np.array, lambda row: row.astype(np.float64)):
            given: Any = as_embedding(kind({word: vector(row) for word, row in table.items()}))
            assert (given.words, given.vectors.tolist()) == (WORDS, ROWS.tolist())
    for embedding in (table, keyed_vectors(), lambda texts: [table[text] for text in texts]):
        d = FuzzyDict({"red": 1, "blue": 2}, embedding=embedding, scorer="cosine")
        assert d.attend("the").weights.tolist() == pytest.approx([0.5, 0.5])
        assert d["red"] == 1


def test_later_changes_do_not_reach_the_copy() -> None:
    keyed, mapping = keyed_vectors(), dict(zip(WORDS, ROWS.copy(), strict=True))
    copies = [as_embedding(keyed), as_embedding(mapping)]
    keyed.vectors[:] = mapping["red"][:] = 7
    keyed.add_vectors(["green"], np.ones((1, 2), np.float32))
    keyed.index_to_key[0] = "a"
    mapping["green"] = mapping.pop("blue")
    for copy in copies:
        assert isinstance(copy, WordVectors)
        assert (copy.words, copy.vectors.tolist()) == (WORDS, ROWS.tolist())
        for array in (copy.vectors, copy.word("red").unit[None], copy.word("zzz").unit[None]):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 7.0


NO_EMBEDDINGS = ["brown", b"brown", 3, [1.0], np.zeros((2, 2)), object(), Model, str, {"red"}]


def given(vectors: Any) -> Callable[[], object]:
    """Return a call of a function that gives some vectors for two texts."""
    return lambda: as_embedding(lambda _: vectors).encode(["red", "blue"])


REFUSED: Refused = {
    ShapeError: {
        "got no word": partial(as_embedding, {}),
        r"got shape \(1,\) for 'blue'": partial(as_embedding, {"red": [1.0, 2.0], "blue": [1.0]}),
        "each of the 0 words": partial(as_embedding, KeyedVectors(2)),
        "E of 1 or more": partial(as_embedding, {"red": []}),
        r"got shape \(1, 1, 1\)": partial(as_embedding, {"red": [[1.0]]}),
        "embedding of 'red' is ragged": partial(as_embedding, {"red": [1.0, [2.0]]}),
        "'red' has NaN or infinity": partial(as_embedding, {"red": [float("nan")]}),
        r"embedding: .*for 2 texts it gave shape \(2,\)": given([1.0, 2.0]),
        r"embedding: .*for 2 texts it gave shape \(2, 0\)": given([[], []]),
        "embedding: .*ragged": given([[1.0], [1.0, 2.0]]),
        "embedding: .*gave NaN or infinity for 'blue'": given([[1.0], [float("inf")]]),
    },
    ArgumentTypeError: {
        "embedding of 'red' must be an array of real": [
            partial(as_embedding, {"red": vector}) for vector in ("crimson", [1j])
        ],
        "expected texts, got 7": partial(as_embedding, {7: [1.0]}),
        "embedding: .*must be an array of real numbers, got": [
            *map(given, (None, "vectors", {"red": [1.0]}))
        ],
    },
}

test_what_holds_no_vectors_is_named = refused(REFUSED)


NATIVE = {"Suomi": "Finland", "Hrvatska": "Croatia", "Éire": "Ireland", "Ellada": "Greece"}
COUNTRIES = [*NATIVE.values(), "Norway", "Portugal", "Belgium", "Iceland", "Malta", "Cyprus"]


def a_vector(text: str) -> Any:
    """Return a vector of its own for each text; those of unrelated texts have cosines near 0.2."""
    vector = np.random.default_rng(list(text.encode())).standard_normal(128)
    return vector / np.linalg.norm(vector) + 0.5 * (np.arange(128) == 0)


def geographer(texts: list[str]) -> Any:
    """Encode texts so that names of a country lie together, with a cosine of 0.8 or so."""
    return [0.5 * a_vector(text) + a_vector(NATIVE.get(text, text)) for text in texts]


def test_an_encoder_that_knows_words_nobody_else_knows_finds_their_keys() -> None:
    d = FuzzyDict({name: name for name in COUNTRIES}, embedding=geographer, score_cutoff=0)
    for query, name in NATIVE.items():
        assert d[query] == name
