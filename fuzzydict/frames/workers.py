"""Texts for several processes: `Matcher`, which each of them asks, and `answering`."""

from __future__ import annotations

import atexit
import errno
import os
import pickle
import platform
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from fuzzydict._arrays import as_bool, whole_number
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    FuzzyDictError,
    OptionError,
    WorkerError,
    quoted,
)
from fuzzydict.frames.dask import LOCAL, Ask, ask_workers, chunks_of, cluster, is_dask, match_dask
from fuzzydict.mapping import FuzzyDict
from fuzzydict.options import as_cutoff
from fuzzydict.saving import digest_of
from fuzzydict.search.neighbours import use_threads
from fuzzydict.stores import remote
from fuzzydict.stores.base import is_address

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


T = TypeVar("T")


class Matcher:
    """Match texts with the keys of a dict in a file or a database, in any number of processes.

    A pickle of it holds the path or address, not the dict. Each process opens it once, when the
    first of its texts are looked up, and encodes no key. A process that another one started, or
    that got the matcher from another one, computes with one thread from then on.

    Args:
        path: a file that `FuzzyDict.save` wrote, which all processes must find by this path; or the
            address of a database, as for `fuzzydict.connect`. A pickle holds its password, too.
        score_cutoff: the least score of a match; by default that of the dict.
        embedding: that of the dict, unless it ships with the package. It is pickled, so a function
            must be at the top level of a module.
        trust: as in `FuzzyDict.load`.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is of another kind, or damaged.
        OptionError: the address is not valid.
        MissingExtraError: the package that speaks to the database is not installed.
        ArgumentTypeError: ``embedding`` is none, or cannot be pickled.

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
        if embedding is not None:
            as_embedding(embedding)  # or raise
        try:  # what tells an embedding from others in another process, too
            of_embedding = blake2b(pickle.dumps(embedding), digest_size=16).hexdigest()
        except Exception as error:  # whatever its methods raise
            raise ArgumentTypeError(
                f"embedding: {quoted(embedding)} cannot be pickled, so that no other process gets "
                f"it ({error}); give a function at the top level of a module"
            ) from error
        self.path, digest = os.fsdecode(path), ""
        self.score_cutoff, self.embedding = as_cutoff(score_cutoff), embedding
        self.trust = as_bool("trust", trust)
        if is_address(self.path):
            self.place = remote.open_store(self.path).place  # or raise
        else:
            self.path = self.place = str(Path(self.path).absolute())
            digest = digest_of(self.path)
        self._key = self.path, digest, of_embedding
        self._made_in = platform.node(), os.getpid()

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
            StoreError: the database cannot be reached, or refuses.
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
        except FileFormatError:  # its vectors, which are checked now; the file may be mended
            _opened.pop(self._key, None)
            raise

    def __repr__(self) -> str:
        cutoff = "" if self.score_cutoff is None else f", score_cutoff={self.score_cutoff!r}"
        return f"{type(self).__name__}({self.place!r}{cutoff})"

    def open(self) -> remote.AnyDict:
        """Return the dict, which a process opens once; nobody may write into it."""
        from multiprocessing import parent_process

        # Processes of Spark and Ray name no parent, but are others than where it was made.
        if parent_process() is not None or self._made_in != (platform.node(), os.getpid()):
            _limit_threads()
        if (d := _opened.get(self._key)) is not None:  # without waiting for who opens another
            return d
        with _opening:
            if (d := _opened.get(self._key)) is None:
                d = self._load()
                for older in [key for key in _opened if key[0] == self.path]:
                    del _opened[older]
                _opened[self._key] = d
            return d

    def _load(self) -> remote.AnyDict:
        if is_address(self.path):
            return remote.connect(self.path, embedding=self.embedding)
        try:
            if digest_of(self.path) == self._key[1]:  # before another file is trusted
                d: FuzzyDict[Any] = FuzzyDict.load(
                    self.path, embedding=self.embedding, mapped=True, trust=self.trust
                )
                if digest_of(self.path) == self._key[1]:  # still
                    return d
        except FileNotFoundError as error:
            raise FileNotFoundError(
                errno.ENOENT,
                f"each process opens this file of the dict, and on {platform.node()} there is none "
                f"of this name; put it, or the folder to write to, where every host finds it",
                self.path,
            ) from error
        raise OptionError(
            f"path: {self.path} on {platform.node()} is not the file that the Matcher was made "
            f"with; it was saved again, or is another one: make the Matcher again, and copy "
            f"the file to every host that has one of its own"
        )


# ---- what a process keeps ---------------------------------------------------------------------

#: The dicts that this process has opened, by path, digest of the file and of the embedding.
_opened: dict[tuple[str, str, str], remote.AnyDict] = {}
atexit.register(_opened.clear)  # while connections can be closed
_opening = RLock()


@cache
def _limit_threads() -> None:
    """Compute with one thread from now on, for there are other processes that compute, too."""
    from threadpoolctl import threadpool_limits

    use_threads(1)
    threadpool_limits(1)


def _after_fork() -> None:
    global _opening
    _opening = RLock()  # the thread that held it is gone
    _limit_threads.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# ---- texts for several processes ---------------------------------------------------------------


@contextmanager
def answering(
    matcher: Ask[T], *, jobs: int | None = None, scheduler: str | None = None
) -> Iterator[Ask[T]]:
    """Give a function that lets other processes answer texts as ``matcher`` does.

    ``matcher`` answers a list of texts by a list of as many, and is pickled for other processes:
    ``jobs`` of this machine, or the workers of ``scheduler``, the address of a Dask scheduler, or
    "local" for a cluster of ``jobs`` workers. Processes of this machine start anew (``spawn``),
    each with one thread; a script starts them below ``if __name__ == "__main__":``. By default
    this process answers.

    Raises, here or in the function:
        OptionError: ``jobs`` is no number from 1 on; or was given with the scheduler of a cluster.
        WorkerError: a process ended before it answered; or the scheduler cannot be reached.
        MissingExtraError: Dask is not installed (extra ``dask``).
    """
    jobs = None if jobs is None else whole_number("jobs", jobs)
    if jobs is not None and scheduler not in (None, LOCAL):
        raise OptionError(
            f"jobs: the cluster of {quoted(scheduler)} has its own number of workers; leave it out"
        )
    if scheduler is not None:
        with cluster(scheduler, jobs) as client:
            yield partial(ask_workers, client, matcher)
    elif jobs is None or jobs == 1:
        yield matcher
    else:
        with _processes(matcher, jobs) as ask:
            yield ask


@contextmanager
def _processes(matcher: Ask[T], jobs: int) -> Iterator[Ask[T]]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # Not by pool.map: at an error it cancels the chunks that are left, and a pool whose processes
    # end before it has dropped these fails on them.
    def ask(texts: list[str]) -> list[T]:
        try:
            with _holding_ctrl_c():  # from the first moment of a process
                asked = [pool.submit(_answer, chunk) for chunk in chunks_of(texts, jobs)]
            return [*chain.from_iterable(future.result() for future in asked)]
        except BrokenProcessPool as error:
            raise WorkerError(
                f"a process ended while it looked texts up: {error}; if the memory is full, start "
                f"again with fewer jobs"
            ) from error

    context = get_context("spawn")
    at_end, end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, context, _begin, (matcher, at_end))
    try:
        yield ask
    finally:
        end.close()  # so that the processes end at once
        pool.shutdown(cancel_futures=True)
        at_end.close()


@contextmanager
def _holding_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C wait until the block ends, and never reach a process that is started in it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # when this starts its process, it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_matcher: Any = None  # of one of the `_processes`


def _begin(matcher: Any, at_end: Connection) -> None:
    """Answer until the run, or the system if its process is gone, closes the connection."""
    global _matcher
    _matcher = matcher
    _limit_threads()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it was not held

    def end() -> None:
        with suppress(EOFError, OSError):
            at_end.recv()
        signal.raise_signal(signal.SIGTERM)

    Thread(target=end, daemon=True).start()


def _answer(texts: list[str]) -> Any:
    try:
        return _matcher(texts)
    except (FuzzyDictError, FileNotFoundError):
        raise
    except Exception as error:  # which another process may be unable to make again
        raise WorkerError(f"{type(error).__name__}: {error}") from None
