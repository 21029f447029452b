"""The converter's process: what it may not outgrow, and what becomes of a file that tries."""

import subprocess
import threading
import time
from typing import Any

import psutil
import pytest
from pytest_django import Settings

from ingestion.pipeline.converting import running
from ingestion.pipeline.converting.running import NotWanted, convert
from ingestion.pipeline.media_types import DOCX, HTML, PDF
from ingestion.pipeline.reading_errors import ConversionLimit, EmptyDocument, ReadingError, Unconvertible
from ingestion.tests.papers import Ink, docx, paragraph, pdf

DEEP = b"<div>" * 400_000


def always() -> bool:
    return True


def converters() -> list[psutil.Process]:
    """The living converters of this process."""
    return [child for child in psutil.Process().children() if "ingestion.pipeline.converting" in _words(child)]


def _words(child: psutil.Process) -> list[str]:
    """Its command line; none of one that has just ended, which other tests' children may."""
    try:
        return child.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_a_child_process_gives_the_text_or_says_why_there_is_none() -> None:
    assert convert(b"<h1>Caf\xc3\xa9</h1>", HTML, always) == "# Café\n"
    with pytest.raises(EmptyDocument, match="pictures of pages"):
        convert(pdf([[]], picture=True), PDF, always)
    with pytest.raises(Unconvertible, match="damaged"):
        convert(b"PK\x03\x04", DOCX, always)


def test_a_file_that_takes_too_long_is_stopped(settings: Settings) -> None:
    settings.CONVERSION_SECONDS = 1
    with pytest.raises(ConversionLimit, match="more than 1 s"):
        convert(DEEP, HTML, always)
    assert converters() == []


def test_a_file_that_takes_too_much_memory_ends_alone(settings: Settings) -> None:
    # Less than any library needs to be loaded.
    settings.CONVERSION_MEMORY_MIB = 16
    with pytest.raises(ReadingError) as caught:
        convert(pdf([[Ink(50, 700, "Hello")]]), PDF, always)
    assert caught.value.code in ("conversion_limit", "unconvertible")


def test_more_text_than_a_document_may_hold_is_refused(settings: Settings) -> None:
    settings.CONVERTED_TEXT_MAX_BYTES = 1_024
    with pytest.raises(ConversionLimit, match=r"more text|more than 1024 bytes"):
        convert(b"<p>" + "é".encode() * 600, HTML, always)


def test_a_conversion_that_nobody_wants_any_more_is_stopped_at_once() -> None:
    calls = iter([True, False])
    with pytest.raises(NotWanted):
        convert(DEEP, HTML, lambda: next(calls))
    assert converters() == []


def test_no_more_converters_run_at_once_than_their_memory_is_reckoned_for() -> None:
    is_wanted = threading.Event()
    is_wanted.set()
    seen: list[int] = []

    def stop() -> None:
        try:
            convert(DEEP, HTML, is_wanted.is_set)
        except NotWanted:
            seen.append(1)

    threads = [threading.Thread(target=stop) for _ in range(running.AT_ONCE + 2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 30
    while len(converters()) < running.AT_ONCE and time.monotonic() < deadline:
        time.sleep(0.01)
    most = len(converters())
    is_wanted.clear()
    for thread in threads:
        thread.join(timeout=30)
    assert (most, len(seen), converters()) == (running.AT_ONCE, running.AT_ONCE + 2, [])


def test_the_child_sees_no_secret_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "secret-of-the-worker")
    started: list[dict[str, str]] = []
    real = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> Any:
        started.append(options["env"])
        return real(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", noted)
    assert convert(pdf([[Ink(50, 700, "Hello")]]), PDF, always) == "Hello\n"
    assert convert(docx(paragraph("Hello")), DOCX, always) == "Hello\n"
    assert started == [{}, {}]
