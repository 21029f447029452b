"""`manage.py evaluate`: its sets are about sections that exist, its figures are right, and it obeys the provider."""

import json
from io import StringIO
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from assistant import evaluating
from assistant.evaluating import Figures, Outcome
from assistant.question_sets import Asked, Section, questions
from assistant.tests import publishing
from assistant.tests.conftest import Asking
from ingestion.corpus import corpus_documents
from ingestion.models import ProviderCall
from ingestion.tests.simulated import Simulator

KINDS = {"paraphrase", "typo", "two policies", "superseded fact", "unanswerable"}
COMMAND = "assistant.management.commands.evaluate"
STANDARD = Section("returns", "The standard period")
FEW = [
    Asked("a", "found", "How many days does a customer have to return an item?", (STANDARD,)),
    Asked("b", "unanswerable", "Who won the football match on the moon yesterday?", ()),
]


@pytest.fixture
def few(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two questions about the published sample policies stand for both sets."""
    monkeypatch.setattr(f"{COMMAND}.questions", lambda name: FEW if name == "harder" else FEW[:1])


def evaluated(*arguments: str) -> str:
    out = StringIO()
    call_command("evaluate", *arguments, stdout=out)
    return out.getvalue()


def test_the_harder_set_has_sixty_questions_of_every_kind_with_ids_of_their_own() -> None:
    found = questions("harder")
    assert len(found) >= 60
    assert {one.kind for one in found} == KINDS
    assert len({one.id for one in found + questions("corpus")}) == len(found) + 40


def test_every_expected_section_stands_in_the_corpus_and_only_the_unanswerable_have_none() -> None:
    documents = corpus_documents()
    for one in questions("harder") + questions("corpus"):
        assert bool(one.expected) == (one.kind != "unanswerable"), one.id
        for section in one.expected:
            assert section.is_in(section.document, [], documents[section.document]), one.id


@pytest.mark.parametrize(
    ("document", "path", "text", "expected"),
    [
        ("returns", ["Returns", "Costs"], "free", True),
        ("returns", ["Returns", "Time"], "## Time\n\n30 days\n\n## Costs\n\nfree\n", True),
        ("returns", ["Returns", "Time"], "Costs are another matter", False),
        ("refunds", ["Refunds", "Costs"], "free", False),
    ],
)
def test_a_chunk_belongs_to_its_path_and_to_the_headings_inside(
    document: str, path: list[str], text: str, expected: bool
) -> None:
    assert Section("returns", "Costs").is_in(document, path, text) is expected


def test_the_figures_are_worked_out_from_ranks_and_citations() -> None:
    answerable = Asked("x", "paraphrase", "?", (Section("d", "h"),))
    unanswerable = Asked("y", "unanswerable", "?", ())
    outcomes = [
        Outcome(answerable, 1, None, ((True, True), (True, False))),
        Outcome(answerable, 4, 1, ((False, False),)),
        Outcome(answerable, None, 2, ()),
        Outcome(unanswerable, None, None, ((False, False),)),
        Outcome(unanswerable, None, None, ()),
    ]
    numbers = Figures(outcomes).numbers()
    assert numbers["search"] == {"hit_at_1": 0.333, "hit_at_5": 0.667, "mrr": 0.417}
    assert numbers["vectors_only"] == {"hit_at_1": 0.333, "hit_at_5": 0.667, "mrr": 0.5}
    assert numbers["answers"] == {
        "answered": 2,
        "right_document": 1,
        "right_section": 1,
        "citations": 4,
        "citation_precision": 0.25,
        "unanswerable": 2,
        "abstained": 0.5,
    }


def test_nothing_asked_has_no_share() -> None:
    assert Figures([]).numbers()["search"] == {"hit_at_1": None, "hit_at_5": None, "mrr": None}


@pytest.mark.django_db
def test_a_database_without_the_policies_is_said_to_be_so(asking: Asking) -> None:
    with pytest.raises(CommandError, match=r"run manage\.py loadcorpus first"):
        evaluated("--set", "corpus")
    assert not ProviderCall.objects.exists()


@pytest.mark.django_db
def test_it_shows_both_sets_with_the_vectors_beside_them(few: None) -> None:
    table = evaluated().splitlines()
    assert [line.split()[0] for line in table] == [
        "questions", "corpus", "vectors", "harder", "found", "unanswerable", "vectors", "3",
    ]  # fmt: skip
    assert "1/1" in table[1]


@pytest.mark.django_db
def test_its_json_holds_the_same_numbers(few: None) -> None:
    found: dict[str, Any] = json.loads(evaluated("--json", "--set", "harder"))
    assert list(found["sets"]) == ["harder"]
    harder = found["sets"]["harder"]
    assert harder["search"]["hit_at_1"] == harder["answers"]["abstained"] == 1.0
    assert harder["answers"]["right_section"] == harder["kinds"]["found"]["answers"]["answered"] == 1


@pytest.mark.django_db
def test_search_alone_spends_no_chat_call(few: None) -> None:
    assert "answers" not in json.loads(evaluated("--search-only", "--json"))["sets"]["harder"]
    assert not ProviderCall.objects.filter(step="answer").exists()


@pytest.mark.django_db
def test_an_answer_that_is_kept_is_not_measured_in_place_of_the_model(few: None) -> None:
    for _ in range(2):
        evaluated("--set", "corpus")
    assert ProviderCall.objects.filter(step="answer").count() == 2


@pytest.mark.django_db
def test_it_waits_as_long_as_the_provider_says_and_asks_again(asking: Asking, simulator: Simulator) -> None:
    simulator.mode("outage")
    waits: list[float] = []

    def wait(seconds: float, reason: str) -> None:
        waits.append(seconds)
        simulator.reset()

    outcome = evaluating.evaluate(FEW[0], is_search_only=True, wait=wait)
    assert outcome.rank == 1
    assert len(waits) == 1
    assert waits[0] >= 1


@pytest.mark.django_db
def test_a_provider_that_never_answers_ends_it_with_a_sentence(
    few: None, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.mode("outage")
    monkeypatch.setattr(f"{COMMAND}.Bar.count_down", lambda self, seconds, reason: None)
    with pytest.raises(CommandError, match="Question a got no answer"):
        evaluated("--set", "corpus")


@pytest.mark.django_db
def test_a_deleted_policy_is_missing(few: None, settings: LazySettings) -> None:
    publishing.delete("returns")
    assert evaluating.missing_documents(FEW) == ["returns"]
