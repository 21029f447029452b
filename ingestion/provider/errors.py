"""What a provider call may raise. A caller needs only these three words; no decision is made here.

ProviderError
├── NotNow            no call can be made now; costs nobody an attempt
├── ProviderFailed    a try that failed and counts
└── ProviderRefused   a request that can never succeed
"""

from datetime import datetime
from typing import Literal

WaitReason = Literal["provider_quota", "provider_outage"]


class ProviderError(Exception):
    """Parent of all; `code` is a short stable word, `detail` a sentence without secrets."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class NotNow(ProviderError):
    """No call can be made before `until` (aware, by the database's clock), `wait_seconds` from now."""

    def __init__(self, until: datetime, reason: WaitReason, *, wait_seconds: float = 0.0, detail: str = "") -> None:
        super().__init__(reason, detail or "The provider takes no call now.")
        self.until = until
        self.reason: WaitReason = reason
        self.wait_seconds = wait_seconds


class ProviderFailed(ProviderError):
    """The try failed: an answer of 5xx, none in time, a cut connection, or one that cannot be read."""

    charges: bool = True


class ProviderRefused(ProviderError):
    """The request itself is wrong or larger than the minute's limit: the same one never succeeds."""

    def __init__(self, detail: str) -> None:
        super().__init__("provider_refused", detail)
