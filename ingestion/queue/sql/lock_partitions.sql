-- Guarantee: the returned partitions are this transaction's until it ends; nobody else claims from them meanwhile.
-- Only partitions whose head of line is ready and of which nothing runs. The next statement of the transaction sees
-- what claims before us committed, because we hold what they held. The recursion jumps from partition to partition
-- in the index, so that it reads one row a partition however long the lines are.
WITH RECURSIVE head AS (
    (
        SELECT partition, sequence, turn, queue, state, ready_at
        FROM ingestion_job
        WHERE partition IS NOT NULL AND state IN ('queued', 'running')
        ORDER BY partition, sequence
        LIMIT 1
    )
    UNION ALL
    SELECT following.*
    FROM head CROSS JOIN LATERAL (
        SELECT partition, sequence, turn, queue, state, ready_at
        FROM ingestion_job
        WHERE partition > head.partition AND state IN ('queued', 'running')
        ORDER BY partition, sequence
        LIMIT 1
    ) AS following
)
SELECT checkpoint.partition
FROM ingestion_checkpoint AS checkpoint
JOIN head ON head.partition = checkpoint.partition
WHERE head.queue = %(queue)s AND head.state = 'queued' AND head.ready_at <= now()
ORDER BY head.turn, head.sequence
LIMIT %(limit)s
FOR NO KEY UPDATE OF checkpoint SKIP LOCKED
