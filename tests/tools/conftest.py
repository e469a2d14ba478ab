"""Makes `tools` importable, which is not installed, without the folder of the package beside it."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "tools"

if "tools" not in sys.modules:
    _spec = spec_from_file_location(
        "tools", _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)]
    )
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["tools"] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["tools"])
