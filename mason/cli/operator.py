"""`mason operator`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mason.cli import completion
from mason.cli.options import config_id, log_level, output_form, resolve_given_path
from mason.cli.output import (
    NO_ROWS,
    ROWS_ONLY,
    form_shown,
    show,
    show_json,
    show_reply,
    show_table,
    start_logging,
    stdout_kept_clean,
)
from mason.errors import BadInput, OperatorNotFound
from mason.util.environment import MasonEnvironment
from mason.util.view import View

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.operators.operator_response import OperatorResponse
    from mason.parameters.definition import ParameterDefinition, ParameterDefinitions
    from mason.state.models import Registration

_LISTED = View(columns=("Namespace", "Command", "Description", "Required"))


@click.command(name="operator", add_help_option=False)
@click.argument("namespace", required=False, shell_complete=completion.namespaces)
@click.argument("operator", required=False, metavar="[COMMAND]", shell_complete=completion.commands)
@click.option(
    "-p",
    "--parameters",
    multiple=True,
    metavar="NAME:VALUE,…",
    help="Parameters; can be repeated.",
    shell_complete=completion.parameters,
)
@click.option(
    "-f",
    "--file",
    "parameter_files",
    multiple=True,
    metavar="FILE",
    help="A YAML or JSON file of parameters; can be repeated, and -p overrides it.",
    type=click.Path(),
)
@config_id
@click.option("--plan", is_flag=True, help="Show what the run would do and write nothing.")
@click.option("--detach", is_flag=True, help="Start the run, print its job, and do not wait: see mason job.")
@click.option("--html", metavar="FILE", help="Write a page, too, with an operator that makes one: -p html:FILE.")
@click.option("--explain", metavar="FILE", help="Show how one file of the input is read, and write nothing.")
@click.option("--json-schema", is_flag=True, help="Print the operator's parameters as JSON Schema.")
@click.option("-h", "--help", "wants_help", is_flag=True, help="Show this message, or what an operator takes.")
@output_form
@log_level
@click.pass_context
def command(
    ctx: click.Context,
    namespace: str | None,
    operator: str | None,
    parameters: tuple[str, ...],
    parameter_files: tuple[str, ...],
    config_id: str | None,
    plan: bool,
    detach: bool,
    html: str | None,
    explain: str | None,
    json_schema: bool,
    wants_help: bool,
) -> int:
    """Lists and runs operators.

    Without COMMAND the operators of NAMESPACE are listed, or all. A version that is not the current one is run by its
    digest: mason operator table get@sha256:1a2b. The operator in a folder is run as it is, without being registered:
    mason operator ./operators/orders/enrich.
    """
    if wants_help and not namespace:
        show(ctx.get_help())
        return 0
    if not namespace:
        return _list("")
    folder = namespace if operator is None and _is_folder(namespace) else ""
    if folder and detach:
        raise click.UsageError("--detach needs an operator that is registered: mason register PATH.")
    if folder and (wants_help or json_schema):
        return _explain(folder, "", "") if wants_help else _show_json_schema(folder, "", "")
    if operator is None and ":" in namespace.partition("@")[0]:
        namespace, _, operator = namespace.partition(":")  # table:get, as messages write it
    if html:
        parameters = (*parameters, f"html:{_quote_value(html)}")
    if explain:
        parameters, plan = (*parameters, f"explain:{_quote_value(explain)}"), True
    if plan and detach:
        raise click.UsageError("--plan and --detach do not go together: a plan is there at once.")
    if folder:
        return _run("", "", "", parameters, parameter_files, config_id, how=_How(plan, folder=folder))
    wants_run = bool(parameters or parameter_files or plan or detach)
    if operator is None and not _is_operator(namespace, wants_run=wants_run):
        if wants_run:
            raise click.UsageError(f'"{namespace}" is a namespace. Which of its operators should run?')
        return _list(namespace)
    name, at, digest = (operator or namespace).partition("@")
    if at and not digest:
        raise click.UsageError(f'"{operator or namespace}" ends before its digest.')
    wanted = (namespace if operator else "", name, digest)
    if wants_help:
        return _explain(*wanted)
    if json_schema:
        return _show_json_schema(*wanted)
    return _run(*wanted, parameters, parameter_files, config_id, how=_How(plan, detach))


def _quote_value(value: str) -> str:
    """Return a value as the -p grammar takes any."""
    return '"' + value.replace('"', '""') + '"'


def _is_operator(word: str, *, wants_run: bool) -> bool:
    """Say whether the word names an operator without a namespace, rather than a namespace.

    Of a word that names neither, a run will say so in its response.
    """
    from mason.service.service import Service

    operators = Service(MasonEnvironment.of()).list_operators()
    if any(not each.name.namespace and each.name.command == word.partition("@")[0] for each in operators):
        return True
    if any(each.name.namespace == word for each in operators):
        return False
    if wants_run or not operators:
        return wants_run
    from mason.util.names import did_you_mean

    known = sorted({each.name.namespace or each.name.command for each in operators})
    hint = did_you_mean(word, known) or f"There are: {', '.join(known)}."
    raise OperatorNotFound(f'There is no namespace or operator "{word}".', hint=hint)


def _is_folder(word: str) -> bool:
    """Say whether a word is a path and no name: there is a slash in it, or it is the folder that one is in."""
    return "/" in word or word in (".", "..")


def _find(namespace: str, command: str, digest: str) -> Registration:
    if _is_folder(namespace):
        from mason.operators.registration.registry import read_operator_folder

        return read_operator_folder(namespace)
    from mason.service.service import Service

    return Service(MasonEnvironment.of()).find_operator(namespace, command, digest)


def _list(namespace: str) -> int:
    from mason.cli.views.definitions import Listing, show_definitions
    from mason.service.service import Service
    from mason.state.models import Kind

    env = MasonEnvironment.of()
    listing = Listing(
        kind=Kind.OPERATOR,
        title=f"Available {namespace or 'Operator'} Methods",
        view=_LISTED,
        columns=(*_LISTED.columns, "Optional"),
        describe=lambda found: [*_describe(found), *_parameter_names(found).values()],
        transcript_columns=["namespace", "command", "description", "parameters"],
        transcript_row=lambda found: [*_describe(found), str(_parameter_names(found))],
    )
    return show_definitions(listing, Service(env).list_operators(namespace), env)


def _describe(found: Registration) -> list[str]:
    return [found.name.namespace, found.name.command, str(found.definition.get("description", ""))]


def _parameter_names(found: Registration) -> dict[str, list[str]]:
    # Read off the definition as it is: building typed parameters would be a tenth of the time that a listing takes.
    given = found.definition.get("parameters") or {}
    return {
        kind: [each if isinstance(each, str) else each["name"] for each in given.get(kind) or ()]
        for kind in ("required", "optional")
    }


def _explain(namespace: str, command: str, digest: str) -> int:
    from mason.parameters.definition import ParameterDefinitions

    found = _find(namespace, command, digest)
    definitions = ParameterDefinitions.of(found.definition.get("parameters"))
    words = namespace if _is_folder(namespace) else str(found.name).replace(":", " ")
    show(f"mason operator {words}\n\n  {found.definition.get('description', '')}\n  {found.pinned_name}\n")
    if definitions.all:
        rows = [[each.name, each.type, _how_needed(each, definitions), each.description] for each in definitions.all]
        for row, each in zip(rows, definitions.all, strict=True):
            row[3] += f" ({', '.join(each.choices)})" if each.choices else ""
            row[3] += f" [alias: {', '.join(each.aliases)}]" if each.aliases else ""
        show_table(["parameter", "type", "default", "description"], rows)
        if definitions.one_of:
            show(f"\nOne of these: {'; or '.join(' and '.join(group) for group in definitions.one_of)}.")
    else:
        show("It takes no parameters.")
    chosen = [each for each in map(definitions.find, [*definitions.one_of, ()][0]) if each]
    example = ",".join(f"{each.name}:{each.example()}" for each in (*definitions.required, *chosen))
    show(f"\nExample:\n  mason operator {words}" + (f' -p "{example}"' if example else ""))
    return 0


def _how_needed(parameter: ParameterDefinition, definitions: ParameterDefinitions) -> str:
    """Return whether a call gives the parameter, and what holds where it does not."""
    if parameter.required:
        return "required"
    if any(parameter.name in group for group in definitions.one_of):
        return "one of"
    return _default(parameter.default)


def _default(default: object) -> str:
    if default is None:
        return "optional"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _show_json_schema(namespace: str, command: str, digest: str) -> int:
    from mason.parameters.definition import ParameterDefinitions

    found = _find(namespace, command, digest)
    show_json(ParameterDefinitions.of(found.definition.get("parameters")).to_json_schema(str(found.name)))
    return 0


@dataclass(frozen=True)
class _How:
    """What is wanted of a call other than to run it and wait."""

    plan: bool = False
    detach: bool = False
    folder: str = ""
    """The folder of the operator, where it is run as it is."""


def _run(
    namespace: str,
    command: str,
    digest: str,
    parameters: tuple[str, ...],
    parameter_files: tuple[str, ...],
    config_id: str | None,
    *,
    how: _How,
) -> int:
    from mason.operators.runner import OperatorCall
    from mason.parameters.grammar import parse_parameters
    from mason.parameters.validated_parameters import read_parameter_file
    from mason.service.reply import reply_with
    from mason.service.service import Service

    def work(response: Response) -> OperatorResponse:
        _refuse_parameter_file(config_id)
        given = parse_parameters(parameters)
        base = {
            name: value
            for file in parameter_files
            for name, value in read_parameter_file(resolve_given_path(file)).items()
        }
        call = OperatorCall(
            namespace=namespace,
            command=command,
            digest=digest,
            given=given,
            base=base,
            config_id=config_id or "",
            base_name=", ".join(parameter_files),
            folder=how.folder,
        )
        service = Service(MasonEnvironment.of())
        verb = service.detach_operator if how.detach else service.plan_operator if how.plan else service.run_operator
        return verb(call, response)

    if form_shown() in ROWS_ONLY:
        _refuse_what_is_no_rows(_find(namespace, command, digest), form_shown())
    start_logging()
    with stdout_kept_clean():
        reply = reply_with(work)
    return show_reply(reply, "Operator Plan" if how.plan else "Operator Response")


def _refuse_what_is_no_rows(found: Registration, form: str) -> None:
    """Refuse, before anything is done, a form for rows where the operator declares that it gives something else."""
    declared = found.definition.get("output")
    only = declared[0] if isinstance(declared, list) and len(declared) == 1 else None
    if isinstance(only, dict) and "JobID" in only and "Rows" not in only:
        raise click.UsageError(f"{found.name} answers with a job. {NO_ROWS.format(form)}")


def _refuse_parameter_file(config_id: str | None) -> None:
    if config_id and (Path(config_id).suffix in (".yaml", ".yml", ".json") or Path(config_id).is_file()):
        raise BadInput(f"-c takes the id of a configuration. A file of parameters is given with -f: -f {config_id}")
