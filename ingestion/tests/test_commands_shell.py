"""Every command of the product: an example and its exit codes in --help, JSON that parses, a failure for bad usage."""

import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.core.management.base import CommandParser, OutputWrapper

from ingestion.management import tables
from ingestion.management.progress import Bar
from ingestion.management.shell import USAGE
from ingestion.tests.making import stand

COMMANDS = {name: app for name, app in get_commands().items() if app in ("ingestion", "assistant")}
# How each that prints JSON is called here.
CALLS = {
    "capacity": [],
    "drain": ["events"],
    "estimates": [],
    "makeversions": ["--seed", "1", "--count", "2", "--out"],
    "prune": ["--dry-run"],
    "queuewatch": ["--seconds", "0.1"],
    "reconcile": [],
    "resume": ["events"],
    "retryjob": ["--all", "--queue", "events"],
}
# They need an API, a provider or published policies, and have tests of their own.
ELSEWHERE = {"evaluate", "loadcorpus", "upload"}


def parser_of(name: str) -> CommandParser:
    return load_command_class(COMMANDS[name], name).create_parser("manage.py", name)


def has_json(name: str) -> bool:
    return "--json" in parser_of(name).format_help()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_shows_an_example_of_the_command(name: str) -> None:
    text = " ".join(parser_of(name).format_help().split())
    assert re.search(rf"Example: .*manage\.py {name}\b", text)


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"backfill", "switchembedding", "evaluate"}))
def test_help_states_the_exit_codes(name: str) -> None:
    codes = parser_of(name).format_help().partition("Exit codes:")[2]
    assert re.search(r"^  0 +\S", codes, re.MULTILINE)
    assert re.search(r"^  2 +\S", codes, re.MULTILINE)


def test_no_command_that_prints_json_is_forgotten_here() -> None:
    assert {name for name in COMMANDS if has_json(name)} - {"backfill", "switchembedding"} == CALLS.keys() | ELSEWHERE


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(CALLS))
def test_json_is_all_that_stands_on_standard_output(name: str, tmp_path: Path, files: Path) -> None:
    stand()
    out = io.StringIO()
    folder = [str(tmp_path)] if name == "makeversions" else []
    call_command(name, *CALLS[name], *folder, "--json", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines
    assert all(isinstance(json.loads(line), dict) for line in lines)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [
        ["capacity", "--workers", "0"],
        ["createcaller", "omar", "--uploads-per-minute", "0"],
        ["drain", "mail"],
        ["makeversions", "--seed", "1", "--count", "0"],
        ["queuewatch", "--seconds", "0"],
        ["resume", "mail"],
        ["retryjob"],
        ["retryjob", "seven"],
        ["retryjob", "--all", "--queue", "events", "--limit", "0"],
        ["runworker", "--queues", "mail"],
    ],
)
def test_what_makes_no_sense_ends_with_two_and_begins_nothing(arguments: list[str]) -> None:
    stand()
    with pytest.raises(CommandError) as error:
        call_command(*arguments)
    assert error.value.returncode == USAGE


class Terminal(io.StringIO):
    """Where a person watches."""

    def isatty(self) -> bool:
        return True


def test_a_table_is_drawn_for_a_person_and_aligned_for_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("chat quota", "9.5", "[bold]no markup[/bold]"), ("workers", "120.0", "")]
    file = io.StringIO()
    tables.show(OutputWrapper(file), ("limit", "jobs", "why"), rows, numbers=[1])
    assert file.getvalue().splitlines()[2] == "workers     120.0"
    tables.show(OutputWrapper(Terminal()), ("limit", "jobs", "why"), rows, numbers=[1])
    drawn = capsys.readouterr().out
    assert "[bold]no markup[/bold]" in drawn
    assert len(drawn.splitlines()) > 3


def test_a_row_stands_above_the_bar_of_a_person_and_alone_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    with Bar("sent", 2) as bar:
        bar.row(OutputWrapper(file), "accepted  returns.md")
    assert file.getvalue() == "accepted  returns.md\n"
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr", watched := Terminal())
        with Bar("sent", 2) as bar:
            bar.row(OutputWrapper(Terminal()), "accepted  [returns].md")
            bar.show(1)
    assert "accepted  [returns].md" in watched.getvalue()
