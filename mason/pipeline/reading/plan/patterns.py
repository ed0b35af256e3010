"""The patterns by which text became the values of a table: what is added later is written in the same way, or is told.

`1.234` is 1234 by `'de'`, and without it another number: nobody would see that in the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.types.column_types import TEXT
from mason.pipeline.types.sql_types import parse_given_schema

PATTERNS = "patterns"
"""The detail of a commit that has the patterns of the table's columns by their names."""


def patterns_of_commit(commit: CommitRecord | None) -> dict[str, str]:
    """Return the patterns by which columns of a table were read; those of an older Mason are in its schema alone."""
    if commit is None:
        return {}
    if PATTERNS in commit.details:
        return dict(commit.details[PATTERNS])
    return dict(parse_given_schema(commit.details.get("options", {}).get("schema", "")).patterns)


def pattern_details(before: CommitRecord | None, schema: str) -> Mapping[str, Any]:
    """Return the detail of a commit that follows another one, or none: a column that is given anew has its new one."""
    given = parse_given_schema(schema)
    patterns = {name: each for name, each in patterns_of_commit(before).items() if name not in given.types}
    united = {**patterns, **given.patterns}
    return {PATTERNS: united} if united else {}


def check_patterns(base: BaseTable, given: Collection[str], planned: Sequence[PlannedFile]) -> None:
    """See that text which is added to a table is not read otherwise than what is in it.

    Raises:
        PlanRefused: a column was read by a pattern, and now nothing says how it is written.
    """
    problems, columns = [], []
    for name, pattern in patterns_of_commit(base.commit).items():
        files = [each.file.name for each in planned if _has_text(each, name)]
        if name in given or name not in base.schema.names or not files:
            continue
        more = f" and {len(files) - 1:,} more" if files[1:] else ""
        read = f"Column \"{name}\" of the table was read by the pattern '{pattern}'"
        problems.append(f"{read}, and nothing says how it is written in {files[0]}{more}.")
        columns.append(f"{name} {base.schema.field(name).type} '{pattern}'")
    if problems:
        again = f"Give the schema again: {', '.join(columns)}"
        raise PlanRefused(problems, hint=f"{again}; or the column without a pattern, if it is written without.")


def _has_text(file: PlannedFile, name: str) -> bool:
    """Say whether a file has text for a column of the table."""
    if name in file.constants:
        return True
    own = next((old for old, new in file.renames.items() if new == name), name)
    if own not in file.schema.columns or file.is_base or file.own_schema:
        return False
    return file.schema.format == "csv" or TEXT.scalars <= file.schema.columns[own].scalars
