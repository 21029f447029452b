"""Fixtures of the product's tests that this room asks for by name too."""

from ingestion.tests.conftest import files, simulator

__all__ = ["files", "simulator"]
