"""The merged specification, and what becomes of fragments that cannot be a part of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.api.support import Server, operator
from tests.conftest import write

WORD = 'resp.add_info("here")'


def test_the_specification_is_valid_and_has_every_operator_of_the_examples(server: Server) -> None:
    reply = server.get("/api/openapi.json")
    specification = reply.json()

    validate(specification)
    assert specification["servers"] == [{"url": "/api"}]
    wanted = {
        "/tables": "get",
        "/table/{table_name}": "get",
        "/table/{table_name}/refresh": "post",
        "/table/infer": "post",
        "/table/merge": "post",
        "/table/query": "post",
        "/table/delete": "post",
        "/job/": "get",
        "/configs": "get",
        "/config": "post",
        "/workflow/table/infer": "post",
        "/job/{job_id}/events": "get",
    }
    assert {path: method for path, method in wanted.items() if method in specification["paths"].get(path, {})} == wanted


def test_parameters_types_and_the_example_come_from_the_operator(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]
    get = paths["/table/{table_name}"]["get"]
    merge = paths["/table/merge"]["post"]

    by_name = {each["name"]: each for each in get["parameters"]}
    assert (by_name["table_name"]["in"], by_name["table_name"]["required"]) == ("path", True)
    assert by_name["database_name"]["description"] == "The database."
    assert get["summary"] == "Get metastore table contents"
    example = get["responses"]["200"]["content"]["application/json"]["example"]
    assert example["Data"][0]["Schema"]["Columns"][0]["Name"] == "id"
    body = merge["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert body["most_bad_share"] == {
        "type": "number",
        "description": "The share of records, or of a column's values, that may be bad before the job fails.",
        "default": 0.1,
        "minimum": 0,
        "maximum": 1,
        "nullable": True,
    }
    assert body["mode"]["enum"] == ["replace", "append", "replace_partitions", None]


def test_who_tries_an_operation_begins_with_what_it_needs_and_nothing_that_goes_along_unseen(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]

    def example(path: str) -> Any:
        return paths[path]["post"]["requestBody"]["content"]["application/json"]["example"]

    assert example("/table/merge") == {"input_path": "…", "output_path": "…"}
    assert example("/table/{table_name}/refresh") == {"database_name": "…"}
    assert example("/test/sleep") == {"seconds": 0.5}


def test_the_example_of_a_workflow_has_the_parameters_that_its_steps_need(server: Server) -> None:
    root = server.mason.folder / "operators-nested"
    steps = "dag:\n  - {id: inner, type: workflow, namespace: table, command: infer}\n"
    steps += "  - {id: wait, type: operator, namespace: test, command: sleep}\n"
    steps += "  - {id: gone, type: operator, namespace: test, command: nobody_has_it}\n"
    steps += "  - {id: same, type: workflow, namespace: nested, command: flow}\n"
    write(root / "flow", {"workflow.yaml": f"type: workflow\nnamespace: nested\ncommand: flow\n{steps}"})
    assert server.mason("register", str(root)).exit_code == 0

    paths = server.get("/api/openapi.json").json()["paths"]

    def example(path: str) -> Any:
        return paths[path]["post"]["requestBody"]["content"]["application/json"]["example"]

    of_infer = {"step_1": {"parameters": {"database_name": "…", "storage_path": "…"}}}
    assert example("/workflow/table/infer") == of_infer
    assert example("/workflow/table/daily")["merge"] == {"parameters": {"input_path": "…", "output_path": "…"}}
    assert example("/workflow/nested/flow") == {
        "inner": {"steps": of_infer},
        "wait": {"parameters": {"seconds": 0.5}},
        "gone": {"parameters": {}},
        "same": {"steps": {}},
    }


def test_every_operation_says_what_becomes_of_calls_without_a_token_or_with_one_that_is_for_less(
    server: Server,
) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]

    for path, operations in paths.items():
        for method, operation in operations.items():
            assert {"401", "403", "4XX", "5XX"} <= set(operation["responses"]), (method, path)
    assert paths["/tables"]["get"]["responses"]["401"]["headers"]["WWW-Authenticate"]["schema"] == {"type": "string"}


def test_a_required_parameter_with_an_alias_is_required(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]
    shown = {each["name"]: each for each in paths["/tables"]["get"]["parameters"]}

    assert shown["database_name"]["required"] is True
    assert server.get("/api/tables").status_code == 400
    assert server.get("/api/tables", params={"bucket_name": "shop"}).status_code == 200, "and the alias is still taken"


def test_a_body_without_which_nothing_can_be_done_is_required(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]

    assert paths["/test/hidden"]["post"]["requestBody"]["required"] is True
    assert not paths["/table/merge"]["post"]["requestBody"].get("required"), "its parameters may be in the query"


def test_the_bounds_of_numbers_and_names_are_those_that_are_checked(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]

    def schema(method: str, path: str, name: str) -> dict[str, Any]:
        return {each["name"]: each["schema"] for each in paths[path][method]["parameters"]}[name]

    limit = schema("get", "/table/{table_name}/history", "limit")
    assert (limit["minimum"], limit["maximum"], limit["format"]) == (1, 2**63 - 1, "int64")
    most, more = ({"database_name": "shop", "limit": number} for number in (2**63 - 1, 2**63))
    assert "64 bits" not in server.get("/api/table/orders/history", params=most).text
    assert "64 bits" in server.get("/api/table/orders/history", params=more).text
    assert schema("post", "/config", "set_current")["minLength"] == 1
    in_path = [each for one in paths.values() for way in one.values() for each in way["parameters"]]
    assert {each["schema"].get("minLength") for each in in_path if each["in"] == "path"} == {1}
    large = server.post("/api/table/merge", json={"input_path": "a", "output_path": "b", "most_bad_share": 10**30})
    assert large.json()["Errors"] == ['The parameter "most_bad_share" must be at most 1, not 1e+30.']


def test_the_methods_of_a_path_are_those_of_the_specification_and_every_other_is_a_405(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]

    for path, operations in paths.items():
        place = re.sub(r"\{\w+\}", "x1", path)
        for method in {"get", "post", "put", "patch", "delete"} - set(operations):
            reply = server.request(method.upper(), f"/api{place}")
            declared = {each.upper() for each in operations} | ({"HEAD"} if "get" in operations else set())
            assert reply.status_code == 405, (method, path)
            assert set(reply.headers["Allow"].split(", ")) == declared, (method, path)
    for method in ("GET", "POST", "DELETE"):
        assert server.request(method, "/api/workflow/no/such").status_code == 404, method


def test_what_a_path_takes_since_it_fits_another_as_well_is_in_the_specification(server: Server) -> None:
    shown = server.get("/api/openapi.json").json()["paths"]["/table/merge"]

    assert shown["get"]["summary"] == 'As GET /table/{table_name}, where table_name is "merge".'
    assert "table_name" not in [each["name"] for each in shown["get"]["parameters"]]
    assert "x-mason-operator" not in shown["get"], "a program that looks for the operator finds its own path"
    assert server.get("/api/table/merge", params={"database_name": "shop"}).status_code == 404, "there is no such table"


def test_a_page_that_tries_an_operation_sends_no_default_that_would_go_before_the_body(server: Server) -> None:
    paths = server.get("/api/openapi.json").json()["paths"]

    def with_default(operation: dict[str, Any]) -> set[str]:
        return {each["name"] for each in operation["parameters"] if "default" in each["schema"]}

    operations = [each for path in paths.values() for each in path.values()]
    told = [with_default(each) for each in operations if "requestBody" in each]
    assert set().union(*told) == {"wait", "plan", "run_now", "deploy"}  # which no body has
    assert "limit" in with_default(paths["/jobs"]["get"])


def test_a_secret_is_offered_in_the_body_only(server: Server) -> None:
    shown = server.get("/api/openapi.json").json()["paths"]["/test/hidden"]["post"]

    assert "password" not in [each["name"] for each in shown["parameters"]]
    assert "password" in shown["requestBody"]["content"]["application/json"]["schema"]["properties"]


def test_the_swagger_ui_asks_nobody_else(server: Server) -> None:
    page = server.get("/api/ui/")

    assert page.status_code == 200
    assert "/api/openapi.json" in page.text
    places = re.findall(r"""(?:src|href)=["']([^"']+)""", page.text)
    assert len(places) > 3
    for place in places:
        assert not re.match(r"(https?:)?//", place), place
        assert server.get(f"/api/ui/{place.removeprefix('./')}").status_code == 200, place
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]


BROKEN = [
    ("yaml", "paths: [", "operators-broken/broken/yaml/swagger.yml:2"),
    ("none", "title: nothing\n", "must say at which path"),
    ("path", "paths:\n  no/slash:\n    get:\n", '"no/slash" cannot be a path'),
    ("unknown", "paths:\n  /broken/{tabel}:\n    get:\n", 'broken:unknown has no parameter "tabel"'),
    ("method", "paths:\n  /broken/method:\n    fetch:\n", "is not a method"),
    ("word", "paths:\n  /broken/word:\n    get: yes please\n", "must be a mapping, or nothing"),
    ("page", "paths:\n  /ui/broken:\n    post:\n", '"/ui/broken" is where the server has its own pages'),
    ("itself", "paths:\n  /api/openapi.json:\n    get:\n", '"/api/openapi.json" is where the server has its own'),
    (
        "parameter",
        "paths:\n  /broken/parameter:\n    get:\n      parameters: [{name: colour, in: query}]\n",
        'broken:parameter has no parameter "colour"',
    ),
    (
        "reference",
        "paths:\n  /broken/reference:\n    post:\n      responses: {200: {$ref: '#/responses/none'}}\n",
        'the $ref "#/responses/none" leads to nothing in this file',
    ),
    (
        "circle",
        "paths:\n  /broken/circle:\n    post:\n      tags: [$ref: '#/a']\na: {b: [$ref: '#/a']}\n",
        'the $ref "#/a" leads back to itself',
    ),
    (
        "text",
        "swagger: '2.0'\npaths:\n  /broken/text:\n    get: {$ref: '#/swagger'}\n",
        "its $ref must lead to a mapping",
    ),
    (
        "chain",
        "paths:\n  /broken/chain:\n    get: {$ref: '#/a0'}\n"
        + "".join(f"a{number}: {{$ref: '#/a{number + 1}'}}\n" for number in range(2000))
        + "a2000: {}\n",
        "it is nested, or led on by $ref, more than 100 times",
    ),
    (
        "schema",
        "paths:\n  /broken/schema:\n    get:\n      parameters: [{name: wood, in: query, type: {a: b}}]\n",
        'the schema of "wood" cannot be used: type: ',
    ),
    (
        "pattern",
        "paths:\n  /broken/pattern:\n    get:\n      parameters: [{name: wood, in: query, schema: {pattern: '('}}]\n",
        """the schema of "wood" cannot be used: pattern: '(' is not a 'regex'""",
    ),
    (
        "body",
        "paths:\n  /broken/body:\n    post:\n      requestBody: {content: {application/json: {schema: {type: Map}}}}\n",
        "its schema cannot be used: type: 'Map'",
    ),
]


@pytest.fixture(scope="module")
def with_broken_fragments(server: Server) -> Server:
    """A server to which all of them were registered at once, and which has been asked for something since."""
    root = server.mason.folder / "operators-broken"
    for name, swagger, _ in BROKEN:
        optional = "parameters:\n  optional: [wood]\n" if name in ("schema", "pattern") else ""
        operator(root, "broken", name, WORD, swagger=swagger, parameters=optional)
    registered = server.mason("register", str(root))
    assert registered.exit_code == 0
    told = [line for line in registered.stderr.splitlines() if line.startswith("warning: ")]
    assert len(told) >= len(BROKEN), "who registers it is told of all of them"
    assert server.get("/api/tables", params={"database_name": "shop"}).status_code == 200
    return server


@pytest.mark.parametrize(("name", "swagger", "message"), BROKEN)
def test_a_broken_fragment_is_named_and_stops_nothing(
    with_broken_fragments: Server, name: str, swagger: str, message: str
) -> None:
    warnings = [line for line in with_broken_fragments.log_lines() if line["level"] == "warning"]

    assert any(f"broken/{name}/swagger.yml" in each["message"] and message in each["message"] for each in warnings)


def test_two_operators_with_one_path_are_both_named_and_the_first_has_it(server: Server) -> None:
    root = server.mason.folder / "operators-clash"
    operator(root, "clash", "a", 'resp.add_info("a")', swagger="paths:\n  /clash/here:\n    get:\n")
    operator(root, "clash", "b", 'resp.add_info("b")', swagger="paths:\n  /api/clash/here:\n    get:\n")
    assert server.mason("register", str(root)).exit_code == 0

    assert server.get("/api/clash/here").json()["Info"] == ["a"]
    told = [line["message"] for line in server.log_lines() if "/clash/here" in line.get("message", "")]
    assert told and "clash/b/swagger.yml" in told[0] and "clash/a/swagger.yml" in told[0]


def test_a_path_that_says_more_goes_before_one_with_a_parameter_in_its_place(server: Server) -> None:
    root = server.mason.folder / "operators-order"
    any_word = "paths:\n  /order/{word}:\n    get:\n"
    required = "parameters:\n  required: [word]\n"
    operator(root, "order", "any", 'resp.add_info("any")', parameters=required, swagger=any_word)
    operator(root, "order", "exact", 'resp.add_info("exact")', swagger="paths:\n  /order/now:\n    get:\n")
    assert server.mason("register", str(root)).exit_code == 0

    assert server.get("/api/order/now").json()["Info"] == ["exact"]
    assert server.get("/api/order/later").json()["Info"] == ["any"]


def test_a_fragment_of_swagger_2_is_understood_and_what_it_demands_is_checked(server: Server) -> None:
    swagger = """
paths:
  /seed/{table_name}:
    get:
      operationId: "registered_operators.seed.get.api"
      parameters:
        - {name: table_name, in: path, type: string, required: true}
        - {name: size, in: query, type: integer, maximum: 10, required: true}
        - {name: config_id, in: query, required: false, type: string}
        - {name: log_level, in: query, enum: [info, debug], required: false, type: string, default: info}
      tags: ["Table"]
      summary: "By its author"
      responses:
        200: {description: "Successful list"}
"""
    parameters = "parameters:\n  required: [table_name]\n  optional: [{name: size, type: integer}]\n"
    root = server.mason.folder / "operators-seed"
    operator(root, "seed", "get", "resp.add_data(parameters.values)", parameters=parameters, swagger=swagger)
    assert server.mason("register", str(root)).exit_code == 0

    shown = server.get("/api/openapi.json").json()["paths"]["/seed/{table_name}"]["get"]
    assert (shown["summary"], shown["tags"]) == ("By its author", ["Table"])
    assert server.get("/api/seed/orders", params={"size": 3, "log_level": "info"}).json()["Data"] == [
        {"table_name": "orders", "size": 3}
    ]
    large, none = server.get("/api/seed/orders", params={"size": 30}), server.get("/api/seed/orders")
    assert (large.status_code, none.status_code) == (400, 400)
    assert large.json()["Errors"] == ['The parameter "size" is wrong: 30 is greater than the maximum of 10.']
    assert none.json()["Errors"] == ['The parameter "size" is missing.']


@pytest.mark.parametrize(
    ("version", "swagger"),
    [
        (
            "two",
            """
paths:
  /body/two:
    post:
      parameters: [{name: body, in: body, schema: {$ref: "#/definitions/Order"}}]
definitions:
  Order: {type: object, properties: {size: {$ref: "#/definitions/Size"}}}
  Size: {type: integer, description: "By its author"}
""",
        ),
        (
            "three",
            """
paths:
  /body/three:
    post:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}
components:
  schemas:
    Order: {type: object, properties: {size: {type: integer, description: "By its author"}}}
""",
        ),
    ],
)
def test_a_body_that_an_author_describes_elsewhere_in_the_fragment_is_shown(
    server: Server, version: str, swagger: str
) -> None:
    root = server.mason.folder / f"operators-body-{version}"
    size = "parameters:\n  optional: [{name: size, type: integer}]\n"
    operator(root, "body", version, "resp.add_data(parameters.values)", parameters=size, swagger=swagger)
    assert server.mason("register", str(root)).exit_code == 0

    specification = server.get("/api/openapi.json").json()

    validate(specification)
    shown = specification["paths"][f"/body/{version}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert shown["properties"]["size"] == {"type": "integer", "description": "By its author"}
    assert server.post(f"/api/body/{version}", json={"size": 3}).json()["Data"] == [{"size": 3}]


@pytest.fixture(scope="module")
def with_demands(server: Server) -> Server:
    """A server with operators whose authors demand more of a request than `operator.yaml` does."""
    swagger_2 = """
paths:
  /demand/{size}/two:
    get:
      parameters:
        - {name: size, in: path, type: integer, maximum: 5, required: true}
        - {name: words, in: query, type: array, maxItems: 2, items: {type: string, maxLength: 3}}
        - {name: ratio, in: query, type: number, minimum: 0, exclusiveMinimum: true}
        - {name: on, in: query, type: boolean}
        - {name: word, in: header, type: string, pattern: ^x, required: true}
"""
    openapi_3 = """
paths:
  /demand/three:
    post:
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Demand"}}}}
components:
  schemas:
    Demand:
      type: object
      required: [size]
      properties:
        size: {type: integer, maximum: 5}
        word: {type: string, enum: [a, b], nullable: true}
"""
    parameters = (
        "parameters:\n  optional: [{name: size, type: integer}, {name: ratio, type: number}, {name: on, type: boolean},"
        " {name: words, type: list}, {name: word}]\n"
    )
    root = server.mason.folder / "operators-demand"
    for command, swagger in (("two", swagger_2), ("three", openapi_3)):
        operator(root, "demand", command, "resp.add_data(parameters.values)", parameters=parameters, swagger=swagger)
    assert server.mason("register", str(root)).exit_code == 0
    return server


@pytest.mark.parametrize(
    ("path", "query", "word", "errors"),
    [
        ("3", {"words": ["a", "b"], "ratio": "0.5", "on": "TRUE"}, "xy", []),
        ("9", {}, "x", ['The parameter "size" is wrong: 9 is greater than the maximum of 5.']),
        ("one", {}, "x", ["The parameter \"size\" is wrong: 'one' is not of type 'integer'."]),
        ("3", {"words": "a,b,c"}, "x", ["The parameter \"words\" is wrong: ['a', 'b', 'c'] is too long."]),
        ("3", {"words": ["a", "b", "c"]}, "x", ["The parameter \"words\" is wrong: ['a', 'b', 'c'] is too long."]),
        ("3", {"words": "long,a"}, "x", ["The parameter \"words\" is wrong: 'long' is too long."]),
        ("3", {"ratio": "0"}, "x", ['The parameter "ratio" is wrong: 0.0 is less than or equal to the minimum of 0.']),
        ("3", {"on": "yes"}, "x", ["The parameter \"on\" is wrong: 'yes' is not of type 'boolean'."]),
        ("3", {}, "y", ["The parameter \"word\" is wrong: 'y' does not match '^x'."]),
        ("3", {}, None, ['The parameter "word" is missing.']),
    ],
)
def test_what_an_author_demands_of_a_parameter_is_checked_wherever_it_is(
    with_demands: Server, path: str, query: dict[str, Any], word: str | None, errors: list[str]
) -> None:
    headers = {} if word is None else {"word": word}

    reply = with_demands.get(f"/api/demand/{path}/two", params=query, headers=headers)

    assert (reply.status_code, reply.json()["Errors"]) == (400 if errors else 200, errors)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"size": 3, "word": "a"}, []),
        ({"size": 3, "word": None}, []),
        (
            {"size": 9, "word": "c"},
            [
                'The parameter "size" in the body is wrong: 9 is greater than the maximum of 5.',
                "The parameter \"word\" in the body is wrong: 'c' is not one of ['a', 'b', None].",
            ],
        ),
        ({"word": "a"}, ["The body is wrong: 'size' is a required property."]),
        (None, ["The body is wrong: 'size' is a required property."]),
    ],
)
def test_what_an_author_demands_of_a_body_is_checked(
    with_demands: Server, body: dict[str, Any] | None, errors: list[str]
) -> None:
    reply = with_demands.post("/api/demand/three", json=body)

    assert reply.status_code == (400 if errors else 200), reply.text
    assert sorted(reply.json()["Errors"]) == errors


def test_a_path_with_a_slash_too_many_or_too_few_is_redirected_to_the_one_there_is(server: Server) -> None:
    more, fewer = server.get("/api/tables/", params={"database_name": "shop"}), server.get("/api/job?job_id=x")
    posted, nothing = server.post("/api/table/merge/", json={}), server.get("/api/nowhere/")

    assert (more.status_code, more.headers["Location"]) == (307, "/api/tables?database_name=shop")
    assert (fewer.status_code, fewer.headers["Location"]) == (307, "/api/job/?job_id=x")
    assert (posted.status_code, posted.headers["Location"]) == (307, "/api/table/merge")
    assert nothing.status_code == 404


def test_a_head_is_answered_as_a_get_without_its_body(server: Server) -> None:
    for path in ("/api/tables?database_name=shop", "/api/openapi.json", "/api/ui/", "/api/tables"):
        head, get = server.request("HEAD", path), server.get(path)
        assert (head.status_code, head.headers["Content-Length"]) == (get.status_code, get.headers["Content-Length"])
        assert head.content == b""


def test_the_pages_are_no_more_than_those_of_mason(server: Server) -> None:
    assert server.get("/api/ui").headers["Location"] == "/api/ui/"
    assert server.get("/api/ui/index.html").text == server.get("/api/ui/").text
    for name in ("swagger-initializer.js", "index.j2", "../openapi.json", "%2e%2e/__init__.py", "", "x/../../x"):
        reply = server.get(f"/api/ui/{name}")
        assert "petstore" not in reply.text and "import " not in reply.text[:200], name
    assert server.get("/api/ui/swagger-initializer.js").status_code == 404
