"""`mason completion`: what a shell completes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
