"""/metrics: numbers of the whole installation, read from the database at each scrape.

Nothing is counted in a process: several API processes and workers would each tell another number. What has ended is
counted once, by `ingestion.tallies`; refusals, which leave no row, in Valkey (`larkfield.refusals`).
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from django.db import connection
from django.db.models import Count, Sum
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ingestion import jobs, standing, tallies
from ingestion.events.ledger import REFUSALS
from ingestion.models import IntakeCount, ProviderCall
from ingestion.provider import pacing
from larkfield import refusals

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
# A tally's name, and its metric with labels.
COUNTERS = {
    "settled": (
        "larkfield_settlements",
        "settlements of jobs by outcome; a job may have several",
        ["queue", "outcome"],
    ),
    "estimates_kept": ("larkfield_estimates_kept", "jobs that ended between low and high of their estimate", ["queue"]),
    "calls": ("larkfield_provider_calls", "ended calls by lane and outcome", ["lane", "outcome"]),
    "tokens": ("larkfield_provider_tokens", "charged tokens by lane", ["lane"]),
    "cost_usd": ("larkfield_provider_cost_usd", "charged cost by lane", ["lane"]),
}
HISTOGRAMS = {
    "wait": ("larkfield_job_wait_seconds", "from admission to the first claim", "queue"),
    "turnaround": ("larkfield_job_turnaround_seconds", "from admission to the result", "queue"),
    "estimate_error": ("larkfield_estimate_error_seconds", "promised and actual turnaround apart", "queue"),
    "call": ("larkfield_provider_call_seconds", "from intent to outcome of a provider call", "lane"),
}
PROVIDER_STATES = ("ok", "open", "half_open", "paused")


class DatabaseCollector(Collector):
    """Reads each number once a scrape."""

    def collect(self) -> Iterable[Metric]:
        yield from _queues()
        yield from _counted()
        yield from _provider()
        yield from _under_way()
        yield from _refused()
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


def _counted() -> Iterator[Metric]:
    """What has ended, from the tallies: they only grow, also after history was pruned."""
    tallies.count()
    found = tallies.read_counters()
    for name, (metric, text, labels) in COUNTERS.items():
        family = CounterMetricFamily(metric, text, labels=labels)
        for key, total in found.get(name, {}).items():
            family.add_metric(key[: len(labels)], total)
        yield family
    lost = CounterMetricFamily("larkfield_leases_lost", "tries that ended with their lease", labels=["queue"])
    for (queue, outcome), total in found.get("settled", {}).items():
        if outcome == "lease_expired":
            lost.add_metric([queue], total)
    yield lost
    yield from _histograms()


def _histograms() -> Iterator[Metric]:
    found = tallies.read_histograms()
    for name, (metric, text, label) in HISTOGRAMS.items():
        family = HistogramMetricFamily(metric, text, labels=[label])
        for value, histogram in found[name].items():
            family.add_metric([value], histogram.buckets, histogram.sum)
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


def _under_way() -> Iterator[Metric]:
    """Calls that have begun within the hour and not ended: what a crash left is older sooner or later."""
    family = GaugeMetricFamily("larkfield_provider_calls_under_way", "calls that have not ended", labels=["lane"])
    recent = ProviderCall.objects.filter(outcome=None, started_at__gt=Now() - timedelta(hours=1))
    for row in recent.values("lane").annotate(calls=Count("id")):
        family.add_metric([row["lane"]], row["calls"])
    yield family


def _refused() -> Iterator[Metric]:
    requests = CounterMetricFamily("larkfield_refusals", "requests that were refused, by problem code", labels=["code"])
    for code, total in sorted(refusals.read().items()):
        requests.add_metric([code], total)
    events = CounterMetricFamily("larkfield_event_offers", "offered events that left none", labels=["outcome"])
    sums = IntakeCount.objects.aggregate(**{name: Sum(name, default=0) for name in REFUSALS})
    for name in REFUSALS:
        events.add_metric([name], sums[name])
    return iter([requests, events])


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


# Without `auto_describe` nothing is read at import, when there may be no database.
REGISTRY = CollectorRegistry(auto_describe=False)
REGISTRY.register(DatabaseCollector())


def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics as Prometheus text."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
