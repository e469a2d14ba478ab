"""All scorers in one place, and their names.

A scorer gives each pair of a query and a key the logarithm of a weight, so that one softmax serves
them all. ``scorer(query, key)`` takes (..., L, E) and (..., S, E) to (..., L, S);
``scorer.forward(query, key)`` returns the way back as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, OptionError
from fuzzydict.nn.additive import Additive, Concat
from fuzzydict.nn.base import Backward, FunctionScorer, Gradients, Scorer
from fuzzydict.nn.kernels import Boxcar, Epanechnikov, Gaussian, Kernel, Triangular
from fuzzydict.nn.products import Bilinear, Cosine, Dot, ScaledDot

__all__ = [
    "KERNELS",
    "SCORERS",
    "Additive",
    "Backward",
    "Bilinear",
    "Boxcar",
    "Concat",
    "Cosine",
    "Dot",
    "Epanechnikov",
    "FunctionScorer",
    "Gaussian",
    "Gradients",
    "Kernel",
    "ScaledDot",
    "Scorer",
    "ScorerLike",
    "Triangular",
    "as_scorer",
]

#: What an argument ``scorer=`` takes.
ScorerLike: TypeAlias = Scorer | str | Callable[[Array, Array], Array]

#: The kernels by name; the width of one made by name is 1.
KERNELS: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "boxcar": Boxcar,
    "triangular": Triangular,
    "epanechnikov": Epanechnikov,
}

#: The scorers that need no arguments, by name.
SCORERS: dict[str, Callable[[], Scorer]] = {
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "cosine": Cosine,
    "additive": Additive,
    **KERNELS,
}


def as_scorer(scorer: ScorerLike) -> Scorer:
    """Return a scorer for a scorer, the name of one, or a function of queries and keys.

    Raises:
        OptionError: The name is not that of a scorer that needs no arguments.
        ArgumentTypeError: The argument is none of the three, or a class in place of an object.

    Example:
        >>> as_scorer("gaussian")
        Gaussian(width=1)
    """
    if isinstance(scorer, Scorer):
        return scorer
    if isinstance(scorer, str):
        if scorer in SCORERS:
            return SCORERS[scorer]()
        raise OptionError(
            f"scorer {scorer!r} is not known; the names are {', '.join(SCORERS)}, "
            f"and Bilinear(M) and Concat(W, w) are passed as objects"
        )
    if isinstance(scorer, type) or not callable(scorer):
        what = f"the class {scorer.__name__}" if isinstance(scorer, type) else repr(scorer)
        raise ArgumentTypeError(
            f"scorer must be a Scorer such as Dot(), its name, or a function of queries and keys; "
            f"got {what}"
        )
    return FunctionScorer(scorer)
