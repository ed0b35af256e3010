"""No secret gets into anything that a person could read."""

from __future__ import annotations

import time

import pytest

from mason.clients.response import Response
from mason.util.redaction import (
    REDACTED,
    Redactor,
    is_secret_name,
    redact_url,
    redact_values,
    secret_values,
    url_secrets,
)


@pytest.mark.parametrize(
    "name", ["access_key", "secret", "apiToken", "db-password", "AWS_SECRET_ACCESS_KEY", "passphrase", "credentials"]
)
def test_names_that_give_a_secret_away(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["aws_region", "monkey", "tokenizer", "keyboard", "path_style", "root"])
def test_names_that_do_not(name: str) -> None:
    assert not is_secret_name(name)


def test_secrets_are_hidden_at_any_depth_by_name_and_by_schema() -> None:
    schema = {"properties": {"arn": {"x-mason-secret": True}}}
    value = {"arn": "a:b", "list": [{"token": "t"}], "map": {"deep": {"password": "p", "user": "u"}}, "n": 1}

    assert redact_values(value, schema) == {
        "arn": REDACTED,
        "list": [{"token": REDACTED}],
        "map": {"deep": {"password": REDACTED, "user": "u"}},
        "n": 1,
    }
    assert secret_values(value, schema) == {"a:b", "t", "p"}


def test_the_password_of_a_url_is_hidden() -> None:
    assert redact_values({"state": "postgresql://me:hunter2@host/db"}) == {"state": "postgresql://me:REDACTED@host/db"}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sc://host:15002/;token=hunter2;user_id=me", "sc://host:15002/;token=REDACTED;user_id=me"),
        ("jdbc:postgresql://host/db?user=me&password=hunter2", "jdbc:postgresql://host/db?user=me&password=REDACTED"),
        ("see https://host/x?key=hunter2#top, or not", "see https://host/x?key=REDACTED#top, or not"),
        ("a;token=word", "a;token=word"),
    ],
)
def test_a_secret_among_the_parameters_of_a_url_is_hidden(url: str, shown: str) -> None:
    assert redact_values({"url": url}) == {"url": shown}
    assert Redactor()(f"failed: {url}") == f"failed: {shown}"


LONG = {
    "a word before a URL": "a" * 400_000 + "://",
    "a user without an end": "a://" + ":" * 400_000,
    "many beginnings": "a://" * 100_000,
    "many parameters": "a://?" + "&a" * 200_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_is_looked_through_once(text: str) -> None:
    began = time.perf_counter()

    shown, secrets = redact_url(text + " a://me:hunter2@host"), url_secrets(text + " a://me:hunter2@host")

    assert (shown, secrets) == (text + " a://me:REDACTED@host", {"hunter2"})
    assert time.perf_counter() - began < 5, "a search from each letter on takes minutes"


def test_a_response_never_holds_a_secret_that_it_knows() -> None:
    response = Response(Redactor(["hunter2"]))
    response.add_error("login with hunter2 failed")
    response.add_info("trying hunter2")

    assert "hunter2" not in str(response.to_dict())
    assert response.errors == (f"login with {REDACTED} failed",)
