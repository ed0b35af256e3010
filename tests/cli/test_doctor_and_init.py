"""`mason doctor`, `mason init`, and the front page: `mason`, `mason --help`, `mason --version`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mason import __version__
from tests.cli.support import configured, install_package, registered, strict_json, tree
from tests.conftest import Mason, Result, write
from tests.definitions import write_operator
from tests.postgres import PASSWORD


def findings(result: Result) -> dict[str, tuple[str, str]]:
    """The lines of the doctor: subject → verdict and message."""
    lines = [line.split("  ", 1) for line in result.stdout.splitlines()]
    return {rest.split(": ")[0].strip(): (word.strip(), rest.split(": ", 1)[1]) for word, rest in lines}


class TestDoctor:
    def test_one_line_for_each_thing_that_a_run_needs(self, mason: Mason) -> None:
        found = findings(mason("doctor"))

        assert list(found) == [
            "Python",
            "Java",
            "Spark",
            "Home",
            "State",
            "Disk",
            "Configuration",
            "local as metastore",
            "spark as execution",
            "local as scheduler",
            "local as storage",
        ]
        assert found["Python"][0] == "ok"
        assert __version__ in found["Python"][1]
        assert found["Spark"] == ("ok", f"pyspark {found['Spark'][1].split()[1]}")
        assert "mason register" in found["State"][1]
        assert found["Configuration"] == ("ok", "local")
        assert found["local as metastore"] == ("ok", "ready")
        assert not mason.home.exists()

    def test_the_exit_code_says_whether_something_is_wrong(self, mason: Mason) -> None:
        result = mason("doctor")

        wrong = [verdict for verdict, _ in findings(result).values() if verdict == "WRONG"]
        assert result.exit_code == (1 if wrong else 0)

    def test_a_java_that_is_too_new_does_not_serve(self, mason: Mason, tmp_path: Path) -> None:
        for version in (21, 25):
            script = f"#!/bin/sh\necho 'openjdk version \"{version}.0.1\"' >&2\n"
            write(tmp_path, {f"{version}/bin/java": script})
            (tmp_path / str(version) / "bin" / "java").chmod(0o755)

        serves = findings(mason("doctor", variables={"JAVA_HOME": f"{tmp_path}/21"}))["Java"]
        too_new = findings(mason("doctor", variables={"JAVA_HOME": f"{tmp_path}/25"}))["Java"]

        assert serves == ("ok", f"21 at {tmp_path}/21")
        assert f"{tmp_path}/25" not in too_new[1] if too_new[0] == "ok" else "apt-get install openjdk-17" in too_new[1]

    def test_a_chosen_configuration_is_checked_client_by_client(self, mason: Mason) -> None:
        write(
            mason.folder,
            {"a.yaml": "id: a\nmetastore_engine: local\nclients: {local: {configuration: {root: gone}}}\n"},
        )
        write(mason.folder, {"b.yaml": "id: b\nmetastore_engine: glue\nstorage_engine: [s3, local]\n"})
        mason.variables["AWS_EC2_METADATA_DISABLED"] = "true"  # so that nobody is asked for credentials over a network
        assert mason("config", "a.yaml").exit_code == mason("config", "b.yaml").exit_code == 0

        current, other = mason("doctor"), mason("doctor", "-c", "b")

        assert current.exit_code == 1
        verdict, message = findings(current)["local as metastore"]
        assert verdict == "WRONG"
        assert f"root {mason.folder}/gone is not a folder: create it" in message
        assert {subject: verdict for subject, (verdict, _) in findings(other).items() if " as " in subject} == {
            "glue as metastore": "WRONG",
            "s3 as storage": "WRONG",
            "local as storage": "ok",
        }
        assert "There are no credentials for S3 here." in findings(other)["s3 as storage"][1]
        assert "There are no credentials for Glue here." in findings(other)["glue as metastore"][1]

    def test_a_client_that_is_not_there_yet_is_a_note(self, mason: Mason) -> None:
        schema = '{"type": "object", "x-mason-planned-roles": {"metastore": "it comes later"}}'
        install_package(mason, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, {"schema.json": schema})
        configured(mason, "id: a\nmetastore_engine: acme\n")

        assert findings(mason("doctor"))["acme as metastore"] == ("note", "configured; not usable yet: it comes later")

    def test_a_place_is_tried(self, mason: Mason) -> None:
        write(mason.folder, {"data/orders.csv": "id\n1\n"})

        found = findings(mason("doctor", "--path", "data/new", "--path", "data/orders.csv", "--path", "gs://b/k"))

        assert found["data/new"] == ("ok", "can be listed and written to")
        assert found["data/orders.csv"] == ("WRONG", f"{mason.folder}/data/orders.csv is a file: a table is a folder")
        assert found["gs://b/k"][0] == "WRONG" and "serves gs:// paths" in found["gs://b/k"][1]
        assert not (mason.folder / "data/new").exists()

    def test_an_unknown_configuration_and_an_unset_variable_are_wrong(self, mason: Mason) -> None:
        configured(
            mason, 'id: t\nmetastore_engine: local\nclients:\n  local:\n    configuration:\n      root: "{{GONE}}"\n'
        )

        unknown, unset = mason("doctor", "-c", "x"), mason("doctor")

        assert (unknown.exit_code, unset.exit_code) == (1, 1)
        assert findings(unknown)["Configuration"] == ("WRONG", 'Configuration "x" not found. There are: local, t.')
        assert findings(unset)["Configuration"][0] == "WRONG"
        assert "the variable GONE is not set" in unset.stdout

    def test_a_missing_dependency_is_wrong_with_what_to_install(self, mason: Mason) -> None:
        files = {"metastore.py": "import library_that_nobody_has\n", "schema.json": '{"type": "object"}'}
        install_package(mason, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, files)
        configured(mason, "id: a\nmetastore_engine: acme\n")

        result = mason("doctor")

        assert result.exit_code == 1
        assert findings(result)["acme as metastore"][0] == "WRONG"
        assert "pip install library_that_nobody_has" in result.stdout

    def test_a_client_that_crashes_does_not_hide_the_other_findings(self, mason: Mason) -> None:
        files = {"metastore.py": "1 / 0\n", "schema.json": '{"type": "object"}'}
        install_package(mason, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, files)
        configured(mason, "id: a\nmetastore_engine: acme\nstorage_engine: local\n")

        result = mason("doctor")

        assert result.exit_code == 1
        assert findings(result)["acme as metastore"][0] == "WRONG"
        assert findings(result)["local as storage"] == ("ok", "ready")

    def test_a_home_that_cannot_be_used_is_wrong(self, mason: Mason, tmp_path: Path) -> None:
        mason.home.write_text("a file, not a folder")

        result = mason("doctor")

        assert result.exit_code == 1
        assert findings(result)["Home"][0] == "WRONG"

    def test_a_damaged_state_is_wrong(self, mason: Mason, tmp_path: Path) -> None:
        registered(mason, write_operator(tmp_path / "src", "new", "one"))
        (mason.home / "state.db").write_bytes(
            b"this is not a database at all, but long enough to be taken for one" * 99
        )

        result = mason("doctor")

        assert result.exit_code == 1
        assert "state.db" in findings(result)["State"][1]
        assert findings(result)["State"][0] == "WRONG"
        assert "Traceback" not in result.stderr

    def test_a_state_on_a_server_is_told_without_its_password(self, mason: Mason, database: str) -> None:
        result = mason("doctor", variables={"MASON_STATE": database})

        verdict, told = findings(result)["State"]
        assert verdict == "ok" and told.startswith("PostgreSQL 15.")
        assert PASSWORD not in result.stdout + result.stderr and "p%40ss" not in result.stdout + result.stderr

    def test_a_state_on_a_server_that_is_down_is_wrong_and_the_rest_is_told(self, mason: Mason) -> None:
        result = mason("doctor", variables={"MASON_STATE": "postgresql://u:topsecret@127.0.0.1:1/mason"})

        found = findings(result)
        assert result.exit_code == 1
        assert found["Home"][0] == "ok"
        assert found["State"][0] == "WRONG" and "Connection refused. Is it running" in found["State"][1]
        assert "topsecret" not in result.stdout + result.stderr

    def test_the_number_of_operators_is_told(self, mason: Mason) -> None:
        mason.register_examples()

        assert findings(mason("doctor"))["State"][1].endswith(" operators")


class TestInit:
    def _try_it(self, mason: Mason, told: str) -> subprocess.CompletedProcess[str]:
        """Run the one command that `mason init` printed, with `mason` on the path."""
        folder = str(Path(sys.executable).parent)
        environment = mason.environment({"PATH": f"{folder}:{mason.environment().get('PATH', '')}"})
        return subprocess.run(
            ["bash", "-c", told], env=environment, cwd=mason.folder, capture_output=True, text=True, check=False
        )

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["deep/er/with a space"], "orders has 5 columns: order (int64), customer (string), "),
            (["--template", "sql"], "3 rows: {folder}/data/report/customers. 2 checks of 3 rows: 2 passed."),
        ],
    )
    def test_the_printed_command_works(self, mason: Mason, arguments: list[str], said: str) -> None:
        result = mason("init", *arguments)

        assert result.exit_code == 0
        assert result.stdout.startswith("Try it: ")
        done = self._try_it(mason, result.stdout.removeprefix("Try it: ").strip())
        assert done.returncode == 0, done.stderr
        assert '"Errors": []' in done.stdout
        assert said.format(folder=mason.folder) in done.stderr
        assert "1 operator, 2 tests on local: all passed." in done.stdout + done.stderr
        again = self._try_it(mason, result.stdout.removeprefix("Try it: ").strip())
        assert again.returncode == 0, again.stderr

    def test_it_makes_all_that_a_project_has(self, mason: Mason) -> None:
        result = mason("init", "demo")

        made = set(tree(mason.folder / "demo"))
        assert {"mason.yaml", "README.md", ".gitignore", "run.sh", "configs/dev.yaml", "configs/prod.yaml"} <= made
        assert {"operators/orders/describe/operator.yaml", "operators/orders/describe/__init__.py"} <= made
        assert {"operators/orders/describe/tests/describes.yaml", "data/sources/orders/2026-01.csv"} <= made
        assert {"workflows/orders/daily/workflow.yaml", "parameters/daily.yaml"} <= made
        text = "".join((mason.folder / "demo" / name).read_text() for name in made if "." in name)
        assert "__NAME__" not in text and "{{DEMO_DATA}}" in text and "name: demo\n" in text
        for file in (name for name in made if (mason.folder / "demo" / name).is_file()):
            assert f"demo/{file}" in result.stderr
        assert not mason.home.exists()

    def test_every_template_is_valid_and_can_be_planned(self, mason: Mason) -> None:
        usage = mason("init", "--help").stdout
        for name in ("files", "sql", "spark"):
            assert name in usage
            assert mason("init", name, "-t", name).exit_code == 0
            folder = mason.folder / name
            valid = mason("validate", folder=folder)
            planned = mason("workflow", "orders", "daily", "-f", "parameters/daily.yaml", folder=folder)

            assert valid.stdout == f"The project {name} is valid: 2 configurations, 1 operator, 1 workflow.\n"
            assert planned.exit_code == 0, planned.stdout
        assert mason("init", "x", "-t", "fiels").exit_code == 2

    def test_the_own_operator_of_a_template_is_of_the_form_that_suits_it(self, mason: Mason) -> None:
        for name, file in (("sql", "transform.sql"), ("spark", "__init__.py")):
            mason("init", name, "-t", name)
            own = mason.folder / name / "operators" / "orders" / "spend"

            assert {"operator.yaml", file, "tests/sums_up.yaml", "tests/since.yaml"} <= set(tree(own))
        assert "class OrdersSpend(SparkOperator):" in (own / "__init__.py").read_text()

    def test_what_is_there_is_not_touched(self, mason: Mason) -> None:
        write(mason.folder, {"demo/mason.yaml": "mine"})
        before = tree(mason.folder)

        result = mason("init", "demo")

        assert result.exit_code == 1
        assert "There already: demo/mason.yaml. Choose another folder or name." in result.stderr
        assert tree(mason.folder) == before

    def test_a_folder_that_cannot_be_made_says_so(self, mason: Mason) -> None:
        write(mason.folder, {"file": "text"})

        result = mason("init", "file/demo")

        assert result.exit_code == 1
        assert "file" in result.stderr
        assert "Traceback" not in result.stderr


class TestFrontPage:
    def test_the_version(self, mason: Mason) -> None:
        for flag in ("--version", "-V"):
            assert mason(flag).stdout == f"mason {__version__}\n"

    def test_the_installed_command_is_the_same_program(self, mason: Mason) -> None:
        command = Path(sys.executable).parent / "mason"

        done = subprocess.run(
            [command, "--version"], env=mason.environment(), capture_output=True, text=True, check=True
        )

        assert done.stdout == f"mason {__version__}\n"

    def test_help_lists_every_command_and_each_has_help(self, mason: Mason) -> None:
        text = mason("--help").stdout

        listed = [
            line.split()[0]
            for line in text.split("Commands:")[1].splitlines()
            if line.startswith("  ") and line[2] != " "
        ]
        assert {"config", "operator", "register", "run", "workflow", "init", "doctor", "completion"} <= set(listed)
        assert listed == sorted(listed)
        for name in listed:
            for flag in ("--help", "-h"):
                result = mason(name, flag)
                assert result.exit_code == 0, name
                assert result.stdout.startswith(f"Usage: mason {name}")
                assert "Traceback" not in result.stderr

    def test_mason_alone_shows_the_help(self, mason: Mason) -> None:
        result = mason()

        assert "Commands:" in result.stdout + result.stderr
        assert "Traceback" not in result.stderr

    def test_an_unknown_command_names_the_nearest_one(self, mason: Mason) -> None:
        result = mason("registr")

        assert result.exit_code == 2
        assert 'There is no command "registr". Did you mean "regist' in result.stderr
        strict = mason("operator", "x", "y")
        assert strict.exit_code == 1
        assert strict_json(strict)["Errors"]
