"""The simulator is a program of its own."""

import ast
from pathlib import Path

PRODUCT = {"django", "rest_framework", "larkfield", "ingestion", "assistant", "loadtests"}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


def test_it_imports_nothing_of_the_product() -> None:
    for path in Path(__file__).resolve().parents[1].rglob("*.py"):
        assert not imported(path) & PRODUCT, path
