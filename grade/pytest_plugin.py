"""``pytest --whichclock``: every golden case is a test, and any test may have a frozen envelope.

The suite is graded once, when the first of its tests runs. A test is one case × target: it fails as ``whichclock grade`` would, and its
message holds the finding sets and the snapshot that was judged. A case that is known to fail is an expected failure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from golden.model import Planned, Suite
    from snapshots.envelope import Envelope
    from snapshots.errors import WhichclockError

_FINDINGS = ("expected", "findings", "missing", "unexpected")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("whichclock", "golden cases of whichclock")
    group.addoption("--whichclock", action="store_true", help="collect the golden cases as tests")
    group.addoption(
        "--whichclock-config",
        metavar="FILE",
        help="configuration of the suite (default: whichclock.toml or pyproject.toml, found upwards from the root directory)",
    )


class _Session:
    """The suite of a pytest session, loaded and graded when it is first needed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @cached_property
    def suite(self) -> Suite:
        from golden.suite import find_config, load_suite

        named = self._config.getoption("--whichclock-config")
        return load_suite(find_config(Path(self._config.rootpath), None if named is None else Path(named)))

    @cached_property
    def rows(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        from grade.api import grade

        rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in grade(self.suite).rows():
            rows.setdefault((row["case_id"], row["target"]), []).append(row)
        return rows


_KEY = pytest.StashKey[_Session]()


def _session(config: pytest.Config) -> _Session:
    if _KEY not in config.stash:
        config.stash[_KEY] = _Session(config)
    return config.stash[_KEY]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add one test for each case × target, before ``-k`` and ``-m`` choose among them."""
    if not config.getoption("--whichclock"):
        return
    from golden.model import Selection
    from golden.suite import select
    from snapshots.errors import WhichclockError

    try:
        suite = _session(config).suite
        planned = {(row.case.id, row.target.name): row for row in select(suite, Selection())}
    except WhichclockError as error:
        raise pytest.UsageError(f"whichclock: {error.message}{f' ({error.hint})' if error.hint else ''}") from None
    for row in planned.values():
        items.append(GoldenItem.from_parent(session, name=f"{row.case.id}[{row.target.name}]", planned=row))


class GoldenFailure(Exception):
    """A case that does not pass, told as the report of a test."""


class GoldenItem(pytest.Item):
    """One case × target."""

    def __init__(self, *, planned: Planned, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._planned = planned
        for tag in planned.case.tags:
            self.keywords[tag] = True

    def runtest(self) -> None:
        """Fail where ``whichclock grade`` would."""
        case = self._planned.case
        rows = _session(self.config).rows[case.id, self._planned.target.name]
        passed = rows[0]["case_passed"]
        if passed is None:
            raise GoldenFailure(_told(rows, "could not be judged"))
        if case.known == "flaky" and not passed:
            pytest.xfail("known: flaky")
        if case.known == "failing":
            if passed:
                raise GoldenFailure("it passes though it is marked known: failing; take the mark away")
            pytest.xfail("known: failing")
        if not passed:
            raise GoldenFailure(_told(rows, "fails"))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone: the traceback would be ours."""
        if isinstance(excinfo.value, GoldenFailure):
            return f"{self.name} {excinfo.value}"
        from snapshots.errors import WhichclockError

        if isinstance(excinfo.value, WhichclockError):
            return _reason(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the case stands."""
        file, _, line = self._planned.case.place.rpartition(":")
        if not line.isdigit():
            file, line = self._planned.case.place.partition("#")[0], ""
        root = _session(self.config).suite.root
        return root / file, int(line) - 1 if line else None, self.name


def _reason(error: WhichclockError) -> str:
    return f"{error.message}\n{error.hint}".rstrip()


def _told(rows: list[dict[str, Any]], what: str) -> str:
    from grade.problem import evidence_lines
    from grade.report import show_command
    from snapshots.console import neutral

    lines = [what]
    for row in rows:
        if row["status"] == "pass":
            continue
        trial = f" trial {row['trial']}" if len(rows) > 1 else ""
        error = f": {neutral(row['error'])}" if row["error"] else ""
        lines.append(f"  {row['status']}{trial}{error}")
        if row["status"] == "fail":
            lines += [f"    {name}: {', '.join(row[name]) or '-'}" for name in _FINDINGS]
            lines += [f"    evidence: {one}" for one in evidence_lines(row["evidence"], row["unexpected"])]
        if row["answer_hash"]:
            lines.append(f"    snapshot: {_prefix(row)}  ({show_command(row['request_hash'])})")
    return "\n".join(lines)


def _prefix(row: dict[str, Any]) -> str:
    request = row["request_hash"]
    return f"sha256/{request[:2]}/{request[2:]}.{row['trial']}.*.{row['integrity'][:8]}.json"


@pytest.fixture(scope="session")
def frozen_envelope(pytestconfig: pytest.Config) -> Callable[..., Envelope]:
    """Return a function that gives the frozen answer of a case: ``frozen_envelope("case id", target="gpt", trial=0)``."""
    from grade.api import envelope
    from snapshots.errors import WhichclockError

    def of(case_id: str, target: str | None = None, trial: int = 0) -> Envelope:
        try:
            return envelope(_session(pytestconfig).suite, case_id, target, trial)
        except WhichclockError as error:
            reason = _reason(error)
        pytest.fail(reason, pytrace=False)  # outside of the handler: pytest would show what the error came from

    return of
