"""An author's own code over DataFrames: called in a process of the job's own, and told of by its files and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from mason.pipeline.jobs.transform.failures import BadTransform, OwnCodeFailed
from mason.pipeline.sql.query import OwnCode
from mason.pipeline.work.tasks import function_named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NO_COLUMN_TYPES = ("interval", "variant", "geography", "geometry")


def own_frame(
    spark: SparkSession, code: OwnCode, frames: Mapping[str, DataFrame], values: Mapping[str, Any]
) -> DataFrame:
    """Return the frame that an author's code makes of others, if its columns can be those of a table.

    Raises:
        OwnCodeFailed: the code has raised.
        BadTransform: what it returns is no table.
    """
    if is_connect(spark):  # what needs a session and is given none, such as a UDF, looks for this one
        cast("Any", type(spark))._set_default_and_active_session(spark)
    frame: DataFrame = function_named(code.function)(spark, frames, code, values)
    try:
        schema = frame.schema
    except Exception as error:
        raise explain_own_error(error, code) or error from error
    problems = list(_find_problems(schema))
    if problems:
        raise BadTransform([f"{code.source}/__init__.py: {code.class_name}.transform: {each}" for each in problems])
    return frame


def is_connect(thing: object) -> bool:
    """Say whether a session or a frame is one of Spark Connect."""
    return type(thing).__module__.startswith("pyspark.sql.connect")


def observe_rows(frame: DataFrame) -> tuple[DataFrame, Callable[[], int | None]]:
    """Return a frame whose rows Spark itself counts while they are made, and what tells how many there were.

    It tells nothing where Spark found out beforehand that there are no rows.
    """
    observation: Any
    functions: Any
    if is_connect(frame):
        from pyspark.sql.connect import functions
        from pyspark.sql.connect.observation import Observation as ConnectObservation

        observation = ConnectObservation()
    else:
        from pyspark.sql import Observation, functions

        observation = Observation()
    observed = frame.observe(observation, functions.count(functions.lit(1)).alias("rows"))
    return observed, lambda: _rows_of(observation)


def _rows_of(observation: Any) -> int | None:
    result = getattr(observation, "_result", None)  # over Connect `get` raises where there is nothing
    if result is None and getattr(observation, "_jo", None) is not None:
        result = observation.get
    return int(result["rows"]) if result else None


def explain_own_error(error: Exception, code: OwnCode) -> Exception | None:
    """Return what an error of Spark's says of the author's code, if it came up there: file, line and what was raised.

    A worker tells of the error as the text of Python's traceback, inside of what the JVM says.
    """
    text = str(error)
    place = re.compile(rf'File "[^"]*/{code.module}/([^"]+)", line (\d+)').findall(text)
    if place:
        file, line = place[-1]
        return OwnCodeFailed(f"{code.source}/{file}:{line}: {code.name} failed in its own code: {_raised(text, code)}")
    called = re.search(rf"called from\s+(?:\S*/)?{code.module}/(\S+?):(\d+)", text)
    from pyspark.errors import AnalysisException, PySparkException

    if isinstance(error, AnalysisException) or (isinstance(error, PySparkException) and called):
        where = f"{code.source}/{called[1]}:{called[2]}" if called else f"{code.source}/__init__.py"
        said = re.sub(r"^\[[A-Z_.0-9]+\] ", "", text.strip().split("\n\n")[0].splitlines()[0].split(" SQLSTATE:")[0])
        return OwnCodeFailed(f"{where}: {code.name} failed in its own code: {said}")
    return None


def _raised(text: str, code: OwnCode) -> str:
    """The last line of the traceback: what was raised."""
    begin = text.rfind(f"/{code.module}/")
    for line in text[begin:].splitlines()[1:]:
        found = re.match(r"([A-Za-z_][\w.]*)(: .*)?$", line)
        if found and not line.startswith(" "):
            return line.strip()
    return text.strip().splitlines()[0]


def _find_problems(schema: Any) -> Iterator[str]:
    seen: dict[str, str] = {}
    for each in schema.fields:
        if each.name.casefold() in seen:
            yield f'the result has two columns called "{each.name}": drop one, or give it another name with alias.'
        seen[each.name.casefold()] = each.name
        yield from _find_problems_of(each.dataType, each.name)
    if not schema.fields:
        yield "the result has no columns."


def _find_problems_of(kind: Any, where: str) -> Iterator[str]:
    if (
        kind.typeName().split(" ")[0].split("(")[0] in _NO_COLUMN_TYPES
        or "interval" in kind.simpleString().split("<")[0]
    ):
        yield f'"{where}" is of type {kind.simpleString()}, which no Parquet table of Mason\'s holds: cast it.'
    names: set[str] = set()
    for each in getattr(kind, "fields", ()):
        if each.name.casefold() in names:
            yield f'"{where}" has two parts called "{each.name}".'
        names.add(each.name.casefold())
        yield from _find_problems_of(each.dataType, f"{where}.{each.name}")
    for part in ("elementType", "keyType", "valueType"):
        if hasattr(kind, part):
            yield from _find_problems_of(getattr(kind, part), where)
