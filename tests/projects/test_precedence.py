"""What a name means: in the project, as registered, in a package, or with Mason; and what a project's words are."""

from __future__ import annotations

from pathlib import Path

from tests.api.support import until
from tests.cli.support import configured, registered
from tests.conftest import Mason, write
from tests.definitions import write_operator
from tests.projects.conftest import CONFIGURATION, WORKFLOW, Shop


def test_operators_and_workflows_are_there_from_any_folder_below_without_being_registered(shop: Shop) -> None:
    below = shop.below("notes/deep")

    assert shop.info("orders", "hello", folder=below) == ["hello with dev"]
    listed = shop.mason("operator", folder=below).stdout
    assert "Available Operator Methods: ~/shop/  |" in listed and "Come with Mason:" in listed
    assert "greet" in shop.mason("workflow", folder=below).stdout
    ran = shop.mason("workflow", "orders", "greet", "-r", folder=below)
    assert ran.exit_code == 0 and ran.json["Data"][0]["Statuses"] == {"one": "succeeded"}


def test_what_runs_is_the_version_on_disk(shop: Shop) -> None:
    assert shop.info("orders", "hello") == ["hello with dev"]
    shop.says("good day")
    assert shop.info("orders", "hello") == ["good day with dev"]


def test_the_project_goes_before_what_is_registered_and_a_digest_means_a_registration(shop: Shop) -> None:
    registered(shop.mason, shop.says("registered", root=shop.mason.folder / "elsewhere"))
    digest = shop.mason("registry", "history", "orders:hello").stdout.split("sha256:")[1].split()[0]

    assert shop.info("orders", "hello") == ["hello with dev"]
    assert shop.info("orders", f"hello@sha256:{digest}") == ["registered with dev"]
    assert shop.info("orders", "hello", folder=shop.mason.folder) == ["registered with local"]
    help_of_project = shop("operator", "orders", "hello", "--help").stdout
    on_disk = help_of_project.split("@sha256:")[1].split()[0]
    missing = shop("operator", "orders", f"hello@sha256:{on_disk}")
    assert missing.exit_code == 1 and "not found" in missing.json["Errors"][0]


def test_a_project_may_have_an_operator_of_its_own_in_the_place_of_mason_s(shop: Shop) -> None:
    write_operator(shop.folder / "operators", "table", "get", body='resp.add_info("mine")')

    assert shop.info("table", "get") == ["mine"]
    rows = [line.split()[:2] for line in shop("operator").stdout.splitlines()]
    assert rows.count(["table", "get"]) == 1


def test_what_comes_with_mason_runs_on_a_fresh_home_at_once(mason: Mason) -> None:
    write(mason.folder, {"shop/orders.csv": "id\n1\n"})

    listed, of_table, workflows = mason("operator"), mason("operator", "table"), mason("workflow")
    ran = mason("operator", "table", "get", "-p", "database_name:shop,table_name:orders")

    first, _, rest = listed.stdout.partition("\n")
    assert first == 'No Operators Registered.  Register operators by running "mason register"'
    assert rest.startswith("\nCome with Mason:\n\nnamespace  command") and "merge" in rest
    assert "Come with Mason:" in of_table.stdout and "database_name" not in of_table.stdout.split("table")[0]
    assert workflows.stdout.startswith("No Workflows Registered.") and "daily" in workflows.stdout
    assert ran.exit_code == 0, ran.stdout
    assert ran.json["Data"][0]["Name"] == "orders"


def test_where_something_is_registered_the_list_is_as_it_always_was(mason: Mason) -> None:
    registered(mason, write_operator(mason.folder / "src", "new", "one"))

    listed = mason("operator").stdout

    assert listed.startswith("+---") and "Come with Mason" not in listed and "merge" not in listed


def test_the_project_s_configurations_go_before_saved_ones_and_its_default_is_current(shop: Shop) -> None:
    configured(shop.mason, f"id: dev\n{CONFIGURATION}")

    listed = shop("config").stdout

    assert listed.count("dev") == 1 and "*  dev" in listed and ".  prod" in listed
    assert shop.info("orders", "hello", "-e", "prod") == ["hello with prod"]
    assert shop.info("orders", "hello", "-c", "prod") == ["hello with prod"]
    assert shop("operator", "orders", "hello", MASON_CONFIG="prod").json["Info"] == ["hello with prod"]
    unknown = shop("operator", "orders", "hello", "-e", "prd")
    assert unknown.json["Errors"] == ['Configuration "prd" not found. Did you mean "prod"?']
    refused = shop("config", "-s", "prod")
    assert (
        refused.exit_code == 1 and 'The mason.yaml of this project says which one is current: "dev".' in refused.stderr
    )


def test_a_wrong_configuration_of_the_project_is_told_with_its_file_and_line(shop: Shop) -> None:
    shop.has({"configs/prod.yaml": "metastore_engine: locla\n"})

    told = shop("operator", "orders", "hello", "-e", "prod").json["Errors"]

    assert f"{shop.folder}/configs/prod.yaml:1: metastore_engine: " in told[0]


def test_paths_begin_in_the_root_of_the_project_from_every_folder(shop: Shop) -> None:
    shop.has(
        {
            "data/crm/people.csv": "id\n1\n",
            "configs/prod.yaml": f"{CONFIGURATION}clients: {{local: {{configuration: {{root: more}}}}}}\n",
        }
    )
    shop.has({"more/crm/cities.csv": "id\n1\n"})
    below = shop.below("notes")

    found = shop.mason("operator", "table", "get", "-p", "database_name:crm,table_name:people", folder=below)
    other = shop.mason("operator", "table", "list", "-p", "database_name:crm", "-e", "prod", folder=below)

    assert found.exit_code == 0, found.stdout
    assert [each["Name"] for each in other.json["Data"]] == ["cities"]


def test_env_of_the_project_goes_before_that_of_the_home_and_the_environment_before_both(shop: Shop) -> None:
    text = f'{CONFIGURATION}clients: {{local: {{configuration: {{root: "{{{{PLACE}}}}"}}}}}}\n'
    shop.has({"configs/dev.yaml": text, "p/a/one.csv": "x\n1\n", "h/a/two.csv": "x\n1\n", "e/a/three.csv": "x\n1\n"})
    write(shop.mason.home, {".env": "PLACE=h\n"})

    def tables(**variables: str) -> list[str]:
        result = shop("operator", "table", "list", "-p", "database_name:a", **variables)
        return [each["Name"] for each in result.json["Data"]]

    assert tables() == ["two"]
    shop.has({".env": "PLACE=p\nPYTHONPATH=/tmp\nMASON_PROJECT=/\n"})
    assert tables() == ["one"]
    assert tables(PLACE="e") == ["three"]
    warned = shop("operator", "table", "list", "-p", "database_name:a").stderr
    assert f"{shop.folder}/.env:2: PYTHONPATH is not taken from a .env file" in warned
    assert f"{shop.folder}/.env:3: MASON_PROJECT is not taken from a .env file" in warned


def test_a_deployed_workflow_runs_what_it_was_deployed_with(shop: Shop) -> None:
    registered(shop.mason, write_operator(shop.mason.folder / "elsewhere", "orders", "wave"))
    step = "  - {id: two, type: operator, namespace: orders, command: wave}\n"
    shop.has({"workflows/orders/greet/workflow.yaml": f"{WORKFLOW}{step}"})
    deployed = shop("workflow", "orders", "greet", "-d", "--schedule", "@daily", "-s", "nightly")
    assert deployed.exit_code == 0, deployed.stdout
    shop.says("changed")
    write_operator(shop.folder / "operators", "orders", "wave", body='resp.add_info("changed")')
    shop.has({"workflows/orders/greet/workflow.yaml": "type: workflow\nnamespace: orders\ncommand: greet\ndag: []\n"})

    triggered = shop("operator", "schedule", "trigger", "-p", "schedule_name:nightly")
    assert triggered.exit_code == 0, triggered.stdout
    scheduler = shop.mason.start("workflow", "--scheduler")
    try:
        runs = _wait_for_run(shop)
    finally:
        scheduler.terminate()
        scheduler.communicate(timeout=60)

    shown = shop("workflow", "--show", runs, "--json").json
    assert shown["Data"][0]["Status"] == "succeeded"
    assert "hello with dev" in str(shown) and "changed" not in str(shown)


def _wait_for_run(shop: Shop) -> str:
    found: list[dict[str, str]] = []

    def look() -> bool:
        found[:] = [each for each in shop("workflow", "--runs", "--json").json["Data"] if each["Status"] == "succeeded"]
        return bool(found)

    until(look, "the schedule has run")
    return found[0]["RunID"]


def test_a_detached_operator_of_a_project_can_be_repeated_by_its_digest(shop: Shop) -> None:
    file = shop.folder / "operators/orders/hello/operator.yaml"
    file.write_text(file.read_text() + "repeatable: true\n")

    detached = shop("operator", "orders", "hello", "--detach")

    assert detached.exit_code == 0, detached.stdout
    job = detached.json["Data"][0]["JobID"]
    history = shop("registry", "history", "orders:hello").stdout
    assert "sha256:" in history and "*  sha256" not in history
    until(lambda: shop("job", "get", job).json["Data"][0]["Status"] == "succeeded", "the job is done")


def test_configurations_are_deleted(mason: Mason) -> None:
    configured(mason, f"id: one\n{CONFIGURATION}")

    done, again = mason("config", "delete", "one"), mason("config", "delete", "one")

    assert done.exit_code == 0 and "Deleted the configuration one." in done.stderr
    assert not Path(mason.home / "configurations" / "one.yaml").exists()
    assert "*  local" in mason("config").stdout
    assert again.exit_code == 1 and 'Configuration "one" not found.' in again.stderr
    assert "always there" in mason("config", "delete", "local").stderr


def test_a_project_s_configuration_is_not_deleted_but_taken_out_of_its_file(shop: Shop) -> None:
    assert '"dev" is a configuration of the project. Remove it from mason.yaml.' in shop.error(
        "config", "delete", "dev"
    )
