"""The ``standoff`` command."""

import signal
import sys

from ._standoff import command


def main() -> None:
    """Runs the command with the arguments of this process."""
    # Ctrl-C is left to the command, which ends a run after its step and everything else at once
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command(["standoff", *sys.argv[1:]]))
