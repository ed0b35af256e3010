"""The commands of the founding README of July 2020, in its order, in a folder that has nothing in it.

AWS is an emulated one: `AWS_ENDPOINT_URL` in the `.env` file sends every client there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aws import KEYS, ROLE, Moto, running_moto
from tests.cli.support import configured, strict_json
from tests.conftest import EXAMPLES, PROJECT, Mason, Result, write

NOT_VARIABLES = {"NAME", "VAR", "SHOP_DATA"}
"""Words that stand for any name, and those of a page's own example."""


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with running_moto() as server:
        glue = server.client("glue")
        glue.create_database(DatabaseInput={"Name": "spg-mason-demo"})
        columns = [{"Name": "crane", "Type": "string"}]
        described = {"Columns": columns, "Location": "s3://spg-mason-demo/merged_csv/"}
        glue.create_table(
            DatabaseName="spg-mason-demo", TableInput={"Name": "merged_csv", "StorageDescriptor": described}
        )
        yield server


def filled_env(moto: Moto) -> str:
    """`.env.example` as somebody fills it in."""
    text = (PROJECT / ".env.example").read_text()
    values = {
        "AWS_ACCESS_KEY_ID": KEYS["access_key"],
        "AWS_SECRET_ACCESS_KEY": KEYS["secret_key"],
        "MASON_GLUE_ROLE_ARN": ROLE,
        "AWS_ENDPOINT_URL": moto.endpoint,
    }
    for name, value in values.items():
        text, count = re.subn(rf"^#?{name}=.*$", f"{name}={value}", text, flags=re.M)
        assert count == 1, name
    return text


def test_its_commands_run_in_their_order_from_an_empty_folder(mason: Mason, moto: Moto) -> None:
    write(mason.home, {".env": filled_env(moto)})

    def run(*arguments: str) -> Result:
        result = mason(*arguments)
        assert result.exit_code == 0, f"{arguments}\n{result.stdout}\n{result.stderr}"
        return result

    saved = run("config", "mason/examples/configs/")
    assert "Setting current config to 1" in saved.stderr
    assert "'aws_region': 'us-east-1', 'aws_role_arn': 'REDACTED', 'access_key': 'REDACTED'" in saved.stdout
    assert re.search(r"^\*  3 ", run("config", "-s", "3").stdout, re.M)
    assert "No Operators Registered" in run("operator").stdout
    assert "Valid operator definition." in run("register", "mason/examples/operators/").stderr
    assert "Get Execution Job Status" in run("operator").stdout
    assert "job" in run("operator", "job").stdout
    table = strict_json(run("operator", "table", "get", "-p", "database_name:spg-mason-demo,table_name:merged_csv"))
    assert [each["Name"] for each in table["Data"][0]["Schema"]["Columns"]] == ["crane"]
    told = strict_json(run("operator", "table", "get", "-c", "examples", "-f", "examples/parameters/table_get.yaml"))
    assert told["Data"][0]["Name"] == "acme"
    run("register", "mason/examples/workflows/")
    assert "validated_infer" in run("workflow").stdout
    planned = run("workflow", "table", "validated_infer", "-f", "mason/examples/parameters/validated_infer.yaml")
    assert "Valid Workflow DAG Definition:" in strict_json(planned)["Info"]
    one = ("workflow", "table", "infer", "-f", "mason/examples/parameters/workflow_table_infer.yaml")
    assert "Registered schedule table_infer" in strict_json(run(*one, "-d"))["Info"]
    assert strict_json(run(*one, "-r"))["Data"][0]["Status"] == "succeeded"

    # With Glue as scheduler, the files of this machine are no affair of a crawler's.
    refused = mason(*one, "-c", "1", "-d")
    assert refused.exit_code == 1
    assert "A crawler reads S3, not file://" in strict_json(refused)["Errors"][0]
    assert moto.client("glue").list_crawlers()["CrawlerNames"] == []


def test_the_data_of_the_examples_are_found_from_anywhere_and_what_is_installed_stays_as_it_is(mason: Mason) -> None:
    before = sorted(str(each) for each in (EXAMPLES / "data").rglob("*"))
    mason.register_examples()
    assert mason("config", "mason/examples/configs/config_local.yaml").exit_code == 0

    listed = mason("operator", "table", "list", "-p", "database_name:suppliers")
    inferred = mason("operator", "table", "infer", "-f", "mason/examples/parameters/table_infer.yaml")

    assert listed.exit_code == 0, listed.stderr
    assert {"acme", "borealis", "cobalt"} <= {each["Name"] for each in strict_json(listed)["Data"]}
    assert inferred.exit_code == 0, inferred.stderr
    assert strict_json(inferred)["Data"][0]["Path"] == str(mason.home / "examples/data/suppliers/acme")
    assert sorted(str(each) for each in (EXAMPLES / "data").rglob("*")) == before
    assert [each.name for each in mason.folder.iterdir()] == []


def test_a_folder_of_that_name_here_is_the_users_own(mason: Mason) -> None:
    mason.register_examples()
    assert mason("config", "mason/examples/configs/config_local.yaml").exit_code == 0
    write(mason.folder, {"mason/examples/data/shop/orders.csv": "n\n1\n"})

    listed = mason("operator", "table", "list", "-p", "database_name:shop")

    assert [each["Name"] for each in strict_json(listed)["Data"]] == ["orders"]
    assert not (mason.home / "examples").exists()


def test_a_listing_shows_variables_filled_but_none_that_is_a_secret(mason: Mason) -> None:
    configured(
        mason,
        "id: a\nstorage_engine: s3\nexecution_engine: spark\nclients:\n  s3:\n    configuration:\n"
        '      aws_region: "{{AWS_REGION}}"\n      secret_key: "{{SHARED}}"\n      access_key: "{{SHARED}}"\n'
        '      endpoint: "https://{{UNSET_HOST}}"\n'
        "  spark:\n    configuration:\n      runner:\n        type: local\n"
        '        conf: {spark.a: "{{API_TOKEN}}", spark.b.password: "{{SHARED}}"}\n',
    )
    write(mason.home, {".env": "AWS_REGION=eu-west-3\n"})
    mason.variables |= {"SHARED": "canary-one", "API_TOKEN": "canary-two"}

    listing = mason("config").stdout

    assert "'aws_region': 'eu-west-3'" in listing
    assert "https://{{UNSET_HOST}}" in listing
    assert "{{API_TOKEN}}" in listing
    assert "canary" not in listing


def test_the_example_of_an_env_file_has_the_variables_of_all_clients() -> None:
    text = (PROJECT / ".env.example").read_text()
    offered = set(re.findall(r"^#?([A-Z][A-Z0-9_]*)=", text, re.M))
    pages = [*(PROJECT / "docs").glob("*.md"), *(PROJECT / "docs" / "clients").glob("*.md")]
    files: list[Path] = [*pages, *(EXAMPLES / "configs").glob("*.yaml")]
    used = {name for file in files for name in re.findall(r"\{\{\s*([A-Z][A-Z0-9_]*)\s*\}\}", file.read_text())}

    assert used - NOT_VARIABLES <= offered
    assert {f"AWS_ENDPOINT_URL{which}" for which in ("", "_S3", "_GLUE", "_ATHENA", "_STS")} <= offered
