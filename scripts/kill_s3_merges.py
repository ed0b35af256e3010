"""Kills merges from S3 to S3 midway, and looks whether the table is the old one or the new one: `--kills 10`.

The driver gets a SIGKILL at a random moment of the tasks or of the commit. Then a reader of Mason's must see one whole
version, and in the end the next merge must work, and leave to those who only list the prefix that version alone. A file
of somebody else's stays where it is.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location
from mason.pipeline.tables.commit import open_table
from tests.seaweed import Seaweed, running_seaweed

LOG = logging.getLogger("kill_s3_merges")
SCRIPTS = Path(__file__).resolve().parent
PROJECT = SCRIPTS.parent

PHASES = {"tasks": 0.3, "commit": 0.1}
"""Within how many seconds from the beginning of a phase a kill comes."""
FILES = 4
ROWS = 2_000
NOTE = b"It is always there."


@dataclass(frozen=True)
class Kill:
    """One kill: the phase that it hit, the last thing that was told, and what was found afterwards."""

    phase: str
    step: str
    outcome: str


class S3Site:
    """A bucket with inputs and an output, and the commands on them."""

    def __init__(self, folder: Path, server: Seaweed, *, is_broken: bool = False) -> None:
        self._folder, self._server, self._is_broken = folder, server, is_broken
        self._bucket = server.bucket()
        self._storage = S3StorageClient(server.configuration())
        self.version = 0

    def set_up(self) -> None:
        """Configure, register, and merge a first version."""
        self._folder.mkdir(parents=True, exist_ok=True)
        roles = {"metastore_engine": "s3", "storage_engine": "s3", "execution_engine": "local"}
        keys = {"access_key": "{{AWS_ACCESS_KEY_ID}}", "secret_key": "{{AWS_SECRET_ACCESS_KEY}}"}
        s3 = {"endpoint": self._server.endpoint, "aws_region": "us-east-1", **keys}
        clients = {"s3": {"configuration": s3}, "local": {"configuration": {}}}
        (self._folder / "s3.yaml").write_text(yaml.safe_dump({**roles, "clients": clients}), encoding="utf-8")
        self.must("config", "s3.yaml")
        self.must("register", str(PROJECT / "mason" / "examples" / "operators"))
        self.given()
        self.must(*self.merge)
        self._server.client().put_object(Bucket=self._bucket, Key="out/_NOTE", Body=NOTE)

    def has_note(self) -> bool:
        """Say whether a file of somebody else's is below the prefix."""
        found = self._server.client().list_objects_v2(Bucket=self._bucket, Prefix="out/_NOTE")
        return bool(found.get("Contents"))

    @property
    def merge(self) -> list[str]:
        places = f"input_path:{self._bucket}/in,output_path:{self._bucket}/out"
        return ["operator", "table", "merge", "-p", places]

    def given(self) -> None:
        """Write the next version of the inputs."""
        self.version += 1
        lines = "".join(f"{each},{self.version}\n" for each in range(ROWS // FILES))
        for number in range(FILES):
            content = f"id,version\n{lines}".encode()
            self._server.client().put_object(Bucket=self._bucket, Key=f"in/{number}.csv", Body=content)

    def must(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "mason", *arguments]
        done = subprocess.run(command, cwd=self._folder, env=self._environment(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"mason {' '.join(arguments)}: {done.stdout}{done.stderr}")

    def start(self, phases: Path) -> subprocess.Popen[bytes]:
        """Start a merge that tells its phases."""
        phases.write_text("", encoding="utf-8")
        broken = {"PHASES_BROKEN": "1"} if self._is_broken else {}
        return subprocess.Popen(
            [sys.executable, str(SCRIPTS / "mason_on_s3_in_phases.py"), *self.merge],
            cwd=self._folder,
            env=self._environment(PHASES=str(phases), **broken),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def reader(self) -> set[int] | None:
        """The versions that the rows of the table are of, as Mason reads it; None if it is not whole."""
        filesystem, path = self._storage.filesystem(), f"{self._bucket}/out"
        record = open_table(Location(path, self._storage.address())).current()
        try:
            files = [pq.read_table(each.place_in(path), filesystem=filesystem) for each in record.files]  # type: ignore[union-attr]
        except (OSError, AttributeError):
            return None
        whole = sum(each.num_rows for each in files) == ROWS
        return {value for each in files for value in each["version"].to_pylist()} if whole else None

    def outsider(self) -> set[int]:
        """What somebody sees who reads all Parquet files below the prefix."""
        seen = pq.read_table(f"{self._bucket}/out", filesystem=self._storage.filesystem())
        return set(seen["version"].to_pylist())

    def _environment(self, **variables: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        places = {"HOME": self._folder, "MASON_HOME": self._folder / "home", "MASON_RUNTIME_DIR": self._folder / "run"}
        told = {name: str(place) for name, place in places.items()}
        return {**kept, **told, **self._server.environment(), "PYTHONPATH": str(PROJECT), **variables}

    @property
    def phases(self) -> Path:
        return self._folder / "phases"


def kill_merges(site: S3Site, phase: str, kills: int, chance: random.Random) -> Iterator[Kill]:
    """Kill until there were so many hits in the phase, and yield those."""
    hits = 0
    for _ in range(10 * kills):
        kill = _kill_once(site, phase, chance.uniform(0, PHASES[phase]))
        if kill.phase == phase and kill.outcome != "too late":
            hits += 1
            LOG.info("killed in the %s, after %s: %s", kill.phase, kill.step, kill.outcome)
            yield kill
        if hits == kills or kill.outcome == "broken":
            return
    raise RuntimeError(f"only {hits} of {kills} kills hit the {phase}")


def _kill_once(site: S3Site, phase: str, within: float) -> Kill:
    before = site.reader()
    site.given()
    process = site.start(site.phases)
    while f"{phase} begin" not in _told(site) and process.poll() is None:
        time.sleep(0.002)
    time.sleep(within)
    process.send_signal(signal.SIGKILL)
    process.wait()
    last = _told(site)[-1]
    if process.returncode != -signal.SIGKILL:
        return Kill(last.partition(" ")[0], last, "too late")
    found = site.reader()
    outcome = "old" if found == before else "new" if found == {site.version} else "broken"
    outcome = outcome if site.has_note() else "broken"
    return Kill(last.partition(" ")[0], last, outcome)


def _told(site: S3Site) -> Sequence[str]:
    return site.phases.read_text(encoding="utf-8").splitlines() or ["plan"]


def problems_after(site: S3Site) -> list[str]:
    """Merge once more, and return what is not as it should be."""
    site.given()
    site.must(*site.merge)
    wanted = {site.version}
    seen = {"reader": site.reader(), "outsider": site.outsider()}
    return [f"{who} sees {what}, not {wanted}" for who, what in seen.items() if what != wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10, help="how many hits in each phase")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--broken", action="store_true", help="with a commit that is not atomic: must find it")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name, running_seaweed(Path(name) / "seaweed") as server:
        site = S3Site(Path(name) / "site", server, is_broken=options.broken)
        site.set_up()
        kills = [kill for phase in PHASES for kill in kill_merges(site, phase, options.kills, chance)]
        found = problems_after(site)
    LOG.info("%s %s", dict(Counter((kill.phase, kill.outcome) for kill in kills)), found)
    return 1 if found or any(kill.outcome == "broken" for kill in kills) else 0


if __name__ == "__main__":
    sys.exit(main())
