"""The languages whose words are known: PostgreSQL's own text search configurations, by their names."""

# House language: what a text is taken for that shows no other.
ENGLISH = "english"
LANGUAGES = (
    ENGLISH,
    "danish",
    "dutch",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "turkish",
)
