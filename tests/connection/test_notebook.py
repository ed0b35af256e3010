"""What a notebook shows, and what a plain script does not."""

from __future__ import annotations

import io
import json
import logging
import sys
from itertools import groupby
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from mason.connection.call_response import CallResponse
from mason.connection.connection import Connection
from mason.connection.printed_types import parse_printed_type
from mason.connection.progress import StreamLine, progress_text, show_log_of_jobs
from mason.errors import MasonError, NotFound, TooLarge
from mason.util.json_text import json_text


def response(*data: Any, **more: Any) -> CallResponse:
    return CallResponse({"Errors": [], "Info": [], "Warnings": [], "Data": list(data), **more})


def rows(columns: dict[str, str], *found: dict[str, Any]) -> CallResponse:
    return response({"Columns": [{"Name": name, "Type": kind} for name, kind in columns.items()], "Rows": list(found)})


class Display:
    """Stands in for IPython's `display`: keeps what is shown and how it changes."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.touches: dict[str, Path] = {}
        """Files that are made when something is shown."""

    def __call__(self, told: dict[str, str], *, raw: bool, display_id: bool) -> Display:
        return self.update(told, raw=raw)

    def update(self, told: dict[str, str], *, raw: bool) -> Display:
        assert raw
        self.shown.append(told["text/plain"])
        if told["text/plain"] in self.touches:
            self.touches[told["text/plain"]].touch()
        return self


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Display:
    """This process as the kernel of a notebook."""
    display = Display()
    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return display


def test_rows_are_shown_as_a_table_and_no_value_is_markup() -> None:
    shown = rows(
        {"<i>id</i>": "int64", "name": "string"},
        {"<i>id</i>": 1, "name": "<script>alert('x')</script>"},
        {"<i>id</i>": None, "name": "&"},
    )._repr_html_()

    assert "<script>" not in shown and "<i>id" not in shown
    assert "<td>&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;</td>" in shown
    assert "<th>&lt;i&gt;id&lt;/i&gt;<br><small>int64</small></th>" in shown
    assert "<td><i>null</i></td>" in shown
    assert "2 rows" in shown


def test_only_some_of_many_rows_are_shown_and_how_many_there_are() -> None:
    shown = rows({"id": "int64"}, *({"id": number} for number in range(1_060)))._repr_html_()

    assert shown.count("<tr>") == 51
    assert "1,060 rows, 1,010 of them not shown" in shown


def test_what_has_no_rows_is_shown_as_it_is_and_warnings_are_too() -> None:
    shown = response({"Name": "<b>"}, Warnings=["<w>"], Info=["<said>"])._repr_html_()

    assert "&quot;Name&quot;: &quot;&lt;b&gt;&quot;" in shown
    assert "<b>Warning:</b> &lt;w&gt;" in shown
    assert "&lt;said&gt;" in shown


def test_progress_is_one_line_that_changes_and_goes(embedded: Connection, notebook: Display) -> None:
    embedded.operator("table", "merge", input_path="in", output_path="merged_in_notebook")

    assert any("1 of 1 task" in text for text in notebook.shown)
    assert notebook.shown[-1] == ""


def test_progress_at_a_server_is_shown_too(remote: Connection, notebook: Display, tmp_path: Path) -> None:
    notebook.touches["running"] = tmp_path / "wake"

    remote.operator("test", "nap", seconds=60, wake=str(tmp_path / "wake"))

    assert [text for text, _ in groupby(notebook.shown)] == ["running", ""]


def test_the_steps_of_a_workflow_are_told_in_a_notebook(embedded: Connection, notebook: Display) -> None:
    steps = {"step_1": {"parameters": {"database_name": "shop", "storage_path": "in", "table_name": "told"}}}

    embedded.workflow("table", "infer", steps, run=True)

    assert "step_1: succeeded" in notebook.shown


def test_who_reads_the_log_sees_no_more_of_it_because_of_the_progress(embedded: Connection, notebook: Display) -> None:
    heard: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = heard.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        embedded.operator("table", "merge", input_path="in", output_path="merged_in_notebook")
    finally:
        logging.getLogger().removeHandler(handler)

    assert notebook.shown
    assert [
        record.getMessage() for record in heard if record.levelno < logging.WARNING and "mason" in record.name
    ] == []


def test_calls_at_once_leave_the_log_as_it_was() -> None:
    names = ("mason", "mason.pipeline")
    before = [logging.getLogger(name).level for name in names]
    first, second = show_log_of_jobs(StreamLine(io.StringIO())), show_log_of_jobs(StreamLine(io.StringIO()))

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)  # the one that began first is over first, as threads may be
    told = logging.LogRecord("mason.pipeline", logging.INFO, "", 1, "a line that nobody asked for", (), None)
    is_heard = logging.getLogger("mason.pipeline").filter(told)
    is_listening = logging.getLogger("mason.pipeline").isEnabledFor(5)
    second.__exit__(None, None, None)

    assert (bool(is_heard), is_listening) == (False, True)
    assert [logging.getLogger(name).level for name in names] == before


def test_a_plain_script_prints_nothing_even_when_something_goes_wrong(
    m: Connection, capfd: pytest.CaptureFixture[str]
) -> None:
    m.operator("table", "merge", input_path="in", output_path="silent")
    with pytest.raises(NotFound):
        m.operator("table", "get", database_name="shop", table_name="none")

    assert capfd.readouterr() == ("", "")


def test_progress_that_was_asked_for_is_on_stderr_and_not_when_it_was_declined(
    embedded: Connection, notebook: Display, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.operator("table", "merge", input_path="in", output_path="quiet", progress=False)
    assert notebook.shown == []
    monkeypatch.delitem(sys.modules, "IPython")
    embedded.operator("table", "merge", input_path="in", output_path="told", progress=True)

    out, err = capfd.readouterr()
    assert out == ""
    assert "1 of 1 task, 2 records" in err
    assert logging.getLogger("mason").level == logging.NOTSET


def test_a_line_on_a_terminal_is_drawn_over_and_gone_at_the_end() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    with StreamLine(terminal) as line:
        line.show("one")
        line.show("one")
        line.show("two")

    assert terminal.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo\r\x1b[K"


def test_how_far_a_job_is_comes_from_its_record() -> None:
    record = {"Status": "running", "Tasks": 8, "TasksDone": 2, "InputBytes": 100, "InputBytesDone": 50, "RowsIn": 7}

    assert (
        progress_text({**record, "SecondsLeft": 3}) == "[##########----------]  50%  2 of 8 tasks, 7 records, 3 s left"
    )
    assert progress_text({"Status": "queued"}) == "queued"


@pytest.mark.parametrize(
    "kind",
    [
        pa.int64(),
        pa.timestamp("ns", "Europe/Berlin"),
        pa.decimal256(50, 2),
        pa.list_(pa.field("element", pa.date32(), nullable=False)),
        pa.struct([("a", pa.list_(pa.struct([("b c", pa.decimal128(5, 2))]))), ("d", pa.time64("us"))]),
        pa.map_(pa.string(), pa.list_(pa.int8())),
        pa.large_string(),
        pa.binary(16),
    ],
    ids=str,
)
def test_a_type_is_read_as_arrow_prints_it(kind: pa.DataType) -> None:
    assert parse_printed_type(str(kind)) == kind


def test_bytes_come_back_as_bytes() -> None:
    value = b"\x00\xff'"
    told = json.loads(json_text(value))

    assert rows({"b": "binary"}, {"b": told}, {"b": None}).to_arrow()["b"].to_pylist() == [value, None]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.binary(2), b"\x00\xff"),
        (pa.list_(pa.binary()), [b"\xff", None, b""]),
        (
            pa.struct([("a", pa.list_(pa.struct([("b", pa.binary()), ("c", pa.string())])))]),
            {"a": [{"b": b"x", "c": "x"}]},
        ),
        (pa.map_(pa.string(), pa.binary()), [("k", b"\x01"), ("n", None)]),
    ],
    ids=str,
)
def test_bytes_inside_of_something_come_back_as_bytes(kind: pa.DataType, value: Any) -> None:
    told = json.loads(json_text(value))

    [found] = rows({"v": str(kind)}, {"v": told}).to_arrow()["v"].to_pylist()

    assert found == value


def test_what_does_not_fit_its_column_is_text_and_nothing_is_lost() -> None:
    found = rows(
        {"id": "int64", "x": "extension<unknown>"}, {"id": 1, "x": {"a": 1}}, {"id": "1a", "x": "t"}
    ).to_arrow()

    assert found.to_pydict() == {"id": ["1", "1a"], "x": ['{"a": 1}', "t"]}


def test_data_of_different_kinds_are_a_table_all_the_same() -> None:
    found = response({"Name": "a", "Size": 1}, {"Name": "b", "Size": "large"}, 5).to_arrow()

    assert found.to_pydict() == {"Name": ["a", "b", None], "Size": ["1", "large", None], "Value": [None, None, 5]}
    assert response().to_arrow().num_rows == 0


def test_rows_that_were_not_kept_are_not_taken_for_none() -> None:
    kept = response(DataLeftOut=True)

    assert "left out" in kept.warnings[0]
    with pytest.raises(TooLarge, match="output_path"):
        kept.to_arrow()


def test_an_error_carries_the_response(embedded: Connection) -> None:
    with pytest.raises(MasonError) as caught:
        embedded.operator("table", "get", database_name="shop", table_name="none")

    found = caught.value.record
    assert isinstance(found, CallResponse)
    assert found.status == 404
    assert found.errors == (str(caught.value),)
    assert repr(found) == "<response 404: 1 errors, 0 data>"
