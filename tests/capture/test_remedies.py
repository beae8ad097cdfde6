"""What a capture says about rows without an answer: the nearest recording, a command to paste, and a hint that helps."""

from __future__ import annotations

import shlex
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from capture.ceiling import dollars
from capture.report import remedies, summary_lines
from capture.result import CaptureResult, Outcome, Row
from capture.run import Mode
from golden.model import Selection
from golden.remedy import record_command
from golden.suite import select
from snapshots.console import Console
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, say_json


def errors(result: CaptureResult) -> list[str | None]:
    return [row.error for row in result.rows]


def test_a_replay_miss_names_the_nearest_recorded_request(one: Project) -> None:
    """As the dry run words it: whose recording it is and where the request differs."""
    [old] = one.capture().rows
    one.write({"id": "hello", "prompt": "hullo"})

    assert [
        f"nothing is recorded for this request: differs from {old.request_hash[:12]} at /body/messages/0/content"
    ] == errors(one.capture(Mode.REPLAY))


def test_a_replay_miss_says_that_another_base_url_is_another_key(one: Project) -> None:
    """Where the address alone differs, and where it differs among others."""
    [old] = one.capture().rows
    one.write({"id": "hello", "prompt": "hello"}, base_url="http://gateway.example.com/v1")
    alone = errors(one.capture(Mode.REPLAY))
    one.write({"id": "hello", "prompt": "hullo"}, base_url="http://gateway.example.com/v1")
    among = errors(one.capture(Mode.REPLAY))

    assert [
        (
            f"nothing is recorded for this request: recorded under another address as {old.request_hash[:12]}: another base URL is "
            'another key; endpoint = "name" on the target would share'
        )
    ] == alone
    assert [
        (
            f"nothing is recorded for this request: differs from {old.request_hash[:12]} at /url, /body/messages/0/content; "
            "another base URL is another key"
        )
    ] == among


def test_a_replay_of_an_empty_store_has_no_neighbour_to_name(project: Project) -> None:
    """Each row is a miss, and none is explained by what is not there."""
    assert ["nothing is recorded for this request"] * 2 == errors(project.capture(Mode.REPLAY))


def test_all_that_is_missed_is_recorded_by_one_command(project: Project) -> None:
    """The command names the cases, not just the first of them."""
    hints = list(remedies(project.capture(Mode.REPLAY)))

    assert ["record them with: whichclock capture --target gpt hello bye"] == hints


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ((["a"],), "whichclock capture a"),
        (([],), "whichclock capture"),
        ((["a*b", "what?", "[x]"], ["gpt"]), "whichclock capture --target gpt 'a[*]b' 'what[?]' '[[]x]'"),
        ((["two words"],), "whichclock capture 'two words'"),
        ((["-x", "--help"],), "whichclock capture -- -x --help"),
    ],
)
def test_the_command_means_these_cases_alone(arguments: Any, command: str) -> None:
    """Globs are escaped, options are ended, words are quoted."""
    assert command == record_command(*arguments)


def test_a_pasted_command_selects_what_it_names(project: Project) -> None:
    """An id that is a glob selects itself and not what it matches."""
    project.write(*({"id": name, "prompt": name} for name in ("a*b", "axb", "[x]", "x")))
    suite = project.suite()

    selected = [
        {row.case.id for row in select(suite, Selection(tuple(shlex.split(record_command([name]))[2:])))}
        for name in ("a*b", "[x]")
    ]
    assert [{"a*b"}, {"[x]"}] == selected


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.REPLAY, Mode.LIVE])
def test_a_corrupt_file_is_restored_and_not_asked_again(
    project: Project, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    """The hint is a command with the file's path; running again would not help."""
    monkeypatch.chdir(project.root)
    project.capture()
    damaged = next(path for path in project.files() if b'"hello"' in path.read_bytes())
    damaged.write_bytes(b"")
    result = project.capture(mode)

    assert "failed" == outcomes(result)[0]
    assert [f"restore it from git or a copy, e.g. git checkout -- {damaged.relative_to(project.root)}"] == list(
        remedies(result)
    )


def test_a_file_of_a_later_format_is_not_restored(one: Project) -> None:
    """What is no damage gets the hint that its own error has."""
    one.capture()
    [path] = one.files()
    data = path.read_bytes().replace(b"whichclock.snapshot/1", b"whichclock.snapshot/9")
    from hashlib import sha256

    head = data[: data.rindex(b'"integrity"')]
    digest = sha256(head).hexdigest()
    path.unlink()
    name = ".".join([*path.name.split(".")[:4], digest[:8], "json"])
    path.with_name(name).write_bytes(head + b'"integrity":"sha256:' + digest.encode() + b'"\n}\n')

    assert ["use a newer whichclock"] == list(remedies(one.capture()))


def test_a_missing_credential_is_to_be_set(one: Project) -> None:
    """The hint names the variable."""
    one.write({"id": "hello", "prompt": "hello"}, target='api_key = "{{ env.TRY_API_KEY }}"')
    result = one.capture()

    assert ["variable TRY_API_KEY is not set"] == errors(result)
    assert ["set TRY_API_KEY where capture runs"] == list(remedies(result))


def test_a_refused_connection_is_the_servers_to_start(one: Project) -> None:
    """Nobody listens there: the hint says so, after the retries."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        one.write({"id": "hello", "prompt": "hello"}, base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        result = one.capture()

    assert ["failed"] == outcomes(result)
    assert ["nothing answers at the target's base_url: start the server there, or correct the address"] == list(
        remedies(result)
    )


def test_a_credential_that_is_not_accepted_is_to_be_checked(one: Project, server: ModelServer) -> None:
    """401 is no failure that passes by itself."""
    server.fallback = lambda asked: say_json({"error": {"message": "no"}}, 401)

    assert ["the server does not accept the credential: check the variable that the target's api_key names"] == list(
        remedies(one.capture())
    )


def test_hints_are_few_and_each_is_said_once() -> None:
    """A thousand rows of one kind have one hint; rows without one are to be run again."""

    def row(i: int, hint: str) -> Row:
        return Row(str(i), "gpt", 0, "0" * 64, None, Outcome.FAILED, shared=False, error="e", hint=hint)

    rows = [row(i, hint) for i, hint in enumerate(["a", "a", "", "b", "c", "d", "a"])]
    told = list(remedies(CaptureResult(tuple(rows), calls=0)))

    assert ["a", "b", "c", "… and 1 more like these"] == told[:4]
    assert ["run the same command again: only what has no answer is asked"] == told[4:]


def test_a_path_outside_the_working_directory_is_told_whole(
    one: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command must work where it is pasted."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    one.capture()
    one.files()[0].write_bytes(b"")
    [hint] = remedies(one.capture())

    assert hint.endswith(f"git checkout -- {one.files()[0]}")


def _row(outcome: Outcome, error: str, **more: Any) -> Row:
    return Row("c", "gpt", 0, "0" * 64, None, outcome, shared=False, error=error, **more)


def test_a_failed_live_run_goes_on_with_its_log(one: Project, server: ModelServer) -> None:
    """The same command alone would ask everything again and pay for it again."""
    server.fallback = lambda asked: say_json({"error": {"message": "busy"}}, 503)
    result = one.capture(Mode.LIVE)
    assert result.log is not None

    assert [f"run the same command again with --resume {result.log.name}: only what has no answer is asked"] == list(
        remedies(result, Mode.LIVE)
    )


@pytest.mark.parametrize("status", [400, 403, 404, 422, 501, 505])
def test_what_the_server_turns_down_is_not_to_be_run_again(one: Project, server: ModelServer, status: int) -> None:
    """It was asked once, and would be told the same."""
    server.fallback = lambda asked: say_json({"error": {"message": "no"}}, status)
    result = one.capture()

    assert (["failed"], 1, []) == (outcomes(result), result.calls, list(remedies(result)))


def test_a_program_that_fails_is_not_to_be_run_again(one: Project) -> None:
    """An exit code and rubbish are the program's to mend."""
    one.write({"id": "hello", "prompt": "hello", "targets": ["sut"]}, target=EXEC.format("raise SystemExit(2)"))
    assert (["failed"], []) == (outcomes(one.capture()), list(remedies(one.capture())))
    one.write({"id": "hello", "prompt": "hello", "targets": ["sut"]}, target=EXEC.format("print(1)"))

    assert (["failed"], []) == (outcomes(one.capture()), list(remedies(one.capture())))


EXEC = f"[targets.sut]\ntype = 'exec'\ncommand = ['{sys.executable}', '-c', '{{}}']"


def test_a_budget_too_small_for_one_call_is_to_be_raised(one: Project) -> None:
    """81 bytes and 10 tokens at a dollar for a million; running again would never begin."""
    one.write(
        {"id": "hello", "request": {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 10}},
        more='[prices."tiny-1"]\ninput = 1\noutput = 1',
    )
    # What is sent, spelled out: its length and ten tokens of output bound the cost.
    body = b'{"model":"tiny-1","messages":[{"role":"user","content":"hello"}],"max_tokens":10}'
    most = len(body) + 10
    result = one.capture(max_cost=0.00001)

    assert (0, 1, most / 1_000_000) == (result.calls, result.left, result.too_dear_usd)
    assert ["1 row is left by the budget: the next call may cost up to 0.000091 US dollars: raise --max-cost"] == list(
        remedies(result)
    )
    assert 91 == most


def test_a_budget_of_no_call_is_to_be_raised(one: Project) -> None:
    """Running again with it would ask nothing again."""
    assert ["1 row is left by the budget: it is too small for a single call: raise it"] == list(
        remedies(one.capture(max_calls=0))
    )


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0.0187, "0.019"), (0.000091, "0.000091"), (0.1, "0.10"), (12.341, "12.35"), (3.0, "3.00"), (0.0, "0.00")],
)
def test_a_bound_is_shown_rounded_up(amount: float, text: str) -> None:
    """What is shown is enough, and no more than two digits of it."""
    assert f"{text} US dollars" == dollars(amount)


def test_rows_that_nobody_asked_for_are_one_line() -> None:
    """An interrupt or a budget leaves many for one reason; what failed by itself is told one by one."""
    rows = [
        _row(Outcome.FAILED, "HTTP 403: no"),
        *(_row(Outcome.FAILED, "interrupted before it was answered", is_unasked=True) for _ in range(26)),
        *(_row(Outcome.REFUSED, "over the budget of 2 calls", is_left=True) for _ in range(3)),
        _row(Outcome.REFUSED, "over the budget of 2 calls (last: HTTP 503)", is_left=True),
    ]
    told = list(summary_lines(CaptureResult(tuple(rows), calls=2), Console("never")))

    assert [
        "failed  c  gpt  HTTP 403: no",
        "failed  26 rows  interrupted before it was answered",
        "refused  3 rows  over the budget of 2 calls",
        "refused  c  gpt  over the budget of 2 calls (last: HTTP 503)",
        "31 planned, 27 failed, 4 refused; 2 calls",
    ] == told


def test_a_refused_connection_says_what_the_system_says(one: Project) -> None:
    """Host, port and reason; nothing of TLS, for there is none at an http address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        one.write({"id": "hello", "prompt": "hello"}, base_url=f"http://127.0.0.1:{port}/v1", target="retries = 0")
        [error] = errors(one.capture())

    assert f"cannot connect to 127.0.0.1, port {port}: Connection refused" == error
