"""`manage.py evaluate`: how good search and answers are, on the questions that come with the project."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from assistant.evaluating import Figures, Outcome, evaluate, missing_documents
from assistant.question_sets import SETS, Asked, questions
from ingestion.management.progress import Bar
from ingestion.models import embedding_version
from ingestion.problems import Problem

HEADINGS = ("questions", "hit@1", "hit@5", "MRR", "answered", "right doc", "precision", "abstained")


class Command(BaseCommand):
    help = (
        "Asks the questions of the policies and of a harder set, of this database and provider, and shows how many are "
        "found and answered rightly, beside search by vectors alone. Example: manage.py evaluate --set harder --json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--set", choices=(*SETS, "all"), default="all", help="which questions (default all)")
        parser.add_argument("--search-only", action="store_true", help="make no answers: no chat call is spent")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = SETS if options["set"] == "all" else (options["set"],)
        sets = {name: questions(name) for name in chosen}
        asked = [one for found in sets.values() for one in found]
        if missing := missing_documents(asked):
            raise CommandError(
                f"{len(missing)} policies that are asked about are not published ({', '.join(missing[:3])}"
                f"{', …' if len(missing) > 3 else ''}): run manage.py loadcorpus first."
            )
        outcomes = self._ask(asked, is_search_only=options["search_only"])
        figures = {name: Figures([outcomes[one.id] for one in found]) for name, found in sets.items()}
        if options["json"]:
            self.stdout.write(json.dumps(_document(figures)))
            return
        for line in _table(figures):
            self.stdout.write(line)
        self.stdout.write(
            f"{len(asked)} questions, answers by {settings.CHAT_MODEL}, vectors of {embedding_version()}."
        )

    def _ask(self, asked: list[Asked], *, is_search_only: bool) -> dict[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        with Bar("asked", len(asked)) as bar:
            for one in asked:
                bar.show(len(outcomes))
                try:
                    outcomes[one.id] = evaluate(one, is_search_only=is_search_only, wait=bar.count_down)
                except Problem as problem:
                    raise CommandError(f"Question {one.id} got no answer: {problem.detail}") from None
            bar.show(len(asked))
        return outcomes


def _document(figures: dict[str, Figures]) -> dict[str, Any]:
    sets = {
        name: one.numbers() | {"kinds": {kind: part.numbers() for kind, part in one.by_kind().items()}}
        for name, one in figures.items()
    }
    return {"chat_model": settings.CHAT_MODEL, "embedding_version": embedding_version(), "sets": sets}


def _table(figures: dict[str, Figures]) -> Iterator[str]:
    yield _row("", HEADINGS)
    for name, whole in figures.items():
        numbers = whole.numbers()
        yield _row(name, _cells(numbers))
        kinds = whole.by_kind()
        for kind, part in kinds.items() if len(kinds) > 1 else ():
            yield _row(f"  {kind}", _cells(part.numbers()))
        yield _row("  vectors only", [str(numbers["answerable"]), *_ranks(numbers["vectors_only"])])


def _cells(numbers: dict[str, Any]) -> list[str]:
    cells = [str(numbers["questions"]), *_ranks(numbers["search"])]
    if answers := numbers.get("answers"):
        cells += [
            _of(answers["answered"], numbers["answerable"]),
            _of(answers["right_document"], numbers["answerable"]),
            _number(answers["citation_precision"]),
            _number(answers["abstained"]),
        ]
    return cells


def _ranks(ranking: dict[str, float | None]) -> list[str]:
    return [_number(ranking[name]) for name in ("hit_at_1", "hit_at_5", "mrr")]


def _of(part: int, whole: int) -> str:
    return f"{part}/{whole}" if whole else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _row(name: str, cells: list[str] | tuple[str, ...]) -> str:
    return (f"{name:<18}" + "".join(f"{cell:>11}" for cell in cells)).rstrip()
