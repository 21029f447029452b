"""The child that migrates and provides the demo caller, in one start of Django.

Run as `python -m larkfield.launch.preparing VAR`. The only module of the launch that imports the product,
inside its function.
"""

import os
import sys
from pathlib import Path
from typing import NoReturn

from larkfield.launch.errors import REFUSED


def prepare(var: Path) -> None:
    """The schema is current and the secrets in `var` open the API and the pages."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "larkfield.settings")
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import call_command

    try:
        django.setup()
    except ImproperlyConfigured as error:
        refuse(str(error))
    from larkfield.checks import check_settings

    if wrong := [found for found in check_settings() if found.is_serious()]:
        refuse("\n".join(str(error.msg) for error in wrong))
    call_command("migrate", interactive=False)

    from ingestion.callers import ensure_demo
    from larkfield.launch.demo import provide_demo

    demo = provide_demo(var)
    ensure_demo(demo.token, demo.password)


def refuse(reasons: str) -> NoReturn:
    """The child ends with REFUSED and its reasons, a line each."""
    sys.stderr.write(f"{reasons}\n")
    sys.exit(REFUSED)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
