"""`--plan`, and the configurations that an operator accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import errors, operator_with, registered, strict_json, tree
from tests.conftest import Mason, write


class TestSupportedConfigurations:
    CONFIGS = (
        "id: one\nmetastore_engine: glue\nscheduler_engine: glue\nstorage_engine: s3\nexecution_engine: athena\n",
        "id: two\nmetastore_engine: s3\nexecution_engine: spark\n",
        "id: none\n",
        "id: both\nmetastore_engine: [local, s3]\nexecution_engine: spark\n",
    )
    BODY = "resp.add_data({role: list(config.engine(role).client_names) for role in ('metastore', 'execution')})"

    @pytest.fixture
    def four(self, mason: Mason) -> Mason:
        write(mason.folder / "configs", {f"{number}.yaml": text for number, text in enumerate(self.CONFIGS)})
        assert mason("config", str(mason.folder / "configs")).exit_code == 0
        return mason

    def test_a_set_of_clients_must_fit_as_a_whole_and_one_set_is_enough(self, four: Mason, tmp_path: Path) -> None:
        supported = '  - metastore: "s3"\n    execution: "spark"\n  - scheduler: ["glue", "airflow"]\n'
        operator_with(tmp_path / "src", "new", "pick", supported=supported, body=self.BODY)
        registered(four, tmp_path / "src")

        def data(config: str) -> Any:
            return strict_json(four("operator", "new", "pick", "-c", config))["Data"]

        assert data("one") == [{"metastore": ["glue"], "execution": ["athena"]}]
        assert data("two") == [{"metastore": ["s3"], "execution": ["spark"]}]
        assert data("both") == [{"metastore": ["s3"], "execution": ["spark"]}]
        for config, offer in (
            ("none", "metastore: nothing, execution: nothing, scheduler: nothing"),
            ("local", "metastore: local, execution: spark, scheduler: local"),
        ):
            assert errors(four, "new", "pick", "-c", config) == [
                f'new:pick does not accept the configuration "{config}", which has {offer}. '
                "It accepts metastore: s3 with execution: spark; or scheduler: glue or airflow."
            ]

    def test_a_refused_configuration_does_not_load_the_operators_code(self, four: Mason, tmp_path: Path) -> None:
        folder = operator_with(tmp_path / "src", "new", "pick", supported='  - metastore: "hive"\n')
        code = folder / "__init__.py"
        code.write_text(code.read_text() + f"\nopen({str(tmp_path / 'loaded')!r}, 'w')\n")
        registered(four, tmp_path / "src")

        assert "It accepts metastore: hive." in errors(four, "new", "pick")[0]
        assert not (tmp_path / "loaded").exists()


class TestPlan:
    @pytest.mark.parametrize(
        ("words", "parameters", "promise"),
        [
            (["table", "infer"], "database_name:shop,storage_path:shop/orders.csv", "Would save table"),
            (["table", "refresh"], "database_name:shop,table_name:orders", "Would save table"),
            (["table", "delete"], "database_name:shop,table_name:orders", "Would delete table"),
            (["database", "create"], "database_name:fresh", "Would create database"),
            (["database", "delete"], "database_name:empty", "Would delete database"),
        ],
    )
    def test_a_plan_writes_nothing(self, mason: Mason, words: list[str], parameters: str, promise: str) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})
        (mason.folder / "empty").mkdir()
        assert (
            mason("operator", "table", "infer", "-p", "database_name:shop,storage_path:shop/orders.csv").exit_code == 0
        )
        mason("operator", *words, "-p", parameters, "--plan")  # its code is compiled now
        before, home = tree(mason.folder), tree(mason.home)

        result = mason("operator", *words, "-p", parameters, "--plan")

        assert result.exit_code == 0, result.stdout
        assert any(promise in line for line in strict_json(result)["Info"])
        assert "| Operator Plan  |" in result.stderr
        assert tree(mason.folder) == before
        assert tree(mason.home) == home

        assert mason("operator", *words, "-p", parameters).exit_code == 0
        assert tree(mason.folder) != before

    @pytest.mark.parametrize(
        ("words", "parameters"),
        [
            (["table", "infer"], "database_name:nowhere,storage_path:shop/orders.csv"),
            (["table", "infer"], "database_name:shop,storage_path:nowhere"),
            (["table", "delete"], "database_name:shop,table_name:nothing"),
            (["database", "create"], "database_name:shop"),
            (["database", "create"], "database_name:../x"),
            (["database", "delete"], "database_name:shop"),
            (["database", "delete"], "database_name:misc"),
            (["database", "delete"], "database_name:nowhere"),
        ],
    )
    def test_a_plan_promises_nothing_that_the_run_would_refuse(
        self, mason: Mason, words: list[str], parameters: str
    ) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n", "misc/notes": "no table, but not empty\n"})

        planned, ran = (errors(mason, *words, "-p", parameters, *flag) for flag in (["--plan"], []))

        assert planned and ran

    def test_an_operator_without_a_plan_is_not_run(self, mason: Mason, tmp_path: Path) -> None:
        registered(mason, operator_with(tmp_path / "src", "new", "make", body='open("made", "w")'))

        result = mason("operator", "new", "make", "--plan")

        assert result.exit_code == 0
        assert not (mason.folder / "made").exists()
