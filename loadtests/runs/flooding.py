"""What both floods begin with: the document that the events speak of, and what the k6 scenario is told."""

from loadtests import flood_model
from loadtests.installation import Installation


def publish_subject(stage: Installation, headers: dict[str, str]) -> None:
    """The document that the events speak of is there."""
    stage.upload(headers, "returns", "# Returns\n\nWithin 30 days.\n").raise_for_status()
    stage.await_empty("documents")


def variables(stage: Installation, headers: dict[str, str], burst: int, calm: int) -> dict[str, object]:
    return {
        "API": stage.api_url, "TOKEN": headers["Authorization"].split()[1], "RATE": flood_model.BURST, "BURST": burst,
        "CALM": flood_model.CALM, "CALM_SECONDS": calm,
    }  # fmt: skip
