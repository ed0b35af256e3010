"""The program `mason`, and `python -m mason`."""

import signal
import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from mason.cli.main import run  # in here, so that ctrl-C during the imports is nothing special either

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        code = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done: only the interpreter is left to stop
    sys.exit(code)


if __name__ == "__main__":
    main()
