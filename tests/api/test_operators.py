"""The operators in the API: the same answers as on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.api.support import Server, operator, until
from tests.conftest import Mason, write

SHOP = {"database_name": "shop"}


def test_a_table_has_the_same_json_as_on_the_command_line(server: Server) -> None:
    reply = server.get("/api/table/orders", params=SHOP)
    told = server.mason("operator", "table", "get", "-p", "database_name:shop,table_name:orders")

    assert reply.status_code == 200
    assert reply.json() == told.json
    assert [each["Name"] for each in reply.json()["Data"][0]["Schema"]["Columns"]] == ["id", "price"]


def test_a_job_has_the_same_json_as_on_the_command_line(server: Server) -> None:
    """But for what differs from one run to the next: ids, times, names of files."""
    given = {"input_path": "in", "output_path": "same"}
    called = server.post("/api/table/merge", json=given).text
    told = server.mason("operator", "table", "merge", "-p", "input_path:in,output_path:same").json

    def alike(text: str) -> str:
        text = re.sub(r"part-\w+-\w+-\w+|\b[0-9a-f]{16}\b", "ID", text)
        return re.sub(r"20\d\d-\d\d-\d\dT[\d:.+]+", "TIME", text)

    assert alike(json.dumps(json.loads(called))) == alike(json.dumps(told))


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "found"),
    [
        ("GET", "/api/tables", SHOP, None, "orders"),
        ("GET", "/api/table/orders", SHOP, None, "price"),
        ("GET", "/api/table/orders", {"bucket_name": "shop"}, None, "price"),
        ("POST", "/api/table/infer", {}, {**SHOP, "storage_path": "in", "table_name": "inferred"}, "inferred"),
        ("POST", "/api/table/inferred/refresh", SHOP, None, "Refreshed"),
        ("POST", "/api/table/merge", {"input_path": "in", "output_path": "merged"}, None, "RowsOut"),
        ("POST", "/api/table/query", {}, {**SHOP, "query_string": "select sum(price) as total from orders"}, "7.0"),
        ("GET", "/api/databases", {}, None, "shop"),
        ("GET", "/api/database/shop", {}, None, "shop"),
        ("GET", "/api/table/orders/preview", SHOP, None, "3.5"),
        ("POST", "/api/table/preview", {}, {"path": "shop/orders.csv", "limit": 1}, "2.5"),
        ("GET", "/api/jobs", {"status": "succeeded", "limit": "1"}, None, "succeeded"),
        ("GET", "/api/configs", {}, None, "files"),
    ],
)
def test_the_paths_of_the_seeds_answer(
    server: Server, method: str, path: str, query: dict[str, str], body: dict[str, Any] | None, found: str
) -> None:
    reply = server.request(method, path, params=query, json=body)

    assert reply.status_code == 200, reply.text
    assert reply.json()["Errors"] == []
    assert found in reply.text


def test_a_table_is_deleted(server: Server) -> None:
    server.post("/api/table/infer", json={**SHOP, "storage_path": "in", "table_name": "short_lived"})

    assert server.post("/api/table/delete", json={**SHOP, "table_name": "short_lived"}).status_code == 200
    assert server.get("/api/table/short_lived", params=SHOP).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "status", "message"),
    [
        ("GET", "/api/table/nothing", SHOP, None, 404, 'Table "nothing" not found in database "shop".'),
        ("GET", "/api/table/orders", {}, None, 400, 'The parameter "database_name" (The database.) is missing.'),
        ("GET", "/api/table/orders", {**SHOP, "tabel": "x"}, None, 400, 'There is no parameter "tabel"'),
        ("GET", "/api/table/orders", {**SHOP, "wait": "long"}, None, 400, '"wait" must be a number'),
        ("GET", "/api/table/orders", {**SHOP, "plan": "maybe"}, None, 400, '"plan" must be true or false'),
        ("GET", "/api/table/orders", {**SHOP, "config_id": "none"}, None, 404, 'Configuration "none" not found.'),
        ("POST", "/api/database/create", SHOP, None, 409, 'Database "shop" exists already'),
        ("POST", "/api/table/merge", {}, {"input_path": "nowhere", "output_path": "x"}, 404, "nowhere"),
        ("POST", "/api/table/query", SHOP, {"query_string": "drop table orders"}, 422, "A query reads"),
        ("GET", "/api/table/orders/preview", {**SHOP, "limit": "many"}, None, 400, "must be a whole number"),
        ("GET", "/api/job/none", {}, None, 404, 'There is no job "none".'),
        ("GET", "/api/nothing", {}, None, 404, "There is nothing at this path."),
        ("DELETE", "/api/table/orders", {}, None, 405, "This path does not take this method."),
        (
            "POST",
            "/api/table/preview",
            {},
            {"path": True},
            400,
            '"path" must be of type path, which is a text, not true',
        ),
        (
            "POST",
            "/api/table/preview",
            {},
            {"path": "in", "limit": "1"},
            400,
            '"limit" must be a whole number, not "1"',
        ),
        ("POST", "/api/table/preview", {"path": "in"}, {"path": ""}, 400, '"path" must be a path'),
        ("POST", "/api/table/preview", {"wait": "0"}, {"path": "in", "limit": 0}, 400, '"limit" must be at least 1'),
        ("POST", "/api/table/merge", {"wait": "0"}, {"input_path": "in"}, 400, "is missing."),
        (
            "POST",
            "/api/table/merge",
            {"wait": "0", "config_id": "none"},
            {"input_path": "in", "output_path": "x"},
            404,
            'Configuration "none" not found.',
        ),
        ("POST", "/api/test/abroad", {"wait": "0"}, {}, 422, "test:abroad does not accept the configuration"),
        ("GET", "/api/test/abroad", {"wait": "0"}, None, 422, "test:abroad does not accept the configuration"),
        ("POST", "/api/table/preview", {}, {"path": "~nobody-here/x"}, 400, "no user here has such a home"),
        ("POST", "/api/table/query", SHOP, {"query_string": "select 'x"}, 422, "opened and not closed"),
        ("GET", "/api/runs", {"limit": "1.5"}, None, 400, 'a whole number from 1 to 1000, not "1.5"'),
        ("GET", "/api/runs", {"limit": "1e2"}, None, 400, "a whole number from 1 to 1000"),
        ("GET", "/api/runs", {"limit": "0"}, None, 400, "a whole number from 1 to 1000"),
    ],
)
def test_what_is_wrong_has_its_status_and_one_clear_message(
    server: Server,
    method: str,
    path: str,
    query: dict[str, str],
    body: dict[str, Any] | None,
    status: int,
    message: str,
) -> None:
    reply = server.request(method, path, params=query, json=body)

    assert reply.status_code == status, reply.text
    assert message.lower() in " ".join(reply.json()["Errors"]).lower()
    assert str(server.mason.folder) not in reply.text
    assert reply.json()["Data"] == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/table/merge", "GET, HEAD, POST"),  # a table may be called "merge"
        ("DELETE", "/api/tables", "GET, HEAD"),
        ("GET", "/api/workflow/table/infer", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("DELETE", "/metrics", "GET, HEAD"),
        ("POST", "/api/openapi.json", "GET, HEAD"),
        ("POST", "/api/ui/", "GET, HEAD"),
    ],
)
def test_a_method_that_a_path_does_not_take_is_refused_with_those_that_it_takes(
    server: Server, method: str, path: str, allowed: str
) -> None:
    reply = server.request(method, path)

    assert (reply.status_code, reply.headers["Allow"]) == (405, allowed)
    assert reply.json()["Errors"] == ["This path does not take this method."]


def test_all_problems_are_told_at_once(server: Server) -> None:
    reply = server.post("/api/table/merge", json={"sample": "many", "mod": "append"})

    assert reply.status_code == 400
    assert len(reply.json()["Errors"]) == 4, reply.text


def test_a_parameter_given_twice_is_refused_unless_it_is_a_list(server: Server) -> None:
    twice = server.get("/api/table/orders?database_name=shop&database_name=in")
    listed = server.get("/api/table/orders/preview?database_name=shop&columns=id&columns=price&limit=1")

    assert twice.status_code == 400 and "is given twice" in twice.text
    assert listed.status_code == 200, listed.text
    assert "2.5" in listed.text


def test_a_plan_does_nothing(server: Server) -> None:
    reply = server.post(
        "/api/table/merge", params={"plan": "true"}, json={"input_path": "in", "output_path": "planned"}
    )

    assert reply.status_code == 200, reply.text
    assert not (server.mason.folder / "data" / "planned").exists()


def test_every_reply_has_a_request_id_that_is_in_the_log(server: Server) -> None:
    given = server.get("/api/tables", params=SHOP, headers={"X-Request-ID": "my-own.id_1"})
    made = server.get("/api/nothing")

    assert given.headers["X-Request-ID"] == "my-own.id_1"
    for reply in (given, made):
        request = reply.headers["X-Request-ID"]
        server.wait_for_log(request)  # it is written after the reply has gone
        told = [line for line in server.log_lines() if line["event"] == "request" and line["request"] == request]
        assert [line["status"] for line in told] == [reply.status_code]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_bug_in_an_operator_is_told_without_paths_or_traceback(server: Server, method: str) -> None:
    reply = server.request(method, "/api/test/fail")

    assert reply.status_code == 500
    assert "a-path-of-this-machine" not in reply.text
    assert "Traceback" not in reply.text
    assert reply.headers["X-Request-ID"] in reply.text
    logged = [line for line in server.log_lines() if line.get("request") == reply.headers["X-Request-ID"]]
    assert any("Traceback" in line.get("message", "") for line in logged)


def test_an_operator_without_a_fragment_is_not_in_the_api(server: Server) -> None:
    assert "/test/unseen" not in server.get("/api/openapi.json").json()["paths"]
    assert server.post("/api/test/unseen").status_code == 404


def test_the_current_configuration_is_chosen_and_listed(server: Server) -> None:
    assert server.post("/api/config", params={"set_current": "none"}).status_code == 404
    assert server.post("/api/config").status_code == 400
    assert server.post("/api/config", params={"set_current": "local"}).status_code == 200
    assert server.mason("config").stdout.count("*  local") == 1
    assert server.post("/api/config", params={"set_current": "files"}).status_code == 200

    listed = server.get("/api/configs").json()["Data"]
    assert [each["ConfigID"] for each in listed if each["Current"]] == ["files"]


def test_an_operator_that_is_registered_while_the_server_runs_is_there_at_once(server: Server) -> None:
    root = server.mason.folder / "later"
    swagger = "paths:\n  /late/word:\n    get:\n"
    assert server.get("/api/late/word").status_code == 404

    operator(root, "late", "word", 'resp.add_info("first")', swagger=swagger)
    assert server.mason("register", str(root)).exit_code == 0
    assert server.get("/api/late/word").json()["Info"] == ["first"]

    operator(root, "late", "word", 'resp.add_info("second")', swagger=swagger)
    assert server.mason("register", "-f", str(root)).exit_code == 0
    assert server.get("/api/late/word").json()["Info"] == ["second"]

    versions = re.findall(r"sha256:\w+", server.mason("registry", "history", "late:word").stdout)
    assert server.mason("registry", "use", "late:word", versions[1]).exit_code == 0
    assert server.get("/api/late/word").json()["Info"] == ["first"]

    assert server.mason("registry", "remove", "late:word").exit_code == 0
    assert server.get("/api/late/word").status_code == 404


def test_a_request_in_flight_ends_with_the_version_that_it_began_with(server: Server) -> None:
    root = server.mason.folder / "in_flight"
    swagger = "paths:\n  /flight/word:\n    post:\n"
    waits = (
        'import pathlib\npathlib.Path("flight").touch()\n'
        'while not pathlib.Path("land").exists():\n    time.sleep(0.01)\nresp.add_info("first")'
    )
    operator(root, "flight", "word", waits, swagger=swagger)
    assert server.mason("register", str(root)).exit_code == 0
    begun = server.post("/api/flight/word", params={"wait": "0"}).json()["Data"][0]["JobID"]
    until((server.mason.folder / "flight").exists, "the operator runs")

    operator(root, "flight", "word", 'resp.add_info("second")', swagger=swagger)
    assert server.mason("register", "-f", str(root)).exit_code == 0

    assert server.post("/api/flight/word").json()["Info"] == ["second"]
    (server.mason.folder / "land").touch()
    assert server.wait_for_job(begun)["Response"]["Info"] == ["first"]


def test_the_operator_of_the_seeds_answers_through_its_own_api_function(server: Server, prepared_mason: Mason) -> None:
    root = server.mason.folder / "seeds"
    own = (
        "\nfrom mason.api import operator_api as OperatorApi\n"
        'def api(*args, **kwargs): return OperatorApi.get("own", "word", *args, word="mine", **kwargs)\n'
    )
    operator(
        root,
        "own",
        "word",
        'resp.add_info(parameters.get_required("word"))',
        parameters="parameters:\n  required: [word]\n",
        swagger="paths:\n  /own/word:\n    get:\n",
        extra=own,
    )
    assert server.mason("register", str(root)).exit_code == 0

    assert server.get("/api/own/word").json()["Info"] == ["mine"]


def test_a_server_names_the_operator_and_the_line_but_no_folder(server: Server) -> None:
    root = server.mason.folder / "operators-failing"
    operator(root, "failing", "one", '1 / 0 # "secret"', swagger="paths:\n  /failing/one:\n    get:\n")
    assert server.mason("register", str(root)).exit_code == 0

    reply = server.get("/api/failing/one", headers={"X-Request-ID": "asked-1"})

    assert reply.status_code == 500
    assert reply.json()["Errors"] == [
        "failing:one failed in its own code (__init__.py:10, ZeroDivisionError). "
        "The server's log says more, under the request asked-1."
    ]


def test_a_server_names_no_folder_of_an_author_in_runs_either(server: Server, tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    operator(root, "failing", "step", "1 / 0")
    dag = "dag:\n  - {id: a, type: operator, namespace: failing, command: step}\n"
    write(root / "flow", {"workflow.yaml": f"type: workflow\nnamespace: failing\ncommand: flow\n{dag}"})
    assert server.mason("register", str(root)).exit_code == 0

    here = server.post("/api/workflow/failing/flow", params={"run_now": True})
    there = server.mason("workflow", "failing", "flow", "-r")
    shown = server.get(f"/api/run/{json.loads(there.stdout)['Data'][0]['RunID']}")

    assert here.json()["Errors"] == [
        "a: failing:step failed in its own code, __init__.py:10: ZeroDivisionError: division by zero"
    ]
    assert f"{root}/failing/step/__init__.py:10: failing:step failed in its own code" in there.stdout
    assert "failing:step/__init__.py:10: failing:step failed in its own code" in shown.text
    assert str(tmp_path) not in here.text + shown.text
