"""Whether each check holds, worked out from what the tasks have counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.check.reading import read_age
from mason.pipeline.jobs.summary.value_text import render_value
from mason.util.words import counted

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_VALUE = 40


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What all tasks have counted, check by check."""

    rows: int
    failed: int
    """The rows that fail one check or more."""
    counts: Sequence[int]
    samples: Sequence[Sequence[Mapping[str, Any]]]
    newest: Mapping[str, int]

    @classmethod
    def of(cls, payloads: Sequence[Mapping[str, Any]], checks: int) -> Totals:
        newest: dict[str, int] = {}
        for number, moment in (item for each in payloads for item in each["newest"].items()):
            newest[number] = max(moment, newest.get(number, moment))
        return cls(
            rows=sum(each["rows"] for each in payloads),
            failed=sum(each["failed"] for each in payloads),
            counts=[sum(each["counts"][number] for each in payloads) for number in range(checks)],
            samples=[[row for each in payloads for row in each["samples"][number]] for number in range(checks)],
            newest=newest,
        )


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """A check, and whether it holds."""

    check: Check
    holds: bool
    found: Mapping[str, Any]
    """What was found, by the words of the JSON."""
    message: str = ""
    """What is wrong, if it does not hold."""
    samples: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def status(self) -> str:
        return "passed" if self.holds else "failed" if self.check.blocks else "warned"

    def to_dict(self) -> dict[str, Any]:
        return {**self.check.to_dict(), "Status": self.status, **self.found}


def verdicts(checks: Sequence[Check], totals: Totals, as_of: datetime, samples: int) -> list[CheckResult]:
    """Return what is to be said of each check."""
    return [_verdict(number, check, totals, as_of, samples) for number, check in enumerate(checks)]


def _verdict(number: int, check: Check, totals: Totals, as_of: datetime, samples: int) -> CheckResult:
    if check.kind == "row_count":
        return _row_count(check, totals.rows)
    if check.kind == "freshness":
        return _freshness(check, totals.newest.get(str(number)), as_of)
    count = totals.counts[number]
    some = totals.samples[number][:samples] if count else []
    message = f"{check.name}: {count:,} of {counted(totals.rows, 'row')} {'fails' if count == 1 else 'fail'}"
    return CheckResult(
        check=check,
        holds=not count,
        found={"RowsFailed": count},
        message=f"{message}{_such_as(check, some)}.",
        samples=some,
    )


def _such_as(check: Check, samples: Sequence[Mapping[str, Any]]) -> str:
    if not samples or check.kind == "not_null":
        return ""
    values = [f"{name} {render_value(samples[0].get(name), _LONGEST_VALUE)}" for name in check.columns]
    return f", such as {', '.join(values)}"


def _row_count(check: Check, rows: int) -> CheckResult:
    few = bool(check.min) and rows < int(check.min)
    many = bool(check.max) and rows > int(check.max)
    wanted = f"at least {int(check.min or 0):,}" if few else f"at most {int(check.max or 0):,}"
    message = f"{check.name}: there are {counted(rows, 'row')}, not {wanted}."
    return CheckResult(check=check, holds=not few and not many, found={"Rows": rows}, message=message)


def _freshness(check: Check, micros: int | None, as_of: datetime) -> CheckResult:
    if micros is None:
        message = f"{check.name}: there is no value that could be new."
        return CheckResult(check=check, holds=False, found={"Newest": None, "AsOf": as_of.isoformat()}, message=message)
    oldest = _before(as_of, read_age(check.max_age))
    newest = _isoformat(micros)
    message = (
        f"{check.name}: the newest is of {newest}, and should be of {oldest.isoformat(timespec='seconds')} or later."
    )
    is_fresh = micros >= (oldest - _EPOCH) // timedelta(microseconds=1)
    return CheckResult(
        check=check, holds=is_fresh, found={"Newest": newest, "AsOf": as_of.isoformat()}, message=message
    )


def _before(moment: datetime, age: timedelta) -> datetime:
    try:
        return moment - age
    except OverflowError:  # older than the calendar
        return datetime.min.replace(tzinfo=UTC)


def _isoformat(micros: int) -> str:
    try:
        return (_EPOCH + timedelta(microseconds=micros)).isoformat()
    except OverflowError:  # a year that Python has no word for
        return f"{micros} microseconds since 1970"
