"""Answers as they leave the socket: JSON, an error, a stream that may break, or none at all."""

import asyncio
import socket
import struct
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from simulator.errors import ApiError
from simulator.wire import dumps

# Lingering for no time makes the kernel send a reset instead of an orderly end.
NO_LINGER = struct.pack("ii", 1, 0)


def json_response(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer; values that are no numbers are written as they are."""
    return Response(dumps(body), status, headers, media_type="application/json")


def error_response(error: ApiError) -> Response:
    """The error with its status, body and headers."""
    return json_response(error.body(), error.status, error.headers)


class NoAnswer(Response):
    """The connection ends without an answer: in good form, or with a reset."""

    def __init__(self, reset: bool = False) -> None:
        super().__init__()
        self.reset = reset

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hang_up(scope, self.reset)
        # The server answers 500 for a call that returns early, so this one waits until the connection is gone.
        await until_gone(receive)


def hang_up(scope: Scope, reset: bool) -> None:
    """The call's connection closes after what was already written; with `reset` at once and rudely."""
    transport: asyncio.Transport = scope["state"]["transport"]
    if not reset:
        transport.close()
        return
    if raw := transport.get_extra_info("socket"):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    transport.abort()


async def until_gone(receive: Receive) -> None:
    """The client has left; to be called once the body was read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def stays_for(request: Request, seconds: float) -> bool:
    """The seconds have passed and the client is still there; False as soon as it leaves."""
    if seconds <= 0:
        return True
    gone = asyncio.ensure_future(until_gone(request.receive))
    try:
        done, _ = await asyncio.wait({gone}, timeout=seconds)
    finally:
        gone.cancel()
    return not done


async def hang(request: Request, wake: asyncio.Event, seconds: float) -> None:
    """Waits until the client leaves, `wake` is set or the seconds have passed, whichever comes first."""
    waits = {asyncio.ensure_future(until_gone(request.receive)), asyncio.ensure_future(wake.wait())}
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
