"""Which tests run in the same process, one after the other: those that share a server, so that it is started once.

Marks of pytest-xdist would say it beside the tests, but newer versions of pytest make it overlook them.
"""

from __future__ import annotations

SERVERS = {
    "Airflow": ("tests/airflow/",),
    "a cluster of Spark": (
        "tests/merge/test_cluster.py",
        "tests/merge/test_engines.py",
        "tests/spark/test_submit.py",
        "tests/table_operators/test_contract.py",
        "tests/table_operators/test_every_engine.py",
        "tests/transform/test_every_runner.py",
        "tests/transform/test_own_code.py",
    ),
    "a Mason at a server": ("tests/connection/",),
    "a place for lineage": ("tests/lineage/",),
}
"""Files and folders whose tests stay together, because they share a server."""

FILES = (
    "tests/api/",
    "tests/merge/test_kills.py",
    "tests/merge/test_progress.py",
    "tests/project/test_together.py",
    "tests/s3/test_every_operator.py",
    "tests/s3/test_kills.py",
    "tests/spark/test_connect.py",
    "tests/spark/test_guards.py",
    "tests/spark/test_other_users.py",
    "tests/spark/test_server_life.py",
    "tests/spark/test_warm_server.py",
    "tests/state/",
    "tests/table_operators/",
)
"""Files whose tests stay together, and folders of such files."""

ON_SPARK = "tests/sql/"
"""A folder of tests of which those with a Spark share one."""


def group_of(test: str) -> str:
    """Return the group of a test; most are a group of their own."""
    file = test.partition("::")[0]
    for server, places in SERVERS.items():
        if file.startswith(places):
            return server
    for place in FILES:
        if file.startswith(place):
            return file
    return f"{ON_SPARK} on Spark" if file.startswith(ON_SPARK) and "spark" in test.partition("::")[2] else test
