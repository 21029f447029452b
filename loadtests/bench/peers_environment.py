"""The environment of the peers: made once from this folder's requirements, apart from the product's."""

import hashlib
import subprocess
import sys
from pathlib import Path

from loadtests.machine import ROOT
from loadtests.recording import say

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
FOLDER = ROOT / "var" / "bench-peers"


def python() -> Path:
    """The interpreter that has the peers; made or renewed when the requirements are not those that it was made of."""
    program, mark = FOLDER / "bin" / "python", FOLDER / "made-of"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not (mark.exists() and mark.read_text() == wanted):
        say("making the peers' environment (about half a minute)")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
        install = [str(program), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        subprocess.run([*install, "-r", str(REQUIREMENTS)], check=True)
        mark.write_text(wanted)
    return program


def versions() -> dict[str, str]:
    """What the requirements pin, by name."""
    lines = [line.partition("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines()]
    pairs = [line.partition("==") for line in lines if line]
    return {name.partition("[")[0]: version for name, _, version in pairs}
