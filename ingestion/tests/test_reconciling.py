"""reconcile: it holds on a living product, and each rule, broken by SQL, is named with the rows that break it."""

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from ingestion.models import DocumentVersion
from ingestion.reconciling import check_all
from ingestion.reconciling.checking import RULES
from ingestion.tests import living, making
from ingestion.tests.reconciling_breaks import BREAKS

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Path]:
    """Where the files are of a small living product, which every test of this module finds as it was made."""
    made = tmp_path_factory.mktemp("files")
    with django_db_blocker.unblock(), living.surroundings(made):
        living.live()
        yield made


@pytest.fixture(autouse=True)
def product(folder: Path, db: None) -> Iterator[Path]:
    """The folder of its files; what a test changes in it is undone, as the database is."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield folder
    for path in folder.rglob("*"):
        if path.is_file() and path not in before:
            path.unlink()
    for path, content in before.items():
        path.write_bytes(content)


def reconcile() -> tuple[bool, dict[str, Any]]:
    """Whether the command ended well, and its rules by name."""
    out = io.StringIO()
    try:
        call_command("reconcile", "--json", stdout=out)
    except CommandError:
        ended_well = False
    else:
        ended_well = True
    found = json.loads(out.getvalue())
    assert found["holds"] == ended_well
    return ended_well, {rule["name"]: rule for rule in found["rules"]}


def broken() -> dict[str, list[str]]:
    """The names of the broken rules, each with what it names."""
    return {one.name: one.ids for one in check_all() if not one.holds}


def test_it_holds_on_a_living_product() -> None:
    ended_well, rules = reconcile()
    assert ended_well, {name: rule for name, rule in rules.items() if rule["broken"]}
    assert {rule["invariant"] for rule in rules.values()} == set(range(1, 9))


def test_it_holds_while_a_job_runs() -> None:
    making.claim_one()
    assert broken() == {}


def test_it_holds_after_a_revival_and_a_second_end() -> None:
    with connection.cursor() as cursor:
        cursor.execute(living.DEAD)
        (job_id,) = cursor.fetchone()
    making.change_job(job_id, max_attempts=5)
    call_command("retryjob", str(job_id), stdout=io.StringIO())
    assert broken() == {}
    making.work()
    assert making.job(job_id).state == "succeeded"
    assert broken() == {}


@pytest.mark.parametrize(("rule", "damage", "named"), BREAKS, ids=[rule for rule, _, _ in BREAKS])
def test_each_rule_names_what_breaks_it(rule: str, damage: str, named: str) -> None:
    with connection.cursor() as cursor:
        # Constraints that wait for the commit would stand in the way of the damage.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(named)
        name = str(cursor.fetchone()[0])
        cursor.execute(damage)
        assert cursor.rowcount != 0
    ended_well, rules = reconcile()
    assert not ended_well
    assert rules[rule]["broken"] >= 1
    assert name in rules[rule]["ids"]


def test_every_rule_has_a_control() -> None:
    assert {rule.name for rule in RULES} == {rule for rule, _, _ in BREAKS}


def test_a_file_that_is_missing_or_changed_is_named(product: Path) -> None:
    first, second = DocumentVersion.objects.order_by("id")[:2]
    (product / first.storage_key).unlink()
    (product / second.storage_key).write_bytes(b"something else")
    assert broken() == {"files_are_whole": sorted([first.storage_key, second.storage_key])}


def test_a_file_without_a_version_is_named_after_the_grace_time(product: Path) -> None:
    orphan = product / "versions" / "returns" / "orphan"
    orphan.write_bytes(b"nobody's")
    assert broken() == {}
    os.utime(orphan, (0, 0))
    assert broken() == {"files_have_a_version": ["versions/returns/orphan"]}


def test_many_breaks_are_counted_and_some_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ingestion_document (slug, title, latest_number) "
            "SELECT 'ghost-' || n, 'Ghost', 3 FROM generate_series(100, 124) AS n"
        )
    out = io.StringIO()
    with pytest.raises(CommandError, match=f"1 of {len(RULES) + 2} rules are broken"):
        call_command("reconcile", stdout=out)
    assert "25: ghost-100, ghost-101," in out.getvalue()
    assert "ghost-119 and 5 more" in out.getvalue()
