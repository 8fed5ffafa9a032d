"""The ``standoff`` command."""

import signal
import sys

from ._standoff import command


def main() -> None:
    """Runs the command with the arguments of this process."""
    # Ctrl-C ends the process at once, as that of the program does; a run can be resumed anyhow
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command(["standoff", *sys.argv[1:]]))
