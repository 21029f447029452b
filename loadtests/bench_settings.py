"""Settings of the bare view that admission is measured against: the product's, with one route and no middleware."""

from larkfield.settings import *  # noqa: F403  # everything but what is named below stays as the product has it

ROOT_URLCONF = "loadtests.bench_urls"
MIDDLEWARE = []
