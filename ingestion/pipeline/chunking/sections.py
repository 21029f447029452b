"""Gathers blocks into sections under their heading paths. Knows headings; weighs nothing and cuts nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingestion.pipeline.chunking.blocks import Block
from ingestion.pipeline.chunking.titles import clean_title


@dataclass(slots=True)
class Section:
    """A heading with the blocks up to the next one; the first section of a text may have no heading."""

    path: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list)

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def end(self) -> int:
        return self.blocks[-1].end

    @property
    def is_bare(self) -> bool:
        """Whether the section is a heading without text."""
        return len(self.blocks) == 1 and self.blocks[0].kind == "heading"


def sections_of(text: str, blocks: Iterable[Block]) -> Iterator[Section]:
    """Yield the sections of the blocks in order; each path ends with the section's own heading."""
    trail: list[tuple[int, str]] = []
    section = Section(())
    for block in blocks:
        if block.kind == "heading":
            if section.blocks:
                yield section
            trail = [(level, title) for level, title in trail if level < block.level]
            trail.append((block.level, title_of(text, block)))
            section = Section(tuple(title for _, title in trail if title))
        section.blocks.append(block)
    if section.blocks:
        yield section


def title_of(text: str, heading: Block) -> str:
    """The words of a heading block."""
    source = text[heading.start : heading.title_end].lstrip("\n")
    return clean_title(source, is_atx=source.lstrip().startswith("#") and "\n" not in source.strip())
