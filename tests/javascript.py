"""Runs the scripts of a page: in a browser without a window, or in node, where there is one."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import fuzzydict
from fuzzydict.io.explore import PARTS

__all__ = ["browser", "data_of", "in_browser", "in_node", "node"]

BROWSER = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome", "chrome"])), ""
)
NODE = shutil.which("node") or ""
browser = pytest.mark.skipif(not BROWSER, reason="no chromium or chrome is installed")
node = pytest.mark.skipif(not NODE, reason="no node is installed")

Engine = Callable[[str, str], Any]


def data_of(page: str) -> Any:
    """Return what a page was given."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def in_browser(page: str, code: str, *flags: str) -> Any:
    """Open a page, run the body of a function in it, and return what it returns, by JSON.

    All that the page has made is there, as ``view`` and ``view.matching``.
    """
    script = f"""
        const result = document.createElement("pre");
        try {{ result.textContent = JSON.stringify((() => {{ {code} }})()); }}
        catch (error) {{ result.textContent = JSON.stringify({{ error: String(error.stack) }}); }}
        document.body.replaceChildren(result);
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(page.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        options = ["--headless", "--disable-gpu", f"--user-data-dir={folder}/profile", *sandbox]
        command = [BROWSER, *options, *flags, "--dump-dom", path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    shown = re.search(r"<pre>(.*)</pre>", done.stdout, re.DOTALL)
    assert shown is not None, done.stdout[:2000]
    return json.loads(html.unescape(shown[1]))


def in_node(page: str, code: str) -> Any:
    """Do the same without a browser: there is ``view.matching``, and nothing is shown."""
    folder = Path(str(fuzzydict.__file__)).with_name("explore_page")
    scripts = "\n".join((folder / part).read_text("utf-8") for part in PARTS[:-2])
    start = 'const data = JSON.parse(require("fs").readFileSync(0, "utf-8"));'
    start += "const view = { data, matching: new Matching(data) };"
    program = f'"use strict";{scripts};{start}console.log(JSON.stringify((() => {{ {code} }})()));'
    with TemporaryDirectory() as folder_of_program:
        path = Path(folder_of_program, "page.cjs")
        path.write_text(program, "utf-8")
        done = subprocess.run(
            [NODE, path],
            input=json.dumps(data_of(page)),
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)
