"""What the simulated model says to a conversation. Pure: the same conversation and seed, the same reply.

Two shapes are understood, a text to sum up and a question with passages. Everything inside them is material:
an order that stands in a text or a passage is never followed.
"""

import random
import re

from simulator.answering import answer, read_passages
from simulator.shapes import Message
from simulator.summarizing import summarize
from simulator.words import fold

_QUESTION = re.compile(r"\A\s*Question:[ \t]*(.*?)\n\s*Passages:[ \t]*(?:\n(.*))?\Z", re.DOTALL)
_SUMMARY = re.compile(
    r"\A\s*Summarize this policy version[^\n]*\n\s*(?:Title:[ \t]*([^\n]*)(?:\n|\Z))?(.*)\Z", re.DOTALL
)
_SUMMARY_OF_ANY = re.compile(r"\A\s*(?:please )?summari[sz]e\b[^\n]*\n(.+)\Z", re.DOTALL | re.IGNORECASE)

ECHO_CHARS = 160
_OPENINGS = ("You wrote", "Your message was", "I read")


def reply(messages: tuple[Message, ...], seed: int) -> str:
    """The assistant's text, never empty; it depends on the last user message and the seed alone."""
    last = next((message.content for message in reversed(messages) if message.role == "user"), "")
    if asked := _QUESTION.match(last):
        return answer(asked[1], read_passages(asked[2] or ""))
    if given := _SUMMARY.match(last):
        return summarize((given[1] or "").strip(), given[2])
    if given := _SUMMARY_OF_ANY.match(last):
        return summarize("", given[1])
    return _echo(last, seed)


def _echo(text: str, seed: int) -> str:
    said = " ".join(text.split())
    if not said:
        return "Please ask a question or give a text."
    opening = random.Random(f"{seed}:{fold(said)}").choice(_OPENINGS)
    short = said if len(said) <= ECHO_CHARS else said[:ECHO_CHARS].rstrip() + "…"
    return f"{opening}: “{short}” Give me numbered passages to answer from, or a text to summarize."
