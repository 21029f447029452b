"""The measured pace of a queue: what finished lately while there was work to do. One query."""

from dataclasses import dataclass

from django.db import connection

WINDOW_SECONDS = 120.0
# Fewer finished jobs than this say nothing about the next ones.
SAMPLE_MIN = 5
# Mean number of unfinished jobs below which the queue was idle in between: what finished then shows what arrived,
# not what could have been done.
PRESSURE_MIN = 3.0

# Busy time is the union of the finished jobs' times in the queue, cut to the window; live jobs count from their start.
QUERY = """
WITH finished AS (
    SELECT greatest(queued_at, now() - make_interval(secs => %(window)s)) AS began, finished_at AS ended, units,
           extract(epoch FROM finished_at - queued_at) AS sojourn
    FROM ingestion_job
    WHERE queue = %(queue)s AND finished_at > now() - make_interval(secs => %(window)s) AND state <> 'cancelled'
    ORDER BY finished_at DESC
    LIMIT 5000
), ordered AS (
    SELECT began, ended, max(ended) OVER (ORDER BY began ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered
    FROM finished
), busy AS (
    SELECT coalesce(sum(greatest(0, extract(epoch FROM ended - greatest(began, coalesce(covered, began))))), 0)
           AS seconds
    FROM ordered
), service AS (
    SELECT count(*) AS jobs, coalesce(sum(units), 0) AS units, coalesce(sum(sojourn), 0) AS sojourns,
           coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY sojourn), 0) AS median_sojourn,
           coalesce(extract(epoch FROM now() - max(ended)), 0) AS silence
    FROM finished
)
SELECT service.jobs, service.units, service.sojourns, service.median_sojourn, service.silence, busy.seconds,
       (SELECT count(*) FROM ingestion_job WHERE queue = %(queue)s AND state IN ('queued', 'running')
            AND queued_at < now() - make_interval(secs => 1)) AS waiting,
       (SELECT count(*) FROM ingestion_job WHERE queue = %(queue)s AND state = 'running') AS running
FROM service, busy
"""


@dataclass(frozen=True)
class Pace:
    """Finished jobs and units in `busy_seconds`; `sojourn_seconds` is their median time from accepted to finished."""

    jobs: int
    units: float
    busy_seconds: float
    pressure: float
    sojourn_seconds: float

    @property
    def jobs_per_minute(self) -> float:
        return 60 * self.jobs / self.busy_seconds if self.busy_seconds > 0 else 0.0

    @property
    def units_per_minute(self) -> float:
        return 60 * self.units / self.busy_seconds if self.busy_seconds > 0 else 0.0

    @property
    def is_measured(self) -> bool:
        """Enough finished, and under enough pressure, to speak for the jobs that wait now."""
        return self.jobs >= SAMPLE_MIN and self.pressure >= PRESSURE_MIN


def measure(queue: str, window_seconds: float = WINDOW_SECONDS) -> Pace:
    """The queue's pace over the last `window_seconds`."""
    with connection.cursor() as cursor:
        cursor.execute(QUERY, {"queue": queue, "window": window_seconds})
        jobs, units, sojourns, median, silence, busy, waiting, running = cursor.fetchone()
    busy_seconds = float(busy)
    # While work waits, the time since the last finish is busy too: a pace that falls must be seen to fall.
    if waiting and running and jobs:
        busy_seconds = min(window_seconds, busy_seconds + float(silence))
    pressure = float(sojourns) / busy_seconds if busy_seconds > 0 else 0.0
    return Pace(int(jobs), float(units), max(busy_seconds, 0.001) if jobs else 0.0, pressure, float(median))
