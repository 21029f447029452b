"""Chooses where chunks begin among the pieces of a section, from the words alone (content-defined chunking).

A piece begins a chunk when the hash of its words is the least of all pieces within a window to both sides. That is
decided by what stands near it, so an edit can't move a boundary further away than the window, in a section of any
length. What lies between two such pieces is a chunk, or is cut evenly where it is above the limit.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise


def chunk_starts(words: Sequence[str], weights: Sequence[int], *, window: int, limit: int) -> Iterator[int]:
    """Yield the indices of the pieces that begin a chunk; the first is 0, and no chunk weighs more than `limit`.

    A single piece above the limit stays alone.
    """
    offsets = [0, *accumulate(weights)]
    anchors = _spaced(_least(words, offsets, window), offsets, window)
    for first, last in pairwise([*anchors, len(weights)]):
        yield first
        if offsets[last] - offsets[first] > limit:
            yield from _even_cuts(offsets, first, last, limit)


def _least(words: Sequence[str], offsets: Sequence[int], window: int) -> Iterator[int]:
    """The pieces whose hash is the least within the window on both sides; equals count, so repeats stay in step."""
    hashes = [hashlib.blake2b(piece.strip().encode(), digest_size=8).digest() for piece in words]
    nearby: deque[int] = deque()
    coming = 0
    for at, own in enumerate(hashes):
        while coming < len(hashes) and offsets[coming] - offsets[at] <= window:
            while nearby and hashes[nearby[-1]] > hashes[coming]:
                nearby.pop()
            nearby.append(coming)
            coming += 1
        while offsets[at] - offsets[nearby[0]] > window:
            nearby.popleft()
        if hashes[nearby[0]] == own:
            yield at


def _spaced(anchors: Iterator[int], offsets: Sequence[int], window: int) -> Iterator[int]:
    """The anchors at least a window behind the one before, which only repeats are not, and clear of both ends."""
    last = 0
    yield last
    for anchor in anchors:
        is_clear = offsets[-1] - offsets[anchor] >= window // 2
        if offsets[anchor] - offsets[last] >= window and is_clear:
            yield anchor
            last = anchor


def _even_cuts(offsets: Sequence[int], first: int, last: int, limit: int) -> Iterator[int]:
    begin = first
    for at in range(first + 1, last):
        if offsets[at + 1] - offsets[begin] > limit or _is_share_full(offsets, begin, at, last, limit):
            yield at
            begin = at


def _is_share_full(offsets: Sequence[int], begin: int, at: int, last: int, limit: int) -> bool:
    rest = offsets[last] - offsets[begin]
    shares = -(-rest // limit)
    # Half of the next piece decides on which side it leaves the shares more even.
    return shares > 1 and (offsets[at] + offsets[at + 1]) / 2 - offsets[begin] > rest / shares
