"""What the log of a task says about why it failed, in as few words as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_OURS = "error: "
"""So begin the lines in which Mason says what is wrong."""


def failure_in(log: Sequence[Mapping[str, Any]]) -> str:
    """Return what Mason said, or else what Airflow has raised; nothing where neither is in the log."""
    said = [event.removeprefix(_OURS) for each in log if (event := str(each.get("event", ""))).startswith(_OURS)]
    details = [each for line in log for each in _mappings(line.get("error_detail"))]
    raised = [": ".join(str(each[key]) for key in ("exc_type", "exc_value") if each.get(key)) for each in details]
    return " ".join(said) or (raised[-1] if raised else "")


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
