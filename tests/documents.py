"""Documents that are tested: what a page tells its reader to write is written, what it tells them to run is run.

A fenced block after the comment `<!-- file: path -->` is a file. A block marked `console` is a shell session: a line
that begins with `$ ` is a command (a backslash at its end goes on with the next line), the lines below are what it
prints. There `…` stands for any text within a line and, alone on a line, for any lines. `[exit 1]` as the last line
is the exit code, which otherwise is 0. A block after the comment `<!-- terminal -->` is run on a terminal of 100
columns, so that it says what a reader sees; the others are run in a pipe. Blocks are taken in their order, each
command in a shell of its own; only a `cd` and a variable that is set hold for the commands below them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.terminal import run_on_terminal

_FENCE = re.compile(r"(?P<indent> *)```(?P<language>\w*)\s*")
_FILE = re.compile(r"\s*<!-- file: (?P<path>\S+) -->\s*")
_TERMINAL = re.compile(r"\s*<!-- terminal -->\s*")
_ON_TERMINAL = "<terminal>"
"""Stands for the path of a file where the next block is a session on a terminal."""
_COLUMNS = 100
_EXIT = re.compile(r"\[exit (?P<code>\d+)\]")
_VARIABLE = re.compile(r"(?P<name>\w+)=(\$\(.*\)|\S*)", re.DOTALL)
_FOLDER = re.compile(r"cd [^\s;&|]+")
_SECONDS = 240


@dataclass(frozen=True)
class FileBlock:
    """A file of the project that a document describes."""

    path: str
    content: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a session, with what it is said to print."""

    text: str
    output: Sequence[str]
    exit_code: int
    line: int
    on_terminal: bool = False


@dataclass
class Shell:
    """Runs each command in a shell of its own, and keeps the folder and the variables that a command has set."""

    workdir: Path
    env: Mapping[str, str]
    before: list[str] = field(default_factory=list)

    def run(self, text: str, *, on_terminal: bool = False) -> tuple[str, int]:
        """Run a command; return what it printed and its exit code. A variable is set once, not with each command."""
        variable = _VARIABLE.fullmatch(text)
        if variable is not None:
            text = f'{text}; code=$?; declare -p {variable["name"]} > "$KEPT"; exit $code'
        with tempfile.NamedTemporaryFile("r") as kept:
            command = ["bash", "-o", "pipefail", "-c", "\n".join([*self.before, text])]
            env = {**self.env, "KEPT": kept.name}
            if on_terminal:
                return run_on_terminal(
                    command, self.workdir, {**env, "TERM": "xterm"}, columns=_COLUMNS, seconds=_SECONDS
                )
            done = subprocess.run(
                command,
                cwd=self.workdir,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
            if variable is not None or _FOLDER.fullmatch(text):
                self.before.append(kept.read() or text)
        return done.stdout, done.returncode


def run_document(
    markdown_path: Path, workdir: Path, env: Mapping[str, str] | None = None, leave_out: Sequence[str] = ()
) -> None:
    """Write the files and run the commands of a document in a folder; `env` is added to the environment.

    Raises:
        AssertionError: a command printed something else than the document says, or ended otherwise.
    """
    shell = Shell(workdir, _environment(env or {}))
    for block in read_document(markdown_path):
        if isinstance(block, FileBlock):
            write_file(block, workdir)
        elif block.text not in leave_out:
            _check(block, shell, markdown_path)


def read_document(markdown_path: Path) -> list[FileBlock | Command]:
    """Return the files and commands of a document, in their order."""
    return [found for block in _blocks(markdown_path.read_text(encoding="utf-8")) for found in _read(*block)]


def write_file(block: FileBlock, workdir: Path) -> None:
    """Write a file of a document below a folder."""
    file = workdir / block.path
    assert ".." not in file.parts, f"line {block.line}: {block.path} leads out of the project"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.content, encoding="utf-8")


def _blocks(text: str) -> Iterator[tuple[str, str, list[str], int]]:
    """Yield the language, the file's path if it is one, the lines and the number of the first line of each block."""
    lines = text.splitlines()
    path, number = "", 0
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number])
        if fence is None:
            named = _FILE.fullmatch(lines[number])
            kept = path if not lines[number].strip() else ""
            path = named["path"] if named else _ON_TERMINAL if _TERMINAL.fullmatch(lines[number]) else kept
            number += 1
            continue
        indent = len(fence["indent"])
        end = next(each for each in range(number + 1, len(lines)) if lines[each].strip() == "```")
        yield fence["language"], path, [line[indent:] for line in lines[number + 1 : end]], number + 2
        path, number = "", end + 1


def _read(language: str, path: str, lines: list[str], number: int) -> Iterator[FileBlock | Command]:
    if path and path != _ON_TERMINAL:
        yield FileBlock(path, "\n".join(lines) + "\n", number)
    elif language == "console":
        yield from _commands(lines, number, on_terminal=path == _ON_TERMINAL)


def _commands(lines: list[str], number: int, *, on_terminal: bool) -> Iterator[Command]:
    starts = [index for index, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first = next(index for index in range(start, end) if not lines[index].endswith("\\"))
        text = "\n".join(lines[start : first + 1]).removeprefix("$ ")
        output = lines[first + 1 : end]
        while output and not output[-1].strip():
            output.pop()
        exited = _EXIT.fullmatch(output[-1]) if output else None
        code = int(exited["code"]) if exited else 0
        yield Command(text, output[:-1] if exited else output, code, number + start, on_terminal)


def _check(command: Command, shell: Shell, document: Path) -> None:
    written, exit_code = shell.run(command.text, on_terminal=command.on_terminal)
    printed = [line.rstrip() for line in written.rstrip().splitlines()]
    if exit_code != command.exit_code or not _matches(command.output, printed):
        said, found = "\n".join(command.output), "\n".join(printed)
        raise AssertionError(
            f"{document}:{command.line}: $ {command.text}\n"
            f"--- says, with exit code {command.exit_code}\n{said}\n"
            f"--- prints, with exit code {exit_code}\n{found}"
        )


def _matches(said: Sequence[str], printed: Sequence[str]) -> bool:
    if not said:
        return not printed
    if said[0].strip() == "…":
        return any(_matches(said[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    words = ".*".join(re.escape(part) for part in said[0].rstrip().split("…"))
    return bool(printed) and re.fullmatch(words, printed[0]) is not None and _matches(said[1:], printed[1:])


def _environment(added: Mapping[str, str]) -> dict[str, str]:
    path = added.get("PATH", os.environ.get("PATH", ""))
    programs = Path(sys.executable).parent
    return {**os.environ, "NO_COLOR": "1", **added, "PATH": f"{programs}{os.pathsep}{path}"}
