"""Who may call: tokens with scopes and limits, and nobody through another site's page."""

from __future__ import annotations

import statistics
import time
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from mason.api.server.access import Access, token_of_environment
from mason.api.server.required_token import create_first_token, require_token
from mason.api.server.settings import ServerSettings
from mason.errors import AlreadyExists, BadInput, NotFound
from mason.state.home import open_state
from mason.state.tokens import Scope, create_token, find_token, list_tokens, revoke_token
from mason.util.environment import MasonEnvironment
from tests.api.support import Server, operator, until
from tests.conftest import Mason, write

SHOP = {"database_name": "shop"}


@pytest.fixture(scope="module")
def tokens(prepared_mason: Mason) -> dict[str, str]:
    """Tokens of every kind, two of them made as an administrator would."""

    def made(name: str, *arguments: str) -> str:
        result = prepared_mason("token", "create", "--name", name, *arguments)
        assert result.exit_code == 0, result.stderr
        return result.stdout.strip()

    store = open_state(MasonEnvironment(prepared_mason.home))
    found = {scope.value: create_token(store, scope.value, scope) for scope in Scope}
    found["files"] = create_token(store, "files", Scope.RUN, configurations=["files"])
    found["chooser"] = create_token(store, "chooser", Scope.ADMIN, configurations=["files"])
    found["over"] = create_token(store, "over", Scope.ADMIN, lifetime=timedelta(seconds=-1))
    found["tables"] = made("tables", "--scope", "run", "--operator", "table:*", "--expires", "30d")
    found["gone"] = made("gone", "--scope", "admin")
    assert prepared_mason("token", "revoke", "gone").exit_code == 0
    return found


@pytest.fixture
def guarded(server: Server, tokens: dict[str, str]) -> Server:
    return server


def made_now(server: Server, name: str, scope: Scope, **limits: list[str]) -> str:
    """Make a token, and return it when the server knows it: some milliseconds later."""
    token = create_token(open_state(MasonEnvironment(server.mason.home)), name, scope, **limits)
    until(lambda: server.get("/api/configs", headers=bearer(token)).status_code == 200, "the token is known")
    return token


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_is_shown_once_and_kept_as_a_digest(guarded: Server, tokens: dict[str, str]) -> None:
    listed = guarded.mason("token", "list").stdout

    assert [line.split()[:3] for line in listed.splitlines()[2:]] == [
        ["admin", "admin", "active"],
        ["chooser", "admin", "active"],
        ["files", "run", "active"],
        ["gone", "admin", "revoked"],
        ["over", "admin", "expired"],
        ["read", "read", "active"],
        ["run", "run", "active"],
        ["tables", "run", "active"],
    ]
    state = b"".join(file.read_bytes() for file in guarded.mason.home.glob("state.db*"))
    assert not [token for token in tokens.values() if token in listed or token.encode() in state]


def test_without_a_token_only_what_is_open_answers(guarded: Server) -> None:
    for path in ("/healthz", "/readyz", "/api/openapi.json", "/api/ui/"):
        assert guarded.get(path).status_code == 200, path
    for path in ("/api/tables?database_name=shop", "/metrics", "/api/configs", "/api/no/such/path"):
        reply = guarded.get(path)
        assert (reply.status_code, reply.headers["WWW-Authenticate"]) == (401, "Bearer"), path


def test_no_operator_answers_where_the_pages_are_that_need_no_token(guarded: Server, tokens: dict[str, str]) -> None:
    names = "parameters:\n  required: [first, second]\n"
    paths = "paths:\n  /{first}/{second}:\n    get:\n    post:\n"
    operator(
        guarded.mason.folder / "anywhere", "test", "anywhere", 'resp.add_info("ran")', parameters=names, swagger=paths
    )
    assert guarded.mason("register", str(guarded.mason.folder / "anywhere")).exit_code == 0

    assert guarded.get("/api/some/thing", headers=bearer(tokens["read"])).json()["Info"] == ["ran"]
    assert guarded.get("/api/some/thing").status_code == 401
    for method, path in (("GET", "/api/ui/thing"), ("POST", "/api/ui/thing"), ("POST", "/api/ui/")):
        reply = guarded.request(method, path)
        assert (reply.status_code, "ran" in reply.text) in ((404, False), (405, False)), reply.text
    assert "<title>Swagger UI</title>" in guarded.get("/api/ui/").text


@pytest.mark.parametrize(
    ("token", "method", "path", "status"),
    [
        ("read", "GET", "/api/table/orders?database_name=shop", 200),
        ("read", "GET", "/metrics", 200),
        ("read", "POST", "/api/table/preview?path=in", 403),
        ("read", "POST", "/api/workflow/table/infer", 403),
        ("read", "POST", "/api/job/x/cancel", 403),
        ("run", "POST", "/api/table/preview?path=in", 200),
        ("run", "POST", "/api/config?set_current=files", 403),
        ("admin", "POST", "/api/config?set_current=files", 200),
        ("chooser", "POST", "/api/config?set_current=files", 200),
        ("chooser", "POST", "/api/config?set_current=local", 403),
        ("tables", "GET", "/api/table/orders?database_name=shop", 200),
        ("tables", "GET", "/api/databases", 403),
        ("tables", "POST", "/api/test/sleep?seconds=0", 403),
        ("files", "GET", "/api/tables?database_name=shop", 200),
        ("files", "GET", "/api/tables?database_name=shop&config_id=local", 403),
        ("gone", "GET", "/api/tables?database_name=shop", 401),
        ("over", "GET", "/api/tables?database_name=shop", 401),
    ],
)
def test_a_token_opens_what_its_scope_and_limits_say(
    guarded: Server, tokens: dict[str, str], token: str, method: str, path: str, status: int
) -> None:
    reply = guarded.request(method, path, headers=bearer(tokens[token]))

    assert reply.status_code == status, reply.text
    assert tokens[token] not in reply.text


@pytest.mark.parametrize("limits", [{"operators": ["test:*"]}, {"configurations": ["local"]}])
def test_a_token_for_some_things_only_follows_its_own_jobs_and_no_others(
    guarded: Server, tokens: dict[str, str], limits: dict[str, list[str]]
) -> None:
    kind = next(iter(limits))
    text = made_now(guarded, f"some-{kind}", Scope.RUN, **limits)
    own, others = (
        guarded.post("/api/test/sleep", params=query, json={"seconds": 0}, headers=bearer(token)).headers["Location"]
        for token, query in (
            (text, {"wait": "0", "config_id": "local"}),
            (tokens["admin"], {"wait": "0", "config_id": "files"}),
        )
    )

    for more in ("", "/log", "/events"):
        assert guarded.get(own + more, headers=bearer(text)).status_code == 200, more
        assert guarded.get(others + more, headers=bearer(text)).status_code == 403, more
        assert guarded.get(others + more, headers=bearer(tokens["read"])).status_code == 200, more
    assert guarded.post(f"{own}/cancel", headers=bearer(text)).status_code == 200
    assert guarded.post(f"{others}/cancel", headers=bearer(text)).status_code == 403
    for place, status in ((own, 200), (others, 403)):
        job_id = {"job_id": place.rpartition("/")[2]}
        assert guarded.get("/api/job/", params=job_id, headers=bearer(text)).status_code == status
        assert guarded.post("/api/job/cancel", json=job_id, headers=bearer(text)).status_code == status


def test_a_token_for_some_configurations_finds_no_jobs_of_others_in_the_list(
    guarded: Server, tokens: dict[str, str]
) -> None:
    text = made_now(guarded, "lister", Scope.RUN, configurations=["files"])

    def begun(token: str, config_id: str) -> str:
        query = {"wait": "0", "config_id": config_id}
        reply = guarded.post("/api/test/sleep", params=query, json={"seconds": 0}, headers=bearer(token))
        return str(reply.json()["Data"][0]["JobID"])

    def listed(token: str) -> set[str]:
        query = {"config_id": "files", "name": "test:sleep", "limit": "1000"}
        return {each["JobID"] for each in guarded.get("/api/jobs", params=query, headers=bearer(token)).json()["Data"]}

    own, others, elsewhere = begun(text, "files"), begun(tokens["admin"], "files"), begun(tokens["admin"], "local")
    assert listed(text) >= {own, others}
    assert elsewhere not in listed(text)
    assert listed(tokens["read"]) >= {own, others, elsewhere}


def test_what_the_steps_of_a_run_answered_is_for_who_may_use_what_they_used(
    guarded: Server, tokens: dict[str, str]
) -> None:
    body = {"step_1": {"parameters": {**SHOP, "storage_path": "in", "table_name": "of_a_run"}}}
    query = {"run_now": "true", "config_id": "files"}
    ran = guarded.post("/api/workflow/table/infer", params=query, json=body, headers=bearer(tokens["admin"]))
    others = [
        made_now(guarded, "other-operators", Scope.READ, operators=["job:*"]),
        made_now(guarded, "other-configurations", Scope.READ, configurations=["local"]),
    ]

    def status(token: str) -> int:
        return guarded.get(f"/api/run/{ran.json()['Data'][0]['RunID']}", headers=bearer(token)).status_code

    def listed(token: str) -> set[str]:
        return {each["RunID"] for each in guarded.get("/api/runs", headers=bearer(token)).json()["Data"]}

    assert [status(token) for token in others] == [403, 403]
    assert ran.json()["Data"][0]["RunID"] not in listed(others[1])
    assert ran.json()["Data"][0]["RunID"] in listed(tokens["files"])
    assert [status(tokens[name]) for name in ("read", "tables", "files")] == [200, 200, 200]


def test_a_token_for_some_configurations_is_shown_no_others(guarded: Server, tokens: dict[str, str]) -> None:
    def shown(name: str) -> list[str]:
        data = guarded.get("/api/configs", headers=bearer(tokens[name])).json()["Data"]
        return [each["ConfigID"] for each in data]

    write(guarded.mason.folder, {"of-others.yaml": "id: of-others\nstorage_engine: local\n"})
    assert guarded.mason("config", "of-others.yaml").exit_code == 0

    until(lambda: shown("read") == ["files", "of-others"], "the server knows the other one")
    assert shown("files") == ["files"]


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer", "Basic dXNlcjpwYXNz", "Bearer \u00e9", "nothing"])
def test_a_token_that_is_none_is_refused(guarded: Server, header: str) -> None:
    reply = guarded.get("/api/configs", headers={"Authorization": header.encode("latin-1")})

    assert reply.status_code == 401


def test_a_workflow_runs_only_operators_that_the_token_is_for(guarded: Server, tokens: dict[str, str]) -> None:
    other = guarded.mason("token", "create", "--name", "jobs-only", "--scope", "run", "--operator", "job:*")
    body = {"step_1": {"parameters": {**SHOP, "storage_path": "in"}}}

    refused = guarded.post(
        "/api/workflow/table/infer", params={"run_now": "true"}, json=body, headers=bearer(other.stdout.strip())
    )

    assert refused.status_code == 403, refused.text
    assert "is not for table:infer" in refused.text


def test_a_token_is_worthless_as_soon_as_it_is_revoked(guarded: Server) -> None:
    token = guarded.mason("token", "create", "--name", "short").stdout.strip()
    assert guarded.get("/api/configs", headers=bearer(token)).status_code == 200

    assert guarded.mason("token", "revoke", "short").exit_code == 0

    assert guarded.get("/api/configs", headers=bearer(token)).status_code == 401


def test_a_stream_of_events_ends_when_its_token_is_revoked(guarded: Server, tokens: dict[str, str]) -> None:
    token = made_now(guarded, "listener", Scope.READ)
    begun = guarded.post("/api/test/sleep?wait=0", json={"seconds": 60}, headers=bearer(tokens["run"]))
    place = begun.headers["Location"]
    assert guarded.client is not None

    with guarded.client.stream("GET", f"{place}/events", headers=bearer(token)) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        revoke_token(open_state(MasonEnvironment(guarded.mason.home)), "listener")
        told = [line for line in lines if line]

    assert told[-2:] == ["event: refused", 'data: {"Errors":["The token \\"listener\\" is revoked."]}']
    assert guarded.post(f"{place}/cancel", headers=bearer(tokens["run"])).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:5000"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]:5000"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
def test_no_page_of_another_site_reaches_the_server(
    guarded: Server, tokens: dict[str, str], headers: dict[str, str], status: int
) -> None:
    reply = guarded.get("/api/configs", headers={**bearer(tokens["admin"]), **headers})

    assert reply.status_code == status, reply.text
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]


def test_the_pages_of_the_server_itself_may_call_it(guarded: Server, tokens: dict[str, str]) -> None:
    own = httpx.URL(guarded.url)
    headers = {"Origin": f"http://{own.host}:{own.port}", "Sec-Fetch-Site": "same-origin"}

    assert guarded.get("/api/configs", headers={**bearer(tokens["admin"]), **headers}).status_code == 200


def test_a_form_of_another_site_is_refused_by_its_kind_alone(guarded: Server, tokens: dict[str, str]) -> None:
    reply = guarded.post("/api/table/preview", data={"path": "in"}, headers=bearer(tokens["admin"]))

    assert reply.status_code == 415


def test_a_host_that_others_can_reach_needs_a_token(env: MasonEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = ServerSettings(host="0.0.0.0")
    monkeypatch.delenv("MASON_TOKEN", raising=False)
    with pytest.raises(BadInput, match="there is no token yet"):
        require_token(everywhere, env)
    require_token(ServerSettings(host="127.0.0.1"), env)

    monkeypatch.setenv("MASON_TOKEN", "given")
    require_token(everywhere, env)
    assert create_first_token(env) == ""

    monkeypatch.delenv("MASON_TOKEN")
    made = create_first_token(env)
    assert find_token(list_tokens(open_state(env)), made) is not None
    assert create_first_token(env) == ""
    require_token(everywhere, env)

    revoke_token(open_state(env), "first")
    with pytest.raises(BadInput, match="no token that is neither expired nor revoked"):
        require_token(everywhere, env)


def test_the_token_of_the_environment_is_for_everything(prepared_mason: Mason, tmp_path: Path) -> None:
    mason = Mason(prepared_mason.folder, tmp_path / "home")
    server = Server(mason, variables={"MASON_TOKEN": "of-the-environment"}).start()
    try:
        assert server.get("/api/configs").status_code == 401
        headers = bearer("of-the-environment")
        assert server.post("/api/config", params={"set_current": "local"}, headers=headers).status_code == 200
        assert "of-the-environment" not in server.log_text()
    finally:
        server.kill()


def test_the_end_of_a_line_is_no_part_of_the_token_of_the_environment() -> None:
    of_a_file = token_of_environment({"MASON_TOKEN": "of-a-file\n"})

    assert of_a_file is not None
    sent = {"authorization": "Bearer of-a-file"}
    assert Access(ServerSettings(), of_a_file).find_caller(sent, []).name == "MASON_TOKEN"
    assert token_of_environment({"MASON_TOKEN": " \n"}) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("token", ["t\u00f6ken", "two\nlines"])
def test_a_token_of_the_environment_that_nobody_could_send_is_refused(mason: Mason, host: str, token: str) -> None:
    result = mason("run", "--host", host, "--port", "0", variables={"MASON_TOKEN": token})

    assert result.exit_code == 1
    assert "MASON_TOKEN can be no token" in result.stderr
    assert token not in result.stderr


def test_a_name_that_was_allowed_is_answered(prepared_mason: Mason, tmp_path: Path) -> None:
    mason = Mason(prepared_mason.folder, tmp_path / "home")
    server = Server(mason, ("--allow-host", "mason.example")).start()
    try:
        assert server.get("/api/configs", headers={"Host": "Mason.example:80"}).status_code == 200
        assert server.get("/api/configs", headers={"Host": "other.example"}).status_code == 403
    finally:
        server.kill()


class TestTokens:
    def test_a_name_is_used_once(self, env: MasonEnvironment) -> None:
        store = open_state(env)
        create_token(store, "ci", Scope.READ)

        with pytest.raises(AlreadyExists, match='There is a token "ci" already'):
            create_token(store, "ci", Scope.ADMIN)

    def test_the_name_of_the_environments_token_is_no_others(self, env: MasonEnvironment) -> None:
        with pytest.raises(BadInput, match="MASON_TOKEN is the token that a server's environment gives"):
            create_token(open_state(env), "MASON_TOKEN", Scope.READ, operators=["table:get"])

    def test_a_token_that_is_not_there_cannot_be_revoked(self, env: MasonEnvironment) -> None:
        create_token(open_state(env), "nightly", Scope.READ)

        with pytest.raises(NotFound, match='Did you mean "nightly"'):
            revoke_token(open_state(env), "nightli")

    def test_a_token_ends_when_its_time_is_over(self, env: MasonEnvironment) -> None:
        store = open_state(env)
        create_token(store, "over", Scope.READ, lifetime=timedelta(seconds=-1))
        create_token(store, "valid", Scope.READ, lifetime=timedelta(hours=1))

        assert {each.name: each.state for each in list_tokens(store)} == {"over": "expired", "valid": "active"}

    @pytest.mark.parametrize("text", ["30", "0d", "d", "-1d", "1y", "123456d"])
    def test_a_time_that_is_none_is_refused(self, mason: Mason, text: str) -> None:
        result = mason("token", "create", "--name", "x", "--expires", text)

        assert result.exit_code == 1
        assert "Write it as 90m, 12h, 30d or 4w." in result.stderr

    def test_what_a_token_is_for_and_is_not_there_is_told(self, mason: Mason) -> None:
        limits = ("--operator", "test:get", "--operator", "test:g*", "--configuration", "nowhere")
        operator(mason.folder / "ops", "test", "gets", "pass")
        assert mason("register", str(mason.folder / "ops")).exit_code == 0

        result = mason("token", "create", "--name", "x", *limits)

        assert result.exit_code == 0
        assert result.stderr.splitlines()[:2] == [
            'warning: No operator is called "test:get". Did you mean "test:gets"?',
            'warning: Configuration "nowhere" not found. There are: local.',
        ]

    def test_how_long_a_check_takes_does_not_say_how_near_a_guess_is(self, env: MasonEnvironment) -> None:
        store = open_state(env)
        token = create_token(store, "real", Scope.READ)
        known = list_tokens(store)
        near, far = token[:-1] + "!", "!" * len(token)

        def seconds(guess: str) -> float:
            begin = time.perf_counter()
            for _ in range(200):
                assert find_token(known, guess) is None
            return time.perf_counter() - begin

        pairs = [(seconds(near), seconds(far)) for _ in range(25)]
        ratio = statistics.median(first / second for first, second in pairs)
        assert 0.5 < ratio < 2.0, ratio
