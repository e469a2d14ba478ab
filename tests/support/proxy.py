"""A proxy before a server of PostgreSQL, which counts round trips and may delay them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import sleep


class Proxy:
    """Hands what clients and the server send to the other, until it is closed.

    Attributes:
        port: at which it listens, on this machine.
        trips: how often a client has asked after it had been answered, or for the first time.
        connections: how many clients have connected.
        before: is called before what a client asks goes on.
    """

    def __init__(self, folder: str, delay: float = 0.0) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._folder, self._delay = folder, delay
        self.port: int = self._listening.getsockname()[1]
        self.trips = self.connections = 0
        self.before: Callable[[], object] = lambda: None
        Thread(target=self._accept, daemon=True).start()

    def url(self, **parameters: str) -> str:
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        plain = "sslmode=disable&gssencmode=disable"
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres?{plain}&{query}"

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._folder + "/.s.PGSQL.5432")
                self.connections += 1
                has_asked = [False]
                for ends in ((client, server), (server, client)):
                    Thread(target=self._hand_on, args=(*ends, ends[0] is client, has_asked)).start()

    def _hand_on(
        self, source: socket.socket, target: socket.socket, is_client: bool, has_asked: list[bool]
    ) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if is_client and not has_asked[0]:
                    self.trips += data[:1] != b"X"  # which ends the connection
                    self.before()
                    sleep(self._delay)
                has_asked[0] = is_client
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        source.close()


@contextmanager
def proxy(folder: str | Path, delay: float = 0.0) -> Iterator[Proxy]:
    running = Proxy(str(folder), delay)
    try:
        yield running
    finally:
        running.close()
