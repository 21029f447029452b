"""The application for the same server that serves the product."""

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
