"""The pages: every example on them runs, and prints what they show."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

import fuzzydict
from fuzzydict import FuzzyDict
from tests.support.properties import SLOW

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "data/README.md")),
    *sorted(DOCS.rglob("*.md")),
]
# ``<!-- needs: matplotlib -->`` before an example: it runs where that is installed.
_FENCE = re.compile(r"^(?:<!-- needs: (\w+) -->\n)?```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
_PIPED = re.compile(r"(fuzzydict [^|&;<>$*~`\n]*)(?:\| (.*))?")  # to a command of the shell
_LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
_SLOW = {DOCS / "guides" / "workers.md": "its examples start several processes"}
_SLOW |= dict.fromkeys((DOCS / "recipes").iterdir(), "the recipes take half a minute")
_NAMES = {page: page.relative_to(ROOT).as_posix() for page in PAGES}
each_page = pytest.mark.parametrize("page", PAGES, ids=_NAMES.values())
each_page_that_runs = pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=name, marks=[pytest.mark.slow(why)] if (why := _SLOW.get(page)) else []
        )
        for page, name in _NAMES.items()
    ],
)


class Block(NamedTuple):
    """A fenced block of a page, and the line at which its text begins."""

    language: str
    text: str
    line: int


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    """Yield the blocks of some languages whose packages are installed."""
    text = page.read_text("utf-8")
    for found in _FENCE.finditer(text):
        needed, language, body = found.groups()
        is_there = needed is None or importlib.util.find_spec(needed) is not None
        if needed == "pyspark":
            is_there &= shutil.which("java") is not None
        if language in languages and is_there:
            yield Block(language, body, text.count("\n", 0, found.start(3)))


def same(expected: str, printed: str) -> bool:
    """Tell whether texts are equal, but for the last place of their numbers, or the sixth."""
    if _NUMBER.split(expected) != _NUMBER.split(printed):
        return False
    for one, other in zip(_NUMBER.findall(expected), _NUMBER.findall(printed), strict=True):
        places = len(one.partition(".")[2])
        least = max(1.5 * 10.0**-places, 1e-6) if places else 0
        if one != other and abs(float(one) - float(other)) >= least:
            return False
    return True


class Checker(doctest.OutputChecker):
    """Compares as `same` does: other processors round the last digit otherwise."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, got, optionflags) or same(want, got)


# A recipe uses nothing of Spark that pandas 3 changed.
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.more
@pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR")  # on import of pgserver
@pytest.mark.filterwarnings("ignore:Using `httpx`")  # FastAPI's test client prefers httpx2
@each_page_that_runs
def test_the_python_examples_print_what_they_show(page: Path) -> None:
    parser, examples = doctest.DocTestParser(), []
    for block in blocks(page, "pycon"):
        for example in parser.get_examples(block.text, str(page)):
            example.lineno += block.line
            examples.append(example)
    runner = doctest.DocTestRunner(Checker(), verbose=False)
    # PostgreSQL runs as another user if this one is root, who must get into the folder.
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        Path(name).chmod(0o755)
        shutil.copytree(ROOT / "data", "data")
        runner.run(doctest.DocTest(examples, {}, page.name, str(page), 0, None))
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.more
@pytest.mark.skipif(os.name != "posix", reason="the commands are written for a POSIX shell")
@each_page_that_runs
def test_the_commands_print_what_they_show(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "data", tmp_path / "data")
    for block in blocks(page, "console"):
        for shown in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, expected = shown.partition("\n")
            printed = run(command, tmp_path)
            assert same(expected.rstrip("\n"), printed.rstrip("\n")), f"{command}\n{printed}"


def run(command: str, folder: Path) -> str:
    """Return what a command of the shell prints, errors as well, as a terminal shows it.

    Without FUZZYDICT_SLOW=1, ours run in this process.
    """
    given, before = None, ""
    if not SLOW and (piped := _PIPED.fullmatch(command)):
        main = import_module("fuzzydict.cli").main
        with contextlib.chdir(folder):
            words = shlex.split(piped[1])[1:]
            result = CliRunner().invoke(main, words, env={"COLUMNS": "80"}, prog_name="fuzzydict")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        if piped[2] is None:
            return result.output
        command, given, before = piped[2], result.stdout, result.stderr
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stdout
    return before + done.stdout


@each_page
def test_commands_that_are_not_run_exist(page: Path) -> None:
    for block in blocks(page, "sh"):
        for line in block.text.splitlines():
            for words in re.findall(r"(?:^|\| )fuzzydict ([^#|]*)", line):
                command = command_of(words.split())
                options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
                given = {word for word in words.split() if word[0] == "-" and word != "-"}
                assert given <= options, line
            for module in re.findall(r"python -m ((?:tests|tools)\.\w+(?:\.\w+)?)", line):
                path = ROOT / module.replace(".", "/")
                assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), line


def command_of(words: list[str]) -> click.Command:
    """Return the command that some words call, as ``demo colors``."""
    command: click.Command = import_module("fuzzydict.cli").main
    for word in words:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        assert found is not None, word
        command = found
    return command


@each_page
def test_python_that_is_shown_is_run(page: Path) -> None:
    assert not list(blocks(page, "python", "py", "shell", "bash"))


@each_page
def test_links_and_pictures_are_there(page: Path) -> None:
    for picture, text, target in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if "://" in target:
            continue
        place = page.parent / target.partition("#")[0] if target[0] != "#" else page
        assert place.exists(), target
        if DOCS in page.parents:
            assert DOCS in place.resolve().parents, f"{target} is not part of the site"
        if picture:
            assert len(text.split()) > 5, "a picture needs a description"
            assert place.read_bytes().startswith(b"\x89PNG")
            assert place.stat().st_size < 100_000


def test_every_picture_is_shown() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for picture, _, target in _LINK.findall(page.read_text("utf-8"))
        if picture
    }
    assert set((DOCS / "pictures").iterdir()) == shown


def test_files_that_are_named_exist() -> None:
    told = "".join(path.read_text("utf-8") for path in PAGES)
    named = re.findall(r"`((?:fuzzydict|cli|data|docs|tests)/[\w./-]+)`", told)
    assert not {place for place in named if not (ROOT / place).exists()}


def test_the_packages_are_those_there_are() -> None:
    told = (DOCS / "concepts" / "data-flow.md").read_text("utf-8").split("## The packages")[1]
    folder, missing = ROOT / "fuzzydict", []
    for package, files in re.findall(r"^\| (\(top\)|`\w+/`)? ?\| (`.*?`) \|", told, re.M):
        folder = ROOT / "fuzzydict" / package.strip("`()").replace("top", "") if package else folder
        named = [folder / f"{name}.py" for name in re.findall(r"`([\w/]+)`", files)]
        missing += [path for path in named if not path.exists()]
    assert not missing


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200


def test_every_page_is_in_the_navigation() -> None:
    told = (ROOT / "mkdocs.yml").read_text("utf-8")
    named = set(re.findall(r"[\w/-]+\.md", told))
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} == named


def test_every_public_name_is_in_the_reference() -> None:
    pages = "".join(path.read_text("utf-8") for path in (DOCS / "api").iterdir())
    assert sorted(re.findall(r"^::: fuzzydict\.(\w+)$", pages, re.M)) == sorted(fuzzydict.__all__)


def test_every_demo_is_named() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "demos.md").read_text("utf-8"), re.M)
    assert tuple(rows) == import_module("fuzzydict.cli.demos").DEMOS


def test_every_command_and_option_is_named() -> None:
    told = (DOCS / "command-line.md").read_text("utf-8")
    general, *sections = re.split(r"^## `", told, flags=re.M)
    named = dict(section.split("`", 1) for section in sections)
    main = command_of([])
    assert isinstance(main, click.Group)
    assert set(named) == set(main.list_commands(click.Context(main)))
    for name, section in named.items():
        for option in command_of([name]).params:
            if isinstance(option, click.Option):
                assert f"`{option.opts[-1]}`" in general + section, f"{name} {option.opts}"


def test_the_defaults_are_those_of_the_dict() -> None:
    table = (DOCS / "concepts" / "rules.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.M))
    options = inspect.signature(FuzzyDict.__init__).parameters.values()
    assert set(rows) == {option.name for option in options if option.kind is option.KEYWORD_ONLY}
    cutoff = FuzzyDict({"colour": 1}).explain("color").cutoff
    assert rows["score_cutoff"].startswith(str(cutoff))
