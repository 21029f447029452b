from django.apps import AppConfig
from django.conf import settings


class LarkfieldConfig(AppConfig):
    name = "larkfield"

    def ready(self) -> None:
        from larkfield import checks, schema  # noqa: F401  (both register what they hold)

        if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            # Only here: without an address no package of OpenTelemetry is loaded.
            from larkfield import tracing

            tracing.start()
