"""Secrets that a configuration names: read when a client is built, shown to nobody, and missed with their place."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mason.clients.s3.storage import S3StorageClient
from mason.configurations.configuration import parse_configuration
from mason.configurations.valid_config import ValidConfig, validate_configuration
from mason.errors import InvalidConfiguration
from mason.util.environment import MasonEnvironment
from tests.aws import Moto
from tests.cli.support import install_package, operator_with, registered
from tests.conftest import Mason, write

CANARY = "canary-9f2e-secret"


def configuration(secret: str, key: str = "secret_key") -> str:
    keys = "      access_key: AKIA\n" + ("      secret_key: given\n" if key != "secret_key" else "")
    return f'id: one\nstorage_engine: s3\nclients:\n  s3:\n    configuration:\n{keys}      {key}: "{secret}"\n'


def used(env: MasonEnvironment, secret: str, key: str = "secret_key") -> ValidConfig:
    return validate_configuration(parse_configuration(configuration(secret, key), name="one.yaml", default_id="x"), env)


def value(config: ValidConfig) -> str:
    client: Any = config.storage.client
    assert isinstance(client, S3StorageClient)
    return str(client._connection.keys.secret_key)


def problem(env: MasonEnvironment, secret: str) -> str:
    with pytest.raises(InvalidConfiguration) as caught:
        used(env, secret).storage.client  # noqa: B018
    [message] = caught.value.messages
    return message


def test_a_file_is_read_without_its_last_line_end(env: MasonEnvironment, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{CANARY}\n")

    assert value(used(env, f"{{{{secret:file:{tmp_path}/secret}}}}")) == CANARY
    assert value(used(env, f"{{{{ secret:file:{tmp_path}/secret }}}}")) == CANARY


def test_secrets_manager_is_asked_by_name_key_and_arn(env: MasonEnvironment, moto: Moto) -> None:
    name = f"prod/{uuid4().hex[:8]}"
    made = moto.client("secretsmanager").create_secret(Name=name, SecretString=json.dumps({"password": CANARY, "n": 7}))

    assert value(used(env, f"{{{{secret:aws-secretsmanager:{name}#password}}}}")) == CANARY
    assert value(used(env, f"{{{{secret:aws-secretsmanager:{name}#n}}}}")) == "7"
    assert value(used(env, f"{{{{secret:aws-secretsmanager:{made['ARN']}#password}}}}")) == CANARY
    assert json.loads(value(used(env, f"{{{{secret:aws-secretsmanager:{name}}}}}")))["password"] == CANARY


def test_parameter_store_is_asked_for_the_decrypted_value(env: MasonEnvironment, moto: Moto) -> None:
    name = f"/prod/{uuid4().hex[:8]}"
    moto.client("ssm").put_parameter(Name=name, Value=CANARY, Type="SecureString")

    assert value(used(env, f"{{{{secret:aws-ssm:{name}}}}}")) == CANARY


def test_a_secret_may_stand_inside_a_text_and_beside_a_variable(
    env: MasonEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(CANARY)
    monkeypatch.setenv("PREFIX", "before")

    assert value(used(env, f"{{{{PREFIX}}}}-{{{{secret:file:{tmp_path}/secret}}}}-after")) == f"before-{CANARY}-after"


def test_a_secret_is_not_read_before_its_client_is_used(env: MasonEnvironment, tmp_path: Path) -> None:
    config = used(env, f"{{{{secret:file:{tmp_path}/secret}}}}")
    (tmp_path / "secret").write_text(CANARY)

    assert value(config) == CANARY
    assert CANARY not in repr(config.storage.configurations)


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        ("secret:file:/no/such/file", "there is no file /no/such/file."),
        ("secret:file:/", "Is a directory"),
        ("secret:aws-secretsmanager:no-such", "Secrets Manager: Secrets Manager can't find the specified secret"),
        ("secret:aws-ssm:/no/such", "Parameter Store: Parameter /no/such not found. The region us-east-1 was asked."),
        ("secret:aws-secretsmanager:no-such", "The region us-east-1 was asked."),
    ],
)
def test_a_secret_that_is_not_there_is_named_with_key_and_place(
    env: MasonEnvironment, moto: Moto, secret: str, words: str
) -> None:
    message = problem(env, f"{{{{{secret}}}}}")

    assert message.startswith(f"one.yaml:7: clients.s3.configuration.secret_key: {{{{{secret}}}}} cannot be read: ")
    assert words in message


@pytest.mark.parametrize(
    ("content", "key", "words"),
    [
        (CANARY.encode(), "password", "it is not a JSON object"),
        (json.dumps([CANARY]).encode(), "password", "it is not a JSON object"),
        (
            json.dumps({"passwort": CANARY}).encode(),
            "password",
            'no key "password" with a text. Did you mean "passwort"?',
        ),
        (json.dumps({"password": {"x": CANARY}}).encode(), "password", 'no key "password" with a text'),
        (b"\xff\xfe" + CANARY.encode(), "", "is not UTF-8 text"),
        (CANARY.encode() * 10_000, "", "larger than 64 KiB"),
        (b"\n", "", "it is empty."),
        (b'{"password": ""}', "password", "it is empty."),
    ],
    ids=["text", "list", "other key", "nested", "bytes", "large", "nothing", "nothing by its key"],
)
def test_a_secret_that_is_something_else_is_not_shown(
    env: MasonEnvironment, tmp_path: Path, content: bytes, key: str, words: str
) -> None:
    (tmp_path / "secret").write_bytes(content)

    message = problem(env, f"{{{{secret:file:{tmp_path}/secret{'#' * bool(key)}{key}}}}}")

    assert words in message
    assert CANARY not in message
    assert f'mean "{key}"' not in message


def test_all_secrets_that_cannot_be_read_are_told_at_once(env: MasonEnvironment) -> None:
    text = configuration("{{secret:file:/no/a}}") + '      session_token: "{{secret:file:/no/b}}"\n'
    config = validate_configuration(parse_configuration(text, name="one.yaml", default_id="x"), env)

    with pytest.raises(InvalidConfiguration) as caught:
        config.storage.client  # noqa: B018

    assert len(caught.value.messages) == 2


def test_no_credentials_for_the_keeper_are_missed(
    env: MasonEnvironment, moto: Moto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    assert "There are no credentials for Parameter Store here." in problem(env, "{{secret:aws-ssm:/x}}")


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        ("secret:", "write secret:KEEPER:PLACE"),
        ("secret:file", "write secret:KEEPER:PLACE"),
        ("secret:file:", "write secret:KEEPER:PLACE"),
        ("secret:file:/x#", "write secret:KEEPER:PLACE"),
        ("secret:fil:/x", 'nothing that keeps secrets is called "fil". Did you mean "file"?'),
        ("secret:vault:/x", "There are: aws-secretsmanager, aws-ssm, file."),
    ],
)
def test_what_names_no_secret_is_refused_when_it_is_saved(secret: str, words: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        parse_configuration(configuration(f"{{{{{secret}}}}}"), name="one.yaml", default_id="x")

    [message] = caught.value.messages
    assert message.startswith(f"one.yaml:7: clients.s3.configuration.secret_key: {{{{{secret}}}}} names no secret: ")
    assert words in message


def test_a_value_that_is_no_text_is_read_as_what_it_is(env: MasonEnvironment, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("false")
    config = used(env, f"{{{{secret:file:{tmp_path}/secret}}}}", key="path_style")
    client: Any = config.storage.client
    assert client._connection.path_style is False

    (tmp_path / "secret").write_text(CANARY)
    with pytest.raises(InvalidConfiguration) as caught:
        used(env, f"{{{{secret:file:{tmp_path}/secret}}}}", key="path_style").storage.client  # noqa: B018
    assert "clients.s3.configuration.path_style" in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_package_may_bring_a_keeper_and_no_secret_is_printed_or_stored(mason: Mason, tmp_path: Path) -> None:
    code = "def read_secret(place):\n    return f'{place}-canary-9f2e'\n"
    install_package(mason, "vaults", "mason.secrets", {"vault": "vaults.vault"}, {"vault.py": code})
    text = configuration("{{secret:vault:kept}}").replace("storage_engine: s3", "storage_engine: [local, s3]")
    write(mason.folder, {"one.yaml": text})
    assert mason("config", "one.yaml").exit_code == 0
    body = 'resp.add_info(config.storage.client_named("s3")._connection.keys.secret_key + " was read")'
    registered(mason, operator_with(tmp_path / "src", "new", "leak", body=body))

    result = mason("operator", "new", "leak", "-l", "trace")

    assert result.json["Info"] == ["REDACTED was read"], result.stdout + result.stderr
    stored = [file for file in mason.home.rglob("*") if file.is_file() and b"kept-canary-9f2e" in file.read_bytes()]
    assert stored == []
    assert "canary" not in result.stdout + result.stderr + mason("config").stdout


def test_the_doctor_says_which_secret_is_missing(mason: Mason) -> None:
    write(mason.folder, {"one.yaml": configuration("{{secret:file:/no/such/file}}")})
    assert mason("config", "one.yaml").exit_code == 0

    result = mason("doctor")

    assert "s3 as storage: " in result.stdout
    assert "{{secret:file:/no/such/file}} cannot be read: there is no file /no/such/file." in result.stdout
    assert result.exit_code == 1


def test_no_permission_to_read_a_file_is_said(env: MasonEnvironment, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(CANARY)
    file.chmod(0)
    if os.access(file, os.R_OK):  # whoever may do everything reads it all the same
        assert value(used(env, f"{{{{secret:file:{file}}}}}")) == CANARY
    else:
        assert "permission denied" in problem(env, f"{{{{secret:file:{file}}}}}")
