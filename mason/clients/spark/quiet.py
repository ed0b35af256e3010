"""Keeps pyspark from printing, beside every error and setting, what Mason tells in words of its own."""

from __future__ import annotations

import warnings

from pyspark.logger import PySparkLogger

_UNWANTED = (
    r"\[RETRIES_EXCEEDED\]",  # the error that follows it says all, and to a user it would look like a second one
)


def keep_quiet() -> None:
    """Ignore warnings that say nothing to a user, and the loggers that print the stack of the JVM beside an error."""
    for message in _UNWANTED:
        warnings.filterwarnings("ignore", message=message)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
