"""Glue's crawlers: what they crawl, when, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mason.clients.aws.service import AwsService
from mason.clients.glue.cron import aws_schedule
from mason.clients.response import Response
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import AlreadyExists, BadInput, Conflict, MasonError, NotFound
from mason.util.names import did_you_mean

READY = "READY"
_NOTE = re.compile(r"Mason workflow (?P<workflow>\S+), step (?P<step>\S+?)(?:, schedule (?P<expression>.+))?")


@dataclass(frozen=True, kw_only=True)
class Crawl:
    """What a crawler is to do: write tables for what is below a path into a database, when its schedule says so."""

    name: str
    database: str
    path: str
    expression: str
    workflow: str
    """The workflow that it stands for, and below it the step: they are noted at the crawler."""
    step: str

    @property
    def note(self) -> str:
        """What says that the crawler is Mason's."""
        when = f", schedule {self.expression}" if self.expression else ""
        return f"Mason workflow {self.workflow}, step {self.step}{when}"


class Crawlers:
    """The crawlers of an account. `role` is what Glue may do while it crawls."""

    def __init__(self, glue: AwsService, role: str) -> None:
        self._glue = glue
        self._role = role

    def schedules(self) -> list[Schedule]:
        """Return every crawler as a schedule, sorted by name."""
        found = [_schedule(each) for each in self._glue.pages("get_crawlers", "Crawlers")]
        return sorted(found, key=lambda each: each.name)

    def save(self, crawl: Crawl, response: Response) -> None:
        """Create a crawler; one that Mason has made is a warning, and does from now on what is wanted.

        Raises:
            BadInput: the configuration has no role for it, or Glue cannot keep the schedule.
            Conflict: there is one already that somebody else has made, or that has to be changed, but runs.
        """
        wanted = self._to_glue(crawl)
        try:
            self._glue.call("create_crawler", Name=crawl.name, **wanted)
        except AlreadyExists:
            self._change(crawl.name, wanted, response)
            return
        response.add_info(f"Created table crawler {crawl.name}.")

    def plan(self, crawl: Crawl) -> str:
        """Return what `save` would do; nothing is changed.

        Raises:
            BadInput, Conflict: as `save` does.
        """
        wanted = self._to_glue(crawl)
        found = self._find_any(crawl.name)
        what = f"{crawl.path} into database {wanted['DatabaseName']}"
        when = f', schedule "{wanted["Schedule"]}"' if "Schedule" in wanted else ""
        if found is None:
            return f"Would create table crawler {crawl.name}: {what}{when}."
        others = self._others(found, wanted)
        if not others:
            return f"Table crawler {crawl.name} already exists, and does this: {what}{when}."
        if found.get("State", READY) != READY:
            raise _runs(crawl.name, "Change")
        return (
            f"Would change table crawler {crawl.name}: {what}{when}; its former {' and '.join(others)} would give way."
        )

    def start(self, name: str, response: Response) -> None:
        """Start a crawler; one that runs already is a warning.

        Raises:
            NotFound: there is no such crawler.
        """
        try:
            self._glue.call("start_crawler", Name=name)
        except NotFound as error:
            raise self._missing(name) from error
        except Conflict:
            response.add_warning(f"Table crawler {name} is already refreshing.")
            return
        response.add_info(f"Refreshing Table Crawler: {name}")

    def delete(self, name: str) -> None:
        """Delete a crawler that Mason has made; its tables stay.

        Raises:
            NotFound: there is no such crawler.
            Conflict: it runs, or somebody else has made it.
        """
        _refuse_foreign(self._find(name), "Delete it in Glue.")
        try:
            self._glue.call("delete_crawler", Name=name)
        except NotFound as error:
            raise self._missing(name) from error
        except Conflict as error:
            raise _runs(name, "Delete") from error

    def failure(self, name: str) -> str | None:
        """Return why a crawler's last run failed, "" if it went well, None while it runs.

        Raises:
            NotFound: there is no such crawler.
        """
        crawler = self._find(name)
        if crawler.get("State") != READY:
            return None
        last = crawler.get("LastCrawl", {})
        endings = {"FAILED": last.get("ErrorMessage") or "it failed", "CANCELLED": "it was stopped"}
        reason = endings.get(last.get("Status", ""), "")
        return f"Table crawler {name}: {reason.rstrip('.')}." if reason else ""

    def step(self, name: str) -> str:
        """Return the step that a crawler stands for; its own name where nobody noted one.

        Raises:
            NotFound: there is no such crawler.
        """
        noted = _NOTE.fullmatch(self._find(name).get("Description") or "")
        return noted["step"] if noted else name

    def _to_glue(self, crawl: Crawl) -> Mapping[str, Any]:
        """Return a crawler as Glue takes it."""
        if not self._role:
            raise BadInput(
                "A crawler needs a role that lets Glue read the data.",
                hint="Set aws_role_arn in the configuration of glue.",
            )
        return {
            "Role": self._role,
            "Description": crawl.note,
            "DatabaseName": crawl.database.lower(),
            "Targets": {"S3Targets": [{"Path": crawl.path}]},
            **({"Schedule": aws_schedule(crawl.expression)} if crawl.expression else {}),
        }

    def _find(self, name: str) -> Mapping[str, Any]:
        found = self._find_any(name)
        if found is None:
            raise self._missing(name)
        return found

    def _find_any(self, name: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._glue.call("get_crawler", Name=name)["Crawler"]
        except NotFound:
            return None
        return found

    def _change(self, name: str, wanted: Mapping[str, Any], response: Response) -> None:
        others = self._others(self._find(name), wanted)
        if not others:
            response.add_warning(f"Table crawler {name} already exists.")
            return
        try:
            # Without a schedule an empty one is sent: what is left out would stay as it is.
            self._glue.call("update_crawler", Name=name, **{"Schedule": "", **wanted})
        except Conflict as error:
            raise _runs(name, "Change") from error
        response.add_warning(f"Table crawler {name} already exists; its former {' and '.join(others)} gave way.")

    def _others(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
        """Return what a crawler of the same name does otherwise than what is wanted.

        Raises:
            Conflict: somebody else has made it.
        """
        _refuse_foreign(found, "Give the schedule another name: -s, or schedule_name in the file of parameters.")
        former = _describe_crawler(found, found.get("Schedule", {}).get("ScheduleExpression", ""))
        now = _describe_crawler(wanted, wanted.get("Schedule", ""))
        return [f'{key} "{value}"' for key, value in former.items() if value != now[key]]

    def _missing(self, name: str) -> NotFound:
        names: list[str] = []
        with suppress(MasonError):  # who may not list them is told what is missing all the same
            names = [str(each) for each in self._glue.call("list_crawlers").get("CrawlerNames", ())]
        return NotFound(f'Schedule "{name}" not found in Glue.', hint=did_you_mean(name, names))


def _refuse_foreign(found: Mapping[str, Any], hint: str) -> None:
    if not _NOTE.fullmatch(found.get("Description") or ""):
        message = f'Mason did not make the crawler "{found["Name"]}", which Glue has: it is left as it is.'
        raise Conflict(message, hint=hint)


def _runs(name: str, change: str) -> Conflict:
    return Conflict(f'Schedule "{name}" is running.', hint=f"{change} it when its crawler has ended.")


def _schedule(crawler: Mapping[str, Any]) -> Schedule:
    """A crawler as a schedule: as its author wrote it, unless somebody has changed it in Glue since."""
    existing = crawler.get("Schedule", {}).get("ScheduleExpression", "")
    noted = _NOTE.fullmatch(crawler.get("Description") or "")
    written = (noted["expression"] or "") if noted else ""
    expression = written if written and _means(written, existing) else existing
    return Schedule(name=crawler["Name"], expression=expression, workflow=noted["workflow"] if noted else "")


def _means(written: str, existing: str) -> bool:
    try:
        return aws_schedule(written) == existing
    except BadInput:
        return False


def _describe_crawler(crawler: Mapping[str, Any], schedule: str) -> dict[str, str]:
    """What counts of a crawler, as a person would tell it apart from another one."""
    paths = [str(each.get("Path", "")) for each in crawler.get("Targets", {}).get("S3Targets", ())]
    return {"database": crawler.get("DatabaseName", ""), "path": ", ".join(paths), "schedule": schedule}
