"""The same work beside 0, 100,000 and 1,000,000 finished jobs, and beside 100,000 waiting ones, in turns."""

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import httpx

from loadtests import k6
from loadtests.bench import grown
from loadtests.bench.product import SETTINGS, JobRun
from loadtests.bench.turns import Series, ratio_of
from loadtests.bench.working import rate, warm
from loadtests.footprint import free_port
from loadtests.installation import Installation, installed
from loadtests.percentiles import median
from loadtests.recording import Figure, Found, say, shown

SIZES = {"empty": (0, 0), "100k finished": (100_000, 0), "1M finished": (1_000_000, 0), "100k waiting": (0, 100_000)}
SHORT_SIZES = {"empty": (0, 0), "100k finished": (100_000, 0), "20k waiting": (0, 20_000)}
LEAST = 0.95
CONNECTIONS, SECONDS, READS = 8, 3, 60
# The page's frame, and what its script asks for every other second and every minute.
PAGES = {
    "operations page": "/operations/",
    "its numbers": "/operations/numbers",
    "its last hour": "/operations/history",
}
SESSION = (
    "from django.contrib.auth import get_user_model as model; from django.test import Client; "
    "user, _ = model().objects.get_or_create(username='bench', is_staff=True, is_superuser=True); "
    "from ingestion.models import Caller; Caller.objects.filter(name='bench').update(user=user); "
    "client = Client(); client.force_login(user); print(client.cookies['sessionid'].value)"
)


@dataclass(frozen=True)
class Place:
    """One database with its API."""

    name: str
    waiting: int
    run: JobRun
    api: str
    token: str
    cookies: dict[str, str]


def measure(*, passes: int, short: bool) -> Found:
    """Claims, admission, the queue's numbers and the operations page in each database."""
    sizes, seconds = (SHORT_SIZES, 2.0) if short else (SIZES, 4.0)
    with installed(SETTINGS, workers=0) as stage:
        places = [_place(stage, number, name, *size) for number, (name, size) in enumerate(sizes.items())]
        count, _ = warm(places[0].run, seconds)
        results: dict[str, dict[str, Series]] = defaultdict(lambda: defaultdict(lambda: Series([])))
        for number in range(passes):
            for place in places:
                for what, value in _pass(place, seconds, count, number).items():
                    results[what][place.name].passes.append(value)
                claims = results["jobs/s of one worker"][place.name].passes[-1]
                say(f"  pass {number + 1}  {place.name}: {shown(claims)} jobs/s")
        for place in places:
            place.run.empty()
        checked = [grown.reconcile(stage, place.run.database) for place in places]
    return Found(
        figures=figures(results), settings=stage.settings, reconcile=_together(places, checked),
        facts={"tables": {what: _rows(series) for what, series in results.items()}},
        notes=["Rows of the past are those that admission and settlement leave: job, outcome, event, effect, "
               "checkpoint. Each database has its own API; a pass visits one after the other."],
    )  # fmt: skip


def _place(stage: Installation, number: int, name: str, finished: int, waiting: int) -> Place:
    say(f"  making {name}")
    address = grown.prepare(stage, f"bench_grown_{number}")
    changes, port = {"DATABASE_URL": address}, free_port()
    token = grown.manage(stage, changes, "createcaller", "bench", "--can", "upload,produce,operate").strip()
    grown.finish(address, finished)
    session = grown.manage(stage, changes, "shell", "-v", "0", "-c", SESSION).split()[-1]
    stage.start_server(f"api-{number}", port, "larkfield.wsgi:application", changes=changes)
    url = f"http://127.0.0.1:{port}"
    run = JobRun(stage, {"Authorization": f"Bearer {token}"}, database=address, api=url)
    return Place(name, waiting, run, url, token, {"sessionid": session})


def _pass(place: Place, seconds: float, count: int, number: int) -> dict[str, float]:
    """One visit: what is missing of the waiting jobs is added, all is measured, the worker is stopped."""
    run = place.run
    if place.waiting:
        run.fill(max(0, place.waiting - run.left()))
        claims = rate(run, 1, seconds=seconds)
    else:
        claims = rate(run, count)
    metrics = k6.run(
        "../bench/offer.js",
        {"URL": f"{place.api}/v1/events", "RATE": 0, "VUS": CONNECTIONS, "SECONDS": min(SECONDS, round(seconds)),
         "PASS": f"growth-{number}", "TOKEN": place.token},
        within=SECONDS,
    )  # fmt: skip
    headers = {"Authorization": f"Bearer {place.token}"}
    found = {"jobs/s of one worker": claims, "events accepted/s": float(metrics["accepted"]["rate"])}
    with httpx.Client(base_url=place.api, trust_env=False, headers=headers) as api:
        found["GET /v1/queue, ms"] = _median_ms(api, "/v1/queue")
    with httpx.Client(base_url=place.api, trust_env=False, cookies=place.cookies) as pages:
        for name, path in PAGES.items():
            found[f"{name}, ms"] = _median_ms(pages, path)
    _drain(place)
    return found


def _drain(place: Place) -> None:
    """What admission has added here is done, so that the next visit finds what this one found."""
    if not place.waiting:
        rate(place.run, 0)


def _median_ms(api: httpx.Client, path: str) -> float:
    taken = []
    for _ in range(READS):
        began = time.monotonic()
        answer = api.get(path)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status_code}")
        taken.append((time.monotonic() - began) * 1000)
    return median(taken)


def _together(places: list[Place], checked: list[dict[str, Any]]) -> dict[str, Any]:
    """All databases' rules as one account."""
    broken = {f"{place.name}: {rule}": ids for place, one in zip(places, checked, strict=True)
              for rule, ids in one["broken"].items()}  # fmt: skip
    return {"rules": sum(one["rules"] for one in checked), "broken": broken}


def _rows(series: dict[str, Series]) -> list[dict[str, object]]:
    return [{"database": name, **{key: one.as_json()[key] for key in ("median", "least", "most")}}
            for name, one in series.items()]  # fmt: skip


def figures(results: dict[str, dict[str, Series]]) -> list[Figure]:
    """Each size against the empty database; the claim rate beside the most finished jobs has a target."""
    found = []
    for what, series in results.items():
        empty = series["empty"]
        for name, one in series.items():
            if name != "empty":
                target = f"≥ {LEAST}" if what.startswith("jobs/s") and name.endswith("finished") else None
                how = f"{shown(one.median)} / {shown(empty.median)}; median of the turns' ratios"
                found.append(Figure(f"{what}: {name} over empty", ratio_of(one, empty), "×", target, how))
    return found
