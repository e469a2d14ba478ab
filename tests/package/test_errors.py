"""The error tree: as drawn, each error raised by a real misuse, each message of use."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fuzzydict
from fuzzydict import FuzzyDict, KernelRegression, attention, errors
from tests.support.terminal import HOSTILE, is_only_shown, obeyed

CAR = {"color": "black", "brand": "Porsche"}
AXES = {"red": [1.0, 0.0], "blue": [0.0, 1.0]}


def loaded(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    return FuzzyDict.load(path)


def load_with_another_embedding(path: Path) -> None:
    FuzzyDict(CAR, embedding=AXES).save(path)
    FuzzyDict.load(path, embedding={"red": [1.0, 1.0]})


def set_mode(_: Path) -> None:
    FuzzyDict(CAR).mode = "pool"


# Each: its class; a misuse, given a path; what came; what was expected, or is so; what to do.
MISUSES: list[tuple[type[Exception], Callable[[Path], Any], str, str, str]] = [
    (
        errors.NoMatchError,
        lambda _: FuzzyDict(CAR)["qwzzt"],
        "'qwzzt'",
        r"the nearest is '(color|brand)' with score 0\.\d{3}, below the cutoff 0\.\d{3}",
        "lower score_cutoff, or see most_similar",
    ),
    (errors.NoMatchError, lambda _: FuzzyDict(CAR)[5], "5", "only a text", "equals"),
    (errors.NoMatchError, lambda _: FuzzyDict(CAR)["?!"], "'\\?!'", "no letters", "equal key"),
    (errors.NoMatchError, lambda _: FuzzyDict()["red"], "'red'", "no key of the dict", "a text"),
    (
        errors.NoMatchError,
        lambda _: FuzzyDict(CAR).attend("red", attn_mask=[False, False]),
        "'red'",
        "every key is masked",
        "loosen attn_mask, or widen the scorer",
    ),
    (
        errors.OptionError,
        lambda _: FuzzyDict(CAR, mode="nearst"),
        "'nearst'",
        "expected one of 'nearest', 'pool'",
        "mode",
    ),
    (
        errors.OptionError,
        lambda _: FuzzyDict(CAR, scorer="euclid"),
        "'euclid'",
        "the names are spelling, dot, scaled_dot, cosine",
        "passed as objects",
    ),
    (
        errors.OptionError,
        lambda _: FuzzyDict(CAR, index="faiss"),
        "'faiss'",
        "expected one of 'exact', 'usearch'",
        "index",
    ),
    (
        errors.OptionError,
        lambda _: FuzzyDict(CAR, scorer="gaussian", index="usearch").nearest("hue"),
        "the scorer is 'gaussian'",
        "'cosine', 'dot' and 'scaled_dot'",
        "set d.index = 'exact'",
    ),
    (
        errors.OptionError,
        lambda _: FuzzyDict(CAR, temperature=-1),
        "-1",
        "a finite number above 0",
        "temperature",
    ),
    (
        errors.OptionError,
        lambda _: FuzzyDict(CAR, score_cutoff=float("nan")),
        "got nan, which is NaN",
        "a number, None, or inf",
        "score_cutoff",
    ),
    (
        errors.OptionError,
        lambda path: load_with_another_embedding(path),
        r"loaded with word vectors \w{16} \(1 words",
        r"saved with word vectors \w{16} \(2 words",
        "open it with the first",
    ),
    (
        errors.ArgumentTypeError,
        lambda _: FuzzyDict(CAR, embedding="glove"),
        "got 'glove'",
        "expected None, 'english', WordVectors, gensim KeyedVectors, a mapping",
        "embedding",
    ),
    (
        errors.ArgumentTypeError,
        lambda _: FuzzyDict(CAR).most_similar("red", topn="3"),  # type: ignore[arg-type]
        "got '3'",
        "a whole number of 0 or more, or None",
        "topn",
    ),
    (
        errors.ArgumentTypeError,
        lambda path: FuzzyDict({"a": 1, "b": {1}}).save(path),
        "'b' cannot be saved: set is none",
        "JSON's types, tuples and numpy arrays",
        "convert it, or leave it out",
    ),
    (
        errors.UnknownOptionError,
        lambda _: FuzzyDict(CAR, cutoff=0.5),  # type: ignore[arg-type]
        "'cutoff'",
        "the options are mode, embedding, scorer",
        r"items come as a dict: FuzzyDict\(\{'cutoff': \.\.\.\}\)",
    ),
    (
        errors.UnknownOptionError,
        lambda _: setattr(FuzzyDict(CAR), "treshold", 0.5),
        "'treshold'",
        "the options are",
        "temperature, score_cutoff",
    ),
    (errors.ReadOnlyError, set_mode, "got 'pool'", "fixed", r"FuzzyDict\(d, mode='pool'\)"),
    (
        errors.ShapeError,
        lambda _: FuzzyDict(CAR).attend("red", attn_mask=[True]),
        r"got shape \(1,\)",
        "a bool for each of the 2 keys",
        "attn_mask",
    ),
    (
        errors.ShapeError,
        lambda _: FuzzyDict(CAR, embedding=lambda _: np.ones(3))["red"],
        r"gave shape \(3,\)",
        r"must give an array \(n, E\)",
        "embedding",
    ),
    (
        errors.ShapeError,
        lambda _: FuzzyDict(CAR, embedding=lambda t: np.ones((len(t), len(t))))["red"],
        "vectors of 1, and of 2 before",
        "vectors of one length",
        "set embedding again",
    ),
    (
        errors.PoolingError,
        lambda _: FuzzyDict({"red": 1.0, "blue": {}}).pool("red"),
        r"the value of 'blue' .* got dict \{\}",
        "expected a number, an array, or a list or tuple",
        "or only texts",
    ),
    (
        errors.PoolingError,
        lambda _: FuzzyDict({"red": (1, 2), "blue": (1,)}).pool("red"),
        r"'blue' has shape \(1,\)",
        r"that of 'red' \(2,\)",
        "one shape",
    ),
    (
        errors.PoolingError,
        lambda _: FuzzyDict({"red": 1.0, "blue": np.nan}).pool("red"),
        "'blue' has NaN",
        "whatever its weight",
        "replace it",
    ),
    (
        errors.FileFormatError,
        lambda path: loaded(path, b"PK\3\4"),
        "not a fuzzydict file",
        "expected a file that fuzzydict has written",
        "file",
    ),
    (
        errors.FileFormatError,
        lambda path: loaded(path, b"fuzzydct" + bytes([9] + [0] * 15)),
        "format version 9",
        "reads version 2",
        "make the file again, or install the release that wrote it",
    ),
    (
        errors.FileFormatError,
        lambda path: loaded(path, b"fuzzydct" + bytes([2] + [0] * 14 + [1])),
        "is damaged: its header",
        "match its checksum",
        "restore it from a copy",
    ),
    (
        errors.NotFittedError,
        lambda _: KernelRegression().predict([[1.0]]),
        "KernelRegression",
        "has seen no examples yet",
        r"call fit\(X, y\) first",
    ),
]


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda m: m[0].__name__)
def test_each_error_says_what_came_what_was_expected_and_what_to_do(
    misuse: Any, tmp_path: Path
) -> None:
    kind, act, *told = misuse
    with pytest.raises(errors.FuzzyDictError) as raised:
        act(tmp_path / "file")
    assert type(raised.value) is kind
    for part in told:
        assert re.search(part, str(raised.value)), f"{part!r} is not in {raised.value}"
    assert str(raised.value)[-1] not in ".\n"


def test_an_extra_that_is_missing_is_told_with_the_command_that_gets_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(errors.MissingExtraError, match=r"matplotlib.*pip install 'fuzzydict\[plot"):
        FuzzyDict(CAR).attend("red").plot()


def test_a_row_with_nothing_to_attend_to_is_warned_of() -> None:
    one = np.ones((1, 2))
    with pytest.warns(errors.EmptyRowWarning, match="nothing to attend to.* 0$"):
        out = attention(one, one, one, attn_mask=np.zeros((1, 1), bool))
    assert not np.asarray(out).any()


# ---- the tree ------------------------------------------------------------------------------


def drawn() -> dict[str, set[str]]:
    """Return each class of the tree in the docstring, and the built-in kinds drawn beside it."""
    tree: dict[str, set[str]] = {}
    name = ""
    for line in str(errors.__doc__).splitlines():
        words = line.replace("│", " ").split()
        if line.startswith(("├──", "└──")):
            name = words[1]
            tree[name] = {words[2]}
        elif name and words and words[0].endswith("Error"):
            tree[name].add(words[0])
    return tree


def test_the_tree_is_that_of_the_classes() -> None:
    classes = {
        name: cls
        for name, cls in vars(errors).items()
        if isinstance(cls, type) and issubclass(cls, errors.FuzzyDictError)
    }
    assert drawn().keys() | {"FuzzyDictError"} == classes.keys()
    for name, kinds in drawn().items():
        bases = {base.__name__ for base in classes[name].__bases__}
        assert bases == {"FuzzyDictError", *kinds}


def test_every_error_is_public_and_raised_by_a_test_above() -> None:
    public = {*drawn(), "FuzzyDictError", "EmptyRowWarning", "DoubtfulPoolWarning"}
    assert public <= set(fuzzydict.__all__)
    elsewhere = {"StoreError", "WorkerError"}  # in tests/stores, tests/frames
    tested = {kind.__name__ for kind, *_ in MISUSES} | {"MissingCorpusError", "MissingExtraError"}
    assert tested | elsewhere == drawn().keys()


@pytest.mark.parametrize("name", sorted(drawn()))
def test_every_error_can_be_copied_and_pickled(name: str) -> None:
    kind = getattr(errors, name)
    error = kind("query", "told") if kind is errors.NoMatchError else kind("told")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert (str(again), again.args) == (str(error), error.args)
    assert "told" in str(error)


# ---- what a terminal obeys ------------------------------------------------------------------


def test_every_character_that_a_terminal_obeys_is_escaped_and_no_other() -> None:
    for code in (*range(0x3000), *range(0xD700, 0xE100), 0x1F697):
        shown = errors.printable(chr(code))
        assert (shown != chr(code)) == bool(obeyed(chr(code)))
        assert shown.isascii() or shown == chr(code)


@pytest.mark.parametrize(
    "text",
    [
        lambda _: str(errors.FileFormatError(f"{HOSTILE}: is damaged")),
        lambda d: str(raised(d, "qwzzt")),
        lambda d: str(raised(d, "\x1bqwzzt\n\u202e")),
        lambda d: str(d.attend("key")),
        lambda d: repr(d.attend("key")),
        lambda d: str(d.explain(f"key {HOSTILE}")),
        lambda d: repr(d.explain("key")),
        lambda d: repr(d.nearest("key")),
        lambda d: repr(d.most_similar("key")),
        lambda d: str(d.fit({f"lock {HOSTILE}": max(d), "qwzzt": None}, validation=0, epochs=1)),
    ],
)
def test_what_is_printed_of_a_dict_has_nothing_that_a_terminal_obeys(
    text: Callable[[FuzzyDict[Any]], str],
) -> None:
    d = FuzzyDict({f"key {HOSTILE}": HOSTILE, f"{HOSTILE} door": HOSTILE})
    assert is_only_shown(text(d))


def raised(d: FuzzyDict[Any], query: str) -> errors.NoMatchError:
    with pytest.raises(errors.NoMatchError) as caught:
        d[query]
    return caught.value


def test_an_error_is_one_line() -> None:
    assert str(errors.OptionError("two\r\nlines\x85 and more")) == "two lines  and more"
