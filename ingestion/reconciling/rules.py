"""What a rule is, and what was found of it."""

from dataclasses import dataclass

# A break is named by its ids; more than these would hide the other rules. The count is always exact.
SHOWN_MAX = 20


@dataclass(frozen=True)
class Rule:
    """`query` selects one column, the name of each row that breaks the rule; `sentence` says what holds.

    `invariant` is the number under which the rule is promised.
    """

    invariant: int
    name: str
    sentence: str
    query: str


@dataclass(frozen=True)
class Finding:
    """How many rows break the rule, and the names of the first of them."""

    invariant: int
    name: str
    sentence: str
    broken: int
    ids: list[str]

    @property
    def holds(self) -> bool:
        return self.broken == 0
