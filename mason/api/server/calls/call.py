"""A call: what a request asks for, as data that can wait in a queue and outlive the server; and its answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from mason.api.operator_api import Answer
from mason.api.server.replies import document
from mason.engines.execution.models.job import JobStatus
from mason.errors import Interrupted, StateFailed
from mason.state.models import Kind, Name, Record
from mason.util.names import new_id


@dataclass(frozen=True, kw_only=True)
class Call:
    """An operator or a workflow with all that was given for it."""

    kind: Kind
    namespace: str
    command: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What stands in the path and in the query."""
    body: Mapping[str, Any] = field(default_factory=dict)
    config_id: str = ""
    plan: bool = False
    schedule_name: str = ""
    deploy: bool = False
    resumed: str = ""
    """The run that is to be resumed, if there is one; `first` and `only` are steps of it."""
    first: str = ""
    only: str = ""
    id: str = field(default_factory=new_id)
    request_id: str = ""
    repeated: bool = False
    """Whether it is run again, since the server that ran it first is gone."""
    caller: str = ""
    operators: Sequence[str] = ()
    """Patterns of the operators that the caller may use; all when there is none."""
    configurations: Sequence[str] = ()

    @property
    def name(self) -> Name:
        return Name(self.kind, self.namespace, self.command)

    def secrets(self, words: Collection[str]) -> set[str]:
        """Return what the body gives for parameters that are called like this, at any depth."""
        return set(_values_of(self.body, words))

    def to_document(self) -> dict[str, Any]:
        """Return the call as its record begins."""
        return {**self.describe(), "Call": asdict(self)}

    def describe(self) -> dict[str, Any]:
        """Return what a job says of the call that it is; no value of a parameter, which may be long or a secret."""
        return {
            "JobType": self.kind.value,
            self.kind.value.capitalize(): str(self.name),
            "Configuration": self.config_id,
            "CalledBy": self.caller,
            "RequestID": self.request_id,
            "QueuedAt": now(),
        }

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Call:
        values = document["Call"]
        return cls(**{**values, "kind": Kind(values["kind"])})


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _values_of(body: Mapping[str, Any], words: Collection[str]) -> Iterator[str]:
    for name, value in body.items():
        if name in words:
            yield str(value)
        elif isinstance(value, Mapping):
            yield from _values_of(value, words)


def answer_of(record: Record | None) -> Answer:
    """Return the answer that the record of a call keeps; of one that gave none, what is known of its end."""
    if record and "Response" in record.document:
        return record.document["Response"], record.document["HttpStatus"]
    if record and record.status == JobStatus.CANCELLED:
        return answer_cancelled("The job was cancelled.")
    if record and record.status == JobStatus.SUCCEEDED:
        return document(warnings=["The job succeeded. The server that ran it is gone, and its answer with it."]), 200
    if record and record.status == JobStatus.FAILED:
        said = record.document.get("Error", "")
        return document(errors=[f"The job failed, and its answer is gone with its server. {said}".rstrip()]), 500
    return document(errors=["The server that ran the job is gone, and its answer with it."]), StateFailed.status


def answer_cancelled(message: str) -> Answer:
    """Return the answer to a call that somebody ended."""
    return document(errors=[message]), Interrupted.status
