"""What a call gave, as Python code and notebooks look at it, or as the exception of Mason's tree that it raises.

Whatever comes from data is escaped in a notebook: a value is no markup.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from mason import errors
from mason.errors import MasonError, Problems
from mason.util.words import counted

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
        amounts = ", ".join(f"{len(found)} {name}" for name, found in counts.items() if found or name == "data")
        return f"<response {self.status}: {amounts}>"

    def _repr_html_(self) -> str:

        return response_html(self.warnings, self.info, self._tables, self.data)

    @property
    def _tables(self) -> Sequence[Mapping[str, Any]]:
        """What of the data is a table: columns with their types, and rows."""
        return [each for each in self.data if isinstance(each, Mapping) and _is_table(each)]


def _is_table(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("Rows"), list) and isinstance(data.get("Columns"), list)


_MOST_ROWS = 50
_MOST_CHARACTERS = 200
_LONGEST_DATA = 5_000


def response_html(
    warnings: Sequence[str], info: Sequence[str], tables: Sequence[Mapping[str, Any]], data: Sequence[Any]
) -> str:
    """Return warnings, and the rows as tables; without any, what was said and the data as they are."""
    notes = "".join(f"<div><b>Warning:</b> {escape(each)}</div>" for each in warnings)
    if tables:
        return f"<div>{notes}{''.join(map(_table, tables))}</div>"
    said = f"<pre>{escape(_clip_text(chr(10).join(info), _LONGEST_DATA))}</pre>" if info else ""
    return f"<div>{notes}{said}{_plain(data)}</div>"


def _table(data: Mapping[str, Any]) -> str:
    names = [str(each["Name"]) for each in data["Columns"]]
    types = [str(each.get("Type", "")) for each in data["Columns"]]
    head = "".join(
        f"<th>{escape(name)}<br><small>{escape(kind)}</small></th>" for name, kind in zip(names, types, strict=True)
    )
    rows: Sequence[Mapping[str, Any]] = data["Rows"]
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>" for row in rows[:_MOST_ROWS])
    count = data.get("RowCount", len(rows))
    hidden = count - _MOST_ROWS
    more = f", {hidden:,} of them not shown" if hidden > 0 else ""
    said = f"<small>{counted(count, 'row')}{more}</small>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def _cell(value: Any) -> str:
    if value is None:
        return "<td><i>null</i></td>"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"<td>{escape(_clip_text(text, _MOST_CHARACTERS))}</td>"


def _plain(data: Sequence[Any]) -> str:
    text = json.dumps(list(data), indent=1, ensure_ascii=False)
    return f"<pre>{escape(_clip_text(text, _LONGEST_DATA))}</pre>"


def _clip_text(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


# Of the tree itself: what else is loaded has errors of its own, which say more than a status does.
_BY_STATUS = {each.status: each for each in MasonError.__subclasses__() if each.__module__ == errors.__name__}


def raise_errors_of(response: CallResponse, cause: BaseException | None = None) -> CallResponse:
    """Return a response that has no errors.

    Args:
        cause: what was raised where the call was run, if that was this process.

    Raises:
        MasonError: it has some. The response itself is the `record` of the error.
        KeyboardInterrupt: ctrl-C was the cause.
    """
    if isinstance(cause, KeyboardInterrupt):
        raise cause
    if response.status < 400 and not response.errors:
        return response
    raise _failure(response, cause) from cause


def _failure(response: CallResponse, cause: BaseException | None) -> MasonError:
    said = isinstance(cause, MasonError) and tuple(cause.messages) == response.errors  # no secret was taken out
    error = cause if said and isinstance(cause, MasonError) else _of_status(response)
    error.record = response
    return error


def _of_status(response: CallResponse) -> MasonError:
    kind = _BY_STATUS.get(response.status, MasonError)
    if kind.status == Problems.status:
        return Problems(response.errors)
    return kind("\n".join(response.errors))
