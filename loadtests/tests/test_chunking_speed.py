"""The page of the formats shows the newest record of the chunking's speed, and no other figures."""

import json

from loadtests import chunking_speed


def test_the_page_has_the_table_of_the_newest_record() -> None:
    newest = max(chunking_speed.RESULTS.glob("*/summary.json"))
    first, last = chunking_speed.EDGES
    shown = chunking_speed.PAGE.read_text().partition(first)[2].partition(last)[0]
    assert shown.strip() == chunking_speed.table(json.loads(newest.read_text()))


def test_one_slow_kind_misses_the_goal() -> None:
    figures = {"prose": {"larkfield": 21.0, "tiktoken": 30.0}, "lists": {"larkfield": 19.9, "tiktoken": 30.0}}
    table = chunking_speed.table({"megabytes_a_second": figures, "load_average": [1.0, 1.0, 1.0]})
    assert "| lists | 19.9 | 30 |" in table
    assert "**missed**" in table
