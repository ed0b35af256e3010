"""The usual cron syntax as AWS wants it: six fields, days counted from Sunday = 1, one of the two days a `?`.

`0 6 * * 1-5` becomes `cron(0 6 ? * MON-FRI *)`. What means something else there, or nothing, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mason.engines.scheduler.models.timing import Timing
from mason.errors import BadInput

_AWS = re.compile(r"cron\(\s*(?P<fields>[^()]+?)\s*\)")
_AWS_FIELD = re.compile(r"[0-9A-Za-z,\-*?/#]+")
_PART = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_UTC = ("UTC", "GMT", "Etc/UTC")
_LEAST_MINUTES = 5
_HOUR = 60


@dataclass(frozen=True)
class _Field:
    name: str
    lowest: int
    highest: int
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def one(self) -> str:
        """The name with its article: "an hour"."""
        return f"an {self.name}" if self.name.startswith("h") else f"a {self.name}"

    def read(self, text: str) -> set[int]:
        """Return the values that a field names."""
        found: set[int] = set()
        for part in text.split(","):
            matched = _PART.fullmatch(part)
            if matched is None:
                raise ValueError(f'"{part}" cannot be {self.one}')
            found |= self._values(matched)
        return found

    def _values(self, part: re.Match[str]) -> set[int]:
        step = int(part["step"] or 1)
        if part["first"] == "*":
            first, last = self.lowest, self.highest
        else:
            first = self._value(part["first"])
            open_end = self.highest if part["step"] else first
            last = self._value(part["last"]) if part["last"] else open_end
        if step < 1 or last < first:
            raise ValueError(f'"{part[0]}" names no {self.name}')
        return set(range(first, last + 1, step))

    def _value(self, word: str) -> int:
        value = int(word) if word.isdecimal() else self.words.get(word.upper(), -1)
        if not self.lowest <= value <= self.highest:
            raise ValueError(f'"{word}" is not {self.one} ({self.lowest} to {self.highest})')
        return value


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field("day of the week", 0, 7, {name: number for number, name in enumerate(_DAYS)}),
)


def aws_schedule(expression: str) -> str:
    """Return a schedule as AWS writes it; one that is written so already stays.

    Raises:
        BadInput: it cannot be one, or AWS has no such schedule; the message says what to write.
    """
    given = _AWS.fullmatch(expression.strip())
    if given:
        return _check_aws_cron(expression, given["fields"].split())
    fields = _in_utc(expression)
    try:
        minutes, hours, days, months, weekdays = (each.read(part) for each, part in zip(_FIELDS, fields, strict=True))
    except ValueError as error:
        raise _refuse_schedule(expression, str(error), "0 6 * * 1-5") from error
    _check_pace(expression, minutes, hours)
    day, weekday = _days(expression, fields, days, {each % 7 for each in weekdays})
    clock = f"{_format_values(minutes, 0, 59)} {_format_values(hours, 0, 23)}"
    return f"cron({clock} {day} {_format_values(months, 1, 12)} {weekday} *)"


def is_aws_schedule(expression: str) -> bool:
    """Say whether a schedule is written as AWS writes it."""
    return expression.strip().startswith("cron(")


def _in_utc(expression: str) -> list[str]:
    """The five fields; a time zone behind them may only be the one that AWS has."""
    try:
        timing = Timing.of(expression)
    except ValueError as error:
        raise BadInput(f"The schedule: {error}.") from error
    if timing.zone not in _UTC:
        reason = f"the clock of Glue is that of UTC, not that of {timing.zone}"
        raise _refuse_schedule(expression, reason, "", hint="Write the hour as it is in UTC.")
    return timing.fields.split()


def _days(expression: str, fields: Sequence[str], days: set[int], weekdays: set[int]) -> tuple[str, str]:
    every_day, every_weekday = len(days) == 31, len(weekdays) == 7
    if not every_day and not every_weekday:
        others = f'"{" ".join([*fields[:4], "*"])}" and "{" ".join([*fields[:2], "*", *fields[3:]])}"'
        reason = "AWS cannot take a day of the month together with a day of the week"
        raise _refuse_schedule(expression, reason, "", hint=f"Make two schedules of it: {others}.")
    if every_weekday:
        return _format_values(days, 1, 31), "?"
    named = sorted(weekdays)
    if len(named) > 2 and named[-1] - named[0] == len(named) - 1:
        return "?", f"{_DAYS[named[0]]}-{_DAYS[named[-1]]}"
    return "?", ",".join(_DAYS[each] for each in named)


def _check_pace(expression: str, minutes: set[int], hours: set[int]) -> None:
    ordered = sorted(minutes)
    gaps = [later - earlier for earlier, later in pairwise(ordered)]
    if any((hour + 1) % 24 in hours for hour in hours):
        gaps.append(ordered[0] + _HOUR - ordered[-1])
    if min(gaps, default=_HOUR) < _LEAST_MINUTES:
        reason = f"Glue starts nothing more often than every {_LEAST_MINUTES} minutes"
        raise _refuse_schedule(expression, reason, f"*/{_LEAST_MINUTES} * * * *")


def _check_aws_cron(expression: str, fields: Sequence[str]) -> str:
    if len(fields) != 6 or not all(_AWS_FIELD.fullmatch(each) for each in fields):
        raise _refuse_schedule(expression, "AWS's own syntax has six fields", "cron(0 6 * * ? *)")
    if (fields[2] == "?") == (fields[4] == "?"):
        raise _refuse_schedule(expression, "one of the two days, and only one, must be ?", "cron(0 6 * * ? *)")
    return f"cron({' '.join(fields)})"


def _format_values(values: set[int], lowest: int, highest: int) -> str:
    if len(values) == highest - lowest + 1:
        return "*"
    return ",".join(map(str, sorted(values)))


def _refuse_schedule(expression: str, reason: str, example: str, *, hint: str = "") -> BadInput:
    return BadInput(f'"{expression}" cannot be a schedule in Glue: {reason}.', hint=hint or f'Write "{example}".')
