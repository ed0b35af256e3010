"""Checks the code of a definition by reading it: nothing is imported, nothing runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mason.operators.registration.definition_kind import DefinitionKind
from mason.util.yaml_file import Problem

_SOURCE = "__init__.py"


@dataclass(frozen=True)
class _Module:
    classes: Mapping[str, ast.ClassDef]
    imports: Mapping[str, str]


def check_source(kind: DefinitionKind, class_name: str, files: Mapping[str, bytes], folder: str) -> list[Problem]:
    """Return what is wrong with the class that the definition needs."""
    name = f"{folder}/{_SOURCE}"
    if _SOURCE not in files:
        return (
            [Problem(name, 0, "", f"is missing; it should define the class {class_name}")] if kind.needs_class else []
        )
    try:
        tree = ast.parse(files[_SOURCE])
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", 0) or 0
        return [Problem(name, line, "", f"is not Python: {getattr(error, 'msg', error)}")]
    module = _Module(_classes(tree), _imports(tree))
    found = module.classes.get(class_name)
    if found is None:
        others = ", ".join(module.classes) or "none"
        return [Problem(name, 0, class_name, f"there is no such class; the classes here are: {others}")]
    return [Problem(name, found.lineno, class_name, message) for message in _class_problems(kind, found, module)]


def find_base(kind: DefinitionKind, class_name: str, files: Mapping[str, bytes]) -> str:
    """Return which of the classes that a definition may inherit from its class does; "" for none."""
    try:
        tree = ast.parse(files.get(_SOURCE, b""))
    except (SyntaxError, ValueError):
        return ""
    module = _Module(_classes(tree), _imports(tree))
    found = module.classes.get(class_name)
    names = _base_names(_lineage(found, module), module) if found else set()
    return next((name for name in kind.bases if name in names), "")


def defines_function(source: bytes, name: str) -> bool:
    """Say whether a module that is Python has a function of this name, its own or one that it imports."""
    defined: set[str] = set()
    for each in ast.parse(source).body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            defined.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name for alias in each.names}
        elif isinstance(each, ast.Assign):
            defined |= {target.id for target in each.targets if isinstance(target, ast.Name)}
    return name in defined


def _class_problems(kind: DefinitionKind, found: ast.ClassDef, module: _Module) -> list[str]:
    lineage = _lineage(found, module)
    base = next((name for name in kind.bases if name in _base_names(lineage, module)), None)
    if base is None:
        wanted = [name.rpartition(".") for name in kind.bases]
        imports = " or ".join(f"from {place} import {name}" for place, _, name in wanted)
        return [f"must inherit from {' or '.join(name for _, _, name in wanted)} ({imports})"]
    methods = {each.name: each for cls in reversed(lineage) for each in cls.body if isinstance(each, ast.FunctionDef)}
    problems = []
    for method, parameters in kind.bases[base].items():
        if method not in methods:
            problems.append(f"has no method {method}({', '.join(parameters)})")
        elif not _takes(methods[method], parameters):
            problems.append(f"its method {method} must take ({', '.join(parameters)})")
    for method, parameters in kind.optional_methods.items():
        if method in methods and not _takes(methods[method], parameters):
            problems.append(f"its method {method} must take ({', '.join(parameters)})")
    return problems


def _lineage(found: ast.ClassDef, module: _Module) -> Sequence[ast.ClassDef]:
    """Return the class and those of its ancestors that stand in the same file, the class first."""
    lineage = [found]
    for each in lineage:  # grows while it is walked
        parents = (module.classes.get(_dotted_name(base)) for base in each.bases)
        lineage += [parent for parent in parents if parent is not None and parent not in lineage]
    return lineage


def _base_names(lineage: Sequence[ast.ClassDef], module: _Module) -> set[str]:
    names = set()
    for each in lineage:
        for base in each.bases:
            first, _, rest = _dotted_name(base).partition(".")
            origin = module.imports.get(first, first)
            names.add(f"{origin}.{rest}" if rest else origin)
    return names


def _takes(method: ast.FunctionDef, parameters: Sequence[str]) -> bool:
    arguments = method.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    needed = len(names) - len(arguments.defaults)
    required_keywords = [default for default in arguments.kw_defaults if default is None]
    enough = len(names) >= len(parameters) or arguments.vararg is not None
    return enough and needed <= len(parameters) and not required_keywords


def _classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}


def _imports(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.Import):
            for alias in each.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(each, ast.ImportFrom) and each.module and not each.level:
            for alias in each.names:
                names[alias.asname or alias.name] = f"{each.module}.{alias.name}"
    return names


def _dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _dotted_name(node.value)
    if isinstance(node, ast.Attribute):
        return f"{_dotted_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
