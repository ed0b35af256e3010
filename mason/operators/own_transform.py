"""Runs an author's `transform`: its package is loaded under a name of its own, and errors tell of its author's lines.

It runs where the frames are, in a process of the job's own: a child of Mason's, or a driver that was submitted.
"""

from __future__ import annotations

import atexit
import base64
import importlib
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mason.errors import MasonError
from mason.operators.spark_operator import Inputs, SparkOperator
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.transform.failures import BadTransform, OwnCodeFailed
from mason.pipeline.jobs.transform.packages import check_packages
from mason.pipeline.sql.query import OwnCode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FOLDERS: dict[str, str] = {}
"""Where the packages lie that this process has loaded, by their names."""


def transform_frames(
    spark: SparkSession, frames: Mapping[str, DataFrame], code: OwnCode, values: Mapping[str, Any]
) -> DataFrame:
    """Return the frame that an author's class makes of others.

    Raises:
        MissingDependency: packages are missing that the code needs.
        OwnCodeFailed: it has raised.
        BadTransform: what it returns is no frame of this session.
    """
    check_packages(code.name, code.packages, f"the Python of the driver ({sys.executable})")
    given = {name: value for name, value in values.items() if value is not None}
    parameters = ValidatedParameters(given, declared=[*code.declared])
    try:
        operator = _load_class(code)()
        made: object = operator.transform(spark, Inputs(frames), parameters)
    except MasonError:
        raise
    except Exception as error:
        raise OwnCodeFailed(describe_own_failure(error, code)) from error
    return _check_frame(made, spark, code)


def describe_own_failure(error: BaseException, code: OwnCode) -> str:
    """Return what an error says, with the line of the author's file at which it came up."""
    folder = f"{_FOLDERS.get(code.module, code.module)}/"
    if isinstance(error, SyntaxError) and str(error.filename).startswith(folder):
        place = f"{str(error.filename)[len(folder) :]}:{error.lineno}"
        return f"{code.source}/{place}: {code.name} is not Python: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"/{each.filename[len(folder) :]}:{each.lineno}" for each in frames if each.filename.startswith(folder)]
    said = f"{type(error).__name__}: {_first_lines(str(error))}"
    return f"{code.source}{own[-1] if own else ''}: {code.name} failed in its own code: {said}"


def _first_lines(text: str) -> str:
    """What Spark says of an error, without the tree of its plan and the stack of its JVM."""
    return text.strip().split("\n\n")[0].split("\nJVM stacktrace:")[0].strip()


def _load_class(code: OwnCode) -> type[SparkOperator]:
    if code.module not in _FOLDERS:
        root = Path(tempfile.mkdtemp(prefix="mason-own-"))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        for path, content in code.files.items():
            file = root / code.module / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(base64.b64decode(content))
        _FOLDERS[code.module] = str(root / code.module)
        sys.path.append(str(root))
        importlib.invalidate_caches()
    module = importlib.import_module(code.module)
    _pickle_by_value(module)
    found: type[SparkOperator] = getattr(module, code.class_name)
    return found


def _pickle_by_value(module: Any) -> None:
    """Have the functions of a package sent along whole: the workers have no such package, or have another version."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _check_frame(made: object, spark: SparkSession, code: OwnCode) -> DataFrame:
    from pyspark.sql import DataFrame

    method = f"{code.source}/__init__.py: {code.class_name}.transform"
    if not isinstance(made, DataFrame):
        raise BadTransform([f"{method} returns {_describe_kind(made)}, and not a DataFrame."])
    if made.sparkSession is not spark and not _is_same_session(made.sparkSession, spark):
        said = "returns a DataFrame of another session; make it with the one that transform is given"
        raise BadTransform([f"{method} {said}."])
    return made


def _is_same_session(one: Any, other: Any) -> bool:
    java = [getattr(each, "_jsparkSession", None) for each in (one, other)]
    return java[0] is not None and java[1] is not None and bool(java[0].equals(java[1]))


def _describe_kind(value: object) -> str:
    kind = type(value).__name__
    return "nothing" if value is None else f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
