"""What became of every upload that was answered 202, read from the tables; each break is a sentence with its ids."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from loadtests.faults_product import Stage
from loadtests.faults_uploads import Offer

# A job, its version and the key under which it was asked for.
JOBS = """
SELECT job.id::text, job.state, job.attempt, job.error_code, document.slug, version.number, version.sha256,
       version.published_at IS NOT NULL OR version.superseded_at IS NOT NULL AS is_out, held.key
FROM ingestion_job AS job
LEFT JOIN ingestion_documentversion AS version ON version.job_id = job.id
LEFT JOIN ingestion_document AS document ON document.id = version.document_id
LEFT JOIN ingestion_idempotencykey AS held ON held.answer -> 'job' ->> 'id' = job.id::text
WHERE job.queue = 'documents'
"""
# Two ends of one job, or an end that its state does not show.
ENDS = """
SELECT job.id::text, count(ended.id)
FROM ingestion_job AS job
LEFT JOIN ingestion_joboutcome AS ended ON ended.job_id = job.id AND ended.outcome = job.state
WHERE job.finished_at IS NOT NULL
GROUP BY job.id
HAVING count(ended.id) <> 1 OR EXISTS (
    SELECT 1 FROM ingestion_joboutcome AS other WHERE other.job_id = job.id AND other.outcome <> job.state
    AND other.outcome IN ('succeeded', 'failed', 'dead_letter', 'cancelled', 'expired')
)
"""
# Rows of a finished version that are missing or there twice, counted apart from the product's own check.
OUTPUT = """
SELECT job.id::text, version.chunk_count,
       (SELECT count(*) FROM ingestion_chunk AS chunk WHERE chunk.job_id = job.id),
       (SELECT count(*) FROM ingestion_chunkvector AS vector JOIN ingestion_chunk AS chunk ON chunk.id = vector.chunk_id
        WHERE chunk.job_id = job.id),
       (SELECT count(*) FROM ingestion_summary AS summary WHERE summary.job_id = job.id)
FROM ingestion_job AS job JOIN ingestion_documentversion AS version ON version.job_id = job.id
WHERE job.state = 'succeeded'
"""


@dataclass(frozen=True)
class Accounts:
    """Counts of jobs by state and by tries, dead letters by reason, and what is wrong."""

    states: Counter[str]
    tries: Counter[int]
    reasons: Counter[str]
    violations: list[str]


def account(stage: Stage, offers: list[Offer]) -> Accounts:
    """Every accepted upload is one version that is out, or ended with a reason; nothing is there that nobody sent."""
    rows = stage.rows(JOBS)
    found = {row[0]: row for row in rows}
    violations = [sentence for offer in offers for sentence in _of_offer(offer, found)]
    asked = {job for offer in offers for job in offer.jobs}
    violations += [f"job {job} was accepted for nobody" for job in found if job not in asked]
    violations += [f"job {job} has {count} records of its end" for job, count in stage.rows(ENDS)]
    violations += [
        f"job {job}: {chunks} chunks, {vectors} vectors and {summaries} summaries for {wanted} positions"
        for job, wanted, chunks, vectors, summaries in stage.rows(OUTPUT)
        if not (wanted == chunks == vectors and summaries == 1)
    ]
    return Accounts(
        states=Counter(row[1] for row in rows),
        tries=Counter(row[2] for row in rows),
        reasons=Counter(f"{row[1]}: {row[3] or 'no reason'}" for row in rows if row[1] != "succeeded"),
        violations=violations,
    )


def _of_offer(offer: Offer, found: dict[str, Any]) -> list[str]:
    if offer.wrong:
        return [f"{offer.key} was refused for good: {offer.wrong}"]
    if len(offer.jobs) != 1:
        return [f"{offer.key} was answered with {len(offer.jobs)} jobs"]
    job = next(iter(offer.jobs))
    if job not in found:
        return [f"{offer.key} was accepted as job {job}, which is not there"]
    return [f"{offer.key}, job {job}: {flaw}" for flaw in _flaws(offer, found[job])]


def _flaws(offer: Offer, row: Any) -> list[str]:
    _, state, _, error_code, slug, _, sha256, is_out, key = row
    flaws = []
    if (slug, sha256, key) != (offer.slug, offer.sha256, offer.key):
        flaws.append("its version is not the one that was sent")
    if state == "succeeded" and not is_out:
        flaws.append("it succeeded and its version was never published")
    if state in ("queued", "running"):
        flaws.append(f"it is still {state}")
    if state not in ("queued", "running", "succeeded") and not error_code:
        flaws.append(f"it is {state} without a reason")
    return flaws
