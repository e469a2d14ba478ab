"""The page of `fuzzydict explore`: a key stroke, from the request over HTTP to the answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection
from itertools import chain, cycle, islice
from threading import Thread
from urllib.parse import quote, urlsplit

from fuzzydict import FuzzyDict
from fuzzydict.io.explore.server import ExploreServer

from .memory import key_texts
from .speed_data import Sizes, keys_of
from .speed_queries import any_slips, known
from .turns import Case, each

__all__ = ["page"]

_TYPED = 12  # queries whose letters are typed one by one, of each kind
_TURNS = 5  # strokes for each sample of other benchmarks: some cost more than others


def page(sizes: Sizes) -> Iterator[Case]:
    """Measure a key stroke: the query so far is sent, and the answer read, in a new connection."""
    for count in sizes.larger:
        texts = keys_of(count) if count == sizes.middle else key_texts(count)
        d = FuzzyDict({text: float(place) for place, text in enumerate(texts)})
        queries = chain(islice(known(texts, 2), _TYPED), islice(any_slips(texts), _TYPED))
        strokes = [text[:end] for text in queries for end in range(1, len(text) + 1)]
        random.Random(0).shuffle(strokes)
        server = ExploreServer(d)
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            run, samples = each(partial(_ask, server), cycle(strokes)), _TURNS * sizes.samples
            yield Case(f"a key stroke on the page, {count:,} keys", run, {}, samples)
        finally:
            server.shutdown()
            server.server_close()


def _ask(server: ExploreServer, query: str) -> None:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("GET", f"{urlsplit(server.url).path}answer?query={quote(query)}")
    answer = json.load(connection.getresponse())
    connection.close()
    if answer["query"] != query:
        raise RuntimeError(f"the page was answered {answer}")
