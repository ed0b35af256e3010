"""connexion, imported without a word: it brings a client for tests that warns of its own dependency at every start."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import connexion
    from connexion.lifecycle import ConnexionRequest, ConnexionResponse
    from connexion.options import SwaggerUIOptions
    from connexion.resolver import Resolver

__all__ = ["ConnexionRequest", "ConnexionResponse", "Resolver", "SwaggerUIOptions", "connexion"]
