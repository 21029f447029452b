"""Where the reports' numbers come from: recorded runs, the workload's assumptions, and arithmetic over both."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from loadtests import limits, workload
from loadtests.compare import differences, table
from loadtests.passes import Range, ranges, read
from loadtests.plan import COMPARISONS, SCENARIOS, Comparison
from loadtests.reporting import newest
from loadtests.scorecards import card

Found = dict[str, Any]


def gathered(results: Path) -> Found:
    """Everything that a template may name. What was not recorded is not there."""
    found: Found = {
        "assumptions": workload.assumptions(), "A": workload.by_letter(),
        "planned_per_minute": workload.planned_burst_per_minute(),
        "plan": SCENARIOS, "runs": _runs(results), "compare": _comparisons(results),
        "paths": _paths(results), "measured": _measured(results), "misses": list(_misses(results)),
    }  # fmt: skip
    for name in ("alone", "cost", "defaults", "fresh"):
        if (one := _json(results / name / "summary.json")) is not None:
            found[name] = one
    found |= _limits(found)
    return found


def _json(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def _runs(results: Path) -> Found:
    """By scenario: what the plan's own configuration has shown."""
    found = {}
    for name, plan in SCENARIOS.items():
        folder = results / name / plan.configuration
        if summaries := read(folder):
            found[name] = _run(folder, summaries, f"loadtests/results/{name}/{plan.configuration}")
    return found


def _run(folder: Path, summaries: list[Found], place: str) -> Found:
    return {
        "place": place, "passes": summaries, "first": summaries[0], "count": len(summaries),
        "columns": ranges(summaries), "card": "\n".join(card(folder)),
        "seconds": median(one["seconds"] for one in summaries),
    }  # fmt: skip


def _comparisons(results: Path) -> Found:
    found = {}
    for name, comparison in COMPARISONS.items():
        folders = [results / f"compare-{name}" / plan.configuration for plan in comparison.pair]
        if all(read(folder) for folder in folders):
            found[name.replace("-", "_")] = _comparison(comparison, folders)
    return found


def _comparison(comparison: Comparison, folders: list[Path]) -> Found:
    shown = differences(*folders)
    summaries = [read(folder) for folder in folders]
    return {
        "comparison": comparison, "place": f"loadtests/results/compare-{comparison.name}",
        "passes": min(len(one) for one in summaries),
        "before": ranges(summaries[0]), "after": ranges(summaries[1]), "first": summaries[1][0],
        "columns": {one.column.name: one for one in shown},
        "table": "\n".join(table(shown, (comparison.before.configuration, comparison.after.configuration))),
    }  # fmt: skip


def _paths(results: Path) -> dict[str, Found]:
    found = (json.loads(path.read_text()) for path in sorted((results / "paths").glob("path-*.json")))
    return {f"path{one['number']}": one for one in found}


def _measured(results: Path) -> Found:
    """The newest run of each kind of `queue_runs`, its figures by their names."""
    return {
        summary["what"]: {
            "place": place, "figures": {figure["name"]: figure for figure in summary["figures"]}, "summary": summary,
        }
        for place, summary in newest(results)
    }  # fmt: skip


def _misses(results: Path) -> Iterator[Found]:
    """Every figure of a recorded run that has a target and did not reach it."""
    newest_runs = {place.removeprefix("loadtests/results/") for place, _ in newest(results)}
    for path in sorted(results.rglob("*.json")):
        place = path.relative_to(results)
        is_old = place.parts[0] in ("quota", "overload", "pickup", "flood", "speed")
        if is_old and path.parent.relative_to(results).as_posix() not in newest_runs:
            continue
        for figure in _figures(json.loads(path.read_text())):
            yield {**figure, "place": f"loadtests/results/{place.as_posix()}"}


def _figures(found: Any) -> Iterator[Found]:
    """The figures within a record, at any depth, that say that their target was not reached."""
    if isinstance(found, dict):
        if found.get("target") and found.get("reached") is False and "name" in found:
            yield {"name": found["name"], "value": found.get("value"), "unit": found.get("unit", ""),
                   "target": found["target"]}  # fmt: skip
        for value in found.values():
            yield from _figures(value)
    elif isinstance(found, list):
        for value in found:
            yield from _figures(value)


def _limits(found: Found) -> Found:
    """The limits for new texts (all policies, from the comparison of batches) and for edits (the burst)."""
    if not {"alone", "defaults"} <= found.keys() or "burst" not in found["runs"] or "batch" not in found["compare"]:
        return {}
    known, alone, columns = found["defaults"]["settings"], found["alone"], found["runs"]["burst"]["columns"]
    place = limits.Place(
        known["CHAT_REQUESTS_PER_MINUTE"], known["EMBEDDING_TOKENS_PER_MINUTE"], 1, known["WORKER_CONCURRENCY"]
    )
    seconds = alone["steps"]["whole"]["p50"]
    new = limits.Job("new texts", 1.0, _each(found["compare"]["batch"]["after"], "embedding_tokens"), seconds)
    edited = limits.Job("edits", _each(columns, "chat_calls"), _each(columns, "embedding_tokens"), seconds)
    promised = known["PROMISED_WAIT_SECONDS"]
    kinds = {}
    for name, job in (("new", new), ("edited", edited)):
        ordered = limits.of(job, place)
        kinds[name] = {
            "job": job, "limits": ordered, "first": ordered[0], "bound": limits.bound(ordered[0], promised),
            "turning": limits.turning_points(job, place), "workers": limits.workers_needed(ordered[0], job, place),
        }  # fmt: skip
    return {"limits": kinds, "place": place}


def _each(columns: dict[str, Range], name: str) -> float:
    """The median of a count over the median of the accepted uploads."""
    return columns[name].middle / max(columns["accepted"].middle, 1.0)
