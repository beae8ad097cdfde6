"""Suites: found, loaded, checked as a whole, and narrowed to what a command is about."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import unicodedata
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from golden import case_file, configuration, nearest, project_path, target
from golden.case import CaseMaker, Defaults
from golden.configuration import find_config
from golden.model import MAX_ENTRY_BYTES, Case, Suite, Target
from golden.place import Place
from golden.price import Price
from golden.redaction import Redaction
from golden.salt import Salts
from golden.selection import select
from snapshots import location
from snapshots.errors import ConfigError
from snapshots.pointer import escape

__all__ = ["find_config", "load_suite", "select"]


def load_suite(config: Path, *, snapshots: Path | None = None, environ: Mapping[str, str] | None = None) -> Suite:
    """Load a suite and check all of it.

    Args:
        config: the configuration file, as ``find_config`` returns it.
        snapshots: the store that ``--snapshots`` names; it wins over ``WHICHCLOCK_SNAPSHOTS`` and the configuration.
        environ: the environment; the process's own if not given.

    Raises:
        ConfigError: anything in the suite's files is wrong, or they hold no case.
    """
    environ = os.environ if environ is None else environ
    raw, place = configuration.read(config, environ)
    root = config.resolve().parent
    salts = Salts(root)
    targets = _targets(raw["targets"], place, salts)
    prices = {model: Price(**price) for model, price in raw.get("prices", {}).items()}
    maker = CaseMaker(root, _defaults(raw.get("defaults", {}), targets, place), targets, salts, prices)
    files = _case_files(raw["cases"], root, place)
    cases = _cases(files, maker, place)
    warnings = [text for one in targets.values() for text in target.warnings(one)]
    grade = raw.get("grade", {})
    return Suite(
        name=raw["suite"],
        config=config,
        root=root,
        targets=targets,
        cases=cases,
        graders=_graders(raw.get("graders", []), root, place),
        snapshots=location.named(snapshots, environ) or root / raw.get("snapshots", location.DEFAULT),
        results=root / raw.get("results", "results"),
        pass_rate=raw.get("gates", {}).get("pass_rate"),
        grader_timeout_s=float(grade.get("timeout_s", 5.0)),
        grader_memory_mb=int(grade.get("memory_mb", 1024)),
        warnings=(*warnings, *maker.warnings(), *_alike(cases)),
        prompts=maker.prompts,
        schemas=maker.schemas,
        case_files=tuple(files),
        gate_clocks=tuple(raw.get("gates", {}).get("clocks", ())),
        flip_rate=raw.get("drift", {}).get("flip_rate"),
        prices=prices,
        redaction=_redaction(raw.get("redact", {}), place),
        max_entry_bytes=int(raw.get("capture", {}).get("max_entry_bytes", MAX_ENTRY_BYTES)),
    )


def _redaction(raw: Mapping[str, Any], place: Place) -> Redaction:
    patterns = raw.get("patterns", {})
    named = [(f"/redact/patterns/{escape(name)}", pattern) for name, pattern in patterns.items()]
    named += [(f"/redact/allow/{i}", pattern) for i, pattern in enumerate(raw.get("allow", ()))]
    for at, pattern in named:
        try:
            empty = re.compile(pattern).fullmatch("") is not None
        except (re.error, OverflowError, RecursionError) as error:
            raise place.fault(at, f"pattern {pattern[:80]!r} does not compile: {error}") from None
        if empty:
            raise place.fault(at, f"pattern {pattern[:80]!r} matches the empty text")
    return Redaction(
        pointers=tuple(raw.get("pointers", ())),
        patterns=tuple(patterns.items()),
        kinds=tuple(raw.get("kinds", ())),
        allow=tuple(raw.get("allow", ())),
    )


def _targets(tables: Mapping[str, Any], place: Place, salts: Salts) -> dict[str, Target]:
    def at(name: str) -> Place:
        return Place(place.file, None, f"{place.pointer}/targets/{escape(name)}")

    return {name: target.make(name, table, at(name), salts) for name, table in tables.items()}


def _defaults(raw: Mapping[str, Any], targets: Mapping[str, Target], place: Place) -> Defaults:
    named = raw.get("targets")
    for i, name in enumerate(named or ()):
        if name not in targets:
            raise place.fault(f"/defaults/targets/{i}", f"no target {name!r}", hint=nearest.hint(name, targets))
    return Defaults(
        targets=None if named is None else tuple(named),
        trials=int(raw.get("trials", 1)),
        pass_rule=raw.get("pass", "all"),
        salt=raw.get("salt"),
    )


def _graders(patterns: list[str], root: Path, place: Place) -> tuple[Path, ...]:
    found: dict[Path, None] = {}
    for i, pattern in enumerate(patterns):
        found.update(dict.fromkeys(project_path.files_matching(root, pattern, place, f"/graders/{i}")))
    return tuple(found)


def _cases(files: list[Path], maker: CaseMaker, place: Place) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    with _collector_at_rest():
        for raw in (raw for path in files for raw in case_file.read(path, path.relative_to(maker.root).as_posix())):
            case = maker.make(raw)
            if case.id in cases:
                what = f"id {case.id[:80]!r} is already used at {cases[case.id].place}"
                raise raw.place.fault("/id", what, hint="give each case its own id")
            cases[case.id] = case
    if not cases:
        raise ConfigError(f"{place.file}: nothing to do: the files of the suite hold no case", hint="add a case")
    return tuple(cases.values())


@contextlib.contextmanager
def _collector_at_rest() -> Generator[None]:
    """Keep the garbage collector from walking all cases again and again while they only grow: half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _case_files(patterns: list[str], root: Path, place: Place) -> list[Path]:
    """Return the files of all globs, pattern by pattern; a file that two names lead to is read once."""
    found: dict[Path, Path] = {}
    for i, pattern in enumerate(patterns):
        for path in project_path.files_matching(root, pattern, place, f"/cases/{i}"):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _alike(cases: tuple[Case, ...]) -> list[str]:
    """Return a warning for each pair of ids that differ only in Unicode normal form: no eye can tell them apart."""
    first: dict[str, Case] = {}
    warnings: list[str] = []
    for case in cases:
        form = case.id if case.id.isascii() else unicodedata.normalize("NFC", case.id)
        other = first.setdefault(form, case)
        if other is not case:
            warnings.append(
                f"the ids at {other.place} and {case.place} differ only in Unicode normal form; they stay two cases"
            )
    return warnings
