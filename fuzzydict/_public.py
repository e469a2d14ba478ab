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
from fuzzydict.frames.shards import pool_shards
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

__all__ = [
    "Additive",
    "ArgumentTypeError",
    "Attention",
    "Bilinear",
    "Boxcar",
    "Brown",
    "Concat",
    "Cosine",
    "Dot",
    "DoubtfulPoolWarning",
    "EmptyRowWarning",
    "Epanechnikov",
    "Explanation",
    "FileFormatError",
    "FuzzyDict",
    "FuzzyDictError",
    "Gaussian",
    "KernelRegression",
    "Match",
    "Matcher",
    "MissingCorpusError",
    "MissingExtraError",
    "MultiHeadAttention",
    "NoMatchError",
    "NotFittedError",
    "OptionError",
    "PoolingError",
    "ReadOnlyError",
    "RemoteDict",
    "ScaledDot",
    "ShapeError",
    "StoreError",
    "StoreWarning",
    "Triangular",
    "UnknownOptionError",
    "WordVectors",
    "WorkerError",
    "attention",
    "connect",
    "join",
    "match",
    "pool_shards",
]
if find_spec("sklearn"):  # otherwise `from fuzzydict import *` would raise MissingExtraError
    __all__ += ["FuzzyKeyEncoder"]

NAMES = {*__all__, "FuzzyKeyEncoder"}


def __getattr__(name: str) -> Any:
    if name == "FuzzyKeyEncoder":  # which needs scikit-learn
        return import_module("fuzzydict.frames.estimator").FuzzyKeyEncoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
