"""The command `python -m simulator`. Arguments in, one line out, then it serves until it is told to stop."""

import argparse
import sys
from collections.abc import Sequence

from simulator.app import build_app
from simulator.options import MODES, Options
from simulator.serving import build_server, listen


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line's values; an unknown or impossible one ends the process with 2 and a line that says why."""
    defaults = Options()
    parser = argparse.ArgumentParser(prog="simulator", description="A simulated AI provider on the OpenAI wire.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=9090, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--mode", choices=MODES, default=defaults.mode, help="how it behaves (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="of replies, times and chance")
    parser.add_argument(
        "--latency-scale", type=_scale, default=defaults.latency_scale, help="0 answers at once, 1 like a real one"
    )
    parser.add_argument("--chat-requests-per-minute", type=_limit, default=defaults.chat_requests_per_minute)
    parser.add_argument("--embedding-tokens-per-minute", type=_limit, default=defaults.embedding_tokens_per_minute)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until SIGTERM or Ctrl-C and returns 0; 1 where the address can't be listened on."""
    given = parse_arguments(arguments)
    options = Options(
        mode=given.mode,
        seed=given.seed,
        latency_scale=given.latency_scale,
        chat_requests_per_minute=given.chat_requests_per_minute,
        embedding_tokens_per_minute=given.embedding_tokens_per_minute,
    )
    try:
        listener = listen(given.host, given.port)
    except OSError as error:
        sys.stderr.write(f"simulator: cannot listen on {given.host}:{given.port}: {error.strerror}\n")
        return 1
    host = f"[{given.host}]" if ":" in given.host else given.host
    address = f"http://{host}:{listener.getsockname()[1]}/v1"
    sys.stdout.write(f"simulator listening on {address} (mode {options.mode}, seed {options.seed})\n")
    sys.stdout.flush()
    build_server(build_app(options)).run(sockets=[listener])
    return 0


def _port(text: str) -> int:
    return _number(text, 0, 65_535)


def _limit(text: str) -> int:
    return _number(text, 1, 1_000_000_000)


def _number(text: str, least: int, most: int) -> int:
    number = int(text)
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"must be from {least} to {most}")
    return number


def _scale(text: str) -> float:
    scale = float(text)
    if not 0 <= scale <= 1000:
        raise argparse.ArgumentTypeError("must be from 0 to 1000")
    return scale


if __name__ == "__main__":
    sys.exit(main())
