"""The steps that start things: provider, servers, schema, API, worker. `running` has their order."""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from larkfield import embedded
from larkfield.launch import checks, environment
from larkfield.launch.calling import call
from larkfield.launch.children import Child, Children, wait_for_end
from larkfield.launch.demo import DEMO_NAME, Demo, provide_demo
from larkfield.launch.errors import REFUSED, CannotLaunch, ChildDied
from larkfield.launch.speaking import Speaker
from larkfield.launch.stopping import Stopping

SIMULATOR_PORT = 9090
SIMULATOR_KEY = "simulated"
READY_SECONDS = 60.0  # Django on a slow machine; a product that needs longer is broken
DRAIN_GRACE_SECONDS = 10.0  # what a worker may take beyond its own DRAIN_SECONDS
API_OPTIONS = [
    "--interface", "wsgi", "--host", "127.0.0.1", "--no-ws",
    "--workers", "2",  # one busy with CPU does not stop /readyz; more gain nothing on two cores
    "--blocking-threads", "8",  # a thread waits for the database or the provider most of its time
    "--workers-kill-timeout", "8",
]  # fmt: skip


class Launch:
    """One launch: its environment, its children and what it has found out so far."""

    def __init__(self, root: Path, shell: Mapping[str, str], speaker: Speaker) -> None:
        self.root = root
        self.environment = environment.read_environment(root, shell)
        self.var = (root / self.environment.get("LARKFIELD_DATA_DIR", "var")).resolve()
        self.environment["LARKFIELD_DATA_DIR"] = str(self.var)
        self.environment["PYTHONUNBUFFERED"] = "1"
        self.say = speaker
        self.children = Children(root, self.var / "log")
        self.stopping = Stopping(hurry=self.children.kill_all)
        self.port = 0
        self._looked_at_servers = 0.0
        self._simulator: Child | None = None

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def attend(self) -> None:
        """Raises when a stop was asked for, a child has died or an embedded server has."""
        self.stopping.check()
        self.children.check()
        if time.monotonic() - self._looked_at_servers > 1.0:
            self._looked_at_servers = time.monotonic()
            for name in embedded.fallen(self.var):
                raise ChildDied(f"{name} ended unexpectedly; see {self.var / 'log' / name}.log")

    def pause(self, seconds: float) -> None:
        self.stopping.pause(seconds)
        self.attend()

    # --- the steps, in their order ---

    def check_given(self) -> None:
        """The port is free and every address that a person has given answers; nothing has been started yet."""
        self.port = environment.port_of(self.environment)
        checks.check_port(self.port)
        self.environment["PORT"] = str(self.port)
        found = self.environment
        given: list[tuple[str, str, Callable[[str], None]]] = [
            ("PostgreSQL", "DATABASE_URL", checks.check_database),
            ("Valkey", "VALKEY_URL", checks.check_cache),
            ("storage", "AZURE_STORAGE_CONNECTION_STRING", checks.check_storage),
            (
                "provider",
                "PROVIDER_BASE_URL",
                lambda url: checks.check_provider(url, found.get("PROVIDER_API_KEY", "")),
            ),
        ]
        for name, variable, check in given:
            if variable in found:
                check(found[variable])
                self.say.step(name, f"{variable} answers")

    def start_simulator(self) -> None:
        """PROVIDER_BASE_URL is known: the given one, or that of the simulator, which is being started."""
        if "PROVIDER_BASE_URL" in self.environment:
            return
        port = SIMULATOR_PORT
        if port == self.port or not checks.is_free(port):
            port = checks.free_port()
            self.say.step("simulator", f"port {SIMULATOR_PORT} is taken: it gets {port}")
        command = [sys.executable, "-m", "simulator", "--port", str(port)]
        self._simulator = self.children.start("simulator", command, self.environment)
        self.environment["PROVIDER_BASE_URL"] = f"http://127.0.0.1:{port}/v1"
        self.environment.setdefault("PROVIDER_API_KEY", SIMULATOR_KEY)

    def start_servers(self) -> None:
        """DATABASE_URL and VALKEY_URL are known: the given ones, or those of embedded servers that answer."""
        if "DATABASE_URL" not in self.environment:
            self.environment["DATABASE_URL"] = embedded.database_url(self.var)
            self.say.step("PostgreSQL", f"embedded, its data in {self.short(self.var / 'postgres')}")
        if "VALKEY_URL" not in self.environment:
            self.environment["VALKEY_URL"] = embedded.valkey_url(self.var)
            self.say.step("Valkey", "embedded")

    def prepare(self) -> Demo:
        """The schema is current, the demo caller exists."""
        demo = provide_demo(self.var)
        command = [sys.executable, "-m", "larkfield.launch.preparing", str(self.var)]
        child = self.children.start("prepare", command, self.environment, lasting=False)
        code = wait_for_end(child, self.attend)
        self.children.forget(child)
        if code == REFUSED:
            raise CannotLaunch(f"a setting is wrong:\n{child.last_lines()}")
        if code:
            raise CannotLaunch(f"migrating failed with exit code {code}; the end of {child.log}:\n{child.last_lines()}")
        self.say.step("schema", f"migrated; the caller {DEMO_NAME!r} is there")
        return demo

    def start_product(self) -> None:
        """/readyz answers 200 and a worker runs."""
        command = [sys.executable, "-m", "granian", *API_OPTIONS, "--port", str(self.port)]
        api = self.children.start("api", [*command, "larkfield.wsgi:application"], self.environment)
        self._wait_until_answering("the API", f"{self.api}/readyz", api)
        self.say.step("API", f"ready in {self.say.elapsed_seconds():.1f} s: {self.api}")
        if self._simulator is not None:  # a worker that comes first would count its start as an outage
            models = f"{self.environment['PROVIDER_BASE_URL']}/models"
            token = self.environment["PROVIDER_API_KEY"]
            self._wait_until_answering("the simulator", models, self._simulator, token)
        patience = _seconds(self.environment.get("DRAIN_SECONDS", ""), default=20.0) + DRAIN_GRACE_SECONDS
        command = [sys.executable, "manage.py", "runworker"]
        self.children.start("worker", command, self.environment, patience_seconds=patience)
        self.say.step("worker", "started")

    def _wait_until_answering(self, what: str, url: str, child: Child, token: str = "") -> None:
        deadline = time.monotonic() + READY_SECONDS
        found = "no connection"
        while time.monotonic() < deadline:
            try:
                status, _, body = call(url, token=token, timeout_seconds=5.0)
            except OSError:
                status = 0
            if status == 200:
                return
            if status:
                found = f"{status} {body.decode(errors='replace')[:300]}"
            self.pause(0.05)
        raise CannotLaunch(
            f"{what} is not ready after {READY_SECONDS:.0f} s ({found}); the end of {child.log}:\n{child.last_lines()}"
        )

    def short(self, path: Path) -> str:
        """A path as a person in the project's folder would write it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def _seconds(found: str, default: float) -> float:
    try:
        return float(found)
    except ValueError:
        return default
