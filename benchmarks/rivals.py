"""Other runners of workflows, each in an environment of its own: nothing of them is among Mason's dependencies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Rival:
    """A package, the module here that runs a chain of steps with it, and what it needs in its environment."""

    label: str
    package: str
    module: str
    home: str
    """The variable that names the folder which its records go to."""
    variables: Mapping[str, str] = field(default_factory=dict)
    with_it: Sequence[str] = ()
    """What pip must not choose by itself."""
    argument: str = ""
    """What the module is told beside the folder of its records."""


RIVALS = (
    Rival(
        "Prefect",
        "prefect",
        "benchmarks.workflow_prefect",
        "PREFECT_HOME",
        {
            "PREFECT_LOGGING_LEVEL": "ERROR",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",
        },
        ("fastapi<0.151",),  # Prefect 3.8.8 does not start with a newer one, though it asks for no other
    ),
    *(
        Rival(
            f"Dagster, runs {where}",
            "dagster",
            "benchmarks.workflow_dagster",
            "DAGSTER_HOME",
            {"DAGSTER_DISABLE_TELEMETRY": "1"},
            argument=where,
        )
        for where in ("on disk", "in memory")
    ),
    Rival("Luigi", "luigi", "benchmarks.workflow_luigi", "LUIGI_HOME"),
)


def rival_environment(folder: Path, rival: Rival) -> str:
    """Make a virtual environment with a rival, unless the folder is one, and return its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing {rival.package}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", rival.package, *rival.with_it], check=True)
    return str(python)
