"""The provider's own record beside the product's: each call written down before it was made, each repeat explained."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loadtests.faults_product import Stage

CALLS = """
SELECT call.client_request_id, call.job_id::text, call.generation, call.step, call.inputs, call.outcome,
       call.prompt_tokens + call.completion_tokens, extract(epoch FROM call.started_at)::float8,
       extract(epoch FROM coalesce(call.finished_at, call.started_at))::float8
FROM ingestion_providercall AS call ORDER BY call.id
"""
# How each run of a job ended.
RUNS = "SELECT job_id::text, generation, outcome, detail FROM ingestion_joboutcome"
# Distinct inputs of a job that were embedded for it, not taken over.
EMBEDDED = """
SELECT chunk.job_id::text, count(*) FROM ingestion_chunkvector AS vector
JOIN ingestion_chunk AS chunk ON chunk.id = vector.chunk_id WHERE NOT vector.is_reused GROUP BY chunk.job_id
"""
# A save that follows an answer is tried for this long before the run is given up.
SAVING_SECONDS = 15.0


@dataclass(frozen=True)
class Call:
    """One row of the product's ledger."""

    identity: str
    job: str
    generation: int
    step: str
    inputs: int
    outcome: str | None
    tokens: int
    started: float
    finished: float


@dataclass(frozen=True)
class Comparison:
    """Calls by outcome, repeated calls by reason, and what nobody can explain."""

    outcomes: Counter[str]
    reached: int
    repeated: Counter[str]
    violations: list[str]


def compare(stage: Stage, database_moments: Sequence[float]) -> Comparison:
    """Both ledgers agree call by call, and no job called again without a reason."""
    calls = [Call(*row) for row in stage.rows(CALLS)]
    reached = stage.provider_ledger()["calls"]
    repeated, unexplained = _repeats(stage, calls, database_moments)
    return Comparison(
        outcomes=Counter(call.outcome or "unknown" for call in calls),
        reached=len(reached),
        repeated=repeated,
        violations=_differences(calls, reached) + unexplained,
    )


def _differences(calls: list[Call], reached: list[dict[str, Any]]) -> list[str]:
    written = {call.identity: call for call in calls}
    times = Counter(one["client_request_id"] for one in reached)
    seen = {one["client_request_id"]: one for one in reached}
    broken = [f"call {identity} reached the provider and was not written down" for identity in times.keys() - written]
    broken += [f"call {identity} reached the provider {count} times" for identity, count in times.items() if count > 1]
    for call in calls:
        if call.outcome != "ok":
            continue
        other = seen.get(call.identity)
        if other is None or other["status"] != 200:
            broken.append(f"call {call.identity} is booked as answered; the provider knows of no answer")
        elif other["tokens"] != call.tokens:
            broken.append(f"call {call.identity}: {call.tokens} tokens booked, {other['tokens']} charged")
    return broken


def _repeats(stage: Stage, calls: list[Call], database_moments: Sequence[float]) -> tuple[Counter[str], list[str]]:
    runs = {(job, generation): (outcome, detail) for job, generation, outcome, detail in stage.rows(RUNS)}
    embedded = dict(stage.rows(EMBEDDED))
    repeated: Counter[str] = Counter()
    unexplained: list[str] = []
    for (job, step), made in _by_step(calls).items():
        needed = 1 if step == "summarize" else embedded.get(job, 0)
        reasons = [_reason_of_failure(call, runs) for call in made if call.outcome != "ok"]
        good = [call for call in made if call.outcome == "ok"]
        lost = [reason for call in good if (reason := _reason_of_loss(call, runs, database_moments))]
        paid_twice = sum(1 if step == "summarize" else call.inputs for call in good) - needed
        repeated.update(reasons)
        if paid_twice > 0 and lost:
            repeated.update(lost[:paid_twice])
        elif paid_twice > 0:
            unexplained.append(f"job {job}: {step} was paid for {paid_twice} times more than needed, without a reason")
    return repeated, unexplained


def _by_step(calls: list[Call]) -> dict[tuple[str, str], list[Call]]:
    found: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in calls:
        found[call.job, call.step].append(call)
    return found


Runs = dict[tuple[str, int], tuple[str, str]]


def _reason_of_failure(call: Call, runs: Runs) -> str:
    """Why a call that brought nothing was made in vain."""
    if call.outcome is not None:
        return f"the call ended as {call.outcome}"
    return f"cut with its worker: {_run_of(call, runs)[0]}"


def _reason_of_loss(call: Call, runs: Runs, database_moments: Sequence[float]) -> str | None:
    """Why a good answer may have been lost: its run ended before the save, or the database was away for the save."""
    outcome, _ = _run_of(call, runs)
    if outcome in ("lease_expired", "give_back"):
        return f"answered and not saved: {outcome}"
    if outcome in ("retry", "dead_letter"):
        return "answered, some vectors unusable"
    if any(call.started <= moment <= call.finished + SAVING_SECONDS for moment in database_moments):
        return "answered and not saved: the database was away"
    return None


def _run_of(call: Call, runs: Runs) -> tuple[str, str]:
    return runs.get((call.job, call.generation), ("no record", ""))
