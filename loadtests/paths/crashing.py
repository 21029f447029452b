"""Paths 2 and 6: a worker that crashes, drains or is killed in the middle of a job whose first vectors are saved."""

import signal
import time

from loadtests.faults_product import until
from loadtests.installation import Installation
from loadtests.paths.record import Shown
from loadtests.paths.stage import (
    TESTS,
    accepted,
    await_hold,
    calls_of,
    ended,
    hold_in_third_batch,
    is_saved_once,
    job,
    saved_once,
    settlements,
    staged,
    succeeded,
    work,
)

HELD = "the provider answers two batches and hangs in the third, so that the signal lands in the middle"


def crash_in_the_middle() -> Shown:
    """Path 2."""
    shown = Shown(
        2, "A worker crashes in the middle of a job", constructed=f"SIGKILL; {HELD}",
        test=f"{TESTS}/test_path_2_crash_in_the_middle.py",
    )  # fmt: skip
    with staged() as stage:
        identity, before = _held(stage)
        ended(stage, "first", signal.SIGKILL)
        work(stage, "second")
        until("the job succeeds", lambda: succeeded(stage, identity))
        _delivered_again(shown, stage, identity, before)
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown


def drain_and_kill() -> Shown:
    """Path 6."""
    shown = Shown(
        6,
        "SIGTERM gives a long job back; after SIGKILL it runs until its lease ends",
        constructed=f"the SIGKILL; {HELD}",
        test=f"{TESTS}/test_path_6_drain_and_kill.py",
    )  # fmt: skip
    with staged({"DRAIN_SECONDS": "1"}) as stage:
        identity, before = _held(stage)
        code = ended(stage, "first", signal.SIGTERM)
        given_back, kept = job(stage, identity), saved_once(stage, identity)
        work(stage, "second")
        until("the job succeeds", lambda: succeeded(stage, identity))
        shown.counts = {
            "exit code after SIGTERM": code, "saved before SIGTERM": before, "saved after it": kept,
            "job after it": given_back, "settlements": settlements(stage, identity),
            "job in the end": job(stage, identity), "saved in the end": saved_once(stage, identity),
        }  # fmt: skip
        shown.holds = {
            "given back with its tries unchanged": (given_back["state"], given_back["attempt"]) == ("queued", 0),
            "its saved steps are kept": kept == before,
            "everything is saved once in the end": is_saved_once(saved_once(stage, identity)),
            "the worker ended by itself": code == 0,
        }
        _killed(shown, stage)
        shown.settings, shown.reconcile = stage.settings, stage.reconcile()
    return shown


def _killed(shown: Shown, stage: Installation) -> None:
    """The second half: the worker that holds the job is killed, and another one waits for the lease's end."""
    ended(stage, "second", signal.SIGTERM)
    stage.control("reset", {})
    identity, before = _held(stage, "killed", "warranty")
    ended(stage, "killed", signal.SIGKILL)
    killed_at = time.monotonic()
    work(stage, "other")
    running = job(stage, identity)
    until("another worker takes it", lambda: job(stage, identity)["generation"] == 2)
    waited = time.monotonic() - killed_at
    until("the job succeeds", lambda: succeeded(stage, identity))
    found = saved_once(stage, identity)
    shown.counts |= {
        "SIGKILL: job right after it": running, "SIGKILL: seconds until another worker took it": round(waited, 1),
        "SIGKILL: settlements": settlements(stage, identity), "SIGKILL: saved before": before,
        "SIGKILL: saved in the end": found,
    }  # fmt: skip
    shown.holds |= {
        "SIGKILL: it stays running until its lease ends": running
        == {"state": "running", "attempt": 1, "generation": 1},
        "SIGKILL: another worker finishes it without a duplicate": is_saved_once(found),
    }


def _held(stage: Installation, worker: str = "first", slug: str = "returns") -> tuple[str, dict[str, int]]:
    """A job in the middle of its third batch, and what is saved of it."""
    headers = stage.caller(f"team-{slug}", "upload,operate")
    hold_in_third_batch(stage)
    identity = accepted(stage, headers, slug)
    work(stage, worker)
    await_hold(stage)
    return identity, saved_once(stage, identity)


def _delivered_again(shown: Shown, stage: Installation, identity: str, before: dict[str, int]) -> None:
    found, calls = saved_once(stage, identity), calls_of(stage, identity)
    unknown = [call for call in calls if call["outcome"] == "unknown"]
    shown.counts = {
        "saved before the crash": before, "saved in the end": found, "settlements": settlements(stage, identity),
        "tries": job(stage, identity)["attempt"], "provider calls": len(calls),
        "of the first delivery": sum(call["generation"] == 1 for call in calls),
        "of the second delivery": sum(call["generation"] == 2 for call in calls),
        "chat calls": sum(call["step"] == "summarize" for call in calls),
        "texts embedded, all calls": sum(call["inputs"] for call in calls if call["step"] == "embed"),
        "texts of calls whose answer nobody saw": sum(call["inputs"] for call in unknown),
        "calls made again": len(unknown),
    }  # fmt: skip
    shown.explanations = [
        "One call was made again: the one under way when the worker died. Nobody saw its answer, so its chunks had no "
        "vector, and the provider may have charged for it. The summary and the saved vectors were not asked for again."
    ]
    shown.holds = {
        "each position has one row and one vector, and there is one summary": is_saved_once(found),
        "the summary was asked for once": shown.counts["chat calls"] == 1,
        "only the cut call was made again": len(unknown) == 1,
        "delivered again after its lease": settlements(stage, identity)[0] == "lease_expired",
    }
