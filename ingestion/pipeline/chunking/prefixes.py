"""What is embedded in front of a chunk's own words: its heading path, and the head of the table that it continues."""

from functools import lru_cache

from ingestion.pipeline.chunking.spans import squeeze
from ingestion.pipeline.tokens import clip_tokens, count_tokens

# The part of a chunk's tokens that a path or a table's head may take: they explain the words, not replace them.
_PATH_SHARE = 6
_HEAD_SHARE = 4


@lru_cache(maxsize=256)
def path_prefix(path: tuple[str, ...], max_tokens: int) -> str:
    """The headings from the outermost to the own one on a line of their own, clipped to a sixth of the tokens."""
    if not path:
        return ""
    line = clip_tokens(" > ".join(path), max(max_tokens // _PATH_SHARE - 2, 0)).strip()
    return line + "\n\n" if line else ""


@lru_cache(maxsize=256)
def prefix_tokens(path: tuple[str, ...], max_tokens: int) -> int:
    """The tokens of a path's prefix."""
    return count_tokens(path_prefix(path, max_tokens))


def table_prefix(text: str, head: tuple[int, int], max_tokens: int) -> str:
    """The header row and the line of dashes of a table; nothing where they take over a quarter of the tokens."""
    rows = squeeze(text[head[0] : head[1]].strip("\n")) + "\n"
    # A head of more characters than that would only be counted in vain.
    is_long = len(rows) > max_tokens * 8 or count_tokens(rows) > max_tokens // _HEAD_SHARE
    return "" if is_long else rows
