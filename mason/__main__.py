"""The program `mason`, and `python -m mason`."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def main() -> None:
    """Run the command line and exit."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a job ends as with ctrl-C: cancelled, nothing left
    sys.unraisablehook = _interrupt_again
    try:
        is_new = "mason.cli.main" not in sys.modules
        from mason.cli.main import run  # in here, so that ctrl-C during the imports is nothing special either

        if is_new:  # what was imported stays to the end: looking through it would be a tenth of a short command
            gc.freeze()
        code = run()
        _ignore_signals()
    except KeyboardInterrupt:
        _ignore_signals()
        sys.stderr.write("Interrupted.\n")
        code = 130
    # An interrupt that came while a text was executed, as every dataclass does when its module is imported, is kept in
    # mind by Python: `python -m mason` would die of the signal instead of exiting. Executing another text forgets it.
    exec("")  # noqa: S102 (nothing is executed)
    sys.exit(code)


def _interrupt_again(unraisable: UnraisableHookArgs) -> None:
    """Send a ctrl-C again that came while Python cleaned up behind an object: there it would be printed, and lost."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        # A moment later and from elsewhere: in here it would be lost as well.
        threading.Timer(0.01, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def _ignore_signals() -> None:
    """From here on all is said and done: only the interpreter is left to stop."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()
