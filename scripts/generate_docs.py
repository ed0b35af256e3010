"""Writes the pages that are made from the code: docs/cli.md and docs/clients/support.md. A test compares them."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from mason.cli.main import mason
from mason.clients.discovery import ClientPackage, client_class_name, client_names, find_client
from mason.clients.engines.role import support_of
from mason.clients.engines.roles import RoleDefinition, role_names, roles

DOCS = Path(__file__).resolve().parent.parent / "docs"


def cli_page() -> str:
    """Return every command with its help."""
    parts = ["# Every command and flag\n\nMade by `scripts/generate_docs.py`.\n", _help(mason, "mason", None)]
    context = click.Context(mason, info_name="mason")
    for name in mason.list_commands(context):
        command = mason.get_command(context, name)
        assert command is not None
        parts.append(_help(command, f"mason {name}", context))
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=name, parent=context)
            parts += [_help(each, f"mason {name} {sub}", inner) for sub, each in sorted(command.commands.items())]
    return "\n".join(parts)


def support_page() -> str:
    """Return who fills which role, and which verbs each client has."""
    clients = [client for name in client_names() if (client := find_client(name))]
    names = role_names()
    lines = [
        "# Who fills which role\n\nMade by `scripts/generate_docs.py` from the code.\n",
        "| role | key of a configuration | contract | models | conformance suite |\n|---|---|---|---|---|",
        *(_role_row(each) for each in roles().values()),
        "",
        "| client | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        *(
            f"| `{client.name}` | " + " | ".join(_cell(client, role) for role in role_names()) + " |"
            for client in clients
        ),
        "\n*configured*: a configuration may name it and is checked; using it says that it is not there yet.\n",
    ]
    for client in clients:
        for role in client.roles:
            lines.append(f"## {client.name} as {role}\n\n| verb | |\n|---|---|")
            lines += [
                f"| `{verb}` | {(reason and f'no: {reason}') or 'yes'} |" for verb, reason in _support(client, role)
            ]
            lines.append("")
    return "\n".join(lines)


def _role_row(role: RoleDefinition) -> str:
    contract, suite = role.contract(), role.suite()
    told = f"`{contract.__module__}.{contract.__name__}` | `{role.values['models']}` | `mason.testing.{suite.__name__}`"
    return f"| {role.name} | `{role.configuration_key}` | {told} |"


def _cell(client: ClientPackage, role: str) -> str:
    return "yes" if role in client.roles else "*configured*" if role in client.planned_roles else ""


def _support(client: ClientPackage, role: str) -> list[tuple[str, str]]:
    module = importlib.import_module(f"{client.module}.{role}")
    return sorted(support_of(getattr(module, client_class_name(client.name, role))).items())


def _help(command: click.Command, path: str, parent: click.Context | None) -> str:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, max_content_width=100)
    return f"## {path}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    (DOCS / "cli.md").write_text(cli_page(), encoding="utf-8")
    (DOCS / "clients" / "support.md").write_text(support_page(), encoding="utf-8")
