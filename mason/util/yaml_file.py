"""YAML that people write: every value keeps the line it stands on, and nothing in it can surprise.

Scalars follow YAML 1.2's core rules (`12:30`, `yes` and `0123` are text, as their authors meant), keys given twice are
an error, and a document that would expand without end is refused before it is expanded.

A problem in a file a person wrote, with the place where they can mend it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml


class Problem(NamedTuple):
    """What is wrong, and where: shown as `file:line: key: message`."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


Key: TypeAlias = tuple[str | int, ...]

MAXIMUM_BYTES = 4 * 1024 * 1024
MAXIMUM_NODES = 100_000
MAXIMUM_DEPTH = 50

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NUMBER_BEGINS = frozenset("+-.0123456789")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class YamlProblem(Exception):
    """Raised when a text is not YAML that Mason can use; `problem` says where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True)
class YamlDocument:
    """A parsed document: its value, and the line of every key in it."""

    name: str
    text: str
    value: Any
    lines: Mapping[Key, int]

    def problem(self, key: Sequence[str | int], message: str) -> Problem:
        """Return a problem at the key, or at the nearest line above it that is known."""
        place: Key = tuple(key)
        while place and place not in self.lines:
            place = place[:-1]
        return Problem(self.name, self.lines.get(place, 1), join_key(key), message)


def join_key(key: Sequence[str | int]) -> str:
    """Return a key as people write it: `clients.local.configuration`, `dag[2].id`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_yaml(path: Path, *, name: str = "", plain_text: bool = False) -> YamlDocument:
    """Read a YAML or JSON file.

    Args:
        name: how messages name the file; its path by default.
        plain_text: keep every scalar as the text it was written as (`007` stays `007`).

    Raises:
        YamlProblem: it cannot be read, is no YAML, repeats a key, or expands beyond all measure.
    """
    name = name or str(path)
    try:
        if path.stat().st_size > MAXIMUM_BYTES:
            raise YamlProblem(
                Problem(name, 0, "", f"larger than {MAXIMUM_BYTES // 2**20} MiB, too large for this kind of file")
            )
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise YamlProblem(Problem(name, 0, "", f"cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise YamlProblem(Problem(name, 0, "", f"is not UTF-8 text (byte {error.start})")) from error
    return parse_yaml(text, name=name, plain_text=plain_text)


def parse_yaml(text: str, *, name: str, plain_text: bool = False) -> YamlDocument:
    """Parse YAML or JSON text; see `read_yaml`."""
    try:
        _check_depth(text, name)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise YamlProblem(_syntax_problem(error, text, name)) from error
    except yaml.YAMLError as error:
        raise YamlProblem(Problem(name, 0, "", f"broken {_language(name)}: {str(error).splitlines()[0]}")) from error
    if root is None:
        return YamlDocument(name, text, None, {})
    _check_size(root, name)
    builder = _Builder(name, plain_text)
    value = builder.build(root, ())
    return YamlDocument(name, text, value, builder.lines)


def parse_value(text: str, *, name: str) -> Any:
    """Return the value that `parse_yaml` would, in one pass and without lines: for listings, which read many files.

    Raises:
        YamlProblem: as `parse_yaml`, which has the last word on whatever is unusual.
    """
    loader = _Loader(text)
    try:
        return _read_document(loader)
    except (_Unusual, yaml.YAMLError):
        return parse_yaml(text, name=name).value
    finally:
        loader.dispose()


class _Unusual(Exception):
    """Raised when a text has something in it that wants a closer look."""


def _read_document(loader: Any) -> Any:
    next_event = loader.get_event
    next_event()
    if isinstance(next_event(), yaml.StreamEndEvent):
        return None
    value = _build_value(next_event(), next_event, 0)
    next_event()
    if not isinstance(next_event(), yaml.StreamEndEvent):
        raise _Unusual
    return value


def _build_value(event: Any, next_event: Any, depth: int) -> Any:
    kind = type(event)
    if kind is yaml.ScalarEvent:
        return event.value if event.style else plain_scalar(event.value)
    if depth >= MAXIMUM_DEPTH:
        raise _Unusual
    if kind is yaml.SequenceStartEvent:
        values = []
        while type(event := next_event()) is not yaml.SequenceEndEvent:
            values.append(_build_value(event, next_event, depth + 1))
        return values
    if kind is not yaml.MappingStartEvent:
        raise _Unusual  # an alias
    found: dict[str, Any] = {}
    while type(event := next_event()) is not yaml.MappingEndEvent:
        if type(event) is not yaml.ScalarEvent or event.value in found:
            raise _Unusual
        found[event.value] = _build_value(next_event(), next_event, depth + 1)
    return found


class _Builder:
    """Turns nodes into values and remembers the line of each key."""

    def __init__(self, name: str, plain_text: bool) -> None:
        self.lines: dict[Key, int] = {}
        self._name = name
        self._plain_text = plain_text

    def build(self, node: yaml.Node, key: Key) -> Any:
        self.lines.setdefault(key, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, key)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*key, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return _scalar(node, self._plain_text)

    def _mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name_node, value_node in node.value:
            line = name_node.start_mark.line + 1
            if not isinstance(name_node, yaml.ScalarNode):
                raise YamlProblem(Problem(self._name, line, join_key(key), "a key must be plain text"))
            child: Key = (*key, name_node.value)
            if name_node.value in found:
                first = self.lines[child]
                raise YamlProblem(Problem(self._name, line, join_key(child), f"given twice (first on line {first})"))
            self.lines[child] = line
            found[name_node.value] = self.build(value_node, child)
        return found


def plain_scalar(text: str) -> Any:
    """Return what an unquoted scalar means: nothing, a truth value, a number, or text."""
    if text in _NULLS:
        return None
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_BEGINS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) and not _has_leading_zero(text) else text


def _scalar(node: yaml.ScalarNode, plain_text: bool) -> Any:
    text: str = node.value
    if node.style:  # quoted, or a block: its author meant text
        return text
    if plain_text:
        return None if text in _NULLS else text
    return plain_scalar(text)


def _has_leading_zero(text: str) -> bool:
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


def _check_depth(text: str, name: str) -> None:
    # Events are read one by one: this must come before composing, which recurses.
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAXIMUM_DEPTH:
                raise YamlProblem(
                    Problem(name, _line(event.start_mark), "", f"nested deeper than {MAXIMUM_DEPTH} levels")
                )
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_size(root: yaml.Node, name: str) -> None:
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def expanded_size(node: yaml.Node) -> int:
        if id(node) in open_nodes:
            raise YamlProblem(Problem(name, node.start_mark.line + 1, "", "an alias that contains itself"))
        if id(node) not in sizes:
            open_nodes.add(id(node))
            sizes[id(node)] = 1 + sum(expanded_size(child) for child in _children(node))
            open_nodes.discard(id(node))
        return sizes[id(node)]

    expanded = expanded_size(root)
    if expanded > max(MAXIMUM_NODES, len(sizes)):  # what is written out is bounded by the size of the file
        raise YamlProblem(Problem(name, 1, "", f"its aliases expand to more than {MAXIMUM_NODES:,} values"))


def _line(mark: Any) -> int:
    return int(mark.line) + 1 if mark else 0


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, name: str) -> Problem:
    # What ends too early is to be mended where it began.
    unclosed = "end of stream" in (error.problem or "")
    mark = (error.context_mark if unclosed else None) or error.problem_mark or error.context_mark
    line = _line(mark)
    lines = text.splitlines()
    written = lines[line - 1] if 0 < line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())] or (
        mark and mark.column < len(written) and written[mark.column] == "\t"
    ):
        return Problem(name, line, "", "a tab is used for indentation; YAML wants spaces")
    reason = " ".join(part for part in (error.context, error.problem) if part)
    return Problem(name, line, "", f"broken {_language(name)}: {reason}")


def _language(name: str) -> str:
    return "JSON" if name.lower().endswith(".json") else "YAML"
