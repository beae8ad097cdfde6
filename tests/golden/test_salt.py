"""Salts stand in the key verbatim, or as the digest of files."""

from __future__ import annotations

import hashlib

import pytest

from tests.golden.conftest import CONFIG, Project


def digest_of(*pairs: tuple[str, bytes]) -> str:
    """Compute the documented digest by hand: canonical JSON of sorted ``[path, sha256]`` pairs."""
    listed = ",".join(f'["{path}","{hashlib.sha256(data).hexdigest()}"]' for path, data in pairs)
    return "sha256:" + hashlib.sha256(f"[{listed}]".encode()).hexdigest()


def test_the_digest_is_that_of_the_canonical_list_of_paths_and_digests(project: Project) -> None:
    """Sorted by path, CRLF read as LF."""
    project.write("prompts/b.md", b"two\r\nlines\r\n")
    project.write("prompts/a.md", b"one")

    assert (
        digest_of(("prompts/a.md", b"one"), ("prompts/b.md", b"two\nlines\n"))
        == project.case(salt="$digest: prompts/*.md").salt
    )


def test_the_glob_is_rendered_with_the_variables_of_the_case(project: Project) -> None:
    """One default serves many cases."""
    project.write("prompts/en/a.md", b"hello")
    project.config(CONFIG + '[defaults]\nsalt = "$digest: prompts/{{ lang }}/*.md"\n')

    assert digest_of(("prompts/en/a.md", b"hello")) == project.case(vars={"lang": "en"}).salt


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("prompts/*.md", "'prompts/*.md' matches no file at /0/salt"),
        ("../*.md", "'../*.md' leads outside the project at /0/salt"),
        ("/etc/*", "'/etc/*' leads outside the project at /0/salt"),
        ("{{ who }}", "template (line 1 of the text): 'who' is undefined at /0/salt"),
        ("{{ env.HOME }}", "template (line 1 of the text): 'env' is undefined at /0/salt"),
        ("", "'' is no path at /0/salt"),
    ],
)
def test_a_glob_without_files_or_outside_is_refused(project: Project, glob: str, message: str) -> None:
    """A salt that digests nothing would never move."""
    project.cases({"id": "c", "prompt": "hi", "salt": f"$digest: {glob}"})

    assert f"cases/a.json: {message}" == project.refused().message


def test_a_link_that_leads_outside_is_refused(project: Project) -> None:
    """Also when only one of several matches does."""
    outside = project.root.parent / f"{project.root.name}-outside.md"
    outside.write_text("x")
    project.write("prompts/a.md", "x")
    (project.root / "prompts" / "b.md").symlink_to(outside)
    project.cases({"id": "c", "prompt": "hi", "salt": "$digest: prompts/*.md"})

    assert "'prompts/b.md'" in project.refused().message


def test_a_folder_that_is_a_link_to_outside_is_refused(project: Project) -> None:
    """The files in it are outside."""
    outside = project.root.parent / f"{project.root.name}-folder"
    outside.mkdir()
    (outside / "a.md").write_text("x")
    (project.root / "prompts").symlink_to(outside)
    project.cases({"id": "c", "prompt": "hi", "salt": "$digest: prompts/*.md"})

    assert "is a symbolic link to a file outside the project" in project.refused().message


@pytest.mark.parametrize("salt", ["", " $digest: x", "digest", "{{ who }}", "é"])
def test_other_salts_are_verbatim(project: Project, salt: str) -> None:
    """Nothing is rendered or trimmed."""
    assert {"case": salt} == project.rendered(salt=salt).document["salt"]


def test_a_changed_file_is_another_request(project: Project) -> None:
    """The salt moves the request clock."""
    project.write("p.md", "a")
    first = project.rendered(salt="$digest: p.md").request_hash
    project.write("p.md", "b")

    assert first != project.rendered(salt="$digest: p.md").request_hash


def test_a_target_may_have_a_digest_too(project: Project) -> None:
    """Its glob has no variables."""
    project.write("lora.bin", b"w")
    project.config(CONFIG + 'salt = "$digest: lora.bin"\n')

    assert {"target": digest_of(("lora.bin", b"w"))} == project.rendered(prompt="hi").document["salt"]
