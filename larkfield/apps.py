from django.apps import AppConfig


class LarkfieldConfig(AppConfig):
    name = "larkfield"

    def ready(self) -> None:
        from larkfield import checks, schema  # noqa: F401  (both register what they hold)
