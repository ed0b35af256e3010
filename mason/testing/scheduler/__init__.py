"""The suite of the scheduler role."""

from __future__ import annotations

from mason.testing.scheduler.dags import DagTests
from mason.testing.scheduler.registration import RegistrationTests
from mason.testing.scheduler.schedules import ScheduleTests
from mason.testing.scheduler.verbs import VerbTests


class SchedulerContract(VerbTests, ScheduleTests, RegistrationTests, DagTests):
    """What Mason expects of a scheduler client.

        class TestMyScheduler(SchedulerContract):
            @pytest.fixture
            def client(self) -> SchedulerClient:
                return MySchedulerClient({"url": "http://127.0.0.1:9000"})

    `client` is the one fixture that a subclass must have: a client of a scheduler in which the suite may make and
    delete schedules of its own names. `deploy` is there to be overridden by a client that takes only some DAGs, and
    `many` by one that takes its time.

    A verb that the client declares unsupported is not skipped: its tests demand that it is refused with its reason. So
    are expressions that the technology cannot keep, which are declared in `refuses`.
    """
