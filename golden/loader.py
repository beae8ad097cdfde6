"""Load a suite's graders: by file, then by name, each with the digest and the sources that its code consists of.

Runs inside a grading worker, after the purity guard is up. The project root is appended to the import path, never put first.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from golden.closure import Closure, closure, shown
from golden.digest import grader_digest
from golden.grader import MARK, takes_case
from snapshots.errors import ConfigError

Watch = Callable[[], AbstractContextManager[set[str]]]


@dataclass(frozen=True, slots=True)
class Grader:
    """One grader ready to be called. ``digest`` is the digest of its module's code."""

    name: str
    function: Callable[..., Any]
    takes_case: bool
    digest: str
    place: str


@dataclass(slots=True)
class Graders:
    """All graders of a suite. ``sources``: digest → ``{"entry": path, "files": {path: text}}``, the source bundles."""

    by_name: dict[str, Grader] = field(default_factory=dict[str, Grader])
    sources: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    runtime: dict[str, str] = field(default_factory=dict[str, str])

    def find(self, names: Iterable[str]) -> None:
        """Check that every name is a grader.

        Raises:
            ConfigError: one is not; near names are shown.
        """
        for name in names:
            if name not in self.by_name:
                near = get_close_matches(name, self.by_name, 1)
                known = ", ".join(sorted(self.by_name)) or 'none: set graders = ["FILE.py"] in the configuration'
                raise ConfigError(
                    f"no grader is named {name!r}",
                    hint=f"did you mean {near[0]!r}?" if near else f"graders found: {known}",
                )


def load(root: Path, files: Iterable[Path], watch: Watch) -> Graders:
    """Import the grader files and return their graders.

    Args:
        root: the project root.
        files: the configured grader files, in order.
        watch: a context that yields the set of files opened while it is active.

    Raises:
        ConfigError: a file fails to import, two define one name, or a function is no grader.
    """
    if str(root) not in sys.path:
        sys.path.append(str(root))
    found = Graders()
    loaded: list[tuple[Path, ModuleType, Closure, set[str]]] = []
    before = set(sys.modules)
    brought: list[tuple[set[str], set[str]]] = []
    for number, file in enumerate(files):
        reach = closure(file, root)
        with watch() as opened:
            module = _import(file, f"_whichclock_graders_{number}", root)
        earlier = {name for names, _ in brought for name in names}
        brought.append((reach.modules.keys() - earlier, opened))
        # A module that an earlier grader file has brought in read its data then: the data belongs to whoever imports the module.
        shared = [files for names, files in brought if names & reach.modules.keys()]
        loaded.append((file, module, reach, opened.union(*shared)))
    late = _late_modules(before, root)
    for file, module, reach, opened in loaded:
        _take(found, file, module, root, {**late, **reach.modules}, opened)
        found.runtime.update(_versions(reach.outside))
    return found


def _import(file: Path, name: str, root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{shown(file, root)}: a grader file must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        # Whatever a user's module raises, SystemExit included, is reported with the line of theirs that raised it.
        raise ConfigError(
            f"{_line(error, file, root)}: the grader module fails to import: {type(error).__name__}: {error}",
            hint="graders import offline, with an empty environment; install what they need beside whichclock",
        ) from None
    return module


def _line(error: BaseException, file: Path, root: Path) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(root)]
    if not frames:
        return shown(file, root)
    return f"{shown(Path(frames[-1].filename), root)}:{frames[-1].lineno}"


def _late_modules(before: set[str], root: Path) -> dict[str, Path]:
    """Return project modules that were imported in ways that reading the code does not show."""
    outside = [Path(sys.prefix).resolve(), *(Path(p).resolve() for p in sysconfig.get_paths().values())]
    found: dict[str, Path] = {}
    for name in sorted(set(sys.modules) - before):
        file = getattr(sys.modules[name], "__file__", None)
        if not isinstance(file, str) or name.startswith("_whichclock_graders_"):
            continue
        path = Path(file).resolve()
        if (
            path.suffix == ".py"
            and path.is_relative_to(root)
            and not any(path.is_relative_to(o) and o.is_relative_to(root) and o != root for o in outside)
        ):
            found[name] = path
    return found


def _take(
    found: Graders, file: Path, module: ModuleType, root: Path, modules: Mapping[str, Path], opened: set[str]
) -> None:
    sources = {name: path.read_bytes() for name, path in modules.items() if path != file}
    files = {shown(Path(p), root): Path(p).read_bytes() for p in _data_files(opened, root, [file, *modules.values()])}
    digest = grader_digest(file.read_bytes(), sources, files)
    texts = {shown(path, root): _text(path.read_bytes()) for path in (file, *modules.values())}
    texts.update({name: _text(data) for name, data in files.items()})
    found.sources[digest] = {"entry": shown(file, root), "files": texts}
    for name, function in vars(module).items():
        if (
            not callable(function)
            or getattr(function, "__module__", None) != module.__name__
            or isinstance(function, type)
        ):
            continue
        marked = getattr(function, MARK, False)
        if name.startswith("_") and not marked:
            continue
        try:
            wants_case = takes_case(function)
        except TypeError:
            continue  # a function of the module that is no grader; naming it in a case is reported there
        if name in found.by_name and found.by_name[name].digest != digest and marked:
            raise ConfigError(
                f"two graders are named {name!r}: in {found.by_name[name].place} and in {shown(file, root)}",
                hint="rename one of them; cases name graders by function name alone",
            )
        found.by_name.setdefault(name, Grader(name, function, wants_case, digest, f"{shown(file, root)}:{name}"))


def _data_files(opened: set[str], root: Path, code: list[Path]) -> list[str]:
    known = {str(path) for path in code}
    prefix = Path(sys.prefix).resolve()
    return sorted(
        p
        for p in opened
        if p not in known
        and not p.endswith((".py", ".pyc"))
        and Path(p).is_relative_to(root)
        and not (prefix.is_relative_to(root) and Path(p).is_relative_to(prefix))
        and Path(p).is_file()
    )


def _text(data: bytes) -> Any:
    """Return a source as text, or as ``{"base64": …}`` where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        import base64

        return {"base64": base64.b64encode(data).decode("ascii")}


def _versions(names: Iterable[str]) -> dict[str, str]:
    """Return the installed versions of top-level modules, by module name; what has no version is ``unknown``."""
    wanted = sorted(names)
    if not wanted:
        return {}
    from importlib import metadata

    try:
        owners = metadata.packages_distributions()
        return {name: metadata.version(owners[name][0]) if name in owners else "unknown" for name in wanted}
    except metadata.PackageNotFoundError:
        return dict.fromkeys(wanted, "unknown")
