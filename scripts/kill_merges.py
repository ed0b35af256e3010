"""Kills merges midway, and looks whether the table is the old one or the new one: `scripts/kill_merges.py --kills 10`.

The driver of the merge, a Python worker of Spark's or the warm Spark server gets a SIGKILL at a random moment of the
plan, the tasks or the commit. Then a reader of Mason's and an outsider who lists the folder must see one whole version,
a file of somebody else's must be in it, the record of the job must tell what became of it, and the next merge must work
and leave nothing behind.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from mason.clients.spark.server.record import ServerRecord, server_folders
from mason.pipeline.storage.format_names import format_of_name
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.room import room_of
from mason.state.home import read_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment

LOG = logging.getLogger("kill_merges")
SCRIPTS = Path(__file__).resolve().parent
PROJECT = SCRIPTS.parent

ENGINES = {"driver": ("here", "warm"), "worker": ("warm",), "server": ("warm",)}
"""Who is killed, and on which engines."""
PHASES = ("plan", "tasks", "commit")
WRITING = "tasks writing"
"""Nobody tells this: it is seen from outside."""

MOMENTS = {
    "plan": {"plan begin": 0.05, "plan read": 0.05, "plan end": 0.01},
    "tasks": {"tasks mkdir": 0.03, "tasks rename": 0.03, "tasks run": 0.3, WRITING: 0.3},
    "commit": {
        **{f"commit {step}": 0.03 for step in ("begin", "link", "write", "unlink", "fsync", "mkdir", "rename")},
        "commit exchange": 0.1,
    },
}
"""What must have been told before a kill, and within how many seconds from then it comes."""

FILES = 6
NOTE = "It is always there."
STOPPED = "The warm Spark server was stopped while the job ran."
ENGINE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: {engine}\nclients:\n{clients}"
CLIENTS = {
    "here": ("local", "  local: {{configuration: {{}}}}\n"),
    "warm": (
        "spark",
        "  spark:\n    configuration:\n      runner:\n        type: local\n        warm: always\n        conf:\n"
        "          spark.eventLog.enabled: true\n          spark.eventLog.compress: false\n"
        "          spark.eventLog.dir: {events}\n",
    ),
}

State = tuple[int, int] | None
"""The rows of a table and the sum of their numbers; None where there is no whole table."""


@dataclass(frozen=True)
class Kill:
    """One kill, and what was found afterwards."""

    victim: str
    engine: str
    phase: str
    step: str
    outcome: str
    problems: Sequence[str]


@dataclass
class Site:
    """A folder with inputs, an output and a home of its own, and the commands in it."""

    folder: Path
    broken: bool = False
    version: int = 0
    old: State = None
    """The table as it was before the merge that is under way, or as it is."""
    known: set[str] = field(default_factory=set)
    """The jobs whose records were looked at."""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def set_up(self) -> None:
        """Configure, register, and merge a first version."""
        (self.folder / "configs").mkdir(parents=True)
        self.events.mkdir()
        for name, (engine, clients) in CLIENTS.items():
            text = ENGINE.format(engine=engine, clients=clients.format(events=self.events.as_uri()))
            (self.folder / "configs" / f"{name}.yaml").write_text(text, encoding="utf-8")
        self.must("config", "configs")
        self.must("register", str(PROJECT / "mason" / "examples" / "operators"))
        self.given()
        self.must(*merge_command("here"))
        self.note.parent.mkdir()
        self.note.write_text(NOTE, encoding="utf-8")
        self.look_up()

    def look_up(self) -> None:
        """Take what there is now for what was there before the next merge."""
        records = read_state(MasonEnvironment(self.folder / "home")).list_records(RecordKind.JOB)
        self.old, self.known = self.reader(), {record.id for record in records}

    @property
    def output(self) -> Path:
        return self.folder / "out"

    @property
    def room(self) -> Path:
        """Where Mason keeps what belongs to the table and is not its data."""
        return Path(room_of(str(self.output)))

    @property
    def note(self) -> Path:
        """A file of somebody else's in the table's folder."""
        return self.output / "docs" / "notes.md"

    @property
    def events(self) -> Path:
        """Where Spark writes down what it does."""
        return self.folder / "events"

    def given(self, name: str = "in") -> State:
        """Write the next version of the inputs, one record of which does not fit, and return what they amount to."""
        self.version += 1
        rows, first = 200 + self.version, 1_000_000 * self.version
        (self.folder / name).mkdir(exist_ok=True)
        for number in range(FILES):
            lines = "".join(f"{first + row},x\n" for row in range(rows))
            (self.folder / name / f"{number}.csv").write_text(f"n,t\n{lines}", encoding="utf-8")
        with open(self.folder / name / "3.csv", "a", encoding="utf-8") as stream:
            stream.write("1\n")
        return FILES * rows, FILES * sum(range(first, first + rows))

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in ("PATH", "LANG", "JAVA_HOME", "MASON_CLASS_ARCHIVES")
            if name in os.environ
        }
        places = {"HOME": self.folder, "MASON_HOME": self.folder / "home", "MASON_RUNTIME_DIR": self.folder / "runtime"}
        path = os.pathsep.join([str(PROJECT), str(SCRIPTS)])
        return {**kept, **{name: str(place) for name, place in places.items()}, "PYTHONPATH": path, **variables}

    def mason(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mason", *arguments],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def must(self, *arguments: str) -> str:
        done = self.mason(*arguments)
        if done.returncode:
            raise RuntimeError(f"mason {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *arguments: str, **variables: str) -> Merging:
        """Start a command that tells its phases."""
        phases = self.folder / f"phases-{next(self.numbers)}"
        phases.touch()
        broken = {"PHASES_BROKEN": "1"} if self.broken else {}
        process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / "mason_in_phases.py"), *arguments],
            cwd=self.folder,
            env=self.environment(PHASES=str(phases), **broken, **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return Merging(process, phases)

    def reader(self) -> State:
        """The table as its newest commit has it."""
        commit = TableFolder(str(self.output)).current()
        return _amount([self.output / each.path for each in commit.files]) if commit else None

    def outsider(self) -> State:
        """The table as somebody sees it who reads all files in its folder."""
        return _amount(list(self.output.glob("part-*")))

    def leftovers(self) -> list[str]:
        """What lies beside the table and should not, and what is kept as a former version and is not what that was."""
        beside = [each.name for name in ("staging/*", "making/*", "pending.*") for each in self.room.glob(name)]
        data = [str(each) for each in self.room.rglob("*") if each.is_file() and format_of_name(each.name)]
        commits = list(TableFolder(str(self.output)).history())
        former = {
            after.id: {f"{each.path}.kept" for each in before.files} for after, before in itertools.pairwise(commits)
        }
        kept = {each.name: {file.name for file in each.glob("part-*")} for each in self.room.glob("kept/*")}
        wrong = [f"kept/{name}" for name, files in kept.items() if former.get(name) != files]
        return sorted([*beside, *data, *wrong])

    def jobs(self) -> dict[str, str]:
        """The status of every job, by its id."""
        told: dict[str, Any] = json.loads(self.must("operator", "job", "list", "-c", "here"))
        return {each["JobID"]: each["Status"] for each in told["Data"]}

    def server(self) -> ServerRecord | None:
        records = (ServerRecord.read(folder) for folder in server_folders(self.folder / "runtime" / "spark"))
        return next((each for each in records if each and each.server.alive), None)

    def busy_workers(self) -> list[int]:
        """The Python workers that are writing what a merge stages."""
        server = self.server()
        return [each for each in (python_workers(server.server.pid) if server else []) if self.writes(each)]

    def writes(self, pid: int) -> bool:
        """Whether a process has a part of the next version open."""
        staged = str(self.room / "staging")
        return any(file.startswith(staged) and "/part-" in file for file in open_files(pid))

    def spark_jobs(self) -> Counter[str]:
        """How many jobs Spark has begun and ended."""
        logs = [file for file in self.events.rglob("events_*") if file.is_file()]
        lines = [line for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
        events = Counter(json.loads(line)["Event"] for line in lines if line.endswith("}"))
        return Counter({name: events[f"SparkListenerJob{name}"] for name in ("Start", "End")})

    def close(self) -> None:
        self.mason("spark", "stop")


@dataclass(frozen=True)
class Merging:
    """A merge under way."""

    process: subprocess.Popen[str]
    phases: Path

    def told(self) -> list[str]:
        return self.phases.read_text(encoding="utf-8").splitlines()

    def wait_for(self, line: str) -> bool:
        """Return whether the merge came to where it tells this."""
        while line not in self.told():
            if self.process.poll() is not None:
                return line in self.told()
            time.sleep(0.002)
        return True

    def ended(self) -> tuple[int, str]:
        """Wait for the end and return the exit code and all that was said."""
        stdout, stderr = self.process.communicate(timeout=300)
        return self.process.returncode, stdout + stderr


def merge_command(engine: str, mode: str = "replace", inputs: str = "in") -> list[str]:
    """Return the arguments of a merge."""
    parameters = f"input_path:{inputs},output_path:out,mode:{mode}"
    return ["operator", "table", "merge", "-c", engine, "-p", parameters]


def descendants(pid: int, without: Collection[int] = ()) -> Iterator[int]:
    """Yield the processes that a process has started, and those that these have; not some, and what these have."""
    try:
        children = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return
    for child in map(int, " ".join(children).split()):
        if child not in without:
            yield child
            yield from descendants(child, without)


def python_workers(server: int) -> list[int]:
    """Return the Python workers of a Spark server: the children of its daemons."""
    daemons = [each for each in descendants(server) if "pyspark.daemon" in _command(each)]
    return [each for each in daemons if _parent(each) in daemons]


def open_files(pid: int) -> list[str]:
    """Return what a process has open; nothing of one that is gone."""
    found = []
    for handle in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            found.append(str(handle.readlink()))
        except OSError:
            continue
    return found


def kill_merges(
    site: Site, victim: str, engine: str, phase: str, kills: int, chance: random.Random, *only: str
) -> Iterator[Kill]:
    """Kill until there were so many hits in the phase, and yield every kill, those in other phases too.

    `only` are the steps of the phase at which to kill; at any if none is named.
    """
    moments, hits = [(line, within) for line, within in MOMENTS[phase].items() if not only or line in only], 0
    chance.shuffle(moments)
    for attempt in range(10 * kills):
        if hits == kills:
            return
        line, within = moments[attempt % len(moments)]
        kill = _kill_once(site, victim, engine, line, chance.uniform(0, within), chance)
        if kill:
            hits += kill.phase == phase
            LOG.info("%s", _line(kill))
            yield kill
    raise RuntimeError(f"only {hits} of {kills} kills of the {victim} hit the {phase}")


def unsettled(site: Site) -> list[str]:
    """Wait until nobody holds a killed job any more and return what its record should not say."""
    end = time.monotonic() + 60
    while "running" in (jobs := site.jobs()).values():
        if time.monotonic() > end:
            break
        time.sleep(1)
    return [f"job {each}: {status}" for each, status in jobs.items() if status not in ("lost", "failed", "succeeded")]


def _kill_once(site: Site, victim: str, engine: str, line: str, delay: float, chance: random.Random) -> Kill | None:
    """Return what came of one kill; None if there was nothing to hit."""
    mode = chance.choice(("replace", "append"))
    given = site.given()
    new = given if mode == "replace" else _together(site.old, given)
    merging = site.start(*merge_command(engine, mode))
    reached = _wait_for_writing(site, merging) if line == WRITING else merging.wait_for(line)
    time.sleep(delay)
    hit = reached and _hit(site, victim, merging, chance)
    told = merging.told()  # that of a driver is read below, when it can tell nothing more
    code, said = merging.ended()
    phase, step = (merging.told() if victim == "driver" else told)[-1].split()
    if not hit or (code == 0 and victim == "driver"):
        site.look_up()
        return None
    problems, outcome = _problems(site, new, code, said, server_died=victim == "server")
    problems += _next_merge(site, engine)
    return Kill(victim, engine, phase, step, outcome, problems)


def _wait_for_writing(site: Site, merging: Merging) -> bool:
    while merging.process.poll() is None:
        if site.writes(merging.process.pid) or site.busy_workers():
            return True
        time.sleep(0.005)
    return False


def _hit(site: Site, victim: str, merging: Merging, chance: random.Random) -> bool:
    pid = merging.process.pid
    if victim != "driver":
        server = site.server()
        targets = [server.server.pid] if server else []
        if server and victim == "worker":
            targets = site.busy_workers() or python_workers(server.server.pid)
        if not targets:
            return False
        pid = chance.choice(targets)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _problems(site: Site, new: State, code: int, said: str, *, server_died: bool) -> tuple[list[str], str]:
    """Return what is wrong, and whether the table is the old or the new one."""
    reader, outsider = site.reader(), site.outsider()
    outcome = "new" if reader == new else "old" if reader == site.old else "broken"
    problems = [f"a reader sees {reader}, not {site.old} or {new}"] if outcome == "broken" else []
    if outsider != reader:
        problems.append(f"an outsider sees {outsider}, a reader {reader}")
    if not site.note.exists() or site.note.read_text(encoding="utf-8") != NOTE:
        problems.append("a file of somebody else's is not in the table's folder any more")
    if code >= 0 and outcome != ("old" if code else "new"):
        problems.append(f"the merge ended with {code}, but the table is {outcome}: {said}")
    if code > 0 and server_died and STOPPED not in said:
        problems.append(f"the merge does not say that the server was stopped: {said}")
    if "Traceback" in said:
        problems.append(said)
    jobs = site.jobs()
    statuses = [status for job, status in jobs.items() if job not in site.known]
    wanted = {0: ["succeeded"], 1: ["failed"]}.get(code, ["running", "lost"])
    if code < 0 and outcome == "new":
        wanted.append("succeeded")
    if any(status not in wanted for status in statuses) or (code >= 0 and not statuses):
        problems.append(f"the merge ended with {code} and the table is {outcome}, but its record says {statuses}")
    return problems, f"{outcome}, {'killed' if code < 0 else f'exit {code}'}, {' '.join(statuses) or 'no record'}"


def _next_merge(site: Site, engine: str) -> list[str]:
    new = site.given()
    done = site.mason(*merge_command(engine))
    problems = [f"the next merge failed: {done.stdout}{done.stderr}"] if done.returncode else []
    if not done.returncode and (site.reader(), site.outsider()) != (new, new):
        problems.append(f"the next merge gave {site.reader()}, {site.outsider()} instead of {new}")
    if site.leftovers():
        problems.append(f"after the next merge there are {site.leftovers()}")
    site.look_up()
    return problems


def _amount(files: Sequence[Path]) -> State:
    try:
        tables = [pq.read_table(file, columns=["n"]) for file in files]
    except (OSError, ValueError):  # a file that is listed and not there, or not whole
        return None
    return sum(each.num_rows for each in tables), sum(pc.sum(each["n"]).as_py() or 0 for each in tables)


def _together(one: State, other: State) -> State:
    return (one[0] + other[0], one[1] + other[1]) if one and other else None


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")
    except OSError:
        return ""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _line(kill: Kill) -> str:
    told = f"{kill.victim:6} on {kill.engine}, in {kill.phase:6} ({kill.step}): {kill.outcome}"
    return "\n  ".join([told, *kill.problems])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10, help="how many in each phase, of each victim")
    parser.add_argument("--victim", choices=[*ENGINES, "all"], default="all")
    parser.add_argument("--broken-commit", action="store_true", help="with a commit that is not atomic: it must fail")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO, stream=sys.stdout)
    LOG.info("seed %s", options.seed)
    chance, victims = random.Random(options.seed), ENGINES if options.victim == "all" else (options.victim,)
    phases = ("commit",) if options.broken_commit else PHASES
    with tempfile.TemporaryDirectory(prefix="mason-kills-") as folder:
        site = Site(Path(folder) / "site", broken=options.broken_commit)
        site.set_up()
        kills = []
        try:
            for victim in victims:
                for engine, phase in itertools.product(ENGINES[victim], phases):
                    kills += list(kill_merges(site, victim, engine, phase, options.kills, chance))
            problems = [problem for kill in kills for problem in kill.problems] + unsettled(site)
        finally:
            site.close()
    for (victim, engine, phase, outcome), count in sorted(
        Counter((each.victim, each.engine, each.phase, each.outcome) for each in kills).items()
    ):
        LOG.info("%3d × %s on %s, in %s: %s", count, victim, engine, phase, outcome)
    LOG.info("%s kills, %s problems", len(kills), len(problems))
    for problem in problems:
        LOG.error("%s", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
