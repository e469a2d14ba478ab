"""``lookup``, ``explain`` and ``attend`` as their users run them: what they print, and options."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest

from fuzzydict import FuzzyDict, WordVectors
from fuzzydict.io.text_tables import as_line
from tests.support.commands import SCRIPT, posix, run
from tests.support.properties import one_process

CAR = {"color": "black", "top speed": "260 km/h", "doors": 4, "extras": ["roof", {"é": None}]}
CAR |= {"electric": True, "notes": "two\nlines", "motto": "it goes\n", "void": ""}


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


# ---- lookup: what is printed --------------------------------------------------------------


def test_a_text_is_printed_as_it_is_anything_else_as_json(car: Path) -> None:
    answers = {"colour": "black", "doors": "4", "extras": '["roof", {"é": null}]', "void": ""}
    answers |= {"electric": "true", "notes": r'"two\nlines"', "motto": r'"it goes\n"'}
    result = run("lookup", car, *answers)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "".join(f"{answer}\n" for answer in answers.values())


def test_a_query_that_nothing_matches_is_an_empty_line_and_exit_1(car: Path) -> None:
    result = run("lookup", car, "?!", "colour", "xyzzy")
    assert (result.exit_code, result.stdout) == (1, "\nblack\n\n")
    first, second = result.stderr.splitlines()
    assert first.startswith("no key matches '?!'")
    assert second.startswith("no key matches 'xyzzy': the nearest is")
    below = run("lookup", car, "colour", "--score-cutoff", "1")
    assert (below.exit_code, below.stdout) == (1, "\n")
    assert "below the cutoff 1.000 (--score-cutoff sets it)" in below.stderr
    assert run("lookup", car, "--", "-colour").stdout == "black\n"


def test_several_matches_are_lines_with_the_best_first(car: Path, tmp_path: Path) -> None:
    d = FuzzyDict(CAR)
    matches = [match for match in d.most_similar("speed", topn=3) if match.score >= 0.2]
    result = run("lookup", car, "speed", "-n", "3", "--score-cutoff", "0.2")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [as_line(match.value) for match in matches]
    FuzzyDict(CAR, score_cutoff=0.9).save(tmp_path / "car.fuzzydict")
    for path in (car, tmp_path / "car.fuzzydict"):  # whatever the scores
        for n in (1, 3, 99):
            result = run("lookup", path, "xyzzy", "-v", "-n", n)
            assert result.exit_code == 0
            expected = [[m.key, f"{m.score:.3f}"] for m in d.most_similar("xyzzy", n)]
            assert [line.split("\t")[1:] for line in result.stdout.splitlines()] == expected


def test_key_score_and_query_are_added_after_tabs(car: Path, tmp_path: Path) -> None:
    out = run("lookup", car, "-v", "colour", "doors", "xyzzy").stdout
    first, second, third, _ = out.split("\n")
    *shown, score = first.split("\t")
    assert (shown, second, third) == (["black", "color"], "4\tdoors\t1.000", "")
    assert float(score) > 0.9
    (tmp_path / "tabs.json").write_text(r'{"a\tb": "c\td"}')
    tabs = run("lookup", tmp_path / "tabs.json", "-v", "a b").stdout
    assert tabs.startswith('"c\\td"\t"a\\tb"\t')
    several = ["lookup", car, "-v", "-n", "2"]
    lines = run(*several, "colour", "top\tspeed").stdout.splitlines()
    assert [line.split("\t")[3:] for line in lines] == [["colour"]] * 2 + [['"top\\tspeed"']] * 2
    assert run(*several, lines=b"colour\ntop\tspeed").stdout.splitlines() == lines


def test_answers_as_json_are_an_object_a_line(car: Path, tmp_path: Path) -> None:
    result = run("lookup", car, "--json", "extras", "xyzzy", "colour")
    assert result.exit_code == 1
    extras, missed, colour = map(json.loads, result.stdout.splitlines())
    assert extras == {"query": "extras", "key": "extras", "score": 1.0, "value": CAR["extras"]}
    assert missed == {"query": "xyzzy", "key": None, "score": None, "value": None}
    assert list(colour) == ["query", "key", "score", "value"]
    (tmp_path / "odd.json").write_text('{"color": NaN, "size": [Infinity, {"x": -Infinity}]}')
    lines = run("lookup", tmp_path / "odd.json", "--json", "colour", "size").stdout.splitlines()
    strict = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert [row["value"] for row in strict] == [None, [None, {"x": None}]]
    assert run("lookup", tmp_path / "odd.json", "colour").stdout == "NaN\n"


def test_vectors_and_scorers_that_are_named(
    car: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = {"color": [1.0, 0.0], "brand": [0.0, 1.0], "hue": [0.9, 0.1]}
    mine, saved = tmp_path / "mine.vectors", tmp_path / "car.fuzzydict"
    WordVectors.from_mapping(axes).save(mine)
    FuzzyDict(CAR, scorer="cosine").save(saved)
    assert run("lookup", car, "hue", "--embedding", mine, "--score-cutoff", "0").stdout == "black\n"
    content = json.loads(run("explain", car, "hue", "--embedding", mine, "--json").stdout)
    assert [word["known"] for word in content["words"]] == [True]
    spelling = ("--scorer", "spelling")
    assert run("explain", car, "colr", *spelling).stdout.startswith("'colr' finds 'color'")
    assert run("explain", car, "hue", *spelling).exit_code == 1
    assert "there is no cutoff" in run("explain", car, "colour", "--scorer", "cosine").stdout
    assert "the cutoff is 0.500" in run("explain", saved, "colr", *spelling).stdout
    monkeypatch.setattr("fuzzydict.embedding.encoder.Brown", lambda: pytest.fail("it was opened"))
    assert run("lookup", car, "hue", "--embedding", "english").output == "black\n"


# ---- lookup: queries from standard input --------------------------------------------------


def test_lines_are_answered_however_they_end(car: Path) -> None:
    result = run("lookup", car, "-", lines=b"colour\r\ntop speed\n\n  doors  \n\xff\xfe\ncolo\xffr")
    assert result.exit_code == 1
    assert result.stdout == "black\n260 km/h\n\n4\n\nblack\n"
    assert result.stderr.count("\n") == 2
    nothing = run("lookup", car, lines=b"")
    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (0, "", "")


def test_each_line_is_answered_before_the_next_is_sent(car: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([SCRIPT, "lookup", car], stdin=pipe, stdout=pipe) as process:
        late = threading.Timer(60, process.kill)
        late.start()
        assert process.stdin
        assert process.stdout
        # Each comes with the beginning of the one after it.
        for line, answer in [(b"colour\n\r", b"black\n"), (b"\ndo", b"\n"), (b"ors\n", b"4\n")]:
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(60) == 1
        late.cancel()


@posix
@pytest.mark.parametrize("closed", one_process("colour >&-", "<&-", "colour '?!' 2>&-"))
def test_a_closed_stream_is_no_error_unless_the_answers_go_there(car: Path, closed: str) -> None:
    command = ["sh", "-c", f'"$0" lookup "$1" {closed}', SCRIPT, str(car)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    told = b"Error: standard output: Bad file descriptor\n" if closed == "colour >&-" else b""
    assert (done.returncode, done.stderr) == (2 if told else int("?!" in closed), told)
    assert done.stdout == (b"black\n\n" if "?!" in closed else b"")


# ---- explain ------------------------------------------------------------------------------


def test_the_text_is_that_of_the_explanation(car: Path) -> None:
    result = run("explain", car, "colour", "topSpeed")
    first, second = FuzzyDict(CAR).explain(["colour", "topSpeed"])
    assert (result.exit_code, result.stdout) == (0, f"{first}\n\n{second}\n")
    nothing = run("explain", car, "?!", "qwzzt", "colour")
    assert nothing.exit_code == 1
    assert nothing.stdout.startswith("'qwzzt' finds nothing: the best, ")
    assert nothing.stdout.count("\n\n") == 1
    assert nothing.stderr.startswith("no key matches '?!': it has no letters or digits to compare")
    below = run("explain", car, "colour", "--score-cutoff", "1")
    assert (below.exit_code, "below the cutoff 1.000" in below.stdout) == (1, True)


def test_an_explanation_as_json_has_all_numbers(car: Path) -> None:
    result = run("explain", car, "--json", "colourr", "?!", "color")
    assert result.exit_code == 1
    colour, marks, color = map(json.loads, result.stdout.splitlines())
    e = FuzzyDict(CAR).explain("colourr")
    assert (colour["query"], colour["matches"], colour["equal"]) == ("colourr", True, False)
    for name, parts in (("best", e.best_parts), ("runner_up", e.runner_up_parts)):
        match = getattr(e, name)
        assert colour[name]["parts"] == pytest.approx(parts._asdict())
        assert [colour[name][field] for field in ("key", "value")] == [match.key, match.value]
    assert [colour[name] for name in ("none", "margin", "cutoff")] == pytest.approx(
        [e.none, e.margin, e.cutoff]
    )
    assert marks == {"query": "?!", "matches": False, "best": None}
    assert (color["equal"], color["best"]["score"]) == (True, 1.0)
    infinite = run("explain", car, "--json", "colour", "--score-cutoff", "inf").stdout
    assert json.loads(infinite, parse_constant=pytest.fail)["cutoff"] is None


# ---- attend -------------------------------------------------------------------------------


def test_the_weights_are_shown_as_bars(car: Path) -> None:
    result = run("attend", car, "colour")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{FuzzyDict(CAR).attend('colour')}\n"
    d = FuzzyDict(CAR, temperature=0.5)
    kept = d.attend("colour", attn_mask=lambda key: key not in ("color", "doors"))
    options = ["-n", "2", "--temperature", "0.5", "--mask", "color", "--mask", "doors"]
    assert run("attend", car, "colour", *options).stdout == f"{kept.chart(2)}\n"
    for arguments in (["?!"], ["", "-n", "1"], ["x", *(f"--mask={key}" for key in CAR)]):
        nothing = run("attend", car, *arguments)  # to attend to
        assert (nothing.exit_code, nothing.stdout, nothing.stderr.count("\n")) == (1, "", 1)
