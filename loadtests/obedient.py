"""Uploaders who obey: offered at a steady pace, each comes back when its Retry-After says, until it is accepted."""

import heapq
import itertools
import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

SENDERS = 32
# A person or program looks at its clock a little late, never early.
LATE_SECONDS = 0.25


@dataclass
class Upload:
    """One document on its way: each refusal's Retry-After, and the job once it was accepted."""

    number: int
    offered_at: float
    refusals: list[float] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    accepted_at: float | None = None
    job: str = ""


class Obedient:
    """`count` uploads at `per_second`; `run` returns when each is accepted or `patience_seconds` are over."""

    def __init__(self, url: str, headers: Mapping[str, str], text: Callable[[int], str]) -> None:
        self._text = text
        self._client = httpx.Client(
            base_url=url, headers={**headers, "Content-Type": "text/markdown"}, trust_env=False, timeout=30,
            limits=httpx.Limits(max_connections=SENDERS, max_keepalive_connections=SENDERS),
        )  # fmt: skip
        self._random = random.Random(1)
        self._order = itertools.count()
        self._due: list[tuple[float, int, Upload]] = []
        self._lock = threading.Lock()
        self.uploads: list[Upload] = []

    def run(self, count: int, per_second: float, patience_seconds: float, shown: Callable[[str], None]) -> None:
        began = time.monotonic()
        self.uploads = [Upload(number, began + number / per_second) for number in range(count)]
        for upload in self.uploads:
            self._plan(upload, upload.offered_at)
        said = began
        with self._client, ThreadPoolExecutor(SENDERS) as senders:
            while time.monotonic() < began + patience_seconds and any(not one.accepted_at for one in self.uploads):
                for upload in self._take_due():
                    senders.submit(self._send, upload)
                if time.monotonic() - said > 5:
                    said = time.monotonic()
                    accepted = sum(bool(one.accepted_at) for one in self.uploads)
                    shown(f"{said - began:5.0f} s  {accepted} of {count} accepted")
                time.sleep(0.005)

    def _plan(self, upload: Upload, moment: float) -> None:
        with self._lock:
            heapq.heappush(self._due, (moment, next(self._order), upload))

    def _take_due(self) -> list[Upload]:
        now, found = time.monotonic(), []
        with self._lock:
            while self._due and self._due[0][0] <= now:
                found.append(heapq.heappop(self._due)[2])
        return found

    def _send(self, upload: Upload) -> None:
        try:
            answer = self._client.post(
                f"/v1/documents/policy-{upload.number}/versions", content=self._text(upload.number).encode(),
                headers={"Idempotency-Key": f"upload-{upload.number}"},
            )  # fmt: skip
        except httpx.HTTPError as error:
            upload.trouble.append(type(error).__name__)
            return self._plan(upload, time.monotonic() + 1)
        if answer.status_code == 202:
            upload.job = answer.json()["job"]["id"]
            upload.accepted_at = time.monotonic()
            return None
        if answer.status_code == 503 and answer.json().get("code") == "queue_full":
            wait = float(answer.headers["Retry-After"])
            upload.refusals.append(wait)
            return self._plan(upload, time.monotonic() + wait + self._random.uniform(0, LATE_SECONDS))
        upload.trouble.append(f"{answer.status_code} {answer.text[:200]}")
        return self._plan(upload, time.monotonic() + 1)
