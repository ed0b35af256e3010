"""`mason`, which writes down in the file of PHASES what it does to a table on S3 while it does it.

With PHASES_BROKEN it commits in a way that is not atomic: it takes the old version away before the new one is there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mason.__main__ import main
from mason.clients.s3.objects import S3Objects
from mason.pipeline.tables.objects import TableObjects

CHANGES = ("write_new", "rewrite", "copy", "delete")
_phase = ["plan"]


def tell(step: str) -> None:
    with open(os.environ["PHASES"], "a", encoding="utf-8") as phases:
        phases.write(f"{_phase[0]} {step}\n")


def entering(phase: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def entered(*arguments: Any, **named: Any) -> Any:
        _phase[0] = phase
        tell("begin")
        return method(*arguments, **named)

    return entered


def told(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def change(*arguments: Any) -> Any:
        tell(name)
        return method(*arguments)

    return change


def broken(method: Callable[..., Any]) -> Callable[..., Any]:
    def publish(table: TableObjects, staging: str, record: Any, *, expected: Any, **named: Any) -> Any:
        if expected:
            table._store.delete([each.place_in(table.path) for each in expected.files])
        return method(table, staging, record, expected=expected, **named)

    return publish


if __name__ == "__main__":
    for each in CHANGES:
        setattr(S3Objects, each, told(each, getattr(S3Objects, each)))
    publish = broken(TableObjects.publish) if os.environ.get("PHASES_BROKEN") else TableObjects.publish
    TableObjects.publish = entering("commit", publish)  # type: ignore[method-assign]
    TableObjects.stage = entering("tasks", TableObjects.stage)  # type: ignore[method-assign]
    main()
