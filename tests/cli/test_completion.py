"""`mason completion`: what a shell completes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from mason.state.models import RecordKind
from mason.state.sqlite import SqliteStore
from mason.util.environment import MasonEnvironment
from mason.util.names import new_id
from tests.cli.support import operator_with, registered
from tests.conftest import Mason, write


@pytest.fixture
def ready(mason: Mason, tmp_path: Path) -> Mason:
    """Operators with and without a namespace, and three configurations."""
    mason.register_examples()
    assert mason("config", "mason/examples/configs/").exit_code == 0
    folder = operator_with(tmp_path / "src", "", "tidy", parameters="  optional:\n    - depth\n    - dry_run\n")
    write(folder, {"operator.yaml": (folder / "operator.yaml").read_text().replace('namespace: ""\n', "")})
    return registered(mason, tmp_path / "src")


def complete(mason: Mason, line: str) -> list[str]:
    """What bash would offer at the end of the line."""
    words = shlex.split(line)
    position = len(words) if line.endswith(" ") else len(words) - 1
    variables = {"_MASON_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(position)}
    result = mason(variables=variables)
    assert "Traceback" not in result.stderr
    return [offer.split(",", 1)[1] for offer in result.stdout.splitlines() if "," in offer]


def record_of(mason: Mason, kind: RecordKind) -> str:
    """Write the record of a job or a run, and return its id."""
    with closing(SqliteStore(MasonEnvironment(mason.home).state_file)) as store:
        return store.add_record(kind, new_id(), "succeeded", {}).id


def test_commands_complete(ready: Mason) -> None:
    assert complete(ready, "mason re") == ["register", "registry"]
    assert "doctor" in complete(ready, "mason ")


def test_namespaces_and_operators_without_one_complete(ready: Mason) -> None:
    assert complete(ready, "mason operator ") == ["database", "job", "schedule", "table", "tidy"]
    assert complete(ready, "mason operator t") == ["table", "tidy"]


def test_commands_of_a_namespace_complete(ready: Mason) -> None:
    assert complete(ready, "mason operator database ") == ["create", "delete", "get", "list"]
    assert complete(ready, "mason operator table re") == ["refresh"]
    assert complete(ready, "mason operator nothing ") == []


def test_values_complete_after_a_comma_as_well(ready: Mason) -> None:
    write(ready.folder, {"shop/orders.csv": "id\n1\n", "shop/old/x.csv": "id\n1\n"})
    get, merge = "mason operator table get -c local -p ", "mason operator table merge -p "

    assert complete(ready, f"{get}database_name:sh") == ["database_name:shop"]
    assert complete(ready, f"{get}database_name:shop,table_name:or") == ["database_name:shop,table_name:orders"]
    assert complete(ready, f"{merge}input_path:shop/o") == ["input_path:shop/old/", "input_path:shop/orders.csv"]
    assert complete(ready, f"{merge}mode:app") == ["mode:append"]
    assert complete(ready, f"{merge}mode=app") == ["mode=append"]
    assert complete(ready, f"{merge}mode=append,incremental=t") == ["mode=append,incremental=true"]
    assert complete(ready, f"{get}table_name:or") == []


def test_ids_of_jobs_and_runs_complete(ready: Mason) -> None:
    job = record_of(ready, RecordKind.JOB)
    run = record_of(ready, RecordKind.RUN)

    assert complete(ready, f"mason job get {job[:5]}") == [job]
    assert complete(ready, f"mason operator job get -p job_id:{job[:5]}") == [f"job_id:{job}"]
    assert complete(ready, f"mason workflow --resume {run[:5]}") == [run]


def test_parameters_of_an_operator_complete(ready: Mason) -> None:
    assert complete(ready, "mason operator table get -p ") == ["database_name:", "table_name:"]
    assert complete(ready, "mason operator table get -p t") == ["table_name:"]
    assert complete(ready, "mason operator table get -p database_name:shop,") == ["database_name:shop,table_name:"]
    assert complete(ready, "mason operator table get -p database_name:shop,t") == ["database_name:shop,table_name:"]
    assert complete(ready, "mason operator table get -c 1 --plan -p t") == ["table_name:"]


def test_parameters_of_an_operator_without_a_namespace_complete(ready: Mason) -> None:
    assert complete(ready, "mason operator tidy -p ") == ["depth:", "dry_run:"]


def test_configuration_ids_complete_wherever_one_is_taken(ready: Mason) -> None:
    for line in ("mason operator table get -c ", "mason config -s ", "mason doctor -c ", "mason workflow a b -c "):
        assert complete(ready, line) == ["1", "2", "3", "examples", "local"], line
    assert complete(ready, "mason config -s e") == ["examples"]


def test_completing_in_an_empty_home_writes_nothing(mason: Mason) -> None:
    assert complete(mason, "mason operator ") == ["database", "job", "schedule", "table"]
    assert complete(mason, "mason config -s ") == ["local"]
    assert not mason.home.exists()


def test_completing_with_a_damaged_home_stays_silent(mason: Mason) -> None:
    write(mason.home, {"state.db": "this is no database" * 100})

    for line in ("mason operator ", "mason config -s "):
        assert complete(mason, line) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_printed(mason: Mason, shell: str) -> None:
    result = mason("completion", shell)

    assert result.exit_code == 0
    assert f"_MASON_COMPLETE={shell}_complete" in result.stdout
    assert "_mason_completion" in result.stdout


def test_another_shell_is_a_usage_error(mason: Mason) -> None:
    result = mason("completion", "cmd")

    assert result.exit_code == 2
    assert "bash" in result.stderr


def test_bash_itself_completes_with_the_script(ready: Mason) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = ready("completion", "bash").stdout
    driver = (
        f"{script}\nCOMP_WORDS=(mason operator table re) COMP_CWORD=3\n"
        '_mason_completion mason re table\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    environment = ready.environment({"PATH": f"{Path(sys.executable).parent}:{ready.environment().get('PATH', '')}"})

    done = subprocess.run(
        [bash, "-c", driver], env=environment, cwd=ready.folder, capture_output=True, text=True, check=False
    )

    assert done.stdout.split() == ["refresh"], done.stderr
