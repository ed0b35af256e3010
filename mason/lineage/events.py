"""Events as OpenLineage has them. Only who tells lineage imports this: it takes the package openlineage-python."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
    sql_job,
    tags_run,
)

from mason import __version__
from mason.lineage.datasets import DatasetFacts
from mason.lineage.stories import Moment, Said, Subject

PRODUCER = f"urn:mason-data:{__version__}"


def event(moment: Moment, subject: Subject, said: Said, namespace: str) -> RunEvent:
    """Return the event that tells what happened."""
    return RunEvent(
        eventType=RunState[moment.value],
        eventTime=datetime.now(UTC).isoformat(timespec="milliseconds"),
        run=Run(subject.id, facets=_run_facets(subject, said, namespace)),
        job=Job(namespace, subject.name, facets=_job_facets(subject, said)),
        inputs=[_input(each) for each in said.inputs],
        outputs=[_output(each) for each in said.outputs],
        producer=PRODUCER,
    )


def _run_facets(subject: Subject, said: Said, namespace: str) -> dict[str, Any]:
    facets: dict[str, Any] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(__version__, "Mason", producer=PRODUCER)
    }
    if subject.parent:
        root = subject.root
        facets["parent"] = parent_run.ParentRunFacet(
            parent_run.Run(subject.parent.id),
            parent_run.Job(namespace, subject.parent.name),
            parent_run.Root(parent_run.RootRun(root.id), parent_run.RootJob(namespace, root.name)),
            producer=PRODUCER,
        )
    if said.error:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(said.error, "Python", producer=PRODUCER)
    if said.tags:
        tags = [tags_run.TagsRunFacetFields(key, value, "MASON") for key, value in said.tags.items()]
        facets["tags"] = tags_run.TagsRunFacet(tags, producer=PRODUCER)
    return facets


def _job_facets(subject: Subject, said: Said) -> dict[str, Any]:
    facets: dict[str, Any] = {
        "jobType": job_type_job.JobTypeJobFacet("BATCH", "MASON", subject.kind, producer=PRODUCER)
    }
    if said.query:
        facets["sql"] = sql_job.SQLJobFacet(said.query, "spark", producer=PRODUCER)
    return facets


def _input(facts: DatasetFacts) -> InputDataset:
    counts: dict[str, Any] = {}
    if _is_counted(facts):
        kind = input_statistics_input_dataset.InputStatisticsInputDatasetFacet
        counts["inputStatistics"] = kind(facts.rows, facts.bytes, facts.files, producer=PRODUCER)
    return InputDataset(facts.namespace, facts.name, facets=_schema(facts.columns), inputFacets=counts)


def _output(facts: DatasetFacts) -> OutputDataset:
    counts: dict[str, Any] = {}
    if _is_counted(facts):
        kind = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        counts["outputStatistics"] = kind(facts.rows, facts.bytes, facts.files, producer=PRODUCER)
    return OutputDataset(facts.namespace, facts.name, facets=_schema(facts.columns), outputFacets=counts)


def _is_counted(facts: DatasetFacts) -> bool:
    return any(each is not None for each in (facts.rows, facts.bytes, facts.files))


def _schema(columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    if not columns:
        return {}
    fields = [schema_dataset.SchemaDatasetFacetFields(name, kind) for name, kind in columns]
    return {"schema": schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER)}
