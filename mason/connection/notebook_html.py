"""A response as a notebook shows it. Whatever comes from data is escaped: a value is no markup."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mason.util.words import counted

_MOST_ROWS = 50
_MOST_CHARACTERS = 200
_LONGEST_DATA = 5_000


def response_html(
    warnings: Sequence[str], info: Sequence[str], tables: Sequence[Mapping[str, Any]], data: Sequence[Any]
) -> str:
    """Return warnings, and the rows as tables; without any, what was said and the data as they are."""
    told = "".join(f"<div><b>Warning:</b> {escape(each)}</div>" for each in warnings)
    if tables:
        return f"<div>{told}{''.join(map(_table, tables))}</div>"
    said = f"<pre>{escape(_clip_text(chr(10).join(info), _LONGEST_DATA))}</pre>" if info else ""
    return f"<div>{told}{said}{_plain(data)}</div>"


def _table(data: Mapping[str, Any]) -> str:
    names = [str(each["Name"]) for each in data["Columns"]]
    types = [str(each.get("Type", "")) for each in data["Columns"]]
    head = "".join(
        f"<th>{escape(name)}<br><small>{escape(kind)}</small></th>" for name, kind in zip(names, types, strict=True)
    )
    rows: Sequence[Mapping[str, Any]] = data["Rows"]
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>" for row in rows[:_MOST_ROWS])
    hidden = len(rows) - _MOST_ROWS
    more = f", {hidden:,} of them not shown" if hidden > 0 else ""
    said = f"<small>{counted(len(rows), 'row')}{more}</small>"
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
