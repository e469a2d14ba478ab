"""The public names, which `fuzzydict` imports when one of them is asked for."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fuzzydict.embedding.word_vectors import Brown, WordVectors
from fuzzydict.errors import (
    ArgumentTypeError,
    DoubtfulPoolWarning,
    EmptyRowWarning,
    FileFormatError,
    FuzzyDictError,
    MissingCorpusError,
    MissingExtraError,
    NoMatchError,
    NotFittedError,
    OptionError,
    PoolingError,
    ReadOnlyError,
    ShapeError,
    StoreError,
    StoreWarning,
    UnknownOptionError,
    WorkerError,
)
from fuzzydict.frames.match import join, match
from fuzzydict.frames.workers import Matcher
from fuzzydict.mapping import FuzzyDict
from fuzzydict.nn.attention import attention
from fuzzydict.nn.kernel_regression import KernelRegression
from fuzzydict.nn.multihead import MultiHeadAttention
from fuzzydict.nn.scorers import (
    Additive,
    Bilinear,
    Boxcar,
    Concat,
    Cosine,
    Dot,
    Epanechnikov,
    Gaussian,
    ScaledDot,
    Triangular,
)
from fuzzydict.results.answers import Attention, Match
from fuzzydict.results.explanation import Explanation
from fuzzydict.stores.remote import RemoteDict, connect

if TYPE_CHECKING:
    from fuzzydict.frames.estimator import FuzzyKeyEncoder
    from fuzzydict.frames.shards import pool_shards

__all__ = ["Brown", "FuzzyDict", "Matcher", "WordVectors", "join", "match"]
__all__ += ["RemoteDict", "connect", "pool_shards"]
__all__ += ["Attention", "Explanation", "Match"]
__all__ += ["KernelRegression", "MultiHeadAttention", "attention"]
__all__ += ["Additive", "Bilinear", "Concat", "Cosine", "Dot", "ScaledDot"]
__all__ += ["Boxcar", "Epanechnikov", "Gaussian", "Triangular"]
__all__ += ["ArgumentTypeError", "FileFormatError", "FuzzyDictError", "MissingCorpusError"]
__all__ += ["MissingExtraError", "NoMatchError", "NotFittedError", "OptionError", "PoolingError"]
__all__ += ["ReadOnlyError", "ShapeError", "StoreError", "UnknownOptionError", "WorkerError"]
__all__ += ["DoubtfulPoolWarning", "EmptyRowWarning", "StoreWarning"]
if find_spec("sklearn"):  # otherwise `from fuzzydict import *` would raise MissingExtraError
    __all__ += ["FuzzyKeyEncoder"]

#: What most do not use, by the modules of `frames` that it is imported from when it is asked for.
_LATER = {"FuzzyKeyEncoder": "estimator", "pool_shards": "shards"}
NAMES = {"__all__", *__all__, *_LATER}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"fuzzydict.frames.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
