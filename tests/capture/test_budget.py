"""What a run may spend: nothing is asked that could go over, and what is left is told and goes on in the next run.

Prices here are a dollar a token, so that costs can be counted by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from capture.budget import Budget, output_limit
from capture.report import remedies
from capture.result import CaptureResult
from golden.model import Target
from golden.price import Price
from snapshots.errors import UsageError
from snapshots.reading import Choice, Reading
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, Say, completion, say, say_json

MILLION = 1_000_000
DOLLAR = Price(input=MILLION, output=MILLION)
TARGET = Target("gpt", "openai", model="tiny-1")
PROGRAM = Target("sut", "exec", command=("./sut",))
URL = "https://api.example.com/v1/chat/completions"
PRICES = '[prices."tiny-1"]\ninput = 1000000\noutput = 1000000'
CHOICE = Choice("A", (), refusal=False, refusal_text="", finish_reason="stop", reasoning="")


def budget(max_cost: float | None = None, max_calls: int | None = None) -> Budget:
    return Budget(max_calls, max_cost, {"tiny-1": DOLLAR})


def limited(tokens: int, **more: Any) -> dict[str, Any]:
    return {"transport": "http", "url": URL, "body": {"max_tokens": tokens, **more}}


def answer(given: int | None, said: int | None, **more: Any) -> Reading:
    return Reading((CHOICE,), "tiny-1", given, said, **more)


def test_a_call_that_could_break_the_limit_is_refused() -> None:
    """Body of 40 bytes, 10 tokens of output: at most 50 dollars."""
    assert 50.0 == budget(50.0).take(TARGET, limited(10), 40)
    assert budget(49.9).take(TARGET, limited(10), 40) is None


def test_open_calls_count_with_the_most_that_they_may_cost() -> None:
    """Two of 50 are open; a third would make 150."""
    spent = budget(149.0)

    assert [50.0, 50.0, None] == [spent.take(TARGET, limited(10), 40) for _ in range(3)]


def test_an_answer_counts_with_what_it_cost() -> None:
    """3 tokens in and 2 out are 5 dollars, so that 50 more fit into 55."""
    spent = budget(55.0)
    most = spent.take(TARGET, limited(10), 40)
    assert most is not None
    spent.settle(most, TARGET, answer(3, 2), is_free=False)

    assert (5.0, 50.0) == (spent.cost_usd, spent.take(TARGET, limited(10), 40))


def test_a_refused_call_cost_nothing() -> None:
    """The target said no."""
    spent = budget(50.0)
    spent.settle(spent.take(TARGET, limited(10), 40) or 0.0, TARGET, None, is_free=True)

    assert (0.0, 50.0) == (spent.cost_usd, spent.take(TARGET, limited(10), 40))


@pytest.mark.parametrize("reading", [None, answer(None, None)])
def test_a_call_of_unknown_cost_counts_against_the_limit(reading: Reading | None) -> None:
    """Cut off, or an answer without usage: it may have cost all of it, and nobody claims that it did."""
    spent = budget(99.0)
    spent.settle(spent.take(TARGET, limited(10), 40) or 0.0, TARGET, reading, is_free=False)

    assert (0.0, None) == (spent.cost_usd, spent.take(TARGET, limited(10), 40))


def test_an_unlimited_request_is_taken_for_the_dearest_answer_so_far() -> None:
    """The first is bounded by its input alone, 40; after an answer of 70, the next may cost 70."""
    spent = budget(1000.0)
    document = {"transport": "http", "url": URL, "body": {}}
    first = spent.take(TARGET, document, 40)
    assert 40.0 == first
    spent.settle(first, TARGET, answer(10, 60), is_free=False)

    assert 70.0 == spent.take(TARGET, document, 40)


def test_input_is_bounded_by_its_dearest_price() -> None:
    """Writing a cache costs more than reading the prompt."""
    price = Price(input=MILLION, output=0, cached_input=0, cache_write=2 * MILLION)

    assert 80.0 == Budget(None, 80.0, {"tiny-1": price}).take(TARGET, limited(10), 40)


def test_a_program_says_itself_what_it_cost() -> None:
    """It needs no price; the next run of it is taken for the dearest so far."""
    spent = budget(1.0)
    assert 0.0 == spent.take(PROGRAM, {"transport": "exec", "stdin": {}}, 40)
    spent.settle(0.0, PROGRAM, answer(3, 2, cost_usd=0.75), is_free=False)

    assert (0.75, None) == (spent.cost_usd, spent.take(PROGRAM, {"transport": "exec", "stdin": {}}, 40))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 6}, 6),
        ({"max_output_tokens": 7}, 7),
        ({"generationConfig": {"maxOutputTokens": 8}}, 8),
        ({"max_tokens": 5, "n": 3}, 15),
        ({"generationConfig": {"maxOutputTokens": 8, "candidateCount": 2}}, 16),
        ({"max_tokens": None, "max_completion_tokens": 6}, 6),
        ({"max_tokens": True}, None),
        ({"max_tokens": -1}, None),
        ({"generationConfig": []}, None),
        ([], None),
        ({}, None),
    ],
)
def test_the_output_that_a_request_limits_itself_to(body: Any, expected: int | None) -> None:
    """By the name of each dialect, all choices together."""
    assert expected == output_limit({"url": URL, "body": body})


def test_an_embedding_has_no_output() -> None:
    """Its input alone costs."""
    assert 0 == output_limit({"url": "https://api.example.com/v1/embeddings?x=1", "body": {"input": "a"}})


def _cases(project: Project, count: int, *, more: str = PRICES, target: str = "", concurrency: int = 1) -> None:
    cases = [
        {"id": str(i), "request": {"messages": [{"role": "user", "content": str(i)}], "max_tokens": 10}}
        for i in range(count)
    ]
    project.write(*cases, target=f"concurrency = {concurrency}\n{target}", more=more)


def _told(result: CaptureResult) -> tuple[int, int, list[str]]:
    return result.as_line("auto")["left"], int(result.exit_code), list(remedies(result))


def test_the_next_run_goes_on_with_what_the_calls_did_not_reach(project: Project, server: ModelServer) -> None:
    """Two of five, two more, and the last."""
    _cases(project, 5)
    hint = "{} left by the budget: run the same command again, and only what has no answer is asked"
    first, second, third = (project.capture(max_calls=2) for _ in range(3))

    assert ["recorded"] * 2 + ["refused"] * 3 == outcomes(first)
    assert (3, 3, [hint.format("3 rows are")]) == _told(first)
    assert ["replayed"] * 2 + ["recorded"] * 2 + ["refused"] == outcomes(second)
    assert (1, 3, [hint.format("1 row is")]) == _told(second)
    assert ["replayed"] * 4 + ["recorded"] == outcomes(third)
    assert (0, 0, []) == _told(third)
    assert "over the budget of 2 calls" == first.rows[-1].error


def test_retries_are_calls_of_the_budget(project: Project, server: ModelServer) -> None:
    """The last one is told with what the server said."""
    _cases(project, 1)
    server.fallback = lambda _asked: say_json({"error": "overloaded"}, 503)
    result = project.capture(max_calls=2)

    assert (2, "over the budget of 2 calls (last: HTTP 503: overloaded)") == (result.calls, result.rows[0].error)


def test_a_run_costs_no_more_than_it_may(project: Project, server: ModelServer) -> None:
    """A body of some 80 bytes and 10 tokens: with 5 dollars an answer, the limit of 100 is out of reach after a few."""
    _cases(project, 20)
    result = project.capture(max_cost=100.0)
    most = len(server.asked[0].body) + 10
    # The n-th call is made while 5 (n - 1) + most is within the limit.
    calls = (100 - most) // 5 + 1

    assert (calls, 5.0 * calls, 20 - calls) == (result.calls, result.cost_usd, result.left)
    assert "over the budget of 100 US dollars" == result.rows[-1].error


def test_two_open_calls_are_not_both_made_where_one_alone_fits(project: Project, server: ModelServer) -> None:
    """Each may cost some 90 dollars, so that two open ones are over 150 though both together cost ten."""
    _cases(project, 2, concurrency=2)

    assert ["recorded", "refused"] == outcomes(project.capture(max_cost=150.0))


@pytest.mark.parametrize(
    ("cached", "expected"), [({"prompt_tokens_details": {"cached_tokens": 2}}, 1 + 2 * 0.5 + 2.0), ({}, 5.0)]
)
def test_cached_tokens_have_their_own_price(
    project: Project, server: ModelServer, cached: dict[str, Any], expected: float
) -> None:
    """Three tokens of the prompt, two of them cached at half a dollar, two of the answer."""
    _cases(project, 1, more=PRICES + "\ncached_input = 500000")
    body = completion("A")
    body["usage"] |= cached
    server.fallback = lambda _asked: Say(json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    assert expected == project.capture().cost_usd


def test_an_embedding_costs_its_input(tmp_path: Path, server: ModelServer) -> None:
    """Seven tokens of input, whatever the price of output is."""
    project = Project(tmp_path, server.url)
    project.write({"id": "e", "request": {"input": "A"}}, target="", more=PRICES)
    config = tmp_path / "whichclock.toml"
    config.write_text(config.read_text().replace('"openai"', '"embeddings"'))
    vector = {"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}
    body = {"object": "list", "data": [vector], "model": "tiny-1", "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    server.fallback = lambda _asked: say_json(body)
    result = project.capture(max_cost=50.0)

    assert (["recorded"], 7.0) == (outcomes(result), result.cost_usd)


def test_replayed_answers_cost_nothing(project: Project) -> None:
    """They were paid for when they were recorded."""
    _cases(project, 2)
    project.capture()

    assert 0.0 == project.capture(max_cost=0.0).cost_usd


def test_without_prices_there_is_no_cost(one: Project) -> None:
    """Not known is not zero."""
    assert one.capture().cost_usd is None


def test_a_missing_price_is_an_error_before_anything_is_asked(project: Project, server: ModelServer) -> None:
    """No limit could hold; the message names the model and the remedy."""
    _cases(project, 1, more="")
    with pytest.raises(UsageError) as caught:
        project.capture(max_cost=1.0)

    assert "--max-cost: there is no price for model 'tiny-1' of target gpt" == caught.value.message
    assert '[prices."MODEL"]' in caught.value.hint
    assert (2, []) == (int(caught.value.code), server.asked)


def test_a_target_without_a_model_has_no_price(tmp_path: Path, server: ModelServer) -> None:
    """The remedy is another one: a price cannot be written for it."""
    project = Project(tmp_path, server.url)
    project.write({"id": "a", "prompt": "a"})
    config = tmp_path / "whichclock.toml"
    config.write_text(config.read_text().replace('model = "tiny-1"', ""))
    with pytest.raises(UsageError) as caught:
        project.capture(max_cost=1.0)

    assert (
        "--max-cost: there is no price for target gpt, which has no model",
        "leave it out: --target names the others",
    ) == (
        caught.value.message,
        caught.value.hint,
    )


def test_an_answer_that_was_cut_off_may_have_cost_all_it_could(project: Project, server: ModelServer) -> None:
    """It was generated and is lost: the budget for the second attempt is gone."""
    _cases(project, 1, target="retries = 5")
    server.fallback = lambda _asked: Say(
        json.dumps(completion("A")).encode()[:-5], headers={"Content-Type": "application/json"}
    )
    result = project.capture(max_cost=150.0)

    assert (["refused"], 1, True) == (outcomes(result), result.calls, result.rows[0].is_left)


def test_a_call_that_was_turned_away_cost_nothing(project: Project, server: ModelServer) -> None:
    """A 503 leaves the budget whole, so that the second attempt is made."""
    _cases(project, 1)
    server.replies = [say_json({"error": "busy"}, 503), say("A")]
    result = project.capture(max_cost=150.0)

    assert (["recorded"], 2, 5.0) == (outcomes(result), result.calls, result.cost_usd)


def _unlimited(project: Project, count: int, target: str = "concurrency = 8") -> None:
    project.write(*({"id": str(i), "prompt": str(i)} for i in range(count)), target=target, more=PRICES)


def test_the_first_calls_of_unknown_cost_are_made_one_at_a_time(project: Project, server: ModelServer) -> None:
    """No limit, no answer yet: eight at once could each cost anything. The first cost 100,005 dollars, and no other is made."""
    _unlimited(project, 8)
    body = completion("A")
    body["usage"] = {"prompt_tokens": 5, "completion_tokens": 100_000, "total_tokens": 100_005}
    server.fallback = lambda _asked: Say(json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    result = project.capture(max_cost=1000.0)

    assert (1, 100_005.0, ["recorded"] + ["refused"] * 7) == (len(server.asked), result.cost_usd, outcomes(result))


def test_without_a_limit_of_cost_nobody_waits() -> None:
    """Neither where the request limits itself, nor once an answer has told."""
    blind = {"url": URL, "body": {}}
    spent = budget(1000.0)

    assert (True, False, False) == (
        spent.is_blind(TARGET, blind),
        spent.is_blind(TARGET, limited(10)),
        budget().is_blind(TARGET, blind),
    )
    spent.settle(spent.take(TARGET, blind, 4) or 0.0, TARGET, answer(3, 2), is_free=False)
    assert not spent.is_blind(TARGET, blind)


def test_a_program_that_tells_no_cost_is_not_held_back_for_ever() -> None:
    """Its first answer says so."""
    document = {"transport": "exec", "stdin": {}}
    spent = budget(1.0)
    spent.settle(0.0, PROGRAM, answer(3, 2), is_free=False)

    assert not spent.is_blind(PROGRAM, document)


def test_what_a_program_tells_is_told_without_prices(project: Project) -> None:
    """The suite has no price sheet, and the program knows."""
    config = 'suite = "s"\ncases = ["cases.jsonl"]\n[targets.bot]\ntype = "exec"\ncommand = ["sh", "bot.sh"]\n'
    (project.root / "whichclock.toml").write_text(config)
    (project.root / "bot.sh").write_text('cat > /dev/null\necho \'{"output": "A", "cost_usd": 0.25}\'\n')

    assert 0.5 == project.capture().cost_usd


MODELS = {
    "openai": (TARGET, {"url": URL, "body": {"model": "big-1"}}),
    "gemini": (
        Target("g", "gemini", model="tiny-1"),
        {"url": "https://example.com/v1beta/models/big-1:generateContent", "body": {}},
    ),
    "exec": (Target("p", "exec", model="tiny-1", command=("./p",)), {"stdin": {"params": {"model": "big-1"}}}),
}


@pytest.mark.parametrize(("target", "document"), MODELS.values(), ids=MODELS.keys())
def test_the_price_is_that_of_the_model_that_is_asked(target: Target, document: dict[str, Any]) -> None:
    """A case may ask another model than its target's: 3 and 2 tokens at ten dollars are 50."""
    spent = Budget(None, None, {"tiny-1": DOLLAR, "big-1": Price(input=10 * MILLION, output=10 * MILLION)})
    spent.settle(0.0, target, answer(3, 2), is_free=False, document=document)

    assert 50.0 == spent.cost_usd


def test_a_model_without_a_price_ends_its_rows_alone(project: Project, server: ModelServer) -> None:
    """The others are asked; the remedy is told."""
    asked = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 10}
    project.write({"id": "a", "request": {**asked, "model": "other"}}, {"id": "b", "request": asked}, more=PRICES)
    result = project.capture(max_cost=1000.0)

    assert ["refused", "recorded"] == outcomes(result)
    assert "--max-cost: there is no price for model 'other'" == result.rows[0].error
    assert result.rows[0].hint.startswith("[prices.")
