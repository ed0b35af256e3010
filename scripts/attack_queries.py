"""Attacks `table query`: sends statements that try to get out, and watches what those do that are let through.

python scripts/attack_queries.py                        20,000 statements, 600 of those that pass, on both engines
python scripts/attack_queries.py --statements 2000 --runs 60 --seed 7
python scripts/attack_queries.py --unchecked            the same without Mason's checks: must find ways out

The engines run in a process of their own. Once they are warm, strace watches that process, the JVM and its workers: a
file beyond the tables, a connection to anybody else, or a program that is started is a way out. Exits 1 if there is
one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.sql.attacks.statements import attacks, passing

_MARK = "/attack-number-"
_CALL = re.compile(r"(openat|connect|execve|getsockname)\((.*)")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PORT = re.compile(r"sin6?_port=htons\((\d+)\)")
_PATIENCE = 180.0
_LOOPBACK = ('"127.0.0.1"', '"::1"', '"::ffff:127.0.0.1"')
_LISTENING = "0A"  # the state of a socket in /proc/net/tcp
# What the C library, Python and Java look at by themselves, which no statement can name.
_OF_THE_SYSTEM = (
    *("/proc/", "/sys/", "/dev/", "/usr/share/zoneinfo/", "/usr/lib/", "/lib/"),
    *("/etc/ld.so.cache", "/etc/localtime"),
)


@dataclass(frozen=True)
class Breach:
    """Something that a statement got to."""

    statement: str
    call: str


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="mason-attack-") as name:
        folder = Path(name)
        found = attack(folder, options.statements, options.runs, options.seed, checked=not options.unchecked)
    for breach in found:
        print(f"{breach.call}\n    {breach.statement}")  # noqa: T201
    print(f"{len(found)} ways out")  # noqa: T201
    sys.exit(int(bool(found)))


def attack(folder: Path, statements: int, runs: int, seed: int, *, checked: bool = True) -> Sequence[Breach]:
    """Send statements to the checks, run some of those that pass on both engines, and return what they got to."""
    secret = folder / "secret" / "canary.txt"
    secret.parent.mkdir()
    secret.write_text("canary\n")
    sent = list(attacks(statements, seed, str(secret), 9))
    passed = passing(sent) if checked else sent
    print(f"{len(sent)} statements, {len(passed)} pass the checks", flush=True)  # noqa: T201
    step = max(len(passed) // runs, 1)
    some = passed[::step][:runs]
    found: list[Breach] = []
    for engine in ("local", "spark"):
        if checked or engine == "spark":  # what is unchecked cannot be said in the words of the local engine
            found += _watch(folder / engine, engine, some, checked=checked)
    return found


def _watch(folder: Path, engine: str, statements: Sequence[str], *, checked: bool) -> Sequence[Breach]:
    folder.mkdir()
    (folder / "statements.json").write_text(json.dumps(list(statements)))
    words = [engine, str(folder), "checked" if checked else "unchecked"]
    command = [sys.executable, "-m", "tests.sql.attacks.victim", *words]
    with open(folder / "log", "wb") as log:
        victim = subprocess.Popen(command, stdout=log, stderr=log, env=_environment(folder), start_new_session=True)
    try:
        _wait(folder / "ready", victim)
        ports = _listening(victim.pid)
        with _traced(victim.pid, folder / "trace"):
            (folder / "go").touch()
            _wait(folder / "done", victim)
    finally:
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
    done = json.loads((folder / "done").read_text())
    print(f"{engine}: {done['answered']} answered, {done['refused']} refused or failed", flush=True)  # noqa: T201
    return list(_breaches(folder, statements, ports))


def _environment(folder: Path) -> Mapping[str, str]:
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "JAVA_HOME", "MASON_CLASS_ARCHIVES") if name in os.environ
    }
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder), "CANARY": "canary", "PYTHONPATH": os.getcwd()}  # noqa: PTH109


def _wait(file: Path, victim: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE * 5
    while not file.exists():
        if victim.poll() is not None or time.monotonic() > end:
            raise RuntimeError(
                f"The engine ended before it wrote {file.name}:\n{(file.parent / 'log').read_text()[-3000:]}"
            )
        time.sleep(0.1)


def _listening(pid: int) -> set[int]:
    """The ports that the engine itself listens on: its parts talk to each other."""
    sockets = {str(link.readlink()) for each in _family(pid) for link in Path(f"/proc/{each}/fd").iterdir()}
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == _LISTENING and f"socket:[{words[9]}]" in sockets:
                ports.add(int(words[1].rpartition(":")[2], 16))
    return ports


def _family(pid: int) -> list[int]:
    """A process and all that it started, but for those that have ended and are still listed: nobody can watch them."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(stat.parent.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


@contextmanager
def _traced(pid: int, log: Path) -> Iterator[None]:
    pids = list(map(str, _family(pid)))
    attached = [word for each in pids for word in ("-p", each)]
    calls = "trace=openat,connect,execve,getsockname"
    command = ["strace", "-f", "-qq", "-s", "4096", "-e", calls, "-o", str(log), *attached]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as strace:
        end = time.monotonic() + _PATIENCE
        while not all(_is_watched(each, strace.pid) for each in pids):
            if strace.poll() is not None or time.monotonic() > end:
                raise RuntimeError(
                    f"strace cannot watch the engine: {strace.stderr.read().decode() if strace.stderr else ''}"
                )
            time.sleep(0.05)
        yield
        strace.send_signal(signal.SIGINT)


def _is_watched(pid: str, by: int) -> bool:
    """Say whether a process is watched, or has ended meanwhile."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True
    return f"TracerPid:\t{by}\n" in status or "State:\tZ" in status


def _breaches(folder: Path, statements: Sequence[str], ports: set[int]) -> Iterator[Breach]:
    number = -1
    allowed = _allowed(folder)
    lines = (folder / "trace").read_text(errors="replace").splitlines()
    calls = [(line, found) for line in lines if (found := _CALL.search(line))]
    # The engine's own sockets: its parts open new ones to each other, of which strace may tell after who connects.
    own = ports | {int(port) for _, found in calls if found[1] == "getsockname" for port in _PORT.findall(found[2])}
    for line, found in calls:
        path = _PATH.search(found[2])
        if found[1] == "getsockname":
            continue
        if path and _MARK in path[1]:
            number = int(path[1].rpartition(_MARK)[2])
        elif number >= 0 and not _harmless(found[1], found[2], path[1] if path else "", allowed, own):
            yield Breach(statements[number], line.partition(" ")[2][:300])


def _harmless(call: str, arguments: str, path: str, allowed: Sequence[str], ports: set[int]) -> bool:
    if call == "execve":
        return False
    if call == "connect" and "AF_UNIX" not in arguments:
        port = _PORT.search(arguments)
        return port is not None and int(port[1]) in ports and any(each in arguments for each in _LOOPBACK)
    return path.startswith(tuple(allowed)) or (call == "openat" and "AT_FDCWD" not in arguments)


def _allowed(folder: Path) -> Sequence[str]:
    programs = {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.getcwd()}  # noqa: PTH109
    java = os.environ.get("JAVA_HOME") or os.path.realpath(shutil.which("java") or "/usr").removesuffix("/bin/java")
    import pyspark

    places = [folder, *programs, java, Path(pyspark.__file__).parent]
    return [*(f"{each}/" for each in places), *_OF_THE_SYSTEM]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unchecked", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
