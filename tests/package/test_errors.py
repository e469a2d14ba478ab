"""The error tree: as drawn, each error raised by a real misuse, each message of use."""

from __future__ import annotations

import copy
import pickle
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


def as_any(value: Any) -> Any:
    """Return a value as one of any type, to be given where another is expected."""
    return value


def vectors_of_as_many_numbers_as_texts(texts: list[str]) -> Any:
    return np.ones((len(texts), len(texts)))


#: By class, a misuse, given a path, and patterns in the order of the message: what came, what was
#: expected or is so, and what to do, with "..." between.
MISUSES: dict[type[Exception], dict[str, Callable[[Path], Any]]] = {
    errors.NoMatchError: {
        r"'qwzzt'...the nearest is '(color|brand)' with score 0\.\d{3}, below the cutoff 0\.\d{3}"
        "...lower score_cutoff, or see most_similar": lambda _: FuzzyDict(CAR)["qwzzt"],
        "no key equals 5...only a text": lambda _: FuzzyDict(CAR)[5],
        r"'\?!'...no letters...equal key": lambda _: FuzzyDict(CAR)["?!"],
        "'red'...no key of the dict...a text": lambda _: FuzzyDict()["red"],
        "'red'...every key is masked...loosen attn_mask, or widen the scorer": lambda _: FuzzyDict(
            CAR
        ).attend("red", attn_mask=[False, False]),
    },
    errors.OptionError: {
        "mode...expected one of 'nearest', 'pool'...'nearst'": lambda _: FuzzyDict(
            CAR, mode="nearst"
        ),
        "'euclid'...the names are spelling, dot, scaled_dot, cosine...passed as objects": (
            lambda _: FuzzyDict(CAR, scorer="euclid")
        ),
        "index...expected one of 'exact', 'usearch'...'faiss'": lambda _: FuzzyDict(
            CAR, index="faiss"
        ),
        "'cosine', 'dot' and 'scaled_dot'...the scorer is 'gaussian'...set d.index = 'exact'": (
            lambda _: FuzzyDict(CAR, scorer="gaussian", index="usearch").nearest("hue")
        ),
        "temperature...a finite number above 0...-1": lambda _: FuzzyDict(CAR, temperature=-1),
        "score_cutoff...a number, None, or inf...got nan, which is NaN": lambda _: FuzzyDict(
            CAR, score_cutoff=float("nan")
        ),
        r"saved with word vectors \w{16} \(2 words...loaded with word vectors \w{16} \(1 words"
        "...open it with the first": load_with_another_embedding,
    },
    errors.ArgumentTypeError: {
        "embedding...expected None, 'english', WordVectors, gensim KeyedVectors, a mapping"
        "...got 'glove'": lambda _: FuzzyDict(CAR, embedding="glove"),
        "topn...a whole number of 0 or more, or None...got '3'": lambda _: FuzzyDict(
            CAR
        ).most_similar("red", topn=as_any("3")),
        "'b' cannot be saved: set is none...JSON's types, tuples and numpy arrays"
        "...convert it, or leave it out": lambda path: FuzzyDict({"a": 1, "b": {1}}).save(path),
    },
    errors.UnknownOptionError: {
        "'cutoff'...the options are mode, embedding, scorer"
        r"...items come as a dict: FuzzyDict\(\{'cutoff': \.\.\.\}\)": lambda _: FuzzyDict(
            CAR, **as_any({"cutoff": 0.5})
        ),
        "'treshold'...the options are...temperature, score_cutoff": lambda _: setattr(
            FuzzyDict(CAR), "treshold", 0.5
        ),
    },
    errors.ReadOnlyError: {
        r"fixed...got 'pool'...FuzzyDict\(d, mode='pool'\)": lambda _: setattr(
            FuzzyDict(CAR), "mode", "pool"
        ),
    },
    errors.ShapeError: {
        r"attn_mask...a bool for each of the 2 keys...got shape \(1,\)": lambda _: FuzzyDict(
            CAR
        ).attend("red", attn_mask=[True]),
        r"embedding...must give an array \(n, E\)...gave shape \(3,\)": lambda _: FuzzyDict(
            CAR, embedding=lambda _: np.ones(3)
        )["red"],
        "vectors of 1, and of 2 before...vectors of one length...set embedding again": lambda _: (
            FuzzyDict(CAR, embedding=vectors_of_as_many_numbers_as_texts)["red"]
        ),
    },
    errors.PoolingError: {
        r"the value of 'blue' ...expected a number, an array, or a list or tuple...or only texts"
        r"...got dict \{\}": lambda _: FuzzyDict({"red": 1.0, "blue": {}}).pool("red"),
        r"'blue' has shape \(1,\)...that of 'red' \(2,\)...one shape": lambda _: FuzzyDict(
            {"red": (1, 2), "blue": (1,)}
        ).pool("red"),
        "'blue' has NaN...whatever its weight...replace it": lambda _: FuzzyDict(
            {"red": 1.0, "blue": np.nan}
        ).pool("red"),
    },
    errors.FileFormatError: {
        "file...not a fuzzydict file...expected a file that fuzzydict has written": lambda path: (
            loaded(path, b"PK\3\4")
        ),
        "format version 9...reads version 2...make the file again, or install the release that"
        " wrote it": lambda path: loaded(path, b"fuzzydct" + bytes([9] + [0] * 15)),
        "is damaged: its header...match its checksum...restore it from a copy": lambda path: loaded(
            path, b"fuzzydct" + bytes([2] + [0] * 14 + [1])
        ),
    },
    errors.NotFittedError: {
        r"KernelRegression...has seen no examples yet...call fit\(X, y\) first": lambda _: (
            KernelRegression().predict([[1.0]])
        ),
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


def test_an_extra_that_is_missing_is_told_with_the_command_that_gets_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(errors.MissingExtraError, match="pip install matplotlib"):
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
    public = {*drawn(), "FuzzyDictError", "EmptyRowWarning", "DoubtfulPoolWarning", "StoreWarning"}
    assert public <= set(fuzzydict.__all__)
    elsewhere = {"StoreError", "WorkerError"}  # in tests/stores, tests/frames
    tested = {kind.__name__ for kind in MISUSES} | {"MissingCorpusError", "MissingExtraError"}
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
