"""Spark as execution engine: places, retries and spreads the tasks of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from mason.clients.spark.class_archive import ClassArchive
from mason.clients.spark.runners import SparkRunner, build_runner, find_runner
from mason.clients.spark.runners.local import keeps_warm
from mason.clients.spark.server.launch import hadoop_version
from mason.clients.spark.settings import RunnerSettings, is_fetched
from mason.engines.execution.models.job import Job
from mason.errors import MasonError
from mason.pipeline.driving.execution import PipelineExecutionClient
from mason.pipeline.storage.address import abilities_of, java_needs
from mason.pipeline.work.tasks import TaskRunner
from mason.util.java import HOW_TO_INSTALL, find_java


class SparkExecutionClient(PipelineExecutionClient):
    """Runs jobs on the Spark that the configuration's runner reaches; on this machine by default."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self.configuration = configuration
        self._runners: dict[frozenset[str], SparkRunner] = {}

    def check(self) -> list[str]:
        try:
            build_runner(self.configuration)
        except MasonError as error:
            return [str(error)]
        return [] if find_java() else [HOW_TO_INSTALL]

    def remark(self) -> str:
        java = find_java()
        archive = ClassArchive.of(java.home) if java and RunnerSettings.of(self.configuration).type == "local" else None
        return f"{archive.describe()}." if archive else ""

    def is_one_per_process(self) -> bool:
        settings = RunnerSettings.of(self.configuration)
        return settings.type == "local" and not keeps_warm(settings.warm)

    def expect_job(self, job: Job) -> None:
        with suppress(MasonError):  # the job will run into the same, and say so
            self._runner(job.storages).start_early()

    def runner(self, storages: Sequence[str]) -> TaskRunner:
        return self._runner(storages)

    def _runner(self, storages: Sequence[str]) -> SparkRunner:
        others = frozenset(each for each in storages if not abilities_of(each).opens_paths)
        if others not in self._runners:
            self._runners[others] = build_runner(self.configuration, sorted(others))
        return self._runners[others]

    def reach(self, storage: str) -> str:
        settings = RunnerSettings.of(self.configuration)
        if abilities_of(storage).opens_paths or not find_runner(settings.type).starts_spark:
            return ""
        reading = settings.with_needs(java_needs(storage, hadoop_version()))
        missing = [name for name in reading.packages if not is_fetched(name)]
        return f"fetched when they are first needed: {', '.join(missing)}" if missing else "fetched"
