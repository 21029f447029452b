"""What is run: each scenario and each comparison with its settings, rates and passes, and nowhere else.

Rates are a minute, lengths seconds. `SHORT` is laid over a plan's variables by --short, to see that it works.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loadtests import flood_model
from loadtests.workload import planned_burst_per_minute, value

PLENTY = {"CHAT_REQUESTS_PER_MINUTE": "100000", "EMBEDDING_TOKENS_PER_MINUTE": "100000000"}
PLENTY_PROVIDER = (
    "--chat-requests-per-minute", "100000", "--embedding-tokens-per-minute", "100000000",
)  # fmt: skip
# No caller's own limit is part of a question unless the plan says so.
NO_CALLER_LIMIT = {"QUESTIONS_PER_MINUTE": "100000"}


@dataclass(frozen=True)
class Plan:
    """One configuration of one scenario. `is_loaded`: the policies are published before, outside the limits."""

    scenario: str
    configuration: str = "normal"
    settings: Mapping[str, str] = field(default_factory=dict)
    provider: tuple[str, ...] = ()
    variables: Mapping[str, int] = field(default_factory=dict)
    workers: int = 1
    is_loaded: bool = True
    queue: str = "documents"
    passes: int = 3

    def short(self) -> "Plan":
        """The same with a few seconds of arrivals and one pass."""
        return replace(self, variables={**self.variables, **SHORT[self.scenario]}, passes=1)


def _rates(uploads: int, seconds: int, questions: int = 0, asked_for: int = 0) -> dict[str, int]:
    return {
        "UPLOAD_RATE": uploads, "UPLOAD_SECONDS": seconds,
        "QUESTION_RATE": questions, "QUESTION_SECONDS": asked_for or seconds,
    }  # fmt: skip


SHORT: dict[str, dict[str, int]] = {
    "baseline": {"UPLOAD_RATE": 120, "UPLOAD_SECONDS": 3, "QUESTION_RATE": 60, "QUESTION_SECONDS": 3},
    "burst": {"UPLOAD_RATE": 240, "UPLOAD_SECONDS": 3, "QUESTION_RATE": 60, "QUESTION_SECONDS": 3},
    "overload": {"UPLOAD_RATE": 4800, "UPLOAD_SECONDS": 2},
    "questions": {"UPLOAD_RATE": 240, "UPLOAD_SECONDS": 2, "QUESTION_RATE": 60, "QUESTION_SECONDS": 3},
    "flood": {"BURST": 3, "CALM_SECONDS": 3},
    "drain": {"UPLOAD_RATE": 240, "UPLOAD_SECONDS": 2},
}

SCENARIOS: dict[str, Plan] = {
    "baseline": Plan(
        "baseline",
        settings=NO_CALLER_LIMIT,
        variables=_rates(value("normal_uploads_per_minute"), 60, value("normal_questions_per_minute")),
    ),
    "burst": Plan(
        "burst",
        settings=NO_CALLER_LIMIT,
        variables=_rates(planned_burst_per_minute(), 60, value("policy_questions_per_minute")),
    ),
    "overload": Plan(
        "overload",
        settings={**NO_CALLER_LIMIT, "DOCUMENTS_QUEUE_MAX": "50"},
        variables=_rates(20 * 60, 15),
    ),
    "questions": Plan(
        "questions",
        settings=NO_CALLER_LIMIT,
        variables=_rates(15 * 60, 8, value("policy_questions_per_minute"), 45),
    ),
    "flood": Plan(
        "flood",
        settings={"EVENT_COMPLETIONS_PER_SECOND": str(flood_model.COMPLETIONS), "EVENTS_QUEUE_MAX": "300"},
        provider=("--latency-scale", "0"),
        variables={
            "RATE": flood_model.BURST, "BURST": flood_model.BURST_SECONDS,
            "CALM": flood_model.CALM, "CALM_SECONDS": 25,
        },
        is_loaded=False,
        queue="events",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Two configurations that differ in one setting; `before` is the one that is not kept."""

    name: str
    question: str
    setting: str
    before: Plan
    after: Plan
    is_constructed: str = ""

    @property
    def pair(self) -> tuple[Plan, Plan]:
        return self.before, self.after


def _comparison(
    name: str,
    question: str,
    setting: str,
    kept: Plan,
    before: tuple[str, Mapping[str, str]],
    after: str,
    constructed: str = "",
) -> Comparison:
    """`kept` under its own settings is `after`; with `before`'s settings laid over them it is the other one."""
    other, changed = before
    return Comparison(
        name, question, setting,
        replace(kept, configuration=other, settings={**kept.settings, **changed}), replace(kept, configuration=after),
        constructed,
    )  # fmt: skip


_PLAIN = Plan("drain", settings={**NO_CALLER_LIMIT, **PLENTY}, provider=PLENTY_PROVIDER, is_loaded=False, passes=5)
_LIMITED = Plan("drain", settings=NO_CALLER_LIMIT, passes=5)
# Few slots, so that the worker and not the machine is what fills.
_SLOTS = replace(
    _PLAIN, settings={**_PLAIN.settings, "WORKER_CONCURRENCY": "4"}, variables=_rates(10 * 60, 3), is_loaded=False
)
_SMALL_QUOTA = replace(
    _LIMITED,
    settings={**NO_CALLER_LIMIT, "CHAT_REQUESTS_PER_MINUTE": "60"},
    provider=("--chat-requests-per-minute", "60"),
    variables=_rates(20 * 60, 3),
)


def _with_workers(name: str, question: str, plan: Plan, constructed: str) -> Comparison:
    return Comparison(
        name, question, "workers",
        replace(plan, configuration="one-worker"), replace(plan, configuration="two-workers", workers=2), constructed,
    )  # fmt: skip


COMPARISONS: dict[str, Comparison] = {
    one.name: one
    for one in (
        _comparison(
            "reuse",
            "What does it save to take over the vector of a chunk whose text was embedded before?",
            "VECTOR_REUSE",
            replace(_LIMITED, variables=_rates(24 * 60, 3)),
            ("reuse-off", {"VECTOR_REUSE": "off"}),
            "reuse-on",
        ),
        _comparison(
            "batch",
            "What does a batch of chunks in one embeddings call save against one chunk a call?",
            "EMBEDDING_BATCH_INPUTS",
            replace(_PLAIN, variables=_rates(12 * 60, 3)),
            ("one-chunk-a-call", {"EMBEDDING_BATCH_INPUTS": "1"}),
            "batches",
            "quotas far above the account's, so that calls and not quotas are compared; nothing is there to reuse",
        ),
        _with_workers(
            "workers",
            "What does a second worker bring where the workers are the limit?",
            _SLOTS,
            "quotas far above the account's and few slots a worker, so that the workers are the limit",
        ),
        _with_workers(
            "workers-under-quota",
            "What does a second worker bring where the chat quota is the limit?",
            _SMALL_QUOTA,
            "a smaller chat quota than the account's, so that it is used up within a pass",
        ),
        _comparison(
            "share",
            "What does the part of the quota that is kept for questions change for them, and for the bulk work?",
            "QUESTION_SHARE",
            replace(
                SCENARIOS["questions"], passes=5,
                settings={**NO_CALLER_LIMIT, "CHAT_REQUESTS_PER_MINUTE": "60"},
                provider=("--chat-requests-per-minute", "60"), variables=_rates(20 * 60, 3, 24, 20),
            ),
            ("share-off", {"QUESTION_SHARE": "0"}),
            "share-on",
            "a smaller chat quota than the account's, so that it is used up within a pass",
        ),
    )
}  # fmt: skip
