"""Repairing many quarantined events alike: a patch is asked for, shown with its effect, and applied when confirmed."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from ingestion import repairing, replaying
from ingestion.admin import actions, plans
from ingestion.admin.patches import merged
from ingestion.admin.rights import note
from ingestion.models import EventRecord
from ingestion.queue import replays
from ingestion.queue.storable import storable
from ingestion.reviving import NotRevivable

# Enough to see whether the patch does what was meant.
SHOWN_MAX = 5


def checked_object(payload: object) -> dict[str, Any]:
    """The payload, a JSON object that the database can hold. Raises ValidationError."""
    if not isinstance(payload, dict):
        raise ValidationError("The payload is a JSON object.")
    text = json.dumps(payload, ensure_ascii=False)
    if "NaN" in text or "Infinity" in text:
        try:
            json.dumps(payload, allow_nan=False)
        except ValueError:
            raise ValidationError("NaN and Infinity are no JSON numbers.") from None
    if any(storable(part) != part for part in _texts(payload)):
        raise ValidationError("The payload holds control characters or lone surrogates.")
    return payload


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


class PayloadField(forms.JSONField):
    """A JSON value as a person writes it; shown again also where it holds what no page can carry."""

    def prepare_value(self, value: Any) -> Any:
        return storable(str(super().prepare_value(value)))


class PatchForm(forms.Form):
    """The keys to change in each payload."""

    patch = PayloadField(
        widget=forms.Textarea(attrs={"rows": 6, "cols": 80}),
        help_text='A JSON object: its keys replace those of each payload, null takes a key away. {"rating": 5}',
    )

    def clean_patch(self) -> dict[str, Any]:
        patch = checked_object(self.cleaned_data["patch"])
        if not patch:
            raise ValidationError("Name at least one key.")
        return patch


@dataclass(frozen=True)
class Change:
    """One payload before and after."""

    event: str
    before: str
    after: str


def repair(model_admin: ModelAdmin, request: HttpRequest, chosen: Sequence[str]) -> HttpResponse | None:
    """Asks for the patch, then shows what it does, then does it. `chosen`: event and generation as `7:2`."""
    form = PatchForm(request.POST) if "patch" in request.POST else PatchForm()
    events = _events(chosen)
    if form.is_bound and form.is_valid() and actions.is_confirmed(request):
        _apply(model_admin, request, events, form.cleaned_data["patch"])
        return None
    is_ready = form.is_bound and form.is_valid()
    extra = {
        "title": "Repair payloads?", "form": form, "is_ready": is_ready, "share": f"{replaying.REPLAY_SHARE:.0%}",
        "plan": plans.retrying([event.job_id for event, _ in events]), "shown": SHOWN_MAX,
        "changes": _changes(events, form.cleaned_data["patch"]) if is_ready else [],
    }  # fmt: skip
    return actions.confirm(request, model_admin, "repair", chosen, extra)


def _events(chosen: Sequence[str]) -> list[tuple[EventRecord, int]]:
    """The events with the generation under which each was looked at."""
    seen = {int(key): int(generation) for key, _, generation in (one.partition(":") for one in chosen)}
    return [(event, seen[event.pk]) for event in EventRecord.objects.filter(pk__in=seen).order_by("received_at", "pk")]


def _changes(events: Sequence[tuple[EventRecord, int]], patch: dict[str, Any]) -> list[Change]:
    return [
        Change(str(event), _shown(event.payload), _shown(merged(event.payload, patch)))
        for event, _ in events[:SHOWN_MAX]
    ]


def _shown(payload: object) -> str:
    return json.dumps(payload, indent=2, ensure_ascii=False)[:2_000]


def _apply(
    model_admin: ModelAdmin, request: HttpRequest, events: Sequence[tuple[EventRecord, int]], patch: dict[str, Any]
) -> None:
    done, refused, left = list[int](), list[str](), Counter[str]()
    for event, generation in events:
        try:
            _repair_one(event, merged(event.payload, patch), generation)
            done.append(event.pk)
        except NotRevivable as error:
            refused.append(str(error))
        except (replaying.NoRoom, replaying.Draining) as full:
            left[str(full)] += 1
    note(request, EventRecord.objects.filter(pk__in=done), "Payload repaired.")
    words = f"{len(done)} repaired and queued again under their own identities."
    model_admin.message_user(request, words, messages.SUCCESS if done else messages.INFO)
    actions.tell(model_admin, request, refused)
    if left.total():
        words = f"{left.total()} stay as they are, payload too: there is no room for them now. Repair them later."
        model_admin.message_user(request, words, messages.WARNING)


@transaction.atomic
def _repair_one(event: EventRecord, payload: dict[str, Any], generation: int) -> None:
    # Before the job's row, as every replay does: two that meet wait for each other in one order.
    replays.lock("events")
    repairing.repair(event, payload, seen_generation=generation, bring_back=replaying.replay_one)
