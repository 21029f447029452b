"""What one failure path's run says: its title, what was constructed, its counts, and what had to hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Shown:
    """One failure path. `constructed` names what would not happen by itself; empty: nothing was."""

    number: int
    title: str
    constructed: str = ""
    test: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    explanations: list[str] = field(default_factory=list)
    holds: dict[str, bool] = field(default_factory=dict)
    reconcile: dict[str, Any] = field(default_factory=dict)

    @property
    def is_demonstrated(self) -> bool:
        return bool(self.holds) and all(self.holds.values()) and not self.reconcile.get("broken")

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.number, "title": self.title, "constructed": self.constructed, "test": self.test,
            "settings": self.settings, "counts": self.counts, "explanations": self.explanations,
            "holds": self.holds, "is_demonstrated": self.is_demonstrated, "reconcile": self.reconcile,
        }  # fmt: skip


Path = Callable[[], Shown]
