"""A DAG that can be handed to a scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep


@dataclass(frozen=True)
class Dag:
    """Steps in an order in which each comes after its dependencies. There is no cycle in it."""

    name: str
    steps: Sequence[ValidDagStep]

    @cached_property
    def by_key(self) -> Mapping[str, ValidDagStep]:
        return {step.key: step for step in self.steps}

    @cached_property
    def followers(self) -> Mapping[str, Sequence[ValidDagStep]]:
        """The steps that depend on each step, in the DAG's order."""
        found: dict[str, list[ValidDagStep]] = {step.key: [] for step in self.steps}
        for step in self.steps:
            for dependency in step.dependencies:
                found[dependency].append(step)
        return found
