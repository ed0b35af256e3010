"""Objects that are read to their end: one request, the same version to the end, and every byte."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from uuid import uuid4

import fastavro
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.errors import UnreadableFile
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.tasks import readers
from mason.pipeline.reading.tasks.task_files import SMALL
from mason.pipeline.storage.blocks import open_stream, read_blocks, read_range
from mason.pipeline.storage.files import DataFile
from mason.testing import Place
from mason.testing.contract import answer
from tests.s3.proxy import HALF, RESET, Answer, Proxy, error_body
from tests.seaweed import Seaweed

CONTENT = bytes(range(256)) * 4_000
BLOCK = 300_000
DENIED = (403, error_body("AccessDenied", "Access Denied"))
EXPIRED = (400, error_body("ExpiredToken", "The provided token has expired."))


@pytest.fixture
def place(seaweed: Seaweed, bucket: str) -> Place:
    storage = S3StorageClient(seaweed.configuration())
    return Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))


@pytest.fixture
def through(seaweed: Seaweed, proxy: Proxy) -> pafs.FileSystem:
    return S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint)).filesystem()


def given(place: Place, content: bytes = CONTENT) -> DataFile:
    return DataFile(path=place.write("a.bin", content).path, name="a.bin", size=len(content))


def test_a_file_is_one_request_however_many_blocks_it_has(through: pafs.FileSystem, proxy: Proxy, place: Place) -> None:
    file = given(place)

    assert b"".join(read_blocks(through, file, BLOCK)) == CONTENT
    with open_stream(through, file.path) as opened:
        assert b"".join(iter(lambda: opened.read(700), b"")) == CONTENT

    assert len(proxy.requests) == 2, proxy.requests


@pytest.mark.parametrize(("offset", "length"), [(0, 10), (1, 700_000), (len(CONTENT) - 1, 1)])
def test_a_part_of_a_file_is_one_request(
    through: pafs.FileSystem, proxy: Proxy, place: Place, offset: int, length: int
) -> None:
    file = given(place)

    found = b"".join(read_range(through, file, offset, length, BLOCK))

    assert found == CONTENT[offset : offset + length]
    assert len(proxy.requests) == 1


def test_an_empty_object_has_no_blocks(through: pafs.FileSystem, place: Place) -> None:
    assert list(read_blocks(through, given(place, b""), BLOCK)) == []


@pytest.mark.parametrize("part", [False, True], ids=["whole", "a part"])
def test_a_store_that_breaks_off_is_asked_for_the_rest(
    through: pafs.FileSystem, proxy: Proxy, place: Place, part: bool
) -> None:
    """Half of what is asked for comes each time: the rest of the rest is asked for, until there is none."""
    file = given(place)
    proxy.says = lambda method, path: HALF if len(proxy.requests) < 4 else None

    blocks = read_range(through, file, 5, 900_000, BLOCK) if part else read_blocks(through, file, BLOCK)

    assert b"".join(blocks) == (CONTENT[5:900_005] if part else CONTENT)
    assert len(proxy.requests) == 4


@pytest.mark.parametrize(
    "fault", [RESET, HALF, (500, error_body("InternalError", "Try again."))], ids=["reset", "half a body", "500"]
)
def test_a_store_that_goes_on_failing_is_given_up_in_one_sentence(
    through: pafs.FileSystem, proxy: Proxy, place: Place, fault: Answer
) -> None:
    file = given(place)
    proxy.says = lambda method, path: fault

    with pytest.raises(UnreadableFile) as caught:
        list(read_blocks(through, file, BLOCK))

    assert str(caught.value).startswith("a.bin: ") and len(str(caught.value).splitlines()) == 1
    assert len(proxy.requests) < 40


def test_an_object_that_is_replaced_before_its_rest_is_asked_for_is_not_read_on(
    through: pafs.FileSystem, proxy: Proxy, place: Place
) -> None:
    file = given(place)

    def replaced(method: str, path: str) -> Answer | None:
        if len(proxy.requests) > 1:
            given(place, CONTENT[::-1])
            return None
        return HALF

    proxy.says = replaced
    with pytest.raises(UnreadableFile, match="^a.bin: it was replaced while it was read.$"):
        list(read_blocks(through, file, BLOCK))


def test_why_an_object_cannot_be_read_is_said(through: pafs.FileSystem, proxy: Proxy, place: Place) -> None:
    file = given(place)
    proxy.says = lambda method, path: DENIED
    with pytest.raises(UnreadableFile, match="^a.bin: access denied. The credentials are not allowed to do this.$"):
        list(read_blocks(through, file, BLOCK))

    proxy.says = lambda method, path: None
    place.filesystem.delete_file(file.path)
    with pytest.raises(UnreadableFile, match="^a.bin: it vanished before it could be read.$"):
        list(read_blocks(through, file, BLOCK))


def test_reading_all_of_an_object_to_infer_its_types_is_one_stream(
    seaweed: Seaweed, proxy: Proxy, place: Place
) -> None:
    written = place.write("orders.csv", b"id,price\n" + b"1,2.5\n" * 1_000_000)
    client = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))

    answer(client.infer_table, written, "db", "t", InferOptions(read_all=True))

    assert len(proxy.requests) <= 5, proxy.requests


class AllAtOnce:
    """Answers requests for some objects only when so many of them are there at once."""

    def __init__(self, where: str, objects: int) -> None:
        self._where = where
        self._barrier = threading.Barrier(objects)

    def __call__(self, method: str, path: str) -> Answer | None:
        if method == "GET" and self._where in path:
            self._barrier.wait(30)  # fails the request where they come one after the other
        return None


def planned(seaweed: Seaweed, proxy: Proxy, place: Place) -> MergeWork:
    storage = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint)).address()
    job = MergeJob(Location(place.below("in").path, storage), Location(place.below("out").path, storage))
    return MergeWork.plan(job.to_job())


def run(work: MergeWork) -> MergeResult:
    return work.run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)


def test_small_objects_are_asked_for_many_at_a_time(seaweed: Seaweed, proxy: Proxy, place: Place) -> None:
    """In the plan as well as in a task, which is one here."""
    for number in range(8):
        place.write(f"in/{number}.csv", f"id,text\n{number},x\n".encode())

    proxy.says = AllAtOnce("/in/", 8)
    work = planned(seaweed, proxy, place)
    proxy.says = AllAtOnce("/in/", 8)
    result = run(work)

    assert result.commit.rows == 8


def test_small_objects_and_large_ones_are_read_in_their_order(seaweed: Seaweed, proxy: Proxy, place: Place) -> None:
    more = f"0,{'x' * SMALL}\n"
    for number in range(20):
        text = f"n,text\n{number},first\n{more if number in (3, 11) else ''}"
        place.write(f"in/{number:02}.csv", text.encode())

    result = run(planned(seaweed, proxy, place))

    assert result.commit.rows == 20 + 2
    [file] = result.commit.files
    table = pq.read_table(place.below(f"out/{file.path}").path, filesystem=place.filesystem)
    first = [n for n, text in zip(*table.to_pydict().values(), strict=True) if text == "first"]
    assert first == list(range(20))


def test_a_small_object_that_changes_or_vanishes_fails_the_merge(seaweed: Seaweed, proxy: Proxy, place: Place) -> None:
    for number in range(4):
        place.write(f"in/{number}.csv", f"id\n{number}\n".encode())
    work = planned(seaweed, proxy, place)

    place.write("in/2.csv", b"id\n5\n")
    with pytest.raises(UnreadableFile, match="2.csv: it was changed after the plan was made"):
        run(work)
    place.filesystem.delete_file(place.below("in/2.csv").path)
    with pytest.raises(UnreadableFile, match="2.csv: it vanished after the plan was made"):
        run(work)


@pytest.mark.parametrize("lines", [1, SMALL], ids=["small", "large"])
@pytest.mark.parametrize(("fault", "reason"), [(DENIED, "access denied"), (EXPIRED, "the credentials have expired")])
def test_why_one_object_among_others_is_not_merged_is_said_by_the_plan_and_by_a_task(
    seaweed: Seaweed, proxy: Proxy, place: Place, lines: int, fault: Answer, reason: str
) -> None:
    """The answer to a HEAD has no room for a reason, and Arrow none for one that is longer than the object."""
    for number in range(3):
        place.write(f"in/{number}.csv", b"id\n" + b"1\n" * lines)
    work = planned(seaweed, proxy, place)
    proxy.says = lambda method, path: (fault[0], fault[1] * (method != "HEAD")) if "/in/1" in path else None

    with pytest.raises(PlanRefused, match=f"^1.csv: {reason}"):
        planned(seaweed, proxy, place)
    with pytest.raises(UnreadableFile, match=f"^1.csv: {reason}"):
        run(work)


def test_an_avro_object_is_not_asked_for_byte_by_byte(seaweed: Seaweed, proxy: Proxy, place: Place) -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}, {"name": "t", "type": "string"}]}
    content = io.BytesIO()
    fastavro.writer(content, schema, [{"n": number, "t": "x" * 50} for number in range(40_000)])
    assert content.tell() > SMALL
    place.write("in/a.avro", content.getvalue())

    result = run(planned(seaweed, proxy, place))

    assert result.commit.rows == 40_000
    assert len([each for each in proxy.requests if "/in/a.avro" in each]) <= 10, proxy.requests


@pytest.mark.parametrize("at_once", [True, False], ids=["small groups", "large groups"])
def test_a_row_group_of_a_parquet_object_is_one_request_unless_it_is_large(
    seaweed: Seaweed, proxy: Proxy, place: Place, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large one would fill the memory: its columns are read through buffers."""
    if not at_once:
        monkeypatch.setattr(readers, "GROUP_AT_ONCE", 0)
    rows, columns, groups = 200_000, 8, 4
    table = pa.table({f"c{number}": range(number, rows + number) for number in range(columns)})
    content = io.BytesIO()
    pq.write_table(table, content, row_group_size=rows // groups)
    assert content.tell() > SMALL
    place.write("in/a.parquet", content.getvalue())

    result = run(planned(seaweed, proxy, place))

    [file] = result.commit.files
    assert pq.read_table(place.below(f"out/{file.path}").path, filesystem=place.filesystem).equals(table)
    asked = [each for each in proxy.requests if each.startswith("GET") and "/in/a.parquet" in each]
    assert (len(asked) <= groups + 4) == at_once, asked


def test_an_answer_that_is_refused_leaves_no_connection_open(
    through: pafs.FileSystem, proxy: Proxy, place: Place
) -> None:
    file, port = given(place), f"{int(proxy.endpoint.rpartition(':')[2]):04X}"
    proxy.hides = ("ETag",)

    with open_stream(through, file.path) as opened, pytest.raises(OSError, match="says no ETag") as failure:
        opened.read(700)

    rows = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    mine = {str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}
    ours = [row for row in rows if row[2].endswith(f":{port}") and f"socket:[{row[9]}]" in mine]
    assert not ours, failure.value
