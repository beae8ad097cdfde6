"""Ask for one identity until there is an answer, the retries are used up, or nothing can be gained."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from capture import retry
from capture.accept import Answer, Failure, judge
from capture.budget import PRICE_REMEDY, Budget, output_limit
from capture.options import CaptureOptions
from capture.pace import Pace
from capture.plan import Job
from capture.program import Programs
from capture.redact import Scrubber, scrubber
from capture.result import Ended, Outcome
from capture.storable import Storable
from capture.transport import Limits, NoReplyError, Reply, TooLargeError, Transport
from golden import program
from golden.model import Suite, Target
from golden.redaction import Redaction
from golden.render import ProgramWire, Wire
from snapshots import canonical, console
from snapshots.errors import WhichclockError

_LONGEST_REASON = 300
_BYTES_PER_TOKEN = 4
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that may be stored, and what it took: the last call's latency and the number of calls."""

    response: dict[str, Any]
    model: str | None
    latency_ms: int | None
    attempts: int


class Asker:
    """Asks for identities: over one transport, and by running programs."""

    def __init__(
        self,
        suite: Suite,
        options: CaptureOptions,
        environ: Mapping[str, str],
        budget: Budget,
        transport: Transport,
        programs: Programs,
    ) -> None:
        self.budget = budget
        self._storables: dict[Redaction, Storable] = {}
        self._suite = suite
        self._options = options
        self._environ = environ
        self._transport = transport
        self._programs = programs
        self._paces: dict[str, Pace] = {}
        self._blind = asyncio.Lock()
        self._digests: dict[tuple[Path, tuple[str, ...]], dict[str, str]] = {}

    async def ask(self, job: Job) -> Answered | Ended:
        """Return the answer, or how the identity ended without one. Every text in it is scrubbed and neutral."""
        try:
            return await self._ask(job)
        except Exception as error:
            return unexpected(error)

    async def _ask(self, job: Job) -> Answered | Ended:
        try:
            wire = job.rendered.wire(self._environ)
        except WhichclockError as error:
            return Ended(Outcome.FAILED, error=error.message, hint=error.hint)
        # By name, for what is struck out of a message is replaced by where it came from.
        scrub = scrubber({name: self._environ[name] for name in job.rendered.env if name in self._environ})
        if scrub and (name := scrub.find(canonical.encode(job.rendered.document))):
            return _holds_secret("the request", name)
        if refused := Storable(self._suite.redaction).refuse_request(job.rendered.document):
            return refused
        if (model := self.budget.unpriced(job.planned.target, job.rendered.document)) is not None:
            return Ended(Outcome.REFUSED, error=f"--max-cost: there is no price for model {model!r}", hint=PRICE_REMEDY)
        return await _Exchange(self, job, wire, scrub).run()

    def storable(self, job: Job) -> Storable:
        """Return what may be written of an answer: by today's rules, and by those that its request was rendered under."""
        rules = self._suite.redaction.joined(job.rendered.redaction)
        return self._storables.setdefault(rules, Storable(rules))

    async def send(self, wire: Wire | ProgramWire, target: Target) -> Reply:
        """Make one call."""
        limit = self._options.max_response_bytes or self._suite.max_entry_bytes
        limits = Limits(target.timeout_s, target.connect_timeout_s, target.first_byte_timeout_s, limit)
        if isinstance(wire, ProgramWire):
            return await self._programs.run(wire, limits)
        return await self._transport.send(wire.method, wire.url, wire.headers, wire.body, limits)

    def pace(self, target: Target) -> Pace:
        """Return the pace of a target, which all its calls share."""
        if target.name not in self._paces:
            rates = target.requests_per_minute, target.tokens_per_minute
            self._paces[target.name] = Pace(*rates, self._options.sleep)
        return self._paces[target.name]

    def digests(self, wire: Wire | ProgramWire, target: Target) -> dict[str, str] | None:
        """Return the digests of a program's files, read once a run; ``None`` for what is no program."""
        if not isinstance(wire, ProgramWire):
            return None
        key = wire.cwd, target.command
        if key not in self._digests:
            self._digests[key] = program.digests(*key, self._environ)
        return self._digests[key]

    @asynccontextmanager
    async def turn(self, job: Job) -> AsyncGenerator[None]:
        """Hold a call back while another one of unknown cost is open: the first burst of a run could break any limit."""
        is_blind = partial(self.budget.is_blind, job.planned.target, job.rendered.document)
        if not is_blind():
            yield
            return
        async with AsyncExitStack() as held:
            await held.enter_async_context(self._blind)
            if not is_blind():  # the call before this one has told
                await held.aclose()
            yield

    async def pause(self, seconds: float) -> None:
        """Wait between two attempts."""
        await self._options.sleep(seconds)

    def now(self) -> int:
        """Return the current UTC second."""
        return self._options.now()


class _Exchange:
    """The attempts for one identity."""

    def __init__(self, asker: Asker, job: Job, wire: Wire | ProgramWire, scrub: Scrubber) -> None:
        self._asker = asker
        self._job = job
        self._target = job.planned.target
        self._wire = wire
        self._scrub = scrub
        self._pace = asker.pace(self._target)
        self._attempts = 0
        self._reason = ""
        self._reached = 0.0

    async def run(self) -> Answered | Ended:
        failures = 0
        empty_before = False
        while True:
            called = await self._call()
            if called is None:
                return self._over_budget()
            verdict, reply = called
            if isinstance(verdict, TooLargeError):
                return Ended(Outcome.REFUSED, error=f"{verdict.message}; it is not stored")
            if isinstance(verdict, Answer) and reply is not None:
                if verdict.is_unexplained_empty and not empty_before:
                    empty_before = True  # once may be a hiccup; twice is what this model says
                    continue
                return self._answered(verdict, reply)
            assert isinstance(verdict, Failure)
            empty_before = False  # two in a row have no failure between them
            failures += 1
            ended = await self._after(verdict, reply, failures)
            if ended is not None:
                return ended

    async def _call(self) -> tuple[Answer | Failure | TooLargeError, Reply | None] | None:
        """Make one call within budget and pace and return what it is worth; ``None`` where it is over the budget."""
        async with self._asker.turn(self._job):
            return await self._call_now()

    async def _call_now(self) -> tuple[Answer | Failure | TooLargeError, Reply | None] | None:
        document = self._job.rendered.document
        size = _size(self._wire)
        most = self._asker.budget.take(self._target, document, size)
        if most is None:
            return None
        estimated = size // _BYTES_PER_TOKEN + (output_limit(document) or 0)
        reading = None
        is_free = True  # until it is sent
        try:
            await self._pace.wait(estimated, self._reached)
            self._attempts += 1
            is_free = False
            reply = await self._asker.send(self._wire, self._target)
        except TooLargeError as error:
            return error, None
        except NoReplyError as error:
            return Failure(error.message, error.passing, error.hint), None
        else:
            verdict = judge(reply, document, self._target, self._asker.digests(self._wire, self._target))
            is_free = isinstance(self._wire, Wire) and reply.status >= 300
            if isinstance(verdict, Answer):
                reading = verdict.reading
            return verdict, reply
        finally:
            self._asker.budget.settle(most, self._target, reading, is_free=is_free, document=document)
            if reading is not None:
                self._pace.settle(estimated, (reading.input_tokens or 0) + (reading.output_tokens or 0))

    def _answered(self, answer: Answer, reply: Reply) -> Answered | Ended:
        name = self._scrub.find_in_response(self._job.rendered.document, answer.response, reply.data)
        if name is not None:
            return _holds_secret("the answer", name)
        document, has_secrets = self._job.rendered.document, bool(self._scrub)
        kept = self._asker.storable(self._job).response(document, answer.response, has_secrets=has_secrets)
        if isinstance(kept, Ended):
            return kept
        return Answered(kept, answer.model, reply.latency_ms, self._attempts)

    async def _after(self, failure: Failure, reply: Reply | None, failures: int) -> Ended | None:
        """Wait for the next attempt and return ``None``, or return how it ended."""
        self._reason = self._shown(failure)
        if not failure.passing:
            return Ended(Outcome.FAILED, error=self._reason, hint=failure.hint, is_final=True)
        if failures > self._target.retries:
            tries = f" (after {self._attempts} attempts)" if self._attempts > 1 else ""
            return Ended(Outcome.FAILED, error=f"{self._reason}{tries}", hint=failure.hint)
        asked = failure.after_s
        if asked is None and reply is not None:
            asked = retry.retry_after(reply.header("retry-after"), self._asker.now())
        if asked is not None and asked > retry.RETRY_AFTER_CEILING_S:
            ceiling = f"more than the ceiling of {retry.RETRY_AFTER_CEILING_S} s"
            return Ended(Outcome.FAILED, error=f"{self._reason} (the server asks to wait {asked:.0f} s, {ceiling})")
        pause = retry.backoff(failures) if asked is None else asked
        if reply is not None and (reply.status == _TOO_MANY or asked is not None):
            # The target says so to all of its callers, not to this call alone.
            self._reached = self._pace.hold(pause)
        await self._asker.pause(pause)
        return None

    def _over_budget(self) -> Ended:
        last = f" (last: {self._reason})" if self._reason else ""
        return Ended(Outcome.REFUSED, error=f"over the budget of {self._asker.budget.limit}{last}", is_left=True)

    def _shown(self, failure: Failure) -> str:
        # Scrubbed first: a shortened value would no longer be recognised.
        reason, words = map(self._clean, (failure.reason, failure.words))
        reason = console.shorten(reason, _LONGEST_REASON)
        return f"{reason}: {_ending(words)}" if words else reason

    def _clean(self, text: str) -> str:
        return console.neutral(self._asker.storable(self._job).message(self._scrub.scrub(text)))


def unexpected(error: Exception) -> Ended:
    """Return how an identity ends at a fault of ours: the others go on, or what they were paid for would be lost.

    The error's own words may hold anything, a secret too; its kind and its place do not.
    """
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = "" if at is None else f" in {Path(at.tb_frame.f_code.co_filename).name}, line {at.tb_lineno}"
    return Ended(
        Outcome.FAILED,
        error=f"an unexpected {type(error).__name__}{where}",
        hint="this is a fault of whichclock: please report it with this line",
    )


def _ending(words: str) -> str:
    """Return the end of what a program said: what it died of stands there."""
    return words if len(words) <= _LONGEST_REASON else f"…{words[1 - _LONGEST_REASON :]}"


def _size(wire: Wire | ProgramWire) -> int:
    return len(wire.stdin) if isinstance(wire, ProgramWire) else len(wire.body or b"")


def _holds_secret(what: str, name: str) -> Ended:
    return Ended(
        Outcome.REFUSED,
        error=f"{what} holds the value of {{{{ env.{name} }}}} and is not stored; "
        f"keep the value out of what is sent in clear, or set {name} to one that stands in no text",
    )
