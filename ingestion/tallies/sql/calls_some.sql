-- Guarantee: between `after` and the returned moment at most `most` calls of each lane have ended; null: so few are left.
-- Reads `most` entries of the index for each lane.
SELECT min(found.finished_at)
FROM unnest(%(lanes)s::text[]) AS lane(name)
CROSS JOIN LATERAL (
    SELECT call.finished_at
    FROM ingestion_providercall AS call
    WHERE call.lane = lane.name AND call.finished_at < %(before)s
      AND call.finished_at >= coalesce(%(after)s::timestamptz, '-infinity')
    ORDER BY call.finished_at
    OFFSET %(most)s LIMIT 1
) AS found
