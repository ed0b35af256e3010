"""Spark SQL as sqlglot reads what users write."""

from __future__ import annotations

import logging

from sqlglot.dialects.spark import Spark

# It warns of statements that it does not know, which are refused in Mason's own words.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


class SparkAsWritten(Spark):
    """Spark SQL as Spark 4 reads it: a quote that stands twice in a text is one, and does not end it."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']
