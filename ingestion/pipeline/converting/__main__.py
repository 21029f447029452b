"""The converter's program: one file on standard input, its Markdown on standard output, then the end.

`python -m ingestion.pipeline.converting MEDIA_TYPE PARENT_PID SECONDS MEMORY_MIB TEXT_MAX_BYTES`.
Exit code 0: the text. Exit code REFUSED: a code and, behind a line end, a sentence. Else it broke down or was stopped.
"""

import ctypes
import os
import resource
import signal
import sys

from ingestion.pipeline.converting.refusals import Refused, broken, too_much

REFUSED = 3
ORPHANED = 4
# From <sys/prctl.h>: the signal that comes when the parent ends.
_SET_PARENT_DEATH_SIGNAL = 1
# The program stops itself a little later than its parent would.
_GRACE_SECONDS = 5


def limit(parent: int, seconds: int, memory_mib: int, text_max_bytes: int) -> None:
    """This process can't outlive its parent nor take more than it may, whatever a library does with a hostile file."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        # It ended before its end was to be announced.
        sys.exit(ORPHANED)
    signal.alarm(seconds + _GRACE_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory_mib * 1_048_576, memory_mib * 1_048_576))
    resource.setrlimit(resource.RLIMIT_FSIZE, (text_max_bytes, text_max_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def convert(content: bytes, media_type: str, text_max_bytes: int) -> str:
    """The Markdown of the file. Raises Refused."""
    # Each library is imported only where it is needed: a process lives for one file.
    if media_type == "text/html":
        from ingestion.pipeline.converting.web_pages import page_to_markdown

        return page_to_markdown(content.decode("utf-8"), text_max_bytes)
    if media_type == "application/pdf":
        from ingestion.pipeline.converting.pdf_files import pdf_to_markdown

        return pdf_to_markdown(content, text_max_bytes)
    from ingestion.pipeline.converting.word_files import word_to_markdown

    return word_to_markdown(content, text_max_bytes)


def _answer(content: bytes, media_type: str, text_max_bytes: int) -> tuple[int, bytes]:
    try:
        text = convert(content, media_type, text_max_bytes).encode("utf-8", errors="replace")
        if len(text) > text_max_bytes:
            raise too_much(f"The file holds more than {text_max_bytes} bytes of text. Split it.")
    except MemoryError:
        refused = too_much("Reading the file takes more memory than one document may. Split or simplify it.")
    except RecursionError:
        refused = too_much("The file is nested deeper than any reader follows.")
    except Refused as error:
        refused = error
    except Exception as error:
        # The library's own words: whatever it stumbles over lies in the file.
        refused = broken(
            f"The file is damaged or of a kind that can't be read ({type(error).__name__}: {error!s:.200})."
        )
    else:
        return 0, text
    return REFUSED, f"{refused.code}\n{refused.detail}".encode("utf-8", errors="replace")


def main() -> int:
    media_type, parent, seconds, memory_mib, text_max_bytes = sys.argv[1], *map(int, sys.argv[2:6])
    limit(parent, seconds, memory_mib, text_max_bytes)
    code, answer = _answer(sys.stdin.buffer.read(), media_type, text_max_bytes)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
