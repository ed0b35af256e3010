"""`mason operator table summarize` as a user has it."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import pytest

from mason.pipeline.tables.folder import TableFolder
from tests.cli.test_terminal import on_a_terminal
from tests.conftest import Mason, write

HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"
FILES = {"in/a.csv": "id,city\n1,Ulm\n2,Ulm\n", "in/b.jsonl": '{"id": 3, "city": "Bonn"}\n'}


@pytest.fixture
def here(mason: Mason) -> Mason:
    write(mason.folder, {"here.yaml": HERE, **FILES})
    assert mason("config", "here.yaml").exit_code == 0
    return mason.register_examples()


def test_a_summary_is_json_and_may_be_a_page_and_a_table_as_well(here: Mason) -> None:
    parameters = "path:in,output_path:summary,html:report.html"
    plan = here("operator", "table", "summarize", "--plan", "-p", parameters)
    assert plan.exit_code == 0, plan.stderr
    assert sorted(each.name for each in here.folder.iterdir()) == ["here.yaml", "in"]
    result = here("operator", "table", "summarize", "-p", parameters)
    assert result.exit_code == 0, result.stderr
    planned, job = plan.json["Data"][-1], result.json["Data"][0]
    assert [each["Name"] for each in planned["Columns"]] == [each["Name"] for each in job["Columns"]] == ["id", "city"]
    assert (planned["Tasks"], planned["Output"], planned["Html"]) == (job["Tasks"], job["Output"], job["Html"])
    assert (job["RowsIn"], job["Rows"]) == (3, 3)
    assert job["Columns"][1]["MostFrequent"] == [{"Value": "Ulm", "Count": 2}, {"Value": "Bonn", "Count": 1}]
    assert "<h2>city</h2>" in (here.folder / "report.html").read_text(encoding="utf-8")
    again = here("operator", "table", "summarize", "-p", "path:summary,columns:[name,distinct]")
    assert [each["Count"] for each in again.json["Data"][0]["Columns"]] == [2, 2]


def test_the_page_has_a_flag_of_its_own(here: Mason) -> None:
    name = 'a "page", of: all.html'
    result = here("operator", "table", "summarize", "-p", "path:in", "--html", name)
    assert result.exit_code == 0, result.stderr
    assert "<h2>city</h2>" in (here.folder / name).read_text(encoding="utf-8")


def test_a_table_is_found_by_its_name(here: Mason) -> None:
    merged = here("operator", "table", "merge", "-p", "input_path:in,output_path:db/places")
    assert merged.exit_code == 0, merged.stderr
    named = here("operator", "table", "infer", "-p", "database_name:db,storage_path:db/places,table_name:places")
    assert named.exit_code == 0, named.stderr
    result = here("operator", "table", "summarize", "-p", "database_name:db,table_name:places,columns:city")
    assert result.exit_code == 0, result.stderr
    assert result.json["Data"][0]["Columns"][0]["Distinct"] == 2


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ("columns:id", 'Give its "path"'),
        ("path:nowhere", "nowhere"),
        ("path:in,columns:cty", 'There is no column "cty".'),
        ("path:in,output_path:in", "must be apart"),
        ("path:in,html:no/such/page.html", "There is no folder"),
        ("path:in,histogram:-1", "histogram"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence_and_nothing_is_written(
    here: Mason, parameters: str, told: str
) -> None:
    for plan in ((), ("--plan",)):
        result = here("operator", "table", "summarize", *plan, "-p", parameters)
        assert result.exit_code == 1
        (error,) = result.json["Errors"]
        assert told in error
        assert "Traceback" not in result.stderr
    assert sorted(each.name for each in here.folder.iterdir()) == ["here.yaml", "in"]


def test_who_looks_at_a_terminal_sees_a_picture(here: Mason) -> None:
    written = on_a_terminal(here, "operator", "table", "summarize", "-p", "path:in")
    assert "3 rows, 2 columns" in written
    assert "  Ulm (66.7 %)" in written
    assert "█" in written


def test_ctrl_c_in_the_middle_leaves_nothing(here: Mason) -> None:
    large = here.folder / "large"
    large.mkdir()
    text = "".join(f"{number},name {number},{number / 7:.4f}\n" for number in range(400_000))
    (large / "00.csv").write_text(f"a,b,c\n{text}")
    for number in range(1, 40):
        shutil.copyfile(large / "00.csv", large / f"{number:02}.csv")
    process = here.start("operator", "table", "summarize", "-p", "path:large,output_path:summary,html:report.html")
    wait_for_job(here.home, 60)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert TableFolder(str(here.folder / "summary")).current() is None
    assert not [each.name for each in here.folder.iterdir() if "report" in each.name or "mason-" in each.name]


def wait_for_job(home: Path, seconds: float) -> None:
    from mason.state.home import read_state
    from mason.state.models import RecordKind
    from mason.util.environment import MasonEnvironment

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if read_state(MasonEnvironment(home)).list_records(RecordKind.JOB):
            return
        time.sleep(0.05)
    raise AssertionError("no job began")
