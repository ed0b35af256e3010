"""Whether the packages that an author's code needs are there: asked where the code runs, which is nobody's guess."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import node

from mason.errors import MissingDependency

KERNEL = "mason.pipeline.jobs.transform.packages:check_packages_task"

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(.*)")
_LIMIT = re.compile(r"\s*(==|!=|>=|<=|>|<|~=)\s*([0-9][0-9A-Za-z.*+!-]*)\s*")
_NUMBER = re.compile(r"[0-9]+")


def check_packages_task(content: bytes) -> bytes:
    """Check the packages of an operator in a task."""
    asked = json.loads(content)
    check_packages(asked["name"], asked["packages"], f"the Python of the tasks ({sys.executable} on {node()})")
    return b""


def check_packages(operator: str, wanted: Sequence[str], where: str) -> None:
    """See that packages are installed here.

    Raises:
        MissingDependency: some are not; the message names all of them.
    """
    missing = list(_find_missing(wanted))
    if missing:
        said = f"{operator} needs packages that {where} does not have: {', '.join(missing)}."
        raise MissingDependency(said, hint=f"Install them there: pip install {' '.join(map(_quoted, wanted))}")


def _find_missing(wanted: Sequence[str]) -> Iterator[str]:
    for each in wanted:
        found = _REQUIREMENT.fullmatch(each)
        if found is None:
            yield each
            continue
        try:
            there = version(found[1])
        except PackageNotFoundError:
            yield each
            continue
        if not all(_holds(there, limit) for limit in found[2].split(",") if limit.strip()):
            yield f"{each} ({there} is installed)"


def _holds(there: str, limit: str) -> bool:
    found = _LIMIT.fullmatch(limit)
    if found is None:
        return False
    sign, said = found[1], found[2]
    ours, theirs = _numbers(there), _numbers(said.removesuffix(".*"))
    if said.endswith(".*") or sign == "~=":
        length = len(theirs) - (sign == "~=")
        same = ours[:length] == theirs[:length]
        return (same and ours >= theirs) if sign == "~=" else same is (sign == "==")
    most = max(len(ours), len(theirs))
    one, other = (each + (0,) * (most - len(each)) for each in (ours, theirs))
    holds = {"==": one == other, "!=": one != other, ">=": one >= other}
    return {**holds, "<=": one <= other, ">": one > other, "<": one < other}[sign]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in _NUMBER.findall(text.partition("+")[0]))


def _quoted(requirement: str) -> str:
    return f"'{requirement}'"
