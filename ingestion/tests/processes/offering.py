"""A caller that uploads: through the test client, or over HTTP to an API process."""

import itertools
from typing import Any
from uuid import UUID

import httpx
from django.test import Client

from ingestion import callers

_numbers = itertools.count()
WORDS = [
    "parcel",
    "refund",
    "courier",
    "invoice",
    "warehouse",
    "customer",
    "receipt",
    "exchange",
    "voucher",
    "deadline",
    "label",
    "deposit",
    "complaint",
    "signature",
    "balance",
    "delivery",
    "warranty",
    "seller",
    "account",
    "address",
]


def policy(name: str, sections: int = 8) -> bytes:
    """A policy of its own: no two names share a chunk, so that nothing can be taken over from another."""
    lines = [f"# Policy {name}", ""]
    for section in range(sections):
        lines += [f"## Part {section} of {name}", ""]
        words = [WORDS[(section * 7 + place * 3 + len(name)) % len(WORDS)] for place in range(70)]
        lines += [f"Rule {name} {section}: " + " ".join(words) + ".", ""]
    return "\n".join(lines).encode()


class Uploader:
    """A caller with the rights to upload and to operate, under a limit that it does not reach."""

    def __init__(self, rights: tuple[str, ...] = ("upload", "operate"), uploads_per_minute: int = 100_000) -> None:
        self.name = f"uploader-{next(_numbers)}"
        self.token = callers.create(self.name, rights, uploads_per_minute)
        self.client = Client(headers=self.headers())

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}

    def post(self, slug: str, content: bytes, key: str | None = None) -> Any:
        """The answer to one upload."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.client.post(
            f"/v1/documents/{slug}/versions", content, content_type="text/markdown", headers=headers
        )

    def post_to(self, address: str, slug: str, content: bytes, key: str) -> httpx.Response:
        """The answer of the API process at `address`."""
        headers = self.headers(**{"Content-Type": "text/markdown", "Idempotency-Key": key})
        url = f"{address}/v1/documents/{slug}/versions"
        return httpx.post(url, content=content, headers=headers, trust_env=False, timeout=30)

    def upload(self, slug: str, sections: int = 8) -> UUID:
        """The job of a fresh version that was accepted."""
        answer = self.post(slug, policy(f"{slug} {next(_numbers)}", sections))
        assert answer.status_code == 202, answer.content
        return UUID(answer.json()["job"]["id"])

    def uploads(self, count: int, sections: int = 1) -> list[UUID]:
        """The jobs of that many fresh documents."""
        return [self.upload(f"policy-{next(_numbers)}", sections) for _ in range(count)]

    def queue(self) -> dict[str, Any]:
        """What GET /v1/queue says."""
        found: dict[str, Any] = self.client.get("/v1/queue").json()
        return found

    def job(self, job: UUID) -> dict[str, Any]:
        """What GET /v1/jobs/{id} says."""
        found: dict[str, Any] = self.client.get(f"/v1/jobs/{job}").json()
        return found
