"""Python environments beside the product's, each made once from a requirements file of its own, below var/."""

import hashlib
import subprocess
import sys
from pathlib import Path

from loadtests.machine import ROOT
from loadtests.recording import say


def python_of(requirements: Path, name: str, hint: str) -> Path:
    """The interpreter of `var/NAME`; made or renewed when the requirements are not those that it was made of.

    `hint` says what is made and how long that takes.
    """
    folder = ROOT / "var" / name
    program, mark = folder / "bin" / "python", folder / "made-of"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not (mark.exists() and mark.read_text() == wanted):
        say(f"making {hint}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(program), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        subprocess.run([*install, "-r", str(requirements)], check=True)
        mark.write_text(wanted)
    return program
