"""What every command shows of itself: an example, its exit codes, `--json` where a program may read along.

Commands stay thin: arguments in, one call, one closing line. No rule of the business lives here.
"""

import json
from argparse import ArgumentParser
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter

DONE, FAILED, USAGE = 0, 1, 2
# What a shell shows after Ctrl-C.
INTERRUPTED = 130


class UsageError(CommandError):
    """The command was asked for something that it can't do; nothing was begun. Ends with USAGE, as argparse does."""

    def __init__(self, words: str) -> None:
        super().__init__(words, returncode=USAGE)


class _Formatter(DjangoHelpFormatter):
    """Keeps the lines of what stands below the options; the description is wrapped as ever."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("Example:") else super()._fill_text(text, width, indent)


class ShellCommand(BaseCommand):
    """`--help` ends with `example` and the exit codes; `json_help` adds `--json` and says what it prints."""

    example: ClassVar[str]
    # Of this command alone: what 0 and 1 mean. USAGE is the same for all.
    exit_codes: ClassVar[dict[int, str]]
    json_help: ClassVar[str] = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("epilog", self._epilog())
        kwargs.setdefault("formatter_class", _Formatter)
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self.json_help:
            add_json(parser, self.json_help)
        return parser

    def _epilog(self) -> str:
        codes = {**self.exit_codes, USAGE: "the arguments make no sense"}
        lines = [f"  {code:<4} {words}" for code, words in sorted(codes.items())]
        return "\n".join([f"Example: {self.example}", "", "Exit codes:", *lines])

    def print_json(self, found: object) -> None:
        """One JSON object, on one line of standard output."""
        self.stdout.write(json.dumps(found, ensure_ascii=False))
        self.stdout.flush()


def add_json(parser: ArgumentParser, words: str) -> None:
    """`--json`, whose help says what is printed."""
    parser.add_argument("--json", action="store_true", help=words)
