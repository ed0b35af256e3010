"""A type as a statement gives it, in a cast."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import unlike_spark
from mason.pipeline.sql.spark_dialect import SparkAsWritten

_TYPE = exp.DataType.Type
_SCALARS = {
    _TYPE.BOOLEAN: st.BOOL,
    _TYPE.TINYINT: st.BYTE,
    _TYPE.SMALLINT: st.SHORT,
    _TYPE.INT: st.INT,
    _TYPE.BIGINT: st.LONG,
    _TYPE.FLOAT: st.FLOAT,
    _TYPE.DOUBLE: st.DOUBLE,
    _TYPE.TEXT: st.TEXT,
    _TYPE.BINARY: st.BINARY,
    _TYPE.DATE: st.DATE,
    _TYPE.TIMESTAMPNTZ: st.NAIVE,
    _TYPE.TIMESTAMPLTZ: st.INSTANT,
    _TYPE.TIMESTAMPTZ: st.INSTANT,
    _TYPE.TIMESTAMP: st.INSTANT,
}


def type_in_statement(kind: Any) -> pa.DataType:
    """Return a type that stands in a statement of Spark SQL.

    Raises:
        BadQuery: the local engine has no such type.
    """
    if kind.this == _TYPE.DECIMAL:
        digits, scale, *_ = [*(int(each.name) for each in kind.expressions), 0, 0]
        return pa.decimal128(digits or 10, scale if digits else 0)
    if kind.this == _TYPE.ARRAY and kind.expressions:
        return pa.list_(type_in_statement(kind.expressions[0]))
    if kind.this == _TYPE.MAP and len(kind.expressions) == 2:
        return pa.map_(*map(type_in_statement, kind.expressions))
    if kind.this == _TYPE.STRUCT:
        return pa.struct([(each.name, type_in_statement(each.args["kind"])) for each in kind.expressions])
    if kind.this in _SCALARS and not kind.expressions:
        return _SCALARS[kind.this]
    raise unlike_spark(f'type "{kind.sql(dialect=SparkAsWritten)}"')
