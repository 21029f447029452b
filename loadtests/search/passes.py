"""Run inside an installation's environment: asks in turns, and prints one JSON object with what it saw.

`python -m loadtests.search.passes COUNT PASSES API_URL TOKEN`. Kinds of passes, one client each: the statement alone
through the driver; the search function with the questions' vectors saved; the same over HTTP; and over HTTP with new
questions, each embedded by the provider.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import django
import httpx
import psycopg

Ask = Callable[[int], object]


def main(count: int, passes: int, api_url: str, token: str) -> dict[str, Any]:
    """The times of every question of every pass, in milliseconds, and what the index missed."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "larkfield.settings"
    django.setup()
    from loadtests.search.asking import Asking

    with httpx.Client(base_url=api_url, headers={"Authorization": f"Bearer {token}"}, trust_env=False) as api:
        asking = Asking(count, api)
        rows: list[dict[str, Any]] = []
        for kind, ask in asking.kinds.items():
            _times(ask, range(min(count, 20)))
            rows.append({"pass": 0, "kind": kind, "warm": True})
        rows = [
            {"pass": number + 1, "kind": kind, "ms": _times(ask, range(number * count, (number + 1) * count))}
            for number in range(passes)
            for kind, ask in asking.kinds.items()
        ]
        return {"passes": rows, **asking.recall(), "plan": asking.plan()}


def _times(ask: Ask, numbers: Sequence[int]) -> list[float]:
    taken = []
    for number in numbers:
        began = time.perf_counter()
        ask(number)
        taken.append(round(1000 * (time.perf_counter() - began), 3))
    return taken


if __name__ == "__main__":
    try:
        found = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
    except (psycopg.Error, httpx.HTTPError) as error:
        sys.exit(f"a pass failed: {error}")
    sys.stdout.write(json.dumps(found))
