"""What changes while a simulator runs: its mode, quotas, faults and ledger. Speaks no HTTP."""

import asyncio
import time

from simulator.errors import rate_limited
from simulator.faults import FaultQueue, FlakyDraw
from simulator.latency import SLOW_FACTOR
from simulator.ledger import Ledger
from simulator.options import CHAT_MODEL, EMBEDDING_MODEL, CallPath, Mode, Options
from simulator.quota import Bucket, Lane

# What `quota` leaves of the two named limits.
QUOTA_DIVISOR = 10
MODELS: dict[CallPath, str] = {"chat/completions": CHAT_MODEL, "embeddings": EMBEDDING_MODEL}


class Simulator:
    """One provider account. Touched by one event loop only, and never half changed across an await."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.started_at = int(time.time())
        self.reset()

    def reset(self) -> None:
        """An empty ledger, no faults, full buckets and the mode of the start; calls that hang are cut off."""
        self.release_hung()
        self.ledger = Ledger()
        self.faults = FaultQueue()
        self.flaky = FlakyDraw(self.options.seed)
        self.mode: Mode = self.options.mode
        now = time.monotonic()
        chat_requests, embedding_tokens = self._named_limits()
        self.lanes: dict[CallPath, Lane] = {
            "chat/completions": Lane(
                Bucket.full(chat_requests, now), Bucket.full(self.options.chat_tokens_per_minute, now)
            ),
            "embeddings": Lane(
                Bucket.full(self.options.embedding_requests_per_minute, now), Bucket.full(embedding_tokens, now)
            ),
        }

    def switch(self, mode: Mode) -> None:
        """The mode holds from the next call on, the limits at once; calls that hang are cut off."""
        self.release_hung()
        self.mode = mode
        now = time.monotonic()
        chat_requests, embedding_tokens = self._named_limits()
        self.lanes["chat/completions"].requests.resize(chat_requests, now)
        self.lanes["embeddings"].tokens.resize(embedding_tokens, now)

    def release_hung(self) -> None:
        """Every call that waits on `hung` is woken."""
        if hung := getattr(self, "hung", None):
            hung.set()
        self.hung = asyncio.Event()

    def charge(self, path: CallPath, tokens: int) -> dict[str, str]:
        """The call is charged and the rate limit headers returned; ApiError 429 with them, and no charge, otherwise."""
        now = time.monotonic()
        refusal = self.lanes[path].charge(tokens, now)
        headers = self.lanes[path].headers(now)
        if refusal is not None:
            error = rate_limited(MODELS[path], refusal)
            error.headers.update(headers)
            raise error
        return headers

    def next_fault(self, path: CallPath) -> str | None:
        """The fault the path's next call meets: one on order first, else, in the flaky mode, one by chance."""
        ordered = self.faults.peek(path)
        if ordered is None and self.mode == "flaky":
            return self.flaky.next(path)
        return ordered

    def pace(self, seconds: float) -> float:
        """The seconds as this simulator's scale and mode stretch them."""
        return seconds * self.options.latency_scale * (SLOW_FACTOR if self.mode == "slow" else 1.0)

    def _named_limits(self) -> tuple[int, int]:
        divisor = QUOTA_DIVISOR if self.mode == "quota" else 1
        limits = (self.options.chat_requests_per_minute, self.options.embedding_tokens_per_minute)
        return max(1, limits[0] // divisor), max(1, limits[1] // divisor)
