"""A simulator in a thread of the test process, reached over HTTP like any other. Holds no test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from openai import OpenAI

from simulator.app import build_app
from simulator.options import Options
from simulator.serving import build_server, listen

DEADLINE_SECONDS = 10.0


@dataclass
class Provider:
    """A running simulator, with the two clients that talk to it."""

    root: str
    http: httpx.Client = field(init=False)
    client: OpenAI = field(init=False)

    def __post_init__(self) -> None:
        key = {"Authorization": "Bearer test-key"}
        limits = httpx.Limits(max_connections=None)
        self.http = httpx.Client(base_url=self.root, headers=key, timeout=DEADLINE_SECONDS, limits=limits)
        self.client = OpenAI(base_url=f"{self.root}/v1", api_key="test-key", max_retries=0, timeout=DEADLINE_SECONDS)

    def control(self, route: str, body: object = None) -> httpx.Response:
        """The answer of a control route to this body."""
        return self.http.post(f"/_control/{route}", json=body)

    def order(self, path: str, fault: str, times: int = 1) -> None:
        """The fault will happen on the next calls of the path."""
        assert self.control("faults", [{"path": path, "fault": fault, "times": times}]).status_code == 200

    def ledger(self) -> dict[str, Any]:
        """The calls and totals so far."""
        ledger: dict[str, Any] = self.http.get("/_control/ledger").json()
        return ledger

    def embed(self, *texts: str, **fields: object) -> httpx.Response:
        """The raw answer to an embeddings request."""
        return self.http.post("/v1/embeddings", json={"model": "embed-small", "input": list(texts), **fields})

    def chat(self, text: str = "Hello", **fields: object) -> httpx.Response:
        """The raw answer to a chat of one user message."""
        messages = [{"role": "user", "content": text}]
        return self.http.post("/v1/chat/completions", json={"model": "chat-small", "messages": messages, **fields})


@contextmanager
def running(options: Options) -> Iterator[Provider]:
    """A simulator on a free port until the block ends."""
    listener = listen("127.0.0.1", 0)
    server = build_server(build_app(options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    provider = Provider(f"http://127.0.0.1:{listener.getsockname()[1]}")
    try:
        yield provider
    finally:
        provider.http.close()
        provider.client.close()
        server.should_exit = True
        thread.join(DEADLINE_SECONDS)
    assert not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    """The condition holds; AssertionError when it does not within the deadline."""
    ticks = threading.Event()
    for _ in range(int(DEADLINE_SECONDS / 0.01)):
        if condition():
            return
        ticks.wait(0.01)
    raise AssertionError("The condition did not become true in time.")
