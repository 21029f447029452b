"""The product's settings, with a job kind and an event type that do nothing (`loadtests.noop_kind`, `noop`)."""

from larkfield.settings import *  # noqa: F403  # everything stays as the product has it
from larkfield.settings import INSTALLED_APPS as PRODUCT_APPS

INSTALLED_APPS = [*PRODUCT_APPS, "loadtests.noop_kind.NoopKind", "loadtests.bench.noop.Noop"]
