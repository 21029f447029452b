-- Guarantee: the lane's row and the breaker's row exist; existing ones are untouched. A new bucket is full.
WITH lane AS (
    INSERT INTO ingestion_providerlane (name, limit_per_minute, level, level_at)
    VALUES (%(lane)s, %(configured)s, %(configured)s, clock_timestamp())
    ON CONFLICT (name) DO NOTHING
)
INSERT INTO ingestion_providerstate (id) VALUES (1)
ON CONFLICT (id) DO NOTHING
RETURNING id
