"""Checks a whole project at once, without running any of its code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mason.configurations.configuration import parse_configuration
from mason.configurations.configuration_warnings import configuration_warnings
from mason.errors import InvalidConfiguration, InvalidDefinition, InvalidProject, MasonError
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.outline import find_folders
from mason.operators.use_warnings import unknown_clients
from mason.project.project_file import Project, find_above
from mason.project.served import find_shared_places
from mason.project.surroundings import ProjectOnDisk
from mason.state.home import read_state
from mason.state.models import Kind
from mason.util.environment import MasonEnvironment
from mason.util.yaml_file import YamlDocument
from mason.workflows.definition.registration import WORKFLOWS, unknown_steps


@dataclass(frozen=True, kw_only=True)
class ProjectReport:
    """What is in a project, and what is wrong with it."""

    file: Path
    name: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    """How many configurations, operators and workflows are right."""
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def validate_project(env: MasonEnvironment) -> ProjectReport:
    """Check the project of an environment: its `mason.yaml`, configurations, operators and workflows."""
    surroundings = ProjectOnDisk(env)
    assert surroundings.file is not None
    above = find_above(surroundings.file.parent)
    notes = [f"{surroundings.file.parent} lies in the project of {above}, which does not count here."] if above else []
    try:
        project = surroundings.project
    except InvalidProject as error:
        return ProjectReport(file=surroundings.file, problems=tuple(error.messages), warnings=tuple(notes))
    problems: list[str] = []
    configurations = list(_check_configurations(surroundings, problems, notes))
    counts = [("configuration", len(configurations))]
    documents: list[tuple[Kind, YamlDocument]] = []
    for kind in (OPERATORS, WORKFLOWS):
        count = 0
        for folder in project.folders[kind.kind]:
            if not find_folders(folder, kind.kind) and not any(folder.rglob(kind.file_name)):
                continue
            reading = read_definitions(folder, [kind])
            problems += reading.problems
            documents += reading.documents
            count += len(reading.valid)
        try:
            surroundings.definitions(kind.kind)
        except InvalidDefinition as error:  # besides what each folder told: names that are there twice
            problems += [each for each in error.messages if each not in problems]
        counts.append((kind.kind.value, count))
    problems += map(str, unknown_steps(documents, read_state(env)))
    notes += _warn_of_clients(documents)
    notes += _warn_of_root(project)
    return ProjectReport(
        file=surroundings.file,
        name=project.name,
        counts=tuple(counts),
        problems=tuple(dict.fromkeys(problems)),
        warnings=tuple(dict.fromkeys(notes)),
    )


def _check_configurations(surroundings: ProjectOnDisk, problems: list[str], notes: list[str]) -> Iterator[str]:
    for name in surroundings.project.configurations:
        try:
            found = surroundings.configurations()[name]
            configuration = parse_configuration(found.text, name=found.source, default_id=name)
        except InvalidConfiguration as error:
            problems += error.messages
            continue
        except MasonError as error:
            problems.append(str(error))
            continue
        notes += [
            str(configuration.document.problem(key, message)) for key, message in configuration_warnings(configuration)
        ]
        yield name


def _warn_of_clients(documents: list[tuple[Kind, YamlDocument]]) -> Iterator[str]:
    for _, document in documents:
        if isinstance(document.value, dict):
            try:
                yield from (str(document.problem(key, text)) for key, text in unknown_clients(document.value))
            except (AttributeError, TypeError):  # a shape that is among the problems already
                continue


def _warn_of_root(project: Project) -> Iterator[str]:
    for message in find_shared_places(project, [str(project.root)] if project.root else [], "The root of the data"):
        yield f"{message} `mason run` does not start so: calls could change what the server runs."
