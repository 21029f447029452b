#!/usr/bin/env python
"""Django's command line for Larkfield."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "larkfield.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # The settings could not be read: what is wrong is in the environment, not in the program.
        sys.exit(f"larkfield: {error}")


if __name__ == "__main__":
    main()
