"""The order of a launch, from the free port to the last process stopped."""

import os
from pathlib import Path

from larkfield import embedded
from larkfield.launch import environment
from larkfield.launch.errors import CannotLaunch, ChildDied, StopRequested
from larkfield.launch.showing import load_corpus, show_addresses, show_answer
from larkfield.launch.speaking import Speaker
from larkfield.launch.starting import Launch

ROOT = Path(__file__).resolve().parents[2]


def serve(this: Launch) -> None:
    """Never returns: ends by StopRequested or ChildDied."""
    while True:
        this.pause(0.2)


def go(this: Launch) -> None:
    """All steps; ends by an exception of `errors`."""
    this.stopping.listen()
    this.check_given()
    this.say.heading("Larkfield")
    this.start_simulator()
    this.start_servers()
    this.attend()
    demo = this.prepare()
    environment.write_addresses(this.var, this.port, this.environment["PROVIDER_BASE_URL"])
    this.start_product()
    load_corpus(this, demo)
    show_answer(this, demo)
    show_addresses(this, demo)
    serve(this)


def stop(this: Launch) -> None:
    """Nothing that this launch has started runs."""
    names = this.children.stop_all()
    environment.remove_addresses(this.var)
    servers_stopped = embedded.leave(this.var)
    for name in names:
        this.say.step(name, "stopped")
    if not servers_stopped:
        this.say.fault("an embedded server is still stopping")


def launch(this: Launch) -> int:
    """Runs until something ends it, stops everything, returns the exit code."""
    code = 1
    try:
        go(this)
    except StopRequested:
        this.say.line("\nStopping; Ctrl-C again ends at once.")
        code = 0
    except (CannotLaunch, ChildDied, embedded.EmbeddedUnavailable, OSError) as error:
        this.say.fault(str(error))
    finally:
        this.stopping.requested = True  # from here on a signal means: at once
        stop(this)
    return code


def main() -> int:
    return launch(Launch(ROOT, os.environ, Speaker()))
