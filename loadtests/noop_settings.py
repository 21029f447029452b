"""Settings of a worker that also knows the kind `noop` (`loadtests.noop_kind`): the product's, with that app."""

from larkfield.settings import *  # noqa: F403  # everything but what is named below stays as the product has it
from larkfield.settings import INSTALLED_APPS as PRODUCT_APPS

INSTALLED_APPS = [*PRODUCT_APPS, "loadtests.noop_kind.NoopKind"]
