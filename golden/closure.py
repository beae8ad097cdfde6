"""Which project modules a grader module imports, found by reading and not by running."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from pathlib import Path

from snapshots.errors import ConfigError

OURS = frozenset({"capture", "diff", "golden", "grade", "snapshots", "whichclock"})


@dataclass(slots=True)
class Closure:
    """``modules``: dotted name → file of each project module; ``outside``: top-level names of installed packages."""

    modules: dict[str, Path] = field(default_factory=dict[str, Path])
    outside: set[str] = field(default_factory=set[str])


def closure(entry: Path, root: Path) -> Closure:
    """Return what a grader module imports, directly or not, at any depth of its code.

    Args:
        entry: the grader's file.
        root: the project root, which stands last on the import path.

    Raises:
        ConfigError: a file does not parse, or an import names a project module that another one of that name hides.
    """
    found = Closure()
    waiting = [(entry, "")]
    seen: set[Path] = set()
    while waiting:
        file, package = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in _imports(_parse(file, root), package):
            waiting.extend(_follow(name, root, file, found))
    return found


def _parse(file: Path, root: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), filename=str(file))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = f"{shown(file, root)}:{line}" if line else shown(file, root)
        raise ConfigError(f"{place}: the grader module does not parse: {getattr(error, 'msg', error)}") from None
    except OSError as error:
        raise ConfigError(f"{shown(file, root)}: cannot read the grader module: {error.strerror}") from None


def defined_names(file: Path, root: Path) -> set[str] | None:
    """Return the names that a module defines at its top, or ``None`` where reading cannot tell: it takes in all of another's.

    Raises:
        ConfigError: the file does not parse.
    """
    names: set[str] = set()
    for node in ast.walk(_parse(file, root)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return None
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def shown(file: Path, root: Path) -> str:
    """Return a project file as messages call it: relative to the root, with forward slashes."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".") if package else []
                kept = parts[: len(parts) - node.level + 1]
                base = ".".join([*kept, *([base] if base else [])])
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def _follow(name: str, root: Path, importer: Path, found: Closure) -> Iterator[tuple[Path, str]]:
    top = name.split(".", 1)[0]
    own = _own_file(root, top)
    if top in OURS:
        # Our packages stand first, so a project module of that name can never be imported.
        if own is not None and top != "whichclock" and (root / Path(*name.split("."))).with_suffix(".py").is_file():
            raise _hidden(name, root, importer, "whichclock's own package")
        return
    if top in sys.stdlib_module_names:
        return
    if own is None:
        found.outside.add(top)
        return
    installed = PathFinder.find_spec(top, [p for p in sys.path if p and Path(p).resolve() != root])
    if installed is not None and installed.origin is not None:
        raise _hidden(name, root, importer, "an installed package")
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        dotted = ".".join(parts[:i])
        file = _own_file(root, *parts[:i])
        if file is not None and file.is_file() and dotted not in found.modules:
            found.modules[dotted] = file
            yield file, dotted if file.name == "__init__.py" else dotted.rpartition(".")[0]


def _own_file(root: Path, *parts: str) -> Path | None:
    """Return the project's file for a dotted name, its folder for a namespace package, or ``None``."""
    base = root.joinpath(*parts)
    for file in (base / "__init__.py", base.with_name(base.name + ".py")):
        if file.is_file():
            return file
    return base if base.is_dir() and any(base.glob("**/*.py")) else None


def _hidden(name: str, root: Path, importer: Path, by: str) -> ConfigError:
    top = name.split(".", 1)[0]
    return ConfigError(
        f"{shown(importer, root)}: imports {name}, but the project's {top} is hidden by {by} of that name",
        hint=f"rename the project's {top}, or move what graders share into a module with another name",
    )
