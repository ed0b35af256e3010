"""connexion, imported without a word: it brings a client for tests that warns of its own dependency at every start."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import connexion
    from connexion.lifecycle import ConnexionRequest, ConnexionResponse
    from connexion.middleware.abstract import ROUTING_CONTEXT
    from connexion.middleware.context import ContextMiddleware
    from connexion.middleware.request_validation import RequestValidationMiddleware
    from connexion.middleware.response_validation import ResponseValidationMiddleware
    from connexion.middleware.security import SecurityMiddleware
    from connexion.options import SwaggerUIOptions
    from connexion.resolver import Resolver
    from connexion.validators import ParameterValidator

__all__ = [
    "ROUTING_CONTEXT",
    "ConnexionRequest",
    "ConnexionResponse",
    "ContextMiddleware",
    "ParameterValidator",
    "RequestValidationMiddleware",
    "Resolver",
    "ResponseValidationMiddleware",
    "SecurityMiddleware",
    "SwaggerUIOptions",
    "connexion",
]
