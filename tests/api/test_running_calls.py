"""How a call that was cancelled is ended from outside."""

from __future__ import annotations

import importlib
import threading
import time
from pathlib import Path

import pytest

from mason.api.server.running_calls import RunningCalls
from tests.api.support import until


def test_a_call_that_imports_a_module_is_interrupted_only_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.api.server.running_calls._KIND_SECONDS", 0.0)
    go = tmp_path / "go"
    lines = f"import os, time\nopen({str(tmp_path / 'began')!r}, 'w').close()\n"
    (tmp_path / "slow_module_of_a_test.py").write_text(
        f"{lines}while not os.path.exists({str(go)!r}):\n    time.sleep(0.01)\nDONE = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    running, seen = RunningCalls(), list[object]()

    def work() -> None:
        try:
            with running.running("one"):
                seen.append(importlib.import_module("slow_module_of_a_test").DONE)
                while True:
                    time.sleep(0.01)
        except KeyboardInterrupt:
            seen.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    until((tmp_path / "began").exists, "the module is imported")
    for _ in range(3):
        running.interrupt(lambda *_: True)
    go.touch()
    until(lambda: bool(seen), "the module was imported whole")
    while thread.is_alive():
        running.interrupt(lambda *_: True)
        thread.join(0.02)

    assert seen == [True, "interrupted"]
