"""What Dask does: its workers look texts up, and its columns and frames are matched and joined.

A call on a column or frame looks its distinct texts up at once: on the workers if there is a
client, otherwise in this process. Only those of each partition travel. The rest is lazy.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.errors import (
    ArgumentTypeError,
    FuzzyDictError,
    OptionError,
    WorkerError,
    needing,
    quoted,
)
from fuzzydict.mapping import FuzzyDict
from fuzzydict.results.answers import Match
from fuzzydict.results.columns import LAZY, Found, as_column, find_each, match_column, texts_of

if TYPE_CHECKING:
    from distributed import Client


T = TypeVar("T")
#: Answers a list of texts by a list of as many, in another process as well.
Ask = Callable[[list[str]], list[T]]
#: The ``scheduler`` that stands for a cluster of Dask on this machine.
LOCAL = "local"
_MOST, _FEWEST = 1024, 16  # texts of a chunk
_CHUNKS = 4  # of each process, if there are few texts, so that all end at about the same time
_AHEAD = 16  # chunks for each worker that the scheduler is given at a time
_SECONDS = 10  # in which a scheduler answers


# ---- texts ------------------------------------------------------------------------------------


def chunks_of(texts: list[str], jobs: int) -> list[list[str]]:
    """Return texts some at a time, so that each of several processes gets some."""
    size = min(_MOST, max(_FEWEST, len(texts) // (_CHUNKS * jobs) + 1))
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def require_dask() -> None:
    """Raise MissingExtraError unless Dask is installed."""
    with needing(
        "a column of Dask needs distributed", "'dask[dataframe]' distributed pyarrow narwhals"
    ):
        import distributed  # noqa: F401


@contextmanager
def cluster(scheduler: str, jobs: int | None) -> Iterator[Client]:
    """Yield a client of a scheduler, or raise WorkerError; one that is started here is ended."""
    require_dask()
    from distributed import Client, LocalCluster

    if scheduler == LOCAL:
        with (
            LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=":0") as own,
            Client(own, set_as_default=False) as client,
        ):
            yield client
    else:
        try:
            client = Client(scheduler, timeout=_SECONDS, set_as_default=False)
        except Exception as error:  # whatever is made of what something else answers
            raise WorkerError(
                f"the Dask scheduler {quoted(scheduler)} cannot be reached: {error}; start one by "
                f"`dask scheduler`, and give the address that it tells"
            ) from error
        with client:
            yield client


def ask_workers(
    client: Client, answer: Callable[..., list[T]], texts: list[str], *more: Any
) -> list[T]:
    """Return the answers to texts, which the workers find; ``more`` is given to each."""
    workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    chunks, found = chunks_of(texts, workers), list[T]()
    for some in slices(len(chunks), _AHEAD * workers):
        given = [client.submit(answer, chunk, *more, pure=False) for chunk in chunks[some]]
        try:
            found += chain.from_iterable(client.gather(given))
        except (FuzzyDictError, OSError):
            raise
        except Exception as error:
            place = quoted(client.scheduler.address if client.scheduler else "the cluster")
            raise WorkerError(
                f"the workers of {place} failed: {type(error).__name__}: {error}; see their logs: "
                f"if the memory is full, let fewer run on each machine; if a package is missing, "
                f"install the same ones there as here"
            ) from error
        finally:
            client.cancel(given)
    return found


class _Sent:
    """A dict that travels as its file: a worker that gets it encodes no key again."""

    def __init__(self, file: bytes, embedding: Any) -> None:
        self._made_of = file, embedding
        with TemporaryDirectory() as folder:
            path = Path(folder, "sent.fuzzydict")
            path.write_bytes(file)
            self.d: FuzzyDict[Any] = FuzzyDict.load(path, embedding=embedding, trust=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Sent, self._made_of


def _answer(texts: list[str], sent: _Sent, score_cutoff: float | None) -> list[Match | None]:
    return list(sent.d.nearest(texts, default=None, score_cutoff=score_cutoff))


# ---- columns and frames -----------------------------------------------------------------------


def is_dask(data: Any) -> bool:
    """Tell whether something is a column or frame of Dask."""
    dd = sys.modules.get("dask.dataframe")
    return dd is not None and isinstance(data, (dd.Series, dd.Index, dd.DataFrame))


def match_dask(
    d: Any,
    column: Any,
    score_cutoff: float | None,
    *,
    one_to_one: bool,
    answer: Ask[Any] | None = None,
) -> Any:
    """Return a lazy frame with the partitions of a column: query, key, value and score.

    Workers ask ``answer``, a `Matcher`, in place of the dict; else see `match_column`.
    """
    from dask.dataframe import Index, Series

    if not isinstance(column, Series) or isinstance(column, Index):
        raise ArgumentTypeError(
            f"column: expected a Series of Dask, got {type(column).__name__}; choose one of its "
            f"columns: frame['name']; or make an Index one: index.to_series()"
        )
    distinct = column.drop_duplicates(split_out=1).compute()  # to pandas, a null among them
    looked_up = _looked_up(d, _texts(distinct), score_cutoff, answer)
    table = match_column(looked_up, distinct, score_cutoff, one_to_one=one_to_one)
    frame, rows = column.rename("query").to_frame(), table.drop(columns="query")
    return _lazy(frame, distinct, distinct, rows, "query", "left")


def join_dask(left: Any, column: Any, how: str, join_frame: Callable[..., Any]) -> Any:
    """Return the lazy join of a frame of Dask, with its partitions.

    ``join_frame`` joins a frame in memory, on its ``column`` of texts, as `fuzzydict.join` was
    asked to; ``how`` and ``find``, which is called as `find_each`, may be given.
    """
    from dask.dataframe.dispatch import make_meta

    def find(d: Any, texts: list[str | None], cutoff: float | None, *, one_to_one: bool) -> Found:
        return find_each(_looked_up(d, texts, cutoff), texts, cutoff, one_to_one=one_to_one)

    names = join_frame(make_meta(left)).columns  # or raise
    distinct = left[column].drop_duplicates(split_out=1).compute()  # as in `match_dask`
    kind = "left" if how == "left" else "inner"
    table = join_frame(distinct.to_frame(column), how=kind, find=find)
    added = table.iloc[:, 1:]
    if how != "anti":
        added = added.set_axis(names[len(left.columns) :], axis=1)
    return _lazy(left, distinct, table.iloc[:, 0], added, column, how)


# ---- what is computed at once -----------------------------------------------------------------


def _texts(column: Any) -> list[str | None]:
    return texts_of(as_column(column, "column"), "column")


def _looked_up(
    d: Any, texts: Sequence[str | None], score_cutoff: float | None, answer: Ask[Any] | None = None
) -> Any:
    """Return a dict, or if there is a cluster, whose workers match the texts, what was found."""
    distributed, client = sys.modules.get("distributed"), None
    if distributed is not None:
        with suppress(ValueError):  # there is none
            client = distributed.get_client()
    if client is None or (answer is None and type(d) is not FuzzyDict):
        return d  # it is asked here, also if it has reads of its own
    distinct = [text for text in dict.fromkeys(texts) if text is not None]
    if answer is not None:
        found = ask_workers(client, answer, distinct)
    else:
        with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
            keys, path = d.copy(), Path(folder, "sent.fuzzydict")
            keys.update(dict.fromkeys(d))  # without the values
            keys.save(path)
            # Dask warns if there are many keys; they are sent again if workers end.
            sent = client.submit(_Sent, path.read_bytes(), d.embedding, pure=False)
            del keys  # to save memory
        found = ask_workers(client, _answer, distinct, sent, score_cutoff)
        found = [match and match._replace(value=dict.__getitem__(d, match.key)) for match in found]
    match_of = dict(zip(distinct, found, strict=True))

    def nearest(some: list[str], **_: Any) -> list[Match | None]:
        return [match_of[text] for text in some]

    return SimpleNamespace(nearest=nearest, aliases=d.aliases, most_similar=d.most_similar)


# ---- what is lazy -----------------------------------------------------------------------------


def _lazy(frame: Any, distinct: Any, found: Any, rows: Any, column: Any, how: str) -> Any:
    """Return each partition with what is known of the texts in its column beside it.

    ``found`` are those of the ``distinct`` texts of which ``rows``, a frame of pandas, has a row.
    """
    from dask import delayed
    from dask.dataframe.dispatch import make_meta

    place_of = dict.fromkeys(_texts(distinct), -1)
    place_of.update((text, place) for place, text in enumerate(_texts(found)))
    known = place_of, rows
    meta = _beside(make_meta(frame), known, column, how)
    return frame.map_partitions(_beside, delayed(known, traverse=False), column, how, meta=meta)


def _beside(frame: Any, known: tuple[dict[str | None, int], Any], column: Any, how: str) -> Any:
    """Return a frame of pandas with the rows of the texts in its column beside it."""
    import pandas as pd

    (place_of, rows), texts = known, _texts(frame[column])
    if unknown := dict.fromkeys(texts).keys() - place_of.keys():
        raise OptionError(
            f"column: {quoted(next(iter(unknown)))} was not in it when its texts were looked "
            f"up; if what it is computed of changes, keep it by persist() first"
        )
    places = np.array([place_of[text] for text in texts], np.intp)
    if how == "anti":
        return frame[places < 0]
    frame, places = frame[places >= 0], places[places >= 0]
    return pd.concat([frame, rows.iloc[places].set_axis(frame.index)], axis=1)


LAZY["dask"] = match_dask
