"""The one error of this package, and how a server's own words become one line of it."""

from pathlib import Path

# What the two servers and their tools write beside the sentence that matters; a full disk has many echoes.
CAUSES = ("No space left on device", "Permission denied", "Address already in use")
MARKS = ("FATAL:", "PANIC:", "could not", "error:", "ERROR:", "Failed", "Can't")


class EmbeddedUnavailable(RuntimeError):
    """An embedded server could not be started; the text is one line for a person."""


def telling_line(words: str) -> str:
    """The last line that names a cause, else the last that names a fault, else the last, else nothing."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    causes = [line for line in lines if any(cause in line for cause in CAUSES)]
    faults = [line for line in lines if any(mark in line for mark in MARKS)]
    return (causes or faults or lines or [""])[-1]


def last_words(log: Path, since: int = 0) -> str:
    """The telling line of what a log says from byte `since` on."""
    try:
        with log.open("rb") as stream:
            stream.seek(since)
            return telling_line(stream.read()[-20_000:].decode(errors="replace"))
    except OSError:
        return ""
