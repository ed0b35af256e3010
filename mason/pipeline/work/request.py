"""What a type of job is asked: a frozen dataclass, and the JSON of it that an engine is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, TypeVar, get_args, get_origin, get_type_hints

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadInput
from mason.util.names import did_you_mean

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where a field of a request stands in a job, if it is not an option of its own name."""

    part: str
    name: str = ""
    """Its name there; that of the field by default. One of options whose name is `*` stands for all of them."""


INPUT, OUTPUT, OPTIONS = Place("inputs"), Place("outputs"), Place("options", "*")


def input_named(name: str) -> Place:
    """Return the place of an input with another name than its field's."""
    return Place("inputs", name)


def output_named(name: str) -> Place:
    """Return the place of an output with another name than its field's."""
    return Place("outputs", name)


class JobRequest:
    """What a type of job is asked. A subclass is a frozen dataclass, and its fields are the job's JSON.

    A field is an option, unless its annotation says that it is an input or an output: `path: Annotated[Location,
    INPUT]`, `output: Annotated[Location, output_named("path")]`; with `OPTIONS` the fields of another dataclass are the
    options. Inputs and outputs are places: a `Location`, a `TableRef`, several of them, or None for one left out.
    Values come back as what they are declared to be: enumerations, sequences (as tuples) and dataclasses.
    """

    type: ClassVar[str]

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        parts: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "options": {}}
        for each in _find_places(type(self)):
            value = getattr(self, each.field)
            value = _encode(value) if each.part == "options" else value  # places stay the values that they are
            parts[each.part].update(value if each.is_all else {each.name: value})
        return Job(self.type, **parts)

    @classmethod
    def of(cls, job: Job) -> Self:
        """Return what a job asks for.

        Raises:
            BadInput: something that it needs is missing, it asks for what this type of job does not know, or with a
                value that is none.
        """
        placed = _find_places(cls)
        for part in ("inputs", "outputs", "options"):
            _check_names(job, part, [name for each in placed if each.part == part for name in each.names])
        values: dict[str, Any] = {}
        for each in placed:
            given = getattr(job, each.part)
            if each.is_all:
                own = {name: given[name] for name in each.names if name in given}
                values[each.field] = _decode(each.kind, own, f'the job "{job.type}"')
            elif each.is_given and each.name in given:
                values[each.field] = _decode(each.kind, given[each.name], f'"{each.name}" of the job "{job.type}"')
            elif each.is_required:
                raise BadInput(f'A job of the type "{job.type}" needs "{each.name}" among its {each.part}.')
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """A field of a request, with where it stands."""

    field: str
    part: str
    name: str
    kind: Any
    is_given: bool
    """Whether whoever makes a request gives it; the others follow from those."""
    is_required: bool

    @property
    def is_all(self) -> bool:
        return self.name == "*"

    @property
    def names(self) -> Sequence[str]:
        return [each.name for each in fields(self.kind)] if self.is_all else [self.name]


def _find_places(request: type[JobRequest]) -> Sequence[_Placed]:
    return [_place(each, kind) for each, kind in _find_hints(request)]


def _find_hints(kind: Any) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return [(each, hints[each.name]) for each in fields(kind)]


def _place(each: Field[Any], hint: Any) -> _Placed:
    place = next((extra for extra in get_args(hint)[1:] if isinstance(extra, Place)), Place("options"))
    kind = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    name, required = place.name or each.name, each.init and _is_required(each)
    return _Placed(field=each.name, part=place.part, name=name, kind=kind, is_given=each.init, is_required=required)


def _is_required(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _check_names(job: Job, part: str, known: Sequence[str]) -> None:
    for name in getattr(job, part):
        if name not in known:
            one = part.removesuffix("s")
            raise BadInput(
                f'A job of the type "{job.type}" has no {one} "{name}".',
                hint=did_you_mean(name, known) or f"It has: {', '.join(known) or 'none'}.",
            )


def _encode(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _encode(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: _encode(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(each) for each in value]
    return value.value if isinstance(value, Enum) else value


def _decode(kind: Any, value: Any, whose: str) -> Any:
    if get_origin(kind) is UnionType:  # such as `Location | None`
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError as error:
            choices = ", ".join(str(each.value) for each in kind)
            raise BadInput(f'"{value}" is not a value for {whose}.', hint=f"One of: {choices}.") from error
    if is_dataclass(kind) and isinstance(value, Mapping):
        return _decode_fields(kind, value, whose)
    if kind in (Location, TableRef) and not isinstance(value, kind | None):
        raise BadInput(f"{whose} is not a place: {value!r}.", hint='A place has a "path" and a "storage".')
    if get_origin(kind) is Mapping and isinstance(value, Mapping):
        return {name: _decode(get_args(kind)[1], each, whose) for name, each in value.items()}
    if get_origin(kind) in (Sequence, tuple, list) and isinstance(value, list | tuple):
        (item, *_) = get_args(kind)
        return tuple(_decode(item, each, whose) for each in value)
    return value


def _decode_fields(kind: Any, value: Mapping[str, Any], whose: str) -> Any:
    hinted = {each.name: (each, hint) for each, hint in _find_hints(kind)}
    unknown = next((name for name in value if name not in hinted), None)
    missing = next((name for name, (each, _) in hinted.items() if name not in value and _is_required(each)), None)
    if unknown is not None:
        raise BadInput(f'"{unknown}" is not known in {whose}.', hint=did_you_mean(unknown, list(hinted)))
    if missing is not None:
        raise BadInput(f'"{missing}" is missing in {whose}.')
    return kind(**{name: _decode(hinted[name][1], each, f'"{name}" in {whose}') for name, each in value.items()})
