"""Times that state no zone, where they meet times that do: the user says whose clock they show."""

from __future__ import annotations

import zoneinfo

import pyarrow as pa
import pyarrow.compute as pc

from mason.errors import Unprocessable
from mason.pipeline.types.column_types import INSTANT, NAIVE
from mason.util.names import did_you_mean

NAIVE_TEXT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?$"


class UnknownZone(Unprocessable):
    """Raised when no time zone has the name. 422 · exit 1"""


def check_zone(name: str) -> str:
    """Return the name of a time zone, or "" for none.

    Raises:
        UnknownZone: there is no such zone.
    """
    if not name:
        return ""
    known = zoneinfo.available_timezones()
    if name not in known:
        hint = did_you_mean(name, sorted(known)) or "Zones are named as in Europe/Berlin or UTC."
        raise UnknownZone(f'There is no time zone "{name}".', hint=hint)
    return name


def instants_of(values: pa.Array, timezone: str) -> pa.Array:
    """Return dates and naive times as instants, by the clock of a zone.

    An hour that the clock shows twice in autumn is taken as the first; one that it skips in spring is the moment of the
    skip.
    """
    located = pc.assume_timezone(values.cast(NAIVE), timezone, ambiguous="earliest", nonexistent="latest")
    return located.cast(INSTANT)


def text_instants(values: pa.Array, timezone: str) -> pa.Array:
    """Return text, some of it with a zone and some without, as instants.

    Raises:
        pa.ArrowInvalid: some of it is not a time.
    """
    naive = pc.fill_null(pc.match_substring_regex(values, NAIVE_TEXT), False)
    missing = pa.scalar(None, pa.string())
    by_clock = instants_of(pc.if_else(naive, values, missing).cast(NAIVE), timezone)
    return pc.coalesce(by_clock, pc.if_else(naive, missing, values).cast(INSTANT))
