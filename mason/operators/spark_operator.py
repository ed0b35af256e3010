"""The class that an author inherits from whose operator makes a table out of DataFrames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.names import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Inputs(Mapping[str, "DataFrame"]):
    """The tables that an operator reads, each as a DataFrame of exactly the files of its version."""

    def __init__(self, frames: Mapping[str, DataFrame]) -> None:
        self._frames = dict(frames)

    def __getitem__(self, name: str) -> DataFrame:
        if name not in self._frames:
            near = did_you_mean(name, self._frames) or f"Given: {', '.join(self._frames) or 'none'}."
            raise LookupError(f'There is no input "{name}". {near}')
        return self._frames[name]

    def __contains__(self, name: object) -> bool:
        return name in self._frames

    def get(self, name: str, default: DataFrame | None = None) -> DataFrame | None:  # type: ignore[override]
        """Return an input, or nothing where an optional one was not given."""
        return self._frames.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)


class SparkOperator(ABC):
    """An operator that makes the rows of one table out of others: DataFrames in, a DataFrame out.

    What it reads and writes stands in its operator.yaml. Mason reads the tables, writes the rows, holds them against
    counts and checks, and publishes them in one commit.
    """

    @abstractmethod
    def transform(self, spark: SparkSession, inputs: Inputs, parameters: ValidatedParameters) -> DataFrame:
        """Return the rows of the table that is written.

        It is called on tables without rows as well, when somebody asks for the plan; so let it look at no values.
        """
