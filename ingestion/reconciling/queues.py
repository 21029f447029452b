"""Invariants 1, 2 and 5: jobs and their subjects, counts and depth, leases and generations."""

from ingestion.reconciling.rules import Rule

SUBJECTS = [
    Rule(
        1,
        "job_has_one_subject",
        "Every job has exactly one subject: a document's job a version (to ingest or embed anew), an event's an event.",
        """
        SELECT job.id::text FROM ingestion_job AS job
        LEFT JOIN ingestion_documentversion AS version ON version.job_id = job.id
        LEFT JOIN ingestion_reembedding AS again ON again.job_id = job.id
        LEFT JOIN ingestion_eventrecord AS event ON event.job_id = job.id
        WHERE (version.id IS NOT NULL) <> (job.queue = 'documents' AND job.kind <> 'reembed_version')
           OR (again.id IS NOT NULL) <> (job.queue = 'documents' AND job.kind = 'reembed_version')
           OR (event.id IS NOT NULL) <> (job.queue = 'events')
        """,
    ),
    Rule(
        1,
        "version_has_one_job",
        "Every version has exactly one job that ingests it, and no two share one.",
        """
        SELECT version.id::text FROM ingestion_documentversion AS version
        LEFT JOIN ingestion_job AS job ON job.id = version.job_id
        WHERE job.id IS NULL
        UNION ALL
        SELECT min(id)::text FROM ingestion_documentversion GROUP BY job_id HAVING count(*) > 1
        """,
    ),
    Rule(
        1,
        "event_has_one_job",
        "Every event has exactly one job, and no two share one.",
        """
        SELECT event.id::text FROM ingestion_eventrecord AS event
        LEFT JOIN ingestion_job AS job ON job.id = event.job_id
        WHERE job.id IS NULL
        UNION ALL
        SELECT min(id)::text FROM ingestion_eventrecord GROUP BY job_id HAVING count(*) > 1
        """,
    ),
    Rule(
        1,
        "versions_are_numbered_without_a_hole",
        "A document's versions are numbered from 1 to its latest number.",
        """
        SELECT document.slug FROM ingestion_document AS document
        LEFT JOIN ingestion_documentversion AS version ON version.document_id = document.id
        GROUP BY document.id
        HAVING count(version.id) <> document.latest_number OR coalesce(max(version.number), 0) <> document.latest_number
        """,
    ),
]

COUNTS = [
    Rule(
        2,
        "accepted_adds_up",
        "Per queue, what was accepted (its subjects) is the sum of its jobs over all states.",
        """
        SELECT format('%%s: %%s accepted, %%s jobs', queue, accepted, jobs) FROM (
            SELECT 'documents' AS queue, (SELECT count(*) FROM ingestion_documentversion)
                                            + (SELECT count(*) FROM ingestion_reembedding) AS accepted,
                   (SELECT count(*) FROM ingestion_job WHERE queue = 'documents' AND state = ANY(%(states)s)) AS jobs
            UNION ALL
            SELECT 'events', (SELECT count(*) FROM ingestion_eventrecord),
                   (SELECT count(*) FROM ingestion_job WHERE queue = 'events' AND state = ANY(%(states)s))
        ) AS totals
        WHERE accepted <> jobs
        """,
    ),
    Rule(
        2,
        "depth_counts_live_jobs",
        "The depth kept for admission equals the live jobs, in jobs, units and bytes.",
        """
        SELECT format('%%s: depth %%s jobs %%s units %%s bytes, live %%s jobs %%s units %%s bytes', queue,
                      depth.jobs, depth.units, depth.bytes, live.jobs, live.units, live.bytes)
        FROM (SELECT queue, jobs, units, bytes FROM ingestion_queuestate) AS depth
        FULL JOIN (
            SELECT queue, count(*) AS jobs, sum(units) AS units, sum(bytes) AS bytes
            FROM ingestion_job WHERE state IN ('queued', 'running') GROUP BY queue
        ) AS live USING (queue)
        WHERE (coalesce(depth.jobs, 0), coalesce(depth.units, 0), coalesce(depth.bytes, 0))
           <> (coalesce(live.jobs, 0), coalesce(live.units, 0), coalesce(live.bytes, 0))
        """,
    ),
]

LEASES = [
    Rule(
        5,
        "no_lease_is_overdue",
        "No job runs past the end of its lease plus one sweep.",
        """
        SELECT id::text FROM ingestion_job
        WHERE state = 'running' AND lease_until < now() - make_interval(secs => %(sweep_seconds)s)
        """,
    ),
    Rule(
        5,
        "one_terminal_record_a_life",
        "No job has two terminal records without a revival, which raises the generation, between them.",
        """
        SELECT DISTINCT first.job_id::text FROM ingestion_joboutcome AS first
        JOIN ingestion_joboutcome AS later ON later.job_id = first.job_id AND later.id > first.id
        WHERE first.outcome IN ('succeeded', 'cancelled', 'expired')
           OR (first.outcome IN ('failed', 'dead_letter') AND later.generation < first.generation + 2)
        """,
    ),
    Rule(
        5,
        "ended_as_recorded",
        "A finished job's newest record is its state under its generation; a live job has not ended under its own.",
        """
        SELECT job.id::text FROM ingestion_job AS job
        LEFT JOIN LATERAL (
            SELECT outcome, generation FROM ingestion_joboutcome WHERE job_id = job.id ORDER BY id DESC LIMIT 1
        ) AS newest ON true
        WHERE CASE WHEN job.state IN ('queued', 'running')
            THEN newest.outcome = ANY(%(terminal)s) AND newest.generation >= job.generation
            ELSE (newest.outcome, newest.generation) IS DISTINCT FROM (job.state, job.generation) END
        """,
    ),
    Rule(
        5,
        "generation_never_fell",
        "A job's records rise in generation, and the job stands at or above the last.",
        # By id: it is given while the job's row is locked; `at` is taken when a statement begins to wait for that.
        """
        SELECT DISTINCT job_id::text FROM (
            SELECT job_id, generation, lag(generation) OVER (PARTITION BY job_id ORDER BY id) AS before
            FROM ingestion_joboutcome
        ) AS steps WHERE generation <= before
        UNION
        SELECT job.id::text FROM ingestion_job AS job
        WHERE job.generation < (SELECT max(generation) FROM ingestion_joboutcome WHERE job_id = job.id)
        """,
    ),
]

RULES = [*SUBJECTS, *COUNTS, *LEASES]
