"""Which files a table was merged from, so that the next merge can tell what is new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow.fs as pafs

from mason.pipeline.jobs.merge.job import MergeOptions, Mode
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.storage.archives import stamp_of_file
from mason.pipeline.storage.files import DataFile
from mason.pipeline.tables.commit import CommitRecord, TableStore
from mason.pipeline.work.step_attempt import StepAttempt

Fingerprint = tuple[int, int]


def fingerprints(planned: Sequence[PlannedFile]) -> dict[str, Any]:
    """Return what a commit keeps of the files it was made from: path, size, time of the last change."""
    return {each.file.path: [each.file.size, each.stamp] for each in planned if each.is_source}


@dataclass(frozen=True)
class Sources:
    """The files that are in a table already."""

    known: dict[str, Fingerprint] = field(default_factory=dict)

    @classmethod
    def of(cls, commits: Iterable[CommitRecord]) -> Sources:
        """Return the files of all commits that a table consists of."""
        known: dict[str, Fingerprint] = {}
        for commit in commits:
            for path, (size, modified) in commit.details.get("sources", {}).items():
                known.setdefault(path, (size, modified))
        return cls(known)

    def without_merged(self, filesystem: pafs.FileSystem, files: Sequence[DataFile]) -> list[DataFile]:
        """Return the files that are not in the table yet.

        Raises:
            PlanRefused: a file was merged before and is another one now: its rows would be there twice.
        """
        new, changed = [], []
        for file in files:
            if file.path not in self.known:
                new.append(file)
            elif self.known[file.path] != _fingerprint(filesystem, file):
                changed.append(f"{file.name}: it was merged before, and has changed since then.")
        if changed:
            raise PlanRefused(changed, hint="Merge everything anew (incremental: false), or give new data a new name.")
        return new


def find_merged_sources(options: MergeOptions, table: TableStore, work: StepAttempt | None) -> Sources:
    """Return the files that are not to be added: those in the table, or those that an earlier attempt added."""
    if options.incremental:
        return Sources.of(table.lineage())
    if options.mode is not Mode.APPEND or work is None:
        return Sources()
    return Sources.of(each for each in table.lineage() if work.was_attempted_by(each))


def _fingerprint(filesystem: pafs.FileSystem, file: DataFile) -> Fingerprint | None:
    found = stamp_of_file(filesystem, file.path, file.archive, file.size)
    return (found.size, found.number) if found else None
