"""Makes a Java that starts Spark in a third of the time, for the tests, which start it often; prints its home.

It is the Java of this machine, started with the simple compiler and with an archive of the classes that Spark loads.
What Spark computes is the same. Users do not get it: queries that run for longer would take twice as long.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import free_port, spark_environment, spark_home

_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ARCHIVE = "spark.jsa"
_WORK = """
import os, subprocess, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print(spark.range(9).selectExpr("id % 7 as k", "cast(id as string) as t").groupBy("k").count().collect())
spark.range(9).write.parquet(sys.argv[1])
asked = '''
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
frame = spark.read.parquet(sys.argv[1])
print(frame.mapInArrow(lambda batches: batches, "id long").toArrow())
print(spark.sql("select id, sum(b.id) s from {t} a join {t} b using (id) group by id order by s", t=frame).collect())
'''
plain = {name: value for name, value in os.environ.items() if "SPARK" not in name and name != "MASTER"}
subprocess.run([sys.executable, "-c", asked, *sys.argv[1:]], env=plain, check=True)
spark.stop()
"""


def quick_java() -> Path:
    """Return the home of the quick Java, which is made unless it is there."""
    real = java_home()
    home = _cache() / f"java-{_digest(real)}"
    if not (home / "bin" / "java").exists():
        with tempfile.TemporaryDirectory(dir=_cache()) as folder:
            made = Path(folder) / "java"
            _link(real, made)
            _write_java(made, real, f"{_OPTIONS} -Xlog:disable")
            _run_spark(made, Path(folder))
            _write_java(made, real, f"{_OPTIONS} -XX:SharedArchiveFile={home / _ARCHIVE} -Xlog:disable")
            shutil.rmtree(home, ignore_errors=True)
            made.rename(home)
    return home


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mason"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(real: Path) -> str:
    """Another Java, and other or moved jars, take another archive."""
    jars = sorted(f"{jar} {jar.stat().st_mtime_ns}" for jar in (spark_home() / "jars").iterdir())
    told = [(real / "release").read_text(encoding="utf-8"), str(real), _OPTIONS, _WORK, *jars]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _link(real: Path, made: Path) -> None:
    (made / "bin").mkdir(parents=True)
    for each in (*real.iterdir(), *(real / "bin").iterdir()):
        place = made / each.relative_to(real)
        if not place.exists():
            place.symlink_to(each)


def _write_java(made: Path, real: Path, options: str) -> None:
    java = made / "bin" / "java"
    java.unlink(missing_ok=True)
    java.write_text(f'#!/bin/sh\nexec {real}/bin/java {options} "$@"\n', encoding="utf-8")
    java.chmod(0o755)


def _run_spark(made: Path, folder: Path) -> None:
    """Have Spark load what the tests will want, as a server for Connect and as a plain session."""
    script = folder / "work.py"
    script.write_text(_WORK, encoding="utf-8")
    port = free_port()
    conf = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={made / _ARCHIVE}",
    }
    options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    submit = [str(spark_home() / "bin" / "spark-submit"), *options, str(script), str(folder / "table")]
    done = subprocess.run(
        [*submit, f"sc://localhost:{port}"],
        env=spark_environment(made),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"Spark did not run on {made}:\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    sys.stdout.write(f"{quick_java()}\n")
