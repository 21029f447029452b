"""Runs the converter for one file in a child process, and turns whatever becomes of it into text or a refusal.

A hostile file can take down the child and nothing else: the child has its own limits, no secrets in its environment
and no connection, and it dies with the worker. Whatever else ends it is the file's fault and final.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from django.conf import settings

from ingestion.pipeline.converting.__main__ import REFUSED
from ingestion.pipeline.reading_errors import ConversionLimit, EmptyDocument, ReadingError, Unconvertible

_PROJECT = Path(__file__).resolve().parents[3]
# The library's import and a page's work take less than this; a lost claim is seen as soon.
_LOOK_SECONDS = 0.1
# Each child may take CONVERSION_MEMORY_MIB: a worker with sixteen threads must not start sixteen.
AT_ONCE = 2
# What the child's limits, its parent and the system's memory guard end it with.
_STOPPED = (signal.SIGKILL, signal.SIGXCPU, signal.SIGALRM)
_places = threading.BoundedSemaphore(AT_ONCE)
_REFUSALS: dict[str, type[ReadingError]] = {kind.code: kind for kind in (EmptyDocument, Unconvertible, ConversionLimit)}


class NotWanted(Exception):
    """The conversion was stopped because its claim was lost."""


def convert(content: bytes, media_type: str, is_wanted: Callable[[], bool]) -> str:
    """The Markdown of a file. Raises a ReadingError that a person understands, or NotWanted once `is_wanted` is false.

    `content` is a page's source in UTF-8, or a PDF or Word file as uploaded.
    """
    with _place(is_wanted), TemporaryFile() as source, TemporaryFile() as answer:
        source.write(content)
        source.seek(0)
        code = _run(source, answer, media_type, is_wanted)
        answer.seek(0)
        said = answer.read().decode("utf-8", errors="replace")
    if code == 0:
        return said
    raise _refusal(code, said)


@contextmanager
def _place(is_wanted: Callable[[], bool]) -> Iterator[None]:
    while not _places.acquire(timeout=_LOOK_SECONDS):
        if not is_wanted():
            raise NotWanted
    try:
        yield
    finally:
        _places.release()


def _run(source: IO[bytes], answer: IO[bytes], media_type: str, is_wanted: Callable[[], bool]) -> int:
    """The child's exit code, below zero for the signal that ended it; one that took too long is killed."""
    seconds = settings.CONVERSION_SECONDS
    limits = (str(seconds), str(settings.CONVERSION_MEMORY_MIB), str(settings.CONVERTED_TEXT_MAX_BYTES))
    # A session of its own: a Ctrl-C at the terminal is for the worker, which gives the job back.
    child = subprocess.Popen(
        [sys.executable, "-m", "ingestion.pipeline.converting", media_type, str(os.getpid()), *limits],
        stdin=source, stdout=answer, stderr=subprocess.DEVNULL, cwd=_PROJECT, env={}, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            try:
                return child.wait(timeout=_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                if not is_wanted():
                    raise NotWanted from None
        child.kill()
        return child.wait()
    finally:
        child.kill()
        child.wait()


def _refusal(code: int, said: str) -> ReadingError:
    if code == REFUSED:
        word, _, detail = said.partition("\n")
        return _REFUSALS[word](detail)
    if -code in _STOPPED:
        return ConversionLimit(
            f"Reading the file took more than {settings.CONVERSION_SECONDS} s or more memory than one document may, "
            f"and was stopped. Split or simplify the file."
        )
    return Unconvertible(
        f"The file brought its reader down (exit code {code}): it is damaged, or larger than it looks. Save it anew."
    )
