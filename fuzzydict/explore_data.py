"""What a page needs to answer as a dict does: keys, values, words, vectors, and the constants."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding import calibration as evidence
from fuzzydict.embedding import subwords, vocabulary
from fuzzydict.embedding import vocabulary as stand_ins
from fuzzydict.embedding.projections import SHIPPED, Factors, Projected, Projections
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.embedding.word_vectors import Brown, Matrix, WordVectors
from fuzzydict.errors import OptionError, PoolingError, quoted
from fuzzydict.io.records import as_line
from fuzzydict.results.pooling import stack
from fuzzydict.search import features as comparing
from fuzzydict.search import lookup
from fuzzydict.search import score as matching
from fuzzydict.text import abbreviations, numerals
from fuzzydict.text import words as text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.mapping import FuzzyDict

__all__ = ["page_data"]

_CHARACTERS = 0x20000  # beyond, nothing has a combining class, or is folded in a way of its own


def page_data(d: FuzzyDict[Any], words: int) -> dict[str, Any]:
    """Return, as JSON has it, all that the score of a dict is made of, and its keys and values.

    Vectors are those of the ``words`` most frequent words of its embedding, and of the words of
    its keys. All constants are those of the library as it is now.

    Raises:
        OptionError: the dict has a named scorer, or an embedding other than `WordVectors`.
    """
    with d._lookup() as found:
        if not isinstance(found.matching, matching.MeaningAndSpelling):
            raise OptionError(
                f"scorer: a page has the default score, and this dict another scorer, "
                f"{quoted(d.scorer)}; set d.scorer = None first"
            )
        embedding, of_words = found.index.embedding, _word_vectors(found.index.embedding)
        names, cutoff = found.names(), d._cutoff(found)
        background, values = found.index.background, d._values(names)
        exact, others = _unembedded(d, names), sum(not isinstance(key, str) for key in d)
    rows, strangers = _rows(of_words, names, words)
    inside = [of_words.words[row] for row in rows.tolist()]
    return {
        "keys": names,
        "values": list(map(as_line, values)),
        "exact": [[key, as_line(value)] for key, value in exact],
        "others": others,
        "pooling": _pooling(names, values),
        "cutoff": float(np.clip(cutoff, -1, 2)),  # beyond them nothing changes; JSON has no inf
        "temperature": d.temperature or found.matching.temperature,
        "background": background._asdict(),
        "calibration": embedding.calibration.weights().tolist(),
        "reach": embedding.calibration.reach,
        **_constants(),
        "vocabulary": _vocabulary(of_words, rows) | {"learned": _learned(embedding)},
        "strangers": [[word, of_words.vocabulary.trust(word)] for word in strangers],
        "vectors": _matrix(of_words.token_vectors([*inside, *strangers], of_query=False)),
        "rare": _rare(of_words),
        **_projections(embedding),
        "credits": _credits(embedding),
    }


def _word_vectors(embedding: Embedding) -> WordVectors:
    inner = embedding.embedding if isinstance(embedding, Projected) else embedding
    if isinstance(inner, WordVectors):
        return inner
    raise OptionError(
        f"embedding: a page needs vectors of words (WordVectors, gensim's, or a mapping), for it "
        f"cannot run another model; got {quoted(inner)}"
    )


def _unembedded(d: FuzzyDict[Any], names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the items with keys of no letters or digits, which are found exactly."""
    embedded = set(names)
    return [(k, v) for k, v in d.items() if isinstance(k, str) and k not in embedded]


def _pooling(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return the values as numbers, one after the other; or why they cannot be pooled."""
    if not names:
        return {"why_not": "there is no value"}
    if all(isinstance(value, str) for value in values):
        return {"why_not": "the values are texts, which pool to a vector without a text"}
    try:
        stacked = stack(names, values, None)  # type: ignore[arg-type] # which encodes texts
    except PoolingError as error:
        return {"why_not": str(error)}
    shape = stacked.shape[1:]
    size = int(np.prod(shape))
    return {"shape": list(shape), "size": size, "numbers": stacked.ravel().tolist()}


# ---- words and their vectors ----------------------------------------------------------------


def _rows(
    of_words: WordVectors, names: Sequence[str], words: int
) -> tuple[NDArray[np.intp], list[str]]:
    """Return the rows of the words that go into the page, and the keys' words never seen."""
    known = of_words.vocabulary
    tokens = {token for name in names for token in (*known.tokens(name), *text.plain(name).split())}
    rows = {token: known.row(token) for token in sorted(tokens)}
    strangers = [token for token, row in rows.items() if row is None]
    of_keys = {row for row in rows.values() if row is not None}
    return np.array(sorted(of_keys.union(range(min(words, len(known))))), np.intp), strangers


def _vocabulary(of_words: WordVectors, rows: NDArray[np.intp]) -> dict[str, Any]:
    words, counts = of_words.words, of_words.counts
    inside = set(rows.tolist())
    return {
        "words": [words[row] for row in rows.tolist()],
        "counts": counts[rows].tolist(),
        "total": of_words.vocabulary._total,
        "least": of_words.vocabulary._least,
        "omitted": [word for row, word in enumerate(words) if row not in inside],
        "constants": {
            "candidates": stand_ins._CANDIDATES,
            "shared": stand_ins._SHARED,
            "kept": stand_ins._KEPT,
            "temperature": stand_ins._TEMPERATURE,
            "prior": stand_ins._PRIOR,
            "smoothing": vocabulary._SMOOTHING,
            "saysMuch": vocabulary._SAYS_MUCH,
            "doubted": stand_ins._DOUBTED,
            "trusted": stand_ins._TRUSTED,
        },
    }


def _learned(embedding: Embedding) -> list[str]:
    """Return the words never seen of which the projections were taught what they mean."""
    return sorted(embedding.projections.words) if isinstance(embedding, Projected) else []


def _rare(of_words: WordVectors) -> dict[str, Any]:
    """Return what is expected of a word that is like no other."""
    mean, spread = of_words._unseen._of_rare_words
    return {"mean": _base64(mean, np.float32), "spread": spread}


# ---- projections ----------------------------------------------------------------------------


def _projections(embedding: Embedding) -> dict[str, Any]:
    """Return the different steps, and which of them queries and keys go through."""
    steps: list[Any] = []
    roles = {}
    for role in ("query", "key"):
        chain = _chain(embedding.projections, role) if isinstance(embedding, Projected) else []
        steps += [step for step in chain if not any(step is other for other in steps)]
        roles[role] = [next(i for i, s in enumerate(steps) if s is step) for step in chain]
    return {"steps": list(map(_step, steps)), "projections": roles}


def _chain(projections: Projections, role: str) -> list[Any]:
    first = [] if projections.base is None else _chain(projections.base, role)
    own = getattr(projections, role)
    return first if own is None else [*first, own]


def _step(step: Any) -> dict[str, Any]:
    if isinstance(step, Subwords):
        return {
            "kind": "subwords",
            "matrix": _floats(step.matrix),
            "table": _matrix(step.table),
            "weights": dict(step.weights),
            "most": subwords._WORDS,
        }
    if isinstance(step, Factors):
        return {"kind": "factors", "left": _floats(step.left), "right": _floats(step.right)}
    return {"kind": "matrix", **_floats(step)}


def _matrix(vectors: NDArray[np.float32]) -> dict[str, Any]:
    """Return vectors with a byte a number; those that were rounded before keep their numbers."""
    rounded = Matrix(vectors).rounded().arrays()
    codes, scales = _base64(rounded["vectors"], np.int8), _base64(rounded["scales"], np.float32)
    return {"shape": vectors.shape, "codes": codes, "scales": scales}


def _floats(matrix: NDArray[Any]) -> dict[str, Any]:
    return {"shape": matrix.shape, "floats": _base64(matrix, np.float32)}


def _base64(array: NDArray[Any], dtype: type) -> str:
    little = array.astype(np.dtype(dtype).newbyteorder("<"))  # as browsers' arrays are
    return b64encode(little.tobytes()).decode("ascii")


def _credits(embedding: Embedding) -> list[str]:
    """Return what is to be said of what ships, wherever it goes; see data/README.md."""
    told = []
    if _word_vectors(embedding) is Brown():
        told.append(
            "The word vectors were trained on the Brown corpus, which is licensed for "
            "non-commercial use."
        )
    if isinstance(embedding, Projected):
        steps = _chain(embedding.projections, "query")
        if any(step is Projections.shipped(name).query for name in SHIPPED for step in steps):
            told.append(
                "The projections were learned from WordNet 3.0, copyright 2006 by Princeton "
                "University."
            )
    return told


# ---- constants ------------------------------------------------------------------------------


def _constants() -> dict[str, Any]:
    """Return the numbers of the score, and what Unicode says of characters."""
    return {
        "matching": {
            "spelledAlike": comparing.SPELLED_ALIKE,
            "meantAlike": comparing.MEANT_ALIKE,
            "meantLikeness": comparing.MEANT_LIKENESS,
            "far": comparing._FAR,
            "sharpness": comparing._SHARPNESS,
            "doubted": comparing._DOUBTED,
            "words": comparing._WORDS,
            "tie": matching._TIE,
            "same": evidence.SAME,
            "fewest": evidence.FEWEST,
            "mostTied": lookup._TIED,
        },
        "spelling": {"otherNumber": numerals.OTHER_NUMBER, "long": numerals._LONG},
        "abbreviations": {
            "least": abbreviations._LEAST,
            "begun": abbreviations._BEGUN,
            "drawn": abbreviations._DRAWN,
            "ofLength": abbreviations._OF_LENGTH,
            "initials": abbreviations._INITIALS,
        },
        "text": {"longest": text.LONGEST, "adorning": _adorning(), "folded": _folded()},
    }


def _adorning() -> str:
    """Return the accents and points that words go without, as ranges of a regular expression."""
    codes = [code for code in range(_CHARACTERS) if unicodedata.combining(chr(code)) >= 10]
    starts = [b for a, b in pairwise([-1, *codes]) if b != a + 1]
    ends = [a for a, b in pairwise([*codes, -1]) if b != a + 1]
    return "".join(
        f"\\u{{{start:x}}}-\\u{{{end:x}}}" for start, end in zip(starts, ends, strict=True)
    )


def _folded() -> dict[str, str]:
    """Return the characters whose caseless form is another than that in lower case."""
    every = map(chr, range(_CHARACTERS))
    return {c: folded for c in every if (folded := text.caseless(c)) != c.lower()}
