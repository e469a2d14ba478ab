"""The recipe of a web server answers requests as it shows."""

from __future__ import annotations

import pytest

from tests.docs import test_pages

PAGE = test_pages.DOCS / "recipes" / "web-server.md"


@pytest.mark.parametrize("framework", ["fastapi", "flask"])
def test_its_servers_answer(framework: str) -> None:
    pytest.importorskip(framework, reason=f"it needs {framework}; the extra 'web' has fastapi")
    test_pages.test_the_python_examples_print_what_they_show(PAGE)
