"""Retry and cancel: a page that says what will happen, and after the confirmation what did.

Each job is changed by the same functions as over HTTP; what somebody else changed meanwhile is left alone and said.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from ingestion import replaying, reviving
from ingestion.admin import plans
from ingestion.admin.rights import note
from ingestion.models import Job
from ingestion.queue import controlling
from ingestion.queue.controlling import QueueFull
from ingestion.reviving import NotRevivable

# So many reasons are told one by one; of more the number.
TOLD_MAX = 5


def chosen_ids(request: HttpRequest, found: Callable[[], Sequence[UUID]]) -> list[UUID]:
    """The jobs that the page before showed, so that it is those which are changed; on the first page those chosen."""
    listed = request.POST.get("chosen", "")
    if not listed:
        return list(found())
    try:
        return [UUID(one) for one in listed.split(",")][: plans.CHOSEN_MAX]
    except ValueError:
        return []


def is_confirmed(request: HttpRequest) -> bool:
    return request.POST.get("confirmed") == "yes"


def confirm(
    request: HttpRequest, model_admin: ModelAdmin, action: str, chosen: Sequence[object], extra: dict[str, Any]
) -> HttpResponse:
    """The page that asks; its form comes back to the list's own address with the same action."""
    selected = request.POST.getlist(ACTION_CHECKBOX_NAME)[:1]
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts, "action": action, "chosen": ",".join(map(str, chosen)), "count": len(chosen),
        "selected": selected, "selected_name": ACTION_CHECKBOX_NAME, "most": plans.CHOSEN_MAX, **extra,
    }  # fmt: skip
    return TemplateResponse(request, f"admin/ingestion/{action}_confirmation.html", context)


def retry(model_admin: ModelAdmin, request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse | None:
    """Asks, or queues again what has room, the oldest first."""
    plan = plans.retrying(chosen)
    if not is_confirmed(request):
        extra = {"title": "Retry jobs?", "plan": plan, "share": f"{replaying.REPLAY_SHARE:.0%}"}
        return confirm(request, model_admin, "retry", chosen, extra)
    queued, left = _revive(model_admin, request, plan.able, chosen)
    note(request, Job.objects.filter(id__in=queued), "Retried.")
    model_admin.message_user(request, f"{len(queued)} queued again.", messages.SUCCESS if queued else messages.INFO)
    for queue, count in left.items():
        words = f"{count} of '{queue}' stay as they are: there is no room for them now. Retry them later."
        model_admin.message_user(request, words, messages.WARNING)
    return None


def _revive(
    model_admin: ModelAdmin, request: HttpRequest, able: Sequence[UUID], chosen: Sequence[UUID]
) -> tuple[list[UUID], Counter[str]]:
    """Which were queued, and how many had no room, by queue. One alone may take any place, as over HTTP."""
    bring_back = reviving.revive if len(chosen) == 1 else replaying.replay_one
    queued, left, refused = list[UUID](), Counter[str](), list[str]()
    queues = dict(Job.objects.filter(id__in=able).values_list("id", "queue"))
    # What could not be when the page was shown is told too; what somebody took meanwhile comes out of `revive`.
    for job_id in [*able, *(one for one in chosen if one not in set(able))]:
        if queues.get(job_id) in left:
            left[queues[job_id]] += 1
            continue
        try:
            bring_back(job_id)
            queued.append(job_id)
        except NotRevivable as error:
            refused.append(str(error))
        except (QueueFull, replaying.NoRoom, replaying.Draining) as full:
            left[str(full)] += 1
    tell(model_admin, request, refused)
    return queued, left


def cancel(model_admin: ModelAdmin, request: HttpRequest, chosen: Sequence[UUID]) -> HttpResponse | None:
    """Asks, or cancels what still waits."""
    if not is_confirmed(request):
        extra = {"title": "Cancel jobs?", "plan": plans.cancelling(chosen)}
        return confirm(request, model_admin, "cancel", chosen, extra)
    done = controlling.cancel(chosen)
    note(request, Job.objects.filter(id__in=done), "Cancelled.")
    model_admin.message_user(request, f"{len(done)} cancelled.", messages.SUCCESS if done else messages.INFO)
    if len(done) < len(chosen):
        words = f"{len(chosen) - len(done)} were no longer queued and are left alone."
        model_admin.message_user(request, words, messages.WARNING)
    return None


def tell(model_admin: ModelAdmin, request: HttpRequest, refused: Sequence[str]) -> None:
    """The reasons of what was not done, and that it may have been somebody else."""
    for words in refused[:TOLD_MAX]:
        model_admin.message_user(request, f"{words} Somebody else may have been faster.", messages.WARNING)
    if len(refused) > TOLD_MAX:
        model_admin.message_user(request, f"{len(refused) - TOLD_MAX} more could not be done.", messages.WARNING)
