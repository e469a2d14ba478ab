"""The error tree: as drawn, each error raised by a real misuse, each message of use."""

from __future__ import annotations

import copy
import pickle
import sys
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


def loaded(path: Path, content: bytes | None, **options: Any) -> Any:
    FuzzyDict(CAR, embedding=AXES).save(path) if content is None else path.write_bytes(content)
    return FuzzyDict.load(path, **options)


def car(**options: Any) -> Any:
    return FuzzyDict(CAR, **options)


#: By class, a misuse, given a path, and patterns in the order of the message: what came, what was
#: expected or is so, and what to do, with "..." between. Those of options are in tests/dict.
MISUSES: dict[type[Exception], dict[str, Callable[[Path], Any]]] = {
    errors.NoMatchError: {
        r"'qwzzt'...the nearest is '(color|brand)' with score 0\.\d{3}, below the cutoff 0\.\d{3}"
        "...lower score_cutoff, or see most_similar": lambda _: car()["qwzzt"],
        "'red'...every key is masked...loosen attn_mask, or widen the scorer": (
            lambda _: car().attend("red", attn_mask=[False, False])
        ),
    },
    errors.OptionError: {
        r"saved with word vectors \w{16} \(2 words...loaded with word vectors \w{16} \(1 words"
        "...open it with the first": lambda path: loaded(path, None, embedding={"red": [1.0, 1.0]}),
    },
    errors.ArgumentTypeError: {
        "'b' cannot be saved: set is none...JSON's types, tuples and numpy arrays"
        "...convert it, or leave it out": lambda path: FuzzyDict({"a": 1, "b": {1}}).save(path),
    },
    errors.UnknownOptionError: {
        "'cutoff'...the options are mode, embedding, scorer"
        r"...items come as a dict: FuzzyDict\(\{'cutoff': \.\.\.\}\)": lambda _: car(cutoff=0.5),
    },
    errors.ReadOnlyError: {
        r"fixed...got 'pool'...FuzzyDict\(d, mode='pool'\)": lambda _: setattr(
            car(), "mode", "pool"
        )
    },
    errors.ShapeError: {
        "vectors of 1, and of 2 before...vectors of one length...set embedding again": (
            lambda _: car(embedding=lambda texts: np.ones((len(texts), len(texts))))["red"]
        ),
    },
    errors.PoolingError: {
        r"the value of 'blue' ...expected a number, an array, or a list or tuple...or only texts"
        r"...got dict \{\}": lambda _: FuzzyDict({"red": 1.0, "blue": {}}).pool("red"),
    },
    errors.FileFormatError: {
        "format version 9...reads version 2...make the file again, or install the release that"
        " wrote it": lambda path: loaded(path, b"fuzzydct" + bytes([9] + [0] * 15)),
        "is damaged: its header...match its checksum...restore it from a copy": (
            lambda path: loaded(path, b"fuzzydct" + bytes([2] + [0] * 14 + [1]))
        ),
    },
    errors.NotFittedError: {
        r"KernelRegression...has seen no examples yet...call fit\(X, y\) first": (
            lambda _: KernelRegression().predict([[1.0]])
        )
    },
}


@pytest.mark.parametrize(
    ("kind", "told"), [(kind, told) for kind, misuses in MISUSES.items() for told in misuses]
)
def test_each_error_says_what_came_what_was_expected_and_what_to_do(
    kind: type[Exception], told: str, tmp_path: Path
) -> None:
    with pytest.raises(errors.FuzzyDictError, match=told.replace("...", ".*")) as raised:
        MISUSES[kind][told](tmp_path / "file")
    assert type(raised.value) is kind
    assert str(raised.value)[-1] not in ".\n"


def test_a_missing_extra_is_told_with_its_command_and_an_empty_row_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(errors.MissingExtraError, match="pip install matplotlib"):
        car().attend("red").plot()
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


def test_every_error_is_public_raised_by_a_test_above_copied_and_pickled() -> None:
    public = {*drawn(), "FuzzyDictError", "EmptyRowWarning", "DoubtfulPoolWarning", "StoreWarning"}
    assert public <= set(fuzzydict.__all__)
    elsewhere = {"StoreError", "WorkerError"}  # in tests/stores, tests/frames
    tested = {kind.__name__ for kind in MISUSES} | {"MissingCorpusError", "MissingExtraError"}
    assert tested | elsewhere == drawn().keys()
    for name in drawn():
        kind = getattr(errors, name)
        error = kind("query", "told") if kind is errors.NoMatchError else kind("told")
        assert "told" in str(error)
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(again) is kind
            assert (str(again), again.args) == (str(error), error.args)
    assert str(errors.OptionError("two\r\nlines\x85 and more")) == "two lines  and more"


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
        lambda d: str(d.attend("key")),
        lambda d: repr(d.attend("key")),
        lambda d: str(d.explain(f"key {HOSTILE}")),
        lambda d: repr(d.explain("key")),
        lambda d: repr(d.nearest("key", score_cutoff=0)),
        lambda d: repr(d.most_similar("key")),
        lambda d: str(d.fit({f"lock {HOSTILE}": max(d), "qwzzt": None}, validation=0, epochs=1)),
    ],
)
def test_what_is_printed_of_a_dict_has_nothing_that_a_terminal_obeys(
    text: Callable[[FuzzyDict[Any]], str],
) -> None:
    d = FuzzyDict({f"key {HOSTILE}": HOSTILE, f"{HOSTILE} door": HOSTILE})
    assert is_only_shown(text(d))
    for query in ("qwzzt", "\x1bqwzzt\n\u202e"):
        with pytest.raises(errors.NoMatchError) as told:
            d[query]
        assert is_only_shown(str(told.value))
