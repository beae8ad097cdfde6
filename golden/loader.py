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
from golden.grader import MARK, Asks, count, takes_case
from snapshots.errors import ConfigError

Watch = Callable[[], AbstractContextManager[set[str]]]


@dataclass(frozen=True, slots=True)
class Grader:
    """One grader ready to be called. ``digest`` is the digest of its module's code.

    ``asks`` is there for a grader that needs answers of its own; ``asks_takes`` is how many arguments that function takes.
    """

    name: str
    function: Callable[..., Any]
    takes_case: bool
    digest: str
    place: str
    marked: bool = True
    asks: Asks | None = None
    asks_takes: int = 0


@dataclass(slots=True)
class Graders:
    """All graders of a suite. ``sources``: digest → ``{"entry": path, "files": {path: text}}``, the source bundles.

    ``files`` are the modules of the project that graders may import, at once or later.
    """

    by_name: dict[str, Grader] = field(default_factory=dict[str, Grader])
    sources: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    runtime: dict[str, str] = field(default_factory=dict[str, str])

    twice: dict[str, str] = field(default_factory=dict[str, str])
    files: set[Path] = field(default_factory=set[Path])

    def add(self, grader: Grader) -> None:
        """Add a grader; a decorated one wins over a plain function of its name, and of two equals neither does."""
        other = self.by_name.get(grader.name)
        if other is None or (grader.marked and not other.marked):
            self.by_name[grader.name] = grader
        elif grader.marked == other.marked and grader.digest != other.digest:
            self.twice[grader.name] = f"{other.place} and {grader.place}"

    def find(self, names: Mapping[str, str]) -> None:
        """Check that every name is a grader.

        Args:
            names: name → place of a case that lists it.

        Raises:
            ConfigError: one is none, or two; near names are shown.
        """
        for name, place in names.items():
            if name in self.twice:
                raise ConfigError(f"{place}: {name!r} names two graders: {self.twice[name]}", hint="rename one of them")
            if name not in self.by_name:
                near = get_close_matches(name, self.by_name, 1)
                known = ", ".join(sorted(self.by_name)) or 'none: set graders = ["FILE.py"] in the configuration'
                raise ConfigError(
                    f"{place}: no grader is named {name!r}",
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
    loaded: list[_Loaded] = []
    for number, file in enumerate(files):
        reach = closure(file, root)
        before = set(sys.modules)
        with watch() as opened:
            module = _import(file, f"_whichclock_graders_{number}", root)
        late = _late_modules(
            before, root, known=reach.modules.keys() | {n for one in loaded for n in one.reach.modules}
        )
        loaded.append(_Loaded(file, module, reach, opened, late))
    for one in loaded:
        found.files.update((one.file, *one.late.values(), *one.reach.modules.values()))
        _take(found, one, root, loaded)
        found.runtime.update(_versions(one.reach.outside))
    return found


@dataclass(slots=True)
class _Loaded:
    """A grader file as it was imported: what it reaches by its code, what it read, and what it imported in other ways."""

    file: Path
    module: ModuleType
    reach: Closure
    opened: set[str]
    late: dict[str, Path]

    def with_shared(self, everyone: list[_Loaded]) -> tuple[dict[str, Path], set[str]]:
        """Return all modules and data files of the file's graders.

        A module that an earlier grader file had imported did its reading and importing then: that belongs to whoever imports the module,
        and to nobody else.
        """
        modules, opened = {**self.late, **self.reach.modules}, set(self.opened)
        for other in everyone:
            if other is self:
                break
            if other.reach.modules.keys() & self.reach.modules.keys():
                modules = {**other.late, **modules}
                opened |= other.opened
        return modules, opened


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
            hint=_import_hint(error, file),
        ) from None
    return module


def _import_hint(error: BaseException, file: Path) -> str:
    name = str(getattr(error, "name", None) or "").split(".")[0]
    relative = isinstance(error, ImportError) and "relative import" in str(error)
    if relative or (isinstance(error, ImportError) and name and (file.parent / f"{name}.py").is_file()):
        return "modules that graders share stand in the project root, beside the configuration, and are imported by their full name"
    return "graders import offline, with an empty environment; install what they need beside whichclock"


def _line(error: BaseException, file: Path, root: Path) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(root)]
    if not frames:
        return shown(file, root)
    return f"{shown(Path(frames[-1].filename), root)}:{frames[-1].lineno}"


def _late_modules(before: set[str], root: Path, known: set[str]) -> dict[str, Path]:
    """Return project modules that have been imported since, in ways that reading the code does not show."""
    outside = [Path(sys.prefix).resolve(), *(Path(p).resolve() for p in sysconfig.get_paths().values())]
    found: dict[str, Path] = {}
    for name in sorted(set(sys.modules) - before):
        file = getattr(sys.modules[name], "__file__", None)
        if not isinstance(file, str) or name in known or name.startswith("_whichclock_graders_"):
            continue
        path = Path(file).resolve()
        if (
            path.suffix == ".py"
            and path.is_relative_to(root)
            and not any(path.is_relative_to(o) and o.is_relative_to(root) and o != root for o in outside)
        ):
            found[name] = path
    return found


def _take(found: Graders, one: _Loaded, root: Path, everyone: list[_Loaded]) -> None:
    """Add the graders of a file, with the digest and the bundle of their code."""
    modules, opened = one.with_shared(everyone)
    sources = {name: path.read_bytes() for name, path in modules.items() if path != one.file}
    data = {
        shown(Path(p), root): Path(p).read_bytes() for p in _data_files(opened, root, [one.file, *modules.values()])
    }
    digest = grader_digest(one.file.read_bytes(), sources, data)
    texts = {shown(path, root): _text(path.read_bytes()) for path in (one.file, *modules.values())}
    texts.update({name: _text(content) for name, content in data.items()})
    found.sources[digest] = {"entry": shown(one.file, root), "files": texts}
    for name, function in vars(one.module).items():
        if (
            not callable(function)
            or getattr(function, "__module__", None) != one.module.__name__
            or isinstance(function, type)
        ):
            continue
        mark = getattr(function, MARK, None)
        place = f"{shown(one.file, root)}:{name}"
        if isinstance(mark, Asks):
            takes = count(mark.function)
            found.add(Grader(name, function, count(function) == 3, digest, place, True, mark, takes))
            continue
        try:
            wants_case = takes_case(function)
        except TypeError:
            continue  # a function of the module that is no grader; naming it in a case is reported there
        if mark or not name.startswith("_"):
            found.add(Grader(name, function, wants_case, digest, place, bool(mark)))


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
