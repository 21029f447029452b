"""Ask the running product one question and word its cited answer for a person."""

import json
from collections.abc import Callable
from typing import Any

from larkfield.launch.calling import call
from larkfield.launch.errors import CannotLaunch

QUESTION = "How many days do I have to return an item bought online?"
TRIES = 4
LONGEST_PAUSE_SECONDS = 20.0


def ask(api: str, token: str, pause: Callable[[float], None]) -> dict[str, Any]:
    """The answer as the API gives it. Obeys Retry-After a few times; raises CannotLaunch with its reason."""
    detail = "no answer"
    for _ in range(TRIES):
        try:
            status, headers, body = call(
                f"{api}/v1/answers", token=token, body={"question": QUESTION}, timeout_seconds=60.0
            )
        except OSError as error:
            raise CannotLaunch(f"the question got no answer: {error}") from error
        if status == 200:
            return dict(json.loads(body))
        detail = f"{status} {body.decode(errors='replace')[:300]}"
        if status not in (429, 503):
            break
        pause(min(_seconds(headers.get("retry-after", "")), LONGEST_PAUSE_SECONDS))
    raise CannotLaunch(f"the question was refused: {detail}")


def _seconds(found: str) -> float:
    return float(found) if found.isascii() and found.isdigit() else 1.0


def words_of(answer: dict[str, Any]) -> list[str]:
    """The lines to show: question, answer, then each citation with document, version, heading and quote."""
    lines = [f"Question  {QUESTION}", f"Answer    {answer['answer']}"]
    for citation in answer["citations"]:
        heading = citation["heading_path"]
        path = heading if isinstance(heading, str) else " › ".join(heading)
        lines.append(f"  [{citation['marker']}] {citation['document']}, version {citation['version']}: {path}")
        lines.append(f"      “{' '.join(citation['quote'].split())}”")
    return lines
