"""The class that a workflow's author inherits from."""

from __future__ import annotations


class WorkflowDefinition:
    """How a workflow goes from one step to the next. Without a `step` of its own, a step follows its dependencies."""
