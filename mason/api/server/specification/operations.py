"""Operations as the specification shows them: made from `operator.yaml`, with what a fragment says in its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mason.api.server.settings import MOST_WAIT
from mason.api.server.specification.fragments import Declared
from mason.operators.operator_spec import OperatorSpec
from mason.parameters.definition import ParameterDefinition
from mason.state.models import Registration
from mason.workflows.definition.workflow_spec import WORKFLOW, StepSpec, WorkflowSpec

WITH_BODY = ("post", "put", "patch")
DEFAULT_WAIT = 10
OPERATOR_KEY = "x-mason-operator"
"""Names the operator of an operation, for programs that know operators and not paths."""

ALIASES_KEY = "x-mason-aliases"
"""The other names of a parameter that stands in the path, for the same programs."""


_BODY_ONLY = ("secret", "map")
_RESPONSE = {"$ref": "#/components/schemas/Response"}
_WAIT = {
    "name": "wait",
    "in": "query",
    "description": "How many seconds to wait for the result; what takes longer goes on as a job (202).",
    "schema": {"type": "number", "minimum": 0, "maximum": MOST_WAIT, "default": DEFAULT_WAIT},
}
_CONFIG = {
    "name": "config_id",
    "in": "query",
    "description": "The configuration to use; the current one by default.",
    "schema": {"type": "string"},
}
_PLAN = {
    "name": "plan",
    "in": "query",
    "description": "Say what the call would do, and do nothing.",
    "schema": {"type": "boolean", "default": False},
}


@dataclass(frozen=True)
class Known:
    """The operators and workflows that steps of workflows can name."""

    operators: Mapping[str, OperatorSpec]
    workflows: Mapping[str, WorkflowSpec]


IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A text of the caller's choice: the same request with the same key is carried out once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}


def describe_operator(registration: Registration, spec: OperatorSpec, declared: Declared) -> dict[str, Any]:
    """Return an operator's operation."""
    own = {each["name"]: each for each in declared.parameters}
    in_path = declared.parameters_in_path
    parameters = [own.get(name) or _in_path(name, spec) for name in in_path]
    parameters += [each for name, each in own.items() if name not in in_path]
    taken = {*own, *in_path}
    has_body = declared.method in WITH_BODY
    for each in spec.parameters.all:
        words = {each.name, *each.aliases}
        if not words & taken and each.type not in _BODY_ONLY:
            in_query = _in_query(each, required=each.required and not has_body)
            parameters.append(_without_default(in_query) if has_body else in_query)
    operation: dict[str, Any] = {
        "summary": spec.description,
        "tags": [spec.namespace or spec.command],
        **declared.words,
        OPERATOR_KEY: str(registration.name),
        "parameters": [*parameters, *options(declared.method, taken)],
        "responses": replies(registration.definition.get("output"), declared.description),
    }
    if has_body:
        body = _body(spec, declared)
        required = {"required": True} if body["schema"].get("required") else {}
        operation["requestBody"] = {**required, "content": {"application/json": body}}
    return operation


def describe_workflow(spec: WorkflowSpec, known: Known) -> dict[str, Any]:
    """Return a workflow's operation."""
    return {
        "summary": spec.description or spec.title,
        "tags": ["workflow"],
        "parameters": [*workflow_options(), _CONFIG, _WAIT, IDEMPOTENCY_KEY],
        "requestBody": {"content": {"application/json": _steps(spec, known)}},
        "responses": replies(None),
    }


def describe_resume(run_id: Mapping[str, Any]) -> dict[str, Any]:
    """Return the operation that resumes a run."""
    first = {
        "name": "from",
        "in": "query",
        "description": "This step, and what depends on it, as well.",
        "schema": _TEXT,
    }
    only = {"name": "only", "in": "query", "description": "This step alone.", "schema": _TEXT}
    return {
        "summary": "Runs again what failed in a run, and what depends on it; parameters are as then unless given.",
        "tags": ["run"],
        "parameters": [run_id, first, only, _WAIT, IDEMPOTENCY_KEY],
        "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
        "responses": replies(None),
    }


def workflow_options() -> list[dict[str, Any]]:
    return [
        _flag("run_now", "Run the workflow; without this and `deploy` it is only checked and planned."),
        _flag("deploy", "Hand the workflow to the scheduler."),
        {"name": "schedule_name", "in": "query", "description": "The name of the schedule.", "schema": _TEXT},
    ]


def options(method: str, taken: set[str]) -> list[dict[str, Any]]:
    """Return what every operation takes; a parameter of the operator's own with such a name goes first."""
    every = [_CONFIG, _WAIT, *([_PLAN, IDEMPOTENCY_KEY] if method != "get" else [_PLAN])]
    return [each for each in every if each["name"] not in taken]


def replies(output: Any, description: str = "") -> dict[str, Any]:
    """Return the replies of an operation; the example of the good one is what the operator says it gives."""
    data = [] if output is None else output if isinstance(output, list) else [output]
    return {
        "200": _reply(description or "What the operator gave.", {**_NOTHING, "Data": data}),
        "202": _reply("It still runs: ask for the job at the Location.", {**_NOTHING, "Data": [_STILL_RUNNING]}),
        "401": {**_reply(_NO_TOKEN, {**_NOTHING, "Errors": ["This call needs a token."]}), "headers": _WITH_401},
        "403": _reply(_LESSER_TOKEN, {**_NOTHING, "Errors": ['The token "ci" is not for the operator table:delete.']}),
        "4XX": _reply("What is wrong with the request.", {**_NOTHING, "Errors": ['The parameter "name" is missing.']}),
        "5XX": _reply("What went wrong.", {**_NOTHING, "Errors": ["The technology behind it cannot be reached."]}),
    }


_NOTHING: Mapping[str, Any] = {"Errors": [], "Info": [], "Warnings": [], "Data": []}
_STILL_RUNNING = {"JobID": "5d1f3a0c9b7e4f21", "Status": "running"}


_TEXT = {"type": "string"}
_NO_TOKEN = "There is no token, or one that is not valid."
_LESSER_TOKEN = "The token is not for this, or a page of another site asks."
_WITH_401 = {"WWW-Authenticate": {"description": "How a token is sent: `Bearer`.", "schema": _TEXT}}


def _reply(description: str, example: Mapping[str, Any]) -> dict[str, Any]:
    content = {"schema": _RESPONSE, "example": example}
    return {"description": description, "content": {"application/json": content}}


def _flag(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "boolean", "default": False}}


def _in_path(name: str, spec: OperatorSpec) -> dict[str, Any]:
    definition = spec.parameters.find(name)
    assert definition is not None
    others = [word for word in (definition.name, *definition.aliases) if word != name]
    aliases = {ALIASES_KEY: others} if others else {}
    described = _in_query(definition, required=True)
    is_text = described["schema"]["type"] == "string" and "enum" not in described["schema"]
    schema = {**described["schema"], "minLength": 1} if is_text else described["schema"]  # no path has an empty part
    return {**described, "name": name, "in": "path", "schema": schema, **aliases}


def _in_query(definition: ParameterDefinition, *, required: bool) -> dict[str, Any]:
    schema = {key: value for key, value in _schema(definition).items() if key != "description"}
    described = {"description": definition.description} if definition.description else {}
    way = {"style": "form", "explode": False} if schema["type"] == "array" else {}
    return {
        "name": definition.name,
        "in": "query",
        "required": required,
        **described,
        **way,
        "schema": schema,
    }


def _without_default(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parameter whose default only the body tells: pages that try operations send what stands in the query,
    untouched, and it would go before what a person has written into the body.
    """
    return {**parameter, "schema": {key: value for key, value in parameter["schema"].items() if key != "default"}}


def _schema(definition: ParameterDefinition) -> dict[str, Any]:
    schema = definition.to_json_schema()
    is_given = definition.required or definition.type == "path"
    if is_given and schema["type"] == "string" and "enum" not in schema:
        schema["minLength"] = 1
    return schema


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes null as well, which is as good as leaving the parameter out."""
    choices = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, **choices, "nullable": True}


def _body(spec: OperatorSpec, declared: Declared) -> dict[str, Any]:
    """Return the body of an operation. Its example is what a person begins with: without one, pages that try operations
    make one up, with a value for every parameter there is.
    """
    if declared.body_schema is not None:
        return {"schema": declared.body_schema}
    in_path = declared.parameters_in_path
    needed = [each for each in spec.parameters.required if not {each.name, *each.aliases} & set(in_path)]
    return {"schema": _body_schema(spec, in_path), "example": {each.name: _example(each) for each in needed}}


def _example(definition: ParameterDefinition) -> Any:
    if definition.type == "path" and definition.default is None:
        return "…"  # one that is there may be read, or replaced
    text = definition.example()
    if definition.type == "list":
        return text.split(",")
    return json.loads(text) if definition.type in ("integer", "number", "boolean", "map") else text


def _body_schema(spec: OperatorSpec, in_path: Sequence[str]) -> dict[str, Any]:
    properties = {
        each.name: _schema(each) if each.required else _nullable(_schema(each))
        for each in spec.parameters.all
        if not {each.name, *each.aliases} & set(in_path)
    }
    # What can be in the query as well need not be here.
    needed = [each.name for each in spec.parameters.required if each.type in _BODY_ONLY and each.name in properties]
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _steps(spec: WorkflowSpec, known: Known) -> dict[str, Any]:
    schema = {"type": "object", "properties": {step.id: _step_schema(step) for step in spec.steps}}
    return {"schema": schema, "example": _steps_example(spec, known, {spec.name})}


def _steps_example(spec: WorkflowSpec, known: Known, around: set[str]) -> dict[str, Any]:
    """Return what a person begins with: the parameters that the operators of the steps need."""
    return {step.id: {_inner(step): _step_example(step, known, around)} for step in spec.steps}


def _step_example(step: StepSpec, known: Known, around: set[str]) -> dict[str, Any]:
    if step.type == WORKFLOW:
        nested = known.workflows.get(step.name)
        is_circle = step.name in around  # registered so, though it cannot be run
        return _steps_example(nested, known, {*around, step.name}) if nested and not is_circle else {}
    operator = known.operators.get(step.name)
    return {each.name: _example(each) for each in operator.parameters.required} if operator else {}


def _inner(step: StepSpec) -> str:
    return "steps" if step.type == WORKFLOW else "parameters"


def _step_schema(step: StepSpec) -> Mapping[str, Any]:
    return {
        "type": "object",
        "description": f"{step.name}",
        "properties": {"config_id": _TEXT, _inner(step): {"type": "object"}},
        "additionalProperties": False,
    }
