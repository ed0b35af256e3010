"""No answer names a place that is nobody's business: folders outside of the root, `/proc/self`, files with keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from mason.api.server.replies import without_places
from mason.clients.s3.connection import S3Connection
from mason.pipeline.storage.address import redact_address
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment
from tests.api.support import Server

STEPS = {"step_1": {"config_id": "files", "parameters": {"database_name": "shop", "storage_path": "shop"}}}


@pytest.fixture(scope="module")
def link(server: Server) -> Path:
    """A link from outside of the root that leads into it."""
    link = server.mason.folder / "way_in"
    link.symlink_to(server.mason.folder / "data")
    return link


@pytest.mark.parametrize("way", ["/proc/self/cwd/data", "/proc/self/root{root}", "{link}"])
def test_a_path_that_leads_into_the_root_from_elsewhere_has_its_name_there(
    server: Server, link: Path, way: str, tmp_path: Path
) -> None:
    root = server.mason.folder / "data"
    folder = way.format(root=root, link=link)
    calls = {
        "/api/table/merge": {"input_path": f"{folder}/in", "output_path": f"{folder}/out/{tmp_path.name}"},
        "/api/table/infer": {"database_name": "shop", "storage_path": f"{folder}/in", "table_name": tmp_path.name},
        "/api/table/summarize": {"path": f"{folder}/in", "html": f"{folder}/{tmp_path.name}.html"},
    }

    for path, body in calls.items():
        reply = server.post(f"{path}?config_id=files", json=body)

        assert reply.status_code == 200, reply.text
        assert folder not in reply.text
        assert "/proc/" not in reply.text
    assert str(root / f"{tmp_path.name}.html") in reply.text
    assert (root / f"{tmp_path.name}.html").exists()
    shown = server.get(f"/api/table/{tmp_path.name}?database_name=shop&config_id=files").text
    assert (str(root / "in") in shown, folder in shown) == (True, False)


def test_what_is_refused_is_named_as_the_caller_wrote_it(server: Server) -> None:
    reply = server.post(
        "/api/table/merge?config_id=files", json={"input_path": "/proc/self/environ", "output_path": "x"}
    )

    assert (reply.status_code, '"/proc/self/environ\\" is outside' in reply.text) == (400, True)


def test_no_run_says_in_which_folder_the_server_runs(server: Server) -> None:
    ran = server.post("/api/workflow/table/infer?run_now=true&config_id=files", json=STEPS)
    run = ran.json()["Data"][0]["RunID"]
    job = next(each["JobID"] for each in server.get("/api/jobs?config_id=files").json()["Data"])
    by_command = server.mason("workflow", "table", "infer", "-r", "-f", _parameter_file(server))
    assert by_command.exit_code == 0, by_command.stderr

    replies = [ran, server.get("/api/runs"), server.get(f"/api/run/{run}"), server.get(f"/api/job/{job}")]

    for reply in replies:
        assert reply.status_code == 200, reply.text
        assert f'"{server.mason.folder}"' not in reply.text
        assert "parameters.yaml" not in reply.text
        assert "Folder" not in reply.text


def test_a_folder_in_the_answer_of_a_step_is_its_own_affair() -> None:
    run = {"RunID": "r", "Folder": "/srv/mason", "ParameterFile": "/home/me/p.yaml", "Steps": [{"Folder": "x"}]}

    assert without_places(run) == {"RunID": "r", "Steps": [{"Folder": "x"}]}


def test_the_address_of_a_storage_names_no_file_with_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MASON_RUNTIME_DIR", str(tmp_path / "runtime"))
    keys = {
        "access_key": "AKIA",
        "secret_key": "s3cr3t",
        "aws_region": "us-east-1",
        "endpoint": "http://127.0.0.1:9000",
    }

    address = S3Connection.of(keys).address()

    assert "keys=%2F" in address
    shown = redact_address(address)
    assert ("keys" in shown, "runtime" in shown) == (False, False)
    assert shown == "s3://?region=us-east-1&endpoint=http%3A%2F%2F127.0.0.1%3A9000&path_style=true"


def test_a_record_of_an_older_mason_names_no_file_with_keys(server: Server) -> None:
    storage = "s3://?region=us-east-1&keys=%2Frun%2Fmason%2Fkeys.json"
    begun = {"Configuration": "files", "StartedAt": "2020-01-01T00:00:00+00:00"}
    job = {**begun, "JobType": "merge", "Inputs": {"path": "b/in", "storage": storage}, "Outputs": {}}
    answer = {"Errors": [], "Info": [], "Warnings": [], "Data": [{"JobID": "old0call", **job}, "text"]}
    call = {**begun, "Operator": "table:merge", "QueuedAt": begun["StartedAt"], "Response": answer, "HttpStatus": 200}
    store = open_state(MasonEnvironment(server.mason.home))
    store.add_record(RecordKind.JOB, "old0job", "succeeded", job)
    store.add_record(RecordKind.CALL, "old0call", "succeeded", call)

    for known_as in ("old0job", "old0call"):
        reply = server.get(f"/api/job/{known_as}?config_id=files")

        assert reply.status_code == 200, reply.text
        assert "s3://?region=us-east-1" in reply.text
        assert "keys" not in reply.text


def _parameter_file(server: Server) -> str:
    file = server.mason.folder / "parameters.yaml"
    file.write_text(
        "step_1:\n  config_id: files\n  parameters: {database_name: shop, storage_path: shop}\n", encoding="utf-8"
    )
    return str(file)
