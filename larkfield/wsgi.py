"""The WSGI entry point: `larkfield.wsgi:application`."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "larkfield.settings")
try:
    application = get_wsgi_application()
except ImproperlyConfigured as error:
    sys.exit(f"larkfield: {error}")

# A command asks the system checks before it runs; a server does not.
from larkfield.checks import check_settings

if wrong := [error for error in check_settings() if error.is_serious()]:
    sys.exit("\n".join(f"larkfield: {error.msg}" for error in wrong))
