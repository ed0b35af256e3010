"""A small merge as a whole command on a warm server, beside a bare client of Spark Connect on the same server.

.venv/bin/python -m benchmarks.small_merge [--rounds 3]
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.contestants import remove
from benchmarks.data import write_small_files
from benchmarks.equality import Written, proven_equal
from benchmarks.jobs import CSV
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.profiling import profile_command
from benchmarks.script import MASON, PROJECT, Script, script
from mason.clients.spark.server.record import TOKEN, ServerRecord, server_folders
from mason.clients.spark.server.runtime import runtime_folder

AT_MOST = 1.5
WARM_UPS = 3
ROWS = 300
MOST_SECONDS = 180
COLUMNS = {name: how for name, how in CSV.columns.items() if name != "extra"}
CONFIGURATION = """\
id: bench
metastore_engine: local
storage_engine: local
execution_engine: spark
clients:
  spark:
    configuration:
      runner:
        type: local
        warm: always
"""


def main() -> None:
    with script(__doc__, rounds=15) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Write the files, start a server and measure."""
    folder = running.folder
    write_small_files(folder / "in")
    (folder / "config.yaml").write_text(CONFIGURATION, encoding="utf-8")
    run([MASON, "config", str(folder / "config.yaml")])
    run([MASON, "register", str(PROJECT / "mason" / "examples" / "operators")])
    parameters = f"input_path:{folder / 'in'},output_path:{folder / 'out'}"
    merge = ["operator", "table", "merge", "-c", "bench", "-p", parameters]
    run([MASON, *merge])
    (folder / "bare").mkdir()
    places = (str(folder / "in"), str(folder / "bare" / "all.parquet"))
    bare = BareClient.of_the_server("bare_client.py", *places, expected=str(ROWS))
    contestants = [
        Contestant("bare Connect client", seconds(bare.run)),
        Contestant("Mason", seconds(lambda: run([MASON, *merge])), lambda: remove(folder / "out")),
    ]
    rival, ours = interleaved(contestants, running.rounds, warm_ups=WARM_UPS)
    written = [Written(rival.label, folder / "bare"), Written(ours.label, folder / "out")]
    proven_equal(written, COLUMNS, but={"code"})  # the bare client makes numbers of codes
    comparison = Comparison("the whole command", ours, rival, limit=AT_MOST)
    result = Result("small_merge", f"{ROWS} rows in 3 CSV files", [comparison])
    if running.wants_profile(result):
        what = "the command, without the server"
        return replace(result, profile=profile_command(what, merge, folder))
    return result


class BareClient:
    """Runs the bare client against a server, always with the same session id."""

    def __init__(self, port: int, token: str, program: str, arguments: Sequence[str], expected: str) -> None:
        url = f"sc://localhost:{port}/;session_id={uuid.uuid4()}"
        self._command = [sys.executable, str(Path(__file__).parent / program), url, *arguments]
        self._expected = expected
        self._environment = {**os.environ, "SPARK_CONNECT_AUTHENTICATE_TOKEN": token}

    @classmethod
    def of_the_server(cls, program: str, *arguments: str, expected: str) -> BareClient:
        """Return the client of the one server that Mason has started."""
        (place,) = server_folders(runtime_folder())
        server = ServerRecord.read(place)
        if server is None:
            raise RuntimeError("The warm server has left no word of itself.")
        return cls(server.port, (place / TOKEN).read_text(encoding="utf-8"), program, arguments, expected)

    def run(self) -> None:
        told = run(self._command, self._environment)
        if told.strip() != self._expected:
            raise RuntimeError(f"The bare client says {told}.")


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} … ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
