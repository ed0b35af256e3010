"""What a server serves of a project: what was there at its start, by digest, and nothing that its calls could write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.support import Server
from tests.conftest import Mason, write
from tests.projects.conftest import CONFIGURATION, Shop

SWAGGER = """\
paths:
  /orders/hello:
    post:
      operationId: hello
      responses: {'200': {description: ok}}
"""
Serve = Callable[..., Server]


@pytest.fixture
def serve(shop: Shop) -> Iterator[Serve]:
    running: list[Server] = []
    shop.has({"operators/orders/hello/swagger.yml": SWAGGER})

    def start(*arguments: str) -> Server:
        running.append(Server(Mason(shop.folder, shop.mason.home), arguments).start())
        return running[-1]

    yield start
    for each in running:
        if each.process is not None and each.process.poll() is None:
            each.kill()


def call(server: Server, config: str = "") -> list[str]:
    reply = server.post(f"/api/orders/hello?wait=60{f'&config_id={config}' if config else ''}", json={})
    assert reply.status_code == 200, reply.text
    told: list[str] = reply.json()["Info"]
    return told


def test_a_server_has_the_project_of_its_start_and_a_restart_takes_what_has_changed(shop: Shop, serve: Serve) -> None:
    server = serve()
    paths = set(server.get("/api/openapi.json").json()["paths"])
    assert not any("merge" in each for each in paths), "an upgrade of Mason opens nothing"
    assert server.post("/api/table/merge", json={}).status_code == 404

    assert call(server) == ["hello with dev"]
    assert call(server, "prod") == ["hello with prod"]
    shop.says("changed")
    shop.has({"configs/dev.yaml": "nonsense: [\n", "mason.yaml": "nonsense: [\n"})
    assert call(server) == ["hello with dev"]
    ran = server.post("/api/workflow/orders/greet?wait=60&run_now=true", json={})
    assert (ran.status_code, ran.json()["Data"][0]["Statuses"]) == (200, {"one": "succeeded"}), ran.text
    assert server.stop() == 0

    shop.has({"configs/dev.yaml": CONFIGURATION, "mason.yaml": (shop.folder / "original.yaml").read_text()})
    assert call(serve()) == ["changed with dev"]


def test_built_in_serves_what_comes_with_mason_as_well(shop: Shop, serve: Serve) -> None:
    server = serve("--built-in")

    assert any("merge" in each for each in server.get("/api/openapi.json").json()["paths"])
    assert call(server) == ["hello with dev"]


def refused(shop: Shop, *arguments: str) -> str:
    result = shop.mason("run", "--port", "0", *arguments, folder=shop.folder)
    assert result.exit_code == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stderr and "Mason listens" not in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("root", "told"),
    [
        (".", "contains {folder}/mason.yaml"),
        ("operators", "contains {folder}/operators"),
        ("operators/data", "lies in {folder}/operators"),
        ("workflows/orders", "lies in {folder}/workflows"),
        ("configs", "contains {folder}/configs"),
        ("configs/data", "lies in {folder}/configs"),
        ("linked", "lies in {folder}/operators"),
    ],
)
def test_a_root_in_which_the_project_s_code_lies_or_the_other_way_round_is_refused(
    shop: Shop, root: str, told: str
) -> None:
    (shop.folder / "linked").symlink_to(shop.folder / "operators" / "orders")
    shop.has({"mason.yaml": (shop.folder / "original.yaml").read_text().replace("root: data", f"root: {root}")})

    message = refused(shop)

    assert f"The root of the project, {shop.folder / root}, {told.format(folder=shop.folder)}." in message
    assert "Calls could change what the server runs. Keep the data in a folder of their own." in message


def test_a_root_that_is_given_or_that_a_configuration_has_is_held_to_the_same(shop: Shop) -> None:
    assert f"The root of the calls, {shop.folder}, contains" in refused(shop, "--root", str(shop.folder))
    more = "clients: {local: {configuration: {root: operators}}}"
    shop.has({"configs/prod.yaml": f"{CONFIGURATION}{more}\n"})
    assert 'The root of the configuration "prod", ' in refused(shop)


def test_a_server_does_not_start_with_a_project_that_is_not_valid(shop: Shop) -> None:
    write(Path(shop.folder), {"operators/orders/torn/operator.yaml": "type: [\n"})

    assert "operators/orders/torn/operator.yaml:2: broken YAML" in refused(shop)


def test_what_packages_and_mason_bring_is_served_only_when_asked_for(mason: Mason) -> None:
    mason.folder.mkdir(exist_ok=True)
    server = Server(mason).start()
    try:
        assert server.post("/api/table/merge", json={}).status_code == 404
        assert server.post("/api/workflow/table/daily", json={}).status_code == 404
    finally:
        server.kill()
