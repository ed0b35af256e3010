"""The program `mason`, and `python -m mason`."""

import signal
import sys


def main() -> None:
    """Run the command line and exit."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a job ends as with ctrl-C: cancelled, nothing left
    try:
        from mason.cli.main import run  # in here, so that ctrl-C during the imports is nothing special either

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        code = 130
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # all is said and done: only the interpreter is left to stop
    # An interrupt that came while a text was executed, as every dataclass does when its module is imported, is kept in
    # mind by Python: `python -m mason` would die of the signal instead of exiting. Executing another text forgets it.
    exec("")  # noqa: S102 (nothing is executed)
    sys.exit(code)


if __name__ == "__main__":
    main()
