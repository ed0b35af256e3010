"""What may be registered beside what: decided here once, for every store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mason.errors import AlreadyRegistered
from mason.state.models import Name, Outcome, Registration


def decide_outcomes(current: Mapping[Name, str], new: Sequence[Registration], *, replace: bool) -> list[Outcome]:
    """Return what becomes of each new registration.

    Raises:
        AlreadyRegistered: with one line for every registration that is refused.
    """
    problems = [*_clashes(current, new)]
    outcomes = []
    for registration in new:
        digest = current.get(registration.name)
        if digest is None:
            outcomes.append(Outcome.ADDED)
        elif digest == registration.digest:
            outcomes.append(Outcome.UNCHANGED)
        else:
            outcomes.append(Outcome.REPLACED)
            if not replace:
                problems.append(
                    f"{registration.source}: {registration.name} is registered with other content "
                    f"(sha256:{digest[:12]}, this is {registration.short_digest}). "
                    "Use -f to make this one current; the other stays runnable by its digest."
                )
    if problems:
        raise AlreadyRegistered(problems)
    return outcomes


def _clashes(current: Iterable[Name], new: Sequence[Registration]) -> Iterable[str]:
    # `mason operator table` lists a namespace, or runs the operator of that name: it cannot do both.
    sources = {registration.name: registration.source for registration in new}
    names = {*current, *sources}
    namespaces = {(name.kind, name.namespace): name for name in sorted(names) if name.namespace}
    for name in sorted(names):
        other = namespaces.get((name.kind, name.command))
        if not name.namespace and other and (name in sources or other in sources):
            place = sources.get(name) or sources[other]
            yield f'{place}: the {name.kind} "{name}" without a namespace and the namespace of "{other}" have one name.'
