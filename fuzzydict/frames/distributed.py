"""Looking texts up in several processes: of this machine, or of a Dask cluster.

`look_up` cuts distinct texts into chunks, and yields the answers as they come. What it asks is a
`Matcher`, or anything else that answers a list of texts by a list and can be pickled.
"""

from __future__ import annotations

import pickle
import signal
from collections.abc import Sized
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from fuzzydict._arrays import whole_number
from fuzzydict.errors import FuzzyDictError, MissingExtraError, OptionError, WorkerError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from multiprocessing.connection import Connection

    from distributed import Client


T = TypeVar("T")
#: Texts, and what was answered to each.
Answered: TypeAlias = "tuple[list[str], list[T]]"
#: The ``scheduler`` that stands for a cluster of Dask on this machine.
LOCAL = "local"
_MOST = 1024  # texts of a chunk
_CHUNKS = 8  # chunks of a process, if there are few texts, so that all end at about the same time
_TRIES = 3  # how often a chunk is given out, if the process that had it ended
_AHEAD = 4  # chunks that each worker of Dask has been given


def look_up(
    matcher: Callable[[list[str]], list[T]],
    texts: Iterable[str],
    *,
    jobs: int | None = None,
    scheduler: str | Client | None = None,
    total: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Generator[Answered[T]]:
    """Yield the answers to texts, chunk by chunk, in any order; each text is looked up once.

    By default this process looks them up. Other processes start anew (``spawn``), each with one
    thread; a script starts them below ``if __name__ == "__main__":``. A chunk whose process ended
    is given to another one, three times at most.

    Args:
        matcher: answers a list of texts by a list of as many: a `Matcher`, as a rule.
        texts: each comes once. They are read as they are needed.
        jobs: how many processes of this machine look them up; by default this one alone.
        scheduler: the address of a Dask scheduler, or a client of one; or "local" for a Dask
            cluster on this machine with ``jobs`` workers (by default as many as processors).
        total: how many texts there are; by default their length, if they have one.
        progress: called with the number of texts looked up, and how many there are.

    Yields:
        The texts of a chunk, and the answer to each.

    Raises:
        OptionError: ``jobs`` is no number from 1 on; or was given with the scheduler of a cluster.
        WorkerError: a process ended before it answered, too often; or the scheduler cannot be
            reached.
        MissingExtraError: Dask is not installed (extra ``dask``).
        FuzzyDictError, OSError: as the matcher raises them.

    >>> def lengths(texts: list[str]) -> list[int]:
    ...     return [len(text) for text in texts]
    >>> list(look_up(lengths, ["colour", "brnd"]))
    [(['colour', 'brnd'], [6, 4])]
    """
    jobs = None if jobs is None else whole_number("jobs", jobs, 1)
    if total is None:
        total = len(texts) if isinstance(texts, Sized) else 0
    answered = _answered(matcher, texts, jobs, scheduler, total)
    done = 0
    try:
        for some, found in answered:
            yield some, found
            done += len(some)
            progress(done, max(done, total))
    finally:
        answered.close()


def _answered(
    matcher: Callable[[list[str]], list[T]],
    texts: Iterable[str],
    jobs: int | None,
    scheduler: str | Client | None,
    total: int,
) -> Generator[Answered[T]]:
    if scheduler is not None:
        if jobs is not None and scheduler != LOCAL:
            raise OptionError(
                f"jobs: the cluster of {quoted(scheduler)} has its own number of workers; leave "
                f"it out"
            )
        with _client(scheduler, jobs) as client:
            workers = len(client.scheduler_info(n_workers=-1)["workers"])
            chunks = _chunks(texts, _chunk_size(total, workers))
            yield from _by_dask(client, matcher, chunks, _AHEAD * max(1, workers))
    elif jobs is None or jobs == 1:
        for chunk in _chunks(texts, _MOST):
            yield chunk, matcher(chunk)
    else:
        yield from _by_processes(matcher, _chunks(texts, _chunk_size(total, jobs)), jobs)


def _chunk_size(total: int, jobs: int) -> int:
    return min(_MOST, total // (_CHUNKS * max(1, jobs)) + 1) if total else _MOST


def _chunks(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(texts)
    while chunk := list(islice(rest, size)):
        yield chunk


# ---- processes of this machine ----------------------------------------------------------------


class _Chunk(NamedTuple):
    """Texts, and how many processes that had them have ended."""

    texts: list[str]
    failed: int = 0


class _Worker:
    """A process that answers one chunk after the other."""

    def __init__(self, matcher: Callable[[list[str]], Any]) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, matcher), daemon=True)
        with _holding_ctrl_c():  # from the first moment of the process, which this one ends
            self._process.start()
        theirs.close()  # so that the connection ends when the process does
        self.chunk: _Chunk | None = None

    def give(self, chunk: _Chunk) -> None:
        self.chunk = chunk
        with suppress(OSError):  # the process has ended, as `answer` will find
            self.connection.send(chunk.texts)

    def answer(self) -> tuple[Any, Exception | None]:
        """Return the answers to the chunk, or the error; EOFError if the process ended."""
        try:
            answer: tuple[Any, Exception | None] = self.connection.recv()
        except OSError as error:
            raise EOFError from error
        return answer

    def stop(self) -> None:
        """Let the process end by itself, unless it is at work; `end` waits for it."""
        self.connection.close()
        if self.chunk is not None:
            self._process.kill()

    def end(self) -> int | None:
        """End the process; return its exit code."""
        self.connection.close()
        self._process.join(0.5)
        self._process.kill()
        self._process.join()
        return self._process.exitcode


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


def _serve(connection: Connection, matcher: Callable[[list[str]], Any]) -> None:
    """Answer chunks until the other end is closed: by `_Worker.end`, or because it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it was not held
    with suppress(EOFError, OSError):
        while True:
            texts = connection.recv()
            try:
                answer = pickle.dumps((matcher(texts), None))
            except Exception as error:  # is raised where the texts are from
                answer = pickle.dumps((None, _picklable(error)))
            connection.send_bytes(answer)


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:  # whatever its methods raise
        return WorkerError(f"{type(error).__name__}: {error}")
    return error


def _by_processes(
    matcher: Callable[[list[str]], list[T]], chunks: Iterator[list[str]], jobs: int
) -> Generator[Answered[T]]:
    from multiprocessing.connection import wait

    workers: list[_Worker] = []
    again: list[_Chunk] = []

    def next_chunk() -> _Chunk | None:
        if again:
            return again.pop()
        texts = next(chunks, None)
        return None if texts is None else _Chunk(texts)

    try:
        while True:
            for worker in [one for one in workers if one.chunk is None]:
                if chunk := next_chunk():
                    worker.give(chunk)
            while len(workers) < jobs and (chunk := next_chunk()):
                workers.append(_Worker(matcher))
                workers[-1].give(chunk)
            busy = [(worker, worker.chunk) for worker in workers if worker.chunk]
            if not busy:
                return
            ready = wait([worker.connection for worker, _ in busy])
            for worker, chunk in [one for one in busy if one[0].connection in ready]:
                try:
                    found, error = worker.answer()
                except EOFError:
                    workers.remove(worker)
                    again.append(_failed(chunk, worker.end()))
                    continue
                worker.chunk = None
                if error is not None:
                    raise error
                yield chunk.texts, found
    finally:
        for worker in workers:
            worker.stop()  # all at once
        for worker in workers:
            worker.end()


def _failed(chunk: _Chunk, code: int | None) -> _Chunk:
    """Return the chunk as it is given out again, after the process that had it ended.

    Raises:
        WorkerError: it was given out often enough.
    """
    if chunk.failed + 1 == _TRIES:
        raise WorkerError(
            f"{_TRIES} processes ended while they looked up the same {len(chunk.texts)} texts, the "
            f"first {quoted(chunk.texts[0])} (exit code {code}); if the memory is full, start with "
            f"fewer jobs"
        )
    return chunk._replace(failed=chunk.failed + 1)


# ---- Dask -------------------------------------------------------------------------------------


def require_dask() -> None:
    """Raise MissingExtraError unless Dask is installed."""
    if find_spec("distributed") is None:
        raise MissingExtraError(
            "Dask is not installed; install it with: pip install 'fuzzydict[dask]'"
        )


@contextmanager
def _client(scheduler: str | Client, jobs: int | None) -> Iterator[Client]:
    """Yield a client of a scheduler; one that is started here is ended."""
    require_dask()
    from distributed import Client, LocalCluster

    if isinstance(scheduler, Client):
        yield scheduler
    elif scheduler == LOCAL:
        with (
            LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
    else:
        try:
            client = Client(scheduler, set_as_default=False)
        except (OSError, ValueError) as error:
            raise WorkerError(
                f"the Dask scheduler {quoted(scheduler)} cannot be reached: {error}; start one by "
                f"`dask scheduler`, and give the address that it tells"
            ) from error
        with client:
            yield client


def _by_dask(
    client: Client,
    matcher: Callable[[list[str]], list[T]],
    chunks: Iterator[list[str]],
    ahead: int,
) -> Generator[Answered[T]]:
    from distributed import as_completed

    given: dict[Any, list[str]] = {}  # the texts of each future

    def give(count: int) -> list[Any]:
        some = [
            (client.submit(matcher, texts, pure=False), texts) for texts in islice(chunks, count)
        ]
        given.update(some)
        return [future for future, _ in some]

    # Results are fetched at once, before the worker that has them may end.
    done = as_completed(give(ahead), loop=client.loop, with_results=True, raise_errors=False)
    try:
        for future, found in done:
            if future.status != "finished":
                error: Exception = found[1] if isinstance(found, tuple) else found
                raise _error_of(client, error)
            texts = given.pop(future)
            done.update(give(1))
            yield texts, found
    finally:
        client.cancel(list(given))


def _error_of(client: Client, error: Exception) -> Exception:
    """Return the error of a worker, or one that says what to do about an error of Dask."""
    from distributed import KilledWorker

    place = quoted(client.scheduler.address if client.scheduler else "the cluster")
    if isinstance(error, FuzzyDictError | OSError):
        return error
    if isinstance(error, KilledWorker):
        return WorkerError(
            f"several workers of {place} ended while they looked up the same texts; see their "
            f"logs: if the memory is full, let fewer run on each machine"
        )
    if isinstance(error, ImportError):
        return WorkerError(
            f"the workers of {place} do not have what they need: {error}; install the same "
            f"packages there as here"
        )
    return WorkerError(f"the workers of {place} failed: {type(error).__name__}: {error}")
