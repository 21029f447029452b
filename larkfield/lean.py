"""Keeps a library from loading what nobody here uses. Imported by the settings, before anything else of ours."""

import importlib
import sys


def load_redis() -> None:
    """The client of Valkey is loaded without OpenTelemetry's metrics.

    It looks for them on its own and takes 60 modules (3 MiB, a fifth of a second) where they are installed; traces,
    where they are wanted, are `larkfield.tracing`'s matter. A None here is Python's own word for "not installed".
    """
    if "redis" in sys.modules or "opentelemetry" in sys.modules:
        return
    hidden = "opentelemetry"
    sys.modules[hidden] = None  # type: ignore[assignment]  # as Python's import system documents it
    try:
        importlib.import_module("redis")
    finally:
        del sys.modules[hidden]
