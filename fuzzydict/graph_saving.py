"""What an engine made of a dict's keys, in the dict's file, so that it need not be made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.search.backends.base import EXACT
from fuzzydict.search.neighbours import COSINE, DOT, Neighbours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fuzzydict._files import Unchecked
    from fuzzydict.search.key_index import KeyIndex

__all__ = ["GRAPHS", "Graph", "graph_arrays", "graph_of", "restore_graph"]

#: Names of arrays, by measure.
GRAPHS = {COSINE: "graph by cosine", DOT: "graph by dot"}
_LABELS = "graph labels"


class Graph(NamedTuple):
    """What an engine saved of S keys."""

    measure: str
    saved: Unchecked  # bytes
    labels: NDArray[np.int64]  # of each key that has a vector, and one of none, (S + 1,), rising


def graph_arrays(index: KeyIndex, engine: str) -> dict[str, NDArray[Any]]:
    """Return what an engine saves of the keys, by the names of arrays; of another one, nothing."""
    if index.neighbours is None or index.neighbours.engine != engine:
        return {}
    saved, labels = index.neighbours.save(index)
    return {GRAPHS[index.neighbours.measure]: saved, _LABELS: labels} if len(saved) else {}


def graph_of(
    arrays: dict[str, NDArray[Any]], unchecked: Mapping[str, Unchecked], options: Mapping[str, Any]
) -> Graph | None:
    """Take what `graph_arrays` returned out of a file's arrays, if it is there.

    Raises:
        ValueError: it is not of this form, or the dict has no such engine.
    """
    measures = [measure for measure, name in GRAPHS.items() if name in unchecked]
    if not measures:
        return None
    (measure,) = measures
    graph = Graph(measure, unchecked[GRAPHS[measure]], arrays.pop(_LABELS))
    if options["index"] == EXACT:
        raise ValueError("it has a graph, and its dict does without")
    saved = graph.saved.array
    if saved.dtype != np.uint8 or saved.ndim != 1 or graph.labels.dtype != np.int64:
        raise ValueError("its graph is not of bytes, or has labels that are no whole numbers")
    rising = (np.diff(graph.labels) > 0).all() and graph.labels.min(initial=0) >= 0
    if graph.labels.ndim != 1 or not rising:
        raise ValueError("the labels of its graph do not rise")
    return graph


def restore_graph(index: KeyIndex, engine: str, graph: Graph) -> None:
    """Let the engine of an index begin with what was saved of its keys."""
    # Copies, for what was read is mapped from a file, which may change or go.
    index.neighbours = Neighbours(engine, graph.measure)
    index.neighbours.restore(np.array(graph.saved.checked()), np.array(graph.labels))
