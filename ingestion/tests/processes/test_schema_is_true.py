"""The running API keeps what its OpenAPI schema says, tried by schemathesis with every check it has."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ingestion.models.callers import RIGHTS
from ingestion.tests.processes.crew import Crew
from ingestion.tests.processes.offering import Uploader

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# The same requests each time; some nine hundred in a quarter of a minute.
SEED, EXAMPLES = 20261130, 8
# Above what is sent: a full queue is tried elsewhere.
ROOMY: dict[str, Any] = {
    **dict.fromkeys(("UPLOADS_PER_MINUTE", "QUESTIONS_PER_MINUTE", "EVENTS_PER_MINUTE"), "100000"),
    **dict.fromkeys(("DOCUMENTS_QUEUE_MAX", "EVENTS_QUEUE_MAX", "EVENTS_QUEUE_MAX_UNITS"), "100000"),
    "DOCUMENTS_QUEUE_MAX_UNITS": "1000000000",
}


def try_all(address: str, token: str, folder: Path) -> tuple[int, str]:
    """The exit status of schemathesis and what it says."""
    program = Path(sys.executable).with_name("schemathesis")
    command = [
        str(program), "--config-file", str(CONFIGURATION), "run", f"{address}/api/schema",
        "--header", f"Authorization: Bearer {token}", "--checks", "all", "--seed", str(SEED),
        "--max-examples", str(EXAMPLES), "--continue-on-failure", "--request-timeout", "20",
    ]  # fmt: skip
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return ended.returncode, ended.stdout + ended.stderr


def test_no_request_meets_an_answer_that_the_schema_does_not_promise(crew: Crew, tmp_path: Path) -> None:
    caller = Uploader(RIGHTS)
    for number in (30, 40):
        assert caller.post("returns", f"# Returns\n\nWithin {number} days.\n".encode()).status_code == 202
    crew.command("worker", "runworker", "--once").exit_code()
    code, said = try_all(crew.api(**ROOMY), caller.token, tmp_path)
    assert code == 0, said[-6000:]
    tested = re.search(r"Tested: (\d+)", said)
    assert tested, said
    assert int(tested[1]) >= 24, "every operation was tried"
