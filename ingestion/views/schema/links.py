"""Where an answer leads: which operations take what it names (OpenAPI links)."""

from typing import Any

_JOB = {"job_id": "$response.body#/job/id"}
_DOCUMENT = {"slug": "$response.body#/document/slug"}
_VERSION = {**_DOCUMENT, "number": "$response.body#/version/number"}
_EVENT = {"producer": "$response.body#/event/producer", "event_id": "$response.body#/event/event_id"}
_JOBS = dict.fromkeys(("read_job", "cancel_job", "retry_job"), _JOB)

# By operation: what its 202 leads to, with the parameters.
LINKS: dict[str, dict[str, dict[str, str]]] = {
    "upload_version": {
        **_JOBS,
        **dict.fromkeys(("read_document", "list_versions", "read_usage"), _DOCUMENT),
        **dict.fromkeys(("read_version", "read_text", "download_file"), _VERSION),
    },
    "send_event": {**_JOBS, "find_event": _EVENT, "read_event": _EVENT},
}


def add_links(operation: dict[str, Any]) -> None:
    """The operation's 202 names the operations that it leads to."""
    for name, parameters in LINKS.get(operation["operationId"], {}).items():
        links = operation["responses"]["202"].setdefault("links", {})
        links[name] = {"operationId": name, "parameters": parameters}
