"""What is imported once, in the process that the children of a server are made from: most calls need it."""

import mason.api.processes.child
import mason.clients.local.execution
import mason.clients.spark.execution
import mason.pipeline.jobs.merge.plan
import mason.pipeline.sql.duckdb_engine  # noqa: F401
