"""GET /v1/queue: where both queues and the provider stand."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion import jobs, standing
from ingestion.provider import pacing


class QueueView(APIView):
    @extend_schema(operation_id="read_queue", responses={200: dict})
    def get(self, request: Request) -> Response:
        queues = {queue: standing.queue_numbers(queue) for queue in jobs.QUEUES}
        return Response({"queues": queues, "provider": pacing.snapshot()})
