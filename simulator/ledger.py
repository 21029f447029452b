"""What reached the provider: every call to a model, and totals that outlive the list's bound."""

import time
from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime

from simulator.options import CallPath

# A long load run stays in memory; older calls leave the list, never the totals.
KEPT_CALLS = 100_000


@dataclass(slots=True)
class Call:
    """One call. `status` is 0 as long as no whole answer was given, and stays 0 where none ever is."""

    path: CallPath
    client_request_id: str | None
    at: datetime
    started: float
    status: int = 0
    tokens: int = 0
    inputs: int = 0
    model: str | None = None
    latency_seconds: float | None = None

    def as_json(self) -> dict[str, object]:
        """The call as the control route shows it; `at` is ISO 8601 in UTC."""
        return {
            "at": self.at.isoformat(),
            "path": self.path,
            "status": self.status,
            "tokens": self.tokens,
            "inputs": self.inputs,
            "client_request_id": self.client_request_id,
            "model": self.model,
            "latency_seconds": self.latency_seconds,
        }


class Ledger:
    """Calls in the order of their arrival, the newest `kept` of them, with exact totals of all."""

    def __init__(self, kept: int = KEPT_CALLS) -> None:
        self._calls: deque[Call] = deque(maxlen=kept)
        self._count = 0
        self._tokens = 0
        self._by_status: Counter[int] = Counter()

    def open(self, path: CallPath, client_request_id: str | None) -> Call:
        """A call that has just arrived is listed, with status 0."""
        call = Call(path, client_request_id, datetime.now(UTC), time.monotonic())
        self._calls.append(call)
        self._count += 1
        self._by_status[0] += 1
        return call

    def charge(self, call: Call, tokens: int) -> None:
        """The call's tokens were taken from the quota, whether or not its answer will arrive."""
        call.tokens = tokens
        self._tokens += tokens

    def settle(self, call: Call, status: int) -> None:
        """The call was answered with this status."""
        self._by_status[call.status] -= 1
        call.status = status
        self._by_status[status] += 1
        call.latency_seconds = round(time.monotonic() - call.started, 6)

    def as_json(self, last: int | None = None) -> dict[str, object]:
        """The calls (only the newest `last` where given) and the totals."""
        calls = list(self._calls)
        shown = calls if last is None else calls[max(0, len(calls) - last) :]
        by_status = {str(status): count for status, count in sorted(self._by_status.items()) if count}
        return {
            "calls": [call.as_json() for call in shown],
            "totals": {"calls": self._count, "tokens": self._tokens, "by_status": by_status},
        }
