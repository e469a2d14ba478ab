"""What the page teaches: at once, saved at once, forgotten again, by one page or by several."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fuzzydict import ArgumentTypeError, FileFormatError, FuzzyDict, OptionError
from fuzzydict.io.columns import Deciding, Source, clean_column
from fuzzydict.io.explore.answers import Answers
from fuzzydict.io.explore.teaching import Teaching, checked_decisions
from fuzzydict.io.review import read_examples
from tests.support.exploring import answered, asked, posted, serving

KEYS = {"brand": "Porsche", "color": "black", "top speed": 260, "=price": 109000}


def car() -> FuzzyDict[Any]:
    return FuzzyDict(KEYS)


def cleaned(d: FuzzyDict[Any], texts: list[str], decisions: Path) -> list[str]:
    """Return the keys that ``fuzzydict map --decisions`` finds for some texts."""
    table, output = decisions.with_name("cells.jsonl"), decisions.with_name("found.jsonl")
    table.write_text("".join(f"{json.dumps({'cell': text})}\n" for text in texts), "utf-8")
    clean_column(d, Source(table, "cell"), output, deciding=Deciding(decisions))
    return [json.loads(line)["cell_key"] for line in output.read_text("utf-8").splitlines()]


def saved(path: Path) -> dict[str, Any]:
    """Return what was saved as taught."""
    if path.suffix == ".fuzzydict":
        return dict(FuzzyDict.load(path).aliases)
    return dict(read_examples(path))


# ---- what is taught ---------------------------------------------------------------------------


def test_what_is_taught_is_answered_at_once_and_can_be_forgotten() -> None:
    d = car()
    d.aliases = {"Maker": "color", "zip": None}
    with serving(d) as server:
        for query in ("swiftness", "maker", "zip"):
            before = answered(server, query)
            told = asked(server, "teach", query=query, key="top speed")
            assert told == {"taught": 1, "saved": None}
            answer = answered(server, f"{query.title()}!")
            assert (answer["keys"][0]["key"], answer["taught"]) == ("top speed", True)
            assert answer["forget"] == query
            assert d[query] == 260
            assert asked(server, "teach", query=query.upper(), key=None)["taught"] == 1
            assert not answered(server, query)["matches"]
            assert asked(server, "taught") == {"taught": [{"query": query.upper(), "key": None}]}
            assert asked(server, "forget", query=query) == {"taught": 0, "saved": None}
            assert answered(server, query) == before
        assert dict(d.aliases) == {"Maker": "color", "zip": None}
        response, _ = posted(server, "forget", b'{"query": "zip"}')
        assert response.status == 400


# ---- the file ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["fuzzydict", "csv", "tsv", "jsonl"])
def test_what_is_taught_is_saved_at_once(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"taught.{ending}"
    queries = {"swiftness": "top speed", "=1+1": None, 'a "b",\tc': "=price", "hue\nor so": "color"}
    with serving(car(), output=path) as server:
        assert asked(server, "about")["saves_to"] == path.name
        assert not path.exists()
        for number, (query, key) in enumerate(queries.items(), 1):
            told = asked(server, "teach", query=query, key=key)
            assert told == {"taught": number, "saved": path.name}
        assert saved(path) == queries
        if ending != "fuzzydict":
            assert cleaned(car(), list(queries), path) == list(queries.values())
        asked(server, "forget", query="=1+1")
    assert saved(path) == {query: key for query, key in queries.items() if key is not None}
    if ending in ("csv", "tsv"):
        assert "\n=" not in path.read_text("utf-8")  # no cell is a formula


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_was_decided_in_a_file_holds_and_stays(tmp_path: Path, end: str) -> None:
    path = tmp_path / "decisions.csv"
    lines = [
        *("query,note,count,key,score,target", "hue,my own,3,color,0.5,color"),
        *("swiftness,,2,brand,0.1,? brand", "maker,,1,brand,0.9,brand", "?!,,1,,,color"),
    ]
    path.write_bytes(end.join(lines).encode())
    d = car()
    teaching = Teaching(d, path)
    assert (d["hue"], len(teaching)) == ("black", 0)
    teaching.teach("swiftness", "top speed")
    teaching.teach("Maker", "color")
    expected = [*lines[:2], lines[4], "swiftness,,,,,top speed", "Maker,,,,,color", ""]
    assert path.read_bytes().decode().split(end) == expected
    teaching.forget("maker")
    assert d["maker"] == "Porsche"
    assert lines[3] in path.read_text("utf-8")
    teaching.forget("swiftness")
    assert path.read_bytes().decode().rstrip() == end.join(lines)


def test_what_the_file_cannot_hold_is_refused_alone(tmp_path: Path) -> None:
    path, d = tmp_path / "decisions.csv", car()
    path.write_bytes("query,target\ncouleur foncée,color\n".encode("windows-1252"))
    with pytest.warns(UserWarning, match="windows-1252"):
        teaching = Teaching(d, path)
    with pytest.raises(FileFormatError, match="'ř' cannot be written"):
        teaching.teach("šedý řetěz", "color")
    assert (len(teaching), "šedý řetěz" in d.aliases) == (0, False)
    teaching.teach("hue", "color")
    assert path.read_bytes().decode("windows-1252").endswith("\nhue,color\n")


@pytest.mark.parametrize("ending", ["fuzzydict", "csv"])
@pytest.mark.parametrize("content", [None, b"query,target\nhue,color\n"])
def test_what_cannot_be_saved_is_told_and_holds(
    tmp_path: Path, ending: str, content: bytes | None
) -> None:
    path = tmp_path / "folder" / f"taught.{ending}"
    path.parent.mkdir()
    with serving(car(), output=path) as server:
        asked(server, "teach", query="swiftness", key="top speed")
        shutil.rmtree(path.parent)
        if content is not None:
            path.parent.mkdir()
            path.write_bytes(content)
        body = json.dumps({"query": "hue", "key": "color"}).encode()
        response, text = posted(server, "teach", body)
        told = json.loads(text)
        assert (response.status, told["taught"], told["saved"]) == (500, 2, None)
        assert f"taught.{ending} was not saved" in told["error"]
        assert "what was taught holds until fuzzydict ends" in told["error"]
        assert answered(server, "hue")["taught"]
        assert (path.read_bytes() if path.exists() else None) == content


# ---- several at once --------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["fuzzydict", "jsonl"])
def test_several_pages_teach_in_turn(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"taught.{ending}"
    with serving(car(), output=path) as server, ThreadPoolExecutor(8) as pool:

        def teach(place: int) -> Any:
            asked(server, "teach", query=f"name {place}", key=("color", "brand", None)[place % 3])
            if place % 4 == 0:
                asked(server, "forget", query=f"name {place}")
            return answered(server, f"name {place}")["taught"]

        assert list(pool.map(teach, range(24))) == [place % 4 != 0 for place in range(24)]
        taught = {one["query"]: one["key"] for one in asked(server, "taught")["taught"]}
    assert taught == {
        f"name {place}": ("color", "brand", None)[place % 3] for place in range(24) if place % 4
    }
    assert saved(path) == taught


def test_an_answer_is_of_before_or_after_a_lesson() -> None:
    asked_once, taught = Event(), Event()

    class Slow(FuzzyDict[Any]):
        def most_similar(self, *arguments: Any, **options: Any) -> Any:
            asked_once.set()
            taught.wait(0.3)
            return super().most_similar(*arguments, **options)

    teaching = Teaching(d := Slow(KEYS))
    answers = Answers(d, teaching.changing)

    def teach() -> None:
        asked_once.wait()
        teaching.teach("hue", "brand")
        taught.set()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(teach)
        answer = answers.answer("hue")
        done.result()
    assert (answer["taught"], answer["keys"][0]["key"]) == (False, "color")
    answer = answers.answer("hue")
    assert (answer["taught"], answer["keys"][0]["key"]) == (True, "brand")


def test_decisions_are_learned_together(tmp_path: Path) -> None:
    path, long = tmp_path / "a" / "taught.csv", "a " * 300
    path.parent.mkdir()
    teaching = Teaching(car(), path)
    decided = {"swiftness": "top speed", "?!": None, "Hue!": "color", long: "brand"}
    table = [{"query": query, "target": target} for query, target in decided.items()]
    told = teaching.learn(table)
    assert (told["taught"], told["unsaved"], len(told["refused"])) == (2, None, 2)
    assert "no letters or digits" in told["refused"][0]
    assert saved(path) == dict(teaching.dict.aliases) == {"swiftness": "top speed", "Hue!": "color"}
    shutil.rmtree(path.parent)
    assert "was not saved" in teaching.learn([{"query": "cost", "target": "=price"}])["unsaved"]
    assert teaching.dict["cost"] == 109000


@pytest.mark.parametrize(
    ("decisions", "why"),
    [
        *(([row], "decisions: ") for row in (1, {}, {"query": "", "target": None})),
        *(([{"query": "a", "target": key}], "decisions: ") for key in (1, "colour")),
        *(([{"query": "color", "target": key}], "decisions: ") for key in ("brand", None)),
        ([{"query": "zero \0 byte", "target": None}], "holds a zero byte"),
        ([{"query": "x" * 200_000, "target": None}], "is too long"),
        (
            [{"query": "Swift-ness", "target": "brand"}, {"query": "swift ness", "target": None}],
            "'Swift-ness' and 'swift ness' are one text",
        ),
    ],
)
def test_decisions_that_map_would_refuse_are_refused(decisions: Any, why: str) -> None:
    with pytest.raises((OptionError, ArgumentTypeError), match=why):
        checked_decisions(car(), decisions)
