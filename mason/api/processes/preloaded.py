"""What is imported once, in the process that the children of a server are made from: most calls need it."""

from importlib import import_module

import mason.api.processes.child
import mason.pipeline.jobs.merge.plan
import mason.pipeline.sql.duckdb_engine  # noqa: F401
from mason.clients.discovery import engines_of_this_machine

for _name in engines_of_this_machine():
    import_module(f"mason.clients.{_name}.execution")
