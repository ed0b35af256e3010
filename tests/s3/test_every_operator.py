"""Every operator does on an object store what it does on a disk: here, and on Spark, which reads S3 by itself."""

from __future__ import annotations

import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.testing import OperatorContract
from tests import cluster
from tests.conftest import PROJECT, Mason, write
from tests.ports import free_port
from tests.seaweed import Seaweed
from tests.table_operators import test_every_engine as on_disk

pytestmark = pytest.mark.timeout(600)

PARTITIONED = [
    (("table", "merge"), {"input_path": "shop/raw", "output_path": "{}/by", "repartition_keys": "country"}),
    (
        ("table", "merge"),
        {"input_path": "shop/raw", "output_path": "{}/by", "repartition_keys": "country", "mode": "append"},
    ),
    (
        ("table", "query"),
        {"database_name": "{}", "query_string": "select country, count(*) n from by group by country order by country"},
    ),
    (("table", "dedupe"), {"path": "{}/by", "keys": "id,country", "order_by": "day"}),
    (
        ("table", "query"),
        {
            "database_name": "{}",
            "query_string": "select id, country from by order by id, country",
            "output_path": "{}/listed",
            "format": "csv",
        },
    ),
    (("table", "query"), {"database_name": "{}", "query_string": "select * from by limit 0", "output_path": "{}/none"}),
    (("table", "preview"), {"path": "{}/none"}),
]
STEPS = [*on_disk.STEPS, *PARTITIONED]
NOT_FOR_SPARK = {"history", "preview", "rollback", "vacuum"}
"""What no engine has a part in."""
TABLES = (*on_disk.TABLES, "by")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, seaweed: Seaweed) -> Iterator[Mason]:
    """One Mason for the machine's disks and for the store."""
    root = tmp_path_factory.mktemp("both")
    (root / "runtime").mkdir(mode=0o700)
    (root / "events").mkdir()
    variables = {
        **seaweed.environment(),
        "MASON_RUNTIME_DIR": str(root / "runtime"),
        "XDG_CACHE_HOME": str(PROJECT / ".cache"),  # what S3 takes is fetched once
        "SPARK_UI_PORT": str(free_port()),
    }
    mason = Mason(root / "work", root / "home", variables)
    write(mason.folder, on_disk.ORDERS)
    write(mason.folder / "configs", {"here.yaml": cluster.configuration({})})
    write(mason.folder / "configs", {"objects.yaml": configuration(seaweed, "local", {})})
    write(mason.folder / "configs", {"spark.yaml": configuration(seaweed, "spark", watched(root, variables))})
    assert mason("config", "configs").exit_code == 0
    for bucket in ("shop", "objects", "spark"):
        seaweed.client().create_bucket(Bucket=bucket)
    for path, text in on_disk.ORDERS.items():
        seaweed.client().put_object(Bucket="shop", Key=path.removeprefix("shop/"), Body=text.encode())
    yield mason.register_examples()
    assert mason("spark", "stop").exit_code == 0


def watched(root: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """Settings with which Spark shows and writes down all that it ever does."""
    pages = {"spark.ui.enabled": True, "spark.ui.port": int(variables["SPARK_UI_PORT"])}
    written = {"spark.eventLog.enabled": True, "spark.eventLog.dir": (root / "events").as_uri()}
    plain = {"spark.eventLog.compress": False, "spark.eventLog.rolling.enabled": False}
    return {**pages, **written, **plain}


def configuration(seaweed: Seaweed, engine: str, conf: Mapping[str, Any]) -> str:
    keys = {"access_key": "{{AWS_ACCESS_KEY_ID}}", "secret_key": "{{AWS_SECRET_ACCESS_KEY}}"}
    s3 = {"endpoint": seaweed.endpoint, "aws_region": "us-east-1", **keys}
    engines: dict[str, Any] = {
        "local": {},
        "spark": {"runner": {"type": "local", "warm": "always", "conf": dict(conf)}},
    }
    # As the seeds have it, without a storage: S3 is both.
    roles = {"metastore_engine": "s3", "execution_engine": engine}
    clients = {"s3": {"configuration": s3}, engine: {"configuration": engines[engine]}}
    return yaml.safe_dump({**roles, "clients": clients})


@pytest.fixture(scope="module")
def expected(both: Mason) -> tuple[list[Any], dict[str, list[str]]]:
    answers = on_disk.run_steps(both, "here", STEPS, "here")
    return answers, {name: on_disk.rows_of(both.folder / "here" / name) for name in TABLES}


def test_every_operator_gives_the_same_answers_and_tables_on_s3(
    both: Mason, seaweed: Seaweed, expected: tuple[list[Any], dict[str, list[str]]]
) -> None:
    answers, tables = expected
    for mine, theirs in zip(on_disk.run_steps(both, "objects", STEPS, "objects"), answers, strict=True):
        assert told(mine, "objects") == told(theirs, "here")
    assert {name: rows_of(seaweed, f"objects/{name}") for name in TABLES} == tables
    assert scratch_in(seaweed, "objects") == []


def test_every_operator_gives_the_same_answers_and_tables_on_s3_with_spark(
    both: Mason, seaweed: Seaweed, expected: tuple[list[Any], dict[str, list[str]]]
) -> None:
    answers, tables = expected
    steps = [step for step in STEPS if step[0][1] not in NOT_FOR_SPARK]
    theirs = [answer for answer in answers if answer[0][1] not in NOT_FOR_SPARK]
    for mine, other in zip(on_disk.run_steps(both, "spark", steps, "spark"), theirs, strict=True):
        assert told(mine, "spark") == told(other, "here")
    # Without the last steps the table is what it was before it went back to its first version.
    assert {name: rows_of(seaweed, f"spark/{name}") for name in TABLES if name != "orders"} == {
        name: rows for name, rows in tables.items() if name != "orders"
    }
    assert scratch_in(seaweed, "spark") == []


class TestOperatorsOnSpark(OperatorContract):
    """The suite for any configuration; the warm Spark is that of the tests above."""

    @pytest.fixture
    def configuration(self, both: Mason, seaweed: Seaweed, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
        for name, value in both.variables.items():
            monkeypatch.setenv(name, value)
        for name in ("AWS_CONFIG_FILE", "AWS_EC2_METADATA_DISABLED", "AWS_SHARED_CREDENTIALS_FILE"):
            monkeypatch.delenv(name)  # another for each test, which would be another Spark for each
        told: dict[str, Any] = yaml.safe_load((both.folder / "configs" / "spark.yaml").read_text())
        return told

    @pytest.fixture
    def base_path(self, seaweed: Seaweed) -> str:
        return f"s3://{seaweed.bucket()}"

    @pytest.fixture
    def database(self, seaweed: Seaweed) -> str:
        return seaweed.bucket()


def scratch_in(seaweed: Seaweed, bucket: str) -> list[str]:
    return [key for key in seaweed.keys(bucket) if key.startswith(".mason/scratch")]


def told(answer: Any, folder: str) -> Any:
    """An answer without the paths that are others here."""
    text = yaml.safe_dump(answer)
    return [line for line in text.splitlines() if f"{folder}/" not in line and "/folder/" not in line]


def rows_of(seaweed: Seaweed, path: str) -> list[str]:
    address = S3StorageClient(seaweed.configuration()).address()
    scan = plan_scan(Location(path, address))
    assert scan.commit is not None
    rows = fetch_rows(
        InProcessRunner(), SqlQuery(statement="select * from t", tables=[ReadyTable("t", scan).sql_table()])
    )
    return [str(rows.schema), *sorted(map(repr, rows.to_pylist()))]


def test_a_secret_key_is_nowhere_but_in_the_file_for_it(both: Mason, seaweed: Seaweed) -> None:
    """After all that, and while Spark runs: no file, no process, no answer and no page of Spark's has it."""
    done = both(
        "operator", "table", "query", "-c", "spark", "-p", "database_name:spark,query_string:select 1 as one from by"
    )
    assert done.exit_code == 0, done.stderr
    root, secret = both.folder.parent, seaweed.owner.secret_key

    assert secret not in done.stdout + done.stderr
    assert secret not in spark_pages(both)
    assert processes_with(secret) == []
    [file] = files_with(secret, root)
    assert file.parent == root / "runtime" / "keys" and file.stat().st_mode & 0o077 == 0
    assert any("EnvironmentUpdate" in each.read_text() for each in (root / "events").iterdir()), (
        "there is a log to read"
    )


def test_the_search_for_secrets_finds_one(tmp_path: Path) -> None:
    secret = uuid4().hex
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "log.gz").write_bytes(b"x" * 100_000 + secret.encode())
    assert files_with(secret, tmp_path) == [tmp_path / "below" / "log.gz"]
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"KEY": secret}) as echo:
        assert echo.stdin is not None and echo.stdout is not None
        echo.stdin.write(b"here\n")
        echo.stdin.flush()
        assert echo.stdout.readline() == b"here\n", "a process has its environment only when it runs its program"
        assert processes_with(secret) == [echo.pid]


def files_with(secret: str, folder: Path) -> list[Path]:
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    return [file for file in files if secret.encode() in file.read_bytes()]


def processes_with(secret: str) -> list[int]:
    """The processes that have it in their command or their environment, which others may see."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            seen = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if secret.encode() in seen:
                found.append(int(process.name))
    return found


def spark_pages(mason: Mason) -> str:
    port = mason.variables["SPARK_UI_PORT"]
    paths = ("environment/", "SQL/", "jobs/", "executors/")
    pages = [urllib.request.urlopen(f"http://localhost:{port}/{path}").read().decode() for path in paths]
    assert "fs.s3a.endpoint" in pages[0], "the page shows the settings"
    return "".join(pages)
