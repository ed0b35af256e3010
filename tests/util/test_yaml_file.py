"""YAML that people write is read as they meant it, and what is wrong has a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mason.util.yaml_file import YamlProblem, parse_value, parse_yaml, read_yaml
from tests.conftest import PROJECT

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("", None),
        ("~", None),
        ("yes", "yes"),
        ("off", "off"),
        ("12:30", "12:30"),
        ("0123", "0123"),
        ("007", "007"),
        ("0.50", 0.5),
        ("2026-01-31", "2026-01-31"),
        ("2.4.5", "2.4.5"),
        ('"12"', "12"),
        ("'true'", "true"),
        ("|\n  12\n", "12\n"),
    ],
)
def test_scalars_are_what_their_author_meant(text: str, value: Any) -> None:
    assert parse_yaml(f"key: {text}", name="f.yaml").value == {"key": value}


def test_plain_text_keeps_every_scalar_as_it_was_written() -> None:
    document = parse_yaml("a: 007\nb: 1.50\nc: true\nd: {e: [1, x]}\nf:\n", name="f.yaml", plain_text=True)

    assert document.value == {"a": "007", "b": "1.50", "c": "true", "d": {"e": ["1", "x"]}, "f": None}


def test_every_key_knows_its_line() -> None:
    document = parse_yaml("a: 1\nb:\n  - c: 2\n  - d: 3\n", name="f.yaml")

    assert str(document.problem(("b", 1, "d"), "oh")) == "f.yaml:4: b[1].d: oh"
    assert str(document.problem(("b", 0, "missing"), "oh")) == "f.yaml:3: b[0].missing: oh"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "f.yaml:2: a: given twice (first on line 1)"),
        ("a:\n\t- 1\n", "f.yaml:2: a tab is used for indentation; YAML wants spaces"),
        ("a: [1, 2\nb: 3\n", "broken YAML"),
        ("a: 'x\n", "broken YAML"),
        ("a: &a [*a]\n", "contains itself"),
        ("? [1, 2]\n: 3\n", "a key must be plain text"),
        ("[" * 1000, "nested deeper than 50 levels"),
        ("a: !!python/object/apply:os.system [ls]\n", ""),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, message: str) -> None:
    if not message:  # a tag is never more than its text
        assert parse_yaml(text, name="f.yaml").value == {"a": ["ls"]}
        return
    with pytest.raises(YamlProblem) as caught:
        parse_yaml(text, name="f.yaml")
    assert message in str(caught.value) and str(caught.value).startswith("f.yaml:")


def test_a_bomb_is_refused_before_it_expands() -> None:
    with pytest.raises(YamlProblem, match="expand to more than 100,000 values"):
        parse_yaml(BOMB, name="f.yaml")


def test_an_alias_is_the_value_it_stands_for() -> None:
    assert parse_yaml("a: &x {k: 1}\nb: *x\n", name="f.yaml").value == {"a": {"k": 1}, "b": {"k": 1}}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(YamlProblem, match="none.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xf6\n")
    with pytest.raises(YamlProblem, match="latin.yaml: is not UTF-8"):
        read_yaml(tmp_path / "latin.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * (5 * 2**20))
    with pytest.raises(YamlProblem, match=r"large\.yaml: larger than 4 MiB"):
        read_yaml(tmp_path / "large.yaml")


EXAMPLE_FILES = sorted((PROJECT / "mason").rglob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLE_FILES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_the_quick_way_reads_what_the_careful_one_does(path: Path) -> None:
    text = path.read_text()

    assert parse_value(text, name="x") == parse_yaml(text, name="x").value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "a: &x {b: 1}\nc: *x\n",
        "- 0123\n- 12:30\n- yes\n- '5'\n- ~\n- -.5e3\n- |\n  5\n",
        "a: b: c\n",
        "a: 1\na: 2\n",
        "? [a]\n: 1\n",
        "--- 1\n--- 2\n",
        "[" * 60,
        "a: &x [*x]\n",
        "\t- a\n",
    ],
)
def test_the_quick_way_agrees_on_what_is_odd(text: str) -> None:
    def outcome(read: Callable[[], object]) -> object:
        try:
            return read()
        except YamlProblem as error:
            return str(error)

    quick, careful = (
        outcome(lambda: parse_value(text, name="x")),
        outcome(lambda: parse_yaml(text, name="x").value),
    )

    assert quick == careful
