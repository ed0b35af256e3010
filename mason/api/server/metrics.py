"""What the server counts, as Prometheus reads it. Each worker counts what it does itself."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Requests by method, route and status, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[route, bisect_left(BUCKETS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self, jobs: Mapping[str, int], totals: Mapping[str, int]) -> str:
        """Return everything; jobs by their status come from the state, so those of other servers are among them."""
        return "\n".join([*self._request_lines(), *_job_lines(jobs, totals), ""])

    def _request_lines(self) -> Iterator[str]:
        with self._lock:
            requests, buckets, seconds = dict(self._requests), dict(self._buckets), dict(self._seconds)
        yield "# HELP mason_requests_total Requests that were answered."
        yield "# TYPE mason_requests_total counter"
        for (method, route, status), count in sorted(requests.items()):
            yield f'mason_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield "# HELP mason_request_seconds How long requests took."
        yield "# TYPE mason_request_seconds histogram"
        for route in sorted(seconds):
            below = 0
            for number, bound in enumerate((*BUCKETS, "+Inf")):
                below += buckets.get((route, number), 0)
                yield f'mason_request_seconds_bucket{{route="{route}",le="{bound}"}} {below}'
            yield f'mason_request_seconds_sum{{route="{route}"}} {seconds[route]:.6f}'
            yield f'mason_request_seconds_count{{route="{route}"}} {below}'


def _job_lines(jobs: Mapping[str, int], totals: Mapping[str, int]) -> Iterator[str]:
    yield "# HELP mason_jobs Jobs by where they stand."
    yield "# TYPE mason_jobs gauge"
    for status, count in sorted(jobs.items()):
        yield f'mason_jobs{{status="{status}"}} {count}'
    for name, total in sorted(totals.items()):
        yield f"# HELP mason_job_{name}_total What the jobs that this process ran to their end have read."
        yield f"# TYPE mason_job_{name}_total counter"
        yield f"mason_job_{name}_total {total}"
