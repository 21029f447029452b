"""The launch: what it refuses in one line, what it starts, and that nothing of it is left afterwards."""

import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from larkfield.launch import environment
from larkfield.launch.demo import provide_demo
from larkfield.launch.errors import REFUSED
from larkfield.tests.members import is_running, wait_until
from larkfield.tests.small_product import SmallProduct, stop


@pytest.fixture
def product(tmp_path: Path) -> SmallProduct:
    return SmallProduct(tmp_path)


@pytest.fixture
def listening() -> Iterator[int]:
    """A port on which something listens that never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def refused(process: "subprocess.Popen[str]") -> str:
    """The one line that a launch says before it ends with exit code 1."""
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "Traceback" not in said
    return said.strip().splitlines()[-1]


def nothing_is_left(product: SmallProduct) -> bool:
    servers = (product.folder / "var" / "postgres" / "postmaster.pid").exists()
    return not servers and not any(is_running(process) for process in product.processes())


def test_it_starts_the_product_shows_a_cited_answer_and_stops_all_on_term_in_order(product: SmallProduct) -> None:
    process = product.start()
    assert product.has_noted("loadcorpus", process)
    assert product.addresses()["PORT"] == product.port
    assert str(product.addresses()["PROVIDER_BASE_URL"]).endswith("/v1")
    code, said = stop(process)
    assert code == 0, said
    for expected in ("ready in", "36 of 36 published True", "returns, version 2: Returns › Online", "within 30 days"):
        assert expected in said
    token = (product.folder / "var" / "demo-token").read_text().strip()
    assert token not in said
    starts = [note for note in product.notes() if note in ("prepare", "worker", "loadcorpus")]
    assert sorted(starts) == ["loadcorpus", "prepare", "worker"]
    assert product.notes()[-2:] == ["worker-end", "simulator-end"]
    assert product.addresses() == {}
    assert nothing_is_left(product)


def test_a_ctrl_c_while_it_starts_stops_what_was_started(product: SmallProduct) -> None:
    process = product.start()
    assert product.has_noted("simulator", process)
    code, said = stop(process, signal.SIGINT)
    assert code == 0, said
    assert nothing_is_left(product)


def test_a_second_ctrl_c_ends_at_once_a_worker_that_does_not_stop(tmp_path: Path) -> None:
    stubborn = "import signal, time\nfrom note import note\nsignal.signal(signal.SIGTERM, lambda *_: note('asked'))\n"
    product = SmallProduct(tmp_path, **{"manage.py": f"{stubborn}note('loadcorpus')\nwhile True:\n    time.sleep(1)\n"})
    process = product.start()
    assert product.has_noted("loadcorpus", process)
    process.send_signal(signal.SIGINT)
    assert product.has_noted("asked", process)

    def has_ended_after_another() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    assert wait_until(has_ended_after_another)
    assert process.returncode == 130
    process.communicate()
    assert wait_until(lambda: nothing_is_left(product))


def test_two_signals_at_one_moment_count_as_one(product: SmallProduct) -> None:
    process = product.start()
    assert product.has_noted("loadcorpus", process)
    process.send_signal(signal.SIGTERM)  # as make does after a signal to the whole group
    code, said = stop(process)
    assert code == 0, said
    assert product.notes()[-2:] == ["worker-end", "simulator-end"]


def test_a_killed_launch_leaves_no_process_behind(product: SmallProduct) -> None:
    process = product.start()
    assert product.has_noted("loadcorpus", process)
    process.kill()
    process.communicate()
    assert wait_until(lambda: nothing_is_left(product))


def test_a_child_that_dies_is_named_with_its_last_lines_and_ends_the_launch(tmp_path: Path) -> None:
    dying = "import sys\nfrom note import note\nnote('worker')\nprint('the queue has no table')\nsys.exit(3)\n"
    product = SmallProduct(tmp_path, **{"manage.py": dying})
    process = product.start()
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "worker ended unexpectedly with exit code 3" in said
    assert "the queue has no table" in said
    assert nothing_is_left(product)


def test_a_migration_that_fails_ends_the_launch_with_its_reason(tmp_path: Path) -> None:
    failing = {"larkfield/launch/preparing.py": "raise SystemExit('relation already exists')\n"}
    product = SmallProduct(tmp_path, **failing)
    process = product.start()
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "migrating failed with exit code 1" in said
    assert "relation already exists" in said
    assert nothing_is_left(product)


def test_a_wrong_setting_ends_the_launch_with_this_start_s_lines_alone(tmp_path: Path) -> None:
    refusing = {"larkfield/launch/preparing.py": f"print('LEASE_SECONDS is wrong')\nraise SystemExit({REFUSED})\n"}
    product = SmallProduct(tmp_path, **refusing)
    for _ in range(2):
        process = product.start()
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert said.count("a setting is wrong:\n    LEASE_SECONDS is wrong") == 1
        assert said.count("LEASE_SECONDS") == 1
    assert nothing_is_left(product)


def test_a_taken_port_is_said_before_anything_is_started(product: SmallProduct, listening: int) -> None:
    line = refused(product.start(PORT=str(listening)))
    assert line.startswith(f"port {listening} is taken")
    assert not (product.folder / "var").exists()


def test_a_port_that_is_none_is_named(product: SmallProduct) -> None:
    assert refused(product.start(PORT="eighty")).startswith("PORT is 'eighty'")


def test_a_database_that_does_not_answer_is_named_without_its_password(product: SmallProduct, listening: int) -> None:
    line = refused(product.start(DATABASE_URL=f"postgresql://me:s3cret@127.0.0.1:{listening}/x"))
    assert line.startswith(f"DATABASE_URL does not answer: 127.0.0.1:{listening}")
    assert "s3cret" not in line
    assert nothing_is_left(product)


@pytest.mark.parametrize(
    "variable, value, expected",
    [
        ("DATABASE_URL", "postgresql://me:s3cret@127.0.0.1:1/x", "DATABASE_URL does not answer: 127.0.0.1:1"),
        ("DATABASE_URL", "mysql:/s3cret", "DATABASE_URL cannot be read"),
        ("PROVIDER_BASE_URL", "http://127.0.0.1:1/v1", "PROVIDER_BASE_URL does not answer: http://127.0.0.1:1/v1"),
        ("PROVIDER_BASE_URL", "ftp://s3cret", "PROVIDER_BASE_URL cannot be read"),
        ("VALKEY_URL", "redis://:s3cret@127.0.0.1:1/0", "VALKEY_URL does not answer"),
        (
            "AZURE_STORAGE_CONNECTION_STRING",
            "AccountName=a;AccountKey=s3cret;BlobEndpoint=http://127.0.0.1:1/a",
            "AZURE_STORAGE_CONNECTION_STRING does not answer: 127.0.0.1:1",
        ),
    ],
)
def test_a_given_address_that_does_not_answer_ends_the_launch_in_one_line(
    product: SmallProduct, variable: str, value: str, expected: str
) -> None:
    line = refused(product.start(**{variable: value}))
    assert line.startswith(expected)
    assert "s3cret" not in line
    assert nothing_is_left(product)


def test_the_shell_wins_over_the_file_and_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=8100\nVALKEY_URL=redis://a\nDATABASE_URL=\n")
    found = environment.read_environment(tmp_path, {"PORT": "8200", "VALKEY_URL": ""})
    assert found == {"PORT": "8200", "VALKEY_URL": "redis://a"}


def test_the_demo_secrets_are_kept_for_their_owner_alone_and_made_anew_when_lost(tmp_path: Path) -> None:
    first = provide_demo(tmp_path)
    assert provide_demo(tmp_path) == first
    for path in (first.token_path, first.password_path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first.token_path.unlink()
    second = provide_demo(tmp_path)
    assert second.token != first.token
    assert second.password == first.password


def test_the_addresses_of_another_launch_are_not_removed(tmp_path: Path) -> None:
    environment.write_addresses(tmp_path, 8000, "http://127.0.0.1:9090/v1")
    path = environment.addresses_path(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "pid": os.getppid()}))
    environment.remove_addresses(tmp_path)
    assert path.exists()
