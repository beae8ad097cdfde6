"""The dry run: what would be asked, and the edit that made it so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capture.bill import bill, bill_lines
from capture.options import CaptureOptions
from capture.run import Mode
from golden.model import Selection
from golden.suite import select
from snapshots.errors import UsageError
from snapshots.nearest import Neighbours, nearest
from tests.capture.conftest import Project
from tests.capture.server import ModelServer


def bill_of(project: Project, mode: Mode = Mode.AUTO, trials: int | None = None, **options: Any) -> Any:
    suite = project.suite()
    return bill(suite, select(suite, Selection(trials=trials)), CaptureOptions(mode=mode, **options))


def test_an_empty_store_is_billed_in_full(project: Project, server: ModelServer) -> None:
    """Every identity is a call, by target; nothing is asked and nothing is written."""
    made = bill_of(project)

    assert (2, 2, {"gpt": 2}, 0) == (made.planned, made.calls, made.by_target, made.replayed)
    assert [
        "nothing is recorded yet",
        "hello  gpt",
        "bye  gpt",
        "target  calls",
        "gpt         2",
        "2 planned, 0 replayed: 2 calls, retries not counted",
    ] == list(bill_lines(made))
    assert [] == server.asked
    assert not (project.root / "snapshots").exists()


def test_shared_requests_are_billed_once(project: Project) -> None:
    """Cases that share a request cost one call."""
    project.write(*({"id": name, "prompt": "same"} for name in "abc"))
    made = bill_of(project)

    assert (3, 1) == (made.planned, made.calls)


def test_an_edited_prompt_is_named_by_its_own_recording(project: Project) -> None:
    """Of the recorded requests the one with the fewest differing characters is the one that was edited."""
    texts = {"a": "Where is my order A-17, please?", "b": "Cancel my order."}
    project.write(*({"id": name, "prompt": text} for name, text in texts.items()))
    recorded = {row.case_id: row.request_hash for row in project.capture().rows}
    project.write({"id": "a", "prompt": "Where is my order A-18, please?"}, {"id": "b", "prompt": texts["b"]})
    made = bill_of(project)
    [line] = made.lines

    assert (1, 1) == (made.calls, made.replayed)
    assert ("a", (recorded["a"], ("/body/messages/0/content",))) == (line.case_id, tuple(line.nearest))
    assert f"a  gpt  differs from {recorded['a'][:12]} at /body/messages/0/content" == next(iter(bill_lines(made)))


@pytest.mark.parametrize(
    ("target", "pointers"),
    [
        ("params = { temperature = 0 }", ("/body/temperature",)),
        ('headers = { x-tenant = "acme" }', ("/headers",)),
        ('salt = "2"', ("/salt",)),
    ],
)
def test_an_edited_target_is_named_by_its_pointers(one: Project, target: str, pointers: tuple[str, ...]) -> None:
    """Parameters, headers and salts are part of the key, and are named as such."""
    one.capture()
    one.write({"id": "hello", "prompt": "hello"}, target=target)
    [line] = bill_of(one).lines

    assert line.nearest is not None
    assert pointers == line.nearest.pointers


def test_another_base_url_is_explained(one: Project) -> None:
    """Where only the address differs, the remedy is an endpoint name."""
    [row] = one.capture().rows
    one.write({"id": "hello", "prompt": "hello"}, base_url="http://gateway.example.com/v1")

    assert (
        f"hello  gpt  recorded under another address as {row.request_hash[:12]}: another base URL is another key; "
        'endpoint = "name" on the target would share'
    ) == next(iter(bill_lines(bill_of(one))))


def test_a_further_trial_is_no_edit(one: Project) -> None:
    """The request is recorded; only this draw of it is not."""
    one.capture()

    assert "hello  gpt trial 1  another trial of a recorded request" == next(iter(bill_lines(bill_of(one, trials=2))))


def test_live_is_billed_for_what_is_recorded_too(project: Project) -> None:
    """Asking again costs a call each."""
    project.capture()
    made = bill_of(project, Mode.LIVE)

    assert (2, 0) == (made.calls, made.replayed)
    assert "hello  gpt  recorded, asked again" == next(iter(bill_lines(made)))


def test_replay_costs_nothing(project: Project) -> None:
    """What is missing is listed, and is no call."""
    made = bill_of(project, Mode.REPLAY)

    assert (0, 2) == (made.calls, len(made.lines))


def test_a_corrupt_file_is_no_call(one: Project) -> None:
    """It fails in every mode, so it is told before any money is spent."""
    one.capture()
    one.files()[0].write_bytes(b"")
    made = bill_of(one)

    assert (0, 1) == (made.calls, len(made.failed))


def test_the_bill_as_json_has_a_row_for_each_call(one: Project) -> None:
    """Machines get the whole hash and all pointers."""
    [old] = one.capture().rows
    one.write({"id": "hello", "prompt": "hullo"})
    told = json.loads(json.dumps(bill_of(one).as_dict()))
    [row] = told["rows"]

    assert {
        "planned": 1,
        "calls": 1,
        "replayed": 0,
        "failed": 0,
        "refused": 0,
        "most_usd": None,
        "unlimited": 0,
    } == told["summary"]
    assert {"request_hash": old.request_hash, "pointers": ["/body/messages/0/content"]} == row["nearest"]


def test_the_nearest_request_is_looked_for_in_a_bounded_sample(project: Project, monkeypatch) -> None:
    """A store of any size costs at most so many reads, once for all questions."""
    project.write(*({"id": str(i), "prompt": f"prompt {i}"} for i in range(30)))
    project.capture()
    store = project.store
    reads = []
    read = store.read
    monkeypatch.setattr(store, "read", lambda found: reads.append(found) or read(found))
    neighbours = Neighbours(store, limit=7)
    for _ in range(3):
        assert neighbours.nearest({"transport": "http"}) is not None

    assert 0 < len(reads) <= 7


def test_nothing_is_near_in_an_empty_store(one: Project) -> None:
    """No recording, no neighbour."""
    assert nearest(one.store, {"transport": "http"}) is None


def test_damaged_neighbours_are_passed_over(project: Project) -> None:
    """What explains a miss is a sound recording or none."""
    project.capture()
    for path in project.files():
        path.write_bytes(b"{}")

    assert nearest(project.store, {"transport": "http"}) is None


PRICES = '[prices."tiny-1"]\ninput = 1\noutput = 1000000'


def _limited(name: str, tokens: int | None) -> dict[str, Any]:
    limit = {} if tokens is None else {"max_tokens": tokens}
    return {"id": name, "request": {"messages": [{"role": "user", "content": name}], **limit}}


def test_what_would_be_refused_is_no_call(project: Project) -> None:
    """A request that holds a credential is not sent; the line names the place and never the value."""
    key = "sk-proj-" + "aB3" * 16
    project.write({"id": "hello", "prompt": "hello"}, {"id": "pasted", "prompt": f"What is {key}?"})
    made = bill_of(project)
    told = list(bill_lines(made))

    assert (1, 1, {"gpt": 1}) == (made.calls, made.refused, made.by_target)
    assert (
        "pasted  gpt  refused: the request holds what looks like a credential at /request/body/messages/0/content "
        "and is not stored"
    ) == told[2]
    assert "2 planned, 0 replayed, 1 refused: 1 call, retries not counted" == told[-1]
    assert key not in json.dumps(made.as_dict())
    assert [False, True] == ["refused" in row for row in made.as_dict()["rows"]]


def test_calls_beyond_their_number_are_refused(project: Project) -> None:
    """The run refuses just as many."""
    made = bill_of(project, max_calls=1)

    assert [None, "over the budget of 1 calls"] == [line.refused for line in made.lines]
    assert ["recorded", "refused"] == [row.outcome.value for row in project.capture(max_calls=1).rows]


def test_a_call_that_alone_is_over_the_budget_is_refused(project: Project) -> None:
    """Output costs a dollar a token: ten may cost 10 dollars, one may cost 1."""
    project.write(_limited("a", 10), _limited("b", 1), more=PRICES)
    made = bill_of(project, max_cost=5.0)

    assert ["over the budget of 5 US dollars", None] == [line.refused for line in made.lines]


def test_the_bill_says_what_limited_calls_cost_at_most(project: Project) -> None:
    """Ten tokens and two at a dollar each, and some hundred bytes at a millionth, rounded up to the cent."""
    project.write(_limited("a", 10), _limited("b", 2), _limited("c", None), more=PRICES)

    assert [
        "3 planned, 0 replayed: 3 calls, retries not counted",
        "at most 12.01 US dollars for the calls whose output is limited; 1 call has no limit",
        "the budget of 11 US dollars may end the run before the last of them",
    ] == list(bill_lines(bill_of(project, max_cost=11.0)))[-3:]


def test_without_a_limit_the_bill_has_no_bound(project: Project) -> None:
    """And without prices it speaks of no dollars at all."""
    project.write(_limited("a", None), more=PRICES)
    assert "what they cost at most is not known: 1 call has no limit" == list(bill_lines(bill_of(project)))[-1]
    project.write(_limited("a", 10))

    assert "1 planned, 0 replayed: 1 call, retries not counted" == list(bill_lines(bill_of(project)))[-1]


def test_a_bill_for_a_budget_needs_prices_as_the_run_does(project: Project) -> None:
    """The same error, before anything is paid."""
    with pytest.raises(UsageError, match="there is no price for model 'tiny-1'"):
        bill_of(project, max_cost=1.0)
