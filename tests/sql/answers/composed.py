"""Questions that nobody has written down: expressions put into each other at random, by their types."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random

from tests.sql.answers.book import Expression, every_type, recorded, refused, values

FRAME = (
    "select id, {} from (select t.*, odd.f as odd_double, odd.f32 as odd_float, odd.s as odd_text "
    "from t join odd using (id)) order by id"
)
_DEEPEST = 3
_LONGEST = 600
_COLUMN = re.compile(r"(?<![\w.'])([a-z]\w*)(?![\w(.'])")
_NOT_THE_SAME_TWICE = re.compile(r"rand|now\(|current_|over", re.IGNORECASE)

# What stands at the edges of each type, to be met oftener than the rows of a table have it.
_EDGES = {
    "double": [*["odd_double"] * 12, "double('NaN')", "double('Infinity')", "-0.0D", "1e300D", "1e-300D"],
    "float": [*["odd_float"] * 3, "float('-Infinity')"],
    "string": [*["odd_text"] * 15, "''", "'ÀÉ'", "'a%b_c'", "' 12 '", "'1e3'", "'2026-02-30'", "'true'"],
    "int8": ["127Y", "-128Y"],
    "int16": ["32767S", "-32768S"],
    "int32": ["2147483647", "-2147483648", "0", "-1", "cast(null as int)"],
    "int64": ["9223372036854775807L", "-9223372036854775808L", "0L", "cast(null as bigint)"],
    "date32[day]": ["date'0002-01-01'", "date'9998-12-31'", "date'1970-01-01'", "date'2024-02-29'"],
    "timestamp[us]": ["timestamp_ntz'1969-12-31 23:59:59.999999'"],
    "timestamp[us, tz=UTC]": ["timestamp'1969-12-31 23:59:59.999999Z'"],
    "decimal128(10, 2)": ["99999999.99BD", "cast(-99999999.99 as decimal(10,2))", "cast(0 as decimal(10,2))"],
    "decimal128(5, 2)": ["999.99BD", "cast(-0.01 as decimal(5,2))"],
    "bool": ["true", "false", "cast(null as boolean)"],
    "list<item: int32>": ["array(cast(null as int))", "array(1, 1, 2)"],
    "list<item: string>": ["array('', null, 'a')", "cast(null as array<string>)"],
    "binary": ["x''", "x'00ff'"],
}


def composed(count: int, seed: int) -> Sequence[Expression]:
    """Return expressions in which columns are replaced by others of the same type, some times over."""
    random, known = Random(seed), _typed()
    columns = {each.name: str(each.type) for each in every_type().schema}
    outer = [text for texts in known.values() for text in texts]
    inner = {kind: [*known.get(kind, ()), *_EDGES.get(kind, ())] for kind in {*known, *_EDGES}}
    texts = (_composed(random, random.choice(outer), columns, inner) for _ in range(count))
    return [Expression(text, FRAME) for text in dict.fromkeys(texts) if len(text) <= _LONGEST]


def _typed() -> Mapping[str, Sequence[str]]:
    """The expressions that both engines answer, by the types of their answers."""
    answers, not_here = recorded(), refused()
    found: dict[str, list[str]] = defaultdict(list)
    for each in values():
        answer = answers[each.statement]
        if "error" not in answer and each.statement not in not_here and not _NOT_THE_SAME_TWICE.search(each.text):
            found[answer["columns"][1].partition(": ")[2]].append(each.text)
    return found


def _composed(random: Random, text: str, columns: Mapping[str, str], inner: Mapping[str, Sequence[str]]) -> str:
    for _ in range(random.randint(1, _DEEPEST)):
        places = [each for each in _COLUMN.finditer(text) if _is_column(each, text, columns, inner)]
        if not places:
            break
        place = random.choice(places)
        chosen = random.choice(inner[columns[place[1]]])
        text = f"{text[: place.start()]}({chosen}){text[place.end() :]}"
    return text


def _is_column(found: re.Match[str], text: str, columns: Mapping[str, str], inner: Mapping[str, Sequence[str]]) -> bool:
    in_quotes = text[: found.start()].count("'") % 2
    return not in_quotes and bool(inner.get(columns.get(found[1], "")))
