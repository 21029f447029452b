"""The corpus keeps what its readers count on: sizes, titles, links that lead somewhere, questions with an answer.

Nothing here knows a database; the files are the subject.
"""

import re
import unicodedata
from collections import Counter

import pytest

from ingestion.corpus import Question, corpus_documents, corpus_questions
from ingestion.corpus.prose import FENCE, HEADING, front_matter_length

DOCUMENTS = corpus_documents()
QUESTIONS = corpus_questions()
LONGEST = max(DOCUMENTS, key=lambda slug: len(DOCUMENTS[slug]))
# Sample reviews there are decomposed on purpose, as some keyboards send them.
DECOMPOSED = {"product-reviews"}


def sections(text: str) -> list[tuple[str, str]]:
    """Return (heading, text up to the next heading) in order, blind to `#` inside fences."""
    lines = text.splitlines(keepends=True)
    found: list[tuple[str, str]] = []
    fence = ""
    for line in lines[front_matter_length(lines) :]:
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""
        if not fence and HEADING.match(line):
            found.append((line.strip().lstrip("#").strip(), ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def title(text: str) -> str:
    return sections(text)[0][0]


def test_there_are_36_policies_with_slugs_for_names() -> None:
    assert len(DOCUMENTS) == 36
    assert {"returns", "refunds", "delivery-times"} <= set(DOCUMENTS)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in DOCUMENTS)


def test_every_policy_has_a_title_of_its_own() -> None:
    assert len({title(text) for text in DOCUMENTS.values()}) == len(DOCUMENTS)
    assert all(len(re.findall(r"^# ", strip_fences(text), re.MULTILINE)) == 1 for text in DOCUMENTS.values())


def strip_fences(text: str) -> str:
    return re.sub(r"^(`{3,}|~{3,}).*?^\1\s*$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_front_matter_repeats_the_title_where_there_is_one() -> None:
    with_front_matter = {slug: text for slug, text in DOCUMENTS.items() if text.startswith("---\n")}
    assert 10 <= len(with_front_matter) < len(DOCUMENTS)
    for slug, text in with_front_matter.items():
        assert f"\ntitle: {title(text)}\n" in text, slug
        assert re.search(r"\nowner: .+\neffective: \d{4}-\d{2}-\d{2}\n---\n", text), slug


def test_sizes_run_from_under_a_page_to_a_handbook() -> None:
    sizes = sorted(len(text) for text in DOCUMENTS.values())
    assert sizes[0] < 1_500
    assert 150 * 800 <= sizes[-1] <= 150_000
    assert sizes[-2] < 8_000
    assert 240_000 <= sum(sizes) <= 300_000


def test_the_handbook_does_not_repeat_itself() -> None:
    paragraphs = [p for p in DOCUMENTS[LONGEST].split("\n\n") if len(p) > 80]
    repeated = sum(count - 1 for count in Counter(paragraphs).values())
    assert repeated == 0


@pytest.mark.parametrize("slug", DOCUMENTS)
def test_text_is_composed_and_ends_with_a_newline(slug: str) -> None:
    text = DOCUMENTS[slug]
    assert unicodedata.is_normalized("NFC", text) == (slug not in DECOMPOSED)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ufffd\ufeff]", text)


@pytest.mark.parametrize("slug", DOCUMENTS)
def test_links_lead_to_a_policy_of_the_corpus_or_to_the_example_domain(slug: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", DOCUMENTS[slug]):
        assert target.removesuffix(".md") in DOCUMENTS.keys() - {slug}, target
    for address in re.findall(r"https?://([^/\s]+)", DOCUMENTS[slug]):
        assert address == "larkfield.example"


@pytest.mark.parametrize("slug", DOCUMENTS)
def test_sections_that_another_policy_names_exist(slug: str) -> None:
    for target, heading in re.findall(r'\]\(([a-z-]+)\.md\), section "([^"]+)"', DOCUMENTS[slug]):
        assert heading in [name for name, _ in sections(DOCUMENTS[target])]


@pytest.mark.parametrize("slug", DOCUMENTS)
def test_fences_are_closed_and_no_heading_stands_twice(slug: str) -> None:
    text = DOCUMENTS[slug]
    assert "```" not in strip_fences(text)
    assert "~~~" not in strip_fences(text)
    assert max(Counter(name for name, _ in sections(text)).values()) == 1


def test_the_corpus_holds_the_shapes_that_a_chunker_meets() -> None:
    everything = "\n".join(DOCUMENTS.values())
    shapes = {
        "table": r"^\|---",
        "ordered list": r"^1\. ",
        "nested list": r"^ {2,3}- ",
        "quote": r"^> ",
        "tilde fence with a #": r"^~~~.*\n(?:.*\n)*?#",
        "Greek": r"[α-ω]{4}",
        "Japanese": r"[\u3040-\u30ff]{2}",
        "joined emoji": "\u200d",
        "combining mark": "[\u0300-\u036f]",
    }
    assert [name for name, shape in shapes.items() if not re.search(shape, everything, re.MULTILINE)] == []


def test_there_are_40_questions_over_at_least_28_policies() -> None:
    assert [question.id for question in QUESTIONS] == [f"q{n:02d}" for n in range(1, 41)]
    asked = Counter(question.document for question in QUESTIONS)
    assert len(asked) >= 28
    assert asked[LONGEST] >= 3


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_named_section_answers_the_question(question: Question) -> None:
    found = dict(sections(DOCUMENTS[question.document]))
    assert question.heading in found
    assert question.must_contain
    assert [words for words in question.must_contain if words not in found[question.heading]] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_a_question_is_not_copied_from_its_policy(question: Question) -> None:
    words = question.question.split()
    runs = [" ".join(words[i : i + 6]) for i in range(len(words) - 5)]
    assert [run for run in runs if run in DOCUMENTS[question.document]] == []
