"""No number of a report lacks its source, no recorded run was edited, and the pages are those of the recorded runs."""

import json
import re
from pathlib import Path

import pytest

from loadtests import defaults, report, sealing
from loadtests.evidence import MARK
from loadtests.faults_product import ROOT
from loadtests.recording import RESULTS

TEMPLATES = sorted(report.TEMPLATES.glob("*.md"))
HEADINGS = [
    "# Larkfield document assistant: background ingestion under load",
    "## Workload and assumptions",
    "## The queue",
    "## One effect per message",
    "## Load-test evidence",
    "## Capacity recommendation",
    "## Failure paths",
    "## Fresh-environment run",
    "## Limits",
]
STATUSES = {"202", "409", "422", "429", "503"}
# What a template calculates or reads stands between these.
CALCULATED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
# A number by itself: not a part of a name such as A5, p95 or path-1.
BARE = re.compile(r"(?<![\w.-])\d[\d.,]*(?![\w-])")
WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand|dozen|"
    "twice|thrice|double|half|quarter|percent"
)
IN_WORDS = re.compile(rf"\b({WORDS})\b", re.IGNORECASE)


def numbers_without_source(text: str) -> list[str]:
    """The numbers, in digits or words, that somebody has typed; statuses and the numbers of a list are none."""
    text = CALCULATED.sub(" ", text)
    text = re.sub(r"^\d+\. ", "", text, flags=re.MULTILINE)
    text = re.sub(r"\b[Pp]aths? \d( and \d)?", "", text)
    typed = [word for code in CODE.findall(text) for word in BARE.findall(code.strip("`"))]
    typed += BARE.findall(CODE.sub(" ", text))
    return [word for word in typed if word.rstrip(".,") not in STATUSES] + IN_WORDS.findall(CODE.sub(" ", text))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_no_number_of_a_template_is_typed(template: Path) -> None:
    assert numbers_without_source(template.read_text()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It lost 3 uploads.", ["3"]),
        ("It took 1,204.5 s.", ["1,204.5"]),
        ("`150 calls`", ["150"]),
        ("It lost three uploads.", ["three"]),
        ("1. A line of a list, (A5), p95, `test_path_1.py`, 503 and 202, {{ runs.burst.count }}.", []),
        ("It took {{ a.b|n(2) }} s of 20 s.", ["20"]),
    ],
)
def test_a_typed_number_is_found_and_a_name_is_none(text: str, found: list[str]) -> None:
    assert numbers_without_source(text) == found


@pytest.mark.parametrize("page", sorted(report.PAGES.values()))
def test_a_page_is_what_its_template_makes_of_the_recorded_runs(page: str) -> None:
    """An edit of the page or of a record, or a run that nobody reported, is seen. Mend: python -m loadtests.report."""
    pages, _ = report.rendered(RESULTS)
    assert (ROOT / page).read_text() == pages[page]


def test_once_the_evidence_is_whole_no_number_is_missing() -> None:
    _, missing = report.rendered(RESULTS)
    pages = "".join((ROOT / page).read_text() for page in report.PAGES.values())
    assert bool(missing) == (report.ABSENT in pages)
    if (RESULTS / MARK).exists():
        assert missing == []


def test_the_report_has_the_headings_of_the_assignment_and_no_other() -> None:
    lines = re.sub(r"```.*?```", "", (ROOT / "REPORT.md").read_text(), flags=re.DOTALL).splitlines()
    assert [line for line in lines if re.match(r"##? ", line)] == HEADINGS


def test_a_number_that_is_not_recorded_is_shown_as_such_and_named(tmp_path: Path) -> None:
    pages, missing = report.rendered(tmp_path)
    assert report.ABSENT in pages["REPORT.md"]
    assert "alone.documents" in missing


def test_no_recorded_run_was_edited() -> None:
    broken = {str(folder.relative_to(RESULTS)): sealing.broken(folder) for folder in sealing.sealed_folders(RESULTS)}
    assert {place: found for place, found in broken.items() if found} == {}


def test_every_run_of_the_reports_is_sealed() -> None:
    places = {path.parent for path in RESULTS.glob("*/*/pass-*/summary.json")}
    places |= {RESULTS / name for name in ("alone", "cost", "defaults", "fresh", "paths") if (RESULTS / name).exists()}
    assert places <= set(sealing.sealed_folders(RESULTS))


def test_a_seal_sees_what_was_edited_added_and_removed(tmp_path: Path) -> None:
    for name in ("kept", "edited", "removed"):
        (tmp_path / name).write_text(name)
    sealing.seal(tmp_path)
    assert sealing.broken(tmp_path) == []
    (tmp_path / "edited").write_text("another")
    (tmp_path / "removed").unlink()
    (tmp_path / "added").write_text("new")
    assert sealing.broken(tmp_path) == [
        "removed is gone", "added is not of the recorded run", "edited was edited",
    ]  # fmt: skip


def test_the_defaults_that_the_reports_show_are_those_of_the_product(tmp_path: Path) -> None:
    path = RESULTS / "defaults" / "summary.json"
    if not path.exists():
        assert report.ABSENT in (ROOT / "REPORT.md").read_text()
        return
    recorded = json.loads(path.read_text())["settings"]
    template = (report.TEMPLATES / "report.md").read_text()
    shown = set(re.findall(r"\bd\.([A-Z_]+)", template))
    known = defaults.settings({"LARKFIELD_DATA_DIR": str(tmp_path)})
    assert {name: recorded[name] for name in shown} == {name: known[name] for name in shown}
