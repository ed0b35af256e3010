"""Streams of events, looked at without a server: many of them at once keep nobody else waiting."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from mason.api.server.calls.call import Call
from mason.api.server.own_routes import OwnRoutes
from mason.api.server.requests import REQUEST, RequestInfo
from mason.operators.registration.catalogue import Catalogue, LiveCatalogue
from mason.state.home import open_state
from mason.state.models import Kind, RecordKind
from mason.util.environment import MasonEnvironment
from mason.util.processes import this_process


class Noting(LiveCatalogue):
    """Notes which threads look at the store, which may be on another machine."""

    looked: list[int]

    def now(self) -> Catalogue:
        self.looked.append(threading.get_ident())
        return super().now()


def test_who_answers_requests_does_not_wait_for_the_store_between_two_events(
    env: MasonEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.api.server.own_routes.LOOK_SECONDS", 0.01)
    store = open_state(env)
    told = {
        **Call(kind=Kind.OPERATOR, namespace="test", command="sleep", id="job").to_document(),
        "Process": this_process(),
    }
    record = store.add_record(RecordKind.CALL, "job", "running", told)
    live = Noting(env, store)
    live.looked = []
    unused: Any = SimpleNamespace(workflow=None, resume=None, is_stopping=False)
    routes = {each.id: each for each in OwnRoutes(env, live, unused, unused, unused).all()}

    async def stream() -> list[bytes]:
        REQUEST.set(RequestInfo(id="asked"))
        request = Request({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
        reply = await routes["get /job/{job_id}/events"].handle(request, {"job_id": "job"})
        assert isinstance(reply, StreamingResponse)
        events = []
        async for event in reply.body_iterator:
            events.append(bytes(event))
            if len(events) == 1:
                store.update_record(record, "succeeded", told)
        return events

    events = asyncio.run(stream())

    assert [event.split(b"\n")[0] for event in events] == [b"event: progress", b"event: end"]
    assert live.looked
    assert threading.get_ident() not in live.looked
    store.close()
