"""A worker that ends while a file is converted: its converter ends with it, and the job is resumed, not failed."""

import signal
from uuid import UUID

import psutil
import pytest

from ingestion.models import DocumentVersion, Job
from ingestion.tests.processes.crew import Crew, Member
from ingestion.tests.processes.offering import Uploader
from ingestion.tests.processes.watching import assert_saved_once, eventually, outcomes

pytestmark = [pytest.mark.django_db(transaction=True)]

# A second of reading: each level of nesting makes the next one dearer.
PAGE = b"<h1>Returns</h1><p>Within thirty days." + b"<div>" * 15_000


def converter_of(worker: Member) -> psutil.Process:
    """The worker's converter, held still behind its limits, so that it can't finish."""

    def look() -> psutil.Process | None:
        for child in psutil.Process(worker.process.pid).children():
            # The last limit that it sets itself.
            if child.rlimit(psutil.RLIMIT_CORE)[1] == 0:
                child.suspend()
                return child
        return None

    found = eventually("a converter runs", look)
    assert found is not None
    return found


def offer(uploader: Uploader) -> UUID:
    answer = uploader.client.post("/v1/documents/returns/versions", PAGE, content_type="text/html")
    assert answer.status_code == 202, answer.content
    return UUID(answer.json()["job"]["id"])


@pytest.mark.parametrize("number,charged", [(signal.SIGKILL, 2), (signal.SIGTERM, 1)])
def test_a_worker_that_ends_takes_its_converter_with_it_and_another_goes_on(
    crew: Crew, uploader: Uploader, number: signal.Signals, charged: int
) -> None:
    job = offer(uploader)
    first = crew.worker("first", DRAIN_SECONDS="0.2")
    converter = converter_of(first)
    first.send(number)
    first.exit_code()
    eventually("the converter is gone", lambda: not psutil.pid_exists(converter.pid))
    assert Job.objects.get(id=job).error_code in (None, "")
    assert DocumentVersion.objects.get(job_id=job).text is None

    crew.worker("second")
    eventually("the job succeeds", lambda: Job.objects.get(id=job).state == "succeeded")
    assert_saved_once(job)
    assert Job.objects.get(id=job).attempt == charged
    assert outcomes(job)[-1][1] == "succeeded"
