"""Progress for a person: a bar where standard error is a terminal, plain lines elsewhere. No rule of the business."""

import sys
import time
from contextlib import ExitStack
from types import TracebackType

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

# Plain lines go to logs: one now and then is enough.
PLAIN_EVERY_SECONDS = 5.0


class Bar:
    """`what`: done of total, with a note behind it. Use it as a context."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._done, self._note, self._said_at = -1, "", float("-inf")
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._stack = ExitStack()

    def __enter__(self) -> "Bar":
        if sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
            )
            self._bar = self._stack.enter_context(Progress(*columns, console=Console(stderr=True)))
            self._task = self._bar.add_task(self._what, total=self._total, note="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def show(self, done: int, note: str = "") -> None:
        """The bar stands at `done`."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, note=note)
        elif self._is_worth_a_line(done, note):
            print(f"{self._what} {done} of {self._total}{' · ' + note if note else ''}", file=sys.stderr, flush=True)  # noqa: T201 - progress, not a log
            self._said_at, self._note = time.monotonic(), note
        self._done = done

    def _is_worth_a_line(self, done: int, note: str) -> bool:
        is_new = done != self._done or bool(note and note != self._note)
        return is_new and (done == self._total or time.monotonic() - self._said_at >= PLAIN_EVERY_SECONDS)

    def row(self, out: OutputWrapper, text: str) -> None:
        """A line of standard output, above the bar where both are on one terminal."""
        if self._bar is not None and out.isatty():
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            out.write(text)
            out.flush()

    def count_down(self, seconds: float, reason: str) -> None:
        """Returns after that time; the seconds that are left can be seen meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.show(max(self._done, 0), f"{reason}, again in {left:.0f} s")
            time.sleep(min(1.0, left))
