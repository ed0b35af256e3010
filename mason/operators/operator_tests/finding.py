"""Finds the operators below a path and the tests that lie in their folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mason.errors import InvalidDefinition, NoData, OperatorNotFound
from mason.operators.operator_tests.case import Case
from mason.operators.operator_tests.case_file import read_case
from mason.operators.registration.definition_folder import TESTS, read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.state.models import Registration
from mason.util.names import did_you_mean

_ENDINGS = (".yaml", ".yml")
_SHIPPED = Path(__file__).parents[2] / "examples" / "operators"


@dataclass(frozen=True)
class TestedOperator:
    """An operator and its tests; there may be none."""

    operator: Registration
    cases: Sequence[Case]


def find_tests(path: Path) -> list[TestedOperator]:
    """Return every operator at or below a path with its tests; of the path of one test, its operator and it alone.

    Raises:
        PathNotFound, NoData: there is no operator.
        InvalidDefinition: with every problem of every definition and test.
    """
    only = path if _is_test(path) else None
    reading = read_definitions(path.parent.parent if only else path, [OPERATORS])
    problems = list(reading.problems)
    tested = []
    for each in reading.valid:
        files = [only] if only else sorted(_test_files(Path(each.registration.source)))
        cases: list[Case] = []
        for file in files:
            try:
                cases.append(read_case(file))
            except InvalidDefinition as error:
                problems += error.messages
        problems += _same_names(cases)
        tested.append(TestedOperator(_absolute(each.registration), cases))
    if problems:
        raise InvalidDefinition(problems, hint="No test was run.")
    if not any(each.cases for each in tested):
        names = ", ".join(str(each.operator.name) for each in tested)
        raise NoData(f"{path}: no tests. {names}: no {TESTS}/*.yaml in the operator's folder.")
    return tested


@dataclass(frozen=True)
class Library:
    """The operators that a test may run before its own: those that are tested, and those that come with Mason."""

    tested: Sequence[TestedOperator]

    def find(self, name: str) -> Registration:
        """Return an operator by its name.

        Raises:
            OperatorNotFound: neither has it.
        """
        found = self._tested.get(name) or self._shipped.get(name)
        if found is None:
            known = [*self._tested, *self._shipped]
            hint = did_you_mean(name, known) or f"There are: {', '.join(known)}."
            raise OperatorNotFound(f'There is no operator "{name}" below the path or among those of Mason.', hint=hint)
        return found

    @cached_property
    def _tested(self) -> Mapping[str, Registration]:
        return {str(each.operator.name): each.operator for each in self.tested}

    @cached_property
    def _shipped(self) -> Mapping[str, Registration]:
        reading = read_definitions(_SHIPPED, [OPERATORS])
        return {str(each.registration.name): _absolute(each.registration) for each in reading.valid}


def _absolute(operator: Registration) -> Registration:
    # Tests run in a working directory of their own.
    return operator._replace(source=str(Path(operator.source).absolute()))


def _is_test(path: Path) -> bool:
    return (
        path.parent.name == TESTS and path.suffix in _ENDINGS and (path.parent.parent / OPERATORS.file_name).is_file()
    )


def _test_files(folder: Path) -> Iterator[Path]:
    place = folder / TESTS
    if place.is_dir():
        yield from (file for file in place.iterdir() if file.suffix in _ENDINGS and not file.name.startswith("."))


def _same_names(cases: Sequence[Case]) -> Iterator[str]:
    first: dict[str, Path] = {}
    for case in cases:
        other = first.setdefault(case.name, case.file)
        if other != case.file:
            yield f'{case.file}: name: "{case.name}" is the name of {other} as well'
