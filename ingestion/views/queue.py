"""GET /v1/queue: where both queues and the provider stand."""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion import jobs, standing
from ingestion.provider import pacing
from ingestion.views.schema import described
from ingestion.views.schema.queues import QueueSerializer


class QueueView(APIView):
    @described("read_queue", {200: QueueSerializer})
    def get(self, request: Request) -> Response:
        queues = {queue: standing.queue_numbers(queue) for queue in jobs.QUEUES}
        return Response({"queues": queues, "provider": pacing.snapshot()})
