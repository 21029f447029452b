"""PostgreSQL 18 with pgvector for development: its data folder, its start, its database. Knows no table."""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from larkfield.embedded import sockets
from larkfield.embedded.accounts import account_for, open_the_way
from larkfield.embedded.binaries import postgres_program
from larkfield.embedded.errors import EmbeddedUnavailable, telling_line

MAJOR = "18"
DATABASE = "larkfield"
SUPERUSER = "postgres"
SOCKET_NAME = ".s.PGSQL.5432"
FIRST_VISIT = 7_205_801  # any number: the advisory lock under which the database is created by one process only
SETTINGS = {
    "listen_addresses": "",  # the socket alone, in a folder that only its owner may enter
    "max_connections": "200",  # API, workers, the tests' processes and a few shells at once
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    # Parallel plans take shared memory from /dev/shm, of which containers often have 64 MB, for nothing.
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "log_checkpoints": "off",
    "fsync": "on",  # said aloud: a published version survives a power cut here as well
}


@dataclass(frozen=True)
class Postgres:
    """The server below `directory`; its data lies in `directory/postgres`."""

    directory: Path
    name: str = "postgres"
    stop_signal: int = signal.SIGINT  # PostgreSQL's "fast": ends sessions, writes a checkpoint

    @property
    def cluster(self) -> Path:
        return self.directory / "postgres"

    @property
    def folder(self) -> Path:
        return sockets.folder_for(self.cluster, SOCKET_NAME, self._memory)

    @property
    def _memory(self) -> Path:
        return self.directory / "run" / "postgres.folder"

    def account(self) -> tuple[int, int] | None:
        return account_for(self.cluster)

    def prepare(self, lock: int) -> None:
        """The data folder holds a cluster of this major version that nothing else runs on."""
        program = postgres_program("postgres")
        if self.account() is not None:
            open_the_way(self.directory, program.parent)
        if not self.cluster.exists():
            self._initialise(lock)
        found = (self.cluster / "PG_VERSION").read_text().strip()
        if found != MAJOR:
            raise EmbeddedUnavailable(f"{self.cluster} was made by PostgreSQL {found}; this is {MAJOR}: move it away")
        sockets.provide_folder(self.cluster, SOCKET_NAME, self._memory, self.account())
        self._clear_leftovers()

    def _initialise(self, lock: int) -> None:
        """Made beside its place, then moved: a broken start leaves nothing that seems complete."""
        fresh = self.directory / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700, parents=True)
        account = self.account()
        if account is not None:
            os.chown(fresh, *account)
        self._run(
            "initdb", "--pgdata", str(fresh), "--username", SUPERUSER, "--auth", "trust",
            "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-instructions", lock=lock,
        )  # fmt: skip
        fresh.rename(self.cluster)

    def _clear_leftovers(self) -> None:
        """No server runs on the cluster and no file claims one.

        PostgreSQL itself sees that the writer of `postmaster.pid` is dead, but not that its number now
        belongs to another program. A server that outlived its keeper (macOS can't bind it to it) is stopped.
        """
        claim = self.cluster / "postmaster.pid"
        number = claim.read_text().split("\n", 1)[0].strip() if claim.exists() else ""
        if not number or (runs := _command_name(number)) == "":
            return
        if not runs.startswith("postgres"):
            claim.unlink()
        elif self.answers():
            self._run("pg_ctl", "stop", "--pgdata", str(self.cluster), "--mode", "fast", "--wait")

    def _run(self, program: str, *arguments: str, lock: int | None = None) -> None:
        user, group = self.account() or (None, None)
        done = subprocess.run(
            [str(postgres_program(program)), *arguments],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, cwd="/",
            user=user, group=group, extra_groups=[] if user is not None else None,
            pass_fds=() if lock is None else (lock,),
        )  # fmt: skip
        if done.returncode:
            raise EmbeddedUnavailable(f"{program} failed: {telling_line(done.stderr) or done.returncode}")

    def command(self) -> list[str]:
        settings = {**SETTINGS, "unix_socket_directories": str(self.folder)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(postgres_program("postgres")), "-D", str(self.cluster), *options]

    def answers(self) -> bool:
        """Whether it takes connections; the database and the extension exist then."""
        try:
            with psycopg.connect(self._url("postgres"), autocommit=True, connect_timeout=2) as connection:
                self._provide_database(connection)
        except psycopg.OperationalError:
            return False
        except psycopg.Error as error:
            raise EmbeddedUnavailable(f"the database {DATABASE} cannot be made: {telling_line(str(error))}") from error
        return True

    def _provide_database(self, connection: psycopg.Connection) -> None:
        connection.execute("SELECT pg_advisory_lock(%s)", (FIRST_VISIT,))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
            connection.execute(f'CREATE DATABASE "{DATABASE}"'.encode())
        with psycopg.connect(self._url(DATABASE), autocommit=True, connect_timeout=2) as inside:
            inside.execute("SET client_min_messages = warning")
            inside.execute("CREATE EXTENSION IF NOT EXISTS vector")

    def _url(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.folder), safe='')}"

    def url(self) -> str:
        return self._url(DATABASE)


def _command_name(process: str) -> str:
    """The name of the program that runs under this process number; empty when none does."""
    try:
        return Path("/proc", process, "comm").read_text().strip()
    except OSError:
        if Path("/proc/self").exists():
            return ""
    listed = subprocess.run(["ps", "-o", "comm=", "-p", process], capture_output=True, text=True, check=False)
    return Path(listed.stdout.strip()).name
