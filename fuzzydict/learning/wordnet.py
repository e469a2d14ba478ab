"""WordNet -> pairs of texts that mean alike: synonyms, broader words, definitions, derivations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import Array
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.subwords import Subwords, ngram_rows
from fuzzydict.errors import MissingCorpusError, ShapeError
from fuzzydict.learning.gradient_descent import Adam
from fuzzydict.learning.projections import lengths_forward, retrieval_loss
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.word_vectors import WordVectors
    from fuzzydict.evaluation.datasets import RetrievalSet

__all__ = [
    "WEIGHTS",
    "Pair",
    "Recipe",
    "Synset",
    "asked_pairs",
    "related_pairs",
    "retrofit",
    "wordnet_projections",
    "wordnet_synsets",
]


_WARM_UP = 50  # steps until Adam knows how large gradients are
_LIGHT = 0.9  # words that count this much or more, and those never seen, count as 1
_SPREAD = 0.3  # of what is learned at its start, beside the vectors' length of 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to learn; ``data/README.md`` tells how these were chosen, and what others give.

    Args:
        buckets: Rows N for n-grams.
        size: Numbers r that are learned beside a vector.
        steps: How many.
        batch: Pairs a step, each of which is told apart from all others.
        temperature: What cosines are divided by before the softmax.
        keep: How strongly the cosines of words are held where they were.
        kept_words: Words that this is asked of in a step, all pairs of them.
        decay: How strongly all numbers are drawn to 0.
        learning_rate: Adam's, after the warm-up; it falls to 0 with the root of what is left.
        seed: Another seed, another start and other batches.
    """

    buckets: int = 12288
    size: int = 64
    steps: int = 4000
    batch: int = 1024
    temperature: float = 0.07
    keep: float = 0.1
    kept_words: int = 384
    decay: float = 1e-4
    learning_rate: float = 5e-3
    seed: int = 1


def retrofit(
    vectors: WordVectors,
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float] | None = None,
    recipe: Recipe | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Subwords:
    """Learn a projection by which the texts of each pair find each other among others.

    It is one for queries and keys, for "means alike" holds in both directions. The loss of a pair
    is that of `objectives.retrieval_loss`, over the other pairs of its batch; whatever is paired
    with a text in any way counts as right for it. Beside it the squared differences between the
    cosines of words, after and before, are made small.

    (Vectors fitted to a lexicon: Faruqui et al. 2015, "Retrofitting Word Vectors to Semantic
    Lexicons"; the other pairs of a batch as what is wrong: Henderson et al. 2017.)

    Args:
        vectors: What texts have before.
        pairs: Texts in plain words, n pairs.
        weights: How often each pair is drawn, (n,), in any unit; None for all alike.
        recipe: How to learn; None for the defaults.
        progress: Is told ``(done, total)`` steps.

    Raises:
        ShapeError: There are no pairs, or not as many weights.
    """
    recipe = recipe or Recipe()
    if not pairs or (weights is not None and len(weights) != len(pairs)):
        raise ShapeError(
            f"expected pairs and as many weights, got {len(pairs)} pairs and "
            f"{'no' if weights is None else len(weights)} weights"
        )
    random = np.random.default_rng(recipe.seed)
    texts, numbers = _numbered(pairs)
    weighing = _light_words(vectors)
    learner = _Learner(_features(vectors, texts, recipe.buckets, weighing), recipe, random)
    words = _features(vectors, vectors.words, recipe.buckets, weighing)
    drawn_words = _Draw(np.sqrt(vectors.counts.astype(np.float64)), random)
    known = _Known(numbers, len(texts))
    drawn = _Draw(np.ones(len(pairs)) if weights is None else np.asarray(weights), random)
    for step in range(recipe.steps):
        batch = numbers[drawn(recipe.batch)]
        # The order of a pair says nothing: either text may be the query.
        turned = random.random(len(batch)) < 0.5
        batch[turned] = batch[turned, ::-1]
        gradients = learner.pairs_gradients(batch, *known(batch))
        if recipe.keep:
            learner.add_keeping(gradients, words, drawn_words(recipe.kept_words))
        learner.step(gradients, step)
        if progress:
            progress(step + 1, recipe.steps)
    return Subwords(learner.parameters["matrix"], learner.parameters["table"], weighing)


def wordnet_projections(
    vectors: WordVectors,
    *,
    excluded: Collection[frozenset[str]] = (),
    recipe: Recipe | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Projections:
    """Learn from WordNet what ships as ``projections="wordnet"``: one for queries and keys.

    Args:
        vectors: The embedding that it is for.
        excluded: Pairs in plain words that are not learned from, so that they can be asked.
        recipe: How to learn; None for the defaults.
        progress: Is told ``(done, total)`` steps.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    pairs = related_pairs(wordnet_synsets(), set(vectors.words), excluded=excluded)
    texts = [(pair.first, pair.second) for pair in pairs]
    weights = [WEIGHTS[pair.kind] for pair in pairs]
    subwords = retrofit(vectors, texts, weights, recipe, progress=progress).rounded()
    return Projections(subwords, subwords, embedding=vectors.fingerprint()["name"])


class _Features(NamedTuple):
    """What a projection reads of T texts."""

    unit: Array  # (T, E), their vectors, of length one
    letters: Any  # (T, N) in compressed rows, f(text) of `Subwords`

    def take(self, rows: NDArray[np.intp]) -> _Features:
        return _Features(self.unit[rows], self.letters[rows])


class _Learner:
    """The parameters of `Subwords`, and the gradients of both losses."""

    def __init__(self, texts: _Features, recipe: Recipe, random: np.random.Generator) -> None:
        self._texts, self._recipe = texts, recipe
        sizes = {"matrix": texts.unit.shape[1], "table": recipe.buckets}
        self.parameters: dict[str, Array] = {}
        for name, rows in sizes.items():
            spread = _SPREAD / (rows if name == "matrix" else recipe.size) ** 0.5
            drawn = random.standard_normal((rows, recipe.size), dtype=np.float32)
            self.parameters[name] = drawn * np.float32(spread)
        self._adam = Adam(self.parameters)

    def pairs_gradients(
        self, batch: NDArray[np.intp], rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> dict[str, Array]:
        """Return those of a batch of pairs (B, 2), of which these are right, (n,) and (n,)."""
        unit, back = self._forward(self._texts.take(batch.T.ravel()))
        query, key = np.split(unit, 2)
        _, slopes = retrieval_loss(query, key, rows, columns, self._recipe.temperature)
        return back(np.concatenate([slopes.query, slopes.key]))

    def add_keeping(
        self, gradients: dict[str, Array], words: _Features, rows: NDArray[np.intp]
    ) -> None:
        """Add those of the squared differences of cosines, for words in these rows."""
        before = words.take(rows)
        unit, back = self._forward(before)
        moved = unit @ unit.T - before.unit @ before.unit.T
        for name, gradient in back(
            moved @ unit * np.float32(4 * self._recipe.keep / len(rows))
        ).items():
            gradients[name] += gradient

    def _forward(self, texts: _Features) -> tuple[Array, Callable[[Array], dict[str, Array]]]:
        """Return projected texts, of length one, and the way back to the parameters."""
        added = texts.unit @ self.parameters["matrix"] + texts.letters @ self.parameters["table"]
        unit, lengths_back = lengths_forward(np.concatenate([texts.unit, added], 1), "cosine")

        def back(d_unit: Array) -> dict[str, Array]:
            d_added = lengths_back(d_unit)[:, -self._recipe.size :]
            return {"matrix": texts.unit.T @ d_added, "table": texts.letters.T @ d_added}

        return unit, back

    def step(self, gradients: dict[str, Array], done: int) -> None:
        for name, gradient in gradients.items():
            gradient += np.float32(self._recipe.decay) * self.parameters[name]
        left = (1 - done / self._recipe.steps) ** 0.5
        self._adam.learning_rate = self._recipe.learning_rate * left * min(1, (done + 1) / _WARM_UP)
        self._adam.step(gradients)


class _Known:
    """Which texts are paired with which, so that no batch calls right ones wrong."""

    def __init__(self, pairs: NDArray[np.intp], texts: int) -> None:
        from scipy import sparse

        ones = np.ones(2 * len(pairs), np.bool_)
        both = np.concatenate([pairs, pairs[:, ::-1]])
        self._paired = sparse.csr_matrix((ones, both.T), shape=(texts, texts))
        self._sparse = sparse

    def __call__(self, batch: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the queries' rows and the columns of the keys that are right for them."""
        count = len(batch)
        places = (batch[:, 1], np.arange(count))
        shown = self._sparse.csr_matrix(
            (np.ones(count, np.bool_), places), shape=(self._paired.shape[0], count)
        )
        right = self._paired[batch[:, 0]] @ shown
        right.sort_indices()
        return np.repeat(np.arange(count), np.diff(right.indptr)), right.indices


class _Draw:
    """Numbers drawn by weights."""

    def __init__(self, weights: NDArray[Any], random: np.random.Generator) -> None:
        self._sums, self._random = np.cumsum(weights, dtype=np.float64), random

    def __call__(self, count: int) -> NDArray[np.intp]:
        places = self._random.random(count) * self._sums[-1]
        drawn: NDArray[np.intp] = np.searchsorted(self._sums, places, "right")
        return np.minimum(drawn, len(self._sums) - 1)


def _numbered(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the different texts, and the pairs by their numbers, (n, 2)."""
    texts = sorted({text for pair in pairs for text in pair})
    number = {text: i for i, text in enumerate(texts)}
    return texts, np.array([[number[first], number[second]] for first, second in pairs])


def _light_words(vectors: WordVectors) -> dict[str, float]:
    """Return the words that count less than others in a phrase, and how much."""
    weights = {word: vectors.vocabulary.weight(word) for word in vectors.words}
    return {word: weight for word, weight in weights.items() if weight < _LIGHT}


def _features(
    vectors: WordVectors, texts: Sequence[str], buckets: int, weights: Mapping[str, float]
) -> _Features:
    unit, _ = lengths_forward(vectors.encode(texts), "cosine")
    return _Features(unit, _letters(texts, buckets, weights))


def _letters(texts: Sequence[str], buckets: int, weights: Mapping[str, float]) -> Any:
    """Return f(text) of `Subwords` for each text, (T, N) in compressed rows."""
    split = [text.split() for text in texts]
    words = {word: i for i, word in enumerate(dict.fromkeys(w for s in split for w in s))}
    ngrams = [ngram_rows(word, buckets) for word in words]
    of_words = _rows(ngrams, [np.full(len(n), len(n) ** -0.5) for n in ngrams], buckets)
    weighed = [np.array([weights.get(word, 1.0) for word in s]) for s in split]
    shares = [w / w.sum() for w in weighed]
    return (
        _rows([[words[word] for word in s] for s in split], shares, len(words)) @ of_words
    ).tocsr()


def _rows(columns: Sequence[Sequence[int]], shares: Sequence[NDArray[Any]], width: int) -> Any:
    """Return a matrix in compressed rows: in each row these shares in these columns."""
    from scipy import sparse

    starts = np.cumsum([0, *map(len, columns)])
    values = np.concatenate([np.zeros(0), *shares]).astype(np.float32)
    flat = np.concatenate([np.zeros(0, np.int64), *columns]).astype(np.int64)
    return sparse.csr_matrix((values, flat, starts), shape=(len(columns), width))


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
