"""`manage.py runworker`: one worker process until it is told to stop."""

import logging
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections as django_connections

from ingestion import jobs, traces, worker
from ingestion.management.shell import ShellCommand, UsageError
from ingestion.provider import client
from ingestion.worker.database import answers
from ingestion.worker.loop import Loop

STATEMENT_SECONDS_MAX = 30.0
# What DRAIN_SECONDS may be too.
SECONDS_MAX = 86_400.0


class Command(ShellCommand):
    help = "Runs jobs until SIGTERM or Ctrl-C, then drains; a second signal ends it at once."
    example = "manage.py runworker --queues documents --concurrency 8"
    exit_codes = {
        0: "drained, or with --once nothing is ready any more",
        1: "database or provider can't be reached at the start, or leases could not be kept",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--queues", default=",".join(jobs.QUEUES), help="names, separated by commas")
        parser.add_argument("--concurrency", type=int, default=settings.WORKER_CONCURRENCY, help="jobs at a time")
        parser.add_argument("--drain-seconds", type=float, default=settings.DRAIN_SECONDS, help="time to finish")
        parser.add_argument("--once", action="store_true", help="run all that is ready, then exit")

    def handle(self, *args: Any, **options: Any) -> None:
        queues = [name.strip() for name in options["queues"].split(",") if name.strip()]
        unknown = [name for name in queues if name not in jobs.QUEUES]
        if unknown or not queues:
            raise UsageError(f"Unknown queue {', '.join(unknown) or '(none)'}: choose from {', '.join(jobs.QUEUES)}.")
        if not 1 <= options["concurrency"] <= 256:
            raise UsageError("--concurrency must be from 1 to 256.")
        if not 0 <= options["drain_seconds"] <= SECONDS_MAX:
            raise UsageError("--drain-seconds must not be negative, nor beyond a day.")
        self._check_surroundings(queues)
        self._shape_connections(django_connections["default"].settings_dict["OPTIONS"])
        loop = Loop(queues, options["concurrency"], options["drain_seconds"], once=options["once"])
        loop.stopping.install()
        code = loop.run()
        # Threads that still wait for the provider have lost their claims; nothing they do is written.
        traces.end()
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def _shape_connections(self, options: dict[str, Any]) -> None:
        """All threads of a worker share few connections: none is held while a job waits for the provider."""
        # Tells the operator's `pg_stat_activity` whose a connection is.
        if options["application_name"] == settings.APPLICATION_NAME:
            options["application_name"] += " worker"
        options["pool"] = {"min_size": 1, "max_size": worker.POOL_MAX, "timeout": 30, "max_idle": 60}
        # A statement that waits for a lock must fail while the lease still lasts, or nobody notices that it ends.
        patience = max(1.0, min(STATEMENT_SECONDS_MAX, settings.LEASE_SECONDS / 3))
        options["options"] += f" -c statement_timeout={patience * 1000:.0f}"

    def _check_surroundings(self, queues: list[str]) -> None:
        """One clear line and a failure where the worker could do nothing."""
        if not answers():
            host = settings.DATABASES["default"]["HOST"] or "the local socket"
            raise CommandError(f"The database at {host} does not answer: check DATABASE_URL.")
        if "documents" in queues and (problem := client.check_reachable()):
            raise CommandError(problem)
