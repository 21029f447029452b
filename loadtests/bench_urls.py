"""The bare view: a token is looked up, one row is inserted with its JSON. It says what the server itself costs."""

from django.db import models
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ingestion.models import Caller
from ingestion.models.callers import hash_token


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


class PlainToken(BaseAuthentication):
    """The token's caller by the ORM, as DRF's own TokenAuthentication does it."""

    def authenticate(self, request: Request) -> tuple[Caller, None]:
        token = request.headers.get("Authorization", "").partition(" ")[2]
        caller = Caller.objects.filter(token_hash=hash_token(token), is_active=True).first()
        if caller is None:
            raise AuthenticationFailed
        return caller, None


class Bare(APIView):
    """POST a JSON object: it is a row when the 202 is sent."""

    authentication_classes = [PlainToken]
    parser_classes = [JSONParser]

    def post(self, request: Request) -> Response:
        row = BenchRow(caller_id=request.user.pk, body=request.data)
        row.save(force_insert=True)
        return Response({"id": row.pk}, status=202)


def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ready")


urlpatterns = [path("bare", Bare.as_view()), path("readyz", ready)]
