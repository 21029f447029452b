-- Guarantee: until this transaction ends nobody else replays into the queue, so that the share of its bound which
-- replays may fill is exact. Taken first, before any row; admission and workers never ask for it.
SELECT pg_advisory_xact_lock(hashtextextended('larkfield replay ' || %(queue)s, 0))
