"""`python -m simulator`: one line when it listens, one when it can't, and a quick end."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from simulator.__main__ import parse_arguments
from simulator.serving import listen
from simulator.tests.running import until

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "simulator", "--port", "0"]


@contextmanager
def command(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            yield process, line
        finally:
            process.kill()


def test_it_says_where_it_listens_and_ends_with_0_when_told() -> None:
    with command("--mode", "slow", "--seed", "7", "--latency-scale", "2") as (process, line):
        assert line.startswith("simulator listening on http://127.0.0.1:")
        assert line.endswith("/v1 (mode slow, seed 7)\n")
        root = line.split()[3].removesuffix("/v1")
        callers = [threading.Thread(target=hanging_call, args=(root,)) for _ in range(20)]
        for caller in callers:
            caller.start()
        until(lambda: httpx.get(f"{root}/_control/ledger").json()["totals"]["calls"] == 20)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        for caller in callers:
            caller.join(10)
        assert process.stderr is not None
        assert process.stderr.read() == ""


def hanging_call(root: str) -> None:
    body = {"model": "chat-small", "messages": [{"role": "user", "content": "Hello"}]}
    with pytest.raises(httpx.HTTPError):
        httpx.post(f"{root}/v1/chat/completions", json=body, headers={"Authorization": "Bearer k"}, timeout=60)


def test_a_taken_port_is_one_clear_line_and_1() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run([*COMMAND, "--port", str(port)], cwd=ROOT, text=True, capture_output=True, timeout=30)
    assert ended.returncode == 1
    assert ended.stderr == f"simulator: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert ended.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--mode", "fast"],
        ["--port", "70000"],
        ["--port", "x"],
        ["--latency-scale", "-1"],
        ["--latency-scale", "nan"],
        ["--chat-requests-per-minute", "0"],
    ],
)
def test_an_impossible_argument_ends_it_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_its_defaults_are_the_recorded_quotas() -> None:
    given = parse_arguments([])
    assert (given.host, given.port, given.mode, given.latency_scale) == ("127.0.0.1", 9090, "normal", 1.0)
    assert (given.chat_requests_per_minute, given.embedding_tokens_per_minute) == (100, 100_000)
