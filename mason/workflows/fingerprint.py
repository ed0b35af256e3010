"""What is asked of a step: its operator, configuration and parameters."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from mason.configurations.valid_config import ValidConfig
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.json_text import json_value
from mason.util.redaction import REDACTED, redact_urls, redact_values


def parameters_for_record(parameters: ValidatedParameters) -> dict[str, Any]:
    """Return parameters for a record: none of their secrets is in it, and no password of a URL."""
    return {name: redact_urls(value) for name, value in _without_secrets(parameters).items()}


def clients_for_record(config: ValidConfig) -> dict[str, Any]:
    """Return the clients of each role with their configurations; none of their secrets is in it."""
    return {role: json_value(redact_values(dict(each.configurations))) for role, each in config.engines.items()}


def call_digest(digest: str, config: ValidConfig, parameters: ValidatedParameters) -> str:
    """Return a digest of what is asked for: another operator, configuration or parameter is another call."""
    return digest_of([digest, clients_for_record(config), _without_secrets(parameters)])


def digest_of(value: Any) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _without_secrets(parameters: ValidatedParameters) -> dict[str, Any]:
    secrets = parameters.secrets
    return {name: REDACTED if str(value) in secrets else json_value(value) for name, value in parameters.values.items()}
