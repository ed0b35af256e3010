"""How much the jobs of this process have read so far, for whoever watches a process that lives long."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

_WORDS = {"rows": "RowsIn", "bytes": "InputBytes"}


class JobTotals:
    """Sums that only grow, since a process began; of jobs that succeeded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: Counter[str] = Counter(dict.fromkeys(_WORDS, 0))

    def add(self, details: Mapping[str, Any]) -> None:
        """Count a job that is done, by what its record says."""
        with self._lock:
            self._sums.update({name: details[word] for name, word in _WORDS.items() if details.get(word)})

    def add_sums(self, sums: Mapping[str, int]) -> None:
        """Count what another process has counted for this one."""
        with self._lock:
            self._sums.update(sums)

    def to_dict(self) -> dict[str, int]:
        with self._lock:
            return dict(self._sums)


TOTALS = JobTotals()
"""Of this process. Threads that run jobs add to it."""
