"""Partitions in Glue, saved in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.clients.aws.service import AwsService
from mason.clients.glue.tables import covers, glue_from_partition
from mason.engines.metastore.models.table import Table
from mason.errors import ClientFailed

_WRITTEN_AT_ONCE = 100
_DELETED_AT_ONCE = 25
_SHOWN = 3

Values = tuple[str, ...]


@dataclass
class PartitionChanges:
    """What was done, or failed, of what was to be done."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"Partitions: {self.added:,} added, {self.changed:,} changed, {self.removed:,} removed."


class GluePartitions:
    """The partitions of one table."""

    def __init__(self, glue: AwsService, table: Table) -> None:
        self._glue = glue
        self._table = table
        self._place = {"DatabaseName": table.database_name, "TableName": table.name}

    def save(self) -> PartitionChanges:
        """Make Glue's partitions those of the table; what is the same stays.

        A partition that Glue has, but whose folder was not found, is removed if it was below the table's path. One that
        lies elsewhere was put there by somebody for a reason.

        Raises:
            ClientFailed: some could not be saved; the others were.
        """
        wanted = self._wanted_partitions()
        known: dict[Values, Mapping[str, Any]] = {
            tuple(each["Values"]): each for each in self._glue.pages("get_partitions", "Partitions", **self._place)
        }
        changes = PartitionChanges()
        new = [each for values, each in wanted.items() if values not in known]
        other = [each for values, each in wanted.items() if values in known and not covers(known[values], each)]
        gone = [values for values, each in known.items() if values not in wanted and self._is_below(each)]
        changes.added = self._add(new, changes)
        changes.changed = self._change(other, changes)
        changes.removed = self._remove(gone, changes)
        if changes.failures:
            raise self._failure_of(changes, len(new) + len(other) + len(gone))
        return changes

    def _wanted_partitions(self) -> dict[Values, dict[str, Any]]:
        keys = set(self._table.partition_keys)
        whole = [each for each in self._table.partitions or () if keys and keys <= each.values.keys()]
        inputs = [glue_from_partition(self._table, each) for each in whole]
        return {tuple(each["Values"]): each for each in inputs}

    def _is_below(self, found: Mapping[str, Any]) -> bool:
        location = str(found.get("StorageDescriptor", {}).get("Location", ""))
        return location.startswith(f"{self._table.path.rstrip('/')}/")

    def _add(self, inputs: Sequence[Mapping[str, Any]], changes: PartitionChanges) -> int:
        return self._in_batches("batch_create_partition", "PartitionInputList", inputs, _WRITTEN_AT_ONCE, changes)

    def _change(self, inputs: Sequence[Mapping[str, Any]], changes: PartitionChanges) -> int:
        entries = [{"PartitionValueList": each["Values"], "PartitionInput": each} for each in inputs]
        return self._in_batches("batch_update_partition", "Entries", entries, _WRITTEN_AT_ONCE, changes)

    def _remove(self, gone: Sequence[Values], changes: PartitionChanges) -> int:
        entries = [{"Values": list(each)} for each in gone]
        return self._in_batches("batch_delete_partition", "PartitionsToDelete", entries, _DELETED_AT_ONCE, changes)

    def _in_batches(
        self, operation: str, key: str, entries: Sequence[Mapping[str, Any]], size: int, changes: PartitionChanges
    ) -> int:
        """Send the entries and return how many were taken; why others were not is added to the failures."""
        failures = []
        for start in range(0, len(entries), size):
            batch = entries[start : start + size]
            answer = self._glue.call(operation, **self._place, **{key: batch})
            failures += [failure for each in answer.get("Errors", ()) if (failure := self._describe_error(each))]
        changes.failures += failures
        return len(entries) - len(failures)

    def _describe_error(self, error: Mapping[str, Any]) -> str:
        detail = error.get("ErrorDetail", {})
        if detail.get("ErrorCode") in _HARMLESS:
            return ""
        values = error.get("PartitionValues") or error.get("PartitionValueList") or ()
        names = "/".join(f"{key}={value}" for key, value in zip(self._table.partition_keys, values, strict=False))
        return f"{names}: {detail.get('ErrorMessage') or detail.get('ErrorCode')}".rstrip(".")

    def _failure_of(self, changes: PartitionChanges, total: int) -> ClientFailed:
        examples = "; ".join(changes.failures[:_SHOWN])
        more = len(changes.failures) - _SHOWN
        others = f"; and {more:,} more" if more > 0 else ""
        count = f"{len(changes.failures):,} of {total:,}"
        message = f'{count} changes to the partitions of "{self._table.name}" failed: {examples}{others}.'
        return ClientFailed(message, hint="The others were made. Do it again for the rest.")


_HARMLESS = ("AlreadyExistsException", "EntityNotFoundException")
"""Somebody else has just done the same."""
