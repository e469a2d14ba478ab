"""The recipe of a web server answers requests as it shows."""

from __future__ import annotations

import pytest

from tests.docs.test_pages import DOCS, test_the_python_examples_print_what_they_show

PAGE = DOCS / "recipes" / "web-server.md"


@pytest.mark.parametrize("framework", ["fastapi", "flask"])
def test_its_servers_answer(framework: str) -> None:
    pytest.importorskip(framework, reason=f"it needs {framework}; the extra 'web' has fastapi")
    test_the_python_examples_print_what_they_show(PAGE)
