"""`python -m loadtests.run SCENARIO [--passes N] [--set KEY=VALUE] [--short]`: one scenario, or one comparison.

Each pass starts an installation of its own on loopback and leaves loadtests/results/SCENARIO/CONFIGURATION/pass-N/.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loadtests import loopback, passes
from loadtests.faults_product import ROOT
from loadtests.plan import COMPARISONS, SCENARIOS, Plan
from loadtests.recording import RESULTS, say

# Where short runs lie: they show that everything works and are no evidence.
SHORT_RESULTS = ROOT / "var" / "short-runs"
COMPARE = "compare-"


class WrongSetting(Exception):
    """A --set that no setting of the product and no variable of the scenario has."""


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    known = [*SCENARIOS, *(COMPARE + name for name in COMPARISONS)]
    parser = argparse.ArgumentParser(
        prog="loadtests.run",
        description="Runs a scenario or a comparison against an installation of its own on this machine.",
        epilog="Examples: python -m loadtests.run burst --passes 3; "
        "python -m loadtests.run overload --set DOCUMENTS_QUEUE_MAX=20; python -m loadtests.run compare-workers",
    )
    parser.add_argument("scenario", choices=known)
    parser.add_argument("--passes", type=int, help="how many (default: what the plan says)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes",
                        help="a setting of the product, a variable of the scenario, or WORKERS")  # fmt: skip
    parser.add_argument("--short", action="store_true", help="a few seconds and one pass, kept apart from the evidence")
    parser.add_argument("--resume", action="store_true", help="skip passes that are recorded for this code")
    parser.add_argument("--out", type=Path, help="folder of the results")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: run; 1: an invariant is broken; 2: it was not begun."""
    given = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        plans = [changed(plan, given.changes) for plan in plans_of(given.scenario)]
        for plan in plans:
            loopback.demand(plan.settings)
    except (WrongSetting, loopback.NotLoopback) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if given.passes is not None:
        plans = [replace(plan, passes=max(1, given.passes)) for plan in plans]
    if given.short:
        plans = [plan.short() for plan in plans]
    folder = (given.out or (SHORT_RESULTS if given.short else RESULTS)) / given.scenario
    say(f"{given.scenario}: {', '.join(plan.configuration for plan in plans)}")
    return 1 if passes.run(plans, folder, is_short=given.short, is_resuming=given.resume) else 0


def plans_of(scenario: str) -> list[Plan]:
    """The configurations of a scenario or a comparison."""
    if scenario.startswith(COMPARE):
        return list(COMPARISONS[scenario.removeprefix(COMPARE)].pair)
    return [SCENARIOS[scenario]]


def changed(plan: Plan, changes: Sequence[str]) -> Plan:
    """The plan with the changes, under a name that says them. WrongSetting for what is not known."""
    for change in changes:
        name, _, value = change.partition("=")
        if name == "WORKERS" and value.isdecimal():
            plan = replace(plan, workers=int(value))
        elif name in plan.variables and value.isdecimal():
            plan = replace(plan, variables={**plan.variables, name: int(value)})
        elif name in product_settings() and value:
            plan = replace(plan, settings={**plan.settings, name: value})
        else:
            raise WrongSetting(
                f"{change}: WORKERS, {', '.join(plan.variables)} and the variables of .env.example can be set."
            )
    return replace(plan, configuration="+".join([plan.configuration, *changes])) if changes else plan


def product_settings() -> set[str]:
    """The names of .env.example."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    return {line.partition("=")[0] for line in lines if "=" in line and not line.startswith("#")}


if __name__ == "__main__":
    sys.exit(main())
