"""`mason workflow` and `mason run`: the flags of the seeds, and an honest word on what is not there yet."""

from __future__ import annotations

import socket

import pytest

from tests.conftest import EXAMPLES, Mason, write


def test_no_workflows_says_how_to_register(mason: Mason) -> None:
    result = mason("workflow")

    assert result.exit_code == 0
    first, _, rest = result.stdout.partition("\n")
    assert first == 'No Workflows Registered.  Register workflows by running "mason register"'
    assert rest.startswith("\nCome with Mason:\n")


def test_who_runs_a_workflow_that_is_not_there_is_told_the_nearest(mason: Mason) -> None:
    result = mason("workflow", "table", "infr", "-r", "-f", str(EXAMPLES / "parameters/workflow_table_infer.yaml"))

    assert result.exit_code == 1
    assert 'Workflow "table:infr" not found. Did you mean "table:infer"?' in result.stderr


def test_workflows_are_listed_as_in_the_seeds(mason: Mason) -> None:
    assert mason("register", "mason/examples/workflows/").exit_code == 0

    for arguments, title in ([["workflow"], "Workflow"], [["workflow", "table"], "table"]):
        lines = mason(*arguments).stdout.splitlines()
        assert lines[1] == f"| Available {title} Methods: {mason.home}/registered_workflows/  |"
        assert lines[3] == ""
        assert lines[4].split() == ["namespace", "command", "description"]
        assert ["table", "infer", "One", "step"] in [line.split()[:4] for line in lines[6:]]


@pytest.mark.parametrize(
    "flags", [[], ["-r"], ["-c", "examples"], ["-d"], ["--deploy", "--run"], ["-d", "-s", "nightly"]]
)
def test_the_flags_of_the_seeds_plan_run_and_deploy(mason: Mason, flags: list[str]) -> None:
    mason.register_examples()
    assert mason("register", "mason/examples/workflows/").exit_code == 0
    assert mason("config", "mason/examples/configs/config_local.yaml").exit_code == 0
    write(mason.folder, {"mason/examples/data/suppliers/acme/1.csv": "sku,price\n1,2\n"})

    result = mason("workflow", "table", "infer", "-f", str(EXAMPLES / "parameters/workflow_table_infer.yaml"), *flags)

    assert result.exit_code == 0, result.stdout

    assert result.json["Errors"] == []
    assert ("Status" in result.json["Data"][0]) is bool(set(flags) & {"-r", "--run"})
    registered = f"Registered schedule {'nightly' if 'nightly' in flags else 'table_infer'}"
    assert (registered in result.json["Info"]) is bool(set(flags) & {"-d", "--deploy"})


def test_an_unknown_flag_of_workflow_is_a_usage_error(mason: Mason) -> None:
    assert mason("workflow", "table", "infer", "-p", "a:1").exit_code == 2


def test_run_has_its_flags(mason: Mason) -> None:
    assert mason("run", "--port", "many").exit_code == 2
    assert mason("run", "--certificate", "x.pem").exit_code == 2
    assert "[default: 5000" in mason("run", "--help").stdout


def test_run_refuses_a_host_that_others_can_reach_without_a_token(mason: Mason) -> None:
    result = mason("run", "--host", "0.0.0.0")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no token yet" in result.stderr
    assert "Traceback" not in result.stderr


def test_run_says_that_a_port_is_taken(mason: Mason) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        result = mason("run", "--port", str(port))

    assert result.exit_code == 1
    assert f"127.0.0.1:{port} cannot be listened on: Address already in use." in result.stderr
    assert "Traceback" not in result.stderr
