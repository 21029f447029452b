"""GET, cancel and retry of jobs. A caller sees its own; `operate` sees all; what one may not see is 404."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion import admission, reviving, standing
from ingestion.authentication import caller_of
from ingestion.models import Job
from ingestion.problems import Problem
from ingestion.queue import controlling
from ingestion.queue.controlling import QueueFull
from ingestion.reviving import NotRevivable
from ingestion.views import shapes
from ingestion.views.schema import described, path
from ingestion.views.schema.pieces import LOCATION, JobSerializer
from ingestion.views.schema.pieces import UUID as UUID_SCHEMA

JOB_PATH = path("job_id", UUID_SCHEMA, "as the 202 and its Location say")


def _job(request: Request, job_id: UUID) -> Job:
    caller = caller_of(request)
    jobs = Job.objects.select_related("version__document", "reembedding__version__document", "event")
    found = jobs.filter(id=job_id).first()
    if found is None or not (caller.can("operate") or found.caller_id == caller.pk):
        raise Problem("not_found", "There is no such job, or it is another caller's.")
    return found


class JobDetail(APIView):
    @described("read_job", {200: JobSerializer}, "not_found", parameters=[JOB_PATH])
    def get(self, request: Request, job_id: UUID) -> Response:
        return Response(shapes.job(_job(request, job_id)))


class JobCancel(APIView):
    @described("cancel_job", {200: JobSerializer}, "forbidden", "not_found", "conflict", parameters=[JOB_PATH])
    def post(self, request: Request, job_id: UUID) -> Response:
        found = _job(request, job_id)
        if not controlling.cancel([found.id]):
            found.refresh_from_db(fields=["state"])
            raise Problem("conflict", f"Only a queued job can be cancelled; this one is {found.state}.")
        return Response(shapes.job(_job(request, job_id)))


class JobRetry(APIView):
    required_rights = {"POST": "operate"}

    @described(
        "retry_job",
        {202: JobSerializer},
        *("forbidden", "not_found", "conflict", "queue_full", "draining"),
        parameters=[JOB_PATH, LOCATION],
    )
    def post(self, request: Request, job_id: UUID) -> Response:
        found = _job(request, job_id)
        revive(found)
        return Response(shapes.job(_job(request, job_id)), status=202, headers={"Location": f"/v1/jobs/{found.id}"})


def revive(found: Job) -> None:
    """The dead letter or failed job is queued again. Raises Problem 409, or 503 where admission leaves no place."""
    try:
        reviving.revive(found.id)
    except NotRevivable as error:
        raise Problem("conflict", str(error)) from None
    except QueueFull:
        raise admission.refusal(found.queue, is_draining=standing.depth_of(found.queue).is_draining) from None
