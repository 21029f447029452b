"""The levers of the engine, each with its figure before and after: recorded where no switch can bring the old way back.

All were measured on one machine of two cores that other work shared; read the ratios, not the numbers.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lever:
    """`before` and `after` in `unit`; `how` says what was measured and against what."""

    name: str
    before: float
    after: float
    unit: str
    how: str


LEVERS = (
    Lever(
        "answer.rated applied and settled, many in one transaction", 183, 7_095, "jobs a second",
        "one worker process, 16 partitions, 20,000 jobs, one pass; before: 1,500 jobs, 183 to 224 in three passes",
    ),
    Lever(
        "admission of an event as a function of the database", 0.727, 0.299, "ms",
        "one statement on one connection, its commit not waited for",
    ),
    Lever(
        "WAL of a claim of 800, without the indexes on sequence and lease", 8_002, 7_179, "records",
        "EXPLAIN (ANALYZE, WAL), 16 partitions; bytes differ more, but by full pages, which depend on the checkpoint",
    ),
    Lever(
        "WAL of settling 200 together, without these two indexes", 127_446, 99_512, "bytes",
        "EXPLAIN (ANALYZE, WAL)",
    ),
    Lever(
        "an upload's rows in one function, the provider's limits known for a second", 5.9, 2.6, "ms of the API's CPU",
        "8 KB of Markdown, in process; after: 2.5 to 3.1 in three passes, at higher loads of the machine",
    ),
)  # fmt: skip
