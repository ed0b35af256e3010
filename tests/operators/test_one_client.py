"""A configuration has one client for a name, however many threads ask for it first."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

from mason.configurations.valid_config import Engine

THREADS = 4


def test_threads_that_ask_at_once_get_the_same_client(tmp_path: Path) -> None:
    """Paths are in one storage if their clients are the same object: sixty calls at once were told they are not."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            for _ in range(200):
                engine: Engine[Any] = Engine(
                    role="storage", config_id="here", configurations={"local": {"root": str(tmp_path)}}
                )
                together = Barrier(THREADS)
                asked = [pool.submit(_ask, engine, together) for _ in range(THREADS)]
                assert len({id(each.result()) for each in asked}) == 1
    finally:
        sys.setswitchinterval(interval)


def _ask(engine: Engine[Any], together: Barrier) -> Any:
    together.wait()
    return engine.client
