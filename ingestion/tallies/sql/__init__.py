"""The statements that count, each in a file of its own with the guarantee that it gives."""

from functools import cache
from pathlib import Path


@cache
def statement(name: str) -> str:
    """The text of `NAME.sql`."""
    return (Path(__file__).parent / f"{name}.sql").read_text()
