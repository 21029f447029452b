"""The table on the operations page is that of the recorded run, and a figure above its limit is called missed."""

import json
from pathlib import Path

from loadtests.footprint import EDGES, ROWS, table, write_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_shows_the_recorded_run() -> None:
    recorded = json.loads((ROOT / "loadtests/results/footprint.json").read_text())
    page = (ROOT / "docs/operations.md").read_text()
    shown = page.partition(EDGES[0])[2].partition(EDGES[1])[0].strip()
    assert shown == table(recorded)


def test_a_figure_above_its_limit_is_called_missed(tmp_path: Path) -> None:
    figures = {name: 0 for _, name, _ in ROWS} | {"cores": 2, "load_average": [0.1, 0.2, 0.3]}
    assert "MISSED" not in table(figures)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{EDGES[0]}\nold\n{EDGES[1]}\nafter\n")
    write_page(page, figures | {"worker_connections_most": 5})
    assert "| its connections at the most | 5 | 4 | MISSED |" in page.read_text()
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("\nafter\n")
    assert "old" not in page.read_text()
