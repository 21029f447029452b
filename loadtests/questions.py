"""Questions at a steady pace, as a help desk asks them: how long each took and whether it was answered."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx

QUESTIONS = Path(__file__).resolve().parent.parent / "ingestion" / "corpus" / "questions.json"
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Asked:
    """One question: seconds from its start to the whole answer; `status` 0: no answer came."""

    number: int
    second: float
    seconds: float
    status: int
    is_cached: bool
    is_found: bool


def texts() -> list[str]:
    return [one["question"] for one in json.loads(QUESTIONS.read_text())]


class Desk:
    """Asks every `every_seconds`, whether or not the one before is answered, until `finish` or `most` were asked."""

    def __init__(self, url: str, headers: Mapping[str, str], every_seconds: float, most: int | None = None) -> None:
        self._url, self._headers, self._every = url, headers, every_seconds
        self._numbers: Iterator[int] = iter(range(most)) if most else count()
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._ask_on, daemon=True)
        self.asked: list[Asked] = []
        self._thread.start()

    def wait(self) -> Sequence[Asked]:
        """All `most` questions are answered."""
        self._thread.join()
        return self.asked

    def finish(self) -> Sequence[Asked]:
        """No new question; those under way are answered."""
        self._ended.set()
        return self.wait()

    def _ask_on(self) -> None:
        known = texts()
        with (
            httpx.Client(
                base_url=self._url, headers=dict(self._headers), trust_env=False, timeout=TIMEOUT_SECONDS
            ) as http,
            ThreadPoolExecutor(16) as threads,
        ):
            for number in self._numbers:
                if self._ended.wait(max(0.0, self._began + number * self._every - time.monotonic())):
                    break
                threads.submit(self._ask, http, number, known[number % len(known)])

    def _ask(self, http: httpx.Client, number: int, question: str) -> None:
        start = time.monotonic()
        try:
            answer = http.post("/v1/answers", json={"question": question})
            status, body = answer.status_code, answer.json()
        except (httpx.HTTPError, ValueError):
            status, body = 0, {}
        end = time.monotonic()
        self.asked.append(
            Asked(number, round(start - self._began, 2), round(end - start, 4), status,
                  bool(body.get("cached")), bool(body.get("citations")))
        )  # fmt: skip
