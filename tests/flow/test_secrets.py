"""Canary secrets in every channel, and a server that echoes all it gets: none on disk, on screen, in logs or hashes."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.capture.server import say, say_json
from tests.flow.conftest import Project

CANARIES = {
    "KEY": "sk-test-canary/key+0001==",
    "TENANT": "tenant-canary-0002",
    "QUERY": "query canary&0003",
    "PROMPT": "prompt-canary-0004",
}

CONFIG = """\
suite = "support"
cases = ["golden/cases/*.yaml"]
graders = ["golden/cases/graders.py"]

[targets.gpt]
type = "openai"
base_url = "{url}?code={{{{ env.QUERY }}}}"
endpoint = "openai"
model = "tiny-1"
api_key = "{{{{ env.KEY }}}}"
headers = {{ X-Tenant = "{{{{ env.TENANT }}}}" }}
retries = 0
"""


@pytest.fixture
def secretive(project: Project) -> Project:
    """A project whose target and prompt are full of secrets."""
    (project.root / "whichclock.toml").write_text(CONFIG.format(url=project.server.url))
    (project.root / "golden/cases/greet.txt").write_text("{{ env.PROMPT }} Say hello to {{ name }}.\n")
    project.env = dict(CANARIES)
    return project


def spellings(secret: str) -> list[bytes]:
    """Return the ways in which a secret may be spelled."""
    plain = secret.encode()
    return [
        plain,
        base64.b64encode(plain),
        base64.b64encode(plain).rstrip(b"="),
        quote(secret, safe="").encode(),
        plain.hex().encode(),
        plain[::-1],
    ]


def leaks(root: Path, *printed: str) -> list[str]:
    """Return where a canary stands: in a file below the root or in what was printed."""
    places = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    places.update({f"output {i}": text.encode() for i, text in enumerate(printed)})
    return [
        f"{name} in {where}"
        for name, secret in CANARIES.items()
        for s in spellings(secret)
        for where, data in places.items()
        if s in data
    ]


def echo_all(asked) -> str:  # type: ignore[no-untyped-def]
    """Return everything that a request holds, as a leaky server would show it."""
    return f"{asked.path} {asked.headers} {asked.body.decode()}"


@pytest.mark.parametrize(
    "spell",
    [
        pytest.param(lambda s: s.upper(), id="upper case"),
        pytest.param(lambda s: s.encode().hex(), id="hexadecimal"),
        pytest.param(lambda s: base64.b64encode(b"x" + s.encode()).decode(), id="base64"),
        pytest.param(lambda s: quote(s, safe=""), id="percent-encoded"),
    ],
)
def test_an_answer_that_spells_a_secret_otherwise_is_refused(secretive: Project, spell) -> None:  # type: ignore[no-untyped-def]
    """The usual spellings are known."""
    secretive.server.fallback = lambda _asked: say(f"It is {spell(CANARIES['KEY'])}!")

    done = secretive.ok("capture", "greet", "--format", "json", code=3)

    assert ["refused"] == [row["outcome"] for row in done.json["rows"]]


def test_an_answer_that_holds_a_secret_is_refused(secretive: Project) -> None:
    """Echoed secrets are neither stored nor shown, and the outcome says why."""
    secretive.server.fallback = lambda asked: say(echo_all(asked))

    done = secretive.ok("capture", "--format", "json", code=3)

    assert {"refused"} == {row["outcome"] for row in done.json["rows"]}
    assert [] == leaks(secretive.root, done.out, done.err)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_error_that_holds_a_secret_is_scrubbed(secretive: Project, status: int) -> None:
    """The server's words are repeated without the values that it should not have said."""
    secretive.server.fallback = lambda asked: say_json({"error": {"message": echo_all(asked)}}, status=status)

    done = secretive.ok("capture", code=3)

    assert [] == leaks(secretive.root, done.out, done.err)
    assert str(status) in done.out + done.err


def test_no_report_and_no_hash_depends_on_a_secret(secretive: Project, tmp_path: Path) -> None:
    """The whole path leaves no trace of a secret, and other secrets give the same keys."""
    secretive.server.fallback = lambda asked: say("Hello Ann")
    printed: list[str] = []
    for command in (
        ["capture"],
        ["capture", "--mode", "live"],
        ["capture", "--dry-run", "--format", "json"],
        ["grade", "--save", "main", "--format", "json"],
        ["diff", "main", "--format", "md"],
        ["diff", "main", "--format", "json", "--out", str(secretive.root / "diff.parquet")],
        ["why", "greet", "main"],
        ["golden", "ls", "--format", "json"],
        ["golden", "check"],
        ["snapshots", "ls"],
        ["snapshots", "show", str(secretive.snapshots[0]) if secretive.snapshots else "0"],
    ):
        done = secretive.run(*command)
        printed += [done.out, done.err]
    names = sorted(p.name[:62] for p in secretive.snapshots)
    other = secretive.copy_to(tmp_path / "other")
    other.env = {name: value.replace("canary", "nightingale") for name, value in CANARIES.items()}

    replayed = other.ok("capture", "--mode", "replay", "--format", "json")

    assert [] == leaks(secretive.root, *printed)
    assert {"replayed"} == {row["outcome"] for row in replayed.json["rows"]}
    assert names == sorted(p.name[:62] for p in other.snapshots)


def test_a_server_that_is_sent_secrets_got_them_whole(secretive: Project) -> None:
    """The wire form holds the values: only the keyed form does not."""
    secretive.server.fallback = lambda asked: say("Hello Ann")
    secretive.ok("capture", "greet")
    (asked,) = secretive.server.asked

    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert (f"Bearer {CANARIES['KEY']}", CANARIES["TENANT"]) == (headers["authorization"], headers["x-tenant"])
    assert asked.path.endswith(f"?code={quote(CANARIES['QUERY'], safe='')}")
    assert asked.prompt.startswith(CANARIES["PROMPT"])


def test_an_unset_variable_is_an_error_of_the_call_that_needs_it(secretive: Project) -> None:
    """Loading, replaying and grading need no credentials; asking does, and names the variable."""
    secretive.env = {name: value for name, value in CANARIES.items() if name != "KEY"}

    done = secretive.ok("capture", "--format", "json", code=3)

    assert {"failed"} == {row["outcome"] for row in done.json["rows"]}
    assert "KEY" in done.json["rows"][0]["error"]
    assert 0 == len(secretive.server.asked)
