-- Guarantee: one row a minute, lane and purpose from `since` on in which the provider was called, by call_started.
-- `used` is in units of the lane: requests of chat, tokens of embeddings (what is under way counts as reserved). A
-- call that the provider refused for its rate used nothing.
SELECT date_trunc('minute', started_at) AS minute, lane, purpose,
       coalesce(sum(CASE
           WHEN outcome = 'rate_limited' THEN 0
           WHEN lane = 'chat' THEN 1
           WHEN outcome IS NULL THEN reserved
           ELSE prompt_tokens
       END), 0)::int AS used,
       count(*) FILTER (WHERE outcome = 'rate_limited')::int AS limited,
       coalesce(sum(cost_usd), 0) AS cost_usd
FROM ingestion_providercall
WHERE started_at >= %(since)s
GROUP BY 1, 2, 3
