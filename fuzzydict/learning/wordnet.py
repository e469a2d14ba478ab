"""Learn the projections named "wordnet" from pairs of texts that WordNet relates."""

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
from fuzzydict.learning.projections import Adam, NamedGradients, lengths_forward, retrieval_loss
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.word_vectors import WordVectors


def wordnet_projections(
    vectors: WordVectors,
    *,
    excluded: Collection[frozenset[str]] = (),
    recipe: Recipe | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Projections:
    """Learn one projection for queries and keys from WordNet, as in ``projections="wordnet"``.

    Args:
        vectors: The embedding to project.
        excluded: Pairs of plain texts not to learn from, such as those of a test set.
        recipe: Hyper-parameters; None for the defaults.
        progress: Called with ``(done, total)`` steps.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    pairs = related_pairs(wordnet_synsets(), set(vectors.words), excluded=excluded)
    texts = [(pair.first, pair.second) for pair in pairs]
    weights = [WEIGHTS[pair.kind] for pair in pairs]
    subwords = retrofit(vectors, texts, weights, recipe, progress=progress).rounded()
    return Projections(subwords, subwords, embedding=vectors.fingerprint()["name"])


# ---- pairs from WordNet ----------------------------------------------------------------------

#: How often each kind of pair is drawn, relative to synonyms.
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
        found = list(wordnet.all_synsets())
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine (nltk looked for corpora/wordnet in "
            f"{', '.join(nltk.data.path)}); fetch it with: {_DOWNLOAD}"
        ) from error
    return [_synset(synset) for synset in sorted(found, key=lambda synset: str(synset.name()))]


def _synset(synset: Any) -> Synset:
    """Return the parts of an nltk synset that are used here."""
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
        tuple(synset.examples()),
        synset.lexname(),
    )


def related_pairs(
    synsets: Iterable[Synset],
    known: Container[str],
    *,
    excluded: Collection[frozenset[str]] = (),
    without: Container[str] = frozenset(),
) -> list[Pair]:
    """Return the pairs of texts that synsets relate, each once, as the kind of the largest weight.

    Args:
        synsets: The synsets to relate.
        known: Words with a vector. Lemmas with other words are skipped; definitions lose them.
        excluded: Pairs of plain texts to leave out.
        without: Names of synsets to leave out.

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
    """Return the distinct lemmas, as plain text, all of whose words are known."""
    texts = dict.fromkeys(plain(lemma.replace("_", " ").lower()) for lemma in lemmas)
    return [text for text in texts if text and all(word in known for word in text.split())]


# ---- a projection from pairs -----------------------------------------------------------------

_WARM_UP = 50  # steps in which the learning rate rises
_FULL_WEIGHT = 0.9  # words with this weight or more, and unknown words, count as 1
_START = 0.3  # length of the learned part of a vector at the start; the other part has length 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Hyper-parameters of `retrofit`; ``data/README.md`` compares others.

    Args:
        buckets: Rows N of the table of hashed n-grams.
        size: Learned dimensions r, next to the vector's own.
        steps: Number of steps.
        batch: Pairs a step; each is told apart from all others.
        temperature: Divisor of the cosines before the softmax.
        keep: Weight of the penalty on changes of the cosines between words.
        kept_words: Words drawn for that penalty in each step.
        decay: Weight decay.
        learning_rate: Adam's, after the warm-up. It falls to 0 with the root of the steps left.
        seed: Seed of the start and of the batches.
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
    """Learn a projection under which the texts of each pair are near each other.

    It serves queries and keys alike. The loss of a pair is `retrieval_loss` over the other pairs
    of its batch (Henderson et al. 2017); every text paired with a query counts as right for it.
    A penalty on changed cosines keeps words where they were, as in Faruqui et al. 2015,
    "Retrofitting Word Vectors to Semantic Lexicons".

    Args:
        vectors: The embedding to project.
        pairs: n pairs of plain texts.
        weights: Relative frequency of each pair, (n,); None if all are equal.
        recipe: Hyper-parameters; None for the defaults.
        progress: Called with ``(done, total)`` steps.

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
    texts = sorted({text for pair in pairs for text in pair})
    number = {text: i for i, text in enumerate(texts)}
    rows = np.array([[number[first], number[second]] for first, second in pairs])  # (n, 2)
    word_weights = {word: vectors.vocabulary.weight(word) for word in vectors.words}
    word_weights = {w: weight for w, weight in word_weights.items() if weight < _FULL_WEIGHT}
    learner = _Learner(_inputs(vectors, texts, recipe.buckets, word_weights), recipe, random)
    words = _inputs(vectors, vectors.words, recipe.buckets, word_weights)
    draw_words = weighted_draw(np.sqrt(vectors.counts.astype(np.float64)), random)
    right_keys = RightKeys(rows, len(texts))
    draw = weighted_draw(np.ones(len(pairs)) if weights is None else np.asarray(weights), random)
    for step in range(recipe.steps):
        batch = rows[draw(recipe.batch)]
        swapped = random.random(len(batch)) < 0.5  # either text may be the query
        batch[swapped] = batch[swapped, ::-1]
        gradients = learner.pair_gradients(batch, *right_keys.of(batch))
        if recipe.keep:
            learner.add_cosine_penalty(gradients, words, draw_words(recipe.kept_words))
        learner.step(gradients, step)
        if progress:
            progress(step + 1, recipe.steps)
    return Subwords(learner.parameters["matrix"], learner.parameters["table"], word_weights)


class _Inputs(NamedTuple):
    """The inputs of a projection for T texts."""

    unit: Array  # (T, E), vectors of length 1
    ngrams: Any  # sparse (T, N), f(text) of `Subwords`

    def take(self, rows: NDArray[np.intp]) -> _Inputs:
        return _Inputs(self.unit[rows], self.ngrams[rows])


class _Learner:
    """The parameters of `Subwords`, and the gradients of both losses."""

    def __init__(self, texts: _Inputs, recipe: Recipe, random: np.random.Generator) -> None:
        self._texts, self._recipe = texts, recipe
        sizes = {"matrix": texts.unit.shape[1], "table": recipe.buckets}
        self.parameters: dict[str, Array] = {}
        for name, rows in sizes.items():
            spread = _START / (rows if name == "matrix" else recipe.size) ** 0.5
            drawn = random.standard_normal((rows, recipe.size), dtype=np.float32)
            self.parameters[name] = drawn * np.float32(spread)
        self._adam = Adam(self.parameters)

    def pair_gradients(
        self, batch: NDArray[np.intp], rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NamedGradients:
        """Return the gradients of the loss of pairs (B, 2), with right keys as `RightKeys.of`."""
        unit, back = self._forward(self._texts.take(batch.T.ravel()))
        query, key = np.split(unit, 2)
        _, d = retrieval_loss(query, key, rows, columns, self._recipe.temperature)
        return back(np.concatenate([d.query, d.key]))

    def add_cosine_penalty(
        self, gradients: NamedGradients, words: _Inputs, rows: NDArray[np.intp]
    ) -> None:
        """Add the gradients of the squared changes of the cosines between these words."""
        before = words.take(rows)
        unit, back = self._forward(before)
        change = unit @ unit.T - before.unit @ before.unit.T
        scale = np.float32(4 * self._recipe.keep / len(rows))
        for name, gradient in back(change @ unit * scale).items():
            gradients[name] += gradient

    def _forward(self, texts: _Inputs) -> tuple[Array, Callable[[Array], NamedGradients]]:
        """Return the projected texts, scaled to length 1, and the backward function."""
        added = texts.unit @ self.parameters["matrix"] + texts.ngrams @ self.parameters["table"]
        unit, lengths_back = lengths_forward(np.concatenate([texts.unit, added], 1), "cosine")

        def back(d_unit: Array) -> NamedGradients:
            d_added = lengths_back(d_unit)[:, -self._recipe.size :]
            return {"matrix": texts.unit.T @ d_added, "table": texts.ngrams.T @ d_added}

        return unit, back

    def step(self, gradients: NamedGradients, done: int) -> None:
        for name, gradient in gradients.items():
            gradient += np.float32(self._recipe.decay) * self.parameters[name]
        left = (1 - done / self._recipe.steps) ** 0.5
        self._adam.learning_rate = self._recipe.learning_rate * left * min(1, (done + 1) / _WARM_UP)
        self._adam.step(gradients)


class RightKeys:
    """Which texts are paired, so that a batch does not treat a right key as wrong."""

    def __init__(self, pairs: NDArray[np.intp], texts: int) -> None:
        from scipy import sparse

        ones = np.ones(2 * len(pairs), np.bool_)
        both = np.concatenate([pairs, pairs[:, ::-1]])
        self._paired = sparse.csr_matrix((ones, both.T), shape=(texts, texts))
        self._sparse = sparse

    def of(self, batch: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows of queries and the columns of their right keys, for pairs (B, 2)."""
        count = len(batch)
        places = (batch[:, 1], np.arange(count))
        keys = self._sparse.csr_matrix(
            (np.ones(count, np.bool_), places), shape=(self._paired.shape[0], count)
        )
        right = self._paired[batch[:, 0]] @ keys
        right.sort_indices()
        return np.repeat(np.arange(count), np.diff(right.indptr)), right.indices


def weighted_draw(
    weights: NDArray[Any], random: np.random.Generator
) -> Callable[[int], NDArray[np.intp]]:
    """Return a function that draws so many places, with replacement, by their weights."""
    sums = np.cumsum(weights, dtype=np.float64)
    last = len(sums) - 1

    def draw(count: int) -> NDArray[np.intp]:
        places: NDArray[np.intp] = np.searchsorted(sums, random.random(count) * sums[-1], "right")
        return np.minimum(places, last)

    return draw


def _inputs(
    vectors: WordVectors, texts: Sequence[str], buckets: int, weights: Mapping[str, float]
) -> _Inputs:
    """Return the vectors of length 1 and the n-grams of texts."""
    unit, _ = lengths_forward(vectors.encode(texts), "cosine")
    split = [text.split() for text in texts]
    words = {word: i for i, word in enumerate(dict.fromkeys(w for s in split for w in s))}
    rows = [ngram_rows(word, buckets) for word in words]
    of_words = _sparse_rows(rows, [np.full(len(r), len(r) ** -0.5) for r in rows], buckets)
    in_text = [np.array([weights.get(word, 1.0) for word in s]) for s in split]
    shares = [w / w.sum() for w in in_text]
    of_texts = _sparse_rows([[words[word] for word in s] for s in split], shares, len(words))
    return _Inputs(unit, (of_texts @ of_words).tocsr())


def _sparse_rows(
    columns: Sequence[Sequence[int]], values: Sequence[NDArray[Any]], width: int
) -> Any:
    """Return a sparse matrix with these values in these columns of each row."""
    from scipy import sparse

    starts = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.zeros(0), *values]).astype(np.float32)
    places = np.concatenate([np.zeros(0, np.int64), *columns]).astype(np.int64)
    return sparse.csr_matrix((flat, places, starts), shape=(len(columns), width))
