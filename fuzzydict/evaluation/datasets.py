"""Data sets from files: retrieval sets, and pairs of words with human judgement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from fuzzydict.errors import FileFormatError, quoted
from fuzzydict.io.dict_files import read_json

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
