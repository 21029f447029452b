"""Text to chunks: the one function that the pipeline calls. Pure; the same text gives the same chunks anywhere.

Every heading begins a chunk. Sections under a fifth of the limit share chunks with their neighbours under the same
parent, and a heading without text goes with what follows. Inside a section `boundaries` decides. A chunk is never
longer than the limits, save for what can't be helped: a word with more than 60 blanks behind it, which are not
embedded.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ingestion.pipeline.chunking.blocks import markdown_blocks, plain_blocks
from ingestion.pipeline.chunking.boundaries import chunk_starts
from ingestion.pipeline.chunking.front_matter import front_matter_end
from ingestion.pipeline.chunking.limits import Limits, limits_behind
from ingestion.pipeline.chunking.pieces import Piece, pieces_of
from ingestion.pipeline.chunking.prefixes import path_prefix, prefix_tokens, table_prefix
from ingestion.pipeline.chunking.sections import Section, sections_of
from ingestion.pipeline.chunking.spans import ChunkSpan, embedded_text
from ingestion.pipeline.tokens import count_tokens, most_tokens


def chunk_text(text: str, *, media_type: str, max_characters: int = 1000, max_tokens: int = 480) -> list[ChunkSpan]:
    """The chunks of a normalised text: contiguous from the end of the front matter to the end, none of them blank.

    No embedded text has more than `max_tokens` tokens (cl100k_base), and no slice is longer than `max_characters` code
    points unless it has a run of over 60 blanks, which can't be a chunk and counts as one. No words, no chunks.
    """
    if max_characters < 1 or max_tokens < 1:
        raise ValueError("max_characters and max_tokens must be at least 1")
    is_plain = media_type == "text/plain"
    start = 0 if is_plain else front_matter_end(text)
    if not text[start:].strip():
        return []
    blocks = plain_blocks(text, start) if is_plain else markdown_blocks(text, start)
    limits = Limits(max_characters, max_tokens)
    groups = _groups(text, sections_of(text, blocks), limits)
    spans = (span for group in groups for span in _group_spans(text, group, limits))
    return [
        ChunkSpan(position, span.start, span.end, span.heading_path, span.embedding_prefix)
        for position, span in enumerate(spans)
    ]


def _groups(text: str, sections: Iterable[Section], limits: Limits) -> Iterator[list[Section]]:
    """Gather tiny neighbours; a larger section stands alone, behind the headings without text that lead to it."""
    run: list[Section] = []
    for section in sections:
        if limits.weigh(text[section.start : section.end]) > limits.tiny:
            leading = _leading_headings(run, limits)
            if run[: len(run) - leading]:
                yield run[: len(run) - leading]
            yield [*run[len(run) - leading :], section]
            run = []
            continue
        if run and not (run[-1].is_bare or run[-1].path[:-1] == section.path[:-1]):
            yield run
            run = []
        run.append(section)
    if run:
        yield run


def _leading_headings(run: Sequence[Section], limits: Limits) -> int:
    """How many headings without text stand at the end of the run, as far as they are tiny together."""
    count = 0
    while count < len(run) and run[-1 - count].is_bare and run[-1].end - run[-1 - count].start <= limits.tiny:
        count += 1
    return count


def _group_spans(text: str, group: list[Section], limits: Limits) -> Iterator[ChunkSpan]:
    paths = {section.path for section in group}
    taken = max(prefix_tokens(path, limits.max_tokens) for path in paths)
    limits = limits_behind(limits, taken)
    pieces = pieces_of(text, group, limits)
    words = [text[piece.start : piece.end] for piece in pieces]
    weights = [piece.weight for piece in pieces]
    starts = chunk_starts(words, weights, window=limits.window, limit=limits.max_characters)
    for first, last in pairwise([*starts, len(pieces)]):
        yield from _fitted(text, pieces[first:last], limits)


def _fitted(text: str, pieces: Sequence[Piece], limits: Limits) -> Iterator[ChunkSpan]:
    """One chunk of the pieces; two where joining them or the table's head took more tokens than their sum."""
    head = pieces[0].table_head
    prefix = path_prefix(pieces[0].path, limits.max_tokens)
    span = ChunkSpan(0, pieces[0].start, pieces[-1].end, pieces[0].path, prefix)
    if head is not None:
        prefix += table_prefix(text, head, limits.max_tokens)
        with_head = ChunkSpan(0, span.start, span.end, span.heading_path, prefix)
        if _fits(text, with_head, limits):
            yield with_head
            return
    if len(pieces) == 1 or (head is None and _fits(text, span, limits)):
        yield span
        return
    middle = len(pieces) // 2
    yield from _fitted(text, pieces[:middle], limits)
    yield from _fitted(text, pieces[middle:], limits)


def _fits(text: str, span: ChunkSpan, limits: Limits) -> bool:
    embedded = embedded_text(text, span)
    return most_tokens(embedded) <= limits.max_tokens or count_tokens(embedded) <= limits.max_tokens
