"""The figures of search: ratios are taken pass by pass, and a missed target is called missed."""

from typing import Any

from loadtests import evaluation, search_speed

KINDS = ("statement", "nearest", "function", "http", "http, new")


def seen(**times: list[list[float]]) -> dict[str, Any]:
    """Passes in which every kind takes ten milliseconds, unless told otherwise."""
    rows = [
        {"pass": number, "kind": kind, "ms": times.get(kind, [[10.0] * 4] * 3)[number]}
        for number in range(3)
        for kind in KINDS
    ]
    return {"passes": rows, "recall_vectors": 0.995, "recall_search": 0.98}


def by_name(found: dict[str, Any]) -> dict[str, Any]:
    return {one.name: one for one in search_speed.figures(found)}


def test_the_ratio_is_the_median_of_the_ratios_of_the_passes() -> None:
    # The second pass was disturbed as a whole: its ratio is that of the others.
    found = by_name(seen(statement=[[8.0], [80.0], [8.0]], function=[[10.0], [100.0], [10.0]]))
    ratio = found["search function over bare SQL"]
    assert (ratio.value, ratio.reached) == (0.8, True)
    assert found["bare SQL, one client"].value == 125


def test_a_slow_tail_and_a_low_recall_miss_their_targets() -> None:
    found = by_name(seen(http=[[1.0] * 9 + [90.0]] * 3))
    assert found["search over HTTP, vectors saved, p95"].reached is False
    assert found["search function, p95"].reached is True
    assert found["recall of the first ten by vectors alone"].reached is True
    assert found["recall of the first ten of search"].reached is False


def test_the_evaluation_puts_the_baseline_beside() -> None:
    ranking = {"hit_at_1": 0.5, "hit_at_5": 0.9, "mrr": 0.7}
    numbers = {"search": ranking, "vectors_only": ranking | {"hit_at_1": 0.4}, "answers": {"citation_precision": 0.6}}
    found = {one.name: one.value for one in evaluation.figures("harder", numbers)}
    assert found["harder: hit@1 of search"] == 0.5
    assert found["harder: hit@1 of vectors alone"] == 0.4
    assert found["harder: citation precision"] == 0.6
    assert "harder: abstained where it should" not in found
