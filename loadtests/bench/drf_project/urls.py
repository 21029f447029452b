"""One view: a token, a serializer that checks the fields, one insert, 201 with the row."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.authentication import TokenAuthentication
from rest_framework.generics import CreateAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.serializers import ModelSerializer

from loadtests.bench.drf_project.models import Row


class BearerToken(TokenAuthentication):
    keyword = "Bearer"


class RowSerializer(ModelSerializer[Row]):
    class Meta:
        model = Row
        fields = ["id", "producer", "event_id", "type", "occurred_at", "payload"]


class Rows(CreateAPIView[Row]):
    authentication_classes = [BearerToken]
    permission_classes = [IsAuthenticated]
    serializer_class = RowSerializer
    queryset = Row._default_manager.all()


def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ready")


urlpatterns = [path("rows", Rows.as_view()), path("readyz", ready)]
