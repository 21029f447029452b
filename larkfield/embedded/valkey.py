"""Valkey 9 for development: a cache without a port and without files. Knows nothing of what is kept in it."""

import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from larkfield.embedded import sockets
from larkfield.embedded.binaries import valkey_server

SOCKET_NAME = "valkey.sock"
SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "save": "",
    "appendonly": "no",
    "maxmemory": "64mb",
    # Callers' rolling limits live here beside the cached answers and end soonest: an eviction policy may drop
    # them first (volatile-ttl does) and so lift a limit. Full means here that no further answer is cached,
    # which the product survives; the cached ones end by themselves.
    "maxmemory-policy": "noeviction",
    "daemonize": "no",
    "loglevel": "notice",
}


@dataclass(frozen=True)
class Valkey:
    """The server below `directory`."""

    directory: Path
    name: str = "valkey"
    stop_signal: int = signal.SIGTERM

    @property
    def folder(self) -> Path:
        return sockets.folder_for(self.directory / "run", SOCKET_NAME, self._memory)

    @property
    def _memory(self) -> Path:
        return self.directory / "run" / "valkey.folder"

    def prepare(self, lock: int) -> None:
        """The socket's folder exists and the binary is there for this platform."""
        del lock  # nothing is started here
        sockets.provide_folder(self.directory / "run", SOCKET_NAME, self._memory, None)
        valkey_server()

    def command(self) -> list[str]:
        settings = {**SETTINGS, "unixsocket": str(self.folder / SOCKET_NAME), "dir": str(self.folder)}
        return [
            str(valkey_server()),
            *(word for name, value in settings.items() for word in (f"--{name}", value)),
        ]

    def account(self) -> tuple[int, int] | None:
        return None  # Valkey runs as root as well

    def answers(self) -> bool:
        """Whether a PING gets its PONG within a second."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1.0)
                connection.connect(str(self.folder / SOCKET_NAME))
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False

    def url(self) -> str:
        return f"unix://{quote(str(self.folder / SOCKET_NAME))}"
