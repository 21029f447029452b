-- Guarantee: what the queue's unfinished jobs that had ended before take of its bound. Reads the live jobs, of which
-- there are no more than the bound, and the outcomes of each by their unique index. The caller holds the queue's
-- replay lock (`lock_replays`), taken by a statement of its own so that this one sees what others replayed before it.
SELECT count(*), coalesce(sum(job.units), 0)::bigint, coalesce(sum(job.bytes), 0)::bigint
FROM ingestion_job AS job
WHERE job.queue = %(queue)s AND job.state IN ('queued', 'running')
  AND EXISTS (
      SELECT FROM ingestion_joboutcome AS outcome
      WHERE outcome.job_id = job.id AND outcome.outcome IN ('dead_letter', 'failed')
        AND outcome.generation < job.generation
  )
