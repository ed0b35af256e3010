"""A query of one row as a whole command on a warm server, beside a bare client of Spark Connect on the same server.

.venv/bin/python -m benchmarks.small_query [--rounds 3]
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.profiling import profile_command
from benchmarks.script import MASON, PROJECT, Script, script
from benchmarks.small_merge import CONFIGURATION, WARM_UPS, BareClient, run

AT_MOST = 1.3
STATEMENT = "select name from items where id = 2"


def main() -> None:
    with script(__doc__, rounds=15) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Make a table, start a server and measure."""
    folder = running.folder
    (folder / "shop" / "raw").mkdir(parents=True)
    (folder / "shop" / "raw" / "a.csv").write_text("id,name\n1,a\n2,b\n3,c\n")
    (folder / "config.yaml").write_text(f"{CONFIGURATION}  local:\n    configuration:\n      root: {folder}\n")
    run([MASON, "config", str(folder / "config.yaml")])
    run([MASON, "register", str(PROJECT / "mason" / "examples" / "operators")])
    places = f"input_path:{folder / 'shop' / 'raw'},output_path:{folder / 'shop' / 'items'}"
    run([MASON, "operator", "table", "merge", "-c", "bench", "-p", places])
    query = ["operator", "table", "query", "-c", "bench", "-p", f"database_name:shop,query_string:{STATEMENT}"]
    told = run([MASON, *query])
    if '"name": "b"' not in told:
        raise RuntimeError(told)
    bare = BareClient.of_the_server("bare_query.py", str(folder / "shop" / "items"), STATEMENT, expected="b")
    contestants = [
        Contestant("bare Connect client", seconds(bare.run)),
        Contestant("Mason", seconds(lambda: run([MASON, *query]))),
    ]
    rival, ours = interleaved(contestants, running.rounds, warm_ups=WARM_UPS)
    comparison = Comparison("the whole command", ours, rival, limit=AT_MOST)
    result = Result("small_query", "one row of a table of three", [comparison])
    if running.wants_profile(result):
        return replace(result, profile=profile_command("the command, without the server", query, folder))
    return result


if __name__ == "__main__":
    main()
