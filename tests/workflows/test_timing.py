"""When a schedule is due, by the clock of a time zone, and what is said of an expression that means no moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mason.engines.scheduler.models.timing import Timing


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def following(expression: str, start: str, count: int) -> list[str]:
    timing, moment, found = Timing.of(expression), at(start), []
    for _ in range(count):
        due = timing.next_after(moment)
        assert due is not None
        found.append(due.strftime("%Y-%m-%d %H:%M"))
        moment = due
    return found


def test_a_word_is_short_for_five_fields() -> None:
    assert str(Timing.of("@daily")) == "0 0 * * *"
    assert str(Timing.of("@Weekly Europe/Berlin")) == "0 0 * * 0 Europe/Berlin"


def test_the_next_moment_is_after_the_one_given() -> None:
    assert following("0 6 * * MON-FRI", "2026-11-13 06:00", 3) == [
        "2026-11-16 06:00",
        "2026-11-17 06:00",
        "2026-11-18 06:00",
    ]


def test_a_time_zone_has_its_own_morning_in_summer_and_in_winter() -> None:
    assert following("0 6 * * * Europe/Berlin", "2026-03-28 00:00", 3) == [
        "2026-03-28 05:00",
        "2026-03-29 04:00",
        "2026-03-30 04:00",
    ]


def test_an_hour_that_the_clock_leaves_out_is_made_up_for_right_after_it() -> None:
    assert following("30 2 * * * Europe/Berlin", "2026-03-28 12:00", 2) == ["2026-03-29 01:00", "2026-03-30 00:30"]


@pytest.mark.parametrize("start", ["2026-10-24 12:00", "2026-10-25 00:29"])
def test_an_hour_that_the_clock_repeats_is_due_once(start: str) -> None:
    assert following("30 2 * * * Europe/Berlin", start, 2) == ["2026-10-25 00:30", "2026-10-26 01:30"]


def test_a_moment_in_the_repeated_hour_is_followed_by_one_after_it() -> None:
    assert following("30 2 * * * Europe/Berlin", "2026-10-25 01:10", 1) == ["2026-10-26 01:30"]


@pytest.mark.parametrize(
    ("expression", "since", "now", "newest"),
    [
        ("* * * * *", "2020-01-01 00:00", "2026-11-16 08:00", "2026-11-16 08:00"),
        ("0 6 * * *", "2026-11-13 07:00", "2026-11-16 08:00", "2026-11-16 06:00"),
        ("0 6 * * *", "2026-11-16 06:00", "2026-11-16 08:00", None),
        ("0 0 29 2 *", "2020-01-01 00:00", "2026-11-16 08:00", "2024-02-29 00:00"),
        ("0 6 * * *", "2026-11-17 06:00", "2026-11-16 08:00", None),
    ],
)
def test_the_newest_of_all_that_was_missed(expression: str, since: str, now: str, newest: str | None) -> None:
    assert Timing.of(expression).newest(at(since), at(now)) == (at(newest) if newest else None)


def test_years_that_were_missed_cost_no_time() -> None:
    began = datetime.now(UTC)

    Timing.of("* * * * *").newest(at("1990-01-01 00:00"), at("2026-11-16 08:00"))

    assert datetime.now(UTC) - began < timedelta(seconds=10)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("", "is empty; write minute, hour, day, month, weekday"),
        ("61 * * * *", 'the minute "61" must be 0 to 59; write "0 * * * *"'),
        ("0 24 * * *", 'the hour "24" must be 0 to 23; write "0 0 * * *"'),
        ("0 25 32 * *", 'the hour "25" must be 0 to 23, and the day "32" must be 1 to 31; write "0 0 31 * *"'),
        ("0 6 * 13 *", 'the month "13" must be 1 to 12, or JAN to DEC; write "0 6 * 12 *"'),
        ("0 6 * * FUN Europe/Berlin", 'write "0 6 * * * Europe/Berlin"'),
        ("0 6 * *", 'has 4 fields instead of 5: write "0 6 * * *"'),
        ("0 6 * * Europe/Berlin", 'has 4 fields instead of 5: write "0 6 * * * Europe/Berlin"'),
        ("0 0 6 * * *", 'has 6 fields instead of 5, and none is for seconds: write "0 6 * * *"'),
        ("CRON_TZ=Europe/Berlin 0 6 * * *", 'write "0 6 * * * Europe/Berlin"'),
        ("@dayly", 'Did you mean "@daily"?'),
        ("@every 5m", 'Write "*/5 * * * *" for every five minutes.'),
        ("*/90 * * * *", 'the minute "*/90" goes beyond 59 with its first step; write "0 * * * *"'),
        ("0 0-6/24 * * * Europe/Berlin", 'the hour "0-6/24" goes beyond 23 with its first step; write "0 0 * * * '),
        ("@reboot", "Write minute, hour, day, month, weekday"),
        ("@daily Berlin", 'there is no time zone "Berlin". Did you mean "Europe/Berlin"?'),
        ("0 6 * * * Europe/Berlni", 'Did you mean "Europe/Berlin"?'),
        ("0 6 * * * America", 'there is no time zone "America"'),
        ("0 6 * * * ../../etc/passwd", "has 6 fields"),
        ("0 0 30 2 *", "is never due"),
        ("0 0 31 2,4 *", "is never due"),
        ("@daily Europe/Berlin please", "has more words than a schedule"),
        ("every day at six", "instead of 5: write minute, hour"),
        ("-1 * * * *", 'the minute "-1" must be 0 to 59; write "* * * * *"'),
        ("*/0 * * * *", 'the minute "*/0" must be 0 to 59'),
    ],
)
def test_what_means_no_moment_is_refused_with_what_to_write(expression: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        Timing.parse_checked(expression)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        ("*/90 * * * *", "0 * * * *"),
        ("10,40,*/90 * * * *", "10,40,0 * * * *"),
        ("0,*/60 */24 * * *", "0 0 * * *"),
        ("15-45/60 * * * * Europe/Berlin", "15 * * * * Europe/Berlin"),
        ("20/60 6 * * *", "20 6 * * *"),
        ("0 0 1 mar-dec/12 *", "0 0 1 MAR *"),
        ("0 0 */40 * *", "0 0 1 * *"),
        ("0 0 * * */8", "0 0 * * 0"),
    ],
)
def test_what_is_to_be_written_instead_of_a_step_that_leads_out_of_its_field_means_the_same(
    expression: str, same: str
) -> None:
    with pytest.raises(ValueError) as caught:
        Timing.parse_checked(expression)

    assert str(caught.value).endswith(f'with its first step; write "{same}"')
    assert following(expression, "2026-01-01 00:00", 20) == following(same, "2026-01-01 00:00", 20)


def test_of_days_that_no_other_words_would_join_with_a_weekday_nothing_is_proposed() -> None:
    with pytest.raises(ValueError) as caught:
        Timing.parse_checked("0 6 */40 * MON")

    assert str(caught.value) == 'the day "*/40" goes beyond 31 with its first step'


@pytest.mark.parametrize("expression", ["0,0 6 * * *", "*/59 */23 * * *", "5-55/10,7 6 L * *", "0 6 * * 5#2", "@daily"])
def test_what_has_no_step_out_of_its_field_is_taken_as_it_is_written(expression: str) -> None:
    assert Timing.parse_checked(expression) == Timing.of(expression)


@pytest.mark.parametrize("expression", ["0 */24 * * *", "*/60 * * * *", "0 0 1 */12 *"])
def test_what_was_written_before_steps_were_looked_at_keeps_its_moments(expression: str) -> None:
    assert Timing.of(expression).next_after(at("2026-01-01 00:00")) is not None
