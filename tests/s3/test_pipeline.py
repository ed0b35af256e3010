"""The data pipeline from S3 to S3, as a user runs it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location
from mason.errors import PathNotFound
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.work import MergeWork
from mason.testing import Place
from tests.conftest import Mason
from tests.seaweed import Seaweed

CONFIG = """
id: objects
metastore_engine: s3
storage_engine: s3
execution_engine: local
clients:
  s3:
    configuration:
      endpoint: {endpoint}
      aws_region: us-east-1
      access_key: "{{{{AWS_ACCESS_KEY_ID}}}}"
      secret_key: "{{{{AWS_SECRET_ACCESS_KEY}}}}"
  local:
    configuration: {{}}
"""

Rows = Callable[[str], list[dict[str, object]]]


@pytest.fixture
def place(seaweed: Seaweed, bucket: str) -> Place:
    storage = S3StorageClient(seaweed.configuration())
    return Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))


@pytest.fixture
def on_s3(mason: Mason, seaweed: Seaweed) -> Mason:
    (mason.folder / "objects.yaml").write_text(CONFIG.format(endpoint=seaweed.endpoint))
    mason.variables.update(seaweed.environment(), MASON_RUNTIME_DIR=str(mason.folder / "runtime"))
    mason.register_examples()
    assert mason("config", "objects.yaml").exit_code == 0
    return mason


@pytest.fixture
def rows(place: Place) -> Rows:
    """What somebody sees who reads the Parquet files below a prefix, and knows nothing of Mason."""

    def read(name: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = pq.read_table(
            place.below(name).path, filesystem=place.filesystem, partitioning="hive"
        ).to_pylist()
        return sorted(found, key=str)

    return read


def run(mason: Mason, command: str, **parameters: object) -> dict[str, object]:
    given = ",".join(f"{name}:{value}" for name, value in parameters.items())
    done = mason("operator", "table", command, "-p", given)
    assert done.exit_code == 0, done.stdout + done.stderr
    data: dict[str, object] = done.json["Data"][0]
    return data


def test_a_merge_replaces_a_table(on_s3: Mason, place: Place, rows: Rows) -> None:
    place.write("in/a.csv", b"type,price\nsaw,1\n")
    place.write("in/b.csv", b"price,type\n2,axe\n")
    out = {"input_path": place.below("in"), "output_path": place.below("out")}

    run(on_s3, "merge", **out)
    assert rows("out") == [{"type": "axe", "price": 2}, {"type": "saw", "price": 1}]

    place.write("in/b.csv", b"price,type\n3,axe\n4,file\n")
    run(on_s3, "merge", **out)
    assert sorted(str(each["price"]) for each in rows("out")) == ["1", "3", "4"]


def test_a_merge_appends_to_a_table(on_s3: Mason, place: Place, rows: Rows) -> None:
    place.write("one/a.csv", b"type,price\nsaw,1\n")
    place.write("two/a.csv", b"type,price\naxe,2\n")

    run(on_s3, "merge", input_path=place.below("one"), output_path=place.below("out"))
    run(on_s3, "merge", input_path=place.below("two"), output_path=place.below("out"), mode="append")

    assert [each["price"] for each in rows("out")] == [2, 1]


def test_a_merge_into_partitions(on_s3: Mason, place: Place, rows: Rows) -> None:
    place.write("in/a.csv", b"year,price\n2026,1\n2027,2\n2026,3\n")

    out = {"input_path": place.below("in"), "output_path": place.below("out"), "repartition_keys": "year"}
    run(on_s3, "merge", **out)
    run(on_s3, "merge", **out)

    assert rows("out") == [{"price": 1, "year": 2026}, {"price": 2, "year": 2027}, {"price": 3, "year": 2026}]


def test_a_merge_of_a_table_reads_its_newest_commit_and_not_what_lies_about(
    on_s3: Mason, place: Place, rows: Rows
) -> None:
    place.write("in/a.csv", b"type,price\nsaw,1\n")
    run(on_s3, "merge", input_path=place.below("in"), output_path=place.below("out"))
    [part] = [name for name in place.contents() if name.startswith("out/part-")]
    place.write("out/part-of-a-former-version.parquet", place.contents()[part])

    run(on_s3, "merge", input_path=place.below("out"), output_path=place.below("copy"))

    assert len(rows("out")) == 2
    assert rows("copy") == [{"type": "saw", "price": 1}]


def test_operators_read_a_committed_table(on_s3: Mason, place: Place) -> None:
    place.write("in/a.csv", b"type,price\nsaw,1\nsaw,1\naxe,2\n")
    run(on_s3, "merge", input_path=place.below("in"), output_path=place.below("out"))

    summary = run(on_s3, "summarize", path=place.below("out"))
    assert summary["Rows"] == 3


def test_a_table_is_checked_and_rows_that_fail_are_saved_on_s3(on_s3: Mason, place: Place, rows: Rows) -> None:
    place.write("in/a.csv", b"id,price\n1,5\n,7\n3,-1\n4,1\n4,2\n")
    place.write("known/a.csv", b"id\n1\n4\n")
    key = f"foreign_key id references={place.below('known')} referenced_columns=id"
    checks = ",".join(f"{each} on_failure=warn" for each in ("not_null id", "range price min=0", "unique id", key))

    done = run(on_s3, "check", path=place.below("in"), failures_path=place.below("failed"), checks=checks)

    assert (done["RowsIn"], done["RowsPassed"], done["RowsFailed"]) == (5, 1, 4)
    failed = sorted(str(row["failed_checks"]) for row in rows("failed"))
    assert failed == [str(["not_null id"]), str(["range price min=0", key]), *[str(["unique id"])] * 2]


def test_a_wrong_key_fails_a_merge_with_one_sentence(on_s3: Mason, place: Place) -> None:
    place.write("in/a.csv", b"type,price\nsaw,1\n")
    on_s3.variables["AWS_SECRET_ACCESS_KEY"] = "w" * 32

    given = f"input_path:{place.below('in')},output_path:{place.below('out')}"
    done = on_s3("operator", "table", "merge", "-p", given)

    assert done.exit_code == 1
    [error] = done.json["Errors"]
    assert "the secret key does not fit the access key." in error
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["nothing", "nothing.csv"])
def test_an_input_that_is_not_there_is_named_as_it_is_written(seaweed: Seaweed, bucket: str, name: str) -> None:
    storage = S3StorageClient(seaweed.configuration()).address()
    job = MergeJob(Location(f"{bucket}/{name}", storage), Location(f"{bucket}/out", storage))

    with pytest.raises(PathNotFound, match=f'^Path "s3://{bucket}/{name}" not found.$'):
        MergeWork.plan(job.to_job())


def test_a_reader_cannot_merge_and_leaves_nothing(on_s3: Mason, seaweed: Seaweed, place: Place) -> None:
    place.write("in/a.csv", b"type,price\nsaw,1\n")
    before = place.contents()
    on_s3.variables.update(seaweed.environment(seaweed.reader))

    given = f"input_path:{place.below('in')},output_path:{place.below('out')}"
    done = on_s3("operator", "table", "merge", "-p", given)

    assert done.exit_code == 1
    [error] = done.json["Errors"]
    assert "access denied" in error
    assert place.contents() == before


def test_a_merge_reads_the_members_of_an_archive(on_s3: Mason, place: Place, rows: Rows) -> None:
    content = io.BytesIO()
    parquet = io.BytesIO()
    pq.write_table(pa.table({"type": ["hoe"], "price": [3]}), parquet)
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "type,price\nsaw,1\n")
        archive.writestr("b.parquet", parquet.getvalue())
    place.write("in/2024.zip", content.getvalue())
    place.write("in/b.csv", b"price,type\n2,axe\n")

    told = run(on_s3, "merge", input_path=place.below("in"), output_path=place.below("out"))

    assert told["RowsIn"] == 3
    assert rows("out") == [{"type": "axe", "price": 2}, {"type": "hoe", "price": 3}, {"type": "saw", "price": 1}]
