"""Which language a text is written in, by the stop words that PostgreSQL's own rules would leave out of it.

No library and no model: the same rules that will index the words decide, and what they can't tell apart (Danish from
Norwegian, in a short text) is stemmed nearly alike.
"""

from django.db import connection

from ingestion.models.languages import ENGLISH, LANGUAGES

# Two slices of a long text: its beginning may be a table or a quotation in another language.
SAMPLE_CHARACTERS = 4_000
# In running text a third to a half of all words are stop words; lists and tables have few, other languages a tenth.
STOP_WORDS_LEAST, LEAD_LEAST = 0.2, 0.05

SHARES = """
WITH whole AS (
    SELECT coalesce(sum(cardinality(positions)), 0) AS words FROM unnest(to_tsvector('simple', %(text)s))
)
SELECT known.name, 1 - kept.words::float8 / greatest(1, whole.words)
FROM whole, unnest(%(languages)s::text[]) AS known(name), LATERAL (
    SELECT coalesce(sum(cardinality(positions)), 0) AS words FROM unnest(to_tsvector(known.name::regconfig, %(text)s))
) AS kept
"""


def detect(text: str) -> str:
    """The name of the text's language, one of LANGUAGES; English unless another one shows clearly."""
    with connection.cursor() as cursor:
        cursor.execute(SHARES, {"text": _sample(text), "languages": list(LANGUAGES)})
        shares: dict[str, float] = dict(cursor.fetchall())
    best = max(LANGUAGES, key=lambda name: shares[name])
    is_clear = shares[best] >= STOP_WORDS_LEAST and shares[best] >= shares[ENGLISH] + LEAD_LEAST
    return best if is_clear else ENGLISH


def _sample(text: str) -> str:
    if len(text) <= 2 * SAMPLE_CHARACTERS:
        return text
    middle = len(text) // 2
    return f"{text[:SAMPLE_CHARACTERS]}\n{text[middle : middle + SAMPLE_CHARACTERS]}"
