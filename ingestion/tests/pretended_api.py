"""The documents and jobs routes as the contract words them, answered in this process: for tests of those who call."""

import hashlib
import re
from collections import deque
from typing import Any

import httpx


class PretendedApi:
    """Hand `transport` to a client. `refusals` are answered first; a job looked at has ended in `ending`."""

    def __init__(self) -> None:
        self.transport = httpx.MockTransport(self._answer)
        self.refusals: deque[httpx.Response | Exception] = deque()
        self.ending = "succeeded"
        self.hashes: dict[str, list[str]] = {}
        self.jobs: dict[str, tuple[str, str]] = {}
        self.keys: dict[str, dict[str, Any]] = {}
        self.uploads: list[str] = []
        self.files: dict[str, bytes] = {}

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.headers.get("Authorization") != "Bearer lk_good":
            return problem(401, "unauthenticated", "A valid token is needed.")
        path = request.url.path
        if request.method == "POST" and (found := re.fullmatch(r"/v1/documents/([a-z0-9-]+)/versions", path)):
            return self._upload(found[1], request)
        if found := re.fullmatch(r"/v1/documents/([a-z0-9-]+)", path):
            return self._document(found[1])
        if found := re.fullmatch(r"/v1/documents/([a-z0-9-]+)/versions/(\d+)", path):
            return httpx.Response(200, json={"sha256": self.hashes[found[1]][int(found[2]) - 1]})
        if found := re.fullmatch(r"/v1/jobs/(.+)", path):
            return self._job(found[1])
        return problem(404, "not_found", "There is nothing here.")

    def _upload(self, slug: str, request: httpx.Request) -> httpx.Response:
        if self.refusals:
            refusal = self.refusals.popleft()
            if isinstance(refusal, Exception):
                raise refusal
            return refusal
        key = request.headers["Idempotency-Key"]
        if key in self.keys:
            return httpx.Response(202, json=self.keys[key], headers={"Idempotent-Replayed": "true"})
        file = re.search(rb'filename="([^"]+)".*?\r\n\r\n(.*)\r\n--', request.read(), re.DOTALL)
        assert file is not None
        self.files[file[1].decode()] = file[2]
        versions = self.hashes.setdefault(slug, [])
        versions.append(hashlib.sha256(file[2]).hexdigest())
        job = f"job-{slug}-{len(versions)}"
        self.jobs[job] = (slug, "queued")
        self.uploads.append(slug)
        self.keys[key] = {"version": {"number": len(versions)}, "job": {"id": job}}
        return httpx.Response(202, json=self.keys[key])

    def _document(self, slug: str) -> httpx.Response:
        versions = self.hashes.get(slug)
        if versions is None:
            return problem(404, "not_found", "There is nothing here.")
        number = len(versions)
        state = self.jobs[f"job-{slug}-{number}"][1]
        pending = {"number": number, "job": {"id": f"job-{slug}-{number}"}} if state == "queued" else None
        published = {"number": number} if state == "succeeded" else None
        return httpx.Response(200, json={"slug": slug, "pending": pending, "published": published})

    def _job(self, job: str) -> httpx.Response:
        slug, _ = self.jobs[job]
        self.jobs[job] = (slug, self.ending)
        error = None if self.ending == "succeeded" else {"code": "file_damaged", "detail": "The file is damaged."}
        answer = {"id": job, "state": self.ending, "finished_at": "2026-11-30T09:00:00Z", "error": error}
        return httpx.Response(200, json=answer)


def problem(status: int, code: str, detail: str, **headers: str) -> httpx.Response:
    """A refusal as the API words it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"code": code, "detail": detail}, headers=named)
