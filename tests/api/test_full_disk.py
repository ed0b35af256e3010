"""A server whose disk is full: it says so where a watchdog looks, and goes on when there is room again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import Start


@pytest.fixture
def small_home(tmp_path: Path) -> Iterator[bool]:
    """Have MASON_HOME on a disk of its own, where the tests may mount one."""
    home = tmp_path / "home"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m,mode=700", "tmpfs", str(home)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield mounted
    if mounted:
        subprocess.run(["umount", "-l", str(home)], check=True)


def test_readyz_says_that_the_disk_of_the_state_is_full_and_how_much_is_missing(
    small_home: bool, start: Start, tmp_path: Path
) -> None:
    server = start()
    assert server.get("/readyz").status_code == 200
    if not small_home:  # nobody fills the disk of the machine
        return
    filler = tmp_path / "home" / "filler"
    with pytest.raises(OSError), open(filler, "wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass

    full = server.get("/readyz")

    assert full.status_code == 503
    told = "is full: 0 of 33,554,432 bytes are free, about 1,048,576 more are needed"
    assert full.json() == {"status": f"the file system of MASON_HOME {told}"}
    server.wait_for_log(f"The file system {tmp_path / 'home'} {told}")
    assert server.get("/healthz").status_code == 200
    filler.unlink()
    assert server.get("/readyz").json()["status"] == "ok"
