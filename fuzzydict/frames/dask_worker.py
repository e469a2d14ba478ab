"""A dict that every worker of a Dask cluster gets once; it needs Dask (extra ``dask``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from distributed import Client, WorkerPlugin, get_worker

from fuzzydict.mapping import FuzzyDict
from fuzzydict.results.answers import Match

_FILE = "sent.fuzzydict"


class _SentDict(WorkerPlugin):  # type: ignore[misc]
    """A dict as its file, which a worker opens when it gets it: no key is encoded again.

    Dask gives it to workers that come later, too.
    """

    def __init__(self, name: str, content: bytes, embedding: Any) -> None:
        self.name = name
        self._content, self._embedding = content, embedding

    def setup(self, worker: Any) -> None:
        with TemporaryDirectory(dir=worker.local_directory) as folder:
            path = Path(folder, _FILE)
            path.write_bytes(self._content)
            self.d: FuzzyDict[Any] = FuzzyDict.load(path, embedding=self._embedding, trust=True)
        self._content = b""


class _Ask:
    """Answers texts on a worker that has the dict of this name."""

    def __init__(self, name: str, score_cutoff: float | None) -> None:
        self._name, self._score_cutoff = name, score_cutoff

    def __call__(self, texts: list[str]) -> list[Match | None]:
        d = get_worker().plugins[self._name].d
        return list(d.nearest(texts, default=None, score_cutoff=self._score_cutoff))


@contextmanager
def sent(client: Client, d: FuzzyDict[Any], score_cutoff: float | None) -> Iterator[_Ask]:
    """Send the keys of a dict to all workers; yield what answers texts there, with None as values.

    Raises:
        ArgumentTypeError: the dict cannot be saved, so that it cannot be sent.
    """
    keys = d.copy()
    keys.update(dict.fromkeys(keys))
    with TemporaryDirectory() as folder:
        path = Path(folder, _FILE)
        keys.save(path)
        plugin = _SentDict(f"fuzzydict-{uuid4().hex}", path.read_bytes(), d.embedding)
    client.register_plugin(plugin)
    try:
        yield _Ask(plugin.name, score_cutoff)
    finally:
        client.unregister_worker_plugin(plugin.name)
