"""Data sets from files: retrieval sets, and pairs of words with human judgement."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzydict._files import bytes_of, decoded
from fuzzydict.errors import FileFormatError, quoted
from fuzzydict.io.dict_files import read_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


_EXAMPLE = (
    '{"dictionaries": [{"keys": ["color"], "queries": [{"query": "hue", "accept": ["color"]}]}]}'
)


class Query(NamedTuple):
    """A query, and the keys that are right answers to it."""

    text: str
    accept: frozenset[str]


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
    among the keys, and no key comes twice.

    Raises:
        OSError: a file cannot be read.
        FileFormatError: a file is not a retrieval set, or a folder has none.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not found:
            raise FileFormatError(f"{path}: the folder has no .json file; name another")
        files += found
    return [_read_set(file) for file in files]


def _read_set(path: Path) -> RetrievalSet:
    dictionaries = read_json(path, example=_EXAMPLE).get("dictionaries")
    if not isinstance(dictionaries, list) or not dictionaries:
        raise FileFormatError(f"{path}: is no retrieval set; expected {_EXAMPLE}")
    read = [_dictionary(f"{path}: dictionary {i}", d) for i, d in enumerate(dictionaries)]
    return RetrievalSet(path.stem, read)


def _dictionary(where: str, content: Any) -> Dictionary:
    keys = _texts(where, content, "keys")
    known = Counter(keys)
    twice, times = known.most_common(1)[0]
    if times > 1:
        raise FileFormatError(f"{where}: the key {quoted(twice)} comes twice; keep one")
    queries = _list(where, content, "queries")
    return Dictionary(
        keys, [_query(f"{where}, query {i}", query, known) for i, query in enumerate(queries)]
    )


def _query(where: str, content: Any, keys: Collection[str]) -> Query:
    accept = _texts(where, content, "accept")
    text = content.get("query")
    if not isinstance(text, str):
        raise FileFormatError(f'{where}: its "query" must be a string, got {quoted(text)}')
    odd = next((key for key in accept if key not in keys), None)
    if odd is not None:
        raise FileFormatError(
            f"{where}: {quoted(text)} accepts {quoted(odd)}, which is not among the keys; "
            f"add it to them, or leave it out"
        )
    return Query(text, frozenset(accept))


def _texts(where: str, content: Any, name: str) -> list[str]:
    found = _list(where, content, name)
    for item in found:
        if not isinstance(item, str):
            raise FileFormatError(
                f'{where}: its "{name}" must all be strings, got {quoted(item)}; put it in quotes'
            )
    return found


def _list(where: str, content: Any, name: str) -> list[Any]:
    """Return the list of this name in an object, which must not be empty."""
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list) or not found:
        raise FileFormatError(f'{where}: expected an object whose "{name}" is a list, not empty')
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

    files = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
    return {name: read_pairs(Path(datapath(file))) for name, file in files.items()}


def read_pairs(path: Path) -> list[JudgedPair]:
    """Return the pairs in a file: on each line two words and a number, separated by tabs.

    Blank lines, and those that begin with #, are skipped.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: a line is something else, or there is no pair.
    """
    lines = decoded(bytes_of(path), path).splitlines()
    pairs = [
        _pair(f"{path}: line {number}", line)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    if not pairs:
        raise FileFormatError(f"{path}: has no pair of words")
    return pairs


def _pair(where: str, line: str) -> JudgedPair:
    try:
        first, second, judged = line.split("\t")
        pair = JudgedPair(first, second, float(judged))
    except ValueError:
        pair = None
    if pair is None or not math.isfinite(pair.judged):
        raise FileFormatError(
            f"{where} is not two words and a number, separated by tabs: {quoted(line)}"
        )
    return pair
