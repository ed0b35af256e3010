"""When a schedule is due: five fields as cron has them, or a word for them, by the clock of a time zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from mason.util.names import did_you_mean

WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
TIMING_RULE = (
    'minute, hour, day, month, weekday and perhaps a time zone, as in "0 6 * * * Europe/Berlin", '
    "or one of @hourly, @daily, @weekly, @monthly, @yearly"
)
_FIELDS = (
    ("minute", 0, 59, ""),
    ("hour", 0, 23, ""),
    ("day", 1, 31, ""),
    ("month", 1, 12, ", or JAN to DEC"),
    ("weekday", 0, 7, ", or SUN to SAT"),
)
_EVERY = "@every"  # a word of other schedulers
_ANY_DAY = datetime(2024, 1, 1)
_ZONE = re.compile(r"UTC|GMT|[A-Z][A-Za-z]{2,}/[A-Z][\w+-]*(/\w+)?")
_STEP = re.compile(r"(?P<first>\*|\w+)(-\w+)?/(?P<step>\d+)")
_LOOKS_BACK = (timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=366))


@dataclass(frozen=True)
class Timing:
    """The moments at which something is due."""

    fields: str
    zone: str = "UTC"

    @classmethod
    def parse_checked(cls, written: str) -> Timing:
        """Read what a person writes now, of which cron must not make something that they do not mean.

        Raises:
            ValueError: it means no moment, or others than it seems to; the text says what to write instead.
        """
        timing = cls.of(written)
        _check_steps(timing)
        return timing

    @classmethod
    def of(cls, written: str) -> Timing:
        """Read what was written, perhaps long ago: what was taken then keeps its moments, whatever is asked for now.

        Raises:
            ValueError: it means no moment; the text says what to write instead.
        """
        words = written.split()
        if not words:
            raise ValueError(f"is empty; write {TIMING_RULE}")
        if words[0].partition("=")[0] in ("CRON_TZ", "TZ"):
            raise ValueError(
                f'"{written}" begins with its time zone, which comes last: '
                f'write "{" ".join([*words[1:], words[0].partition("=")[2]])}"'
            )
        if words[0].startswith("@"):
            return cls(_fields_of_word(words[0]), _zone(words[1:], written))
        has_zone = len(words) > 1 and bool(_ZONE.fullmatch(words[-1]) or _is_sixth_and_no_field(words))
        fields = words[:-1] if has_zone else words
        timing = cls(_check_fields(fields, words[len(fields) :]), _zone(words[len(fields) :], written))
        if timing.next_after(datetime.now(UTC)) is None:
            raise ValueError(f'"{written}" is never due: no such day comes; write {TIMING_RULE}')
        return timing

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first moment after another one, in UTC, if there is one within fifty years."""
        return next(self._after(moment), None)

    def newest(self, since: datetime, now: datetime) -> datetime | None:
        """Return the newest moment after `since` that is not after `now`, if there is one."""
        # Looks at few moments whether they are minutes or years apart, and however long ago `since` is.
        for back in (*_LOOKS_BACK, max(now - since, timedelta())):
            start = max(since, now - back)
            found = list(takewhile(lambda moment: moment <= now, self._after(start)))
            if found or start == since:
                return found[-1] if found else None
        return None

    def __str__(self) -> str:
        return self.fields if self.zone == "UTC" else f"{self.fields} {self.zone}"

    def _after(self, moment: datetime) -> Iterator[datetime]:
        from zoneinfo import ZoneInfo

        from cronsim import CronSim  # only who has a schedule pays for it

        zone = UTC if self.zone == "UTC" else ZoneInfo(self.zone)
        for found in CronSim(self.fields, moment.astimezone(zone)):
            due = found.astimezone(UTC)
            if due > moment:  # in the hour that a clock repeats, it finds the first one again
                yield due


def _fields_of_word(word: str) -> str:
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    near = did_you_mean(word, WORDS) if word.lower() != _EVERY else 'Write "*/5 * * * *" for every five minutes.'
    raise ValueError(f'"{word}" is not a word for a schedule. {near or f"Write {TIMING_RULE}"}')


def _is_sixth_and_no_field(words: list[str]) -> bool:
    return len(words) == 6 and bool(re.match("[A-Za-z]{3}", words[5])) and not _is_field(4, words[5])


def _zone(words: list[str], written: str) -> str:
    if not words:
        return "UTC"
    if len(words) > 1:
        raise ValueError(f'"{written}" has more words than a schedule: write {TIMING_RULE}')
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

    try:
        ZoneInfo(words[0])
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones is an OSError
        known = sorted(available_timezones())
        ends = next((f'Did you mean "{each}"?' for each in known if each.endswith(f"/{words[0]}")), "")
        near = ends or did_you_mean(words[0], known) or 'Write one such as "Europe/Berlin".'
        raise ValueError(f'there is no time zone "{words[0]}". {near}') from None
    return words[0]


def _check_fields(fields: list[str], zone: list[str]) -> str:
    if len(fields) != len(_FIELDS):
        raise ValueError(_wrong_count(fields, zone))
    wrong = [number for number, field in enumerate(fields) if not _is_field(number, field)]
    if wrong:
        better = [_mend_field(number, field) if number in wrong else field for number, field in enumerate(fields)]
        problems = [f'the {_FIELDS[number][0]} "{fields[number]}" must be {_range(number)}' for number in wrong]
        raise ValueError(f'{", and ".join(problems)}; write "{" ".join([*better, *zone])}"')
    joined = " ".join(fields).upper()
    if not _parses(joined):
        raise ValueError(f'"{joined}" is never due: none of its months has such a day; write {TIMING_RULE}')
    return joined


def _check_steps(timing: Timing) -> None:
    """Refuse a step that leads out of its field: every 90 minutes is not what cron would make of `*/90`."""
    fields = timing.fields.split()
    better = [_without_far_steps(number, field) for number, field in enumerate(fields)]
    far = next((number for number, field in enumerate(fields) if better[number] != field), None)
    if far is None:
        return
    name, _, most, _ = _FIELDS[far]
    same = f'; write "{Timing(" ".join(better), timing.zone)}"' if _joins_days(better) == _joins_days(fields) else ""
    raise ValueError(f'the {name} "{fields[far]}" goes beyond {most} with its first step{same}')


def _without_far_steps(number: int, field: str) -> str:
    """Return the field with the same moments, and without steps that lead out of it: of those only the first is due."""
    _, least, most, _ = _FIELDS[number]

    def mend_part(part: str) -> str:
        step = _STEP.fullmatch(part)
        return part if step is None or int(step["step"]) <= most - least else step["first"].replace("*", str(least))

    parts = field.split(",")
    better = [mend_part(part) for part in parts]
    return ",".join(dict.fromkeys(better)) if better != parts else field


def _joins_days(fields: list[str]) -> bool:
    """Say whether a day must be both the day and the weekday: to cron it must if one begins with a star."""
    return fields[2].startswith("*") or fields[4].startswith("*")


def _wrong_count(fields: list[str], zone: list[str]) -> str:
    said = f'"{" ".join(fields)}" has {len(fields)} field{"" if len(fields) == 1 else "s"} instead of 5'
    less, more = fields[1:], [*fields, *["*"] * (len(_FIELDS) - len(fields))]
    if len(fields) == len(_FIELDS) + 1 and _parses(" ".join(less)):
        return f'{said}, and none is for seconds: write "{" ".join([*less, *zone])}"'
    if len(fields) < len(_FIELDS) and _parses(" ".join(more)):
        return f'{said}: write "{" ".join([*more, *zone])}"'
    return f"{said}: write {TIMING_RULE}"


def _is_field(number: int, field: str) -> bool:
    return _parses(" ".join(field if each == number else "*" for each in range(len(_FIELDS))))


def _parses(fields: str) -> bool:
    from cronsim import CronSim, CronSimError

    try:
        CronSim(fields, _ANY_DAY)
    except CronSimError:
        return False
    return True


def _mend_field(number: int, field: str) -> str:
    """Return the field with its numbers in their range, if that makes it one; else any."""
    _, least, most, _ = _FIELDS[number]
    above = 0 if number < 2 else most  # the hour 24 and the minute 60 are the next one's zero
    mended = re.sub(r"\d+", lambda each: str(above if int(each[0]) > most else max(int(each[0]), least)), field)
    return mended if _is_field(number, mended) else "*"


def _range(number: int) -> str:
    _, least, most, names = _FIELDS[number]
    return f"{least} to {most}{names}"
