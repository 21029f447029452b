"""`python -m loadtests.bench.peers NAME prepare | fill N | work | trickle N`, in the peers' environment."""

import argparse
from importlib import import_module

from loadtests.bench.peers.program import Program, trickle


def main() -> None:
    parser = argparse.ArgumentParser(prog="loadtests.bench.peers")
    parser.add_argument("name")
    parser.add_argument("verb", choices=["prepare", "fill", "work", "trickle"])
    parser.add_argument("count", nargs="?", type=int, default=0)
    given = parser.parse_args()
    program: Program = import_module(f"loadtests.bench.peers.{given.name}").PROGRAM
    if given.verb == "prepare":
        program.prepare()
    elif given.verb == "fill":
        program.fill(given.count)
    elif given.verb == "work":
        program.work()
    else:
        with program.sending() as send:
            trickle(send, given.count)


if __name__ == "__main__":
    main()
