-- Guarantee: until the transaction ends nobody else applies an event of the given jobs' partitions. Locked in the order
-- of their names, so that two who take several never wait for each other in a ring.
SELECT checkpoint.partition
FROM ingestion_checkpoint AS checkpoint
WHERE checkpoint.partition IN (SELECT partition FROM ingestion_eventrecord WHERE job_id = ANY(%(jobs)s::uuid[]))
ORDER BY checkpoint.partition
FOR NO KEY UPDATE
