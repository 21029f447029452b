"""How much of the cores each program takes while something is measured: what says which of them is the limit."""

import time
from collections.abc import Mapping

import psutil


class Cores:
    """`used` has, for each name, the cores that its process and all below it took since the creation."""

    def __init__(self, programs: Mapping[str, int]) -> None:
        self._programs = dict(programs)
        self._began = time.monotonic()
        self._before = {name: _seconds(pid) for name, pid in self._programs.items()}

    def used(self) -> dict[str, float]:
        passed = time.monotonic() - self._began
        return {
            name: round((_seconds(pid) - self._before[name]) / passed, 2) for name, pid in self._programs.items()
        }  # fmt: skip


def _seconds(pid: int) -> float:
    """CPU seconds of a process, of those below it, and of those below that have ended."""
    try:
        process = psutil.Process(pid)
        tree = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    total = 0.0
    for one in tree:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        if one.pid == pid:
            total += times.children_user + times.children_system
    return total


def said(used: Mapping[str, float]) -> str:
    """The cores in words: the limit is what is near to one core, or all of them together near to the machine's."""
    parts = ", ".join(f"{name} {value:g}" for name, value in used.items())
    return f"cores in use: {parts}; together {sum(used.values()):.2f} of {psutil.cpu_count()}"
