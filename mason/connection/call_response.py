"""What a call gave, as Python code and notebooks look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_LEFT_OUT = "The data are more than what is kept of a job: they are left out."


@dataclass(frozen=True, repr=False)
class CallResponse:
    """The response of a call: the JSON that the command line prints, with its rows as Arrow or pandas has them."""

    document: Mapping[str, Any]
    status: int = 200

    @property
    def errors(self) -> Sequence[str]:
        return tuple(self.document["Errors"])

    @property
    def info(self) -> Sequence[str]:
        return tuple(self.document["Info"])

    @property
    def warnings(self) -> Sequence[str]:
        return (*self.document["Warnings"], *([_LEFT_OUT] if self.document.get("DataLeftOut") else ()))

    @property
    def data(self) -> Sequence[Any]:
        return tuple(self.document["Data"])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return dict(self.document)

    def to_arrow(self) -> pa.Table:
        """Return the rows as a table in the types of their columns; of a response without rows, its data.

        Raises:
            TooLarge: the server has not kept them.
        """
        from mason.connection.tables import arrow_table

        return arrow_table(self.document, self._tables)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a frame; see `to_arrow`. Whole numbers stay whole where some are missing."""
        from mason.connection.tables import data_frame

        return data_frame(self.to_arrow())

    def __repr__(self) -> str:
        counts = {"errors": self.errors, "warnings": self.warnings, "data": self.data}
        told = ", ".join(f"{len(found)} {name}" for name, found in counts.items() if found or name == "data")
        return f"<response {self.status}: {told}>"

    def _repr_html_(self) -> str:
        from mason.connection.notebook_html import response_html

        return response_html(self.warnings, self.info, self._tables, self.data)

    @property
    def _tables(self) -> Sequence[Mapping[str, Any]]:
        """What of the data is a table: columns with their types, and rows."""
        return [each for each in self.data if isinstance(each, Mapping) and _is_table(each)]


def _is_table(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("Rows"), list) and isinstance(data.get("Columns"), list)
