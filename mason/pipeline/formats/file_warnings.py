"""Warnings about files, gathered so that a thousand files with one fault make one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from mason.errors import UnreadableFile

_NAMED = 3
_LINES = 50
_MANY = 20
"""As many files with one fault still have a line each, where each line is about one file."""


def reason(error: UnreadableFile, file: str) -> str:
    """Return why the file cannot be read, without its name, which stands before every warning anyway."""
    return str(error).removeprefix(f"{file}: ").rstrip(".")


class FileWarnings:
    """What is wrong with which files."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def add(self, file: str, problem: str) -> None:
        self._files.setdefault(problem, []).append(file)

    def lines(self) -> list[str]:
        """Return one sentence per problem, beginning with the first file that has it; of very many only the first."""
        lines = [f"{files[0]}: {problem}{_others(files[1:])}." for problem, files in self._files.items()]
        more = len(lines) - _LINES
        return [*lines[:_LINES], f"There are {more:,} more warnings like these."] if more > 0 else lines


def group_warnings(lines: Iterable[str], names: Collection[str]) -> list[str]:
    """Return warnings, each of which may begin with the name of a file, with one for what very many files share.

    It stands where the first of them stood.
    """
    known = frozenset(names)
    files: dict[str, list[str]] = {}
    for line in lines:
        name = _name_before(line, known)
        files.setdefault(line.removeprefix(f"{name}: ") if name else line, []).append(name)
    return [each for problem, found in files.items() for each in _group_files(problem, found)]


def _name_before(line: str, names: Collection[str]) -> str:
    """The name of a file that stands before a colon; a name may have a colon in it, too."""
    end = line.find(": ")
    while end >= 0 and line[:end] not in names:
        end = line.find(": ", end + 1)
    return line[:end] if end >= 0 else ""


def _group_files(problem: str, files: list[str]) -> Iterator[str]:
    if len(files) <= _MANY:
        yield from (f"{name}: {problem}" if name else problem for name in files)
    elif files[0]:
        yield f"{', '.join(files[:_NAMED])} and {len(files) - _NAMED:,} more: {problem}"
    else:
        yield problem


def _others(files: list[str]) -> str:
    if not files:
        return ""
    named = ", ".join(files[:_NAMED])
    more = len(files) - _NAMED
    return f" (also {named} and {more:,} more)" if more > 0 else f" (also {named})"
