"""JSON in a column of text: whether it is there, and the values that it holds.

A text counts only if it is an object or a list, whichever most of the column's texts are. Whatever else stands there is
kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.formats.json.parse import parse_lines
from mason.pipeline.formats.json.values import load
from mason.pipeline.formats.sources import ValueSource
from mason.pipeline.jobs.explode.shape import ELEMENT, Path
from mason.pipeline.types.column_types import Evidence, decide, storable
from mason.pipeline.types.value_types import classify_values

_BEGINNING = {"object": r"^[ \t\r\n]*\{", "list": r"^[ \t\r\n]*\["}
_KEY = "v"


@dataclass(frozen=True)
class ReadTexts:
    """What texts hold, null where they hold nothing; the texts that hold nothing; and what did not fit the type."""

    values: pa.Array
    kept: pa.Array
    seen: Evidence | None = None


def find_texts(schema: pa.Schema, rows: Sequence[dict[str, Any]]) -> dict[Path, Evidence]:
    """Return the texts in some rows most of which are JSON objects, or most of which are lists, with what they hold."""
    found = {}
    for each in schema:
        for path, texts in _texts_in(each.type, [row[each.name] for row in rows], (each.name,)):
            seen = _evidence_in(texts)
            if seen is not None and is_worth_it(seen):
                found[path] = seen
    return found


def is_worth_it(seen: Evidence) -> bool:
    """Say whether there is anything to be taken apart: in `{}` there is not."""
    return bool(pa.types.is_nested(type_of_evidence(seen)))


def type_of_evidence(seen: Evidence) -> pa.DataType:
    return storable(decide(seen))


def read_texts(texts: pa.Array, target: pa.DataType) -> ReadTexts:
    """Return what texts hold in the type, which is a struct or a list."""
    begins = _BEGINNING["list" if pa.types.is_list(target) else "object"]
    held = pc.fill_null(pc.match_substring_regex(texts, begins), False)
    candidates = texts.filter(held)
    values = _read_fast(candidates, target)
    if values is not None:
        return _spread_out(texts, held.to_numpy(zero_copy_only=False), values)
    loaded = [_load_text(text) for text in candidates.to_pylist()]
    good = np.array([value is not None for value in loaded], dtype=bool)
    source = ValueSource([value for value in loaded if value is not None])
    fitted = source.fit(target)
    seen = source.evidence() if fitted is None else None
    holds = held.to_numpy(zero_copy_only=False).copy()
    holds[holds] = good
    return _spread_out(texts, holds, pa.nulls(len(source.values), target) if fitted is None else fitted, seen)


def _spread_out(texts: pa.Array, holds: np.ndarray, values: pa.Array, seen: Evidence | None = None) -> ReadTexts:
    """Give each row its value, or keep its text."""
    if holds.all():
        return ReadTexts(values, pa.nulls(len(texts), pa.string()), seen)
    places = pa.array(np.cumsum(holds) - 1, mask=~holds)
    plain_texts = pc.if_else(pa.array(holds), pa.scalar(None, pa.string()), texts)
    return ReadTexts(values.take(places), plain_texts, seen)


def _read_fast(texts: pa.Array, target: pa.DataType) -> pa.Array | None:
    """Read all texts at once, or return None where that is in doubt.

    Each is the only value of an object in a line of its own. A text that is more than one value makes another key, the
    same key twice or another line of it, none of which is read.
    """
    if not len(texts):
        return pa.nulls(0, target)
    lines = pc.binary_join_element_wise(f'{{"{_KEY}": ', texts, "}\n", "")
    parsed = parse_lines(lines.buffers()[2].to_pybytes(), {_KEY: target})
    if parsed is None or parsed.rows != len(texts) or _KEY not in parsed.columns:
        return None
    return parsed.columns[_KEY].fit(target)


def _load_text(text: str) -> Any:
    try:
        value = load(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _evidence_in(texts: Sequence[str]) -> Evidence | None:
    values = [value for value in map(_load_text, texts) if value is not None]
    for kind in (dict, list):
        alike = [value for value in values if isinstance(value, kind)]
        if len(alike) * 2 > len(texts):
            return classify_values(alike)
    return None


def _texts_in(kind: pa.DataType, values: Sequence[Any], path: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield all texts of a column, those in structs and lists, too, by their paths."""
    # A row that the plan has not looked at need not be of the type yet.
    if pa.types.is_string(kind):
        yield path, [value for value in values if isinstance(value, str)]
    elif pa.types.is_struct(kind):
        structs = [value for value in values if isinstance(value, dict)]
        for each in kind:
            yield from _texts_in(each.type, [value.get(each.name) for value in structs], (*path, each.name))
    elif pa.types.is_list(kind):
        elements = [element for value in values if isinstance(value, list) for element in value]
        yield from _texts_in(kind.value_type, elements, (*path, ELEMENT))
