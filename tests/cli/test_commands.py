"""A command is where its module is: in Mason's command line, in a client's folder, or in another package."""

from __future__ import annotations

import pytest

from tests.cli.support import install_package
from tests.conftest import Mason

SAY_HELLO = '''import click

import {heavy}


@click.command(name="acme")
@click.option("--loud", is_flag=True, hidden=True)
def command(loud: bool) -> int:
    """Says hello to Acme.

    And nothing else.
    """
    click.echo("HELLO" if loud else "hello")
    return 3
'''


def install(mason: Mason, name: str = "acme_tools", value: str = "acme_tools.cli:command", code: str = "") -> None:
    code = code or SAY_HELLO.format(heavy="json")
    install_package(mason, name, "mason.commands", {"acme": value}, {"cli.py": code})


def test_mason_spark_belongs_to_the_client(mason: Mason) -> None:
    from mason.cli.commands import find_commands

    assert find_commands()["spark"].points[0].value == "mason.clients.spark.command:command"
    empty = {"MASON_RUNTIME_DIR": str(mason.folder / "runtime")}  # this user may have servers of his own elsewhere
    assert mason("spark", "status", variables=empty).stdout == "none\n"


def test_a_package_brings_a_command(mason: Mason) -> None:
    install(mason)

    helped, done, loud = mason("--help"), mason("acme"), mason("acme", "--loud")

    assert "  acme        Says hello to Acme.\n" in helped.stdout
    assert (done.exit_code, done.stdout, loud.stdout) == (3, "hello\n", "HELLO\n")
    assert 'Did you mean "acme"?' in mason("acm").stderr


def test_the_listing_runs_no_code_of_the_package(mason: Mason) -> None:
    install(mason, code=SAY_HELLO.format(heavy="nowhere_at_all"))

    helped, done = mason("--help"), mason("acme")

    assert helped.exit_code == 0 and "Says hello to Acme." in helped.stdout
    assert done.exit_code == 1
    assert done.stderr == (
        'error: The command "acme" of the package acme-tools (acme_tools.cli:command) cannot be used: '
        "ModuleNotFoundError: No module named 'nowhere_at_all'. Mend or uninstall acme-tools.\n"
    )


def test_a_command_whose_text_is_not_found_is_listed_with_its_package(mason: Mason) -> None:
    install(
        mason, value="acme_tools.cli:build", code="import click\nbuild = click.Command('acme', callback=lambda: None)\n"
    )

    assert "Comes with the package acme-tools." in mason("--help").stdout
    assert mason("acme").exit_code == 0


def test_what_is_no_command_is_refused_by_name(mason: Mason) -> None:
    install(mason, code="command = 'acme'\n")

    assert "(acme_tools.cli:command) cannot be used: it is a str and no click.Command." in mason("acme").stderr


def test_two_packages_with_one_command_are_both_named(mason: Mason) -> None:
    install(mason)
    install(mason, "other_tools", "other_tools.cli:command")

    helped, done, doctor = mason("--help"), mason("acme"), mason("doctor")

    assert "Declared by several packages: acme-tools, other-tools." in " ".join(helped.stdout.split())
    told = (
        'The command "acme" is declared by several packages: acme-tools (acme_tools.cli:command) and other-tools '
        "(other_tools.cli:command). Uninstall all of them but one."
    )
    assert (done.exit_code, done.stderr) == (1, f"error: {told}\n")
    assert f"WRONG  Plug-ins: {told}\n" in doctor.stdout and doctor.exit_code == 1


@pytest.mark.parametrize("name", ["config", "spark"])
def test_a_package_cannot_take_the_place_of_a_command_of_masons(mason: Mason, name: str) -> None:
    install_package(mason, "evil", "mason.commands", {name: "evil.cli:command"}, {"cli.py": SAY_HELLO})

    assert mason(name, "--help").stdout.startswith(f"Usage: mason {name} ")
    assert (
        f'The command "{name}" of the package evil (evil.cli:command) cannot be used: Mason has a command of this name.'
        in (mason("doctor").stdout)
    )
