"""Runs as a person looks at them on a terminal."""

from __future__ import annotations

from typing import Any

from mason.cli.views.run_view import RUN_COLUMNS, STEP_COLUMNS, run_rows, step_lines, step_rows
from mason.util.text_table import table_lines

DIGEST = f"sha256:{'0' * 64}"


def step(key: str, status: str, **more: Any) -> dict[str, Any]:
    times = {"StartedAt": "2026-11-16T18:14:41.042+00:00", "EndedAt": "2026-11-16T18:14:56.589+00:00"}
    return {"Id": key, "Status": status, "Operator": f"table:merge@{DIGEST}", "Attempts": [times], **times, **more}


RUN = {
    "RunID": "16bf65014dd34837",
    "Status": "failed",
    "Workflow": f"table:daily@{DIGEST}",
    "StartedAt": "2026-11-16T18:14:41.040+00:00",
    "Steps": [
        step(
            "merge",
            "succeeded",
            Response={"Info": ["13 rows"], "Warnings": ["odd"], "Data": [{"RowsIn": 1400, "RowsOut": 13, "Bytes": 99}]},
        ),
        step("late", "succeeded", StartedAt="2026-11-17T00:00:01.000+00:00", EndedAt="", ReusedFrom="ab"),
        step(
            "bad", "failed", Attempts=[{"Reason": "first"}, {"Reason": "no"}], Reason="no", Response={"Errors": ["no"]}
        ),
        {"Id": "after", "Status": "blocked", "Operator": "a:b", "Attempts": [], "Reason": "no"},
    ],
}


def test_the_steps_of_a_run_fit_a_terminal_with_their_times_rows_and_bytes() -> None:
    lines = table_lines(STEP_COLUMNS, step_rows(RUN), 80)

    assert max(map(len, lines)) <= 80
    assert lines[2].split() == ["merge", "succeeded", "table:merge", "18:14:41", "15.5", "s", "1,400", "→", "13", "99"]
    assert "2026-11-17" in lines[3]
    assert lines[-1].split() == ["after", "blocked", "a:b"]


def test_what_steps_said_is_told_with_every_attempt() -> None:
    assert list(step_lines(RUN)) == [
        "merge: 13 rows",
        "merge: warning: odd",
        "late: reused from ab",
        "bad: attempt 1: first",
        "bad: error: no",
        "after: blocked: no",
    ]


def test_a_run_is_a_line() -> None:
    listed = {**RUN, "Steps": {"succeeded": 6}}

    assert table_lines(RUN_COLUMNS, run_rows([listed]), 80)[2].split("  ") == [
        "16bf65014dd34837", "failed", "table:daily", "2026-11-16 18:14", "6 succeeded",
    ]  # fmt: skip
