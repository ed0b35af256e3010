"""How the server starts: what it does not need for its first answers comes later."""

from __future__ import annotations

import subprocess
import sys

from tests.api.support import Server

HEAVY = ("jsonschema", "swagger_ui_bundle", "pandas", "pyarrow", "duckdb", "sqlglot", "requests", "openlineage")


def test_the_first_answers_wait_for_no_library_that_they_do_not_need() -> None:
    script = (
        "import sys, mason.api.server.application as application; "
        f"print([each for each in {HEAVY!r} if each in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_pages_and_refusals_are_answered_as_soon_as_the_server_is(server: Server) -> None:
    page, nowhere, wrong = server.get("/api/ui/"), server.get("/api/nowhere"), server.request("PUT", "/api/tables")

    assert (page.status_code, "swagger-ui" in page.text) == (200, True)
    assert (nowhere.status_code, nowhere.json()["Errors"]) == (404, ["There is nothing at this path."])
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET, HEAD")
