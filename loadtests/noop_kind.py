"""A job that does nothing, for measurements of the queue itself: the claim, the lease and the settlement are real.

`loadtests.noop_settings` installs it, so that `manage.py runworker --queues events` under those settings runs it; the
product does not know it. FILL offers such jobs as admission does: in the queue `events`, each in a partition, the
depth's row included.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from ingestion.queue.claims import Claim
    from ingestion.queue.outcomes import Outcome

NAME = "noop"
# Parameters: caller, count, partitions. One transaction.
FILL = f"""
WITH opened AS (
    INSERT INTO ingestion_checkpoint (partition)
    SELECT 'noop-' || number FROM generate_series(0, %(partitions)s::int - 1) AS number
    ON CONFLICT (partition) DO NOTHING
), counted AS (
    UPDATE ingestion_queuestate
    SET jobs = jobs + %(count)s, units = units + %(count)s, bytes = bytes + %(count)s WHERE queue = 'events'
)
INSERT INTO ingestion_job (queue, kind, caller_id, turn, partition, max_attempts, units, bytes)
SELECT 'events', '{NAME}', %(caller)s, number, 'noop-' || number %% %(partitions)s::int, 5, 1, 1
FROM generate_series(1, %(count)s::int) AS number
"""  # noqa: S608  (a constant of this file)


def noop(claim: "Claim") -> "Outcome":
    from ingestion.queue.outcomes import Done

    return Done()


def noop_together(claims: "Sequence[Claim]") -> None:
    """Nothing; the settlement follows in the same transaction."""


class NoopKind(AppConfig):
    """Adds the kind to the product's table when the programs start."""

    name = "loadtests"
    label = "loadtests_noop"

    def ready(self) -> None:
        # The product's modules load once its models have.
        from ingestion import jobs
        from ingestion.queue.kinds import Kind

        jobs.KINDS[NAME] = Kind(NAME, queue="events", handler=noop, together=noop_together)
