"""What a person sees of the launch. Colours on a terminal, plain lines elsewhere; never a secret."""

import contextlib
import time

from rich.console import Console


class Speaker:
    """Writes lines, each step with the seconds since the launch began."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._began = time.monotonic()

    def elapsed_seconds(self) -> float:
        return time.monotonic() - self._began

    def step(self, name: str, outcome: str) -> None:
        """One thing that is done now."""
        self._print(f"{self.elapsed_seconds():5.1f} s  {name:<12} {outcome}", "none")

    def line(self, text: str = "") -> None:
        self._print(text, "none")

    def heading(self, text: str) -> None:
        self._print(f"\n{text}", "bold")

    def fault(self, text: str) -> None:
        self._print(text, "bold red")

    def _print(self, text: str, style: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal must not keep us from stopping the rest
            self._console.print(text, style=style, markup=False)
