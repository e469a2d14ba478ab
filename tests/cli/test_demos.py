"""The demos: each runs, draws its picture, and shows what its lesson claims."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fuzzydict.cli.demos import decoder
from tests.support.commands import run
from tests.support.gradients import check_gradients

colors: Any = import_module("fuzzydict.cli.demos.colors")
DEMOS: tuple[str, ...] = import_module("fuzzydict.cli.demos").DEMOS


@cache
def shown(name: str) -> tuple[str, bytes]:
    """Run a demo once; return what it prints, and its picture if matplotlib is installed."""
    with TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.png"
        options = ["--save", str(picture)] if find_spec("matplotlib") else []
        result = run("demo", name, *options)
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout, picture.read_bytes() if picture.exists() else b""


def test_the_command_alone_lists_them_with_a_line_each() -> None:
    lines = run("demo").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(DEMOS)
    assert all(len(line.split()) > 3 and line.endswith(".") for line in lines)


def test_a_script_finds_the_package_by_itself() -> None:
    script = Path(__file__).parents[2] / "cli" / "demos" / "selfattention.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, shown("selfattention")[0])


#: What each prints, as patterns.
CLAIMS = {
    "dictionary": r"""d\['colour'\] is 'black'
d\['qwzzt'\] is refused
after d\['colour'\] = 'white', d\['color'\] is 'black'
the weights sum to 1\.000
the softmax by hand is the same: True""",
    "column": r"""take +'Frnace': .*, FR\b
(take|look at) +'Untied Kingdom': United Kingdom
blank    '\?'
\b0\.\d mistakes expected""",
    "http_status": r"""not found +404\b
too many request +429\b
gateway may be\n +50[24] .*\n +50[24]\b
the server's errors masked, the best is 4\d\d\b
d\['OK'\] is 200, and 'okay' in d is False""",
    "selfattention": r"""\[\[0\.063 0\.468 0\.468\]
Their sum is the output of input 1\n\[1\.937 6\.683 1\.595\]
is the same: True""",
    "heads": r"""6 and .* head 1 looks at 'horse'
head 2 \(the\) at places \[1, 4, 7\]
after 'the' there came, as far as was read: {'king': '50%', 'horse': '50%'}
after 'king' .* {'rode': '100%'}""",
    "colors": r"""crimsn: best key 'crimson'
rgb\(220, 20, 60\), a mixture of 1\.0 keys
sea: best key 'sea green'
sunset: .*\n.*\n.*\n  temperature  4.0: rgb\(.*\), a mixture of \d\d""",
    "sentence": r"""beside itself, 'prince' looks most at 'king'
^'king' looks most at 'queen'
^'prince' looks most at 'queen'
Masked .*\n.*\n +the +100% +- +- +- +- +- +-
 +king +\d+% +\d+% +- +- +- +- +-$""",
    "kernels": r"""KernelRegression is attention: True
gaussian, learned: 0\.\d+ .* 0\.2""",
    "performance": r"""learned: Q and K
after: .*\n  (top speed|battery|horse power) .*\n  (top speed|battery|horse power)
battry: battery \((0.9\d|1.00)\) -> battery \((0.9\d|1.00)\)""",
}


@pytest.mark.parametrize("name", [name for name in DEMOS if name != "decoder"])
def test_a_lesson_draws_its_picture_and_shows_what_it_claims(name: str) -> None:
    text, picture = shown(name)
    assert picture.startswith(b"\x89PNG") == bool(find_spec("matplotlib"))
    for claim in CLAIMS[name].splitlines():
        assert re.search(claim, text, re.M), claim
    assert not re.search(r"take +'(n/a|Unit)'|\033", text)


def test_the_gradient_is_that_of_the_loss() -> None:
    examples = decoder.date_examples(3, seed=1)
    given = decoder.new_parameters(seed=0).items()
    parameters = {name: array.astype(np.float64) + 0.01 for name, array in given}
    _, gradients = decoder.loss_and_gradients(parameters, *examples)
    check_gradients(
        lambda at: float(decoder.loss_and_gradients(at, *examples)[0]), parameters, gradients
    )


def test_the_decoder_runs_and_draws(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the picture needs matplotlib")
    picture = tmp_path / "alignment.png"
    result = CliRunner().invoke(decoder.main, ["--steps", "2", "--save", str(picture)])
    assert result.exit_code == 0, result.output
    assert "of 1000 unseen dates are right" in result.stdout
    assert len(re.findall(rf"^  . \|.{{{len(decoder.EXAMPLE)}}}\|$", result.stdout, re.M)) == 10
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert not pyplot.get_fignums()
