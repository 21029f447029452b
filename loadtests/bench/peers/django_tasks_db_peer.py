"""django-tasks-db: Django's tasks in the database. Its worker runs one task at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import django
from django.conf import settings
from django.core.management import call_command

from loadtests.bench.peers import program
from loadtests.bench.peers.program import Program, Send

parts = urlsplit(program.DATABASE_URL)
settings.configure(
    SECRET_KEY="bench",  # noqa: S106  # signs nothing
    USE_TZ=True,
    INSTALLED_APPS=["django.contrib.contenttypes", "django_tasks", "django_tasks_db"],
    TASKS={"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}},
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql", "NAME": parts.path.strip("/"), "USER": parts.username,
            "HOST": parse_qs(parts.query)["host"][0], "CONN_MAX_AGE": None,
        }
    },
)  # fmt: skip
django.setup()

from django_tasks import task  # noqa: E402  # its models need the settings above


@task()
def noop(sent: float | None = None) -> None:
    program.stamp(sent)


def prepare() -> None:
    call_command("migrate", verbosity=0)


def fill(count: int) -> None:
    for _ in range(count):
        noop.enqueue()


@contextmanager
def sending() -> Iterator[Send]:
    yield lambda sent: noop.enqueue(sent=sent)


def work() -> None:
    call_command("db_worker", verbosity=0)


PROGRAM = Program(prepare, fill, work, sending)
