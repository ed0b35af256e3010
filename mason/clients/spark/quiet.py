"""Keeps pyspark from printing, beside every error and setting, what Mason tells in words of its own."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.logger import PySparkLogger

if TYPE_CHECKING:
    from pyspark import SparkContext

_UNWANTED = (
    r"\[RETRIES_EXCEEDED\]",  # the error that follows it says all, and to a user it would look like a second one
)


def keep_quiet() -> None:
    """Ignore warnings that say nothing to a user, and the loggers that print the stack of the JVM beside an error."""
    for message in _UNWANTED:
        warnings.filterwarnings("ignore", message=message)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    # py4j writes the stack of a broken connection to the root logger; the error that Mason raises says why it broke.
    root = logging.getLogger()
    if _is_not_of_py4j not in root.filters:
        root.addFilter(_is_not_of_py4j)


def ignore_lost_counters(context: SparkContext) -> None:
    """Keep the server of Spark's counters, which Mason does not use, from printing that the JVM is gone."""
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts
