"""The command line: parse, call, print. Loading all it needs takes seconds, in which Ctrl-C must work too."""

import os
import signal
import sys

TYPE_CHECKING = False  # as far as Python is concerned; to import typing takes longer than everything here
if TYPE_CHECKING:
    from seqspan.cli.commands import app as app

__all__: list[str] = []

INTERRUPTED = 130  # exit status after Ctrl-C, as of shells
STOPPED = "stopped; unfinished results are as they were before"


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a job in the background ignores Ctrl-C
        signal.signal(signal.SIGINT, _leave)
    try:
        _run()
    except SystemExit as end:
        # if Ctrl-C came within exec(), which libraries call, Python would end itself by a signal all the same
        if end.code == INTERRUPTED:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise


def _run() -> None:
    """Run the command that the arguments name."""
    if sys.argv[1:] in ([], ["--help"], ["--version"]):
        from seqspan.cli.outline import make_outline

        make_outline()(prog_name="seqspan")
    else:
        from seqspan.cli.commands import app

        app(prog_name="seqspan")


def raise_interrupts() -> None:
    """From now on, Ctrl-C raises KeyboardInterrupt: a command is running that may have to clean up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: object) -> None:
    """Leave at once: nothing has been started yet, and half-loaded libraries cannot clean up."""
    os.write(2, f"seqspan: error: {STOPPED}\n".encode())
    os._exit(INTERRUPTED)


def __getattr__(name: str) -> object:
    if name == "app":
        from seqspan.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
