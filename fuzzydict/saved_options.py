"""A dict's options as JSON and arrays, and back: a scorer by its name, projections by theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, quoted
from fuzzydict.nn import scorers
from fuzzydict.options import OPTIONS, check_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fuzzydict.codec import ValueReader, ValueWriter

__all__ = ["read_options", "take_learned", "written_options"]

_LEARNED = "projections "  # before the names of the arrays that projections are made of
_ENCODED = ("scorer", "projections")  # options that are no plain value
_NOT_SAVED = ("FunctionScorer", "Kernel", "Scorer")


def written_options(
    writer: ValueWriter, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return options as JSON, and the arrays that they need.

    Raises:
        ArgumentTypeError: the scorer is a function.
    """
    plain = {name: _as_json(value) for name, value in options.items() if name not in _ENCODED}
    projections = options["projections"]
    learned = projections.arrays() if isinstance(projections, Projections) else {}
    return {
        **plain,
        "scorer": _encoded_scorer(writer, options["scorer"]),
        "projections": _encoded_projections(projections),
    }, {f"{_LEARNED}{name}": array for name, array in learned.items()}


def _as_json(option: Any) -> Any:
    """Return an option as JSON takes it: a number of any type as a plain one."""
    return option if option is None or type(option) in (str, int, float) else float(option)


def take_learned(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Take those of projections out of a file's arrays."""
    names = [name for name in arrays if name.startswith(_LEARNED)]
    return {name.removeprefix(_LEARNED): arrays.pop(name) for name in names}


def read_options(
    reader: ValueReader, saved: dict[str, Any], learned: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """Return the options that `written_options` wrote.

    Raises:
        LookupError, TypeError, ValueError: it wrote no such thing.
    """
    options = {
        **saved,
        "scorer": _scorer(reader, saved["scorer"]),
        "projections": _projections(saved["projections"], learned),
    }
    if options.keys() != OPTIONS - {"embedding"}:
        raise ValueError("its options are not those of a dict")
    for name, value in options.items():
        check_option(name, value)
    return options


def _encoded_projections(projections: Any) -> Any:
    """Return projections as their name, or as that of the embedding that they are for."""
    if isinstance(projections, Projections):
        return [projections.embedding]
    return projections


def _projections(saved: Any, learned: dict[str, NDArray[Any]]) -> Any:
    if not isinstance(saved, list):
        if learned:
            raise ValueError("it holds projections that are not its dict's")
        return saved
    (embedding,) = saved
    if not isinstance(embedding, str | None):
        raise TypeError("its projections name no embedding")
    # Copies, for what was read is mapped from a file, which may change or go.
    copies = {name: np.array(array) for name, array in learned.items()}
    return Projections.from_arrays(copies, embedding=embedding)


def _encoded_scorer(writer: ValueWriter, scorer: Any) -> Any:
    """Return a scorer as its name, or as the name of its class and its arguments."""
    if scorer is None or isinstance(scorer, str):
        return scorer
    kind = type(scorer).__name__
    if getattr(scorers, kind, None) is not type(scorer) or kind in _NOT_SAVED:
        raise ArgumentTypeError(
            f"scorer: {quoted(scorer)} cannot be saved, for a file holds no functions; "
            f"set d.scorer = None before saving, and again after loading"
        )
    arguments = dict(scorer.parameters)
    if isinstance(scorer, scorers.ScaledDot):
        arguments["scale"] = scorer.scale
    return [kind, writer.encode(arguments)]


def _scorer(reader: ValueReader, saved: Any) -> Any:
    if saved is None or isinstance(saved, str):
        return saved
    kind, arguments = saved
    made = getattr(scorers, kind) if kind in scorers.__all__ else None
    if not isinstance(made, type) or not issubclass(made, scorers.Scorer) or kind in _NOT_SAVED:
        raise ValueError(f"it names a scorer {quoted(kind)}, which is none of this package's")
    return made(**reader.decode(arguments))
