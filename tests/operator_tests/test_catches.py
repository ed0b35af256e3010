"""The proof is proven: operators that are wrong on purpose, each of which `mason test` must catch."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from mason.clients.spark.settings import conf_options
from mason.operators.operator_tests.guard import WroteOutside, guard_folder
from mason.util.atomic_file import write_file
from tests.cli.support import tree
from tests.conftest import write
from tests.operator_tests.conftest import Bench

BOTH = ("local", "spark")
SPARK = 'config.execution.client_names == ("spark",)'
MERGES = """\
import pyarrow as pa
import pyarrow.parquet as pq
rows = [{"id": 1, "name": "Ann"}, {"id": 2, "name": None}]
"""
WRITES = MERGES + 'pq.write_table(pa.Table.from_pylist(rows), "out.parquet")'
EXPECTS = """\
name: It writes two rows
expect:
  table: out.parquet
  rows:
    - {id: 1, name: Ann}
    - {id: 2}
"""


def test_an_operator_that_does_what_its_test_says_is_good(bench: Bench) -> None:
    bench.operator(WRITES)
    bench.test(EXPECTS)

    response = bench.run(BOTH)

    assert response["Errors"] == []
    assert response["Info"] == ["1 operator, 1 test on local, spark: all passed."]
    assert [(each["Configurations"], each["Passed"]) for each in response["Data"]] == [
        (["local"], True),
        (["spark"], True),
    ]


class TestExpectations:
    @pytest.mark.parametrize(
        ("expected", "told"),
        [
            (
                "rows: [{id: 1, name: Ann}, {id: 2, name: Bob}]",
                'row {id: 2, name: "Bob"}: name: expected "Bob", got null',
            ),
            ("rows: [{id: 1, name: Ann}]", "a row that only was got: {id: 2, name: null}"),
            ("rows: [{id: 1, name: Ann}, {id: 2}, {id: 2}]", "a row that only was expected: {id: 2, name: null}"),
            (
                "rows: [{id: 2}, {id: 1, name: Ann}]\n  ordered: true",
                "row 1: id: expected 2, got 1; name: expected null",
            ),
            ("rows: [{id: 1}, {id: 2}]", "the column name (string) was not expected"),
            ("rows: [{id: 1, name: Ann, age: 3}, {id: 2}]", "there is no column age; the columns are id, name"),
            ('rows: [{id: "1", name: Ann}, {id: 2}]', "row 1: id: the column is of type int64: must be a whole number"),
            ("rows: [{id: 1, name: 7}, {id: 2}]", "row 1: name: the column is of type string: must be text, which 7"),
            ("schema: {id: int32, name: string}", "column id: expected int32, got int64"),
            ("schema: {id: int64}", "the column name (string) was not expected"),
            ("schema: {name: string, id: int64}", "the columns are in another order: id, name"),
        ],
    )
    def test_a_wrong_row_or_column_is_told_cell_by_cell(self, bench: Bench, expected: str, told: str) -> None:
        bench.operator(WRITES)
        bench.test(f"name: It is so\nexpect:\n  table: out.parquet\n  {expected}\n")

        errors = bench.errors()

        assert errors and all(error.startswith("try/it/tests/one.yaml: on local: out.parquet: ") for error in errors)
        assert any(told in error for error in errors), errors

    @pytest.mark.parametrize(
        ("expected", "told"),
        [
            ("data: {RowsOut: 3}", "data.RowsOut: expected 3, got 2"),
            ("data: {RowsOut: '2'}", 'data.RowsOut: expected "2", got 2'),
            ("data: {Rows: 2}", "data.Rows: there is no such key; there are RowsOut, Where, Deep"),
            ("data: {Deep: {List: [1]}}", "data.Deep.List: expected 1 items, got 2: [1, true]"),
            ("data: {Deep: {List: [1, 1]}}", "data.Deep.List[1]: expected 1, got true"),
            ("data: []", "data: expected 0 items, got 1"),
            ("info: [nowhere]", 'no information has "nowhere" in it; there are: "Done here"'),
            ("warnings: []", "a warning that was not expected: Look here"),
            ("warnings: [Look here, And there]", 'no warning has "And there" in it'),
            ("errors: [Boom]", 'it was to fail with "Boom", and it succeeded'),
            ("files: {report.txt: other}", 'report.txt: expected "other", got "all is well\\n"'),
            ("files: {nowhere.txt: x}", "nowhere.txt: there is no such file"),
            ("files: {report.txt: null}", "report.txt: the file was not to be there"),
            ("nothing_written: true", "nothing was to be written, and these changed: garbage.parquet, report.txt"),
            ("rows: []", "the response has no rows; to look at a table that was written, say which: table: path"),
            ("table: nowhere\n  rows: []", "nowhere: there is no table: Path"),
            ("table: garbage.parquet\n  rows: []", "garbage.parquet: there is no table: "),
        ],
    )
    def test_what_is_not_as_expected_is_told_with_both_sides(self, bench: Bench, expected: str, told: str) -> None:
        bench.operator(
            'resp.add_data({"RowsOut": 2, "Where": os.path.abspath("x"), "Deep": {"List": [1, True]}})\n'
            'resp.add_info("Done here")\nresp.add_warning("Look here")\n'
            'Path("report.txt").write_text("all is well\\n")\nPath("garbage.parquet").write_text("garbage")'
        )
        bench.test(f"name: It is so\nexpect:\n  {expected}\n")

        error, *others = bench.errors()

        assert told in error
        assert not [other for other in others if "nothing was to be written" not in other]

    def test_what_is_as_expected_passes_with_any_text_for_dots(self, bench: Bench) -> None:
        bench.operator(
            'resp.add_data({"RowsOut": 2.0, "Where": os.path.abspath("x"), "List": [None, {"a": 1}]})\n'
            'resp.add_info("Done in 3 s")\nPath("report.txt").write_text("line 1\\nline 2\\n")'
        )
        bench.test(
            "name: It is so\nexpect:\n  data: {RowsOut: 2, Where: x, List: [null, {}]}\n"
            "  info: [Done]\n  warnings: []\n  files: {report.txt: 'line…2…', gone.txt: null}\n"
        )

        assert bench.errors() == []

    def test_an_operator_that_raises_is_told_with_its_line(self, bench: Bench) -> None:
        folder = bench.operator("x = 1\n1 / 0")
        bench.test("name: It divides\nexpect:\n  info: [done]\n")

        failed, raised = bench.errors()

        told = f"{folder}/__init__.py:13: try:it failed in its own code: ZeroDivisionError: division by zero"
        assert f"it failed: {told}" in failed
        assert f"raised at {folder}/__init__.py:13, in run" in raised

    def test_an_error_that_is_expected_must_be_that_one_and_write_nothing(self, bench: Bench) -> None:
        bench.operator(
            'open("half", "w").close()\nfrom mason.errors import MasonError\nraise MasonError("The disk is full.")'
        )
        bench.test("name: It fails\nexpect:\n  errors: [no such table]\n")

        errors = " | ".join(bench.errors())

        assert 'no error has "no such table" in it; there are: "The disk is full."' in errors
        assert "an error that was not expected: The disk is full." in errors
        assert "nothing was to be written, and these changed: half" in errors

    def test_a_plan_that_writes_is_caught(self, bench: Bench) -> None:
        folder = bench.operator("pass")
        code = (folder / "__init__.py").read_text()
        plan = "\n    def plan(self, env, config, parameters, resp):\n        open('x', 'w').close()\n"
        (folder / "__init__.py").write_text(f"{code}{plan}        return OperatorResponse(resp)\n")
        bench.test("name: It plans\nplan: true\nexpect:\n  data: {Configuration: local}\n")

        (error,) = bench.errors(BOTH)[:1]

        assert "nothing was to be written, and these changed: x" in error


class TestAgreement:
    @pytest.mark.parametrize(
        ("body", "told"),
        [
            (f'resp.add_data({{"Rows": 1 if {SPARK} else 2}})', "Data[0].Rows: local 2, spark 1"),
            (f'resp.add_data({{"Mean": -0.0 if {SPARK} else 0.0}})', "Data[0].Mean: local 0.0, spark -0.0"),
            (
                f'resp.add_data({{"a": 1}}) if {SPARK} else resp.add_data({{}})',
                "Data[0].a: spark has it, local has not",
            ),
            (
                f'resp.add_data({{"At": "2026-01-0" + str(int({SPARK}))}})',
                'Data[0].At: local "2026-01-00", spark "2026',
            ),
            (f'resp.add_data({{"Rows": [["0 s", "1 s"][{SPARK}]]}})', 'Data[0].Rows[0]: local "0 s", spark "1 s"'),
            (f'resp.add_warning("Careful") if {SPARK} else None', 'Warnings: local [], spark ["Careful"]'),
            (f'open("f" if {SPARK} else "g", "w").close()', "files.f: spark has it, local has not"),
            (f'Path("f").write_text(str({SPARK}))', 'files.f: local "False", spark "True"'),
            (f"if {SPARK}: raise ValueError", "spark failed, local did not"),
            (
                f"{MERGES}\nrows += rows[:1] if {SPARK} else []\n{WRITES[len(MERGES) :]}",
                "a row that only spark has: {id: 1",
            ),
            (f'{MERGES}\nrows[1]["id"] += {SPARK}\n{WRITES[len(MERGES) :]}', "id: local 2, spark 3"),
            (
                f'{MERGES}\nif {SPARK}: rows = [{{"id": "1"}}]\n{WRITES[len(MERGES) :]}',
                "local has (id int64, name string), ",
            ),
        ],
    )
    def test_results_that_differ_between_engines_are_a_failure_even_if_each_is_as_expected(
        self, bench: Bench, body: str, told: str
    ) -> None:
        bench.operator(f'{body}\nresp.add_info("done")')
        bench.test("name: It is loosely tested\nexpect:\n  info: [done]\n")

        errors = bench.errors(BOTH)

        assert any("on local and spark: they differ: " in error and told in error for error in errors), errors
        assert bench.errors(["local"]) == []

    def test_ids_times_durations_and_places_may_differ(self, bench: Bench) -> None:
        bench.operator(
            "import uuid, datetime\nnow = datetime.datetime.now(datetime.UTC).isoformat()\nid = uuid.uuid4().hex[:16]\n"
            'resp.add_data({"JobID": id, "At": now, "Path": os.getcwd() + "/out", "Seconds": time.time()})\n'
            'resp.add_info(f"{id} took {time.perf_counter()} s, see {id[:8]} in {os.getcwd()}")\n'
            'Path(f"part-{id}-00000-{uuid.uuid4().hex[:8]}.txt").write_text(f"{now} {os.getcwd()}")'
        )
        bench.test("name: It is loosely tested\nexpect:\n  info: [took]\n")

        assert bench.errors(BOTH) == []

    def test_the_files_of_a_job_may_be_of_another_size(self, bench: Bench) -> None:
        bench.operator(f'resp.add_data({{"JobID": "a", "Bytes": 804 + int({SPARK})}})')
        bench.test("name: It is loosely tested\nexpect:\n  warnings: []\n")
        assert bench.errors(BOTH) == []

        bench.operator(f'resp.add_data({{"Bytes": 804 + int({SPARK})}})')
        assert "Data[0].Bytes: local 804, spark 805" in bench.errors(BOTH)[0]

    def test_a_key_may_differ_where_the_test_says_so(self, bench: Bench) -> None:
        bench.operator(f'resp.add_data({{"Engine": {{"Tasks": int({SPARK})}}}})')
        bench.test("name: It is so\nexpect:\n  data: {}\n  warnings: []\n".replace("  data: {}\n", ""))
        assert "Data[0].Engine.Tasks: local 0, spark 1" in bench.errors(BOTH)[0]

        bench.test("name: It is so\nexpect:\n  warnings: []\n  may_differ: [Tasks]\n")
        assert bench.errors(BOTH) == []


class TestWritingOutside:
    @pytest.mark.parametrize(
        "body",
        [
            'Path("{outside}/new.txt").write_text("x")',
            'Path("{outside}/mine.txt").write_text("x")',
            'os.remove("{outside}/mine.txt")',
            'os.rename("{outside}/mine.txt", "stolen.txt")',
            'os.mkdir("{outside}/folder")',
            'os.symlink("x", "{outside}/link")',
            'import shutil; shutil.rmtree("{outside}")',
            'import sqlite3; sqlite3.connect("{outside}/new.db")',
            'os.symlink("{outside}", "inside"); Path("inside/new.txt").write_text("x")',
            'import threading\nt = threading.Thread(target=Path("{outside}/new.txt").touch)\nt.start()\nt.join()',
            'try:\n    Path("{outside}/new.txt").write_text("x")\nexcept Exception:\n    pass',
        ],
    )
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_an_operator_that_writes_outside_is_caught_and_kept_from_it(self, bench: Bench, body: str) -> None:
        outside = write(bench.folder / "outside", {"mine.txt": "mine"})
        before = tree(outside)
        bench.operator(body.format(outside=outside))
        bench.test("name: It reads\nexpect:\n  warnings: []\n")

        errors = bench.errors()

        assert any(f"it writes outside the folder of the test: {outside}" in error for error in errors), errors
        assert tree(outside) == before

    def test_temporary_files_are_fine_as_long_as_they_go(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(bench.folder))
        bench.operator(
            "import tempfile\nwith tempfile.TemporaryDirectory() as a, tempfile.NamedTemporaryFile() as b:\n"
            '    Path(a, "x").write_text("x")\n    os.rename(Path(a, "x"), Path(a, "y"))\n'
            "with tempfile.TemporaryFile() as c:\n    c.write(b'x')"
        )
        bench.test("name: It tidies up\nexpect:\n  warnings: []\n")
        assert bench.errors() == []

        bench.operator('import tempfile\nPath(tempfile.mkdtemp(), "x").write_text("x")', name="untidy")
        bench.test("name: It does not\nexpect:\n  warnings: []\n", name="untidy")
        (error,) = bench.errors()
        assert f"it writes outside the folder of the test: {bench.folder}/tmp" in error
        assert not list(bench.folder.glob("tmp*"))

    @pytest.mark.parametrize("path", ["../beside.parquet", "../../beside.parquet"])
    def test_a_library_that_writes_beside_the_folder_is_caught(self, bench: Bench, path: str) -> None:
        bench.operator(f'{MERGES}\npq.write_table(pa.Table.from_pylist(rows), "{path}")')
        bench.test("name: It writes\nexpect:\n  warnings: []\n")

        (error,) = bench.errors()

        assert f"it writes outside the folder of the test: {path}" in error

    def test_an_operator_that_changes_its_own_folder_is_caught(self, bench: Bench) -> None:
        folder = bench.operator(
            f'{MERGES}\npq.write_table(pa.Table.from_pylist(rows), str(Path(__file__).with_name("x.parquet")))'
        )
        bench.test("name: It writes\nexpect:\n  warnings: []\n")

        (error,) = bench.errors()

        assert f"it writes outside the folder of the test: {folder}/x.parquet" in error

    def test_nothing_is_left_behind(
        self, bench: Bench, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        temporary = tmp_path_factory.mktemp("temporary")
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        bench.operator('open("x", "w").close()\nos.mkdir("y")\nopen("../z", "w").close()')
        bench.test("name: It writes\nexpect:\n  warnings: []\n")
        before = tree(bench.folder)
        where = Path.cwd()

        bench.run()

        assert tree(bench.folder) == before
        assert Path.cwd() == where and os.environ["MASON_HOME"] == str(bench.env.home)
        assert not list(temporary.iterdir())

    def test_the_home_of_a_test_is_its_own(self, bench: Bench) -> None:
        bench.operator(
            "from mason.state.home import open_state\nfrom mason.util.environment import MasonEnvironment\n"
            'open_state(env)\nresp.add_data({"Same": MasonEnvironment.of() == env, "Home": str(env.home)})'
        )
        bench.test("name: It is at home\nexpect:\n  data: {Same: true}\n  nothing_written: true\n")

        response = bench.run()

        assert response["Errors"] == []
        assert not bench.env.home.exists()


def test_what_one_test_does_to_its_process_does_not_reach_the_next(bench: Bench) -> None:
    bench.operator(
        'resp.add_data({"Folder": os.getcwd(), "Mark": os.environ.get("A_MARK"), "There": os.path.exists("left")})\n'
        'Path("left").touch()\nos.environ["A_MARK"] = "x"\nos.environ["MASON_HOME"] = "/nowhere"\nos.chdir("/")'
    )
    for number in (1, 2):
        bench.test(
            f"name: It is the first {number}\nexpect:\n  data: {{Mark: null, There: false, Folder: .}}\n",
            file=f"{number}.yaml",
        )

    assert bench.errors(BOTH) == []


def test_an_operator_that_cannot_be_imported_fails_its_test(bench: Bench) -> None:
    folder = bench.operator("pass")
    (folder / "__init__.py").write_text(f"import no_such_module\n{(folder / '__init__.py').read_text()}")
    bench.test("name: It runs\nexpect:\n  warnings: []\n")

    failed, raised = bench.errors()

    assert "ModuleNotFoundError: No module named 'no_such_module'" in failed
    assert f"raised at {folder}/__init__.py:1, in <module>" in raised


def test_an_operator_that_ends_the_process_fails_its_test(bench: Bench) -> None:
    folder = bench.operator("sys.exit(3)")
    bench.test("name: It runs\nexpect:\n  warnings: []\n")

    told = f"{folder}/__init__.py:12: try:it failed in its own code: SystemExit: 3"
    assert f"it failed: {told}" in bench.errors()[0]


def test_the_settings_of_a_spark_in_this_process_are_its_own_affair(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "spark").mkdir()
    with guard_folder(tmp_path / "test") as guard:
        conf_options({"spark.ui.enabled": "false"}, tmp_path / "spark")
        with pytest.raises(WroteOutside):
            write_file(tmp_path / "elsewhere", b"")

    assert guard.refused == [str(tmp_path.resolve())]
