"""The grading side of a case as canonical JSON: everything that is not sent, and nothing that is.

An old expectation can be applied again, so the text holds the content of the files that checks name, not their paths.
Members that are unset are absent; ``expected`` and ``pass`` have defaults and are therefore always there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from golden.case import read_value
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.project_path import file_inside
from snapshots import canonical


def expectation(suite: Suite, case: Case, target: Target) -> str:
    """Return the canonical JSON text of a case's grading side.

    Args:
        suite: holds the content of the schemas that checks name.
        case: the case.
        target: the target it is graded for; how a generic answer is read (``select``) is part of what is expected.

    Raises:
        ConfigError: a schema file that the suite was not loaded with cannot be read.
    """
    members: dict[str, Any] = {"expected": sorted(set(case.expected)), "pass": case.pass_rule}
    if case.context is not None:
        members["context"] = case.context
    if case.allowed_tools is not None:
        members["allowed_tools"] = sorted(set(case.allowed_tools))
    if case.graders:
        members["graders"] = sorted(set(case.graders))
    if case.checks:
        members["checks"] = [_with_content(check, suite, case) for check in case.checks]
    if case.known is not None:
        members["known"] = case.known
    if target.select is not None:
        members["select"] = target.select
    return canonical.encode(members).decode()


def digest(text: str) -> str:
    """Return the expectation digest: SHA-256 of the text, 64 lower-case hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _with_content(check: Mapping[str, Any], suite: Suite, case: Case) -> dict[str, Any]:
    named = check.get("json_schema")
    if not isinstance(named, str):
        return dict(check)
    if named in suite.schemas:
        return {"json_schema": suite.schemas[named]}
    return {"json_schema": read_value(file_inside(suite.root, named, Place(case.place), "/checks"), named)}
