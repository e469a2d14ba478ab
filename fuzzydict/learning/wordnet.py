"""WordNet -> pairs of texts that mean alike: synonyms, broader words, definitions, derivations."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from fuzzydict.errors import MissingCorpusError
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from typing import Any

    from fuzzydict.evaluation.datasets import RetrievalSet

__all__ = ["WEIGHTS", "Pair", "Synset", "asked_pairs", "related_pairs", "wordnet_synsets"]

#: What each kind of pair says about likeness, beside a pair of synonyms.
WEIGHTS: Mapping[str, float] = {
    "synonym": 1.0,
    "similar": 0.7,  # adjectives around one: wet - damp, moist
    "broader": 0.25,  # car - motor vehicle
    "derived": 0.5,  # across parts of speech: destroy - destruction
    "see also": 0.5,
    "definition": 0.4,  # car - a motor vehicle with four wheels ...
}
_DOWNLOAD = "python -m nltk.downloader wordnet"


class Synset(NamedTuple):
    """Words of one meaning, and where it stands among the others."""

    name: str
    lemmas: tuple[str, ...]
    definition: str
    related: tuple[tuple[str, str], ...] = ()  # (kind, name of the other synset)
    derived: tuple[tuple[str, str, str], ...] = ()  # (lemma, name of the other synset, its lemma)


class Pair(NamedTuple):
    """Two texts in plain words that mean alike, and of which kind that is."""

    first: str
    second: str
    kind: str


def wordnet_synsets() -> list[Synset]:
    """Return the 117,659 synsets of WordNet 3.0 (Princeton University, 2006), as nltk finds it.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    import nltk
    from nltk.corpus import wordnet

    try:
        found = list(wordnet.all_synsets())
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine (nltk looked for corpora/wordnet in "
            f"{', '.join(nltk.data.path)}); fetch it with: {_DOWNLOAD}"
        ) from error
    return [_synset(synset) for synset in sorted(found, key=lambda synset: str(synset.name()))]


def _synset(synset: Any) -> Synset:
    """Return what we use of a synset of nltk."""
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
    return Synset(
        synset.name(),
        tuple(synset.lemma_names()),
        synset.definition(),
        tuple((kind, other.name()) for kind, others in kinds.items() for other in others),
        tuple(derived),
    )


def related_pairs(
    synsets: Iterable[Synset],
    known: Container[str],
    *,
    excluded: Collection[frozenset[str]] = (),
    without: Container[str] = frozenset(),
) -> list[Pair]:
    """Return the pairs that synsets make, each once and in one direction, as its best kind.

    Args:
        synsets: Meanings.
        known: Words. Lemmas with another word are left out, and of definitions those words are.
        excluded: Pairs, in plain words, that are not returned whatever their kind.
        without: Names of synsets that nothing is to be known of.

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
    kept = {synset.name: synset for synset in synsets if synset.name not in without}
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
    """Return those lemmas, different and in plain words, of which every word is known."""
    texts = dict.fromkeys(plain(lemma.replace("_", " ").lower()) for lemma in lemmas)
    return [text for text in texts if text and all(word in known for word in text.split())]


def asked_pairs(sets: Iterable[RetrievalSet]) -> set[frozenset[str]]:
    """Return the pairs that retrieval sets ask, in plain words: a query and a key it accepts.

    Example:
        >>> from fuzzydict.evaluation.datasets import Dictionary, Query, RetrievalSet
        >>> asked = Dictionary(["motor_car"], [Query("auto", frozenset({"motor_car"}))])
        >>> [sorted(pair) for pair in asked_pairs([RetrievalSet("cars", [asked])])]
        [['auto', 'motor car']]
    """
    return {
        frozenset((plain(query.text), plain(key)))
        for one in sets
        for query in one.queries
        for key in query.accept
    }
