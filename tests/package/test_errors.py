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


def loaded(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    return FuzzyDict.load(path)


def car(**options: Any) -> Any:
    return FuzzyDict(CAR, **options)


#: By class, a misuse, given a path, and patterns in the order of the message: what came, what was
#: expected or is so, and what to do, with "..." between. Those of options are in tests/dict.
MISUSES: dict[type[Exception], dict[str, Callable[[Path], Any]]] = {
    errors.NoMatchError: {
        r"'qwzzt'...the nearest is '(color|brand)' with score 0\.\d{3}, below the cutoff 0\.\d{3}"
        "...lower score_cutoff, or see most_similar": lambda _: car()["qwzzt"]
    },
    errors.UnknownOptionError: {
        "'cutoff'...the options are mode, embedding, scorer"
        r"...items come as a dict: FuzzyDict\(\{'cutoff': \.\.\.\}\)": lambda _: car(cutoff=0.5)
    },
    errors.ReadOnlyError: {
        r"fixed...got 'pool'...FuzzyDict\(d, mode='pool'\)": lambda _: setattr(
            car(), "mode", "pool"
        )
    },
    errors.ShapeError: {
        "vectors of 1, and of 2 before...vectors of one length...set embedding again": (
            lambda _: car(embedding=lambda texts: np.ones((len(texts), len(texts))))["red"]
        )
    },
    errors.PoolingError: {
        r"the value of 'blue' ...expected a number, an array, or a list or tuple...or only texts"
        r"...got dict \{\}": lambda _: FuzzyDict({"red": 1.0, "blue": {}}).pool("red")
    },
    errors.FileFormatError: {
        "format version 9...reads version 2...make the file again, or install the release that"
        " wrote it": lambda path: loaded(path, b"fuzzydct" + bytes([9] + [0] * 15)),
        "is damaged...its header...match its checksum...restore it from a copy": (
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


def test_every_error_is_public_raised_by_a_test_copied_and_pickled() -> None:
    kinds = {name for name in vars(errors) if name.endswith("Error")} - {"FuzzyDictError"}
    public = {*kinds, "FuzzyDictError", "EmptyRowWarning", "DoubtfulPoolWarning", "StoreWarning"}
    assert public <= set(fuzzydict.__all__)
    elsewhere = {"OptionError", "ArgumentTypeError", "StoreError", "WorkerError"}
    tested = {kind.__name__ for kind in MISUSES} | {"MissingCorpusError", "MissingExtraError"}
    assert tested | elsewhere == kinds
    for name in kinds:
        kind = getattr(errors, name)
        own, *builtin = kind.__bases__
        assert own is errors.FuzzyDictError
        assert {base.__module__ for base in builtin} == {"builtins"}, name
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


def test_what_is_printed_of_a_dict_has_nothing_that_a_terminal_obeys() -> None:
    """Beside what the commands print, see tests/cli."""
    d = FuzzyDict({f"key {HOSTILE}": HOSTILE, f"{HOSTILE} door": HOSTILE})
    texts = [repr(one) for one in (d.attend("key"), d.explain("key"), d.most_similar("key"))]
    texts += [str(d.attend("key")), str(errors.FileFormatError(f"{HOSTILE}: is damaged"))]
    report = d.fit({f"lock {HOSTILE}": max(d), "qwzzt": None}, validation=0, epochs=1)
    for query in ("qwzzt", "\x1bqwzzt\n\u202e"):
        with pytest.raises(errors.NoMatchError) as told:
            d[query]
        texts.append(str(told.value))
    for text in (*texts, str(report), str(d.explain(f"key {HOSTILE}"))):
        assert is_only_shown(text)
