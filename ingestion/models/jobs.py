"""The queue's tables. They know jobs, never documents or events."""

from django.contrib.postgres.functions import TransactionNow
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

LIVE_STATES = ("queued", "running")
TERMINAL_STATES = ("succeeded", "failed", "dead_letter", "cancelled", "expired")
WAITING_FOR = ("backoff", "provider_quota", "provider_outage")


class UuidV7(models.Func):
    """PostgreSQL's time-ordered uuid: new rows land at the index's end."""

    function = "uuidv7"
    template = "%(function)s()"
    output_field = models.UUIDField()


class NextSequence(models.Func):
    """The next number of acceptance."""

    template = "nextval('ingestion_job_sequence')"
    output_field = models.BigIntegerField()


class Job(models.Model):
    """One piece of work. `generation` is the fence and only grows; `attempt` is the spent budget."""

    id = models.UUIDField(primary_key=True, db_default=UuidV7())
    # Order of acceptance; within a partition also the order of work.
    # Drawn by nobody but the sequence, so that it needs no index of its own to be unique.
    sequence = models.BigIntegerField(editable=False, db_default=NextSequence())
    queue = models.CharField(max_length=32)
    kind = models.CharField(max_length=32)
    state = models.CharField(max_length=16, default="queued", db_default="queued")
    caller = models.ForeignKey("ingestion.Caller", on_delete=models.PROTECT, related_name="jobs")
    # Start-time fair queueing: a caller's n-th waiting job has a turn n later than the queue's present one.
    turn = models.BigIntegerField(default=0, db_default=0)
    # The provider lane that the next step needs; claims leave jobs alone whose lane has no quota.
    lane = models.CharField(max_length=16, default="", db_default="", blank=True)
    # Jobs of one partition run in order, one run at a time; null: no order.
    partition = models.CharField(max_length=255, null=True)
    generation = models.BigIntegerField(default=0, db_default=0)
    attempt = models.IntegerField(default=0, db_default=0)
    max_attempts = models.IntegerField()
    queued_at = models.DateTimeField(db_default=Now())
    ready_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    worker = models.CharField(max_length=64, default="", db_default="", blank=True)
    waiting_for = models.CharField(max_length=16, null=True)
    waiting_since = models.DateTimeField(null=True)
    waited_seconds = models.FloatField(default=0.0, db_default=0.0)
    units = models.BigIntegerField()
    bytes = models.BigIntegerField()
    progress_done = models.IntegerField(default=0, db_default=0)
    progress_total = models.IntegerField(default=0, db_default=0)
    error_code = models.CharField(max_length=64, default="", db_default="", blank=True)
    error_detail = models.TextField(default="", db_default="", blank=True)
    # What was promised at admission, kept beside what happened.
    estimate_seconds = models.FloatField(null=True)
    estimate_low_seconds = models.FloatField(null=True)
    estimate_high_seconds = models.FloatField(null=True)
    estimate_basis = models.CharField(max_length=16, default="", db_default="", blank=True)
    jobs_ahead = models.IntegerField(null=True)
    request_id = models.CharField(max_length=64, default="", db_default="", blank=True)

    class Meta:
        indexes = [
            # claim: the next turns of a queue. HOT updates of running rows never touch it.
            models.Index("queue", "turn", "sequence", condition=Q(state="queued"), name="job_claim"),
            # claim of ordered work, and its head of line.
            models.Index(
                "partition",
                "sequence",
                condition=Q(state__in=LIVE_STATES, partition__isnull=False),
                name="job_partition_live",
            ),
            # admission: a caller's last turn and its share of the bound.
            models.Index("queue", "caller", "turn", condition=Q(state__in=LIVE_STATES), name="job_caller_live"),
            # rescue, and what runs before a new job. It holds no column that a heartbeat changes, so that a lease is
            # extended in place (a heap-only update), whatever it costs a rescue to look at all that runs.
            models.Index("queue", condition=Q(state="running"), name="job_running"),
            # GET /v1/queue: oldest age, ready now.
            models.Index("queue", "queued_at", condition=Q(state__in=LIVE_STATES), name="job_live_age"),
            # measured pace, estimates, prune.
            models.Index("queue", "finished_at", condition=Q(finished_at__isnull=False), name="job_finished"),
            # dead letters of a queue: counts, bulk retry.
            models.Index("queue", "finished_at", condition=Q(state="dead_letter"), name="job_dead_letter"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=LIVE_STATES + TERMINAL_STATES), name="job_state_is_known"),
            models.CheckConstraint(
                condition=Q(state="running", lease_until__isnull=False)
                | (~Q(state="running") & Q(lease_until__isnull=True)),
                name="job_lease_means_running",
            ),
            models.CheckConstraint(
                condition=Q(state__in=LIVE_STATES, finished_at__isnull=True)
                | Q(state__in=TERMINAL_STATES, finished_at__isnull=False),
                name="job_finished_means_terminal",
            ),
            models.CheckConstraint(
                condition=Q(attempt__gte=0, attempt__lte=models.F("max_attempts")),
                name="job_attempt_within_budget",
            ),
            models.CheckConstraint(condition=Q(generation__gte=0), name="job_generation_not_negative"),
            models.CheckConstraint(condition=Q(units__gte=1, bytes__gte=0), name="job_has_a_cost"),
            models.CheckConstraint(
                condition=Q(waiting_for__isnull=True) | Q(waiting_for__in=WAITING_FOR),
                name="job_waiting_for_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id} ({self.state})"


class JobOutcome(models.Model):
    """What a settlement decided, once for each generation: the job's history."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="outcomes")
    generation = models.BigIntegerField()
    attempt = models.IntegerField()
    outcome = models.CharField(max_length=16)
    detail = models.TextField(default="", db_default="", blank=True)
    worker = models.CharField(max_length=64, default="", db_default="", blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # The rule behind "one terminal record": a generation is settled once, whoever comes second.
            models.UniqueConstraint("job", "generation", name="job_outcome_once_a_generation")
        ]

    def __str__(self) -> str:
        return f"{self.outcome} at generation {self.generation}"


class QueueState(models.Model):
    """One row a queue: the depth that admission checks and settlement lowers, and whether it is drained."""

    queue = models.CharField(max_length=32, primary_key=True)
    jobs = models.IntegerField(default=0, db_default=0)
    units = models.BigIntegerField(default=0, db_default=0)
    bytes = models.BigIntegerField(default=0, db_default=0)
    is_draining = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(jobs__gte=0, units__gte=0, bytes__gte=0), name="queue_depth_not_negative"
            )
        ]

    def __str__(self) -> str:
        return self.queue


class IdempotencyKey(models.Model):
    """A caller's key, the fingerprint of the request that it names, and the answer that was given."""

    caller = models.ForeignKey("ingestion.Caller", on_delete=models.CASCADE)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    answer = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=TransactionNow())
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            # Decides between two copies that arrive at the same moment.
            models.UniqueConstraint("caller", "key", name="idempotency_key_once_a_caller")
        ]

    def __str__(self) -> str:
        return f"{self.caller_id}:{self.key}"


class Worker(models.Model):
    """A live worker process, as its heartbeat last said."""

    name = models.CharField(max_length=64, primary_key=True)
    queues = models.CharField(max_length=200)
    concurrency = models.IntegerField()
    busy = models.IntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class CompletionPace(models.Model):
    """EVENT_COMPLETIONS_PER_SECOND as a bucket that all workers draw from, as a slow downstream would have it."""

    queue = models.CharField(max_length=32, primary_key=True)
    level = models.FloatField(default=0, db_default=0)
    level_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.queue
