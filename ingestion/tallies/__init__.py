"""History counted once, in small steps, into counters that only grow. No request and no settlement pays for it."""

from ingestion.tallies.counting import count
from ingestion.tallies.reading import Histogram, read_counters, read_histograms

__all__ = ["Histogram", "count", "read_counters", "read_histograms"]
