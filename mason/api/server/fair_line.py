"""A line in which callers take turns: who asks for a thousand things keeps nobody waiting who asks for one."""

from __future__ import annotations

from collections import deque


class FairLine:
    """Ids of calls that wait. Those of one caller keep their order; callers take turns."""

    def __init__(self) -> None:
        self._of_caller: dict[str, deque[str]] = {}
        self._waiting: set[str] = set()

    def add(self, call_id: str, caller: str) -> None:
        self._of_caller.setdefault(caller, deque()).append(call_id)
        self._waiting.add(call_id)

    def take(self) -> str:
        """Return the next id, and let its caller step back; nothing if nobody waits."""
        if not self._of_caller:
            return ""
        caller = next(iter(self._of_caller))
        waiting = self._of_caller.pop(caller)
        call_id = waiting.popleft()
        if waiting:
            self._of_caller[caller] = waiting  # at the end
        self._waiting.discard(call_id)
        return call_id

    def __contains__(self, call_id: object) -> bool:
        return call_id in self._waiting

    def __bool__(self) -> bool:
        return bool(self._of_caller)
