"""What every event must be by the specification of OpenLineage 2, written down as a schema of our own."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

_UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$"
_SCHEMA_URL = r"^https://openlineage\.io/spec/2-\d+-\d+/OpenLineage\.json#/\$defs/RunEvent$"
_TEXT = {"type": "string", "minLength": 1}
_URI = {"type": "string", "pattern": "^[a-z][a-z0-9+.-]*:"}
_FACET = {
    "type": "object",
    "required": ["_producer", "_schemaURL"],
    "properties": {"_producer": _URI, "_schemaURL": _URI},
}


def _facets(**known: Any) -> dict[str, Any]:
    both = {name: {"allOf": [_FACET, each]} for name, each in known.items()}
    return {"type": "object", "properties": both, "additionalProperties": _FACET}


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties}


_RUN_ID = {"type": "string", "pattern": _UUID}
_JOB = _object("namespace name", namespace=_TEXT, name=_TEXT, facets=_facets())
_OTHER_RUN = _object("runId", runId=_RUN_ID)
_PARENT = _object("run job", run=_OTHER_RUN, job=_JOB, root=_object("run job", run=_OTHER_RUN, job=_JOB))
_ERROR = _object("message programmingLanguage", message=_TEXT, programmingLanguage=_TEXT)
_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = _object("", rowCount=_COUNT, size=_COUNT, fileCount=_COUNT)
_SCHEMA = _object("fields", fields={"type": "array", "items": _object("name", name=_TEXT, type=_TEXT)})
_DATASET = _object(
    "namespace name",
    namespace=_TEXT,
    name=_TEXT,
    facets=_facets(schema=_SCHEMA),
    inputFacets=_facets(inputStatistics=_COUNTS),
    outputFacets=_facets(outputStatistics=_COUNTS),
)
_DATASETS = {"type": "array", "items": _DATASET}
EVENT = {
    **_object(
        "eventTime eventType producer schemaURL run job",
        eventTime={"type": "string", "pattern": _TIME},
        eventType={"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        producer=_URI,
        schemaURL={"type": "string", "pattern": _SCHEMA_URL},
        run=_object("runId", runId=_RUN_ID, facets=_facets(parent=_PARENT, errorMessage=_ERROR)),
        job=_JOB,
        inputs=_DATASETS,
        outputs=_DATASETS,
    ),
    "additionalProperties": False,
}
_VALIDATOR = Draft202012Validator(EVENT)


def problems(event: dict[str, Any]) -> list[str]:
    """Return what is wrong with an event."""
    return [f"{each.json_path}: {each.message}" for each in _VALIDATOR.iter_errors(event)]
