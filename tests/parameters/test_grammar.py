"""The -p grammar: what is written arrives whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mason.errors import InvalidParameters
from mason.parameters.grammar import parse_parameters

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,10}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:1", [("a", "1")]),
        ("a:1,b:2", [("a", "1"), ("b", "2")]),
        ("a:1, b:2", [("a", "1"), ("b", "2")]),
        ("a: 1 ,b : 2 ", [("a", "1"), ("b", "2")]),
        ("a:", [("a", "")]),
        ("path:s3://b/a,b", [("path", "s3://b/a,b")]),
        ("path:s3://b/a,s3://c/d,n:1", [("path", "s3://b/a,s3://c/d"), ("n", "1")]),
        ("q:select a, b from t where c = 'x,y'", [("q", "select a, b from t where c = 'x,y'")]),
        ("at:12:30:00,until:13:00", [("at", "12:30:00"), ("until", "13:00")]),
        ("at:2026-01-01T10:00:00Z", [("at", "2026-01-01T10:00:00Z")]),
        ("keys:a,b,c", [("keys", "a,b,c")]),
        ("q:'a,b:c',d:1", [("q", "a,b:c"), ("d", "1")]),
        ('q:"say ""hi"", b:2",d:1', [("q", 'say "hi", b:2'), ("d", "1")]),
        ("q:'it''s'", [("q", "it's")]),
        ('q:"col" is not null', [("q", '"col" is not null')]),
        ('q:"a", "b" from t', [("q", '"a", "b" from t')]),
        ("q:x'y", [("q", "x'y")]),
        ("a:{'k': 'v'}", [("a", "{'k': 'v'}")]),
        ("q:line one\nline two", [("q", "line one\nline two")]),
    ],
)
def test_values_arrive_whole(text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_parameters([text]) == expected


def test_several_texts_add_up() -> None:
    assert parse_parameters(["a:1", "b:2,c:3"]) == [("a", "1"), ("b", "2"), ("c", "3")]


@pytest.mark.parametrize("text", ["", "nonsense", "1a:2", ":x", "a b:1", "s3://bucket/key"])
def test_a_text_that_begins_with_no_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameters, match="begin with a name"):
        parse_parameters([text])


def test_a_quote_that_is_not_closed_is_refused_by_name() -> None:
    with pytest.raises(InvalidParameters, match='value of "q" opens a \' that is not closed'):
        parse_parameters(["a:1,q:'oh no"])


@given(st.lists(st.tuples(NAMES, st.text(st.characters(exclude_categories=["Cs"]))), min_size=1, max_size=5))
def test_any_text_in_quotes_comes_back_as_it_was(pairs: list[tuple[str, str]]) -> None:
    text = ",".join(f"{name}:'{value.replace(chr(39), chr(39) * 2)}'" for name, value in pairs)

    assert parse_parameters([text]) == pairs


@given(st.text())
def test_no_text_is_ever_lost(text: str) -> None:
    try:
        found = parse_parameters([text])
    except InvalidParameters:
        return
    kept = "".join(name + value for name, value in found)
    assert [char for char in kept if char.isalnum()] == [char for char in text if char.isalnum()]
