"""What routes take and answer, as the API's schema shows it. It describes; nothing is read through it."""

from ingestion.views.schema.describing import Example, described, header, path, query

__all__ = ["Example", "described", "header", "path", "query"]
