"""/metrics: numbers of the whole installation, read from the database at each scrape.

Nothing is counted in a process: several API processes and workers would each tell another number.
"""

from collections.abc import Iterable, Iterator

from django.db import connection
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingestion import jobs, standing
from ingestion.models import Job, ProviderCall
from ingestion.provider import pacing

# What /v1/queue calls a number, and its metric.
QUEUE_GAUGES = {
    "queued": "larkfield_queue_queued",
    "ready": "larkfield_queue_ready",
    "running": "larkfield_queue_running",
    "dead_letters": "larkfield_queue_dead_letters",
    "oldest_age_seconds": "larkfield_queue_oldest_age_seconds",
    "pace_per_minute": "larkfield_queue_pace_per_minute",
    "workers": "larkfield_queue_workers",
}
PROVIDER_STATES = ("ok", "open", "half_open", "paused")


class DatabaseCollector(Collector):
    """Reads each number once a scrape."""

    def collect(self) -> Iterable[Metric]:
        yield from _queues()
        yield from _finished()
        yield from _provider()
        yield from _calls()
        yield from _oldest_transaction()


def _queues() -> Iterator[Metric]:
    gauges = {key: GaugeMetricFamily(name, f"{key} of a queue", labels=["queue"]) for key, name in QUEUE_GAUGES.items()}
    depth = GaugeMetricFamily("larkfield_queue_depth", "unfinished accepted work", labels=["queue", "unit"])
    bound = GaugeMetricFamily("larkfield_queue_bound", "the most unfinished work", labels=["queue", "unit"])
    for queue in jobs.QUEUES:
        numbers = standing.queue_numbers(queue)
        for key, gauge in gauges.items():
            gauge.add_metric([queue], float(numbers[key]))
        for unit in ("jobs", "units", "bytes"):
            depth.add_metric([queue, unit], float(numbers["depth"][unit]))
            bound.add_metric([queue, unit], float(numbers["bound"][unit]))
    return iter([*gauges.values(), depth, bound])


def _finished() -> Iterator[Metric]:
    family = CounterMetricFamily("larkfield_jobs", "jobs by queue and state", labels=["queue", "state"])
    for row in Job.objects.values("queue", "state").annotate(jobs=Count("id")):
        family.add_metric([row["queue"], row["state"]], row["jobs"])
    yield family


def _provider() -> Iterator[Metric]:
    snapshot = pacing.snapshot()
    state = GaugeMetricFamily("larkfield_provider_state", "1 for the present state", labels=["state"])
    for name in PROVIDER_STATES:
        state.add_metric([name], float(snapshot["state"] == name))
    limit = GaugeMetricFamily("larkfield_provider_limit_per_minute", "quota of a lane", labels=["lane"])
    used = GaugeMetricFamily("larkfield_provider_used", "used of the lane's bucket", labels=["lane"])
    for lane, numbers in (("chat", snapshot["chat"]), ("embeddings", snapshot["embeddings"])):
        limit.add_metric([lane], numbers["limit"])
        used.add_metric([lane], numbers["used"])
    return iter([state, limit, used])


def _calls() -> Iterator[Metric]:
    calls = CounterMetricFamily("larkfield_provider_calls", "calls by lane and outcome", labels=["lane", "outcome"])
    tokens = CounterMetricFamily("larkfield_provider_tokens", "charged tokens by lane", labels=["lane"])
    cost = CounterMetricFamily("larkfield_provider_cost_usd", "charged cost by lane", labels=["lane"])
    sums = ProviderCall.objects.values("lane", "outcome").annotate(
        calls=Count("id"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"), usd=Sum("cost_usd")
    )
    totals: dict[str, tuple[float, float]] = {}
    for row in sums:
        calls.add_metric([row["lane"], row["outcome"] or "under_way"], row["calls"])
        charged, usd = totals.get(row["lane"], (0.0, 0.0))
        totals[row["lane"]] = (charged + row["prompt"] + row["completion"], usd + float(row["usd"]))
    for lane, (charged, usd) in totals.items():
        tokens.add_metric([lane], charged)
        cost.add_metric([lane], usd)
    return iter([calls, tokens, cost])


# Without `auto_describe` nothing is read at import, when there may be no database.
def _oldest_transaction() -> Iterator[Metric]:
    """The transaction that has been open longest: it pins dead rows and slows every claim, whoever began it."""
    family = GaugeMetricFamily(
        "larkfield_oldest_transaction_seconds", "age of the oldest open transaction", labels=["pid", "application"]
    )
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT pid, application_name, extract(epoch FROM clock_timestamp() - xact_start)::float8
            FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
            ORDER BY xact_start LIMIT 1
            """
        )
        for pid, application, seconds in cursor.fetchall():
            family.add_metric([str(pid), application or ""], seconds)
    yield family


REGISTRY = CollectorRegistry(auto_describe=False)
REGISTRY.register(DatabaseCollector())


def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics as Prometheus text."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
