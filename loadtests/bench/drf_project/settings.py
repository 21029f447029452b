"""A new Django project's settings with DRF and its tokens; connections are kept by each thread."""

import os
from urllib.parse import parse_qs, unquote, urlsplit

_parts = urlsplit(os.environ["BENCH_DATABASE_URL"])

SECRET_KEY = "bench"  # noqa: S105  # signs nothing
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
USE_TZ = True
ROOT_URLCONF = "loadtests.bench.drf_project.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "rest_framework",
    "rest_framework.authtoken",
    "loadtests.bench.drf_project",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _parts.path.strip("/"),
        "USER": unquote(_parts.username or ""),
        "HOST": parse_qs(_parts.query)["host"][0],
        "CONN_MAX_AGE": None,
    }
}
