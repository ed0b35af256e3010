"""Both faces on one home: Mason in this process, and a server that the tests start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mason
from mason.connection.connection import Connection
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from tests.api.support import Server, operator, prepared
from tests.conftest import Mason

NAP = """import pathlib
began, wake = parameters.get_optional("began"), parameters.get_optional("wake")
if began:
    pathlib.Path(began).touch()
end = time.monotonic() + parameters.get_required("seconds")
while time.monotonic() < end and not (wake and pathlib.Path(wake).exists()):
    time.sleep(0.02)
resp.add_data({"Napped": parameters.get_required("seconds")})"""
MUCH = """time.sleep(parameters.get_required("seconds"))
resp.add_data({"Text": "x" * 3_000_000})"""
SECONDS = "parameters:\n  required:\n    - {name: seconds, type: number}\n"
FILES = "  optional: [began, wake]\n"
"""Of a nap: a file that it makes when it begins, and one that ends it before its time."""

PLACE = pa.struct([("x", pa.int64()), ("on", pa.date32())])
TYPED = pa.table(
    {
        "id": pa.array([1, None, 2**60], pa.int64()),
        "price": pa.array([Decimal("1.10"), None, Decimal("-2.00")], pa.decimal128(10, 2)),
        "day": pa.array([date(2026, 1, 31), None, date(1969, 12, 31)], pa.date32()),
        "at": pa.array([datetime(2026, 1, 31, 12, 30, 0, 5, UTC), None, None], pa.timestamp("us", "UTC")),
        "local": pa.array([datetime(2026, 1, 31, 12, 30), None, None], pa.timestamp("us")),
        "share": pa.array([0.1, None, float("inf")], pa.float64()),
        "well": pa.array([True, None, False], pa.bool_()),
        "name": pa.array(["<b>saw</b>", None, "O'axe"], pa.string()),
        "tags": pa.array([["a", "b"], None, []], pa.list_(pa.string())),
        "place": pa.array([{"x": 1, "on": date(2026, 1, 1)}, None, None], PLACE),
    }
)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Mason:
    root = tmp_path_factory.mktemp("connection")
    made = prepared(root / "work", root / "home")
    for command, body, parameters in (("nap", NAP, SECONDS + FILES), ("much", MUCH, SECONDS)):
        operator(
            made.folder / "more",
            "test",
            command,
            body,
            parameters=parameters,
            swagger=f"paths:\n  /test/{command}:\n    post:\n",
        )
    env = MasonEnvironment(made.home)
    register(env, open_state(env), read_definitions(made.folder / "more", [OPERATORS]).valid, replace=False)
    pq.write_table(TYPED, made.folder / "data" / "shop" / "typed.parquet")
    return made


@pytest.fixture(scope="session")
def server(home: Mason) -> Iterator[Server]:
    running = Server(home).start()
    yield running
    running.kill()


@pytest.fixture
def embedded(home: Mason, monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("MASON_HOME", str(home.home))
    monkeypatch.chdir(home.folder)
    return mason.connect(config="files")


@pytest.fixture
def remote(server: Server) -> Iterator[Connection]:
    with mason.connect(server.url, config="files") as connection:
        yield connection


@pytest.fixture(params=["embedded", "remote"])
def m(request: pytest.FixtureRequest) -> Connection:
    """Each of the two faces: what a test says of the one holds for the other."""
    found: Connection = request.getfixturevalue(request.param)
    return found
