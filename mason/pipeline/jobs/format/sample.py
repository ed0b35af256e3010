"""Which rows are in a sample: each set of so many rows is as likely as any other, and the same every time.

First the rows of every task are counted. From the counts the driver draws how many rows each task is to give, and each
task draws which: the sample is one without replacement of all rows, though no task knows the others' rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_SEED = 20_260_131
"""Fixed, so that the same rows are drawn of the same table."""


def draw(counts: Sequence[int], size: int) -> Mapping[str, Any]:
    """Return how many rows each task has and gives, as JSON can hold it."""
    total = sum(counts)
    chosen = np.random.default_rng(_SEED).choice(total, min(size, total), replace=False, shuffle=False)
    tasks = np.searchsorted(np.cumsum(counts), chosen, side="right")
    return {"counts": list(counts), "takes": np.bincount(tasks, minlength=len(counts)).tolist()}


def rows_of_task(drawn: Mapping[str, Any], name: str) -> npt.NDArray[np.int64]:
    """Return the numbers, from 0 and sorted, of the rows that a task gives; its own is in the name of its files."""
    task = int(name.rsplit("-", 2)[1])
    count, take = drawn["counts"][task], drawn["takes"][task]
    chosen = np.random.default_rng([_SEED, task]).choice(count, take, replace=False, shuffle=False)
    rows: npt.NDArray[np.int64] = np.sort(chosen)
    return rows
