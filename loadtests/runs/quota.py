"""A burst of new versions against the normal quotas: how much of the first limit is used, and at whose cost."""

import time
from collections.abc import Sequence
from typing import Any

from loadtests.installation import Installation, installed
from loadtests.percentiles import median, percentile, ratio, share
from loadtests.questions import Asked, Desk
from loadtests.recording import Figure, Found, say
from loadtests.watching import Watch, queue_reader

LIMIT, SHARE = 100, 0.2
# The policies are loaded without a limit; what is measured begins afterwards, with full buckets.
LOADING = {"CHAT_REQUESTS_PER_MINUTE": "100000", "EMBEDDING_TOKENS_PER_MINUTE": "100000000"}
LOADING_PROVIDER = (
    "--latency-scale", "0", "--chat-requests-per-minute", "100000", "--embedding-tokens-per-minute", "100000000",
)  # fmt: skip
NORMAL = {"CHAT_REQUESTS_PER_MINUTE": str(LIMIT), "EMBEDDING_TOKENS_PER_MINUTE": "100000"}
VERSIONS, SEED = 300, 7
# Idle questions may come closer together: with the buckets full nothing waits for anything.
EVERY_SECONDS, IDLE_EVERY_SECONDS, IDLE_QUESTIONS = 4.0, 1.5, 40
BURST = """
SELECT extract(epoch FROM max(finished_at) - min(queued_at))::float8, count(*),
       count(*) FILTER (WHERE state = 'succeeded')
FROM ingestion_job WHERE queue = 'documents' AND queued_at >= %s
"""
CALLS = """
SELECT count(*) FILTER (WHERE lane = 'chat' AND purpose = 'bulk'),
       count(*) FILTER (WHERE lane = 'chat' AND purpose <> 'bulk'),
       coalesce(sum(prompt_tokens) FILTER (WHERE lane = 'embeddings'), 0)
FROM ingestion_providercall WHERE started_at >= %s AND started_at <= (SELECT max(finished_at) FROM ingestion_job)
"""
OWN_TIMES = """
SELECT extract(epoch FROM finished_at - started_at)::float8 FROM ingestion_providercall
WHERE lane = 'chat' AND purpose <> 'bulk' AND outcome = 'ok' AND (started_at >= %s) = %s
"""
ESTIMATES = """
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(actual - promised)),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(actual - promised) / greatest(actual, 1)),
       avg((actual BETWEEN low AND high)::int)::float8
FROM (SELECT estimate_seconds AS promised, estimate_low_seconds AS low, estimate_high_seconds AS high,
             extract(epoch FROM finished_at - queued_at)::float8 AS actual
      FROM ingestion_job WHERE queue = 'documents' AND queued_at >= %s AND state = 'succeeded') AS job
"""


def measure(*, short: bool = False) -> Found:
    """The burst, with questions asked meanwhile, after an idle phase with the same questions."""
    versions, idle = (20, 5) if short else (VERSIONS, IDLE_QUESTIONS)
    with installed(LOADING, provider=LOADING_PROVIDER) as stage:
        headers = stage.caller("burst", "upload,ask,operate")
        stage.environment["LARKFIELD_TOKEN"] = headers["Authorization"].split()[1]
        say("loading the policies without a limit")
        stage.manage("loadcorpus", "--api", stage.api_url)
        stage.restart(NORMAL)
        say(f"{idle} questions while nothing else happens")
        quiet = Desk(stage.api_url, headers, IDLE_EVERY_SECONDS, most=idle).wait()
        _await_full_buckets(stage, headers)
        stage.control("reset", {})
        began_at = stage.rows("SELECT clock_timestamp()")[0][0]
        say(f"{versions} new versions, a question every {EVERY_SECONDS:g} s")
        with Watch(stage.database_url, "documents", queue_reader(stage.api, headers, "documents")) as watch:
            desk = Desk(stage.api_url, headers, EVERY_SECONDS)
            stage.manage(
                "makeversions", "--seed", str(SEED), "--count", str(versions), "--upload", "--api", stage.api_url
            )
            say("all are accepted")
            stage.await_empty("documents")
            busy = desk.finish()
        found = Found(settings=stage.settings, reconcile=stage.reconcile(), rows={"quota-seconds": watch.rows})
        _account(found, stage, began_at, quiet, busy)
    return found


def _await_full_buckets(stage: Installation, headers: dict[str, str]) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        provider = stage.api.get("/v1/queue", headers=headers).json()["provider"]
        if provider["chat"]["used"] == provider["embeddings"]["used"] == 0:
            return
        time.sleep(0.5)
    raise RuntimeError("the buckets did not fill")


def _account(found: Found, stage: Installation, began_at: Any, quiet: Sequence[Asked], busy: Sequence[Asked]) -> None:
    seconds, jobs, published = stage.rows(BURST, began_at)[0]
    bulk, asked, tokens = stage.rows(CALLS, began_at)[0]
    reached = stage.provider_ledger()["totals"]["by_status"]
    refused, calls = int(reached.get("429", 0)), sum(int(number) for number in reached.values())
    found.facts = {"jobs": jobs, "published": published, "embedding tokens": int(tokens), "calls by status": reached}
    found.figures = [
        *use(seconds, bulk, asked),
        Figure(
            "429s of all calls", share(refused, calls), "", "< 0.005", f"{refused} of {calls}, by the provider's ledger"
        ),
        Figure("versions not published", jobs - published, "", "= 0", f"of {jobs}"),
        *patience(quiet, busy),
    ]
    then_and_now = [
        percentile([row[0] for row in stage.rows(OWN_TIMES, began_at, is_burst)], 0.95) for is_burst in (False, True)
    ]
    found.figures.append(
        Figure("the provider's own time, chat of questions, p95 over idle p95", ratio(then_and_now[1], then_and_now[0]),
               "", None, f"{then_and_now[1]:.2f} s / {then_and_now[0]:.2f} s, by the call ledger")
    )  # fmt: skip
    error, relative, inside = stage.rows(ESTIMATES, began_at)[0]
    found.figures += [
        Figure("estimates: median error", error, "s"),
        Figure("estimates: median error as part of the actual wait", relative),
        Figure("estimates: share of waits between low and high", inside),
    ]
    found.rows["quota-questions"] = [
        {"phase": phase, **vars(one)} for phase, asked_then in (("idle", quiet), ("burst", busy)) for one in asked_then
    ]


def use(seconds: float, bulk: int, asked: int, limit: int = LIMIT, kept: float = SHARE) -> list[Figure]:
    """The burst's time over what the chat quota allows; bulk work may not take the questions' share of the bucket."""
    needed = bulk + asked
    floored = 60 * max(0.0, needed - (1 - kept) * limit) / limit
    whole = 60 * max(0.0, needed - limit) / limit
    granted = limit + limit * seconds / 60
    arithmetic = (
        f"({bulk} for versions + {asked} for questions − {{held:g}} held at the start) × 60 / {limit} = {{time:.1f}} s"
    )
    return [
        Figure("first upload to last published", seconds, "s"),
        Figure("over the time that the first limit allows, the questions' share kept", ratio(seconds, floored), "",
               "≤ 1.05", arithmetic.format(held=(1 - kept) * limit, time=floored)),
        Figure("over the time that the first limit allows, no share kept", ratio(seconds, whole), "", None,
               arithmetic.format(held=float(limit), time=whole)),
        Figure("chat quota used", share(needed, granted), "", None,
               f"{needed} of {limit} + {limit} × {seconds:.0f} s / 60"),
    ]  # fmt: skip


def patience(quiet: Sequence[Asked], busy: Sequence[Asked]) -> list[Figure]:
    """How much longer a question took during the burst; cached answers count for nothing."""
    then, now = ([one.seconds for one in phase if one.status == 200 and not one.is_cached] for phase in (quiet, busy))
    failed = sum(one.status != 200 for one in busy)
    return [
        Figure("question while idle, median", median(then) if then else 0.0, "s", None, f"{len(then)} questions"),
        Figure("question while idle, p95", percentile(then, 0.95), "s"),
        Figure("question during the burst, median", median(now) if now else 0.0, "s", None, f"{len(now)} questions"),
        Figure("question during the burst, p95", percentile(now, 0.95), "s"),
        Figure("p95 during the burst over idle p95", ratio(percentile(now, 0.95), percentile(then, 0.95)), "", "≤ 1.3"),
        Figure("questions that failed during the burst", failed, "", "= 0", f"of {len(busy)}"),
    ]
