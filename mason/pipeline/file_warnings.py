"""Warnings about files, gathered so that a thousand files with one fault make one line."""

from __future__ import annotations

from mason.errors import UnreadableFile

_NAMED = 3
_LINES = 50


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


def _others(files: list[str]) -> str:
    if not files:
        return ""
    named = ", ".join(files[:_NAMED])
    more = len(files) - _NAMED
    return f" (also {named} and {more:,} more)" if more > 0 else f" (also {named})"
