"""One caller of the HTTP API: uploads, and what became of them. A refusal with Retry-After is obeyed."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx
from django.conf import settings

TIMEOUT_SECONDS = 30.0
# Answers that mean: not now.
REFUSALS = (429, 503)
# Without an answer the same request, under the same key, is sent again this often, each time a little later.
FAULT_TRIES = 5
# A refusal without a usable Retry-After.
RETRY_AFTER_SECONDS = 5.0
RETRY_AFTER_MAX_SECONDS = 3_600.0
# One document is not offered for longer than this: something is wrong that waiting does not mend.
PATIENCE_SECONDS = 7_200.0

Pause = Callable[[float, str], None]


class SubmitError(Exception):
    """It cannot go on; the text says why in one line."""


class Refused(SubmitError):
    """The API has refused this document for good; others may be taken. `status` is the answer's."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class Parcel:
    """A document to send; `key` makes a second delivery a replay. Without a file name it is the slug's Markdown."""

    slug: str
    content: bytes
    key: str
    file_name: str = ""
    media_type: str = "text/markdown"
    title: str = ""


@dataclass(frozen=True)
class Accepted:
    """What the API said of an upload that it took; `refusals` counts those that came before."""

    slug: str
    number: int
    job_id: str
    is_replay: bool
    refusals: int
    wait_seconds: float | None = None


@dataclass(frozen=True)
class Newest:
    """A document's newest version that is published or may still be; `job_id` is None for a published one."""

    sha256: str
    job_id: str | None
    number: int


def default_api() -> str:
    """This machine's API: PORT where it is set, else what a `make run` in another terminal says, else the default."""
    try:
        running = json.loads((settings.DATA_DIR / "run" / "addresses.json").read_text())["PORT"]
    except (OSError, ValueError, KeyError, TypeError):
        running = settings.PORT
    port = settings.PORT if os.environ.get("PORT", "").strip() else running
    return f"http://127.0.0.1:{port}"


def token_from_environment() -> str:
    """LARKFIELD_TOKEN. Raises SubmitError when it is missing or no token."""
    token = os.environ.get("LARKFIELD_TOKEN", "").strip()
    if not token:
        raise SubmitError("LARKFIELD_TOKEN is not set: give it a token that `manage.py createcaller` has printed.")
    if not token.isascii() or not token.isprintable():
        raise SubmitError("LARKFIELD_TOKEN holds characters that no token has.")
    return token


class Client:
    """Talks to the API at `api`, an address without a path. `pause` waits visibly; tests hand in a `transport`."""

    def __init__(self, api: str, token: str, pause: Pause, transport: httpx.BaseTransport | None = None) -> None:
        host = _host_of(api)
        self.api, self._pause = api.rstrip("/"), pause
        self._http = httpx.Client(
            base_url=self.api,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_SECONDS,
            transport=transport,
            # No proxy stands between this machine and itself.
            trust_env=host not in ("127.0.0.1", "localhost", "::1"),
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.close()

    def submit(self, parcel: Parcel) -> Accepted:
        """The document is accepted. Refusals with a time are obeyed and counted; Refused for every other answer."""
        answer, refusals = self._ask(
            "POST",
            f"/v1/documents/{parcel.slug}/versions",
            files={"file": (parcel.file_name or f"{parcel.slug}.md", parcel.content, parcel.media_type)},
            data={"title": parcel.title} if parcel.title else None,
            headers={"Idempotency-Key": parcel.key},
        )
        if answer.status_code != 202:
            raise Refused(f"{parcel.slug} was not accepted: {_words(answer)}", answer.status_code)
        body = _object(answer)
        is_replay = answer.headers.get("Idempotent-Replayed") == "true"
        wait = body.get("estimate", {}).get("wait_seconds")
        number, job_id = int(body["version"]["number"]), str(body["job"]["id"])
        return Accepted(parcel.slug, number, job_id, is_replay, refusals, wait)

    def newest(self, slug: str) -> Newest | None:
        """The document's newest version that is published or waits; None where there is none."""
        document = self._get(f"/v1/documents/{slug}")
        if document is None:
            return None
        pending, published = document.get("pending"), document.get("published")
        shown = pending or published
        if not shown:
            return None
        version = self._get(f"/v1/documents/{slug}/versions/{shown['number']}")
        if version is None:
            return None
        return Newest(str(version["sha256"]), str(pending["job"]["id"]) if pending else None, int(shown["number"]))

    def job(self, job_id: str) -> dict[str, Any]:
        """The job as GET /v1/jobs/{id} shows it."""
        found = self._get(f"/v1/jobs/{job_id}")
        if found is None:
            raise SubmitError(f"The job {job_id} can't be seen by this caller.")
        return found

    def workers(self, queue: str) -> int:
        """How many live workers the queue has."""
        found = self._get("/v1/queue") or {}
        return int(found.get("queues", {}).get(queue, {}).get("workers", 0))

    def _get(self, path: str) -> dict[str, Any] | None:
        answer, _ = self._ask("GET", path)
        if answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise SubmitError(f"GET {path}: {_words(answer)}")
        return _object(answer)

    def _ask(self, method: str, path: str, **request: Any) -> tuple[httpx.Response, int]:
        """The first answer that is neither a refusal nor a fault, and how many refusals came before it."""
        faults = refusals = 0
        end = monotonic() + PATIENCE_SECONDS
        while True:
            try:
                answer = self._http.request(method, path, **request)
            except httpx.HTTPError as error:
                found = f"{self.api} does not answer ({type(error).__name__})"
            else:
                if answer.status_code in REFUSALS:
                    refusals += 1
                    self._obey(answer, end)
                    continue
                if answer.status_code < 500:
                    return answer, refusals
                found = _words(answer)
            faults += 1
            if faults == FAULT_TRIES:
                raise SubmitError(f"{found}, {faults} times.")
            self._pause(2.0 ** (faults - 1), found)

    def _obey(self, answer: httpx.Response, end: float) -> None:
        try:
            seconds = min(RETRY_AFTER_MAX_SECONDS, max(0.0, float(answer.headers.get("Retry-After", ""))))
        except ValueError:
            seconds = RETRY_AFTER_SECONDS
        if monotonic() + seconds > end:
            raise SubmitError(f"Refused for {PATIENCE_SECONDS:.0f} s, at last with {_words(answer)}")
        self._pause(seconds, _code(answer) or f"refused with {answer.status_code}")


def _host_of(api: str) -> str:
    """The host of the API's address. Raises SubmitError where the text is no address."""
    try:
        parts = urlsplit(api)
        host = parts.hostname if parts.scheme in ("http", "https") and parts.port != 0 else None
    except ValueError:
        host = None
    if not host:
        raise SubmitError(f"--api is {api!r}: it must be an address such as http://127.0.0.1:8000.")
    return host


def _object(answer: httpx.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SubmitError(f"{answer.url} does not answer as Larkfield's API does.")
    return found


def _code(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["code"]).replace("_", " ")
    except (ValueError, KeyError, TypeError):
        return ""


def _words(answer: httpx.Response) -> str:
    """Status and detail of a problem document, in one line."""
    try:
        detail = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        detail = answer.text[:200]
    return " ".join(f"{answer.status_code} {detail}".split())
