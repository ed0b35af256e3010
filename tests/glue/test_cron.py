"""The usual cron syntax in AWS's words."""

from __future__ import annotations

import pytest

from mason.clients.glue.cron import aws_schedule
from mason.errors import BadInput


@pytest.mark.parametrize(
    ("usual", "aws"),
    [
        ("0 6 * * *", "cron(0 6 * * ? *)"),
        ("15 12 * * *", "cron(15 12 * * ? *)"),
        ("*/15 * * * *", "cron(0,15,30,45 * * * ? *)"),
        ("5/20 * * * *", "cron(5,25,45 * * * ? *)"),
        ("0 0-6/3 * * *", "cron(0 0,3,6 * * ? *)"),
        ("0,58 6,18 * * *", "cron(0,58 6,18 * * ? *)"),
        ("0 18 * * 1-5", "cron(0 18 ? * MON-FRI *)"),
        ("0 18 * * MON,wed", "cron(0 18 ? * MON,WED *)"),
        ("0 18 * * 0", "cron(0 18 ? * SUN *)"),
        ("0 18 * * 7", "cron(0 18 ? * SUN *)"),
        ("0 18 * * 5-7", "cron(0 18 ? * SUN,FRI,SAT *)"),
        ("0 18 * * 0-6", "cron(0 18 * * ? *)"),
        ("0 8 1 * *", "cron(0 8 1 * ? *)"),
        ("0 8 1,15 jan-mar *", "cron(0 8 1,15 1,2,3 ? *)"),
        ("0 8 1-31 * 1", "cron(0 8 ? * MON *)"),
        ("@hourly", "cron(0 * * * ? *)"),
        ("@daily", "cron(0 0 * * ? *)"),
        ("@weekly", "cron(0 0 ? * SUN *)"),
        ("@Monthly", "cron(0 0 1 * ? *)"),
        ("@yearly UTC", "cron(0 0 1 1 ? *)"),
        ("0 6 * * * UTC", "cron(0 6 * * ? *)"),
        ("  0   6 * * *  ", "cron(0 6 * * ? *)"),
        ("cron(0 6 L * ? *)", "cron(0 6 L * ? *)"),
        ("cron(0  6 ? * 6#3 2027)", "cron(0 6 ? * 6#3 2027)"),
    ],
)
def test_a_schedule_means_the_same_in_the_words_of_aws(usual: str, aws: str) -> None:
    assert aws_schedule(usual) == aws
    assert aws_schedule(aws) == aws


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "is empty; write minute, hour, day, month, weekday"),
        ("0 6 * *", 'has 4 fields instead of 5: write "0 6 * * *"'),
        ("60 6 * * *", 'the minute "60" must be 0 to 59'),
        ("0 6 * * FUN", 'the weekday "FUN" must be 0 to 7'),
        ("0 6 L * *", '"L" is not a day of the month (1 to 31). Write "0 6 * * 1-5"'),
        ("0 6 * * 5#3", '"5#3" cannot be a day of the week'),
        ("* * * * *", 'every 5 minutes. Write "*/5 * * * *"'),
        ("*/2 * * * *", "every 5 minutes"),
        ("0,58 * * * *", "every 5 minutes"),
        ("0,58 0,23 * * *", "every 5 minutes"),
        ("0 6 1 * 1", 'Make two schedules of it: "0 6 1 * *" and "0 6 * * 1"'),
        ("0 6 * * * Europe/Berlin", "not that of Europe/Berlin. Write the hour as it is in UTC."),
        ("cron(0 6 * * *)", 'six fields. Write "cron(0 6 * * ? *)"'),
        ("cron(0 6 * * * *)", "one of the two days, and only one, must be ?"),
        ("cron(0 6 ? * ? *)", "one of the two days"),
        ("rate(5 minutes)", "has 2 fields instead of 5"),
    ],
)
def test_what_aws_has_no_schedule_for_is_refused_with_what_to_write(expression: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        aws_schedule(expression)

    assert words in str(caught.value)


def test_two_minutes_far_apart_in_one_hour_are_fine_though_the_hour_before_ends_near() -> None:
    assert aws_schedule("0,58 6 * * *") == "cron(0,58 6 * * ? *)"
