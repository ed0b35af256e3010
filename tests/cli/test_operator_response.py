"""What a run gives back: one JSON document on stdout, whatever happens, and an exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.support import errors, operator_with, registered, strict_json
from tests.conftest import Mason, write


class TestResponse:
    def test_stdout_is_exactly_one_json_document_on_success(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id,who\n1,Ada\n"})

        result = mason("operator", "table", "get", "-p", "database_name:shop,table_name:orders")

        assert result.exit_code == 0
        document = strict_json(result)
        assert result.stdout == json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        assert document["Errors"] == []
        assert list(document["Data"][0])[:4] == ["Name", "CreatedAt", "CreatedBy", "DatabaseName"]
        assert document["Data"][0]["Schema"]["Columns"] == [
            {"Name": "id", "Type": "int64"},
            {"Name": "who", "Type": "string"},
        ]
        assert "| Operator Response  |" in result.stderr

    def test_a_failure_of_the_client_is_a_response(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})

        told = errors(mason, "table", "get", "-p", "database_name:shop,table_name:order")
        assert told == ['Table "order" not found in database "shop". Did you mean "orders"?']
        assert errors(mason, "table", "list", "-p", "database_name:shops") == [
            'Database "shops" not found. Did you mean "shop"?'
        ]

    def test_a_crash_in_the_operators_code_is_a_response_with_the_traceback_on_stderr(
        self, mason: Mason, tmp_path: Path
    ) -> None:
        body = 'resp.add_info("began")\nresp.add_data({"part": 1})\nraise ValueError("the moon")'
        registered(mason, operator_with(tmp_path / "src", "new", "crash", body=body))

        result = mason("operator", "new", "crash")

        assert result.exit_code == 1
        document = strict_json(result)
        assert len(document["Errors"]) == 1
        assert "ValueError: the moon" in document["Errors"][0]
        assert (document["Info"], document["Data"]) == (["began"], [{"part": 1}])
        assert "Traceback" not in result.stdout
        assert "Traceback" in result.stderr
        assert 'raise ValueError("the moon")' in result.stderr

    @pytest.mark.parametrize(
        "body",
        ["return None", 'return "text"', "raise SystemExit(3)", "sys.exit(0)"],
    )
    def test_an_operator_that_ends_oddly_is_still_a_failed_response(
        self, mason: Mason, tmp_path: Path, body: str
    ) -> None:
        registered(mason, operator_with(tmp_path / "src", "new", "odd", body=body))

        result = mason("operator", "new", "odd")

        assert result.exit_code == 1
        assert strict_json(result)["Errors"]

    def test_what_an_operator_prints_does_not_get_between(self, mason: Mason, tmp_path: Path) -> None:
        body = 'print("printed")\nsys.stdout.write("written")\nos.system("echo shouted")\nos.write(1, b"low")'
        registered(mason, operator_with(tmp_path / "src", "new", "loud", body=body))

        result = mason("operator", "new", "loud")

        assert result.exit_code == 0
        strict_json(result)
        for word in ("printed", "written", "shouted", "low"):
            assert word in result.stderr

    def test_data_that_json_has_no_word_for_are_still_json(self, mason: Mason, tmp_path: Path) -> None:
        body = (
            "import datetime, decimal\n"
            'resp.add_data({"nan": float("nan"), "inf": float("inf"), "day": datetime.date(2026, 1, 31),\n'
            '               "exact": decimal.Decimal("1.10"), ("a", 1): "pair", "set": {1}, "bytes": b"x",\n'
            '               "path": "caf\\udce9", "umlaut": "ü"})'
        )
        registered(mason, operator_with(tmp_path / "src", "new", "odd", body=body))

        result = mason("operator", "new", "odd")

        assert result.exit_code == 0
        (data,) = strict_json(result)["Data"]
        assert data["day"] == "2026-01-31"
        assert data["exact"] in ("1.10", 1.1)
        assert data["umlaut"] == "ü"
        assert '"ü"' in result.stdout

    def test_a_file_whose_name_is_not_utf8_does_not_break_the_response(self, mason: Mason) -> None:
        mason.register_examples()
        (mason.folder / "shop").mkdir()
        with open(os.fsencode(mason.folder / "shop") + b"/caf\xe9.csv", "w") as file:
            file.write("a\n1\n")

        done = subprocess.run(
            [*mason.argv, "operator", "table", "list", "-p", "database_name:shop"],
            env=mason.environment(),
            cwd=mason.folder,
            capture_output=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        (table,) = json.loads(done.stdout.decode("utf-8"))["Data"]
        assert table["Name"].startswith("caf")

    def test_errors_and_warnings_of_the_operator_reach_both_streams(self, mason: Mason, tmp_path: Path) -> None:
        body = 'resp.add_info("one")\nresp.add_warning("two")\nresp.add_error("three")'
        registered(mason, operator_with(tmp_path / "src", "new", "talk", body=body))

        result = mason("operator", "new", "talk")

        assert result.exit_code == 1
        document = strict_json(result)
        assert (document["Info"], document["Warnings"], document["Errors"]) == (["one"], ["two"], ["three"])
        assert result.stderr.splitlines()[:3] == ["one", "warning: two", "error: three"]

    def test_usage_errors_exit_2_and_print_nothing_on_stdout(self, mason: Mason) -> None:
        for arguments in (
            ["operator", "--nonsense"],
            ["operator", "a", "b", "c"],
            ["operator", "-l", "loud"],
            ["nope"],
        ):
            result = mason(*arguments)
            assert (result.exit_code, result.stdout) == (2, ""), arguments
            assert "Usage: mason" in result.stderr

    def test_ctrl_c_exits_130_with_a_response(self, mason: Mason, tmp_path: Path) -> None:
        body = 'resp.add_info("began")\nopen("began", "w")\ntime.sleep(60)'
        registered(mason, operator_with(tmp_path / "src", "new", "sleep", body=body))
        process = mason.start("operator", "new", "sleep")
        _wait_for(mason.folder / "began")

        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)

        assert process.returncode == 130
        document = json.loads(stdout)
        assert list(document) == ["Errors", "Info", "Warnings", "Data"]
        assert document["Errors"] == ["Interrupted."]
        assert document["Info"] == ["began"]
        assert "Traceback" not in stderr

    def test_ctrl_c_exits_130_also_while_a_text_is_executed(self, mason: Mason, tmp_path: Path) -> None:
        body = 'exec("os.kill(os.getpid(), 2)\\ntime.sleep(60)")'
        registered(mason, operator_with(tmp_path / "src", "new", "exec", body=body))
        process = mason.start("operator", "new", "exec")

        stdout, stderr = process.communicate(timeout=60)

        assert process.returncode == 130
        assert json.loads(stdout)["Errors"] == ["Interrupted."]
        assert "Traceback" not in stderr

    def test_a_reader_that_leaves_early_is_not_an_error(self, mason: Mason) -> None:
        mason.register_examples()
        command = f"set -o pipefail; {' '.join(mason.argv)} operator | head -1"

        done = subprocess.run(
            ["bash", "-c", command],
            env=mason.environment(),
            cwd=mason.folder,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


class TestLogLevels:
    def test_levels_choose_what_is_said_on_stderr(self, mason: Mason, tmp_path: Path) -> None:
        mason.register_examples()
        body = 'resp.add_info("I")\nresp.add_warning("W")\nresp.add_error("E")\n'
        body += "config.metastore.client.list_databases(response=resp)"
        registered(mason, operator_with(tmp_path / "src", "new", "talk", body=body))
        expected = {
            "trace": ["I", "warning: W", "error: E"],
            "debug": ["I", "warning: W", "error: E"],
            "info": ["I", "warning: W", "error: E"],
            "warning": ["warning: W", "error: E"],
            "error": ["error: E"],
            "fatal": [],
        }

        for level, lines in expected.items():
            result = mason("operator", "new", "talk", "-l", level)
            said = [line for line in result.stderr.splitlines() if line in expected["info"]]
            assert said == lines, level
            assert strict_json(result)["Warnings"] == ["W"]
            took = "debug: LocalMetastoreClient.list_databases took" in result.stderr
            assert took == (level in ("trace", "debug")), level

    def test_the_level_may_be_written_in_capitals(self, mason: Mason) -> None:
        assert mason("operator", "-l", "WARNING").exit_code == 0


def _wait_for(file: Path) -> None:
    for _ in range(600):
        if file.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{file} did not appear")
