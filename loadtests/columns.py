"""The columns of a scorecard: each figure of a pass with its words, unit and decimals worth reading."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """`better`: which direction is an improvement, or empty where neither is."""

    name: str
    words: str
    unit: str = ""
    decimals: int = 0
    better: str = ""

    def shown(self, value: float | None) -> str:
        if value is None or math.isnan(value):
            return "–"
        return f"{value:,.{self.decimals}f}"


COLUMNS = (
    Column("offered", "offered", ""),
    Column("accepted", "accepted (202)", "", 0, "more"),
    Column("queue_full", "refused: queue_full (503)"),
    Column("rate_limited", "refused: rate_limited (429)"),
    Column("other_answers", "other answers", "", 0, "less"),
    Column("unanswered", "no answer", "", 0, "less"),
    Column("dropped", "not sent by the tester", "", 0, "less"),
    Column("lost", "lost: accepted and not succeeded", "", 0, "less"),
    Column("answer_p50_ms", "answer, p50", "ms", 1, "less"),
    Column("answer_p95_ms", "answer, p95", "ms", 1, "less"),
    Column("answer_p99_ms", "answer, p99", "ms", 1, "less"),
    Column("refusal_p50_ms", "answer of a refusal, p50", "ms", 1, "less"),
    Column("result_p50_s", "submit to result, p50", "s", 2, "less"),
    Column("result_p95_s", "submit to result, p95", "s", 2, "less"),
    Column("result_p99_s", "submit to result, p99", "s", 2, "less"),
    Column("result_most_s", "submit to result, slowest", "s", 2, "less"),
    Column("wait_p50_s", "of this waiting, p50", "s", 2, "less"),
    Column("wait_p95_s", "of this waiting, p95", "s", 2, "less"),
    Column("all_done_s", "first arrival to all finished", "s", 1, "less"),
    Column("peak_depth", "queue's peak", "jobs"),
    Column("oldest_most_s", "oldest job's age, peak", "s", 1, "less"),
    Column("retry_after_least_s", "Retry-After, smallest", "s"),
    Column("retry_after_median_s", "Retry-After, median", "s"),
    Column("retry_after_most_s", "Retry-After, largest", "s"),
    Column("attempts_most", "tries of a job, most", ""),
    Column("dead_letters", "dead letters", "", 0, "less"),
    Column("chat_calls", "chat calls for versions"),
    Column("embedding_calls", "embeddings calls for versions", "", 0, "less"),
    Column("embedding_tokens", "embedding tokens for versions", "", 0, "less"),
    Column("provider_refusals", "429s of the provider", "", 0, "less"),
    Column("cost_per_job_usd", "cost of a version", "USD", 6, "less"),
    Column("question_cost_usd", "cost of a question", "USD", 6, "less"),
    Column("questions_asked", "questions asked"),
    Column("questions_failed", "questions without an answer", "", 0, "less"),
    Column("question_p50_s", "question to answer, p50", "s", 2, "less"),
    Column("question_p95_s", "question to answer, p95", "s", 2, "less"),
    Column("question_p99_s", "question to answer, p99", "s", 2, "less"),
    Column("estimate_error_first_s", "wait estimate's error, first tenth, median", "s", 1, "less"),
    Column("estimate_error_s", "wait estimate's error, all, median", "s", 1, "less"),
    Column("estimates_inside", "waits within the estimated range", "share", 2, "more"),
    Column("cpu_percent", "CPU of the machine, mean", "%", 0),
    Column("load_before", "load average before", "", 2),
    Column("load_after", "load average after", "", 2),
    Column("broken_rules", "broken invariants", "", 0, "less"),
)
BY_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}
