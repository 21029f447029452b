"""The admin shows to each account what its caller's rights allow, and to nobody a way to break an invariant."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from ingestion.admin import lists
from ingestion.models import Caller, Document, EventRecord, Job, ProviderCall
from ingestion.tests.eventing import document
from ingestion.tests.operating import dead_job, quarantined, signed_in, words

pytestmark = pytest.mark.django_db

TABLES = ("job", "eventrecord", "caller", "document", "providercall")
REGISTERED = [model for model in admin.site._registry if model._meta.app_label == "ingestion"]


@pytest.fixture
def operator() -> Client:
    return signed_in("operator", "operate")


@pytest.fixture
def superuser() -> Client:
    return signed_in("root", is_superuser=True)


def address(model: type[Model], *parts: object) -> str:
    return "/".join(["/admin", "ingestion", model._meta.model_name or "", *map(str, parts), ""])


@pytest.mark.parametrize("table", TABLES)
def test_every_list_opens_for_an_operator(operator: Client, table: str) -> None:
    quarantined()
    document()
    assert operator.get(f"/admin/ingestion/{table}/").status_code == 200


@pytest.mark.parametrize("rights", [(), ("none",), ("upload", "ask", "produce")])
def test_without_the_right_to_operate_only_documents_are_shown(rights: tuple[str, ...]) -> None:
    client = signed_in("mei", *rights)
    seen = [table for table in TABLES if client.get(f"/admin/ingestion/{table}/").status_code == 200]
    assert seen == (["document"] if rights else [])


def test_an_account_whose_caller_was_shut_out_sees_nothing(operator: Client) -> None:
    Caller.objects.filter(name="operator").update(is_active=False)
    assert {operator.get(f"/admin/ingestion/{table}/").status_code for table in TABLES} == {403}


def test_an_account_that_is_no_staff_is_sent_to_the_door() -> None:
    answer = signed_in("tomás", "operate", is_staff=False).get("/admin/ingestion/job/")
    assert (answer.status_code, answer["Location"].startswith("/admin/login/")) == (302, True)


def test_a_superuser_can_add_and_delete_nothing_and_edit_no_job(superuser: Client) -> None:
    event = quarantined()
    rows: dict[type[Model], object] = {
        Job: event.job_id, EventRecord: event.pk, Caller: event.caller_id, Document: document().pk,
    }  # fmt: skip
    assert set(rows) | {ProviderCall} == set(REGISTERED)
    for model in REGISTERED:
        assert superuser.get(address(model, "add")).status_code == 403
        assert superuser.post(address(model, "add"), {}).status_code == 403
    for model, key in rows.items():
        assert superuser.post(address(model, key, "delete"), {"post": "yes"}).status_code == 403
        sent = {"action": "delete_selected", "_selected_action": [str(key)], "post": "yes"}
        superuser.post(address(model), sent)
        assert model._default_manager.filter(pk=key).exists()
    for model in (Job, Document):
        assert superuser.post(address(model, rows[model], "change"), {"state": "succeeded"}).status_code == 403
    assert Job.objects.get(id=event.job_id).state == "dead_letter"


def test_only_what_is_safe_to_change_is_registered_at_all() -> None:
    """The counters, checkpoints, effects and vectors that the invariants rest on have no form."""
    hidden = set(apps.get_app_config("ingestion").get_models()) - set(REGISTERED)
    assert {"QueueState", "Checkpoint", "EventEffect", "Chunk", "JobOutcome"} <= {model.__name__ for model in hidden}


def thousand_dead_letters(count: int = 1_000) -> None:
    """Made in bulk: one by one they would take longer than the test."""
    made = dead_job()
    copied = [field for field in Job._meta.fields if field.name not in ("id", "sequence")]
    values = {field.attname: getattr(made, field.attname) for field in copied}
    Job.objects.bulk_create(Job(**{**values, "error_code": f"code_{number % 7}"}) for number in range(count - 1))


def test_a_thousand_dead_letters_page_with_the_queries_of_one(
    operator: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    dead_job()
    list_address = "/admin/ingestion/job/?state__exact=dead_letter&queue__exact=events"
    operator.get(list_address)
    # Session, account, caller, its permissions (2); the error codes, the count that ends, the rows.
    with django_assert_num_queries(8):
        operator.get(list_address)
    thousand_dead_letters()
    with django_assert_num_queries(8):
        page = operator.get(f"{list_address}&p=3")
    assert len(page.context["cl"].result_list) == lists.PAGE_ROWS
    assert {f"code_{number}" for number in range(7)} <= set(words(page).split())


def test_a_long_list_is_counted_only_so_far(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "COUNT_MAX", 20)
    thousand_dead_letters(40)
    assert operator.get("/admin/ingestion/job/").context["cl"].result_count == 21


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("state__exact=dead_letter", 1), ("state__exact=queued", 0), ("queue__exact=documents", 0),
        ("kind__exact=apply_event", 1), ("error_code__exact=invalid_payload", 1), ("error_code__exact=other", 0),
        ("age=hour", 1), ("age=over_day", 0), ("age=nonsense", 1), ("q=e-1", 1), ("q=e", 0), ("state__exact=%00", 0),
    ],
)  # fmt: skip
def test_jobs_are_filtered_by_state_queue_kind_error_age_and_name(operator: Client, query: str, found: int) -> None:
    quarantined()
    assert len(operator.get(f"/admin/ingestion/job/?{query}").context["cl"].result_list) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("state__exact=dead_letter", 1), ("state__exact=queued", 0), ("type__exact=answer.rated", 1),
        ("type__exact=document.viewed", 0), ("error_code__exact=invalid_payload", 1), ("age=over_hour", 0), ("q=p", 1),
    ],
)  # fmt: skip
def test_events_are_filtered_by_state_type_error_and_age(operator: Client, query: str, found: int) -> None:
    quarantined()
    assert len(operator.get(f"/admin/ingestion/eventrecord/?{query}").context["cl"].result_list) == found


def test_every_page_of_the_admin_keeps_the_strict_policy(operator: Client) -> None:
    event = quarantined()
    for path in ("job/", f"job/{event.job_id}/change/", f"eventrecord/{event.pk}/change/", "document/", "caller/"):
        answer = operator.get(f"/admin/ingestion/{path}")
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert b"style=" not in answer.content
        assert b"<style" not in answer.content
        assert b" onclick=" not in answer.content
