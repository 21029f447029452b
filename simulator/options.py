"""What one simulator was started with. No state that changes lives here."""

from dataclasses import dataclass
from typing import Literal, get_args

Mode = Literal["normal", "quota", "outage", "slow", "flaky"]
CallPath = Literal["chat/completions", "embeddings"]

MODES: tuple[Mode, ...] = get_args(Mode)
CALL_PATHS: tuple[CallPath, ...] = get_args(CallPath)

CHAT_MODEL = "chat-small"
EMBEDDING_MODEL = "embed-small"


@dataclass(frozen=True, slots=True)
class Options:
    """Everything the command line sets; the defaults are the quotas recorded from the account."""

    mode: Mode = "normal"
    seed: int = 1
    latency_scale: float = 1.0
    chat_requests_per_minute: int = 100
    embedding_tokens_per_minute: int = 100_000
    # The two limits nobody names are generous, so that the named ones are met first.
    chat_tokens_per_minute: int = 200_000
    embedding_requests_per_minute: int = 3_000
    # Longer than any sensible client waits; a hung call must still end one day.
    hang_seconds: float = 120.0
