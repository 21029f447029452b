"""A socket and a server for the application. Reads no command line."""

import asyncio
import socket
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

BACKLOG = 2048
# Longer than clients keep an idle connection: the client then ends it, and no call meets a closing one.
KEEP_ALIVE_SECONDS = 75


class OpenProtocol(H11Protocol):
    """HTTP with its transport within the application's reach, so that a fault can close it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


class QuickServer(uvicorn.Server):
    """A server that hangs up on calls in flight when it is told to stop, and whose process then ends with 0."""

    def handle_exit(self, sig: int, frame: object) -> None:
        """The server stops; unlike the parent's, the signal is not raised again afterwards."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Every connection is closed at once: a simulated reply is not worth waiting for."""
        for connection in list(self.server_state.connections):
            if transport := cast(Any, connection).transport:
                transport.abort()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; OSError where the address is taken or not ours. Port 0 takes any free one."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def build_server(app: ASGIApp) -> QuickServer:
    """A server that is not running yet; `run(sockets=[...])` serves until it is told to stop."""
    config = uvicorn.Config(
        app,
        http=OpenProtocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
    )
    return QuickServer(config)
