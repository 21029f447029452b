"""Stands in for the API in front of a page: each route answers what the test lists, in that order."""

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, Request, Route


@dataclass(frozen=True)
class Reply:
    status: int
    body: str
    headers: dict[str, str] = field(default_factory=dict)


def whole(content: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(content), {"Content-Type": "application/json"})


def refusal(status: int, code: str, detail: str, retry_after: int | None = None) -> Reply:
    headers = {"Content-Type": "application/problem+json"}
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    return Reply(status, json.dumps({"status": status, "code": code, "title": code, "detail": detail}), headers)


def stream(*events: tuple[str, Any]) -> Reply:
    body = "".join(f"event: {name}\ndata: {json.dumps(content)}\n\n" for name, content in events)
    return Reply(200, body, {"Content-Type": "text/event-stream; charset=utf-8"})


class PretendedApi:
    """`asked` holds the requests that came, oldest first. The last reply of a route is given again and again."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.asked: list[Request] = []

    def answers(self, *replies: Reply) -> None:
        self._route("**/v1/answers", replies)

    def uploads(self, *replies: Reply) -> None:
        self._route("**/v1/documents/*/versions", replies)

    def jobs(self, *replies: Reply) -> None:
        self._route("**/v1/jobs/*", replies)

    def numbers(self, *replies: Reply) -> None:
        self._route("**/operations/numbers", replies)

    def feedback(self, *replies: Reply) -> None:
        self._route("**/feedback", replies)

    def _route(self, pattern: str, replies: tuple[Reply, ...]) -> None:
        waiting = deque(replies)

        def give(route: Route) -> None:
            self.asked.append(route.request)
            reply = waiting.popleft() if len(waiting) > 1 else waiting[0]
            route.fulfill(status=reply.status, headers=reply.headers, body=reply.body)

        self._page.route(pattern, give)
