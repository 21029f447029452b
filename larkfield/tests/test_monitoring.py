"""The alert rules and the dashboard name metrics that exist, in expressions that can be read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from ingestion.models import Tally
from larkfield.metrics import COUNTERS, HISTOGRAMS

ROOT = Path(__file__).resolve().parents[2]
MONITORING = ROOT / "docs" / "monitoring"
RULES: list[dict[str, Any]] = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((MONITORING / "grafana-dashboard.json").read_text())
# Prometheus's own, of each target.
OF_PROMETHEUS = {"up": {"job", "instance"}}
ONLY_FOR_COUNTERS = ("rate", "increase", "irate")


def dashboard_expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$queue", "documents")


EXPRESSIONS = [*(rule["expr"] for rule in RULES), *dashboard_expressions()]


@pytest.fixture
def known(db: None) -> dict[str, set[str]]:
    """Each sample of /metrics with its labels, where every metric has something to show."""
    for name, (_, _, labels) in COUNTERS.items():
        Tally.objects.create(name=name, label="documents", part="dead_letter" if len(labels) > 1 else "")
    Tally.objects.create(name="settled", label="documents", part="lease_expired", total=1)
    for name in HISTOGRAMS:
        Tally.objects.create(name=name, label="documents", part="bucket 1", total=1)
    Client().get("/v1/news")
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(Client().get("/metrics").content.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    # Nothing is under way or old in a test.
    return {
        **OF_PROMETHEUS,
        **found,
        "larkfield_provider_calls_under_way": {"lane"},
        "larkfield_oldest_transaction_seconds": {"pid", "application"},
    }


def parts(expression: str) -> list[Any]:
    found: list[Any] = []
    promql_parser.walk(promql_parser.parse(expression), found.append)
    return found


def selectors(expression: str) -> list[Any]:
    return [part for part in parts(expression) if isinstance(part, promql_parser.VectorSelector)]


def faults(expression: str, known: dict[str, set[str]]) -> Iterator[str]:
    for one in selectors(expression):
        if one.name not in known:
            yield f"there is no {one.name}"
        elif wrong := {matcher.name for matcher in one.matchers.matchers} - known[one.name]:
            yield f"{one.name} has no label {wrong}"
    for part in parts(expression):
        (inner, *_) = selectors(part.prettify()) or [None]
        grouped = part.modifier.labels if isinstance(part, promql_parser.AggregateExpr) and part.modifier else ()
        if wrong := set(grouped) - known.get(inner.name if inner else "", set()):
            yield f"{inner.name} has no label {wrong}"
        is_of_counters = isinstance(part, promql_parser.Call) and part.func.name in ONLY_FOR_COUNTERS
        if is_of_counters and not re.search("_(total|bucket|count|sum)$", inner.name):
            yield f"{inner.name} is no counter"


def test_every_expression_asks_for_what_there_is(known: dict[str, set[str]]) -> None:
    assert len(EXPRESSIONS) > 40
    assert [f"{expression}: {fault}" for expression in EXPRESSIONS for fault in faults(expression, known)] == []


@pytest.mark.parametrize(
    "wrong", ("larkfield_nothing", 'larkfield_queue_depth{unit="a",x="y"}', "rate(larkfield_queue_depth[5m])",
              "sum by (pid) (larkfield_queue_depth)")
)  # fmt: skip
def test_a_wrong_expression_is_found(wrong: str, known: dict[str, set[str]]) -> None:
    assert list(faults(wrong, known))


def test_every_metric_of_ours_is_named_in_the_manual_and_drawn(known: dict[str, set[str]]) -> None:
    manual = (ROOT / "docs" / "operations.md").read_text()
    short = r"larkfield_queue_\{([a-z_,]+)\}"
    named = {f"larkfield_queue_{word}" for found in re.findall(short, manual) for word in found.split(",")}
    named |= set(re.findall(r"larkfield_[a-z_]+", manual))
    drawn = {selector.name for expression in EXPRESSIONS for selector in selectors(expression)}
    families = {re.sub("_(bucket|count|sum|created)$", "", name) for name in known if name.startswith("larkfield_")}
    assert families - named == set()
    assert families - {re.sub("_(bucket|count|sum)$", "", name) for name in drawn} == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_an_alert_waits_says_what_it_means_and_where_it_is_written_what_to_do(rule: dict[str, Any]) -> None:
    assert re.fullmatch(r"\d+[mh]", rule["for"])
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"]
    page, anchor = rule["annotations"]["runbook"].split("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.MULTILINE)
    assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_each_runbook_belongs_to_an_alert() -> None:
    anchors = re.findall(r"^### (alert-.+)$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert sorted(anchors) == sorted(rule["annotations"]["runbook"].split("#")[1] for rule in RULES)
    assert len(RULES) == len({rule["alert"] for rule in RULES})


def test_panels_fit_beside_each_other_and_read_one_source() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for number, one in enumerate(places):
        for other in places[:number]:
            apart_x = one["x"] >= other["x"] + other["w"] or other["x"] >= one["x"] + one["w"]
            apart_y = one["y"] >= other["y"] + other["h"] or other["y"] >= one["y"] + one["h"]
            assert apart_x or apart_y
    assert all(panel["datasource"]["uid"] == "${source}" and panel["description"] for panel in DASHBOARD["panels"])
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
