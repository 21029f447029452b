"""Starts the view on the stage's server and PostgreSQL, in a database of its own."""

import subprocess
import sys

import psycopg

from loadtests.footprint import free_port
from loadtests.installation import Installation
from loadtests.machine import ROOT

SETTINGS = "loadtests.bench.drf_project.settings"
MAKE_USER = (
    "from django.contrib.auth.models import User; from rest_framework.authtoken.models import Token; "
    "print(Token.objects.create(user=User.objects.create_user('bench')).key)"
)


def start(stage: Installation) -> tuple[str, str, int]:
    """(url of the view, its token, the server's process)."""
    with psycopg.connect(stage.database_url, autocommit=True) as own:
        own.execute("CREATE DATABASE bench_drf")
    address = stage.database_url.replace("/larkfield?", "/bench_drf?")
    changes = {"DJANGO_SETTINGS_MODULE": SETTINGS, "BENCH_DATABASE_URL": address}
    _django(stage, changes, "migrate", "--run-syncdb", "--verbosity", "0")
    token = _django(stage, changes, "shell", "-v", "0", "-c", MAKE_USER).strip()
    port = free_port()
    child = stage.start_server("drf", port, "loadtests.bench.drf_project.wsgi:application", changes=changes)
    return f"http://127.0.0.1:{port}/rows", token, child.process.pid


def _django(stage: Installation, changes: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "django", *arguments],
        cwd=ROOT, env=stage.environment | changes, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the DRF project: {done.stderr.strip()[-500:]}")
    return done.stdout
