-- Guarantee: the events of the given jobs, and whether each was applied before. Read behind the partitions' locks.
SELECT event.job_id, event.id, event.partition, event.type, event.occurred_at, event.payload,
       effect.event_id IS NOT NULL AS is_applied
FROM ingestion_eventrecord AS event
LEFT JOIN ingestion_eventeffect AS effect ON effect.event_id = event.id
WHERE event.job_id = ANY(%(jobs)s::uuid[])
