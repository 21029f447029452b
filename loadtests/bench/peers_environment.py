"""The environment of the peers: made once from this folder's requirements, apart from the product's."""

from pathlib import Path

from loadtests.environments import python_of

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def python() -> Path:
    """The interpreter that has the peers."""
    return python_of(REQUIREMENTS, "bench-peers", "the peers' environment (about half a minute)")


def versions() -> dict[str, str]:
    """What the requirements pin, by name."""
    lines = [line.partition("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines()]
    pairs = [line.partition("==") for line in lines if line]
    return {name.partition("[")[0]: version for name, _, version in pairs}
