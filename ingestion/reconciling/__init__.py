"""The invariants of the product as queries on the live data. Reads only; nothing is mended here.

Everything holds while workers run: each rule asks only about what one commit leaves behind.
"""

from ingestion.reconciling.checking import check_all
from ingestion.reconciling.rules import SHOWN_MAX, Finding, Rule

__all__ = ["SHOWN_MAX", "Finding", "Rule", "check_all"]
