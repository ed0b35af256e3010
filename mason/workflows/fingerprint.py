"""What is asked of a step: its operator, configuration and parameters."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from mason.clients.engines.role import ROLES
from mason.configurations.valid_config import ValidConfig
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.json_text import json_value
from mason.util.redaction import REDACTED, redact_values


def shown_parameters(parameters: ValidatedParameters) -> dict[str, Any]:
    """Return parameters for a record: none of their secrets is in it."""
    secrets = parameters.secrets
    return {name: REDACTED if str(value) in secrets else json_value(value) for name, value in parameters.values.items()}


def call_digest(digest: str, config: ValidConfig, parameters: ValidatedParameters) -> str:
    """Return a digest of what is asked for: another operator, configuration or parameter is another call."""
    clients = {role: redact_values(dict(config.engine(role).configurations)) for role in ROLES}
    asked = [digest, json_value(clients), shown_parameters(parameters)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
