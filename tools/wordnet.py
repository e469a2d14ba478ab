"""Pairs of texts that WordNet relates, from which vectors of words learn."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict import MissingCorpusError
from fuzzydict._arrays import Array
from fuzzydict.learning.train import retrieval_loss
from fuzzydict.text.words import plain

__all__ = ["WEIGHTS", "Pair", "RightKeys", "Synset", "pairs_in", "related_pairs", "weighted_draw"]
__all__ += ["loss_gradient", "unit_forward", "wordnet_synsets"]

#: How often each kind of pair is drawn, relative to synonyms.
WEIGHTS: Mapping[str, float] = {
    "synonym": 1.0,
    "similar": 0.7,  # adjectives around one: wet - damp, moist
    "broader": 0.25,  # car - motor vehicle
    "derived": 0.5,  # across parts of speech: destroy - destruction
    "see also": 0.5,
    "definition": 0.4,  # car - a motor vehicle with four wheels ...
}


class Synset(NamedTuple):
    """The words of one meaning, and its relations to others."""

    name: str
    lemmas: tuple[str, ...]
    definition: str
    related: tuple[tuple[str, str], ...] = ()  # (kind, name of the other synset)
    derived: tuple[tuple[str, str, str], ...] = ()  # (lemma, name of the other synset, its lemma)
    examples: tuple[str, ...] = ()
    lexname: str = ""  # its lexicographer file: "noun.animal"


class Pair(NamedTuple):
    """Two related plain texts, and the kind of their relation."""

    first: str
    second: str
    kind: str


def wordnet_synsets() -> list[Synset]:
    """Return the 117,659 synsets of WordNet 3.0 (Princeton University, 2006), found by nltk.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    import nltk
    from nltk.corpus import wordnet

    try:
        found = sorted(wordnet.all_synsets(), key=lambda synset: str(synset.name()))
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine (nltk looked for corpora/wordnet in "
            f"{', '.join(nltk.data.path)}); fetch it with: python -m nltk.downloader wordnet"
        ) from error
    made = []
    for synset in found:
        kinds = {
            "broader": (*synset.hypernyms(), *synset.instance_hypernyms()),
            "similar": synset.similar_tos(),
            "see also": (*synset.also_sees(), *synset.verb_groups()),
        }
        derived = [
            (lemma.name(), other.synset().name(), other.name())
            for lemma in synset.lemmas()
            for other in (*lemma.derivationally_related_forms(), *lemma.pertainyms())
        ]
        # nltk keeps these in sets
        related = sorted((kind, other.name()) for kind, others in kinds.items() for other in others)
        texts = synset.name(), tuple(synset.lemma_names()), synset.definition()
        others = tuple(related), tuple(sorted(derived)), tuple(synset.examples())
        made.append(Synset(*texts, *others, synset.lexname()))
    return made


def related_pairs(
    synsets: Iterable[Synset], known: Container[str], *, excluded: Collection[frozenset[str]] = ()
) -> list[Pair]:
    """Return the pairs of texts that synsets relate, each once, as the kind of the largest weight.

    Args:
        synsets: The synsets to relate.
        known: Words with a vector. Lemmas with other words are skipped; definitions lose them.
        excluded: Pairs of plain texts to leave out.

    Example:
        >>> car = Synset("car", ("car", "motor_car"), "A car, on wheels!", (("broader", "thing"),))
        >>> known = {"car", "motor", "wheels", "thing"}
        >>> for pair in related_pairs([car, Synset("thing", ("thing",), "")], known):
        ...     print(*pair, sep=", ")
        car, motor car, synonym
        car, thing, broader
        motor car, thing, broader
        car, car wheels, definition
        motor car, car wheels, definition
    """
    kept = {synset.name: synset for synset in synsets}
    lemmas = {name: _known_lemmas(synset.lemmas, known) for name, synset in kept.items()}
    best: dict[frozenset[str], Pair] = {}
    for synset in kept.values():
        for pair in _pairs_of(synset, lemmas, known):
            both = frozenset((pair.first, pair.second))
            if len(both) == 2 and both not in excluded:
                before = best.get(both)
                if before is None or WEIGHTS[pair.kind] > WEIGHTS[before.kind]:
                    best[both] = pair
    return list(best.values())


def _pairs_of(
    synset: Synset, lemmas: Mapping[str, Sequence[str]], known: Container[str]
) -> Iterator[Pair]:
    mine = lemmas[synset.name]
    for first, second in combinations(mine, 2):
        yield Pair(first, second, "synonym")
    for kind, other in synset.related:
        for first, second in product(mine, lemmas.get(other, ())):
            yield Pair(first, second, kind)
    for lemma, other, form in synset.derived:
        both = _known_lemmas((lemma, form), known)
        if other in lemmas and len(both) == 2:
            yield Pair(both[0], both[1], "derived")
    definition = " ".join(word for word in plain(synset.definition).split() if word in known)
    if definition:
        yield from (Pair(lemma, definition, "definition") for lemma in mine)


def _known_lemmas(lemmas: Iterable[str], known: Container[str]) -> list[str]:
    """Return the distinct lemmas, as plain text, all of whose words are known."""
    texts = dict.fromkeys(plain(lemma.replace("_", " ").lower()) for lemma in lemmas)
    return [text for text in texts if text and all(word in known for word in text.split())]


def pairs_in(paths: Iterable[Path]) -> set[frozenset[str]]:
    """Return the pairs of plain texts that retrieval sets ask, in files or folders of JSON files.

    Nothing is learned from these, whatever relates them.
    """
    files = [file for p in paths for file in (sorted(p.glob("*.json")) if p.is_dir() else [p])]
    return {
        frozenset((plain(query["query"].lower()), plain(key.lower())))
        for file in files
        for dictionary in json.loads(file.read_text("utf-8"))["dictionaries"]
        for query in dictionary["queries"]
        for key in query["accept"]
    }


# ---- batches of pairs ------------------------------------------------------------------------


class RightKeys:
    """Which texts are paired, so that a batch does not treat a right key as wrong."""

    def __init__(self, pairs: NDArray[np.intp], texts: int) -> None:
        from scipy import sparse

        ones = np.ones(2 * len(pairs), np.bool_)
        both = np.concatenate([pairs, pairs[:, ::-1]])
        self._paired = sparse.csr_matrix((ones, both.T), shape=(texts, texts))

    def of(self, batch: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows of queries and the columns of their right keys, for pairs (B, 2)."""
        right = self._paired[batch[:, 0]][:, batch[:, 1]]
        right.sort_indices()
        return np.repeat(np.arange(len(batch)), np.diff(right.indptr)), right.indices


def unit_forward(x: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return vectors (n, E) scaled to length 1, and the backward function; zero stays zero."""
    lengths = np.sqrt(np.einsum("ne,ne->n", x, x))[:, None]
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    unit = x * inverse

    def backward(d_unit: Array) -> Array:
        along = np.einsum("ne,ne->n", unit, d_unit)[:, None]
        return np.asarray((d_unit - along * unit) * inverse)

    return unit, backward


def loss_gradient(
    query: Array, key: Array, right: tuple[NDArray[np.intp], NDArray[np.intp]], temperature: float
) -> Array:
    """Return the gradient of `retrieval_loss` for queries and keys (B, E), one after the other."""
    _, d_logits = retrieval_loss(query @ key.T / query.dtype.type(temperature), *right)
    return np.concatenate([d_logits @ key, d_logits.T @ query]) / query.dtype.type(temperature)


def weighted_draw(
    weights: NDArray[Any], random: np.random.Generator
) -> Callable[[int], NDArray[np.intp]]:
    """Return a function that draws so many places, with replacement, by their weights."""
    sums = np.cumsum(weights, dtype=np.float64)

    def draw(count: int) -> NDArray[np.intp]:
        places: NDArray[np.intp] = np.searchsorted(sums, random.random(count) * sums[-1], "right")
        return np.minimum(places, len(sums) - 1)

    return draw
