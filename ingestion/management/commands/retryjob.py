"""`manage.py retryjob`: a dead letter is queued again, or all of a queue, a few at a time."""

import time
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from ingestion import replaying, reviving, standing
from ingestion.draining import UnknownQueue, check_queue
from ingestion.management.progress import Bar
from ingestion.management.shell import FAILED, INTERRUPTED, ShellCommand, UsageError
from ingestion.queue.controlling import QueueFull

LOOK_SECONDS = 0.5


class Command(ShellCommand):
    help = (
        "Queues a dead letter or failed job again with a fresh budget; with --all every dead letter of a queue: at "
        f"most {replaying.REPLAY_SHARE:.0%} of the bound at a time, the rest as workers make room."
    )
    example = "manage.py retryjob --all --queue documents"
    exit_codes = {
        0: "queued again (with --all: all that were there at the start and can be)",
        1: "it can't be; or with --all some have no room: --once, no worker that makes room, or the queue drains",
        INTERRUPTED: "interrupted; what is left stays a dead letter",
    }
    json_help = "one JSON object at the end"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job_id", nargs="?", help="a job's id")
        parser.add_argument("--all", action="store_true", help="all dead letters of --queue, the oldest first")
        parser.add_argument("--queue", help="documents or events")
        parser.add_argument("--once", action="store_true", help="with --all: only what has room now")
        parser.add_argument("--limit", type=int, help="with --all: at most so many")

    def handle(self, *args: Any, **options: Any) -> None:
        job_id, queue, limit = options["job_id"], options["queue"], options["limit"]
        if limit is not None and limit < 1:
            raise UsageError("--limit must be at least 1.")
        if options["all"] and queue and not job_id:
            self._retry_all(queue, limit, is_once=options["once"], is_json=options["json"])
        elif job_id and not (options["all"] or queue or options["once"] or limit):
            self._retry_one(job_id, is_json=options["json"])
        else:
            raise UsageError("Give a job's id, or --all with --queue.")

    def _retry_one(self, text: str, *, is_json: bool) -> None:
        try:
            job_id = UUID(text)
        except ValueError:
            raise UsageError(f"{text!r} is no job's id.") from None
        try:
            reviving.revive(job_id)
        except reviving.NotRevivable as error:
            raise CommandError(str(error)) from None
        except QueueFull as full:
            raise CommandError(f"The queue '{full}' is full or draining; the job stays as it is.") from None
        if is_json:
            self.print_json({"job": str(job_id), "state": "queued"})
            return
        self.stdout.write(f"Job {job_id} is queued again.")

    def _retry_all(self, queue: str, limit: int | None, *, is_once: bool, is_json: bool) -> None:
        try:
            check_queue(queue)
        except UnknownQueue as error:
            raise UsageError(str(error)) from None
        # As they are now: one that dies again is not tried for ever.
        replay = _Replay(queue, reviving.dead_letters(queue), limit, is_once)
        replay.run(self.stderr.write)
        if is_json:
            self.print_json({"queued": replay.queued, "refused": replay.refused, "left": replay.left})
        words = f"{replay.queued} of {replay.total} dead letters are queued again"
        if replay.code:
            raise CommandError(f"{words}, {replay.left} left: {replay.reason}", returncode=replay.code)
        if not is_json:
            self.stdout.write(f"{words}.")


class _Replay:
    """One run over the dead letters of a queue, with a bar; `reason` and `code` say why it ended before its time."""

    def __init__(self, queue: str, found: list[UUID], limit: int | None, is_once: bool) -> None:
        self.queue, self.total, self.is_once = queue, len(found), is_once
        self._jobs = found[:limit]
        self.queued, self.refused = 0, dict[str, str]()
        self.reason, self.code = "", 0

    @property
    def left(self) -> int:
        return self.total - self.queued - len(self.refused)

    def run(self, complain: Callable[[str], object]) -> None:
        """All that can be is queued, or `reason` says why not."""
        try:
            with Bar("retried", len(self._jobs)) as self._bar:
                for one in replaying.replay(self._jobs, self._wait):
                    if one.outcome == "queued":
                        self.queued += 1
                    else:
                        self.refused[str(one.job_id)] = one.detail
                        complain(one.detail)
                    self._bar.show(self.queued + len(self.refused))
        except replaying.Draining:
            self._stop(f"the queue '{self.queue}' drains; manage.py resume {self.queue} ends that.")
        except KeyboardInterrupt:
            self._stop("interrupted. Repeat the command for the rest.", INTERRUPTED)

    def _stop(self, reason: str, code: int = FAILED) -> bool:
        self.reason, self.code = reason, code
        return False

    def _wait(self) -> bool:
        """There may be room now. False: waiting is not wanted, or nobody is there to make room."""
        if self.is_once:
            return self._stop("their part of the queue is full. Repeat the command when there is room.")
        if not standing.live_workers(self.queue):
            return self._stop("their part of the queue is full and no worker runs; start one with manage.py runworker.")
        self._bar.show(self.queued + len(self.refused), "waits for room behind new work")
        time.sleep(LOOK_SECONDS)
        return True
