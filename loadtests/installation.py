"""One installation for one measurement: the product as it is shipped, on data of its own, with a few settings named.

It is the fault run's stage without its short times: what is not named here or by the measurement has its default.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from larkfield.launch.children import Child
from loadtests import faults_product, loopback
from loadtests.faults_product import Stage, until

# As `make run` serves it.
API_OPTIONS = ["--workers", "2", "--blocking-threads", "8", "--workers-kill-timeout", "8"]
KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
TIMEOUT_SECONDS = 60.0


class Installation(Stage):
    """Servers, provider, API and workers of one measurement. `settings` are the product's, by their names."""

    def __init__(
        self, folder: Path, settings: Mapping[str, str], *, workers: int = 1, provider: tuple[str, ...] = ()
    ) -> None:
        loopback.demand(settings)
        super().__init__(folder, seed=1, workers=workers)
        self.settings, self.provider_options = dict(settings), provider
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment |= {"PYTHONUNBUFFERED": "1", **settings}

    def start(self) -> None:
        """The API answers and all workers run."""
        super().start()
        self.api = httpx.Client(base_url=self.api_url, trust_env=False, timeout=TIMEOUT_SECONDS)

    def _start_provider(self, port: int) -> None:
        self.start_provider(port, *self.provider_options)

    def start_provider(self, port: int, *options: str) -> None:
        command = [sys.executable, "-m", "simulator", "--port", str(port), *options]
        self.provider = self.children.start("simulator", command, self.environment, lasting=False)
        until("the simulator answers", lambda: self._answers(f"{self.provider_url}/_control/ledger"))

    def _start_api(self, port: int) -> None:
        self.api_process = self.start_server("api", port, "larkfield.wsgi:application")

    def start_server(
        self,
        name: str,
        port: int,
        application: str,
        *,
        ready: str = "/readyz",
        changes: Mapping[str, str] | None = None,
    ) -> Child:
        """A server of its own, with `changes` of the settings; it answers at `ready`."""
        command = [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port),
            "--no-ws", *API_OPTIONS, application,
        ]  # fmt: skip
        child = self.children.start(name, command, self.environment | dict(changes or {}), lasting=False)
        until(f"{name} is ready", lambda: self._answers(f"http://127.0.0.1:{port}{ready}"))
        return child

    # --- parts that are replaced while the data stays ---

    def stop_process(self, child: Child) -> None:
        child.stop()
        self.children.forget(child)

    def stop_workers(self) -> None:
        for name, child in self.workers.items():
            if child is not None:
                self.stop_process(child)
                self.workers[name] = None

    def restart(self, settings: Mapping[str, str], provider: tuple[str, ...] = ()) -> None:
        """API, workers and provider run anew, under these settings in addition."""
        self.stop_workers()
        self.stop_process(self.api_process)
        self.stop_process(self.provider)
        self.settings |= settings
        self.environment |= settings
        self.start_provider(int(self.provider_url.rpartition(":")[2]), *provider)
        self._start_api(int(self.api_url.rpartition(":")[2]))
        for name in self.workers:
            self.start_worker(name)

    # --- using it ---

    def caller(self, name: str, rights: str) -> dict[str, str]:
        """The headers of a new caller, which no limit of its own keeps from uploading."""
        token = self.manage("createcaller", name, "--can", rights, "--uploads-per-minute", "1000000").strip()
        return {"Authorization": f"Bearer {token}"}

    def upload(self, headers: Mapping[str, str], slug: str, text: str, key: str = "") -> httpx.Response:
        sent = {**headers, "Content-Type": "text/markdown", **({"Idempotency-Key": key} if key else {})}
        return self.api.post(f"/v1/documents/{slug}/versions", content=text.encode(), headers=sent)

    def reconcile(self) -> dict[str, Any]:
        """How many rules were checked and which are broken."""
        done = subprocess.run(
            [sys.executable, "manage.py", "reconcile", "--json"],
            cwd=faults_product.ROOT, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        rules = json.loads(done.stdout or "{}").get("rules", [])
        broken = {rule["name"]: rule["ids"] for rule in rules if rule["broken"]}
        if not rules:
            broken = {"reconcile": [f"gave no answer: {done.stderr.strip()[-300:]}"]}
        return {"rules": len(rules), "broken": broken}

    def await_full_buckets(self, headers: Mapping[str, str]) -> None:
        """Nothing of the provider's quotas is used."""

        def are_full() -> bool:
            provider = self.api.get("/v1/queue", headers=dict(headers)).json()["provider"]
            return bool(provider["chat"]["used"] == provider["embeddings"]["used"] == 0)

        until("the provider's quotas are free", are_full)

    def await_empty(self, queue: str, within: float = 900.0) -> None:
        """Nothing accepted is unfinished."""
        query = "SELECT jobs FROM ingestion_queuestate WHERE queue = %s"
        until(f"the queue {queue} is empty", lambda: self.rows(query, queue)[0][0] == 0, within)


@contextmanager
def installed(
    settings: Mapping[str, str],
    *,
    workers: int = 1,
    provider: tuple[str, ...] = (),
    kind: type[Installation] = Installation,
) -> Iterator[Installation]:
    """A running installation, of which nothing is left afterwards."""
    with TemporaryDirectory(prefix="larkfield-measure-", ignore_cleanup_errors=True) as folder:
        stage = kind(Path(folder), settings, workers=workers, provider=provider)
        try:
            stage.start()
            yield stage
        finally:
            stage.stop()
            # The servers' own processes leave their files a moment later.
            time.sleep(0.2)
