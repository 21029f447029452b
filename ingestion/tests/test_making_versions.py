"""Editions made for load and retrieval runs: always the same for a seed, always small, always marked."""

import difflib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.corpus import corpus_documents
from ingestion.corpus.prose import front_matter_length
from ingestion.corpus.versions import make_version, make_versions

DOCUMENTS = corpus_documents()
SLUGS = sorted(DOCUMENTS)
# Without the handbook, on which difflib would spend seconds an example.
ORDINARY = [slug for slug in SLUGS if len(DOCUMENTS[slug]) < 10_000]
FENCED = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1\s*$", re.MULTILINE | re.DOTALL)


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the lines that left and the lines that came."""
    delta = list(difflib.ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True)))
    return [d[2:] for d in delta if d[0] == "-"], [d[2:] for d in delta if d[0] == "+"]


def untouchable(text: str) -> tuple[list[str], list[str], list[str]]:
    lines = text.splitlines()
    front = lines[: front_matter_length(lines)]
    return front, [m.group() for m in FENCED.finditer(text)], [x for x in lines if x.startswith(("|", "#"))]


@given(st.sampled_from(SLUGS), st.integers(), st.integers(2, 10_000))
@settings(max_examples=60, deadline=None)
def test_an_edition_is_the_same_for_the_same_seed_and_number(slug: str, seed: int, number: int) -> None:
    first = make_version(DOCUMENTS[slug], slug=slug, seed=seed, number=number)
    assert first == make_version(DOCUMENTS[slug], slug=slug, seed=seed, number=number)
    assert first != make_version(DOCUMENTS[slug], slug=slug, seed=seed, number=number + 1)
    assert first != make_version(DOCUMENTS[slug], slug=slug, seed=seed + 1, number=number)


@given(st.sampled_from(ORDINARY), st.integers(), st.integers(2, 99))
@settings(max_examples=60, deadline=None)
def test_an_edition_changes_one_line_and_adds_a_mark_and_a_paragraph(slug: str, seed: int, number: int) -> None:
    text = DOCUMENTS[slug]
    left, came = changed_lines(text, make_version(text, slug=slug, seed=seed, number=number))
    written = [line for line in came if line.strip()]
    assert len(left) == 1
    assert len(written) == 3
    assert sum(line.startswith(f"> Changed in edition {number} (seed {seed}): ") for line in written) == 1
    assert re.sub(r"\d+", "0", left[0]) in [re.sub(r"\d+", "0", line) for line in written]


@given(st.sampled_from(SLUGS), st.integers(0, 500))
@settings(max_examples=60, deadline=None)
def test_front_matter_fences_tables_and_headings_stay_as_they_are(slug: str, seed: int) -> None:
    new = make_version(DOCUMENTS[slug], slug=slug, seed=seed, number=2)
    assert untouchable(new) == untouchable(DOCUMENTS[slug])


@given(st.text(alphabet="#-`~|> \r\n\t1€ days", max_size=80), st.integers(0, 9))
@settings(deadline=None)
def test_any_text_gets_its_mark_and_loses_nothing_but_a_number(text: str, seed: int) -> None:
    new = make_version(text, slug="any", seed=seed, number=2)
    kept = iter(new)
    assert f"> Changed in edition 2 (seed {seed})" in new
    assert all(character in kept for character in re.sub(r"\d", "", text))


def test_the_mark_stands_under_the_heading_of_the_changed_section() -> None:
    before = "---\ntitle: 9 days\n---\n\n# Title\n\nNo number.\n\n## Period\n"
    after = "\n\n## End\n\nNothing.\n"
    new = make_version(f"{before}\nYou have 30 days.{after}", slug="returns", seed=1, number=3)
    mark = r"\n> Changed in edition 3 \(seed 1\): 30 became (\d+), .+\n"
    assert new.startswith(before)
    assert new.endswith(after)
    assert re.fullmatch(mark + r"\n.+\n\nYou have \1 days\.", new[len(before) : -len(after)])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_kept(end: str) -> None:
    text = DOCUMENTS["refunds"].replace("\n", end)
    new = make_version(text, slug="refunds", seed=4, number=2)
    assert new.count("\n") == new.count(end)
    assert new.replace(end, "\n") == make_version(DOCUMENTS["refunds"], slug="refunds", seed=4, number=2)


def test_a_text_without_a_changeable_number_is_only_added_to() -> None:
    text = "# Title\n\nOpen in 2026, see 12:30.\n\n```text\n5 days\n```\n"
    left, came = changed_lines(text, make_version(text, slug="x", seed=1, number=2))
    assert left == []
    assert "one note was added" in "".join(came)


def test_versions_go_round_every_document_before_the_next_number() -> None:
    made = list(make_versions(DOCUMENTS, seed=7, count=80))
    assert [number for _, number, _ in made] == [2] * 36 + [3] * 36 + [4] * 8
    assert sorted(slug for slug, _, _ in made[:36]) == SLUGS
    assert [slug for slug, _, _ in made[:36]] == [slug for slug, _, _ in made[36:72]] != SLUGS
    assert all(text == make_version(DOCUMENTS[slug], slug=slug, seed=7, number=n) for slug, n, text in made)


def test_another_seed_goes_another_way() -> None:
    one, two = ([slug for slug, _, _ in make_versions(DOCUMENTS, seed=s, count=36)] for s in (1, 2))
    assert one != two


def test_a_negative_count_is_an_error_and_no_documents_give_no_versions() -> None:
    with pytest.raises(ValueError, match="must not be negative: -1"):
        make_versions(DOCUMENTS, seed=1, count=-1)
    assert list(make_versions({}, seed=1, count=5)) == []
