"""JUnit and annotations through the whole command line."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET

from tests.capture.server import say
from tests.flow.conftest import Project


def broken(project: Project) -> None:
    """Let the model greet nobody: one of the two cases newly fails."""
    fallback = project.server.fallback
    project.server.fallback = lambda asked: fallback(asked) if "order" in asked.prompt else say("Hello")
    project.ok("capture", "--mode", "live", "--quiet")


def test_an_annotation_names_the_line_of_the_case_in_its_file(recorded: Project) -> None:
    """``greet`` begins at the ninth line of the file; the exit code is that of every other format."""
    broken(recorded)
    done = recorded.ok("diff", "main", "--format", "github", code=1)

    assert done.out.splitlines()[0].startswith(
        "::error file=golden/cases/cases.yaml,line=9,title=greet [gpt] newly fails::"
    )


def test_files_are_named_from_the_root_of_the_repository(recorded: Project) -> None:
    """The project lies in a folder of it; GitHub knows no other names."""
    broken(recorded)
    parent = recorded.root.parent
    recorded.git("-C", os.fspath(parent), "init", "-q")
    done = recorded.ok("diff", "main", "--format", "github", code=1)

    assert done.out.startswith(f"::error file={recorded.root.name}/golden/cases/cases.yaml,line=9,")


def test_junit_of_the_command_line_is_xml(recorded: Project) -> None:
    """One case fails, one passes, and the same inputs give the same bytes."""
    broken(recorded)
    first, second = (recorded.ok("diff", "main", "--format", "junit", code=1).out for _ in range(2))
    root = ET.fromstring(first.encode())

    assert first == second
    assert {"greet [gpt]": ["failure"], "refuse_invented_order_id [gpt]": []} == {
        case.attrib["name"]: [child.tag for child in case if child.tag != "system-out"]
        for case in root.iter("testcase")
    }
