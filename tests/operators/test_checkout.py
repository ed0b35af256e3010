"""Checkouts are made by any number of processes at once, and made anew when somebody changed them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from mason.operators.registration.checkout import checkout
from mason.util.environment import MasonEnvironment

FILES = {"operator.yaml": b"command: one\n", "deep/operator.py": b"pass\n"}
ROUNDS = 60


def checkout_many(home: Path) -> list[dict[str, bytes]]:
    env = MasonEnvironment(home)
    return [content(checkout(env, f"{number:064x}", FILES)) for number in range(ROUNDS)]


def content(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_many_processes_check_out_the_same_versions_at_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as pool:
        seen = list(pool.map(checkout_many, [tmp_path] * 4))

    assert seen == [[FILES] * ROUNDS] * 4
    assert sorted(each.name for each in (tmp_path / "objects").iterdir()) == [f"{n:064x}" for n in range(ROUNDS)]


def test_a_changed_checkout_is_made_anew(tmp_path: Path) -> None:
    env = MasonEnvironment(tmp_path)
    folder = checkout(env, "a" * 64, FILES)
    (folder / "operator.yaml").chmod(0o644)
    (folder / "operator.yaml").write_text("changed")
    (folder / "stranger").write_text("new")

    assert content(checkout(env, "a" * 64, FILES)) == FILES
