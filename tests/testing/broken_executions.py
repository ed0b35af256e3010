"""Execution clients with one defect each, and the test of the suite that finds it."""

from __future__ import annotations

from dataclasses import replace

from mason.clients.engines.role import unsupported
from mason.clients.local.execution import LocalExecutionClient
from mason.clients.response import Response
from mason.engines.execution.models.job import JobStatus
from mason.errors import ClientFailed, MasonError, NotFound
from mason.pipeline.sql.query import BadQuery

Good = LocalExecutionClient
FOUND_BY: dict[type[Good], str] = {}


def found_by(test: str):
    def mark(broken: type[Good]) -> type[Good]:
        FOUND_BY[broken] = test
        return broken

    return mark


def answer_test(name: str) -> str:
    return f"test_a_query_gives_the_rows_and_types_that_it_gives_everywhere[{name}]"


class ChangesTheRecord(Good):
    def run_job(self, plan, *, response):
        record, response = super().run_job(plan, response=response)
        return replace(record, details={**record.details, **self.changed(record.details)}), response

    def changed(self, details):
        raise NotImplementedError


class ChangesTheRows(ChangesTheRecord):
    def changed(self, details):
        return {"Rows": [self.changed_row(row) for row in details["Rows"]]}

    def changed_row(self, row):
        raise NotImplementedError


@found_by(answer_test("every type and its nulls"))
class TakesNullForAnEmptyText(ChangesTheRows):
    def changed_row(self, row):
        return {name: "" if value is None else value for name, value in row.items()}


@found_by(answer_test("every type and its nulls"))
class TakesAnEmptyTextForNull(ChangesTheRows):
    def changed_row(self, row):
        return {name: None if value == "" else value for name, value in row.items()}


@found_by(answer_test("every type and its nulls"))
class ForgetsZones(ChangesTheRecord):
    def changed(self, details):
        return {"Columns": [{**each, "Type": each["Type"].replace(", tz=UTC", "")} for each in details["Columns"]]}


@found_by(answer_test("groups with their sums and means"))
class GivesDoublesForDecimals(ChangesTheRows):
    def changed_row(self, row):
        return {name: float(value) + 1e-9 if name == "a" else value for name, value in row.items()}


@found_by(answer_test("lists, and what is in them"))
class GivesListsAsText(ChangesTheRows):
    def changed_row(self, row):
        return {name: str(value) if isinstance(value, list) else value for name, value in row.items()}


@found_by(answer_test("nulls come first"))
class AnswersInAnyOrder(ChangesTheRecord):
    def changed(self, details):
        return {"Rows": details["Rows"][::-1]}


@found_by("test_an_answer_of_several_pages_is_whole_and_in_order")
class GivesTheFirstPageAlone(ChangesTheRecord):
    def changed(self, details):
        return {"Rows": details["Rows"][:1000]}


@found_by("test_no_more_rows_come_back_than_the_limit_and_that_is_said")
class SaysNothingOfMoreRows(Good):
    def run_job(self, plan, *, response):
        return super().run_job(plan, response=Response())[0], response


@found_by("test_an_answer_of_exactly_the_limit_has_no_more")
class AlwaysHasMore(ChangesTheRecord):
    def changed(self, details):
        return {"HasMore": True}


@found_by("test_a_verb_gives_back_the_response_it_was_given[get_job]")
class ForgetsTheResponse(Good):
    def get_job(self, job_id, *, response):
        return super().get_job(job_id, response=response)[0], Response()


@found_by("test_job_types_are_named")
class NamesNoTypes(Good):
    def job_types(self):
        return ""


@found_by("test_plan_job_of_a_type_that_there_is_not_raises_unsupported")
class FailsVaguelyOnOtherTypes(Good):
    def plan_job(self, job, *, response):
        if job.type not in self.job_types():
            raise ClientFailed(f"{job.type} cannot be run.")
        return super().plan_job(job, response=response)


@found_by("test_plan_job_runs_nothing")
class RunsWhatItPlans(Good):
    def plan_job(self, job, *, response):
        plan, response = super().plan_job(job, response=response)
        super().run_job(plan, response=response)
        return plan, response


@found_by("test_plan_job_refuses_a_query_that_is_none[a statement that writes]")
class TakesAnyStatement(Good):
    def plan_job(self, job, *, response):
        try:
            return super().plan_job(job, response=response)
        except BadQuery:
            return None, response


@found_by("test_get_job_that_is_not_there_raises_not_found[of nobody]")
class FindsEveryJob(Good):
    def get_job(self, job_id, *, response):
        try:
            return super().get_job(job_id, response=response)
        except NotFound:
            return None, response


@found_by("test_get_job_finds_a_job_from_elsewhere_and_shows_no_data")
class KeepsTheData(Good):
    def get_job(self, job_id, *, response):
        found, response = super().get_job(job_id, response=response)
        return replace(found, details={**found.details, "Rows": []}), response


@found_by("test_list_jobs_has_every_job_and_the_newest_first")
class ListsTheOldestFirst(Good):
    def list_jobs(self, *, response):
        jobs, response = super().list_jobs(response=response)
        return jobs[::-1], response


@found_by("test_list_jobs_has_every_job_and_the_newest_first")
class ListsOnePage(Good):
    def list_jobs(self, *, response):
        jobs, response = super().list_jobs(response=response)
        return jobs[:3], response


@found_by("test_a_query_that_fails_raises_and_its_record_says_why")
class CallsAFailureASuccess(Good):
    def run_job(self, plan, *, response):
        try:
            return super().run_job(plan, response=response)
        except MasonError:
            return None, response


@found_by("test_a_query_that_fails_raises_and_its_record_says_why")
class GivesNoReason(Good):
    def get_job(self, job_id, *, response):
        found, response = super().get_job(job_id, response=response)
        return replace(found, details={**found.details, "Error": "It failed."}), response


@found_by("test_cancel_job_leaves_one_that_is_over_as_it_is")
class CancelsWhatIsOver(Good):
    def cancel_job(self, job_id, *, response):
        found, response = super().cancel_job(job_id, response=response)
        return replace(found, status=JobStatus.CANCELLED), response


@found_by("test_cancel_job_that_is_not_there_raises_not_found")
class CancelsWhatIsNotThere(Good):
    def cancel_job(self, job_id, *, response):
        try:
            return super().cancel_job(job_id, response=response)
        except NotFound:
            return None, response


@found_by("test_submit_job_returns_while_the_job_runs")
class BlocksUntilTheJobIsOver(Good):
    def submit_job(self, plan, *, token="", response):
        return self.run_job(plan, response=response)


@found_by("test_a_submitted_job_is_found_from_elsewhere_until_it_is_over_and_then")
class ForgetsWhatItAccepted(Good):
    def submit_job(self, plan, *, token="", response):
        accepted, response = super().submit_job(plan, token=token, response=response)
        return replace(accepted, id=accepted.id[::-1]), response


@found_by("test_what_is_submitted_again_with_its_token_is_one_job")
class TakesASubmissionTwice(Good):
    def submit_job(self, plan, *, token="", response):
        return super().submit_job(plan, response=response)


@found_by("test_submissions_without_a_token_are_several_jobs")
class TakesAllSubmissionsForOne(Good):
    def submit_job(self, plan, *, token="", response):
        return super().submit_job(plan, token=token or "none", response=response)


class DeclaresWhatItLacks(Good):
    """Not broken: it lacks verbs and says so."""

    cancel_job = unsupported("what runs here runs to its end")
    list_jobs = unsupported("nobody keeps a list")


class RunsQueriesAlone(Good):
    """Not broken: it has one type of job, and says so."""

    def job_types(self):
        return ["query"]


class LosesTheLastRow(ChangesTheRecord):
    def changed(self, details):
        return {"Rows": details["Rows"][:-1]}


class SaysItHasNoJobsAndRunsThem(Good):
    def job_types(self):
        return []

    def plan_job(self, job, *, response):
        return Good({}).plan_job(job, response=response)


class HasNoJobsAndDoesNotSaySo(Good):
    def plan_job(self, job, *, response):
        raise ClientFailed("It cannot be run.")


FOUND_BY_OPERATORS: dict[type[Good], str] = {
    LosesTheLastRow: "test_files_of_each_format_give_the_same_rows[csv]",
    TakesNullForAnEmptyText: "test_every_type_and_its_nulls_come_back_as_they_are",
    SaysItHasNoJobsAndRunsThem: "test_a_merge_matches_columns_by_name_and_loses_no_row",
    HasNoJobsAndDoesNotSaySo: "test_nested_records_become_flat_tables",
}
