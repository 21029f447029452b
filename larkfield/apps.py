from django.apps import AppConfig


class LarkfieldConfig(AppConfig):
    name = "larkfield"

    def ready(self) -> None:
        from larkfield import checks  # noqa: F401  (registers the system checks)
