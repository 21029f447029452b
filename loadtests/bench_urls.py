"""The bare view: a token is looked up, one row is inserted with its JSON. It says what the server itself costs."""

from django.db import models
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class BenchRow(models.Model):
    """One inserted request. The measurement makes the table in its own database; no migration knows it."""

    caller_id = models.BigIntegerField()
    body = models.JSONField()

    class Meta:
        app_label = "bench"
        managed = False
        db_table = "bench_row"

    def __str__(self) -> str:
        return str(self.pk)


class Bare(APIView):
    """POST a JSON object: it is a row when the 202 is sent."""

    parser_classes = [JSONParser]

    def post(self, request: Request) -> Response:
        row = BenchRow(caller_id=request.user.pk, body=request.data)
        row.save(force_insert=True)
        return Response({"id": row.pk}, status=202)


def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ready")


urlpatterns = [path("bare", Bare.as_view()), path("readyz", ready)]
