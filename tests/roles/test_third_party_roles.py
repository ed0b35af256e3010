"""A role that another package brings is configured, checked, planned, shown and used as Mason's four.

The package is the one of docs/write-an-engine.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mason.clients.engines.role import Role
from mason.clients.engines.roles import role_names, roles
from tests.cli.support import errors, install_package, strict_json
from tests.conftest import PROJECT, Mason, write
from tests.roles.support import install_guide

CONFIG = "id: rated\nstorage_engine: local\nquality_engine: rules\n"


@pytest.fixture
def rated(mason: Mason) -> Mason:
    """Somebody who has installed the package of the guide, and saved its configuration."""
    install_guide(mason, "write-an-engine.md")
    for arguments in (("config", "config.yaml"), ("register", "operators")):
        done = mason(*arguments)
        assert done.exit_code == 0, done.stderr
    return mason


def change_role(mason: Mason, **values: Any) -> None:
    """Change what the role says of itself; None takes a key away."""
    file = mason.folder.parent / "site" / "mason_quality" / "role.json"
    told = {**json.loads(file.read_text()), **values}
    file.write_text(json.dumps({key: value for key, value in told.items() if value is not None}))


def ask(mason: Mason, code: str) -> str:
    """Run code in a process that sees the package, and return what it prints."""
    where: Any = {"cwd": mason.folder, "env": mason.environment()}
    return subprocess.run([sys.executable, "-c", code], **where, capture_output=True, text=True, check=True).stdout


def test_masons_own_roles_are_declared_as_those_of_others() -> None:
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]

    assert list(declared["mason.roles"]) == ["metastore", "execution", "scheduler", "storage"] == list(role_names())
    for name, role in roles().items():
        assert declared["mason.roles"][name] == role.point.value
        assert issubclass(role.contract(), Role) and role.is_masons
        assert role.suite().__name__ == f"{name.capitalize()}Contract"
        assert role.configuration_key == f"{name}_engine"
        __import__(role.values["models"])


def test_the_core_lists_no_roles() -> None:
    """Who names all four in one line has a closed list."""
    named = [
        f"{file.relative_to(PROJECT)}:{number}"
        for file in (PROJECT / "mason").rglob("*.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if all(f'"{name}"' in line for name in role_names())
    ]
    assert named == []


def test_it_is_used_from_the_configuration_to_the_operator(rated: Mason) -> None:
    answer = strict_json(rated("operator", "quality", "rate", "-p", "path:orders.csv"))

    assert answer["Data"] == [{"Share": 0.75, "Findings": ["price: 1 of 2 values are missing"]}]


def test_plans_doctor_and_help_know_it(rated: Mason) -> None:
    planned = rated("operator", "quality", "rate", "-p", "path:orders.csv", "--plan").json["Data"][0]

    assert planned["Clients"] == {"storage": ["local"], "quality": ["rules"]}
    assert "ok     rules as quality: ready\n" in rated("doctor").stdout
    assert "  quality_engine    rules\n" in rated("config", "--help").stdout


def test_the_support_matrix_knows_it(rated: Mason) -> None:
    page = ask(rated, "from scripts.generate_docs import support_page; print(support_page())")

    assert "| client | metastore | execution | scheduler | storage | quality |" in page
    assert "| `rules` |  |  |  |  | yes |" in page
    assert "## rules as quality\n\n| verb | |\n|---|---|\n| `rate_rows` | yes |" in page


def test_the_configuration_fills_its_clients_variables_and_hides_its_secrets(rated: Mason) -> None:
    schema = '{"type": "object", "properties": {"ignore": {"type": "array"}, "token": {"x-mason-secret": true}}}'
    write(rated.folder.parent / "site" / "mason_quality" / "rules", {"schema.json": schema})
    text = f"{CONFIG}clients:\n  rules:\n    configuration: {{token: geheim, ignore: ['{{{{COLUMN}}}}']}}\n"
    write(rated.folder, {"config.yaml": text})

    listed = rated("config", "config.yaml", variables={"COLUMN": "price"})
    rated.variables["COLUMN"] = "price"

    assert "geheim" not in listed.stdout and listed.exit_code == 0
    answer = strict_json(rated("operator", "quality", "rate", "-p", "path:orders.csv"))
    assert answer["Data"][0]["Findings"] == ["note: 2 of 2 values are missing"]


def test_an_operator_is_checked_against_the_roles(rated: Mason) -> None:
    file = rated.folder / "operators" / "quality" / "rate" / "operator.yaml"
    file.write_text(file.read_text().replace("{quality: rules}", "{qualty: rules}"))

    told = rated("register", "operators", "--force").stderr

    assert 'supported_configurations[0].qualty: unknown key. Did you mean "quality"?' in told


def test_a_configuration_with_an_unknown_role_is_told_which_there_are(mason: Mason) -> None:
    write(mason.folder, {"c.yaml": CONFIG, "d.yaml": "metastor_engine: local\n"})

    done, near = mason("config", "c.yaml"), mason("config", "d.yaml")

    told = 'there is no role "quality". Roles: metastore, execution, scheduler, storage.'
    assert (done.exit_code, done.stderr) == (1, f"error: c.yaml:3: quality_engine: {told}\n")
    assert 'd.yaml:1: metastor_engine: there is no role "metastor". Did you mean "metastore"? Roles: ' in near.stderr


def test_a_role_whose_package_is_gone_is_told_and_the_rest_goes_on(rated: Mason) -> None:
    rated.variables.clear()
    rated.register_examples()

    answer = rated("operator", "database", "list")
    rate = errors(rated, "quality", "rate", "-p", "path:orders.csv")

    said = 'Configuration "rated": quality_engine: there is no role "quality". '
    assert any(each.startswith(said) for each in answer.json["Warnings"])
    assert "which has quality: nothing" in rate[0]


WRONG_CONTRACTS: Mapping[str, tuple[str, str]] = {
    "not importable": ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    "without the class": ("", "has no attribute 'QualityClient'"),
    "no class": ("QualityClient = 1", "is not a class with the base mason.clients.engines.role.Role"),
    "no role": ("class QualityClient: ...", "is not a class with the base mason.clients.engines.role.Role"),
    "no verbs": (
        "from mason.clients.engines.role import Role\nclass QualityClient(Role): ...",
        "has no abstract method, so that a client would have no verb",
    ),
}


@pytest.mark.parametrize("case", WRONG_CONTRACTS)
def test_a_role_with_a_wrong_contract_is_named_with_its_package(rated: Mason, case: str) -> None:
    code, told = WRONG_CONTRACTS[case]
    write(rated.folder.parent / "site" / "mason_quality", {"contract.py": code})

    (error,) = errors(rated, "quality", "rate", "-p", "path:orders.csv")
    doctor = rated("doctor")

    assert error.startswith("The ") and "of the package mason-quality (mason_quality" in error
    assert told in error and error.endswith("Mend or uninstall mason-quality.")
    assert doctor.exit_code == 1 and f"WRONG  Plug-ins: {error}\n" in doctor.stdout


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"contract": None}, "its role.json must say, as text: contract"),
        ({"configuration_key": "storage_engine"}, 'its configuration_key "storage_engine" is that of the role storage'),
        ({"configuration_key": "clients"}, 'its configuration_key "clients" means something else in a configuration'),
        ({"contracts": "x"}, 'its role.json has the unknown key "contracts". Did you mean "contract"?'),
    ],
)
def test_a_role_that_says_something_wrong_of_itself_is_refused_where_it_is_named(
    rated: Mason, values: dict[str, Any], told: str
) -> None:
    change_role(rated, **values)

    done = rated("config", "config.yaml")

    assert done.exit_code == 1
    assert (
        'config.yaml:3: quality_engine: The role "quality" of the package mason-quality (mason_quality) ' in done.stderr
    )
    assert f"cannot be used: {told}" in done.stderr
    assert rated("config", "-s", "local").exit_code == 0  # who does not use it is not disturbed


def test_two_packages_with_one_role_are_both_named(rated: Mason) -> None:
    install_guide(rated, "write-an-engine.md", "other-quality")

    done, doctor = rated("config", "config.yaml"), rated("doctor")

    for each in ("mason-quality (mason_quality)", "other-quality (mason_quality)"):
        assert each in done.stderr and each in doctor.stdout
    assert 'quality_engine: The role "quality" is declared by several packages: ' in done.stderr
    assert "Uninstall all of them but one." in done.stderr and done.exit_code == 1


def test_two_packages_with_one_client_are_both_named(mason: Mason) -> None:
    for name in ("acme_one", "acme_two"):
        install_package(mason, name, "mason.clients", {"acme": name}, {"schema.json": "{}", "metastore.py": ""})
    write(mason.folder, {"c.yaml": "id: c\nmetastore_engine: acme\n"})

    done = mason("config", "c.yaml")

    told = 'The client "acme" is declared by several packages: acme-one (acme_one) and acme-two (acme_two).'
    assert done.stderr == f"error: c.yaml:2: metastore_engine: {told} Uninstall all of them but one.\n"
    assert f"WRONG  Plug-ins: {told}" in mason("doctor").stdout


def test_a_package_cannot_take_the_place_of_a_role_or_a_client_of_masons(mason: Mason) -> None:
    site = install_guide(mason, "write-an-engine.md")
    points = "[mason.roles]\nstorage = mason_quality\n[mason.clients]\nlocal = mason_quality.rules\n"
    write(site, {"mason_quality-1.0.dist-info/entry_points.txt": points})

    doctor = mason("doctor").stdout

    assert "ok     local as storage: ready\n" in doctor
    for kind, name in (("role", "storage"), ("client", "local")):
        assert f'Plug-ins: The {kind} "{name}" of the package mason-quality' in doctor
        assert f"cannot be used: Mason has a {kind} of this name." in doctor


def test_a_path_whose_scheme_no_storage_serves_is_told_with_the_storages(mason: Mason) -> None:
    mason.register_examples()

    (error,) = errors(mason, "table", "merge", "-p", "input_path:gopher://lake/in,output_path:out")

    assert error == (
        'No client of the role storage in configuration "local" serves gopher:// paths (gopher://lake/in). '
        "Its clients: local."
    )


def test_a_file_of_a_client_that_is_named_like_a_new_role_fills_none(mason: Mason, tmp_path: Path) -> None:
    role = json.dumps({"configuration_key": "queries_engine", "contract": "x:X", "models": "x", "suite": "x:Y"})
    install_package(mason, "mason_queries", "mason.roles", {"queries": "mason_queries"}, {"role.json": role})

    assert ask(mason, "from mason.clients.discovery import clients_for; print(clients_for('queries'))") == "[]\n"
