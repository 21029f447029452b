"""Faults on order and faults by chance: what goes wrong next on a path. Nothing is sent from here."""

import math
import random
from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from simulator.errors import ApiError, insufficient_quota, invalid_request, of_status, unauthorized
from simulator.options import CALL_PATHS, CallPath

# Faults that stand in for the whole answer, and faults that spoil one which was made and charged.
WHOLE_FAULTS = frozenset({"timeout", "disconnect", "error_body_200", "insufficient_quota", "unauthorized"})
ROW_FAULTS = frozenset({"shuffled", "short", "duplicate_index", "nan", "zero", "wrong_dimension"})
MOST_TIMES = 1_000_000
WRONG_DIMENSION = 7

# What `flaky` draws from: three calls in ten go wrong, two of them with a 5xx. Only chance resets a connection;
# the fault on order closes it in good form, and a client sees the same.
FLAKY_MIX = (("status:500", 0.10), ("status:503", 0.10), ("reset", 0.05), ("timeout", 0.05))

Row = tuple[int, "array[float]"]


@dataclass(slots=True)
class Order:
    """A fault that is to happen on the next `times` calls of a path."""

    path: CallPath
    fault: str
    times: int

    def as_json(self) -> dict[str, object]:
        """The order as the control route takes and shows it."""
        return {"path": self.path, "fault": self.fault, "times": self.times}


class FaultQueue:
    """Ordered faults, each path's own in the order they came, each consumed by one call."""

    def __init__(self) -> None:
        self._orders: dict[CallPath, deque[Order]] = {path: deque() for path in CALL_PATHS}

    def add(self, orders: Iterable[Order]) -> None:
        """The orders stand behind those already waiting."""
        for order in orders:
            self._orders[order.path].append(order)

    def peek(self, path: CallPath) -> str | None:
        """The fault that the next call of the path meets, None without one."""
        waiting = self._orders[path]
        return waiting[0].fault if waiting else None

    def consume(self, path: CallPath) -> None:
        """The fault that `peek` showed has happened once."""
        waiting = self._orders[path]
        waiting[0].times -= 1
        if waiting[0].times == 0:
            waiting.popleft()

    def waiting(self) -> list[dict[str, object]]:
        """All orders that have not happened yet, path by path."""
        return [order.as_json() for orders in self._orders.values() for order in orders]


class FlakyDraw:
    """Faults by chance: a seeded sequence for each path, so that other traffic does not move its draws."""

    def __init__(self, seed: int) -> None:
        self._draws = {path: random.Random(f"flaky:{seed}:{path}") for path in CALL_PATHS}

    def next(self, path: CallPath) -> str | None:
        """The fault of the path's next call, None for the seven in ten that go well."""
        left = self._draws[path].random()
        for fault, share in FLAKY_MIX:
            left -= share
            if left < 0:
                return fault
        return None


def parse_orders(body: object) -> list[Order]:
    """The orders of a control request; ApiError 400 names the entry and the field that is wrong."""
    if not isinstance(body, list):
        raise invalid_request("Expected a list of faults.")
    return [_parse_order(number, entry) for number, entry in enumerate(body)]


def _parse_order(number: int, entry: object) -> Order:
    if not isinstance(entry, dict):
        raise invalid_request(f"Fault {number}: expected an object with path, fault and times.")
    if unknown := sorted(set(map(str, entry)) - {"path", "fault", "times"}):
        raise invalid_request(f"Fault {number}: unknown field {unknown[0]!r}.", unknown[0])
    path = next((known for known in CALL_PATHS if known == entry.get("path")), None)
    if path is None:
        raise invalid_request(f"Fault {number}: path must be one of {', '.join(CALL_PATHS)}.", "path")
    times = entry.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise invalid_request(f"Fault {number}: times must be a whole number from 1 to {MOST_TIMES}.", "times")
    return Order(path, _parse_fault(number, path, entry.get("fault")), times)


def _parse_fault(number: int, path: CallPath, fault: object) -> str:
    if isinstance(fault, str):
        if fault in WHOLE_FAULTS or (fault in ROW_FAULTS and path == "embeddings"):
            return fault
        if fault in ROW_FAULTS:
            raise invalid_request(f"Fault {number}: {fault!r} spoils rows, which only embeddings have.", "fault")
        name, _, status = fault.partition(":")
        if name == "status" and status.isascii() and status.isdigit() and 400 <= int(status) <= 599:
            return fault
    known = ", ".join(["status:400 to status:599", *sorted(WHOLE_FAULTS | ROW_FAULTS)])
    raise invalid_request(f"Fault {number}: unknown fault {fault!r}; known are {known}.", "fault")


def error_of(fault: str, model: str) -> ApiError | None:
    """The error that the fault answers with, None for a fault of another kind."""
    if fault.startswith("status:"):
        return of_status(int(fault.removeprefix("status:")), model)
    if fault == "insufficient_quota":
        return insufficient_quota()
    return unauthorized() if fault == "unauthorized" else None


def spoiled(fault: str, rows: list[Row], seed: int) -> list[Row]:
    """The rows (index, vector) as the fault leaves them; rows of one input suffer as far as one row can."""
    if fault == "shuffled":
        return _shuffled(rows, seed)
    if fault == "short":
        return rows[:-1]
    if fault == "duplicate_index":
        return [*rows[:-1], (0, rows[-1][1])] if len(rows) > 1 else [*rows, rows[0]]
    # One bad row is enough, and the last one proves that a reader looks at all of them.
    index, vector = rows[-1]
    return [*rows[:-1], (index, _spoiled_vector(fault, vector))]


def _spoiled_vector(fault: str, vector: "array[float]") -> "array[float]":
    if fault == "wrong_dimension":
        return vector[: max(1, len(vector) - WRONG_DIMENSION)] if len(vector) > 1 else vector + vector
    value = math.nan if fault == "nan" else 0.0
    return array("f", [value] * len(vector))


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    mixed = rows[:]
    random.Random(seed).shuffle(mixed)
    return mixed if mixed != rows else rows[::-1]
