"""The grading side of a case as canonical JSON: everything that is not sent, and nothing that is.

An old expectation can be applied again, so the text holds the content of the files that checks name, not their paths.
Members that are unset are absent; ``expected`` and ``pass`` have defaults and are therefore always there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from golden.check_schema import schema_of, with_schema
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.price import Price
from golden.project_path import file_inside
from golden.user_schema import read_value
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
        price = _price(suite, case, target)
        if price is not None:
            members["price"] = {name: dollars for name, dollars in asdict(price).items() if dollars is not None}
    if case.known is not None:
        members["known"] = case.known
    if target.select is not None:
        members["select"] = target.select
    return canonical.encode(members).decode()


def digest(text: str) -> str:
    """Return the expectation digest: SHA-256 of the text, 64 lower-case hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _price(suite: Suite, case: Case, target: Target) -> Price | None:
    """Return what the target's model costs, where a check needs to know: costs are made when an answer is read."""
    if target.model is None or not any("max_cost_usd" in check for check in case.checks):
        return None
    return suite.prices.get(target.model)


def _with_content(check: Mapping[str, Any], suite: Suite, case: Case) -> dict[str, Any]:
    named = schema_of(check)
    if not isinstance(named, str):
        return dict(check)
    if named in suite.schemas:
        return with_schema(check, suite.schemas[named])
    return with_schema(check, read_value(file_inside(suite.root, named, Place(case.place), "/checks"), named))
