"""The child that migrates and provides the demo caller, in one start of Django.

Run as `python -m larkfield.launch.preparing VAR`. The only module of the launch that imports the product,
inside its function.
"""

import os
import sys
from pathlib import Path


def prepare(var: Path) -> None:
    """The schema is current and the secrets in `var` open the API and the pages."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "larkfield.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False)

    from ingestion.callers import ensure_demo
    from larkfield.launch.demo import provide_demo

    demo = provide_demo(var)
    ensure_demo(demo.token, demo.password)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
