"""How large a chunk may be, and how large a piece of text counts: characters and tokens as one number.

The weight of a piece is its characters, or its tokens scaled to the same limit where they are denser (CJK, emoji,
minified code). So one limit, one window and one sum serve both.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from ingestion.pipeline.chunking.spans import squeeze
from ingestion.pipeline.tokens import count_tokens, most_tokens

# Tokens that joining pieces may add to their sum; a chunk is counted once more as a whole anyway.
_SLACK_TOKENS = 8


@dataclass(frozen=True)
class Limits:
    """The limits of one section's chunks; `max_tokens` counts the prefix in, `tokens` is what it leaves."""

    max_characters: int
    max_tokens: int
    prefix_tokens: int = 0

    @cached_property
    def tokens(self) -> int:
        """The tokens that are left for the slice."""
        left = self.max_tokens - self.prefix_tokens
        return max(left - min(_SLACK_TOKENS, left // 4), 1)

    @cached_property
    def window(self) -> int:
        """How far a boundary looks around itself: 0.28 makes chunks of 400 to 900 characters out of paragraphs."""
        return self.max_characters * 28 // 100

    @cached_property
    def tiny(self) -> int:
        """Below this weight neighbouring sections share a chunk: at 200 characters a heading outweighs its text."""
        return self.max_characters // 5

    @cached_property
    def piece_characters(self) -> int:
        """The longest piece of a word that is longer than a chunk."""
        return max(self.max_characters // 4, 1)

    @cached_property
    def piece_bytes(self) -> int:
        """The same in UTF-8 bytes, of which every token has at least one."""
        return max(self.tokens // 2, 1)

    def weigh(self, piece: str) -> int:
        """The weight of a piece; above `max_characters` when it fits no chunk."""
        length = len(piece)
        if length > self.max_characters or most_tokens(piece) * self.max_characters <= length * self.tokens:
            return length
        tokens = count_tokens(squeeze(piece))
        return max(length, -(-tokens * self.max_characters // self.tokens))


@lru_cache(maxsize=512)
def limits_behind(limits: Limits, prefix_tokens: int) -> Limits:
    """The same limits where so many tokens are taken by a prefix."""
    return Limits(limits.max_characters, limits.max_tokens, prefix_tokens)
