"""What careful readers of Mason found, each held in place by a test."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, Mason, write
from tests.definitions import write_operator


@pytest.fixture
def suppliers(mason: Mason) -> Mason:
    write(mason.folder / "sup" / "acme", {"1.csv": "a,b\n1,2\n", "2.csv": "a,b\n3,4\n"})
    return mason.register_examples()


def infer(mason: Mason, path: str, name: str) -> None:
    result = mason("operator", "table", "infer", "-p", f"database_name:sup,storage_path:{path},table_name:{name}")
    assert result.exit_code == 0, result.stderr


def test_deleting_a_table_never_takes_data_that_another_table_has(suppliers: Mason) -> None:
    infer(suppliers, "sup/acme/1.csv", "january")

    deleted = suppliers("operator", "table", "delete", "-p", "database_name:sup,table_name:january")

    assert deleted.exit_code == 0
    assert (suppliers.folder / "sup" / "acme" / "1.csv").exists()


def test_a_folder_whose_files_are_another_tables_data_is_not_deleted(suppliers: Mason) -> None:
    infer(suppliers, "sup/acme/2.csv", "february")

    refused = suppliers("operator", "table", "delete", "-p", "database_name:sup,table_name:acme")

    assert refused.exit_code == 1 and "february" in refused.json["Errors"][0]
    assert (suppliers.folder / "sup" / "acme" / "1.csv").exists()


def test_the_state_is_readable_by_its_owner_alone(mason: Mason) -> None:
    mason.home.mkdir(mode=0o755)
    write(mason.folder, {"c.yaml": "metastore_engine: local\n"})

    mason("config", "c.yaml")

    for file in (mason.home / "state.db", mason.home / "configurations" / "c.yaml"):
        assert file.stat().st_mode & 0o077 == 0, file


@pytest.mark.parametrize("value", ["987654321", "[TOPSECRET1]", "{a: TOPSECRET1}"])
def test_a_secret_of_the_wrong_kind_is_not_shown_in_the_message(mason: Mason, value: str) -> None:
    write(mason.folder, {"c.yaml": f"clients:\n  glue:\n    configuration:\n      secret_key: {value}\n"})

    refused = mason("config", "c.yaml")

    assert refused.exit_code == 1 and "c.yaml:4: clients.glue.configuration.secret_key: must be text" in refused.stderr
    assert "987654321" not in refused.stderr and "TOPSECRET1" not in refused.stderr


def test_a_choice_made_by_hand_is_not_overridden_by_saving_another_configuration(mason: Mason) -> None:
    write(mason.folder, {"one.yaml": "metastore_engine: local\n", "two.yaml": "storage_engine: local\n"})
    mason("config", "one.yaml")
    mason("config", "-s", "local")

    assert "*  local" in mason("config", "two.yaml").stdout


def test_the_configuration_of_a_shell_is_the_one_that_is_marked(mason: Mason) -> None:
    write(mason.folder, {"one.yaml": "metastore_engine: local\n", "two.yaml": "storage_engine: local\n"})
    mason("config", ".")

    assert "*  two" in mason("config", variables={"MASON_CONFIG": "two"}).stdout


def test_an_operator_can_be_named_as_messages_name_it(mason: Mason) -> None:
    write_operator(mason.folder, "new", "one")
    mason("register", ".")

    assert mason("operator", "new:one").json["Info"] == ["ran"]
    assert mason("operator", "new", "one@").exit_code == 2


def test_every_listing_fits_the_terminal(mason: Mason) -> None:
    from mason.util.text_table import table_lines

    rows = [["table", "get", "a description of some length, as authors write them", "x" * 90]]

    for width in (60, 80, 120):
        assert max(map(len, table_lines(["namespace", "command", "description", "parameters"], rows, width))) <= width


def test_nobody_else_can_read_what_is_in_mason_home(mason: Mason) -> None:
    mason.home.mkdir(mode=0o755)
    mason.home.chmod(0o755)
    mason("register", str(EXAMPLES / "operators" / "job"))
    (mason.home / "objects").chmod(0o755)  # as an older Mason made it
    mason.home.chmod(0o755)

    mason("register", str(EXAMPLES / "operators" / "schedule"))

    assert mason.home.stat().st_mode & 0o077 == 0
    assert (mason.home / "objects").stat().st_mode & 0o077 == 0
    code = [file for file in (mason.home / "objects").rglob("*") if "__pycache__" not in file.parts]
    assert code
    for file in code:
        assert file.stat().st_mode & 0o077 == 0, file


def test_a_home_with_other_things_in_it_stays_open_and_the_doctor_says_so(mason: Mason) -> None:
    mason.home.mkdir()
    mason.home.chmod(0o755)
    write(mason.home, {"of_somebody_else.txt": "read me\n"})

    mason("register", str(EXAMPLES / "operators" / "job"))

    assert mason.home.stat().st_mode & 0o777 == 0o755
    assert (mason.home / "objects").stat().st_mode & 0o077 == 0
    assert "everybody on this machine can look into it. Run chmod 700" in " ".join(mason("doctor").stdout.split())


@pytest.mark.parametrize("own", [[], ["data", "examples"]])
def test_a_home_that_the_next_command_closes_is_not_complained_of(mason: Mason, own: list[str]) -> None:
    mason.home.mkdir()
    mason.home.chmod(0o755)
    for name in own:
        (mason.home / name).mkdir()

    assert "chmod" not in mason("doctor").stdout

    mason("register", str(EXAMPLES / "operators" / "job"))
    assert mason.home.stat().st_mode & 0o077 == 0
