"""docs/cases.md holds: every known fault has a row with a test, and every test that it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "cases.md"
# How many faults of each part must have a row with a test.
REQUIRED = {"Queue": 24, "Documents and providers": 25}

HEADING = re.compile(r"## (.+)")
ROW = re.compile(r"\| (\d+) \|[^|]+\|([^|]+)\|")
NAMED = re.compile(r"`([^`]+\.py)::(\w+)`")


def rows_of(page: str) -> dict[str, dict[int, list[tuple[str, str]]]]:
    """By part and number: the (file, function) pairs of a row. A number that comes twice is an error."""
    parts: dict[str, dict[int, list[tuple[str, str]]]] = {}
    for line in page.splitlines():
        if heading := HEADING.fullmatch(line):
            part = parts.setdefault(heading[1], {})
        elif row := ROW.fullmatch(line):
            assert int(row[1]) not in part, f"{row[1]} stands there twice"
            part[int(row[1])] = NAMED.findall(row[2])
    return parts


@cache
def functions_of(path: str) -> set[str]:
    """The test functions that a file defines; none where it is not there."""
    file = PROJECT / path
    if not file.is_file():
        return set()
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}


def without_test(page: str) -> list[str]:
    """Which required rows name no test."""
    parts = rows_of(page)
    return [
        f"{part} {number}"
        for part, most in REQUIRED.items()
        for number in range(1, most + 1)
        if not parts.get(part, {}).get(number)
    ]


def not_there(page: str) -> list[str]:
    """Which named tests do not exist."""
    return [
        f"{part} {number}: {path}::{name}"
        for part, rows in rows_of(page).items()
        for number, tests in rows.items()
        for path, name in tests
        if not name.startswith("test_") or name not in functions_of(path)
    ]


def test_every_known_fault_has_a_test() -> None:
    assert without_test(PAGE.read_text()) == []


def test_every_named_test_exists() -> None:
    assert not_there(PAGE.read_text()) == []


HERE = "larkfield/tests/test_cases.py"


@pytest.mark.parametrize(
    ("named", "missing"),
    [
        (f"`{HERE}::test_every_named_test_exists`", []),
        (f"`{HERE}::test_that_nobody_wrote`", [f"Queue 1: {HERE}::test_that_nobody_wrote"]),
        (f"`{HERE}::rows_of`", [f"Queue 1: {HERE}::rows_of"]),
        ("`no/file.py::test_x`", ["Queue 1: no/file.py::test_x"]),
    ],
)
def test_a_name_without_its_test_is_noticed(named: str, missing: list[str]) -> None:
    assert not_there(f"## Queue\n| 1 | it holds | {named} |\n") == missing


def test_a_row_without_a_test_is_noticed() -> None:
    first, second, *_ = without_test("## Queue\n| 1 | it holds | by hand |\n")
    assert (first, second) == ("Queue 1", "Queue 2")
