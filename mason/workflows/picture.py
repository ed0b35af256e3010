"""Pictures of a DAG: lines for a terminal, Mermaid, and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep

MOST_LANES = 24
_SHOWN_DEPENDENCIES = 5
_NARROWEST_LABEL = 20
_INDENT = "  "


def draw(dag: Dag, width: int | None = None) -> list[str]:
    """Return the DAG as lines: a `*` for each step, below those it depends on; long ones are folded to the width.

    What would need more lanes than there is room for is a list in which every step names its dependencies.
    """
    lines = _lanes(dag, width)
    if lines is not None:
        return lines
    return [line for step in dag.steps for line in _label_lines("*", " ", _list_dependencies(step), width)]


def to_mermaid(dag: Dag) -> str:
    """Return the DAG as a flowchart in Mermaid."""
    names = {step.key: f"s{number}" for number, step in enumerate(dag.steps)}
    nodes = [f'  {names[step.key]}["{"<br/>".join(_mermaid_lines(step))}"]' for step in dag.steps]
    edges = [f"  {names[each]} --> {names[step.key]}" for step in dag.steps for each in step.dependencies]
    return "\n".join(["flowchart TD", *nodes, *edges])


def _mermaid_lines(step: ValidDagStep) -> Iterator[str]:
    yield from (step.key, step.operator)
    if step.when:  # any sign of it might mean something to Mermaid
        yield "when " + "".join(each if each.isalnum() or each in " _." else f"#{ord(each)};" for each in step.when)


def to_dict(dag: Dag) -> dict[str, Any]:
    """Return the DAG as plain data."""
    return {"Name": dag.name, "Steps": [_step_dict(step) for step in dag.steps]}


def _step_dict(step: ValidDagStep) -> dict[str, Any]:
    document = {
        "Id": step.key,
        "Operator": step.pinned_operator,
        "Configuration": step.config_id,
        "Dependencies": list(step.dependencies),
    }
    more = {"When": step.when, "Timeout": step.timeout, "Retry": str(step.retry) if step.retry.most else ""}
    return {**document, **{name: value for name, value in more.items() if value}}


def _lanes(dag: Dag, width: int | None) -> list[str] | None:
    """Draw the edges as lanes, as a log of commits does; None when there would be too many."""
    lines: list[str] = []
    most = MOST_LANES if width is None else min(MOST_LANES, (width - _NARROWEST_LABEL) // 2)
    lanes: list[str | None] = []  # for each lane the step that it leads to
    for step in dag.steps:
        own = [number for number, key in enumerate(lanes) if key == step.key]
        place = own[0] if own else _free(lanes)
        if len(own) > 1:
            lines.append(_join_lanes(lanes, own, "┴", "╯"))
        for number in own[1:]:
            lanes[number] = None
        lanes[place] = step.key
        marks = ["*" if number == place else "│" if key else " " for number, key in enumerate(lanes)]
        after = [each.key for each in dag.followers[step.key]]
        below = [("│" if after else " ") if number == place else mark for number, mark in enumerate(marks)]
        lines += _label_lines(" ".join(marks).rstrip(), " ".join(below).rstrip(), _label(step), width)
        lanes[place] = None
        if len(lanes) + len(after) > most:
            return None
        new = _spread(lanes, after, place) if after else []
        if len(new) > 1:
            lines.append(_join_lanes(lanes, new, "┬", "╮"))
        while lanes and lanes[-1] is None:
            lanes.pop()
    return lines


def _spread(lanes: list[str | None], after: Sequence[str], place: int) -> list[int]:
    lanes[place] = after[0]
    new = [place]
    for key in after[1:]:
        number = next((free for free in range(place + 1, len(lanes)) if lanes[free] is None), len(lanes))
        if number == len(lanes):
            lanes.append(None)
        lanes[number] = key
        new.append(number)
    return new


def _free(lanes: list[str | None]) -> int:
    if None not in lanes:
        lanes.append(None)
    return lanes.index(None)


def _join_lanes(lanes: Sequence[str | None], own: Sequence[int], inner: str, last: str) -> str:
    """Return the line in which lanes meet in the first of them, or part from it."""
    cells = []
    for number, key in enumerate(lanes):
        if number == own[0]:
            cells.append("├")
        elif number == own[-1]:
            cells.append(last)
        elif own[0] < number < own[-1]:
            cells.append(inner if number in own else "┼" if key else "─")
        else:
            cells.append("│" if key else " ")
    dashes = ["─" if own[0] <= number < own[-1] else " " for number in range(len(cells))]
    return "".join(cell + dash for cell, dash in zip(cells, dashes, strict=True)).rstrip()


def _label_lines(marks: str, below: str, label: str, width: int | None) -> list[str]:
    """Return the line of a step, and those below it that the rest of its label needs."""
    if width is None or len(marks) + 1 + len(label) <= width:
        return [f"{marks} {label}"]
    from textwrap import wrap

    first, *rest = wrap(label, max(width - len(marks) - 1, _NARROWEST_LABEL), subsequent_indent=_INDENT)
    return [f"{marks} {first}", *(f"{below.ljust(len(marks))} {each}" for each in rest)]


def _label(step: ValidDagStep) -> str:
    extra = f" when {step.when}" if step.when else ""
    return f"{step.key}  {step.operator}{extra}"


def _list_dependencies(step: ValidDagStep) -> str:
    return f"{_label(step)}{''.join(_after(step.dependencies))}"


def _after(dependencies: Sequence[str]) -> Iterator[str]:
    if dependencies:
        yield f"  after {', '.join(dependencies[:_SHOWN_DEPENDENCIES])}"
    if len(dependencies) > _SHOWN_DEPENDENCIES:
        yield f" and {len(dependencies) - _SHOWN_DEPENDENCIES} more"
