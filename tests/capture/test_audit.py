"""``--dry-run --audit``: what would be written, before anything is asked or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from capture.audit import Audit, audit, audit_lines
from capture.options import CaptureOptions
from golden.model import Selection
from golden.suite import select
from snapshots.errors import UsageError
from snapshots.response import KEPT_HEADERS
from tests.capture.conftest import Project
from tests.capture.server import ModelServer, say

RULES = '[redact]\nkinds = ["email"]\npointers = ["/request/body/user"]\n[redact.patterns]\ncustomer = "C-[0-9]{4}"'
MAIL = {
    "id": "mail",
    "request": {"messages": [{"role": "user", "content": "C-1234 is ann@example.com"}], "user": "u-1"},
}
PLAIN = {"id": "plain", "prompt": "hi"}
KEY = {"id": "key", "prompt": "use sk-test-abcdef0123456789"}


def looked(project: Project, *, trials: int | None = None) -> Audit:
    suite = project.suite()
    return audit(suite, select(suite, Selection(trials=trials)), CaptureOptions(environ={}))


def row(made: Audit, case_id: str) -> Any:
    return next(one for one in made.as_dict()["rows"] if one["case_id"] == case_id)


def everything(root: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in root.rglob("*")}


def test_an_audit_asks_and_writes_nothing(project: Project, server: ModelServer) -> None:
    """Not even a folder."""
    project.write(MAIL, PLAIN, KEY, more=RULES)
    before = everything(project.root)
    list(audit_lines(looked(project)))

    assert (before, []) == (everything(project.root), server.asked)


def test_the_request_is_shown_as_it_would_be_written(project: Project) -> None:
    """Without what the rules take out, and with where and by which rule."""
    project.write(MAIL, PLAIN, more=RULES)
    made = looked(project)
    mail = row(made, "mail")

    assert {
        "model": "tiny-1",
        "messages": [{"role": "user", "content": "[redacted:customer] is [redacted:email]"}],
        "user": "[redacted]",
    } == mail["request"]["body"]
    assert [
        {"pointer": "/request/body/user", "rule": "/request/body/user"},
        {"pointer": "/request/body/messages/0/content", "rule": "customer"},
        {"pointer": "/request/body/messages/0/content", "rule": "email"},
    ] == mail["redacted"]
    assert (True, None, [], []) == (mail["asked"], mail["refused"], mail["recorded"], row(made, "plain")["redacted"])


def test_the_path_is_that_of_the_file(project: Project, server: ModelServer) -> None:
    """What is recorded afterwards lies where the audit said."""
    project.write(MAIL, more=RULES)
    path = row(looked(project), "mail")["path"]
    server.fallback = lambda _asked: say("A")
    project.capture()

    assert [project.files()[0]] == list((project.root / "snapshots").glob(path))


def test_a_request_that_would_be_refused_says_why(project: Project) -> None:
    """The place and not the value."""
    project.write(KEY)
    made = looked(project)

    assert (
        "the request holds what looks like a credential at /request/body/messages/0/content and is not stored"
        == row(made, "key")["refused"]
    )
    assert {"planned": 1, "asked": 1, "refused": 1, "redacted": 0} == made.as_dict()["summary"]


def test_an_answer_that_is_recorded_already_is_looked_at_with_todays_rules(
    project: Project, server: ModelServer
) -> None:
    """The file stays as it is; what was taken out of it before is not told again."""
    server.fallback = lambda _asked: say("write to ann@example.com or [redacted:email]")
    project.write(PLAIN)
    project.capture()
    project.write(PLAIN, more=RULES)
    plain = row(looked(project), "plain")

    assert (False, [{"pointer": "/response/body/choices/0/message/content", "rule": "email"}]) == (
        plain["asked"],
        plain["recorded"],
    )


def test_the_rules_and_what_is_kept_of_an_answer_are_listed(project: Project) -> None:
    """With the digest that stands in the files."""
    project.write(PLAIN, more=RULES)
    made = looked(project)
    value = made.as_dict()

    assert {"headers": sorted(KEPT_HEADERS), "body": "whole, after the rules"} == value["response"]
    assert (project.suite().redaction.digest, ["email"]) == (value["rules"]["digest"], list(value["rules"]["kinds"]))
    assert "rules: /request/body/user, customer, email" in list(audit_lines(made))
    assert "nothing was asked, nothing was written; --mode off asks and writes no answer" == list(audit_lines(made))[-1]


def test_each_trial_has_its_line(project: Project) -> None:
    """Trials of one request are files of their own."""
    project.write(PLAIN)

    assert [0, 1] == [one["trial"] for one in looked(project, trials=2).as_dict()["rows"]]


def test_the_text_is_neutral(project: Project) -> None:
    """A case's id commands no terminal."""
    project.write({"id": "a\x1b[31m", "prompt": "hi"})

    assert not [line for line in audit_lines(looked(project)) if "\x1b" in line]


def test_nothing_planned_is_an_error(project: Project) -> None:
    """As for a capture."""
    suite = project.suite()
    with pytest.raises(UsageError):
        audit(suite, (), CaptureOptions())
