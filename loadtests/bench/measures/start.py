"""From `make run` on an installed machine to a ready API: a first start on empty data, and a second one on the same."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from loadtests import footprint
from loadtests.bench.turns import Series
from loadtests.recording import Figure, Found, say, shown


def measure(*, passes: int, short: bool) -> Found:
    """Seconds until /readyz says 200, over starts of their own."""
    first, second = Series([]), Series([])
    for number in range(min(passes, 3) if short else passes):
        with TemporaryDirectory(prefix="larkfield-start-", ignore_cleanup_errors=True) as folder:
            first.passes.append(_start(Path(folder)))
            second.passes.append(_start(Path(folder)))
        say(f"  pass {number + 1}  first {shown(first.passes[-1])} s, second {shown(second.passes[-1])} s")
    how = "from `make run` to 200 at /readyz; packages installed"
    rows = [{"start": name, **series.as_json()} for name, series in (("first", first), ("second", second))]
    return Found(
        figures=[
            Figure("first start, a new database", first.median, "s", "≤ 10", how),
            Figure("second start on the same data", second.median, "s", "≤ 10", how),
        ],
        facts={"tables": {"Seconds to ready": rows}},
    )


def _start(folder: Path) -> float:
    port = footprint.free_port()
    began = time.monotonic()
    with footprint.running(["make", "--no-print-directory", "run"], footprint.launched(folder, port)):
        footprint.wait_ready(port)
        return time.monotonic() - began
