"""Invariant 8: what the provider was asked for is in its ledger, and all totals come from there."""

from ingestion.reconciling.rules import Rule

RULES = [
    Rule(
        8,
        "a_finished_call_has_an_outcome",
        "A call has an outcome exactly when it has ended, and was not charged before.",
        """
        SELECT client_request_id FROM ingestion_providercall
        WHERE (finished_at IS NULL) <> (outcome IS NULL)
           OR (outcome IS NULL AND (prompt_tokens, completion_tokens, cost_usd) <> (0, 0, 0))
        """,
    ),
    Rule(
        8,
        "tokens_and_cost_agree",
        "A good call has tokens; no number of the ledger is negative, and nothing costs without a token.",
        """
        SELECT client_request_id FROM ingestion_providercall
        WHERE (outcome = 'ok' AND prompt_tokens = 0) OR least(prompt_tokens, completion_tokens, cost_usd) < 0
           OR (prompt_tokens + completion_tokens = 0 AND cost_usd <> 0)
        """,
    ),
    Rule(
        8,
        "every_output_was_paid",
        "A job's own summary and its own vectors have a good call in the ledger.",
        """
        SELECT summary.job_id::text FROM ingestion_summary AS summary
        WHERE NOT summary.is_reused AND NOT EXISTS (
            SELECT FROM ingestion_providercall AS call
            WHERE call.job_id = summary.job_id AND call.lane = 'chat' AND call.outcome = 'ok'
        )
        UNION
        SELECT DISTINCT chunk.job_id::text FROM ingestion_chunkvector AS vector
        JOIN ingestion_chunk AS chunk ON chunk.id = vector.chunk_id
        WHERE NOT vector.is_reused AND NOT EXISTS (
            SELECT FROM ingestion_providercall AS call
            WHERE call.lane = 'embeddings' AND call.outcome = 'ok' AND (call.job_id = chunk.job_id OR call.job_id IN (
                SELECT again.job_id FROM ingestion_reembedding AS again WHERE again.version_id = chunk.version_id
            ))
        )
        """,
    ),
    Rule(
        8,
        "calls_belong_to_a_claim",
        "A call made for a job names a generation that the job has had.",
        """
        SELECT call.client_request_id FROM ingestion_providercall AS call
        JOIN ingestion_job AS job ON job.id = call.job_id
        WHERE call.generation IS NULL OR call.generation NOT BETWEEN 1 AND job.generation
        """,
    ),
    Rule(
        8,
        "totals_equal_the_ledger",
        "The calls and costs of all jobs, and those made for no job, add up to the ledger's totals.",
        """
        SELECT format('%%s: %%s of %%s', what, shown, total) FROM (
            SELECT sum(cost) AS cost, sum(calls) AS calls, sum(tokens) AS tokens FROM (
                SELECT sum(cost_usd) AS cost, count(*) AS calls, sum(prompt_tokens + completion_tokens) AS tokens
                FROM ingestion_job AS job JOIN ingestion_providercall AS call ON call.job_id = job.id GROUP BY job.id
                UNION ALL
                SELECT sum(cost_usd), count(*), sum(prompt_tokens + completion_tokens)
                FROM ingestion_providercall WHERE job_id IS NULL
            ) AS parts
        ) AS jobs, (
            SELECT sum(cost_usd) AS cost, count(*) AS calls, sum(prompt_tokens + completion_tokens) AS tokens
            FROM ingestion_providercall
        ) AS ledger, LATERAL (
            VALUES ('cost', jobs.cost, ledger.cost), ('calls', jobs.calls, ledger.calls),
                   ('tokens', jobs.tokens, ledger.tokens)
        ) AS compared(what, shown, total)
        WHERE shown IS DISTINCT FROM total
        """,
    ),
]
