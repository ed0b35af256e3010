"""Colours and widths: for terminals, not for pipes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from tests.cli.support import operator_with, registered
from tests.conftest import Mason, write
from tests.terminal import run_on_terminal
from tests.workflows.conftest import step, workflow_yaml


def on_a_terminal(mason: Mason, *arguments: str, columns: int = 80, stdout: int | None = None, **variables: str) -> str:
    """Run a command on a terminal of some width, stdout perhaps elsewhere, and return all that it wrote there."""
    env = mason.environment({"TERM": "xterm", **variables})
    return run_on_terminal([*mason.argv, *arguments], mason.folder, env, columns=columns, stdout=stdout)[0]


class TestSteps:
    def test_the_steps_of_a_run_are_a_table_on_a_terminal_and_lines_in_a_pipe(self, mason: Mason) -> None:
        operator_with(mason.folder / "defs", "demo", "wait", body="time.sleep(0.3)")
        steps = [step("first", command="wait"), step("second", "first", command="wait")]
        write(mason.folder / "defs" / "flow", {"workflow.yaml": workflow_yaml(steps)})
        registered(mason, mason.folder / "defs")

        seen = on_a_terminal(mason, "workflow", "demo", "flow", "-r")
        piped = mason("workflow", "demo", "flow", "-r").stderr

        tables = [table for table in re.split(r"\x1b\[\d+A\r\x1b\[J", seen) if "step " in table]
        assert re.search(r"^first +running +\d\.\d s +demo:wait$", tables[0], re.MULTILINE)
        last = re.findall(r"^(first|second) +(\w+) +\d\.\d s", tables[-1], re.MULTILINE)
        assert last == [("first", "succeeded"), ("second", "succeeded")]
        assert "\x1b" not in piped
        assert "first: running (demo:wait)\nfirst: succeeded\nsecond: running (demo:wait)" in piped


class TestTerminal:
    def test_colours_are_for_terminals_only_and_no_color_is_honoured(self, mason: Mason) -> None:
        wrong: Sequence[str] = ("config", "-s", "nope")

        assert "\x1b[" in on_a_terminal(mason, *wrong)
        assert "\x1b" not in on_a_terminal(mason, *wrong, NO_COLOR="1")
        assert "\x1b" not in on_a_terminal(mason, *wrong, TERM="dumb")
        piped = mason(*wrong, variables={"TERM": "xterm"})
        assert "\x1b" not in piped.stdout + piped.stderr

    def test_a_listing_fits_the_terminal_and_is_whole_in_a_pipe(self, mason: Mason) -> None:
        mason.register_examples()

        narrow = on_a_terminal(mason, "operator", "table", columns=110, NO_COLOR="1")

        assert max(map(len, narrow.splitlines())) <= 110
        assert re.search(r"^table +merge +.* input_path, output_path$", narrow, re.MULTILINE)
        assert "'read_all'" in mason("operator").stdout
        assert max(map(len, mason("operator").stdout.splitlines())) > 110

    def test_a_picture_is_as_wide_as_the_terminal_though_the_json_goes_elsewhere(self, mason: Mason) -> None:
        write(
            mason.folder, {"wide.csv": ",".join(f"column_{number}" for number in range(20)) + "\n" + "1," * 19 + "1\n"}
        )
        mason.register_examples()

        for columns, shown in ((60, 6), (120, 12)):
            preview = ("operator", "table", "preview", "-p", "path:wide.csv")
            drawn = on_a_terminal(mason, *preview, columns=columns, stdout=subprocess.DEVNULL, NO_COLOR="1")
            (head,) = [line for line in drawn.splitlines() if line.startswith("column_0")]
            assert (len(head.split()), len(head) <= columns) == (shown, True)
