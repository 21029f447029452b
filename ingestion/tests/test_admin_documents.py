"""Documents in the admin: the history of their versions, and how two texts differ; bounded, exact, and only text."""

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from ingestion.admin import differences
from ingestion.admin.differences import Row, compare, script
from ingestion.models import Document, DocumentVersion
from ingestion.tests.eventing import document
from ingestion.tests.operating import signed_in, words


@pytest.fixture
def operator() -> Client:
    return signed_in("operator", "operate")


def two_versions(before: str | None, after: str | None) -> Document:
    made = document("returns", versions=2)
    for number, text in ((1, before), (2, after)):
        DocumentVersion.objects.filter(document=made, number=number).update(text=text)
    return made


def difference(client: Client, found: Document, before: object = 1, after: object = 2) -> str:
    answer = client.get(f"/admin/ingestion/document/{found.pk}/difference/?before={before}&after={after}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.django_db
def test_the_page_lists_the_versions_with_a_query_count_that_does_not_grow(
    operator: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small, large = document("small", versions=1), document("large", versions=30)
    operator.get(f"/admin/ingestion/document/{small.pk}/change/")
    for one in (small, large):
        with django_assert_num_queries(8):
            page = operator.get(f"/admin/ingestion/document/{one.pk}/change/")
    assert len(page.context["versions"]) == 30
    assert "Show the difference of the two texts" in words(page)


@pytest.mark.django_db
def test_changed_words_are_marked_and_equal_lines_stand_as_one_gap(operator: Client) -> None:
    lines = [f"Rule {number}." for number in range(40)]
    changed = [*lines[:20], "Rule 20, mended.", *lines[21:]]
    page = difference(operator, two_versions("\n".join(lines), "\n".join(changed)))
    assert "1 lines of version 1 are gone, 1 of version 2 are new" in page
    assert "<ins>, mended</ins>" in page
    assert "17 equal lines" in page
    assert "Rule 19." in page
    assert "Rule 3." not in page


@pytest.mark.django_db
def test_markup_in_a_policy_stays_text(operator: Client) -> None:
    page = difference(operator, two_versions("<script>alert(1)</script>", "<img src=x onerror=alert(2)>"))
    assert "<img src=x" not in page
    assert "alert(1)</script>" not in page
    assert "&lt;" in page


@pytest.mark.django_db
def test_equal_and_missing_texts_are_said_to_be(operator: Client) -> None:
    found = two_versions("one", "one")
    assert "The two texts are equal" in difference(operator, found)
    DocumentVersion.objects.filter(document=found, number=2).update(text=None)
    assert "The text of version 2 is not there" in difference(operator, found)


@pytest.mark.django_db
@pytest.mark.parametrize("number", ["", "0", "9", "x", "-1", "1" * 20])
def test_a_version_that_is_not_there_is_404(operator: Client, number: str) -> None:
    found = two_versions("a", "b")
    answer = operator.get(f"/admin/ingestion/document/{found.pk}/difference/?before={number}&after=1")
    assert answer.status_code == 404


@pytest.mark.django_db
def test_texts_are_shown_to_callers_only() -> None:
    found = two_versions("a", "b")
    path = f"/admin/ingestion/document/{found.pk}/difference/?before=1&after=2"
    assert signed_in("nobody").get(path).status_code == 403
    assert signed_in("mei", "upload").get(path).status_code == 200


def rebuilt(old: list[str], new: list[str], edits: list[differences.Edit]) -> tuple[list[str], list[str]]:
    """The two texts that a script tells of."""
    before = [old[x] for kind, x, _ in edits if kind != "new"]
    after = [new[y] for kind, _, y in edits if kind != "gone"]
    return before, after


texts = st.lists(st.sampled_from("abcd"), max_size=25)


@given(texts, texts)
@settings(max_examples=150, deadline=None)
def test_a_script_tells_both_texts_and_pairs_only_equal_lines(old: list[str], new: list[str]) -> None:
    edits = script(old, new, 100)
    assert edits is not None
    assert rebuilt(old, new, edits) == (old, new)
    assert all(old[x] == new[y] for kind, x, y in edits if kind == "same")
    changes = sum(kind != "same" for kind, _, _ in edits)
    assert changes == len(old) + len(new) - 2 * longest_common(old, new)


def longest_common(old: list[str], new: list[str]) -> int:
    """The length of the longest common subsequence, by the book."""
    row = [0] * (len(new) + 1)
    for one in old:
        above, row = row, [0]
        for place, other in enumerate(new):
            row.append(above[place] + 1 if one == other else max(row[-1], above[place + 1]))
    return row[-1]


@given(st.text(alphabet="ab \n", max_size=80), st.text(alphabet="ab \n", max_size=80))
@settings(max_examples=100, deadline=None)
def test_the_rows_hold_every_change_of_both_texts(before: str, after: str) -> None:
    found = compare(before, after)
    for kind, text, count in (("gone", before, found.gone), ("new", after, found.new)):
        lines = text.split("\n")
        shown = [row for row in found.rows if row.kind == kind]
        assert len(shown) == count
        assert all(lines[place_of(row) - 1] == "".join(part.text for part in row.parts) for row in shown)
    assert found.is_equal == (before == after)


def place_of(row: Row) -> int:
    return row.before or row.after or 0


def test_texts_that_differ_throughout_are_shown_as_replaced_and_cut() -> None:
    old, new = ("\n".join(f"{side} {number}" for number in range(50_000)) for side in ("old", "new"))
    found = compare(f"{old}\nend", f"{new}\nend")
    assert (found.is_exact, found.is_cut, found.gone, found.new) == (False, True, 50_000, 50_000)
    assert len(found.rows) == differences.ROWS_MAX


def test_long_lines_are_cut() -> None:
    found = compare("a" * 100_000, "b" * 100_000)
    assert max(len(part.text) for row in found.rows for part in row.parts) <= differences.LINE_CHARACTERS_MAX + 1
