"""Operators for tests, written as their authors would write them."""

from __future__ import annotations

from pathlib import Path

from mason.util.names import class_name
from tests.conftest import write

OPERATOR_YAML = """\
type: "operator"
namespace: "{namespace}"
command: "{command}"
description: "{description}"
parameters:
  optional:
    - text
"""

OPERATOR_CODE = """\
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class {class_name}(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        {body}
        return OperatorResponse(resp)
"""


def write_operator(
    root: Path, namespace: str, command: str, *, body: str = 'resp.add_info("ran")', description: str = "An operator"
) -> Path:
    """Write a valid operator below a folder, in `namespace/command`, and return its own folder."""
    folder = root / namespace / command
    yaml = OPERATOR_YAML.format(namespace=namespace, command=command, description=description)
    code = OPERATOR_CODE.format(class_name=class_name(namespace, command), body=body)
    return write(folder, {"operator.yaml": yaml, "__init__.py": code})
