"""The four modes: who answers, what is stored, and what is never asked."""

from __future__ import annotations

import socket

import pytest

from capture.result import Outcome
from capture.run import Mode
from snapshots.errors import UsageError
from tests.capture.conftest import NOON, Project, outcomes
from tests.capture.server import ModelServer, completion, say, say_json


def test_auto_asks_for_what_is_missing_and_replays_the_rest(project: Project, server: ModelServer) -> None:
    """The second auto capture makes no call and gives the same answers."""
    first = project.capture()
    second = project.capture()

    assert ["recorded", "recorded"] == outcomes(first)
    assert ["replayed", "replayed"] == outcomes(second)
    assert (2, 0) == (first.calls, second.calls)
    assert [row.answer_hash for row in first.rows] == [row.answer_hash for row in second.rows]
    assert 2 == len(server.asked)


def test_a_stored_snapshot_holds_request_raw_response_and_meta(one: Project) -> None:
    """The file keeps the body as it came and says how it was come by."""
    one.capture()

    [found] = one.store.walk()
    snapshot = one.store.read(found)
    assert completion("you said: hello") == snapshot.response["body"]
    assert {"content-type": "application/json"} == snapshot.response["headers"]
    assert {"model": "tiny-1", "messages": [{"role": "user", "content": "hello"}]} == snapshot.request["body"]
    assert "2025-11-30T12:00:00Z" == snapshot.recorded_at
    latency = snapshot.meta.pop("latency_ms")
    assert latency >= 0
    assert {"attempts": 1, "target": "gpt", "cases": ["hello"], "tool": "whichclock/0.1.0"} == snapshot.meta


def test_replay_makes_no_client_and_needs_no_credential(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay answers what is recorded and calls the rest missed, without a socket or a variable."""
    project.write({"id": "hello", "prompt": "hello"}, target='api_key = "{{ env.TRY_API_KEY }}"')
    project.capture(environ={"TRY_API_KEY": "sk-test-0123456789"})
    project.write(
        {"id": "hello", "prompt": "hello"}, {"id": "new", "prompt": "new"}, target='api_key = "{{ env.TRY_API_KEY }}"'
    )

    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("replay opened a socket")

    def no_transport() -> None:
        raise AssertionError("replay made a client")

    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.setattr(socket, "create_connection", no_socket)
    result = project.capture(Mode.REPLAY, transport=no_transport)

    assert ["replayed", "missed"] == outcomes(result)
    assert 3 == result.exit_code
    assert 0 == result.calls


def test_live_stores_nothing_while_the_answer_stands_still(one: Project) -> None:
    """Asking again for the same answer is unchanged and leaves one file."""
    one.capture()

    assert ["unchanged"] == outcomes(one.capture(Mode.LIVE))
    assert 1 == len(one.files())


def test_live_on_an_empty_store_records(one: Project) -> None:
    """A first answer has nothing to have moved from."""
    assert ["recorded"] == outcomes(one.capture(Mode.LIVE))


def test_four_live_captures_of_two_alternating_answers_make_four_observations(
    one: Project, server: ModelServer
) -> None:
    """A, B, A, B within one second are four files in the order of asking, and the last one is current."""
    server.replies = [say("A"), say("B"), say("A"), say("B")]

    results = [one.capture(Mode.LIVE) for _ in range(4)]

    assert ["recorded", "moved", "moved", "moved"] == [outcomes(result)[0] for result in results]
    observations = [one.store.read(found) for found in one.store.observations(results[0].rows[0].request_hash, 0)]
    assert ["A", "B", "A", "B"] == [o.response["body"]["choices"][0]["message"]["content"] for o in observations]
    assert [NOON, NOON + 1, NOON + 2, NOON + 3] == [NOON + int(o.recorded_at[-3:-1]) for o in observations]
    assert results[3].rows[0].answer_hash == one.capture(Mode.REPLAY).rows[0].answer_hash


def test_the_same_answer_from_another_reported_model_is_kept_and_has_not_moved(
    one: Project, server: ModelServer
) -> None:
    """The same words from another reported model are stored beside the old ones, and both names are told."""
    server.replies = [say("A", model="tiny-1"), say("A", model="tiny-2")]
    first, second = one.capture(Mode.LIVE), one.capture(Mode.LIVE)

    assert (["relabelled"], 0) == (outcomes(second), second.exit_code)
    assert "reported by another model: tiny-1 → tiny-2" == second.rows[0].label
    assert first.rows[0].answer_hash == second.rows[0].answer_hash
    assert 2 == len(one.files())


def test_members_that_differ_in_every_answer_are_no_move(one: Project, server: ModelServer) -> None:
    """Another id, second, fingerprint and usage is the same answer."""
    other = completion("A") | {"id": "chatcmpl-2", "created": 2, "usage": {}, "system_fingerprint": "fp_2"}
    server.replies = [say("A"), say_json(other)]
    one.capture(Mode.LIVE)

    assert ["unchanged"] == outcomes(one.capture(Mode.LIVE))


def test_off_asks_and_stores_nothing(one: Project) -> None:
    """The answer's hash is told, and no snapshot is written."""
    result = one.capture(Mode.OFF)

    assert ["asked"] == outcomes(result)
    assert 0 == result.exit_code
    assert result.rows[0].answer_hash is not None
    assert [] == one.files()


def test_trials_are_asked_one_by_one_and_replayed_in_order(one: Project, server: ModelServer) -> None:
    """Five trials are five answers; the second run gives the same five without a call."""
    one.write({"id": "hello", "prompt": "hello"}, target="concurrency = 1")
    server.replies = [say(f"draw {i}") for i in range(5)]
    first = one.capture(trials=5)
    second = one.capture(trials=5)

    assert [0, 1, 2, 3, 4] == [row.trial for row in second.rows]
    assert [row.answer_hash for row in first.rows] == [row.answer_hash for row in second.rows]
    assert 5 == len({row.answer_hash for row in second.rows})
    assert 5 == len(server.asked)


def test_more_trials_ask_only_for_the_new_ones(one: Project, server: ModelServer) -> None:
    """Raising the number of trials keeps what is recorded."""
    one.capture()
    result = one.capture(trials=3)

    assert ["replayed", "recorded", "recorded"] == outcomes(result)
    assert 3 == len(server.asked)


def test_equal_requests_of_several_cases_are_asked_once(project: Project, server: ModelServer) -> None:
    """Cases that share a request share its answer; those that rode along are marked, and the file names all."""
    project.write(*({"id": name, "prompt": "same"} for name in ("b", "a", "c")))
    result = project.capture()

    assert 1 == len(server.asked)
    assert ["b", "a", "c"] == [row.case_id for row in result.rows]
    assert [False, True, True] == [row.shared for row in result.rows]
    assert {"planned": 3, "calls": 1, "recorded": 3} == {
        name: result.summary[name] for name in ("planned", "calls", "recorded")
    }
    [found] = project.store.walk()
    assert ["a", "b", "c"] == project.store.read(found).meta["cases"]


@pytest.mark.parametrize("mode", list(Mode))
def test_a_corrupt_current_file_fails_and_is_not_asked(one: Project, server: ModelServer, mode: Mode) -> None:
    """Damage is reported by path in every mode; no live call hides it."""
    one.capture()
    [path] = one.files()
    path.write_bytes(path.read_bytes()[:-40])
    result = one.capture(mode)

    assert ["failed"] == outcomes(result)
    assert f"sha256/{path.parent.name}/{path.name}" in (result.rows[0].error or "")
    assert 3 == result.exit_code
    assert 1 == len(server.asked)


def test_a_corrupt_file_behind_the_current_one_does_no_harm(one: Project, server: ModelServer) -> None:
    """Only the last name of an identity is read."""
    server.replies = [say("A"), say("B")]
    one.capture(Mode.LIVE)
    one.capture(Mode.LIVE)
    one.files()[0].write_bytes(b"{}")

    assert ["replayed"] == outcomes(one.capture())


def test_a_corrupt_file_sorted_last_counts_as_the_current_one(one: Project) -> None:
    """A damaged newer observation is not passed over for the sound older one."""
    one.capture()
    [path] = one.files()
    later = path.with_name(path.name.replace("20251130T120000Z", "20261130T120000Z"))
    later.write_bytes(path.read_bytes())

    result = one.capture()
    assert [Outcome.FAILED] == [row.outcome for row in result.rows]
    assert later.name in (result.rows[0].error or "")


def test_line_ends_changed_by_a_checkout_are_no_damage(one: Project) -> None:
    """A store with CRLF line ends replays."""
    one.capture()
    [path] = one.files()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert ["replayed"] == outcomes(one.capture(Mode.REPLAY))


def test_a_recording_far_ahead_of_the_clock_is_warned_of(one: Project, server: ModelServer) -> None:
    """A clock set back still writes the newer answer behind the older one, and says so."""
    server.replies = [say("A"), say("B")]
    one.capture(Mode.LIVE)
    one.second -= 3600
    result = one.capture(Mode.LIVE)

    assert ["moved"] == outcomes(result)
    assert result.rows[0].answer_hash == one.capture(Mode.REPLAY).rows[0].answer_hash
    assert ["an answer was recorded 60 minutes ahead"] == [text.partition(" of this")[0] for text in result.warnings]


def test_a_plan_without_rows_is_a_usage_error(one: Project) -> None:
    """Nothing selected is never a success."""
    from capture.run import capture

    with pytest.raises(UsageError, match="nothing to do"):
        capture(one.suite(), ())


def test_no_more_calls_are_open_than_the_target_allows(project: Project, server: ModelServer) -> None:
    """The target's own limit holds, and --concurrency lowers it."""
    server.delay_s = 0.02
    cases = [{"id": str(i), "prompt": str(i)} for i in range(12)]
    project.write(*cases, target="concurrency = 4")
    project.capture()
    wide = server.most_open
    server.most_open = 0
    project.capture(Mode.LIVE, concurrency=2)

    assert (4, 2) == (wide, server.most_open)


def test_a_new_store_gets_its_git_files_once(one: Project) -> None:
    """The files are made with the store and are the user's from then on."""
    one.capture()
    root = one.root / "snapshots"
    made = (root / ".gitattributes").read_text(), (root / ".gitignore").read_text()
    (root / ".gitattributes").unlink()
    (root / ".gitignore").write_text("mine\n")
    one.capture(Mode.LIVE)

    assert ("sha256/** -text linguist-generated diff=whichclock\n", "tmp/\nlog/\n") == made
    assert not (root / ".gitattributes").exists()
    assert "mine\n" == (root / ".gitignore").read_text()
