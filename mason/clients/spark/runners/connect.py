"""Any Spark Connect server: Mason's own code is sent along, so that the server need not have it."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mason.clients.spark.code import write_archive
from mason.clients.spark.driver.apart import Apart, has_own_code, run_apart
from mason.clients.spark.settings import RunnerSettings, is_version
from mason.errors import ClientFailed, InvalidConfiguration, MasonError
from mason.pipeline.work.tasks import Starting, TaskEvent, starting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Waits of 0.05 s, then four times as long each: 17 s in all.
_RETRIES = 5
_MASON = "mason"


class ConnectRunner:
    """Runs tasks on the server of a url such as `sc://host:15002`, in a session of its own."""

    uses = frozenset({"url"})
    starts_spark = False

    def __init__(self, settings: RunnerSettings) -> None:
        if not settings.url.startswith("sc://"):
            raise InvalidConfiguration(['runner: the type "connect" needs a url such as sc://host:15002'])
        self._settings = settings
        self._lock = threading.Lock()
        self._spark: SparkSession | None = None
        self._shipped: set[str] = set()

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        if not tasks:
            return
        from mason.clients.spark.job import run_job
        from mason.clients.spark.results import Streamed

        session = yield from starting(partial(self._session, kernel), Starting("the connection to Spark"))
        yield from run_job(session, kernel, tasks, Streamed)

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        if has_own_code(content):
            yield from run_apart(Apart(settings=self._settings, content=content))
        else:
            yield from self.query_here(content)

    def query_here(self, content: bytes) -> Iterator[TaskEvent]:
        """Run a query in this process, whose code may be an author's: this process is the job's own then."""
        from mason.clients.spark.job import run_query
        from mason.clients.spark.results import Streamed

        session = yield from starting(partial(self._session, _MASON), Starting("the connection to Spark"))
        yield from run_query(session, content, Streamed)

    def start_early(self) -> None:
        """Leave it to the job: the server runs already."""

    def describe(self) -> str:
        return f"Spark Connect at {self._server}"

    def close(self) -> None:
        with self._lock:
            if self._spark:
                from mason.clients.spark.connection import end_session

                end_session(self._spark)
                self._spark = None
                self._shipped.clear()

    @property
    def _server(self) -> str:
        # Not the whole url: it may hold a token.
        url = urlsplit(self._settings.url)
        return f"{url.hostname}:{url.port or 15002}"

    def _session(self, kernel: str) -> SparkSession:
        from mason.clients.spark.connection import end_session, open_session, when_forgotten

        package = kernel.partition(":")[0].partition(".")[0]
        with self._lock:
            if self._spark is None:
                self._spark = self._prepare_session(open_session(self._settings.url, retries=_RETRIES))
                # A runner that nobody closes ends its session when it is forgotten, or when the process ends.
                when_forgotten(self, partial(end_session, self._spark))
            if package not in self._shipped:
                self._ship(self._spark, kernel)
                self._shipped.add(package)
            return self._spark

    def _prepare_session(self, spark: SparkSession) -> SparkSession:
        from mason.clients.spark.connection import close_session, end_session, first_line, is_unanswered

        try:
            for name, value in {**self._settings.conf, **self._settings.guards}.items():
                spark.conf.set(name, value)
            self._check_version(spark.version)
        except BaseException as error:
            is_silent = is_unanswered(error)
            # A server that does not answer is not asked to end the session: that would take as long again.
            (close_session if is_silent else end_session)(spark)
            if isinstance(error, MasonError) or not isinstance(error, Exception):
                raise
            problem = "does not answer" if is_silent else "refuses the session"
            raise ClientFailed(f"The Spark Connect server at {self._server} {problem}: {first_line(error)}") from error
        return spark

    def _check_version(self, version: str) -> None:
        wanted = self._settings.spark_version
        if wanted and not is_version(version, wanted):
            raise ClientFailed(f"The Spark Connect server at {self._server} is Spark {version}, not {wanted}.")

    def _ship(self, spark: SparkSession, kernel: str) -> None:
        # Always, not only where it is missing: another version of Mason on the server would be worse than none.
        with tempfile.TemporaryDirectory(prefix="mason-") as folder:
            spark.addArtifacts(str(write_archive(Path(folder), kernel)), pyfile=True)
