"""Checks that what a definition imports from Mason, and from its own folder, exists. Nothing is imported, nothing runs.

Modules are found by their files, and the names in them by reading their text: importing them would load pyspark and
boto3, and would run an author's code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from mason import __version__
from mason.util.names import did_you_mean
from mason.util.yaml_file import Problem

_MASON = "mason"
_MASON_FOLDER = Path(__file__).parents[2]
_FORGIVING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def check_imports(files: Mapping[str, bytes], folder: str) -> list[Problem]:
    """Return each import in the folder's Python files of something that is neither in Mason nor in the folder.

    An import that its author prepared to fail (`try: … except ImportError:`), or that only type checkers see, is left
    out.
    """
    own = _Tree(_own_modules(files))
    problems: list[Problem] = []
    for path in sorted(name for name in files if name.endswith(".py")):
        try:
            module = ast.parse(files[path])
        except (SyntaxError, ValueError):
            continue  # what is wrong with the one file that must be Python is told by who looks for the class
        for line, name, message in _wrong_imports(module, path, own):
            problems.append(Problem(f"{folder}/{path}", line, name, message))
    return problems


class _Tree:
    """Modules by their dotted names, each with its source; a folder without `__init__.py` has an empty one."""

    def __init__(self, sources: Mapping[str, bytes | Path | None]) -> None:
        self._sources = sources

    def has_module(self, module: str) -> bool:
        return module in self._sources

    def has_name(self, module: str, name: str) -> bool:
        """Say whether `from module import name` would find something."""
        if self.has_module(f"{module}.{name}" if module else name) or self._sources[module] is None:
            return True
        source = self._source(module)
        # Most names are found by their first line, which is many times faster than parsing the module.
        if re.search(rb"^(?:class|def|async def) +" + name.encode() + rb"\b", source, re.MULTILINE):
            return True
        names = self._names(module)
        return name in names or "*" in names or "__getattr__" in names

    def why_no_python(self, module: str) -> str:
        """Return why a module cannot be imported whatever it is asked for, or nothing."""
        try:
            ast.parse(self._source(module))
        except SyntaxError as error:
            return f"{error.msg} (line {error.lineno})"
        except ValueError as error:
            return str(error)
        return ""

    def names(self, module: str) -> set[str]:
        inside = f"{module}." if module else ""
        modules = {each[len(inside) :].partition(".")[0] for each in self._sources if each and each.startswith(inside)}
        return modules | {each for each in self._names(module) if not each.startswith("_")}

    def modules(self) -> Sequence[str]:
        return list(self._sources)

    def find_definers(self, name: str) -> list[str]:
        """Return the modules that define a class, a function or a constant of that name."""
        wanted = re.compile(rb"^(?:(?:class|def|async def) +%b\b|%b *[:=])" % (name.encode(), name.encode()), re.M)
        return [each for each in self._sources if wanted.search(self._source(each))]

    def _names(self, module: str) -> set[str]:
        body = ast.parse(self._source(module)).body
        if self._is_package(module):  # there, `from . import rules` finds only what is there without it
            body = [each for each in body if not (isinstance(each, ast.ImportFrom) and each.level and not each.module)]
        return set(_bound_names(body))

    def _is_package(self, module: str) -> bool:
        return not module or any(each.startswith(f"{module}.") for each in self._sources)

    def _source(self, module: str) -> bytes:
        source = self._sources[module]
        return source.read_bytes() if isinstance(source, Path) else source or b""


@cache
def _mason() -> _Tree:
    sources: dict[str, bytes | Path | None] = {}
    for file in sorted(_MASON_FOLDER.rglob("*.py")):
        *folders, name = (_MASON, *file.relative_to(_MASON_FOLDER).parts)
        for depth in range(1, len(folders) + 1):
            sources.setdefault(".".join(folders[:depth]), b"")
        sources[".".join(folders if name == "__init__.py" else [*folders, name[:-3]])] = file
    return _Tree(sources)


def _own_modules(files: Mapping[str, bytes]) -> dict[str, bytes | Path | None]:
    """Return the modules of a definition's folder, whose own is called "" here; compiled ones have no source."""
    sources: dict[str, bytes | Path | None] = {"": files.get("__init__.py", b"")}
    for path, content in files.items():
        *folders, name = path.split("/")
        for depth in range(1, len(folders) + 1):
            sources.setdefault(".".join(folders[:depth]), b"")
        if name == "__init__.py":
            sources[".".join(folders)] = content
        elif name.endswith((".py", ".so", ".pyd")):
            sources[".".join([*folders, name.partition(".")[0]])] = content if name.endswith(".py") else None
    return sources


def _wrong_imports(module: ast.Module, path: str, own: _Tree) -> Iterator[tuple[int, str, str]]:
    package = path.split("/")[:-1]
    for each in _imports_that_run(module.body):
        if isinstance(each, ast.Import):
            yield from _siblings([(alias.name, alias.lineno) for alias in each.names], own)
            for alias in each.names:
                if alias.name.partition(".")[0] == _MASON:
                    yield from _wrong_module(alias.name, alias.lineno)
        elif each.level:
            yield from _wrong_own(each, package, own)
        elif each.module and each.module.partition(".")[0] == _MASON:
            yield from _wrong_names(each)
        elif each.module:
            yield from _siblings([(each.module, each.lineno)], own)


def _siblings(imported: Sequence[tuple[str, int]], own: _Tree) -> Iterator[tuple[int, str, str]]:
    """A file of the folder is found by `from . import rules` alone: another operator may have one of the same name."""
    for name, line in imported:
        first = name.partition(".")[0]
        if own.has_module(first) and first not in sys.stdlib_module_names and find_spec(first) is None:
            yield line, name, f"is a file of this folder. Write: from . import {first}"


def _wrong_module(name: str, line: int) -> Iterator[tuple[int, str, str]]:
    if not _mason().has_module(name):
        near = did_you_mean(name, _mason().modules())
        yield line, name, f"Mason {__version__} has no such module. {near}".rstrip()


def _wrong_names(node: ast.ImportFrom) -> Iterator[tuple[int, str, str]]:
    module = str(node.module)
    if not _mason().has_module(module):
        yield from _wrong_module(module, node.lineno)
        return
    for alias in node.names:
        if alias.name != "*" and not _mason().has_name(module, alias.name):
            yield alias.lineno, f"{module}.{alias.name}", _no_such_name(module, alias.name)


def _no_such_name(module: str, name: str) -> str:
    elsewhere = _mason().find_definers(name)
    near = did_you_mean(name, _mason().names(module))
    hint = f"Write: from {elsewhere[0]} import {name}" if elsewhere else near
    return f"Mason {__version__} has no {name} in {module}. {hint}".rstrip()


def _wrong_own(node: ast.ImportFrom, package: Sequence[str], own: _Tree) -> Iterator[tuple[int, str, str]]:
    """What `from . import rules` names lies in the definition's own folder, and nothing above it can be reached."""
    written = "." * node.level + (node.module or "")
    if node.level > len(package) + 1:
        yield node.lineno, written, "leads out of the folder that is registered; move what it needs into the folder"
        return
    parents = package[: len(package) - (node.level - 1)]
    module = ".".join([*parents, *([node.module] if node.module else [])])
    if not own.has_module(module):
        yield node.lineno, written, "there is no such module in the folder that is registered"
        return
    broken = own.why_no_python(module)
    if broken:
        yield node.lineno, written, f"is not Python: {broken}"
        return
    for alias in node.names:
        if alias.name != "*" and not own.has_name(module, alias.name):
            near = did_you_mean(alias.name, own.names(module))
            yield alias.lineno, f"{written} import {alias.name}", f"there is no {alias.name} in it. {near}".rstrip()


def _imports_that_run(body: Sequence[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    for each in body:
        if isinstance(each, ast.Import | ast.ImportFrom):
            yield each
        elif isinstance(each, ast.Try | ast.TryStar) and any(map(_forgives, each.handlers)):
            yield from _imports_that_run([*each.orelse, *each.finalbody])
        elif isinstance(each, ast.If) and ast.unparse(each.test).endswith("TYPE_CHECKING"):
            yield from _imports_that_run(each.orelse)
        else:
            yield from _imports_that_run(list(ast.iter_child_nodes(each)))


def _forgives(handler: ast.ExceptHandler) -> bool:
    named = [handler.type] if handler.type is not None else []
    kinds = [kind for each in named for kind in (each.elts if isinstance(each, ast.Tuple) else [each])]
    return not kinds or any(isinstance(kind, ast.Name) and kind.id in _FORGIVING for kind in kinds)


def _bound_names(body: Sequence[ast.AST]) -> Iterator[str]:
    """Yield what a module binds at its top, also inside of `if`, `try` and `with`."""
    for each in body:
        match each:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.ExceptHandler():
                yield from _bound_names(each.body)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                pass
            case _:
                yield from _bound_names(list(ast.iter_child_nodes(each)))
