"""The embedded servers: joined by many, stopped by the last one out, never broken by a death."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import redis

from larkfield import embedded
from larkfield.embedded import binaries, sockets
from larkfield.embedded.postgres import Postgres
from larkfield.tests.members import Member, is_running, wait_until


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose cluster was made and stopped once, to be copied: initdb is most of a first start."""
    directory = tmp_path_factory.mktemp("cluster")
    embedded.database_url(directory)
    assert embedded.leave(directory)
    return directory


@pytest.fixture
def directory(cluster: Path, tmp_path: Path) -> Iterator[Path]:
    """A directory of this test alone with a cluster that is not running."""
    copied = tmp_path / "d"
    copied.mkdir()
    owner = (cluster / "postgres").stat()
    shutil.copytree(cluster / "postgres", copied / "postgres")
    for path in [copied / "postgres", *(copied / "postgres").rglob("*")]:
        os.chown(path, owner.st_uid, owner.st_gid)
    yield copied
    embedded.leave(copied)


def postmaster(directory: Path) -> int:
    return int((directory / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])


def test_a_first_start_makes_a_database_with_vectors(tmp_path: Path) -> None:
    url = embedded.database_url(tmp_path)
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_database(), '[1,2]'::vector <-> '[1,3]'::vector").fetchone()
        setting = connection.execute("SHOW fsync").fetchone()
    assert row == ("larkfield", 1.0)
    assert setting == ("on",)
    assert embedded.leave(tmp_path)


def test_a_second_process_joins_and_the_last_one_out_stops_the_server(directory: Path) -> None:
    mine = embedded.database_url(directory)
    server = postmaster(directory)
    other = Member("database_url", directory)
    assert other.url() == mine
    assert postmaster(directory) == server
    assert embedded.leave(directory)  # returns at once: the other one still uses it
    with psycopg.connect(mine) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    other.go()
    assert wait_until(lambda: not is_running(server))


def test_leaving_as_the_last_one_returns_when_the_server_has_stopped(directory: Path) -> None:
    embedded.database_url(directory)
    server = postmaster(directory)
    assert embedded.leave(directory)
    assert not is_running(server)
    assert not (directory / "postgres" / "postmaster.pid").exists()


def test_a_member_that_was_killed_keeps_nothing_running(directory: Path) -> None:
    member = Member("database_url", directory)
    assert member.url()
    server = postmaster(directory)
    member.kill()
    assert wait_until(lambda: not is_running(server))
    assert embedded.database_url(directory)


def test_many_first_starts_at_once_share_one_server(tmp_path: Path) -> None:
    members = [Member("database_url", tmp_path) for _ in range(4)]
    urls = {member.url() for member in members}
    assert len(urls) == 1
    with psycopg.connect(urls.pop()) as connection:
        connection.execute("SELECT NULL::vector")
    for member in members:
        member.go()
    assert wait_until(lambda: not (tmp_path / "postgres" / "postmaster.pid").exists())


def test_a_server_whose_keeper_was_killed_ends_and_is_started_again(directory: Path) -> None:
    embedded.database_url(directory)
    server = postmaster(directory)
    keeper = int(Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(keeper, signal.SIGKILL)
    assert wait_until(lambda: embedded.fallen(directory) == ["postgres"])
    assert wait_until(lambda: not is_running(server))
    embedded.leave(directory)
    with psycopg.connect(embedded.database_url(directory)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_claim_left_by_a_dead_server_does_not_hinder_when_its_number_was_used_again(
    directory: Path,
) -> None:
    claim = directory / "postgres" / "postmaster.pid"
    claim.write_text(f"{os.getppid()}\n{directory}\n1700000000\n5432\n\n\n")
    embedded.database_url(directory)
    assert postmaster(directory) != os.getppid()


def test_a_first_start_that_broke_off_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "postgres.new" / "base").mkdir(parents=True)
    assert embedded.database_url(tmp_path)
    assert not (tmp_path / "postgres.new").exists()
    assert embedded.leave(tmp_path)


def test_a_broken_cluster_is_named_in_one_line_with_the_servers_own_reason(directory: Path) -> None:
    (directory / "postgres" / "global" / "pg_control").unlink()
    with pytest.raises(embedded.EmbeddedUnavailable) as caught:
        embedded.database_url(directory)
    assert "did not start" in str(caught.value)
    assert "pg_control" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_data_of_another_major_version_is_left_alone(directory: Path) -> None:
    (directory / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(embedded.EmbeddedUnavailable, match="made by PostgreSQL 16"):
        embedded.database_url(directory)
    assert (directory / "postgres" / "global" / "pg_control").exists()


def test_a_platform_without_a_packaged_server_is_told_which_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda name: None)
    with pytest.raises(embedded.EmbeddedUnavailable, match="set DATABASE_URL"):
        embedded.database_url(tmp_path)
    with pytest.raises(embedded.EmbeddedUnavailable, match="set VALKEY_URL"):
        embedded.valkey_url(tmp_path)


def test_a_directory_that_cannot_be_written_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(embedded.EmbeddedUnavailable, match="cannot be opened"):
        embedded.valkey_url(tmp_path / "file")


def test_a_path_too_long_for_a_socket_gets_a_short_one_that_others_find(tmp_path: Path) -> None:
    deep = tmp_path / ("long" * 20) / ("path" * 20)
    url = embedded.valkey_url(deep)
    path = Path(urlsplit(url).path)
    assert len(os.fsencode(path)) <= sockets.LONGEST_PATH_BYTES
    assert path.parent.stat().st_mode & 0o077 == 0
    other = Member("valkey_url", deep)
    assert other.url() == url
    other.go()
    assert embedded.leave(deep)
    shutil.rmtree(path.parent)  # as a system does that empties its temporary folder
    again = embedded.valkey_url(deep)
    assert redis.Redis.from_url(again).ping()
    assert embedded.leave(deep)
    shutil.rmtree(Path(urlsplit(again).path).parent)


def test_the_database_address_survives_blanks_and_signs_in_the_path(tmp_path: Path) -> None:
    server = Postgres(tmp_path / "a b&c=d%")
    assert parse_qs(urlsplit(server.url()).query)["host"] == [str(server.folder)]


def test_valkey_has_no_port_keeps_no_file_and_never_drops_a_limit(tmp_path: Path) -> None:
    client = redis.Redis.from_url(embedded.valkey_url(tmp_path))
    settings = client.config_get("port", "save", "appendonly", "maxmemory", "maxmemory-policy")
    assert settings == {
        "port": "0",
        "save": "",
        "appendonly": "no",
        "maxmemory": "67108864",
        "maxmemory-policy": "noeviction",
    }
    client.set("kept", "for a moment")
    client.close()
    assert embedded.leave(tmp_path)
    assert not list(tmp_path.rglob("*.rdb"))


def test_valkey_ends_after_its_last_member_was_killed(tmp_path: Path) -> None:
    member = Member("valkey_url", tmp_path)
    client = redis.Redis.from_url(member.url())
    server = int(client.info("server")["process_id"])
    client.close()
    member.kill()
    assert wait_until(lambda: not is_running(server))
