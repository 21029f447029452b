"""Why a launch ends before a person wanted it to."""

# The exit code of `preparing` that says: nothing was touched, the settings that its lines name are wrong.
REFUSED = 3


class CannotLaunch(Exception):
    """Something is missing or taken; the text is one line for a person. The exit code is 1."""


class StopRequested(Exception):
    """Ctrl-C or SIGTERM: stop everything in order. The exit code is 0."""


class ChildDied(Exception):
    """A process that should run on has ended; the text quotes its last lines. The exit code is 1."""
