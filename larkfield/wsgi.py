"""The WSGI entry point: `larkfield.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "larkfield.settings")
application = get_wsgi_application()
