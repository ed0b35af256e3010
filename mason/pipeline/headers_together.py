"""Whether files of one folder have headers, decided together: what one of them shows may tell it of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mason.pipeline.csv_headers import Header
from mason.pipeline.file_schema import FileSchema


def headers_to_change(schemas: Mapping[str, FileSchema]) -> Mapping[str, bool]:
    """Return the files, by name, of which others tell that they have a header after all, or none.

    A first record that is the header of another file is one here, too. Files of nothing but text, as many columns in
    each, whose first records have not one cell in common, begin with data: headers of one table are alike.
    """
    guessed = {name: each for name, each in schemas.items() if each.csv and each.guess is not Header.GIVEN}
    known = {tuple(each.columns) for each in guessed.values() if each.guess is Header.SURE}
    changes = {
        name: True
        for name, each in guessed.items()
        if not each.guess.is_there and each.first_records and tuple(each.first_records[0]) in known
    }
    by_width: dict[int, list[str]] = {}
    for name, each in guessed.items():
        by_width.setdefault(len(each.columns), []).append(name)
    for names in by_width.values():
        likely = [name for name in names if schemas[name].guess is Header.LIKELY]
        if len(likely) > 1 and len(likely) == len(names) and _have_nothing_in_common([schemas[name] for name in names]):
            changes |= dict.fromkeys(likely, False)
    return changes


def _have_nothing_in_common(schemas: Sequence[FileSchema]) -> bool:
    counts = Counter(name for each in schemas for name in each.columns)
    return max(counts.values()) == 1


def strangers(schemas: Mapping[str, FileSchema]) -> Sequence[Sequence[str]]:
    """Return the files in groups, if files of different groups have no column in common; else nothing."""
    groups: list[tuple[set[str], list[str]]] = []
    for name, schema in schemas.items():
        columns = set(schema.columns)
        met = [group for group in groups if group[0] & columns]
        united = (columns.union(*(group[0] for group in met)), [*(one for group in met for one in group[1]), name])
        groups = [group for group in groups if group not in met] + [united]
    return [names for _, names in groups] if len(groups) > 1 else []
