"""How fast Markdown is cut into chunks on one core, beside two libraries on the same text in the same run.

`python -m loadtests.chunking_speed [--short]`. In turns, so that a busy machine slows all alike; medians of five.
Beside the product: semantic-text-splitter's MarkdownSplitter by characters, and tiktoken's counting of the whole text,
which is the least that any cutter by exact tokens would need. CPU time of this process, not the clock's.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from semantic_text_splitter import MarkdownSplitter

from ingestion.corpus import HERE
from ingestion.pipeline.chunking import chunk_text
from ingestion.pipeline.tokens import count_tokens
from loadtests import machine, sealing
from loadtests.recording import put_between

RESULTS = Path(__file__).parent / "results" / "chunking"
PAGE = machine.ROOT / "docs" / "formats.md"
EDGES = ("<!-- chunking: begin -->", "<!-- chunking: end -->")
GOAL = 20.0
ROUNDS = 5
FULL_CHARACTERS, SHORT_CHARACTERS = 1_000_000, 100_000
CHUNK_CHARACTERS = 1_000
SEED = 2026


def kinds(characters: int) -> dict[str, str]:
    """Markdown of each kind, made from the words of the corpus; the same in every run."""
    corpus = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted((HERE / "documents").glob("*.md")))
    source, known = random.Random(SEED), sorted({word for word in corpus.split() if word.isalpha()})

    def sentence(count: int) -> str:
        return " ".join(source.choices(known, k=count)).capitalize() + "."

    def filled(block: Callable[[int], str], gap: str = "\n\n") -> str:
        parts: list[str] = []
        size = 0
        while size < characters:
            parts.append(block(len(parts)))
            size += len(parts[-1]) + len(gap)
        return gap.join(parts)[:characters]

    def section(number: int) -> str:
        return (f"## {sentence(4)}\n\n" if number % 6 == 0 else "") + " ".join(sentence(13) for _ in range(5))

    def rows(_: int) -> str:
        return "| a | b | c |\n|---|---|---|\n" + "\n".join(
            f"| {sentence(3)} | {source.random():.2f} | {sentence(5)} |" for _ in range(40)
        )

    def japanese(_: int) -> str:
        return " ".join("".join(source.choices("顧客三十日返品店舗送料", k=12)) + "。" for _ in range(10))

    return {
        "the 36 policies": (corpus * (1 + characters // len(corpus)))[:characters],
        "prose": filled(section),
        "tables": filled(rows),
        "lists": filled(lambda _: "\n".join(f"- {sentence(9)}" for _ in range(20))),
        "headings": filled(lambda _: f"# {sentence(2)}"),
        "Japanese": filled(japanese),
    }


def measure(text: str, rounds: int) -> dict[str, float]:
    """MB of UTF-8 a second for each, the median of its rounds."""
    splitter = MarkdownSplitter(CHUNK_CHARACTERS)
    workers: dict[str, Callable[[], object]] = {
        "larkfield": lambda: chunk_text(text, media_type="text/markdown"),
        "semantic_text_splitter": lambda: splitter.chunk_indices(text),
        "tiktoken_count": lambda: count_tokens(text),
    }
    taken: dict[str, list[float]] = {name: [] for name in workers}
    for _ in range(rounds):
        for name, work in workers.items():
            began = time.process_time()
            work()
            taken[name].append(time.process_time() - began)
    size = len(text.encode()) / 1e6
    return {name: round(size / statistics.median(times), 2) for name, times in taken.items()}


def table(summary: Mapping[str, Any]) -> str:
    """The figures as a Markdown table, and whether the goal is reached for all kinds."""
    lines = [
        "| MB a second | Larkfield | semantic-text-splitter, by characters | tiktoken, counting once |",
        "|---|---|---|---|",
    ]
    for kind, paces in summary["megabytes_a_second"].items():
        lines.append(f"| {kind} | {' | '.join(f'{pace:g}' for pace in paces.values())} |")
    slowest = min(paces["larkfield"] for paces in summary["megabytes_a_second"].values())
    verdict = "reached" if slowest >= GOAL else "**missed**"
    load = ", ".join(f"{value:.1f}" for value in summary["load_average"])
    return "\n".join([*lines, "", f"The goal of {GOAL:g} for every kind: {verdict}. Load average before: {load}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a tenth of the text and one round; nothing is recorded")
    is_short = parser.parse_args().short
    started = datetime.now(UTC)
    chunk_text("The engine is loaded.", media_type="text/markdown")
    texts = kinds(SHORT_CHARACTERS if is_short else FULL_CHARACTERS)
    figures: dict[str, Any] = {name: measure(text, 1 if is_short else ROUNDS) for name, text in texts.items()}
    summary = {
        "started_at": started.isoformat(timespec="seconds"),
        "unit": "MB of UTF-8 a second on one core, CPU time, median",
        "rounds": 1 if is_short else ROUNDS,
        "megabytes_a_second": figures,
        "libraries": {name: version(name) for name in ("semantic-text-splitter", "tiktoken")},
        "load_average": machine.load_average(),
        "machine": machine.describe(),
    }
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    sys.stdout.write(text + "\n")
    if not is_short:
        folder = RESULTS / started.strftime("%Y-%m-%d-%H%M%S")
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(text + "\n")
        sealing.seal(folder)
        put_between(PAGE, EDGES, table(summary))


if __name__ == "__main__":
    main()
