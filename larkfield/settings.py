"""All settings in one file, grouped as a reader meets them; `.env.example` explains each variable.

Values come from the environment (and `.env`) through `larkfield.env`, which notes what it refuses; that and
contradictions between values stop the start in `larkfield.checks`.
"""

import json
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from dotenv import load_dotenv

from larkfield import embedded, env, lean

lean.load_redis()

BASE_DIR = Path(__file__).resolve().parent.parent
load_dotenv(BASE_DIR / ".env")
# Where embedded services, files and secrets of a development machine live.
DATA_DIR = Path(env.text("LARKFIELD_DATA_DIR", str(BASE_DIR / "var"))).resolve()

# --- Django -----------------------------------------------------------------------------------------------------

LARKFIELD_ENV = env.one_of("LARKFIELD_ENV", "development", ("development", "production"))
IS_PRODUCTION = LARKFIELD_ENV == "production"
if IS_PRODUCTION:
    missing = [name for name in ("SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL") if not env.text(name)]
    if missing:
        raise env.InvalidVariable(f"LARKFIELD_ENV=production needs {', '.join(missing)}: set each.")


def _development_key() -> str:
    """A random key of this machine, kept so that sessions survive a restart."""
    path = DATA_DIR / "secret-key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secrets.token_urlsafe(64))
        path.chmod(0o600)
    return path.read_text()


SECRET_KEY = env.text("SECRET_KEY") or _development_key()
DEBUG = False
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
PORT = env.whole("PORT", 8000, least=1, most=65535)
ROOT_URLCONF = "larkfield.urls"
WSGI_APPLICATION = "larkfield.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "ingestion",
    "assistant",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "larkfield.apps.LarkfieldConfig",
]
MIDDLEWARE = [
    "larkfield.middleware.UnreadBodyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "larkfield.middleware.RequestIdMiddleware",
    "larkfield.middleware.ContentSecurityPolicyMiddleware",
    "larkfield.people.Sessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "larkfield.people.Accounts",
    "larkfield.people.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# Development serves static files from their apps; production from `collectstatic`.
WHITENOISE_USE_FINDERS = not IS_PRODUCTION
WHITENOISE_AUTOREFRESH = False
APPEND_SLASH = False

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SAMESITE = "Lax"
if IS_PRODUCTION:
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- addresses --------------------------------------------------------------------------------------------------


def _running(name: str, default: str) -> str:
    """What a `make run` in another terminal says of its addresses."""
    try:
        addresses = json.loads((DATA_DIR / "run" / "addresses.json").read_text())
    except (OSError, ValueError):
        return default
    return str(addresses.get(name) or default)


DATABASE_URL = env.text("DATABASE_URL") or embedded.database_url(DATA_DIR)
VALKEY_URL = env.text("VALKEY_URL") or embedded.valkey_url(DATA_DIR)
PROVIDER_BASE_URL = (env.text("PROVIDER_BASE_URL") or _running("PROVIDER_BASE_URL", "http://127.0.0.1:9090/v1")).rstrip(
    "/"
)
PROVIDER_API_KEY = env.text("PROVIDER_API_KEY", "" if IS_PRODUCTION else "simulated")

# How a search walks the approximate index: much wider than the 100 vectors that it asks for, because what a narrow walk
# misses is never found (recall: loadtests/results/search), and on, in order, when rows that were deleted a moment ago
# take places among them.
VECTOR_SEARCH = "-c hnsw.ef_search=500 -c hnsw.iterative_scan=strict_order"

# How a process calls itself in pg_stat_activity.
APPLICATION_NAME = "larkfield"


def _database(url: str) -> dict[str, Any]:
    """DATABASE_URL as Django's settings; only postgres:// and postgresql:// are known."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        raise env.InvalidVariable("DATABASE_URL has a port that is no number from 0 to 65535.") from None
    if parts.scheme not in ("postgres", "postgresql") or not parts.path.strip("/"):
        raise env.InvalidVariable("DATABASE_URL must look like postgresql://user:password@host:5432/name.")
    query = dict(parse_qsl(parts.query))
    # A pooler that knows no prepared statements is met with ?prepare_threshold=0.
    threshold = query.pop("prepare_threshold", "2")
    if not threshold.isdecimal():
        raise env.InvalidVariable("DATABASE_URL has a prepare_threshold that is no whole number.")
    return {
        "ENGINE": "larkfield.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        # A statement that hangs must not hold locks for ever; an idle transaction pins dead rows.
        "OPTIONS": {
            # A name that the address gives goes before ours.
            "application_name": APPLICATION_NAME,
            **query,
            "connect_timeout": 5,
            "options": "-c statement_timeout=30000 -c idle_in_transaction_session_timeout=60000 " + VECTOR_SEARCH,
            # From its third use on a statement of `ingestion.connections.prepared` is kept by the server; others never.
            "prepare_threshold": int(threshold) or None,
            # As many connections as threads: a wait means that the database is away, and a caller should hear so soon.
            "pool": {"min_size": 0, "max_size": DATABASE_POOL_MAX, "timeout": 3, "max_idle": 60},
        },
        # The pool keeps connections; a Django connection is given back after each request or step.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
    }


# Connections of one process. A worker sets its own, smaller number (ingestion.worker.POOL_MAX).
DATABASE_POOL_MAX = env.whole("DATABASE_POOL_MAX", 8, least=1, most=200)
DATABASES = {"default": _database(DATABASE_URL)}

AZURE_STORAGE_CONNECTION_STRING = env.text("AZURE_STORAGE_CONNECTION_STRING")
AZURE_STORAGE_CONTAINER = env.text("AZURE_STORAGE_CONTAINER", "larkfield")
MEDIA_ROOT = DATA_DIR / "files"
STORAGES: dict[str, Any] = {
    "default": {
        "BACKEND": "larkfield.azure_files.AzureFiles",
        "OPTIONS": {
            "connection_string": AZURE_STORAGE_CONNECTION_STRING,
            "azure_container": AZURE_STORAGE_CONTAINER,
            "overwrite_files": True,
            "makes_container": not IS_PRODUCTION,
        },
    }
    if AZURE_STORAGE_CONNECTION_STRING
    else {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(MEDIA_ROOT)}},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if IS_PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# --- the bound and the limits of a caller -----------------------------------------------------------------------

DOCUMENTS_QUEUE_MAX = env.whole("DOCUMENTS_QUEUE_MAX", 500, least=1)
DOCUMENTS_QUEUE_MAX_UNITS = env.whole("DOCUMENTS_QUEUE_MAX_UNITS", 1_500_000, least=1, most=env.LARGE_MAX)
DOCUMENTS_QUEUE_MAX_BYTES = env.whole("DOCUMENTS_QUEUE_MAX_BYTES", 268_435_456, least=1, most=env.LARGE_MAX)
EVENTS_QUEUE_MAX = env.whole("EVENTS_QUEUE_MAX", 300, least=1)
EVENTS_QUEUE_MAX_UNITS = env.whole("EVENTS_QUEUE_MAX_UNITS", 3_000, least=1, most=env.LARGE_MAX)
EVENTS_QUEUE_MAX_BYTES = env.whole("EVENTS_QUEUE_MAX_BYTES", 33_554_432, least=1, most=env.LARGE_MAX)
PROMISED_WAIT_SECONDS = env.seconds("PROMISED_WAIT_SECONDS", 900)
CALLER_QUEUE_SHARE = env.share("CALLER_QUEUE_SHARE", 1.0, least=0.001)
UPLOAD_MAX_BYTES = env.whole("UPLOAD_MAX_BYTES", 2_097_152, least=1, most=1_073_741_824)
CONVERSION_SECONDS = env.whole("CONVERSION_SECONDS", 60, least=1, most=3_600)
CONVERSION_MEMORY_MIB = env.whole("CONVERSION_MEMORY_MIB", 1_024, least=256, most=65_536)
CONVERTED_TEXT_MAX_BYTES = env.whole("CONVERTED_TEXT_MAX_BYTES", 4_194_304, least=1_024, most=1_073_741_824)
UPLOADS_PER_MINUTE = env.whole("UPLOADS_PER_MINUTE", 120, least=1)
QUESTIONS_PER_MINUTE = env.whole("QUESTIONS_PER_MINUTE", 120, least=1)
EVENTS_PER_MINUTE = env.whole("EVENTS_PER_MINUTE", 12_000, least=1)

# --- jobs -------------------------------------------------------------------------------------------------------

LEASE_SECONDS = env.seconds("LEASE_SECONDS", 30, least=0.5, most=86_400)
HEARTBEAT_SECONDS = env.seconds("HEARTBEAT_SECONDS", 8, least=0.05, most=86_400)
MAX_ATTEMPTS = env.whole("MAX_ATTEMPTS", 5, least=1, most=100)
BACKOFF_BASE_SECONDS = env.seconds("BACKOFF_BASE_SECONDS", 2, most=86_400)
BACKOFF_MAX_SECONDS = env.seconds("BACKOFF_MAX_SECONDS", 300, most=604_800)
MAX_WAIT_SECONDS = env.seconds("MAX_WAIT_SECONDS", 21_600, least=0.1)
WORKER_CONCURRENCY = env.whole("WORKER_CONCURRENCY", 16, least=1, most=256)
DRAIN_SECONDS = env.seconds("DRAIN_SECONDS", 20, most=86_400)
# How long the platform waits between SIGTERM and SIGKILL; the drain must end before.
PLATFORM_GRACE_SECONDS = env.seconds("PLATFORM_GRACE_SECONDS", 30, least=0.1)
EVENT_COMPLETIONS_PER_SECOND = env.share("EVENT_COMPLETIONS_PER_SECOND", 0, most=100_000)

# --- provider ---------------------------------------------------------------------------------------------------

CHAT_MODEL = env.text("CHAT_MODEL", "chat-small")
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", "embed-small")
EMBEDDING_DIMENSION = env.whole("EMBEDDING_DIMENSION", 384, least=1, most=2000)
PROVIDER_TIMEOUT_SECONDS = env.seconds("PROVIDER_TIMEOUT_SECONDS", 20, least=0.1)
CHAT_REQUESTS_PER_MINUTE = env.whole("CHAT_REQUESTS_PER_MINUTE", 100, least=1)
EMBEDDING_TOKENS_PER_MINUTE = env.whole("EMBEDDING_TOKENS_PER_MINUTE", 100_000, least=1)
QUESTION_SHARE = env.share("QUESTION_SHARE", 0.2, most=0.9)
EMBEDDING_BATCH_INPUTS = env.whole("EMBEDDING_BATCH_INPUTS", 64, least=1, most=2048)
VECTOR_REUSE = env.one_of("VECTOR_REUSE", "on", ("on", "off"))
BREAKER_FAILURES = env.whole("BREAKER_FAILURES", 5, least=1)
BREAKER_OPEN_SECONDS = env.seconds("BREAKER_OPEN_SECONDS", 10, least=0.1, most=86_400)
PROVIDER_PAUSE_SECONDS = env.seconds("PROVIDER_PAUSE_SECONDS", 60, least=0.1, most=86_400)

# --- keeping ----------------------------------------------------------------------------------------------------

IDEMPOTENCY_HOURS = env.seconds("IDEMPOTENCY_HOURS", 24, least=0.0001, most=876_600)
HISTORY_DAYS = env.seconds("HISTORY_DAYS", 30, most=36_525)
ORPHAN_GRACE_SECONDS = env.seconds("ORPHAN_GRACE_SECONDS", 3_600)

# --- HTTP API ---------------------------------------------------------------------------------------------------

# Views bound each body themselves before they read it; these are the ceilings behind them.
DATA_UPLOAD_MAX_MEMORY_SIZE = UPLOAD_MAX_BYTES + 1_048_576
FILE_UPLOAD_MAX_MEMORY_SIZE = UPLOAD_MAX_BYTES
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ingestion.authentication.BearerAuthentication",
        "ingestion.authentication.PageSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["ingestion.authentication.IsCaller"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["ingestion.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "ingestion.negotiation.ForgivingNegotiation",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "ingestion.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    # `?format=` is a parameter like any other.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Larkfield",
    "DESCRIPTION": "Policy documents in, cited answers out, through a bounded queue.",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": ["larkfield.schema.add_what_no_view_describes"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
}

# --- logs -------------------------------------------------------------------------------------------------------

LOG_FORMAT = env.one_of("LOG_FORMAT", "json" if IS_PRODUCTION else "line", ("json", "line"))
LOG_LEVEL = env.one_of("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
# Where traces go; empty: nowhere, and nothing of it is loaded. OpenTelemetry's own variables tell the rest.
OTEL_EXPORTER_OTLP_ENDPOINT = env.text("OTEL_EXPORTER_OTLP_ENDPOINT")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "larkfield.logs.JsonFormatter"},
        "line": {"()": "larkfield.logs.LineFormatter"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        # httpx words every request at INFO; the provider-call ledger already does.
        "httpx": {"level": "WARNING"},
        "azure": {"level": "WARNING"},
        # A refusal is an answer, not an error of ours; `ingestion.problems` logs what is one.
        "django.request": {"level": "CRITICAL"},
        # These word every statement, byte and timer at DEBUG.
        **{name: {"level": "WARNING"} for name in ("django", "httpcore", "psycopg", "charset_normalizer", "asyncio")},
    },
}
