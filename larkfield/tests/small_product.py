"""A stand-in for the product in tests of the launch: the same commands and routes, a few lines each.

Written into a folder of its own, so that the supervisor runs unchanged with its real servers and signals.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from larkfield.launch.checks import free_port
from larkfield.tests.members import wait_until

ROOT = Path(__file__).resolve().parents[2]
NOTE = """
import os, signal, sys, time
def note(word):
    with open("notes.txt", "a") as notes:
        notes.write(f"{word} {os.getpid()}\\n")
def until_told(name):
    signal.signal(signal.SIGTERM, lambda *_: (note(f"{name}-end"), os._exit(0)))
    note(name)
    while True:
        time.sleep(0.05)
"""
FILES = {
    "note.py": NOTE,
    "simulator/__main__.py": """
import sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from note import until_told
class Models(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
server = HTTPServer(("127.0.0.1", int(sys.argv[-1])), Models)
threading.Thread(target=server.serve_forever, daemon=True).start()
until_told("simulator")
""",
    "manage.py": """
import os, sys
from note import note, until_told
if sys.argv[1] == "runworker":
    until_told("worker")
note("loadcorpus")
print("36 of 36 published", bool(os.environ["LARKFIELD_TOKEN"]))
""",
    "larkfield/__init__.py": "",
    "larkfield/launch/__init__.py": "",
    "larkfield/launch/preparing.py": "from note import note\nnote('prepare')\n",
    "larkfield/wsgi.py": """
import json, os
from note import note
note("api")
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json")])
    citation = {"marker": 1, "document": "returns", "version": 2, "heading_path": ["Returns", "Online"],
                "quote": "within 30 days"}
    return [json.dumps({"answer": "30 days [1]", "citations": [citation]}).encode()]
""",
}


class SmallProduct:
    """The folder, and the launch that runs in it."""

    def __init__(self, folder: Path, **replaced: str) -> None:
        self.folder = folder
        self.port = free_port()
        for name, text in {**FILES, **replaced}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def start(self, **environment: str) -> "subprocess.Popen[str]":
        """The supervisor of this folder: our code, its children from there."""
        program = (
            "import os, sys; from pathlib import Path; from larkfield.launch.running import launch; "
            "from larkfield.launch.speaking import Speaker; from larkfield.launch.starting import Launch; "
            "sys.exit(launch(Launch(Path(sys.argv[1]), os.environ, Speaker())))"
        )
        ours = ("DATABASE_URL", "VALKEY_URL", "PROVIDER_BASE_URL", "LARKFIELD_DATA_DIR")
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        return subprocess.Popen(
            [sys.executable, "-c", program, str(self.folder)],
            env={**inherited, "PORT": str(self.port), **environment},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def notes(self) -> list[str]:
        """What the children have noted, in order, without their numbers."""
        return [line.split()[0] for line in self._lines()]

    def processes(self) -> set[int]:
        """The numbers of all children that have noted something."""
        return {int(line.split()[1]) for line in self._lines()}

    def _lines(self) -> list[str]:
        path = self.folder / "notes.txt"
        return path.read_text().splitlines() if path.exists() else []

    def addresses(self) -> dict[str, object]:
        """What a second terminal reads; empty when there is no such file."""
        path = self.folder / "var" / "run" / "addresses.json"
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def has_noted(self, word: str, process: "subprocess.Popen[str]") -> bool:
        """Whether a child has noted this word before the deadline and the end of the supervisor."""
        return wait_until(lambda: word in self.notes() or process.poll() is not None) and word in self.notes()


def stop(process: "subprocess.Popen[str]", number: int = signal.SIGTERM) -> tuple[int, str]:
    """The supervisor's exit code and all it has said, after one signal."""
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    return process.returncode, said
