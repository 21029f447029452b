"""Checks every rule in one snapshot, then the files."""

from typing import Any

from django.conf import settings
from django.db import connection, transaction

from ingestion.models import embedding_version
from ingestion.models.jobs import LIVE_STATES, TERMINAL_STATES
from ingestion.reconciling import effects, files, queues, spending, versions
from ingestion.reconciling.rules import SHOWN_MAX, Finding, Rule

RULES: list[Rule] = [*queues.RULES, *versions.RULES, *effects.RULES, *spending.RULES]

# A sweep comes at least every 5 s or third of a lease; the rest is the time that a busy database takes for one.
SWEEP_SECONDS = 5.0
SWEEP_SLACK_SECONDS = 2.0
# Beyond the timeout of an ordinary statement: nobody waits for this one, and it locks nothing.
STATEMENT_TIMEOUT = "300s"

COUNT = """
WITH broken(id) AS ({query})
SELECT (SELECT count(*) FROM broken), ARRAY(SELECT id FROM broken ORDER BY id LIMIT {most})
"""


def check_all() -> list[Finding]:
    """What was found of every rule, in the order of the invariants."""
    with transaction.atomic():
        _hold_snapshot()
        found = [_check(rule) for rule in RULES]
        kept = files.kept_files()
    found += [files.files_are_whole(kept), files.files_have_a_version()]
    return sorted(found, key=lambda one: one.invariant)


def _hold_snapshot() -> None:
    """All rules see the same moment. Inside a transaction of somebody else (a test) its own snapshots do."""
    with connection.cursor() as cursor:
        if not connection.savepoint_ids:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [STATEMENT_TIMEOUT])


def _check(rule: Rule) -> Finding:
    with connection.cursor() as cursor:
        cursor.execute(COUNT.format(query=rule.query, most=SHOWN_MAX), _parameters())
        broken, ids = cursor.fetchone()
    return Finding(rule.invariant, rule.name, rule.sentence, broken, ids)


def _parameters() -> dict[str, Any]:
    return {
        "states": [*LIVE_STATES, *TERMINAL_STATES],
        "terminal": list(TERMINAL_STATES),
        "sweep_seconds": min(SWEEP_SECONDS, settings.LEASE_SECONDS / 3) + SWEEP_SLACK_SECONDS,
        "embedding_version": embedding_version(),
    }
