"""The texts that a pass uploads: the project's own made-up policies and their later editions."""

import json
from pathlib import Path

from loadtests.faults_product import ROOT, Stage

DOCUMENTS = ROOT / "ingestion" / "corpus" / "documents"
SEED = 7
Text = dict[str, str]


def policies() -> list[Text]:
    """Each policy as it comes with the project."""
    return [{"slug": path.stem, "text": path.read_bytes().decode()} for path in sorted(DOCUMENTS.glob("*.md"))]


def editions(stage: Stage, folder: Path, count: int) -> list[Text]:
    """`count` later editions of the policies, the same each time; round by round, as the policy team sends them."""
    stage.manage("makeversions", "--seed", str(SEED), "--count", str(count), "--out", str(folder))
    found = []
    for path in folder.glob("*.md"):
        slug, _, edition = path.stem.rpartition("-")
        found.append((int(edition), slug, path))
    return [{"slug": slug, "text": path.read_bytes().decode()} for _, slug, path in sorted(found)]


def written(folder: Path, name: str, what: object) -> Path:
    """The JSON file that a k6 scenario reads."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(what, ensure_ascii=False))
    return path
