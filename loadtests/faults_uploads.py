"""Steady uploads under faults: each has a key and is sent until it is answered 202; what was answered is kept.

A caller as a careful program would be: after a refusal or a cut connection it sends the same request again.
"""

import hashlib
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

SLUGS = 40
TWICE_AT_ONCE = 0.25
REPLAYED_LATER = 0.1
EDITED = 0.3
SAME_AGAIN = 0.05
LONGEST_PAUSE_SECONDS = 1.0
# What a careful program sends again: refusals that pass, and faults of the other side.
PASSING = frozenset({429, 500, 502, 503, 504})
WORDS = (
    "parcel", "refund", "courier", "invoice", "warehouse", "customer", "receipt", "exchange", "voucher", "deadline",
    "label", "deposit", "complaint", "signature", "balance", "delivery", "warranty", "seller", "account", "address",
)  # fmt: skip


@dataclass
class Offer:
    """One upload and everything that was answered to it."""

    key: str
    slug: str
    content: bytes
    copies: int
    jobs: set[str] = field(default_factory=set)
    accepted: int = 0
    replayed: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    wrong: str = ""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def note_refusal(self, word: str) -> None:
        self.refused[word] = self.refused.get(word, 0) + 1


class Writer:
    """Makes policies from a seed: new ones, ones with a small change, and some that were sent before."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"uploads:{seed}")
        self._latest: dict[str, list[str]] = {}
        self._count = 0

    def next(self) -> Offer:
        self._count += 1
        slug = f"policy-{self._random.randrange(SLUGS)}"
        sections = self._sections(slug)
        self._latest[slug] = sections
        content = f"# Policy {slug}\n\n" + "\n".join(sections)
        copies = 2 if self._random.random() < TWICE_AT_ONCE else 1
        return Offer(f"upload-{self._count}", slug, content.encode(), copies)

    def _sections(self, slug: str) -> list[str]:
        known, chance = self._latest.get(slug), self._random.random()
        if known and chance < SAME_AGAIN:
            return known
        if known and chance < SAME_AGAIN + EDITED:
            changed = list(known)
            changed[self._random.randrange(len(changed))] = self._section()
            return changed
        return [self._section() for _ in range(self._random.randint(1, 9))]

    def _section(self) -> str:
        words = " ".join(self._random.choice(WORDS) for _ in range(self._random.randint(40, 110)))
        return f"## Rule {self._random.randrange(10**9)}\n\n{words}.\n"


class Uploads:
    """Offers at a steady pace until `finish`; every offer that was begun ends accepted."""

    def __init__(self, api_url: str, token: str, writer: Writer, per_second: float) -> None:
        self._url, self._writer, self._pause = api_url, writer, 1 / per_second
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {token}", "Content-Type": "text/markdown"},
            trust_env=False, timeout=20, limits=httpx.Limits(max_connections=64, keepalive_expiry=2),
        )  # fmt: skip
        self._random = random.Random(0)
        self._lock = threading.Lock()
        self._finished, self._gone = threading.Event(), threading.Event()
        self._senders = ThreadPoolExecutor(24, thread_name_prefix="upload")
        self._offering = threading.Thread(target=self._offer_on, name="offering", daemon=True)
        self.offers: list[Offer] = []

    def start(self) -> None:
        self._offering.start()

    def finish(self) -> None:
        """No new offers; returns once every one is answered, or given up because of `abandon`."""
        self._finished.set()
        self._offering.join()
        self._senders.shutdown(wait=True)
        self._client.close()

    def abandon(self) -> None:
        """What is still unanswered is not sent again."""
        self._finished.set()
        self._gone.set()

    @property
    def accepted(self) -> int:
        return sum(bool(offer.accepted) for offer in list(self.offers))

    def _offer_on(self) -> None:
        while not self._finished.wait(self._pause):
            offer = self._writer.next()
            self.offers.append(offer)
            for _ in range(offer.copies):
                self._senders.submit(self._send_until_taken, offer)
            if self._random.random() < REPLAYED_LATER:
                self._senders.submit(self._send_until_taken, self._random.choice(self.offers))

    def _send_until_taken(self, offer: Offer) -> None:
        while not (self._gone.is_set() or self._is_answered(offer)):
            self._gone.wait(LONGEST_PAUSE_SECONDS * random.uniform(0.3, 1))

    def _is_answered(self, offer: Offer) -> bool:
        try:
            answer = self._client.post(
                f"{self._url}/v1/documents/{offer.slug}/versions",
                content=offer.content, headers={"Idempotency-Key": offer.key},
            )  # fmt: skip
        except httpx.HTTPError as error:
            with self._lock:
                offer.note_refusal(type(error).__name__)
            return False
        with self._lock:
            return self._note(offer, answer)

    def _note(self, offer: Offer, answer: httpx.Response) -> bool:
        if answer.status_code == 202:
            offer.accepted += 1
            offer.replayed += "Idempotent-Replayed" in answer.headers
            offer.jobs.add(answer.json()["job"]["id"])
            return True
        offer.note_refusal(str(answer.status_code))
        if answer.status_code not in PASSING:
            offer.wrong = f"{answer.status_code} {answer.text[:200]}"
            return True
        return False
