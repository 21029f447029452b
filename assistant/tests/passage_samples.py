"""Passages for the pure tests: made by hand, so that each test reads on its own."""

from assistant.passages import Passage

RETURNS = """\
A customer has **30 days** to return an item bought online or in a store. The count starts on the day
after delivery. It is enough to tell us within the period.

- In a store: free.
- By parcel: €3.90 for each return.

| Product group | Period |
|---|---|
| Electronics (phones, tablets) | 14 days |
| Mattresses | 100 nights |
"""
REFUNDS = "Money is sent back within 5 working days after the parcel has been checked. Gift cards are filled again."


def passage(text: str, *, document: str = "returns", start: int = 0, position: int = 0, prefix: str = "") -> Passage:
    """A passage of version 3 whose title is the document's name."""
    title = document.capitalize()
    return Passage(document, title, 3, position, (title, "Periods"), start, start + len(text), text, prefix, 50, 0.03)


SUPPLIED = [passage(RETURNS, start=120), passage(REFUNDS, document="refunds", start=40)]
