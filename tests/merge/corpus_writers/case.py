"""A small file, and what it says to somebody who reads it with care."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

CORPUS_FILES = Path(__file__).parents[1] / "corpus_files"
MOST_BYTES = 2048


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file of the corpus with its expectation: rows, or an error.

    `or_error`: rows as stated or, where Mason does not read such files yet, an error that says this.
    """

    name: str
    content: bytes
    why: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    rejects: Sequence[str] = ()
    warnings: Sequence[str] = ()
    error: Sequence[str] = ()
    or_error: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the expectation as it stands beside the file: one line for each row."""
        told: dict[str, Any] = {"why": self.why}
        told |= {key: value for key in ("options", "warnings", "error", "or_error") if (value := getattr(self, key))}
        if not self.error:
            told |= {"columns": list(self.columns), "rejects": list(self.rejects)}
        lines = [f'  "{key}": {_as_json(value)}' for key, value in told.items()]
        if not self.error:
            rows = ",\n".join(f"    {_as_json(row)}" for row in self.rows)
            lines.append(f'  "rows": [\n{rows}\n  ]' if rows else '  "rows": []')
        return "{\n" + ",\n".join(lines) + "\n}\n"


def write_cases(cases: Iterable[Case], folder: Path = CORPUS_FILES) -> int:
    """Write the files and their expectations, and return how many they are."""
    names = set()
    for case in cases:
        assert case.name not in names, f"{case.name} is there twice"
        assert len(case.content) <= MOST_BYTES, f"{case.name} has {len(case.content):,} bytes"
        names.add(case.name)
        file = folder / case.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(case.content)
        file.with_name(f"{file.name}.expected.json").write_text(case.to_json(), encoding="utf-8")
    return len(names)


def _as_json(value: Any) -> str:
    """Readable, unless bytes that are no text stand in it as halves of pairs, which no file can hold."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    is_whole = not any("\ud800" <= char <= "\udfff" for char in text)
    return text if is_whole else json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """Dates and numbers that JSON has no word for, as the comparison writes them."""
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    raise TypeError(f"{value!r} has no place in an expectation")
