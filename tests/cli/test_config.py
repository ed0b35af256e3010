"""`mason config`: what is saved and listed, what is refused, and which configuration a command uses."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import configured, install_package, operator_with, registered, strict_json
from tests.conftest import EXAMPLES, Mason, write

KEYS = "      access_key: AKIA\n      secret_key: hush\n"


def local(config_id: str, root: str = "") -> str:
    """A configuration of local files."""
    client = f'clients:\n  local:\n    configuration:\n      root: "{root}"\n' if root else ""
    return f"id: {config_id}\nmetastore_engine: local\nstorage_engine: local\n{client}"


def ids(mason: Mason) -> list[str]:
    """The ids of the listing, the current one with its star."""
    lines = mason("config").stdout.splitlines()
    return [line.split("  ")[1] + "*" * (line[0] == "*") for line in lines if line[:3] in ("*  ", ".  ")]


def table_names(mason: Mason, *arguments: str) -> list[str]:
    """The tables of the database `shop`."""
    result = mason("operator", "table", "list", "-p", "database_name:shop", *arguments)
    assert result.exit_code == 0, result.stdout
    return [each["Name"] for each in strict_json(result)["Data"]]


class TestSaving:
    @pytest.mark.parametrize("path", ["configs/a.yaml", "configs", "configs/", "./configs//"])
    def test_the_path_is_a_file_or_a_folder(self, mason: Mason, path: str) -> None:
        write(mason.folder, {"configs/a.yaml": local("a"), "configs/notes.txt": "not a configuration"})

        result = mason("config", path)

        assert result.exit_code == 0
        assert ids(mason) == ["a*"]
        assert "Valid Configuration. Saving config a at configs/a.yaml to " in result.stderr
        assert "Setting current config to a" in result.stderr
        assert f"Creating MASON_HOME at {mason.home}/" in result.stderr

    def test_sub_folders_are_read_and_hidden_ones_are_not(self, mason: Mason) -> None:
        files = {"c/a.yaml": local("a"), "c/deep/er/b.yml": local("b"), "c/.git/x.yaml": "broken: [", "c/.x.yaml": "}"}
        write(mason.folder, files)

        assert mason("config", "c").exit_code == 0

        assert ids(mason) == ["a*", "b"]

    def test_nothing_to_read_is_an_error(self, mason: Mason) -> None:
        (mason.folder / "empty").mkdir()

        missing, empty = mason("config", "nowhere"), mason("config", "empty")

        assert (missing.exit_code, empty.exit_code) == (1, 1)
        assert 'Path "nowhere" not found.' in missing.stderr
        assert "empty: no .yaml or .yml file in it." in empty.stderr
        assert not mason.home.exists()

    def test_valid_files_are_saved_and_invalid_ones_are_not(self, mason: Mason) -> None:
        write(
            mason.folder / "c",
            {
                "good.yaml": local("good"),
                "bad.yaml": "id: bad\nmetastore_engine: lokal\nclients:\n  spark:\n    configuration:\n"
                "      runner:\n        type: locl\n        executors: none\n        colour: red\n",
                "worse.yaml": "metastore_engine: [\n",
                "empty.yaml": "",
                "list.yaml": "- a\n",
            },
        )

        result = mason("config", "c")

        assert result.exit_code == 1
        complaints = [line.removeprefix("error: ") for line in result.stderr.splitlines() if line.startswith("error: ")]
        for place in (
            'c/bad.yaml:2: metastore_engine: there is no client "lokal". Did you mean "local"?',
            "c/bad.yaml:7: clients.spark.configuration.runner.type: 'locl' is not one of",
            "c/bad.yaml:8: clients.spark.configuration.runner.executors: must be a whole number, not text",
            "c/bad.yaml:9: clients.spark.configuration.runner.colour: unknown key",
            "c/worse.yaml:",
            "c/empty.yaml:1: is empty",
            "c/list.yaml:1: must be a mapping, not",
        ):
            assert sum(line.startswith(place) for line in complaints) == 1, place
        assert ids(mason) == ["good*"]
        assert not (mason.home / "configurations" / "bad.yaml").exists()

    def test_numbers_and_truth_values_are_what_they_look_like(self, mason: Mason) -> None:
        configured(
            mason,
            "id: typed\nstorage_engine: s3\nexecution_engine: spark\nclients:\n  s3:\n    configuration:\n"
            "      path_style: true\n  spark:\n    configuration:\n      runner:\n        type: local\n"
            "        executors: 2\n        spark_version: '4.1'\n        conf: {spark.x: 1, spark.y: true}\n",
        )

        listing = mason("config").stdout

        assert "{'path_style': True}" in listing
        assert "'executors': 2" in listing
        assert "'conf': {'spark.x': 1, 'spark.y': True}" in listing

    def test_an_invalid_file_does_not_replace_the_saved_one(self, mason: Mason) -> None:
        configured(mason, local("a", "first"))
        write(mason.folder, {"a.yaml": "id: a\nmetastore_engine: nobody\n"})

        assert mason("config", "a.yaml").exit_code == 1

        assert "{'root': 'first'}" in mason("config").stdout

    def test_the_same_id_again_replaces_what_was_saved(self, mason: Mason) -> None:
        configured(mason, local("a", "first"))

        configured(mason, local("a", "second"))

        listing = mason("config").stdout
        assert "second" in listing
        assert "first" not in listing

    def test_what_is_saved_is_readable_by_its_owner_only_and_as_written(self, mason: Mason) -> None:
        text = local("a") + "# a note\n"
        configured(mason, text)

        saved = mason.home / "configurations" / "a.yaml"
        assert saved.read_text() == text
        assert stat.S_IMODE(saved.stat().st_mode) == 0o600

    def test_the_database_that_holds_configurations_is_readable_by_its_owner_only(self, mason: Mason) -> None:
        configured(mason, local("a"))

        assert stat.S_IMODE(mason.home.stat().st_mode) & 0o077 == 0


class TestListing:
    def test_the_three_examples_are_listed_as_in_the_seeds(self, mason: Mason) -> None:
        for number in (1, 2, 3):
            assert mason("config", f"mason/examples/configs/config_{number}.yaml").exit_code == 0

        lines = mason("config").stdout.splitlines()

        assert lines[:3] == ["+-----------------+", "| Configurations  |", "+-----------------+"]
        assert lines[3].split("  ") != lines[4].split("  ")
        assert lines[3].split() == ["Config", "ID", "Engine", "Client", "Configuration"]
        assert set(lines[4]) == {"-", " "}
        hidden = "'access_key': 'REDACTED', 'secret_key': 'REDACTED'}"
        rows = [(line[:4].rstrip(), *line[4:].split(None, 2)) for line in lines[5:-2]]
        glue = "{'aws_region': 'us-east-1', 'aws_role_arn': 'REDACTED', " + hidden
        aws = "{'aws_region': 'us-east-1', " + hidden
        spark = "{'runner': {'spark_version': '2.4.5', 'type': 'kubernetes-operator'}}"
        assert rows == [
            ("*  1", "metastore", "glue", glue),
            ("", "scheduler", "glue", glue),
            ("", "storage", "s3", aws),
            ("", "execution", "athena", aws),
            (".  2", "metastore", "s3", aws),
            ("", "execution", "spark", spark),
            (".  3", "metastore", "athena", aws),
            ("", "scheduler", "local", "{}"),
            ("", "storage", "s3", aws),
        ]
        assert lines[-2:] == ["", "* = Current Configuration"]

    def test_the_folder_of_examples_is_found_from_anywhere(self, mason: Mason) -> None:
        result = mason("config", "mason/examples/configs/")

        assert result.exit_code == 0, result.stderr
        assert ids(mason)[:3] == ["1*", "2", "3"]
        assert len(ids(mason)) == len(list((EXAMPLES / "configs").glob("*.yaml")))

    def test_without_any_the_built_in_one_is_current_and_works(self, mason: Mason) -> None:
        assert ids(mason) == ["local*"]
        assert not mason.home.exists()
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "a\n1\n"})
        assert table_names(mason) == ["orders"]
        assert table_names(mason, "-c", "local") == ["orders"]

    def test_numbers_are_sorted_as_numbers(self, mason: Mason) -> None:
        write(mason.folder / "c", {f"{n}.yaml": local(str(n)) for n in (10, 9, 2, 1)})
        write(mason.folder / "c", {"x.yaml": local("x10"), "y.yaml": local("x9")})
        assert mason("config", "c").exit_code == 0

        assert [each.rstrip("*") for each in ids(mason)] == ["1", "2", "9", "10", "x9", "x10"]

    def test_a_role_may_name_several_clients_and_every_role_is_optional(self, mason: Mason) -> None:
        configured(mason, "id: many\nstorage_engine: [local, s3]\n")
        configured(mason, "id: none\n")

        rows = [line.split() for line in mason("config").stdout.splitlines()]

        place = rows.index(["*", "many", "storage", "local", "{}"])
        assert rows[place + 1] == ["storage", "s3", "{}"]
        assert ids(mason) == ["many*", "none"]

    def test_secrets_are_redacted_at_any_depth_by_name_and_by_schema(self, mason: Mason) -> None:
        schema = {
            "type": "object",
            "properties": {
                "marked": {"type": "string", "x-mason-secret": True},
                "nested": {"type": "object", "properties": {"arn": {"type": "string", "x-mason-secret": True}}},
                "each": {"type": "array", "items": {"type": "string", "x-mason-secret": True}},
                "any": {"type": "object", "additionalProperties": {"type": "string", "x-mason-secret": True}},
            },
        }
        files = {"schema.json": json.dumps(schema), "metastore.py": ""}
        install_package(mason, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, files)
        configured(
            mason,
            "id: acme\nmetastore_engine: acme\nclients:\n  acme:\n    configuration:\n"
            "      marked: hush-marked\n      nested: {arn: hush-nested, region: seen-region}\n"
            "      each: [hush-each]\n      any: {thing: hush-any}\n"
            "      access_key: hush-key\n      apiToken: hush-token\n      db_password: hush-password\n"
            "      SECRET: hush-secret\n      deep:\n        - plain: seen-plain\n"
            "          list: [{clientSecret: hush-client}, [{token: hush-list}]]\n"
            "      credentials: {user: hush-user}\n      tokens: [hush-tokens]\n      passwords: {a: hush-passwords}\n"
            "      secretkey: hush-secretkey\n      accesskey: hush-accesskey\n      dbpassword: hush-dbpassword\n"
            "      url: https://me:hush-url@host/x\n      monkey: seen-monkey\n      keyboard: seen-keyboard\n"
            "      number_key: 123456\n      empty_key: ''\n",
        )

        listing = mason("config").stdout

        assert "hush" not in listing
        assert "123456" not in listing
        for word in ("seen-region", "seen-plain", "seen-monkey", "seen-keyboard"):
            assert word in listing
        assert "'marked': 'REDACTED'" in listing

    def test_secrets_in_sparks_conf_are_redacted(self, mason: Mason) -> None:
        configured(
            mason,
            "id: spark\nexecution_engine: spark\nclients:\n  spark:\n    configuration:\n      runner:\n"
            "        type: submit\n        conf:\n          spark.hadoop.fs.s3a.secret.key: hush\n"
            "          spark.ssl.keyPassword: hush\n          spark.executor.memory: 2g\n",
        )

        listing = mason("config").stdout

        assert "hush" not in listing
        assert "'spark.executor.memory': '2g'" in listing


class TestIds:
    def test_a_number_and_its_text_are_the_same_id(self, mason: Mason) -> None:
        configured(mason, local("1", "first"))
        configured(mason, local('"1"', "second"))

        assert ids(mason) == ["1*"]
        assert "second" in mason("config").stdout

    def test_without_an_id_the_files_name_is_it(self, mason: Mason) -> None:
        write(mason.folder, {"my-lake.v2.yaml": "metastore_engine: local\n"})

        assert mason("config", "my-lake.v2.yaml").exit_code == 0

        assert ids(mason) == ["my-lake.v2*"]

    def test_duplicates_are_refused_naming_every_file_and_none_is_saved(self, mason: Mason) -> None:
        files = {"a.yaml": local("1"), "b.yaml": local('"1"'), "1.yaml": "metastore_engine: local\n"}
        write(mason.folder / "c", {**files, "good.yaml": local("good")})

        result = mason("config", "c")

        assert result.exit_code == 1
        for file in files:
            assert f"c/{file}" in result.stderr.replace("Saving config", "")
        assert ids(mason) == ["good*"]

    def test_an_id_is_chosen_with_s(self, mason: Mason) -> None:
        write(mason.folder / "c", {"1.yaml": local("1"), "2.yaml": local("two")})
        assert mason("config", "c").exit_code == 0

        result = mason("config", "-s", "two")

        assert result.exit_code == 0
        assert "Setting current config to two" in result.stderr
        assert ids(mason) == ["1", "two*"]

    def test_an_unknown_id_is_an_error_with_the_nearest_one_and_changes_nothing(self, mason: Mason) -> None:
        write(mason.folder / "c", {"1.yaml": local("staging"), "2.yaml": local("production")})
        assert mason("config", "c").exit_code == 0
        before = ids(mason)

        result = mason("config", "-s", "produktion")

        assert result.exit_code == 1
        assert 'Configuration "produktion" not found. Did you mean "production"?' in result.stderr
        assert "There are: local, production, staging." in mason("config", "-s", "x").stderr
        assert ids(mason) == before

    def test_one_command_can_use_another_one(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"one/shop/first.csv": "a\n1\n", "two/shop/second.csv": "a\n1\n"})
        write(mason.folder / "c", {"1.yaml": local("1", "one"), "2.yaml": local("2", "two")})
        assert mason("config", "c").exit_code == 0

        assert table_names(mason) == ["first"]
        assert table_names(mason, "-c", "2") == ["second"]
        assert table_names(mason) == ["first"]
        mason.variables["MASON_CONFIG"] = "2"
        assert table_names(mason) == ["second"]
        assert table_names(mason, "-c", "1") == ["first"]
        mason.variables["MASON_CONFIG"] = "nowhere"
        result = mason("operator", "table", "list", "-p", "database_name:shop")
        assert result.exit_code == 1
        assert 'Configuration "nowhere" not found.' in strict_json(result)["Errors"][0]


class TestVariables:
    @pytest.fixture
    def data(self, mason: Mason) -> Mason:
        """A configuration whose root is `{{DATA_ROOT}}/x`, and a folder for each place that could define it."""
        mason.register_examples()
        configured(mason, local("filled", "{{DATA_ROOT}}/x"))
        for place in ("environment", "home", "here", "user"):
            write(mason.folder.parent / "roots", {f"{place}/x/shop/{place}.csv": "a\n1\n"})
        return mason

    def _root(self, mason: Mason, place: str) -> str:
        return str(mason.folder.parent / "roots" / place)

    def test_each_place_is_asked_in_order_and_the_environment_wins(self, data: Mason, tmp_path: Path) -> None:
        user = tmp_path / "user"
        data.variables["HOME"] = str(user)

        write(user, {".env": f"DATA_ROOT={self._root(data, 'user')}\n"})
        assert table_names(data) == ["user"]
        write(data.folder, {".env": f"# mine\nexport DATA_ROOT='{self._root(data, 'here')}' # here\n"})
        assert table_names(data) == ["here"]
        write(data.home, {".env": f'DATA_ROOT="{self._root(data, "home")}"\n'})
        assert table_names(data) == ["home"]
        data.variables["DATA_ROOT"] = self._root(data, "environment")
        assert table_names(data) == ["environment"]

    def test_several_variables_may_stand_anywhere_in_a_text(self, data: Mason) -> None:
        configured(data, local("two", "{{ A_PART }}/{{B_PART}}/x"))
        data.variables |= {"A_PART": self._root(data, "here").removesuffix("/here"), "B_PART": "here"}

        assert table_names(data, "-c", "two") == ["here"]

    def test_an_unset_variable_is_an_error_only_when_that_configuration_is_used(self, data: Mason) -> None:
        configured(data, local("plain", self._root(data, "here") + "/x"))

        assert table_names(data, "-c", "plain") == ["here"]
        assert data("config").exit_code == 0
        result = data("operator", "table", "list", "-p", "database_name:shop", "-c", "filled")
        assert result.exit_code == 1
        (error,) = strict_json(result)["Errors"]
        saved = data.home / "configurations" / "filled.yaml"
        assert error.startswith(f"{saved}:7: clients.local.configuration.root: the variable DATA_ROOT is not set.")

    def test_every_unset_variable_is_named_at_once(self, data: Mason) -> None:
        configured(data, local("two", "{{A_PART}}/{{B_PART}}"))

        told = strict_json(data("operator", "table", "list", "-p", "database_name:shop", "-c", "two"))["Errors"]

        assert len(told) == 2
        assert "A_PART" in told[0]
        assert "B_PART" in told[1]

    def test_what_a_dotenv_defines_reaches_the_operators_environment(self, mason: Mason, tmp_path: Path) -> None:
        body = 'resp.add_data({name: os.environ.get(name) for name in ("AWS_PROFILE", "AWS_REGION")})'
        registered(mason, operator_with(tmp_path / "src", "new", "environ", body=body))
        write(mason.folder, {".env": "AWS_PROFILE=lake\nAWS_REGION=from-file\n"})
        mason.variables["AWS_REGION"] = "from-environment"

        assert strict_json(mason("operator", "new", "environ"))["Data"] == [
            {"AWS_PROFILE": "lake", "AWS_REGION": "from-environment"}
        ]

    def test_a_dotenv_does_not_change_how_programs_start(self, mason: Mason, tmp_path: Path) -> None:
        body = 'resp.add_data({name: os.environ.get(name) for name in ("BASH_ENV", "JAVA_TOOL_OPTIONS", "FINE")})'
        registered(mason, operator_with(tmp_path / "src", "new", "environ", body=body))
        write(mason.folder, {".env": "FINE=1\nBASH_ENV=evil\n\nJAVA_TOOL_OPTIONS=-javaagent:evil.jar\n"})

        result = mason("operator", "new", "environ")

        assert strict_json(result)["Data"] == [{"BASH_ENV": None, "JAVA_TOOL_OPTIONS": None, "FINE": "1"}]
        for place in (".env:2: BASH_ENV", ".env:4: JAVA_TOOL_OPTIONS"):
            assert f"warning: {mason.folder}/{place} is not taken from a .env file" in result.stderr
        assert "evil" not in result.stderr

    def test_a_folder_called_dotenv_is_passed_over(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {".env/bin/activate": "# a virtual environment", "shop/orders.csv": "a\n1\n"})

        assert table_names(mason) == ["orders"]

    def test_a_stray_byte_in_a_dotenv_does_not_keep_commands_from_running(self, data: Mason) -> None:
        (data.folder / ".env").write_bytes(b"# caf\xe9\nDATA_ROOT=" + self._root(data, "here").encode() + b"\n")

        assert table_names(data) == ["here"]

    def test_a_template_may_stand_wherever_a_value_may(self, mason: Mason, tmp_path: Path) -> None:
        registered(mason, operator_with(tmp_path / "src", "new", "nothing"))
        configured(
            mason,
            "id: t\nexecution_engine: spark\nclients:\n  spark:\n    configuration:\n      runner:\n"
            '        type: "{{KIND}}"\n        executors: "{{COUNT}}"\n        driver_memory: "{{MEMORY}}"\n',
        )
        mason.variables |= {"KIND": "local", "COUNT": "3", "MEMORY": "2g"}
        assert mason("operator", "new", "nothing").exit_code == 0

        mason.variables |= {"KIND": "nonsense", "COUNT": "many", "MEMORY": "huge"}
        result = mason("operator", "new", "nothing")

        assert result.exit_code == 1
        told = strict_json(result)["Errors"]
        for each, place in zip(told, ("7: {}type", "8: {}executors", "9: {}driver_memory"), strict=True):
            assert f":{place.format('clients.spark.configuration.runner.')}: " in each

    def test_a_name_that_is_none_is_refused_when_saved(self, mason: Mason) -> None:
        write(mason.folder, {"a.yaml": local("a", "{{NOT A NAME}}")})

        result = mason("config", "a.yaml")

        assert result.exit_code == 1
        assert (
            "a.yaml:7: clients.local.configuration.root: {{NOT A NAME}} is not the name of a variable" in result.stderr
        )

    def test_a_secret_without_the_word_is_told_how_to_be_written(self, mason: Mason) -> None:
        write(mason.folder, {"a.yaml": local("a", "{{file:/run/token}}")})

        result = mason("config", "a.yaml")

        assert result.exit_code == 1
        assert "A secret is written {{secret:file:/run/token}}." in result.stderr


class TestClients:
    @pytest.fixture
    def touch(self, mason: Mason, tmp_path: Path) -> Mason:
        """An operator for each role that touches the role's client."""
        for role in ("metastore", "execution", "scheduler", "storage"):
            operator_with(tmp_path / "src", "touch", role, body=f"resp.add_info(type(config.{role}.client).__name__)")
        return registered(mason, tmp_path / "src")

    def _errors(self, mason: Mason, role: str, config: str) -> Any:
        result = mason("operator", "touch", role, "-c", config)
        assert result.exit_code == 1
        assert "Traceback" not in result.stderr
        return strict_json(result)["Errors"]

    @pytest.mark.parametrize(
        ("role", "client", "complaint"),
        [
            ("metastore", "glu", 'there is no client "glu". Did you mean "glue"? Clients for metastore: '),
            ("metastore", "spark", '"spark" does not fill the role metastore. Clients for metastore: '),
            ("storage", "glue", '"glue" does not fill the role storage. Clients for storage: '),
            ("scheduler", "cron", 'there is no client "cron". Clients for scheduler: '),
            ("execution", "oracle", 'there is no client "oracle". Clients for execution: '),
        ],
    )
    def test_a_client_that_cannot_fill_the_role_is_refused_with_those_who_can(
        self, mason: Mason, role: str, client: str, complaint: str
    ) -> None:
        write(mason.folder, {"a.yaml": f"id: a\n{role}_engine: {client}\n"})

        result = mason("config", "a.yaml")

        assert result.exit_code == 1
        (line,) = [line for line in result.stderr.splitlines() if "a.yaml" in line]
        assert f"a.yaml:2: {role}_engine: {complaint}" in line
        for name in {"metastore": ["athena", "glue", "local", "s3"], "storage": ["local", "s3"]}.get(role, ["local"]):
            assert name in line.split("Clients for")[1]

    def test_a_wrong_client_in_a_list_is_refused(self, mason: Mason) -> None:
        write(mason.folder, {"a.yaml": "id: a\nstorage_engine:\n  - local\n  - nobody\n"})

        result = mason("config", "a.yaml")

        assert result.exit_code == 1
        assert "storage_engine" in result.stderr
        assert 'there is no client "nobody"' in result.stderr

    def test_a_configured_client_without_a_role_must_exist_too(self, mason: Mason) -> None:
        write(mason.folder, {"a.yaml": "id: a\nclients:\n  nobody:\n    configuration: {}\n"})

        result = mason("config", "a.yaml")

        assert result.exit_code == 1
        assert 'a.yaml:3: clients.nobody: there is no client "nobody"' in result.stderr

    def test_a_client_that_is_not_there_yet_says_so_when_it_is_used(self, touch: Mason) -> None:
        schema = '{"type": "object", "x-mason-planned-roles": {"metastore": "it comes later"}}'
        install_package(touch, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, {"schema.json": schema})
        configured(touch, "id: acme\nmetastore_engine: acme\n")

        (error,) = self._errors(touch, "metastore", "acme")

        assert error.startswith('"acme" as metastore can be configured but not used yet: it comes later. ')
        assert "What works as metastore today: " in error
        assert "local, s3" in error

    def test_a_role_without_a_client_says_so_when_it_is_used(self, touch: Mason) -> None:
        configured(touch, "id: half\nmetastore_engine: local\n")

        assert strict_json(touch("operator", "touch", "metastore"))["Info"] == ["LocalMetastoreClient"]
        assert self._errors(touch, "execution", "half") == [
            'The configuration "half" names no client for the role execution. '
            "Add execution_engine to it, or choose another configuration with -c."
        ]

    def test_without_a_storage_the_metastore_is_one_if_it_can(self, touch: Mason) -> None:
        configured(touch, "id: half\nmetastore_engine: local\n")
        assert strict_json(touch("operator", "touch", "storage"))["Info"] == ["LocalStorageClient"]

        configured(touch, "id: none\nmetastore_engine: glue\n")
        assert self._errors(touch, "storage", "none") == [
            'The configuration "none" names no client for the role storage. '
            "Add storage_engine to it, or choose another configuration with -c."
        ]

    def test_the_scheme_of_a_path_picks_the_storage_among_several(self, touch: Mason, tmp_path: Path) -> None:
        touch.register_examples()
        configured(touch, "id: both\nmetastore_engine: local\nstorage_engine: [s3, local]\n")
        write(touch.folder, {"shop/orders.csv": "a\n1\n"})

        place = f"file://{touch.folder}/shop/orders.csv"
        result = touch("operator", "table", "infer", "-p", f"database_name:shop,storage_path:{place}")

        assert result.exit_code == 0, result.stdout

    def test_a_third_party_client_is_configured_and_used(self, touch: Mason) -> None:
        code = (
            "class AcmeLakeMetastoreClient:\n    def __init__(self, configuration):\n"
            "        self.configuration = configuration\n"
        )
        schema = '{"type": "object", "additionalProperties": false, "properties": {"size": {"type": "integer"}}}'
        files = {"metastore.py": code, "schema.json": schema}
        install_package(touch, "acme_pkg", "mason.clients", {"acme-lake": "acme_pkg"}, files)
        configured(touch, "id: a\nmetastore_engine: acme-lake\nclients: {acme-lake: {configuration: {size: 3}}}\n")

        assert strict_json(touch("operator", "touch", "metastore"))["Info"] == ["AcmeLakeMetastoreClient"]
        write(
            touch.folder,
            {"b.yaml": "id: b\nmetastore_engine: acme-lake\nclients: {acme-lake: {configuration: {size: x}}}\n"},
        )
        assert "must be a whole number, not text" in touch("config", "b.yaml").stderr


class TestOutput:
    def test_log_levels_choose_what_is_told(self, mason: Mason) -> None:
        write(mason.folder, {"a.yaml": local("a"), "bad.yaml": "nope: 1\n"})

        told, quiet = mason("config", "a.yaml"), mason("config", "a.yaml", "-l", "error")

        assert "Valid Configuration." in told.stderr
        assert quiet.stderr == ""
        assert quiet.stdout == told.stdout
        assert "bad.yaml:1: nope: unknown key" in mason("config", "bad.yaml", "-l", "error").stderr
        assert mason("config", "-l", "loud").exit_code == 2

    def test_stdout_is_the_listing_alone(self, mason: Mason) -> None:
        write(mason.folder, {"a.yaml": local("a")})

        saved, listed = mason("config", "a.yaml"), mason("config")

        assert saved.stdout == listed.stdout
        assert listed.stderr == ""
        for stream in (saved.stdout, saved.stderr):
            assert "\x1b" not in stream

    def test_a_home_of_a_newer_mason_is_refused(self, mason: Mason) -> None:
        import sqlite3

        configured(mason, local("a"))
        with sqlite3.connect(mason.home / "state.db") as db:
            db.execute("PRAGMA user_version = 999")
        db.close()

        for arguments in (["config"], ["operator"], ["config", "-s", "a"]):
            result = mason(*arguments)
            assert result.exit_code == 1
            assert "state.db was made by a newer Mason" in result.stderr
