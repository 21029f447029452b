"""The fault run itself: a short one ends well and says what it did, and its accounts would notice a loss."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loadtests.faults_accounts import account
from loadtests.faults_calls import compare
from loadtests.faults_product import ROOT, STRANGE, Stage
from loadtests.faults_uploads import Offer, Writer

MINUTES = 20 / 60
KEY = "upload-1"


class TablesOf(Stage):
    """A stage without processes that answers every query with prepared rows, by a word of the query."""

    def __init__(self, calls: list[dict[str, Any]] | None = None, **rows: list[Any]) -> None:
        self._rows, self._calls = rows, calls or []

    def rows(self, query: str, *values: Any) -> list[Any]:
        return next((rows for table, rows in self._rows.items() if f"FROM ingestion_{table}" in query), [])

    def provider_ledger(self) -> dict[str, Any]:
        return {"calls": self._calls}


def offer(*, content: bytes = b"text", jobs: tuple[str, ...] = ("j",), wrong: str = "") -> Offer:
    return Offer(KEY, "returns", content, copies=1, jobs=set(jobs), accepted=1, wrong=wrong)


def job(state: str = "succeeded", *, code: str = "", is_out: bool = True, key: str = KEY) -> tuple[Any, ...]:
    return ("j", state, 1, code, "returns", 1, offer().sha256, is_out, key)


def violations(one: Offer, *jobs: tuple[Any, ...]) -> list[str]:
    # The query for ends and the one for output find nothing wrong here.
    class Tables(TablesOf):
        def rows(self, query: str, *values: Any) -> list[Any]:
            return list(jobs) if "ingestion_idempotencykey" in query else []

    return account(Tables(), [one]).violations


def test_a_short_run_mixes_faults_and_ends_without_a_violation(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in STRANGE}
    done = subprocess.run(
        [sys.executable, "-m", "loadtests.faults", "--seed", "11", "--minutes", f"{MINUTES}", "--out", str(tmp_path)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "violations: 0" in done.stdout
    record = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert sum(record["faults"].values()) >= 3
    assert record["uploads"]["offered"] > 0
    assert sum(record["jobs"].values()) == record["uploads"]["offered"]
    assert record["reconcile"]["rules"] > 0


def test_the_accounts_are_silent_when_every_upload_is_out() -> None:
    assert violations(offer(), job()) == []
    assert violations(offer(), job("dead_letter", code="lease_expired", is_out=False)) == []


@pytest.mark.parametrize(
    ("one", "jobs", "word"),
    [
        (offer(), [], "not there"),
        (offer(jobs=("j", "k")), [job()], "2 jobs"),
        (offer(), [job(is_out=False)], "never published"),
        (offer(), [job("queued", is_out=False)], "still queued"),
        (offer(), [job("dead_letter", is_out=False)], "without a reason"),
        (offer(content=b"other"), [job()], "not the one that was sent"),
        (offer(), [job(), ("k", *job()[1:])], "accepted for nobody"),
        (offer(wrong="400 bad"), [job()], "refused for good"),
    ],
)
def test_the_accounts_notice_what_is_lost_or_there_twice(one: Offer, jobs: list[tuple[Any, ...]], word: str) -> None:
    assert word in " ".join(violations(one, *jobs))


def call(identity: str, outcome: str | None = "ok", generation: int = 1, at: float = 0.0) -> tuple[Any, ...]:
    return (identity, "j", generation, "summarize", 1, outcome, 10, at, at + 1)


def reached(identity: str, status: int = 200) -> dict[str, Any]:
    return {"client_request_id": identity, "status": status, "tokens": 10}


def test_a_repeated_call_is_explained_by_how_its_run_ended() -> None:
    calls = [call("a", None), call("b", "timeout", 2), call("c", "ok", 3)]
    runs = [("j", 1, "lease_expired", ""), ("j", 2, "retry", ""), ("j", 3, "succeeded", "")]
    tables = TablesOf([reached("a", 0), reached("b", 0), reached("c")], providercall=calls, joboutcome=runs)
    found = compare(tables, [])
    assert found.violations == []
    assert dict(found.repeated) == {"cut with its worker: lease_expired": 1, "the call ended as timeout": 1}


def test_a_call_that_was_paid_twice_without_a_reason_is_a_violation() -> None:
    runs = [("j", 1, "succeeded", "")]
    tables = TablesOf([reached("a"), reached("b")], providercall=[call("a"), call("b", at=60)], joboutcome=runs)
    assert "without a reason" in " ".join(compare(tables, []).violations)
    # The same two calls around a crash of the database are explained.
    assert compare(tables, [1.5]).violations == []


def test_a_call_that_nobody_wrote_down_is_a_violation() -> None:
    assert "not written down" in " ".join(compare(TablesOf([reached("x")]), []).violations)


def test_the_same_seed_writes_the_same_uploads() -> None:
    first, second = Writer(5), Writer(5)
    for _ in range(20):
        one, other = first.next(), second.next()
        assert (one.key, one.slug, one.content, one.copies) == (other.key, other.slug, other.content, other.copies)
