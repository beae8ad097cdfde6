"""Control captures: the old requests, asked today and stored under their old names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.capture.conftest import Project
from tests.capture.server import ModelServer, echo, model_server, say

WHICHCLOCK = Path(sys.executable).with_name("whichclock")
OLD, NEW = {"id": "hello", "prompt": "hello"}, {"id": "hello", "prompt": "hullo"}
ENDPOINT = 'endpoint = "gpt"\n'


def git(root: Path, *words: str) -> str:
    """Run git with an invented author."""
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    return subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def run(root: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    told = {name: os.environ[name] for name in ("PATH", "BASE_URL") if name in os.environ}
    env = {**told, "HOME": str(root), **environ}
    return subprocess.run([str(WHICHCLOCK), *words], cwd=root, env=env, capture_output=True, text=True, check=False)


def control(root: Path, ref: str, *words: str, code: int = 0, **environ: str) -> Any:
    """Run a control capture and return what it says as JSON."""
    done = run(root, "capture", "--control", ref, "--format", "json", *words, **environ)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stdout + done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr}


def commit(root: Path) -> None:
    (root / ".gitignore").write_text("results/\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change")


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prompt that was captured, graded as ``main`` and committed; only ever copied."""
    root = tmp_path_factory.mktemp("committed") / "project"
    root.mkdir()
    with model_server() as running:
        made = Project(root, "${env:BASE_URL}")
        made.write(OLD, target=ENDPOINT)
        git(root, "init", "-q")
        assert 0 == run(root, "capture", BASE_URL=running.url).returncode
        assert 0 == run(root, "grade", "--save", "main", BASE_URL=running.url).returncode
    commit(root)
    return root


@pytest.fixture
def edited(committed: Path, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The copy of a committed prompt with a server of its own, and the prompt edited since."""
    shutil.copytree(committed, tmp_path / "project", symlinks=True)
    monkeypatch.setenv("BASE_URL", server.url)
    made = Project(tmp_path / "project", "${env:BASE_URL}")
    made.write(NEW, target=ENDPOINT)
    return made


REFS: dict[str, Callable[[Project], str]] = {
    "a label": lambda project: "main",
    "a file": lambda project: str(next((project.root / "results" / "main").glob("*.parquet"))),
    "a revision": lambda project: "git:HEAD",
}


@pytest.mark.parametrize("ref", REFS.values(), ids=REFS.keys())
def test_the_old_request_is_asked_today(edited: Project, server: ModelServer, ref: Callable[[Project], str]) -> None:
    """The server sees the old prompt; the same answer is unchanged, another one stands beside the old under the old hash."""
    [before] = edited.files()
    same = control(edited.root, ref(edited))
    server.fallback = lambda asked: say("other words")
    moved = control(edited.root, ref(edited))

    assert ["hello", "hello"] == [asked.prompt for asked in server.asked]
    assert (["unchanged"], ["moved"]) == tuple([row["outcome"] for row in one["rows"]] for one in (same, moved))
    assert [before.parent, before.parent] == [path.parent for path in edited.files()]
    assert [before.name.split(".")[0]] * 2 == [path.name.split(".")[0] for path in edited.files()]
    assert moved["rows"][0]["request_hash"] == before.parent.name + before.name.split(".")[0]


@pytest.mark.parametrize("ref", REFS.values(), ids=REFS.keys())
def test_the_log_says_control(edited: Project, ref: Callable[[Project], str]) -> None:
    """Whoever reads it knows that these are no requests of today's suite."""
    named = ref(edited)
    control(edited.root, named)
    log = sorted((edited.root / "snapshots" / "log").glob("*.jsonl"))[-1]
    header = max(
        (json.loads(path.read_text().splitlines()[0]) for path in log.parent.glob("*.jsonl")),
        key=lambda h: "control" in h,
    )

    assert (named, "live", False) == (header["control"], header["mode"], "golden" in header)


def test_a_clone_can_ask_again(edited: Project, server: ModelServer, tmp_path: Path) -> None:
    """The revision and the store come with it; saved runs need not."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(edited.root), str(clone))
    (clone / "cases.jsonl").write_text(json.dumps(NEW) + "\n")
    made = control(clone, "git:HEAD")

    assert ["unchanged"] == [row["outcome"] for row in made["rows"]]
    assert "hello" == server.asked[-1].prompt


def test_nothing_of_the_revision_stays_behind(edited: Project, tmp_path: Path) -> None:
    """Its folder is gone, and the work tree is as it was but for the log."""
    before = git(edited.root, "status", "--porcelain")
    folders = tmp_path / "temporary"
    folders.mkdir()
    control(edited.root, "git:HEAD", TMPDIR=str(folders))

    assert before == git(edited.root, "status", "--porcelain")
    assert [] == list(folders.iterdir())


def test_a_program_of_the_revision_is_run(one: Project) -> None:
    """Its tree is the working directory: the old program answers, and the new one is not touched."""
    config = f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.bot]\ntype = "exec"\ncommand = [{json.dumps(sys.executable)}, "bot.py"]\n'
    (one.root / "whichclock.toml").write_text(config)
    program = "import json, sys\njson.load(sys.stdin)\nprint(json.dumps({'output': OUTPUT}))\n"
    (one.root / "bot.py").write_text(program.replace("OUTPUT", "'old'"))
    git(one.root, "init", "-q")
    commit(one.root)
    (one.root / "bot.py").write_text(program.replace("OUTPUT", "'new'"))
    made = control(one.root, "git:HEAD")
    [file] = one.files()

    assert ["recorded"] == [row["outcome"] for row in made["rows"]]
    assert "old" == json.loads(file.read_text())["response"]["body"]["output"]


def test_a_program_of_a_saved_run_is_asked_what_it_was_asked(one: Project) -> None:
    """Its standard input is in the store; the program is today's."""
    config = f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.bot]\ntype = "exec"\ncommand = [{json.dumps(sys.executable)}, "bot.py"]\n'
    (one.root / "whichclock.toml").write_text(config)
    (one.root / "bot.py").write_text(
        "import json, sys\nasked = json.load(sys.stdin)\nprint(json.dumps({'output': asked['prompt']['messages'][0]['content']}))\n"
    )
    assert 0 == run(one.root, "capture").returncode
    run(one.root, "grade", "--save", "main")
    one_line = json.dumps(NEW) + "\n"
    (one.root / "cases.jsonl").write_text(one_line)

    assert ["unchanged"] == [row["outcome"] for row in control(one.root, "main")["rows"]]


def _target_gone(project: Project) -> None:
    text = (project.root / "whichclock.toml").read_text()
    (project.root / "whichclock.toml").write_text(text.replace("[targets.gpt]", "[targets.new]"))


def _headers(project: Project) -> None:
    project.write(NEW, target=ENDPOINT + 'headers = { x-tenant = "acme" }')


def _address(project: Project) -> None:
    project.write(NEW, target='endpoint = "elsewhere"\n')


def _salted(project: Project) -> None:
    project.write(NEW, target=ENDPOINT + 'salt = "2"')


def _no_store(project: Project) -> None:
    for path in project.files():
        path.unlink()


LOST: dict[str, tuple[Callable[[Project], None], str]] = {
    "the target is gone": (_target_gone, "there is no target 'gpt' any more"),
    "a header": (_headers, "target gpt asks otherwise now, at /headers"),
    "an address": (_address, "target gpt asks otherwise now, at /url"),
    "a salt": (_salted, "target gpt asks otherwise now, at /salt"),
    "an empty store": (_no_store, "its request is not in the store"),
}


@pytest.mark.parametrize(("edit", "why"), LOST.values(), ids=LOST.keys())
def test_a_row_that_cannot_be_asked_from_a_saved_run_is_named_with_the_remedy(
    edited: Project, server: ModelServer, edit: Callable[[Project], None], why: str
) -> None:
    """Nothing is asked in its place; the revision that rendered it still can."""
    before = len(server.asked)
    edit(edited)
    made = control(edited.root, "main", code=3)

    assert [("failed", why)] == [(row["outcome"], row["error"]) for row in made["rows"]]
    assert "hint: name the revision that rendered it: --control git:REV" in made["stderr"]
    assert before == len(server.asked)


@pytest.mark.parametrize(
    ("target", "prompt", "more"),
    [
        ('params = { user = "{{ env.WHO }}" }', "hello", ""),
        ("", "I am ann@example.com", '[redact]\nkinds = ["email"]'),
    ],
    ids=["a variable", "redacted"],
)
def test_a_recorded_request_that_does_not_hold_all_that_was_sent(
    one: Project, target: str, prompt: str, more: str
) -> None:
    """The store does not know it, so only the revision can ask it again."""
    one.write({"id": "hello", "prompt": prompt}, target=ENDPOINT + target, more=more)
    git(one.root, "init", "-q")
    commit(one.root)
    assert 0 == run(one.root, "capture", WHO="ann").returncode
    run(one.root, "grade", "--save", "main")
    lost = control(one.root, "main", code=3, WHO="ann")
    made = control(one.root, "git:HEAD", WHO="ann")

    assert ["the recorded request does not hold all that was sent (a variable, or something redacted)"] == [
        row["error"] for row in lost["rows"]
    ]
    assert ["unchanged"] == [row["outcome"] for row in made["rows"]]


def test_a_variable_in_the_address_stands_in_the_way_of_nothing(one: Project, server: ModelServer) -> None:
    """The address is today's target's; only the body comes from the store."""
    base = server.url.removesuffix("v1") + "{{ env.VERSION }}"
    one.write(OLD, base_url=base)
    assert 0 == run(one.root, "capture", VERSION="v1").returncode
    run(one.root, "grade", "--save", "main")
    one.write(NEW, base_url=base)

    assert ["unchanged"] == [row["outcome"] for row in control(one.root, "main", VERSION="v1")["rows"]]


def test_the_rows_of_a_saved_run_are_selected_as_cases_are(one: Project, server: ModelServer) -> None:
    """By id, glob, tag, target and trial; what is not selected is not asked."""
    cases = [{"id": f"c{i}", "prompt": str(i), "tags": [f"t{i}"], "trials": 2} for i in range(3)]
    one.write(*cases, target=ENDPOINT)
    assert 0 == run(one.root, "capture").returncode
    run(one.root, "grade", "--save", "main")

    def chosen(*words: str) -> list[tuple[str, int]]:
        return [(row["case_id"], row["trial"]) for row in control(one.root, "main", *words)["rows"]]

    assert [("c1", 0), ("c1", 1)] == chosen("c1")
    assert 6 == len(chosen("c*"))
    assert [("c2", 0), ("c2", 1)] == chosen("--tag", "t2")
    assert [("c0", 0), ("c1", 0), ("c2", 0)] == chosen("--trials", "1")


REFUSED: dict[str, tuple[str, list[str], str]] = {
    "no label": ("nope", [], "'nope' names no saved run"),
    "no revision": ("git:nope", [], "git:nope names no commit"),
    "no file": ("nope.parquet", [], "no results file nope.parquet"),
    "no case": ("main", ["nobody"], "no case is selected"),
    "replay": ("main", ["--mode", "replay"], "--control and --mode replay do not go together"),
    "a batch": ("main", ["--batch-out", "night"], "--control and --batch-out do not go together"),
    "a dry run": ("main", ["--dry-run"], "--dry-run and --control do not go together"),
}


@pytest.mark.parametrize(("ref", "words", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_names_nothing_is_an_error(
    edited: Project, server: ModelServer, ref: str, words: list[str], why: str
) -> None:
    """Exit code 2, before anything is asked."""
    before = len(server.asked)
    done = run(edited.root, "capture", "--control", ref, *words)

    assert (2, before) == (done.returncode, len(server.asked)), done.stderr
    assert f"error: {why}" in done.stderr


def test_a_file_of_another_kind_is_refused(edited: Project) -> None:
    """Parquet of somebody else, or no Parquet at all."""
    (edited.root / "x.parquet").write_bytes(b"PAR1")
    done = run(edited.root, "capture", "--control", "x.parquet")

    assert (2, True) == (done.returncode, "error: x.parquet is no results file" in done.stderr)


def test_another_suite_is_refused(edited: Project) -> None:
    """Two suites are never mixed."""
    text = (edited.root / "whichclock.toml").read_text()
    (edited.root / "whichclock.toml").write_text(text.replace('suite = "s"', 'suite = "t"'))
    done = [run(edited.root, "capture", "--control", ref) for ref in ("main", "git:HEAD")]

    assert [2, 2] == [one.returncode for one in done]
    assert all("is of the suite 's', this is 't'" in one.stderr for one in done)


def test_a_revision_that_does_not_load_is_one_error(edited: Project) -> None:
    """The text names the file in the revision, not in a folder that is gone."""
    (edited.root / "cases.jsonl").write_text("{")
    commit(edited.root)
    edited.write(NEW, target=ENDPOINT)
    done = run(edited.root, "capture", "--control", "git:HEAD")

    assert 2 == done.returncode
    assert "error: git:HEAD cannot be asked again: cases.jsonl:1" in done.stderr
    assert "/tmp/" not in done.stderr


def test_both_answers_are_there_for_a_comparison(edited: Project, server: ModelServer) -> None:
    """The old request has today's answer, and the edited one is recorded beside it."""
    server.fallback = lambda asked: say("today") if asked.prompt == "hello" else echo(asked)
    control(edited.root, "main")
    assert 0 == run(edited.root, "capture").returncode

    requests = {json.loads(path.read_text())["request"]["body"]["messages"][0]["content"] for path in edited.files()}
    assert ({"hello", "hullo"}, 3) == (requests, len(edited.files()))
