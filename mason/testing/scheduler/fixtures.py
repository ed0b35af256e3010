"""What the tests of a scheduler start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import pytest

from mason.clients.engines.scheduler import SchedulerClient
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import MasonError, NotFound
from mason.testing.contract import answer

Deploy = Callable[..., Schedule]
EXPRESSION = "30 6 * * MON-FRI"
OTHER_EXPRESSION = "0 0 1 * *"


class SchedulerFixtures:
    """The fixtures of the suite; a subclass has `client` and overrides what does not suit its technology."""

    refuses: ClassVar[Mapping[str, str]] = {}
    """Expressions that the technology cannot keep, each with words of its refusal, which must be a BadInput."""

    many: ClassVar[int] = 25
    """So many schedules the suite makes to see that none is left out of a listing."""

    @pytest.fixture
    def client(self) -> SchedulerClient:
        raise NotImplementedError("A suite is given its client by a fixture `client` in the subclass.")

    @pytest.fixture
    def name(self, client: SchedulerClient) -> Iterator[str]:
        """A name that no schedule has; what begins with it is deleted after the test."""
        name = f"contract_{uuid4().hex[:8]}"
        yield name
        with suppress(MasonError):  # a client may have no such verb; the test has said what it had to say
            for each in names(client):
                if each.startswith(name):
                    with suppress(NotFound):
                        answer(client.delete_schedule, each)

    @pytest.fixture
    def deployment(self, tmp_path: Path) -> Callable[..., Deployment]:
        """How the suite makes a deployment: by a name and an expression."""
        return lambda name, expression="": replace(
            a_deployment(name, expression), folder=str(tmp_path), home=str(tmp_path)
        )

    @pytest.fixture
    def deploy(self, client: SchedulerClient, deployment: Callable[..., Deployment]) -> Deploy:
        """How the suite makes a schedule."""
        return lambda name, expression="": answer(client.register_dag, deployment(name, expression))


def a_deployment(name: str, expression: str = "") -> Deployment:
    """Return a deployment of one step, as a workflow would hand it over."""
    step = ValidDagStep(id="step_1", key="step_1", operator="table:infer", digest="0" * 64, config_id="local")
    return Deployment(
        schedule=Schedule(name=name, expression=expression),
        dag=Dag(name, (step,)),
        workflow=f"table:infer@sha256:{'0' * 64}",
        config_id="local",
    )


def names(client: SchedulerClient) -> list[str]:
    return [each.name for each in answer(client.list_schedules)]
