"""Times are those of a real provider, repeat with their seed, and overlap."""

from concurrent.futures import ThreadPoolExecutor
from statistics import median, quantiles

import httpx
import pytest

from simulator.latency import chat_seconds, embedding_seconds
from simulator.options import Options
from simulator.state import Simulator
from simulator.tests.running import running, until


def test_chat_times_have_the_median_and_the_tail_of_a_real_provider() -> None:
    times = [chat_seconds(1, str(number)) for number in range(5000)]
    assert median(times) == pytest.approx(1.6, rel=0.05)
    assert quantiles(times, n=100)[98] < 6
    assert max(times) <= 12


def test_embedding_times_grow_with_the_inputs() -> None:
    assert embedding_seconds(1, "a", 100) > embedding_seconds(1, "a", 1)
    assert median(embedding_seconds(1, str(n), 50) for n in range(1000)) == pytest.approx(0.25, rel=0.05)


def test_the_same_seed_and_request_take_the_same_time() -> None:
    assert chat_seconds(1, "a") == chat_seconds(1, "a") != chat_seconds(2, "a")


def test_the_slow_mode_takes_ten_times_as_long() -> None:
    simulator = Simulator(Options(latency_scale=0.5))
    assert simulator.pace(2.0) == 1.0
    simulator.switch("slow")
    assert simulator.pace(2.0) == 10.0


def test_hundreds_of_calls_wait_at_the_same_time_and_others_are_answered() -> None:
    with running(Options(latency_scale=0.0)) as provider, ThreadPoolExecutor(200) as pool:
        provider.order("chat/completions", "timeout", times=200)
        hanging = [pool.submit(provider.chat) for _ in range(200)]
        until(lambda: provider.ledger()["totals"]["by_status"] == {"0": 200})
        assert provider.embed("x").status_code == 200
        provider.control("reset")
        assert all(isinstance(call.exception(), httpx.HTTPError) for call in hanging)
