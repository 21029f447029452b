"""Words are matched by the rules of the language that a document is written in, whatever language the question has."""

import pytest

from assistant import search
from assistant.tests import publishing
from assistant.tests.conftest import Asking
from ingestion.models import Chunk
from ingestion.pipeline import languages

pytestmark = pytest.mark.django_db

RUECKGABE = """\
# Rückgabe

Kundinnen und Kunden können die Ware innerhalb von 30 Tagen zurückgeben. Die Frist beginnt am Tag nach der Lieferung
und endet nicht an einem Sonntag. Für die Rücksendung wird ein Paketschein erstellt.
"""
GUTSCHEINE = """\
# Geschenkgutscheine

Ein Geschenkgutschein ist drei Jahre gültig. Er wird in den Häusern der Filialen und im Netz eingelöst und kann nicht
gegen Bargeld getauscht werden.
"""
LIEFERUNG = """\
# Lieferung

Die Lieferung dauert zwei bis vier Werktage. Größere Möbel bringt eine Spedition, die vorher einen Termin vereinbart.
"""
LIVRAISON = """\
# Livraison

Les meubles sont livrés en deux à quatre jours ouvrés. Le transporteur prend rendez-vous avec les clients avant la
livraison, et il ne livre pas le dimanche.
"""


@pytest.fixture
def shelf(asking: Asking) -> Asking:
    for slug, text in (
        ("rueckgabe", RUECKGABE), ("gutscheine", GUTSCHEINE), ("lieferung", LIEFERUNG), ("livraison", LIVRAISON),
    ):  # fmt: skip
        publishing.publish(slug, text)
    return asking


def by_words(question: str) -> list[tuple[str, float]]:
    """What is found by words alone, the best first, with its score."""
    found = search.find(question, limit=10, word_share=1.0).passages
    return [(one.document, one.score) for one in found if one.score > 0]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (RUECKGABE, "german"),
        (LIEFERUNG, "german"),
        (LIVRAISON, "french"),
        ("El cliente puede devolver el artículo en los treinta días y no tiene que decir por qué.", "spanish"),
        ("De klant kan het artikel binnen dertig dagen terugsturen, en hij hoeft niet te zeggen waarom.", "dutch"),
        ("The customer can return the article within thirty days, and need not say why.", "english"),
        ("| Kind | Period |\n|---|---|\n| Phones | 14 days |\n", "english"),
        ("42", "english"),
        ("退货期限为三十天。", "english"),
        ("", "english"),
    ],
)
def test_the_language_of_a_text_is_told_by_its_stop_words(text: str, language: str) -> None:
    assert languages.detect(text) == language


def test_a_long_text_is_judged_by_its_middle_too() -> None:
    table = "| Kundennummer | Betrag |\n" * 120
    assert languages.detect(table + "The customer has to pay it within the month that follows. " * 300) == "english"
    assert languages.detect(table + RUECKGABE * 40) == "german"


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Welche Fristen gelten, wenn ein Kunde Waren zurückgibt?", "rueckgabe"),  # Frist, Ware: inflected
        ("Wann werden größere Möbelstücke von Speditionen gebracht?", "lieferung"),
        ("In welchem Haus werden sie eingelöst?", "gutscheine"),  # Häuser
        ("Groessere Moebel", "lieferung"),  # typed without umlauts
        ("Quels jours les transporteurs livrent-ils un meuble ?", "livraison"),
    ],
)
def test_an_inflected_question_finds_the_document_of_its_language(shelf: Asking, question: str, document: str) -> None:
    assert by_words(question)[0][0] == document


def test_english_documents_are_found_by_english_rules_beside_the_others(shelf: Asking) -> None:
    assert by_words("validity of gift cards")[0][0] == "gift-cards"
    # "die" says nothing in German and is a word of its own in English: no German text is found by it.
    assert by_words("die") == []


def test_an_inflected_word_is_not_found_by_the_rules_of_another_language(shelf: Asking) -> None:
    """The control: as English text, the German document is not found by the inflected word."""
    assert by_words("Werktagen")[0][0] == "lieferung"
    Chunk.objects.filter(language="german").update(language="english")
    assert by_words("Werktagen") == []
