"""Ten times more uploads than the first limit carries, by callers who obey: the bound holds, Retry-After is honest."""

import time
from collections.abc import Sequence

from loadtests.installation import Installation, installed
from loadtests.obedient import Obedient, Upload
from loadtests.percentiles import median, percentile, ratio, share, spread
from loadtests.recording import Figure, Found, say
from loadtests.watching import Watch, queue_reader

BOUND = 60
CHAT_PER_MINUTE = 100
TIMES, SECONDS = 10, 20
PATIENCE_SECONDS = 900.0
SETTINGS = {"DOCUMENTS_QUEUE_MAX": str(BOUND)}
ENDS = "SELECT id::text, state FROM ingestion_job WHERE queue = 'documents'"
# What a place's time really was: the finishes of the whole run, one after the other.
SPAN = """
SELECT extract(epoch FROM max(finished_at) - min(queued_at))::float8, count(*)
FROM ingestion_job WHERE queue = 'documents' AND state = 'succeeded'
"""


def measure(*, short: bool = False) -> Found:
    """One overload and its end, when everyone has been served."""
    seconds = 4 if short else SECONDS
    per_second = TIMES * CHAT_PER_MINUTE / 60
    with installed(SETTINGS) as stage:
        headers = stage.caller("overload", "upload,operate")
        offer = Obedient(stage.api_url, headers, text_of)
        count = round(seconds * per_second)
        say(f"{count} uploads, {per_second:.1f} a second, bound {BOUND}")
        began = time.monotonic()
        with Watch(stage.database_url, "documents", queue_reader(stage.api, headers, "documents")) as watch:
            offer.run(count, per_second, PATIENCE_SECONDS, say)
            stage.await_empty("documents")
        found = Found(settings=stage.settings, reconcile=stage.reconcile())
        _account(found, stage, offer.uploads, watch)
        found.rows = {"overload-seconds": watch.rows, "overload-uploads": _rows(offer.uploads, began)}
    return found


def text_of(number: int) -> str:
    """A short policy that no other is like."""
    return f"# Policy {number}\n\nGoods of group {number} may be returned within {7 + number % 90} days.\n"


def _account(found: Found, stage: Installation, uploads: Sequence[Upload], watch: Watch) -> None:
    ended = dict(stage.rows(ENDS))
    accepted = [one for one in uploads if one.accepted_at]
    lost = sum(ended.get(one.job) != "succeeded" for one in accepted)
    seconds, finished = stage.rows(SPAN)[0]
    found.facts = {
        "offered": len(uploads), "accepted": len(accepted), "refusals": sum(len(one.refusals) for one in uploads),
        "trouble": sum(len(one.trouble) for one in uploads), "jobs": len(ended),
        "retry after s": spread([wait for one in uploads for wait in one.refusals]),
    }  # fmt: skip
    found.figures = [
        Figure("peak depth", watch.most, "jobs", f"≤ {BOUND}", f"the depth's row, read {watch.looks} times"),
        Figure("offered", len(uploads), "uploads", None, f"{TIMES} times the first limit, {CHAT_PER_MINUTE} a minute"),
        Figure("never accepted", len(uploads) - len(accepted), "uploads", "= 0", f"within {PATIENCE_SECONDS:.0f} s"),
        Figure("accepted and not published", lost, "uploads", "= 0"),
        *honesty(uploads),
        Figure("published a minute", ratio(60 * finished, seconds), "jobs", None,
               f"{finished} in {seconds:.0f} s; the first limit is {CHAT_PER_MINUTE} and what its bucket holds"),
    ]  # fmt: skip


def honesty(uploads: Sequence[Upload]) -> list[Figure]:
    """How often a refused caller was accepted when it came back as told, and how long it was told to wait."""
    refused = [one for one in uploads if one.refusals]
    first = sum(len(one.refusals) == 1 and one.accepted_at is not None for one in refused)
    waits = [one.refusals[0] for one in refused]
    how = f"{first} of {len(refused)}"
    return [
        Figure("refused at first", len(refused), "uploads"),
        Figure("of these accepted at their first obedient retry", share(first, len(refused)), "", "≥ 0.8", how),
        Figure("most refusals of one upload", max((len(one.refusals) for one in refused), default=0), ""),
        Figure("first Retry-After, median", median(waits) if waits else 0.0, "s"),
        Figure("first Retry-After, p95", percentile(waits, 0.95) if waits else 0.0, "s"),
    ]


def _rows(uploads: Sequence[Upload], began: float) -> list[dict[str, object]]:
    return [
        {"number": one.number, "offered": round(one.offered_at - began, 2), "retry_after": one.refusals,
         "accepted": None if one.accepted_at is None else round(one.accepted_at - began, 2)}
        for one in uploads
    ]  # fmt: skip
