"""`Matcher`: a dict in a file, which many processes ask."""

from __future__ import annotations

import errno
import os
import pickle
import platform
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from threading import RLock
from typing import Any

from fuzzydict._arrays import as_bool
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.errors import ArgumentTypeError, FileFormatError, OptionError, quoted
from fuzzydict.frames.dask_frames import is_dask, match_dask
from fuzzydict.mapping import FuzzyDict
from fuzzydict.options import as_cutoff
from fuzzydict.saving import digest_of
from fuzzydict.search.backends.usearch import use_threads


class Matcher:
    """Match texts with the keys of a dict in a file, in any number of processes.

    A pickle of it holds the path, not the dict. Each process opens the file once, when the first
    of its texts are looked up, and encodes no key. A process that another one started, or that got
    the matcher from another one, computes with one thread from then on (if threadpoolctl is
    installed, extra ``frames``).

    Args:
        path: a file that `FuzzyDict.save` wrote. All processes must find it by this path.
        score_cutoff: the least score of a match; by default that of the dict.
        embedding: that of the dict, unless it ships with the package. It is pickled, so a function
            must be at the top level of a module.
        trust: as in `FuzzyDict.load`.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is of another kind, or damaged.
        ArgumentTypeError: ``path`` is an address; or ``embedding`` is none, or cannot be pickled.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fields.fuzzydict")
    ...     FuzzyDict({"color": "black", "brand": "Porsche"}).save(path)
    ...     matcher = Matcher(path)
    ...     [match and match.value for match in matcher(["colour", "brnd", "qwzzt"])]
    ['black', 'Porsche', None]
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        score_cutoff: float | None = None,
        embedding: Any = None,
        trust: bool = False,
    ) -> None:
        from pathlib import Path

        if "://" in os.fsdecode(path):
            raise ArgumentTypeError(
                "path: expected a file that FuzzyDict.save wrote, got an address; keys in a "
                "database are read by fuzzydict.connect(url), which can be pickled, too"
            )
        if embedding is not None:
            as_embedding(embedding)  # or raise
        self.path = str(Path(os.fsdecode(path)).absolute())
        self.score_cutoff = as_cutoff(score_cutoff)
        self.embedding = embedding
        self.trust = as_bool("trust", trust)
        self._digest = digest_of(self.path)
        self._key = self.path, self._digest, _digest_of_pickle(embedding)
        self._made_in = _this_process()

    def __call__(self, texts: Any) -> Any:
        """Return what matches each text: a list for a list, a frame for a column.

        Equal texts are looked up once.

        Args:
            texts: a list, for which there is a list with a `Match` or None for each; or a column
                of pandas, polars, pyarrow or another library, for which there is a frame, as
                `FuzzyDict.match` returns it.

        Raises:
            ArgumentTypeError: it is neither.
            OptionError: the file is not the one that the matcher was made with; or the embedding
                is not the one that it was saved with.
            FileNotFoundError: this process does not find the file.
            FileFormatError: the file is damaged, or refused without ``trust``.
        """
        if isinstance(texts, str | bytes):
            raise ArgumentTypeError(
                f"texts: expected a list or a column of texts, got the text {quoted(texts)}; for "
                f"one, give a list of one"
            )
        d = self.open()
        try:
            if isinstance(texts, list):
                return list(d.nearest(texts, default=None, score_cutoff=self.score_cutoff))
            if is_dask(texts):
                return match_dask(d, texts, self.score_cutoff, one_to_one=False, answer=self)
            return d.match(texts, score_cutoff=self.score_cutoff)
        except FileFormatError:  # its vectors, which are checked now
            _opened.pop(self._key, None)
            raise

    def __repr__(self) -> str:
        cutoff = "" if self.score_cutoff is None else f", score_cutoff={self.score_cutoff!r}"
        return f"{type(self).__name__}({self.path!r}{cutoff})"

    def open(self) -> FuzzyDict[Any]:
        """Return the dict, which a process opens once. Nobody may write into it.

        Raises:
            OptionError, FileNotFoundError: as for the texts of a call.
        """
        from multiprocessing import parent_process

        if parent_process() is not None or self._made_in != _this_process():
            _limit_threads()
        if (d := _opened.get(self._key)) is None:
            with _opening:
                if (d := _opened.get(self._key)) is None:
                    d = self._load()
                    for older in [key for key in _opened if key[0] == self.path]:
                        del _opened[older]
                    _opened[self._key] = d
        return d

    def _load(self) -> FuzzyDict[Any]:
        try:
            self._require_same_file()
            d: FuzzyDict[Any] = FuzzyDict.load(
                self.path, embedding=self.embedding, mapped=True, trust=self.trust
            )
            self._require_same_file()  # still
        except FileNotFoundError as error:
            raise FileNotFoundError(
                errno.ENOENT,
                f"a Matcher opens its file in each process, and on {platform.node()} there is none "
                f"of this name; put it where every host finds it",
                self.path,
            ) from error
        return d

    def _require_same_file(self) -> None:
        """Raise OptionError unless the file is the one that the matcher was made with."""
        if digest_of(self.path) != self._digest:
            raise OptionError(
                f"path: {self.path} on {platform.node()} is not the file that the Matcher was made "
                f"with; it was saved again, or is another one: make the Matcher again, and copy "
                f"the file to every host that has one of its own"
            )


def _digest_of_pickle(embedding: Any) -> str:
    """Return what tells an embedding from others in another process, too.

    Raises:
        ArgumentTypeError: it cannot be pickled.
    """
    try:
        return blake2b(pickle.dumps(embedding), digest_size=16).hexdigest()
    except Exception as error:  # whatever its methods raise
        raise ArgumentTypeError(
            f"embedding: {quoted(embedding)} cannot be pickled, so that no other process gets it "
            f"({error}); give a function at the top level of a module"
        ) from error


# ---- what a process keeps ---------------------------------------------------------------------

#: The dicts that this process has opened, by path, digest of the file and of the embedding.
_opened: dict[tuple[str, str, str], FuzzyDict[Any]] = {}
_opening = RLock()


def _this_process() -> tuple[str, int]:
    """Return what tells this process from others; Spark's and Ray's name no parent."""
    return platform.node(), os.getpid()


@cache
def _limit_threads() -> None:
    """Compute with one thread from now on, for there are other processes that compute, too."""
    use_threads(1)
    with suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def _after_fork() -> None:
    global _opening
    _opening = RLock()  # the thread that held it is gone
    _limit_threads.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
