"""The secrets that a configuration names: read when a client is built, and kept nowhere but in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mason.clients.discovery import find_client
from mason.configurations.templates import fill_secrets, has_constrained_template, secrets_in
from mason.errors import InvalidConfiguration, MasonError
from mason.secrets.reference import SecretReference
from mason.util.redaction import Redactor
from mason.util.yaml_file import Problem, YamlDocument


class ClientSecrets:
    """The secrets of one configuration. Whatever is read is told to the redactor before anybody else."""

    def __init__(self, document: YamlDocument, redactor: Redactor) -> None:
        self._document = document
        self._redactor = redactor
        self._known: dict[tuple[str, str], str] = {}

    def fill(self, client: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a client's configuration with its secrets in it.

        Raises:
            InvalidConfiguration: secrets that cannot be read, each with its place; values that do not fit.
        """
        place = ("clients", client, "configuration")
        wanted = list(secrets_in(place, values))
        if not wanted:
            return values
        found = self._read(wanted)
        package = find_client(client)
        schema = package.schema if package else {}
        filled: Mapping[str, Any] = fill_secrets(values, schema, lambda name: found[name])
        if has_constrained_template(values, schema):
            self._check(schema, place, filled)
        return filled

    def _read(self, wanted: Sequence[tuple[Sequence[str | int], str]]) -> dict[str, str]:
        found: dict[str, str] = {}
        problems: list[Problem] = []
        for place, name in wanted:
            try:
                found[name] = SecretReference.of(name).read(self._known)
            except (MasonError, ValueError) as error:
                problems.append(self._document.problem(place, f"{{{{{name}}}}} cannot be read: {error}"))
        self._redactor.learn([*self._known.values(), *found.values()])
        self._refuse(problems)
        return found

    def _check(self, schema: Mapping[str, Any], place: Sequence[str], filled: Mapping[str, Any]) -> None:
        from mason.util.json_schema import check_document

        checked = YamlDocument(self._document.name, self._document.text, filled, self._document.lines)
        self._refuse(check_document(checked, schema, at=place))

    def _refuse(self, problems: Sequence[Problem]) -> None:
        if problems:
            raise InvalidConfiguration(self._redactor(str(problem)) for problem in sorted(problems))
