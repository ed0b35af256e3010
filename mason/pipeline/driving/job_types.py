"""Which types of job there are: each is a class that a package declares in the entry-point group `mason.jobs`.

Mason's own types are declared so as well. Nothing is imported but the type that a job is of.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache

from mason.engines.execution.models.job import Job
from mason.errors import BrokenPlugin, Unsupported
from mason.pipeline.work.base import Outcome, Work
from mason.pipeline.work.tasks import function_named
from mason.util.names import did_you_mean
from mason.util.packages import EntryPoint, error_of_double_name, points_by_name

ENTRY_POINT_GROUP = "mason.jobs"


class BrokenJobType(BrokenPlugin):
    """Raised when a package declares a type of job that cannot be used. 501 · exit 1"""


def job_types() -> Sequence[str]:
    """Return the types of job that there are, those of other packages included."""
    return sorted(_declared_job_types())


def plan_work(job: Job) -> Work:
    """Plan a job of any type.

    Raises:
        Unsupported: no package has such a type.
        BrokenPlugin: several packages have it, or the one that has it is broken.
    """
    planned: object = find_job_type(job.type).plan(job)
    if not isinstance(planned, Work):
        raise _describe_fault(_declared_job_types()[job.type][0], f"its plan is {_name_kind(planned)} and no Work")
    return planned


def check_outcome(job: Job, outcome: object) -> Outcome:
    """Return what a job did, if it is of the kind that engines can show and record.

    Raises:
        BrokenJobType: it is not.
    """
    if not isinstance(outcome, Outcome):
        raise _describe_fault(
            _declared_job_types()[job.type][0], f"its run returns {_name_kind(outcome)} and no Outcome"
        )
    return outcome


def find_job_type(name: str) -> type[Work]:
    """Return the class of a type of job; see `plan_work`."""
    points = _declared_job_types().get(name, ())
    if not points:
        types = job_types()
        hint = f"{did_you_mean(name, types)} Types: {', '.join(types)}.".strip()
        raise Unsupported(f"There is no job of the type {name}.", hint=hint)
    if len(points) > 1:
        raise error_of_double_name("job type", points)
    return _load(points[0])


@cache
def _declared_job_types() -> Mapping[str, Sequence[EntryPoint]]:
    return points_by_name(ENTRY_POINT_GROUP)


def _load(point: EntryPoint) -> type[Work]:
    try:
        found = function_named(point.value)
    except Exception as error:
        raise _describe_fault(point, f"{type(error).__name__}: {error}") from error
    if not (inspect.isclass(found) and issubclass(found, Work)):
        raise _describe_fault(point, f"it is not a subclass of {Work.__module__}.{Work.__name__}")
    if missing := sorted(found.__abstractmethods__):
        raise _describe_fault(point, f"it does not define {', '.join(missing)}")
    return found


def _describe_fault(point: EntryPoint, problem: str) -> BrokenJobType:
    return BrokenJobType(
        f'The job type "{point.name}" of the package {point.distribution} ({point.value}) cannot be used: {problem}.',
        hint=f"Mend or uninstall {point.distribution}.",
    )


def _name_kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
