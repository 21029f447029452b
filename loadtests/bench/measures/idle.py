"""One worker whose 32 jobs all wait for the provider: its connections, memory and processor."""

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from loadtests import footprint
from loadtests.bench.turns import Series
from loadtests.recording import Figure, Found, say

LIMITS = {
    "worker_connections_most": ("connections of one worker with 32 jobs waiting, most", "", "≤ 4"),
    "worker_mib": ("its resident memory", "MiB", "≤ 150"),
    "worker_cpu_percent_of_a_core": ("its processor", "% of a core", "≤ 3"),
}


def measure(*, passes: int, short: bool) -> Found:
    """Medians of a few launches (`loadtests.footprint`)."""
    results: dict[str, Series] = defaultdict(lambda: Series([]))
    waiting = []
    for _ in range(1 if short else min(passes, 3)):
        with TemporaryDirectory(prefix="larkfield-idle-", ignore_cleanup_errors=True) as folder:
            found = footprint.measure_waiting(Path(folder))
        waiting.append(found["jobs_waiting_for_the_provider"])
        for name in LIMITS:
            results[name].passes.append(float(found[name]))
        say(f"  {found}")
    how = f"{min(waiting)} jobs of concurrency 32 in the provider's hands, read each second for ten seconds"
    figures = [Figure(words, results[name].median, unit, target, how) for name, (words, unit, target) in LIMITS.items()]
    rows = [{"what": LIMITS[name][0], **series.as_json()} for name, series in results.items()]
    return Found(figures=figures, facts={"tables": {"One waiting worker": rows}})
