"""Ask for one identity until there is an answer, the retries are used up, or nothing can be gained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capture import retry
from capture.accept import Answer, Failure, judge
from capture.options import CaptureOptions
from capture.plan import Job
from capture.redact import Scrubber, scrubber
from capture.result import Ended, Outcome
from capture.transport import Limits, NoReplyError, Reply, TooLargeError, Transport
from golden.model import Target
from golden.render import Wire
from snapshots import canonical, console
from snapshots.errors import WhichclockError

_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that may be stored, and what it took: the last call's latency and the number of calls."""

    response: dict[str, Any]
    model: str | None
    latency_ms: int
    attempts: int


class Budget:
    """Counts the HTTP calls of a run, and ends them at a limit."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.calls = 0

    def take(self) -> bool:
        """Count one call and return true, or return false where the limit is reached."""
        if self.limit is not None and self.calls >= self.limit:
            return False
        self.calls += 1
        return True


class Asker:
    """Asks for identities over one transport."""

    def __init__(self, transport: Transport, options: CaptureOptions, environ: Mapping[str, str]) -> None:
        self._transport = transport
        self._options = options
        self._environ = environ
        self.budget = Budget(options.max_calls)

    async def ask(self, job: Job) -> Answered | Ended:
        """Return the answer, or how the identity ended without one. Every text in it is scrubbed and neutral."""
        try:
            wire = job.rendered.wire(self._environ)
        except WhichclockError as error:
            return Ended(Outcome.FAILED, error=error.message, hint=error.hint)
        # By name, for what is struck out of a message is replaced by where it came from.
        scrub = scrubber({name: self._environ[name] for name in job.rendered.env if name in self._environ})
        if scrub and (name := scrub.find(canonical.encode(job.rendered.document))):
            return _holds_secret("the request", name)
        return await _Exchange(self, job, wire, scrub).run()

    async def send(self, wire: Wire, target: Target) -> Reply:
        """Make one call."""
        limits = Limits(
            target.timeout_s, target.connect_timeout_s, target.first_byte_timeout_s, self._options.max_response_bytes
        )
        return await self._transport.send(wire.method, wire.url, wire.headers, wire.body, limits)

    async def pause(self, seconds: float) -> None:
        """Wait between two attempts."""
        await self._options.sleep(seconds)

    def now(self) -> int:
        """Return the current UTC second."""
        return self._options.now()


class _Exchange:
    """The attempts for one identity."""

    def __init__(self, asker: Asker, job: Job, wire: Wire, scrub: Scrubber) -> None:
        self._asker = asker
        self._job = job
        self._wire = wire
        self._scrub = scrub
        self._attempts = 0
        self._reason = ""

    async def run(self) -> Answered | Ended:
        failures = 0
        empty_before = False
        while True:
            if not self._asker.budget.take():
                return self._over_budget()
            self._attempts += 1
            try:
                reply = await self._asker.send(self._wire, self._job.planned.target)
            except TooLargeError as error:
                return Ended(Outcome.REFUSED, error=f"{error.message}; it is not stored")
            except NoReplyError as error:
                reply, verdict = None, Failure(error.message, error.passing, error.hint)
            else:
                verdict = judge(reply, self._job.rendered.document, self._job.planned.target.accept_status)
            if isinstance(verdict, Answer) and reply is not None:
                if verdict.is_unexplained_empty and not empty_before:
                    empty_before = True  # once may be a hiccup; twice is what this model says
                    continue
                return self._answered(verdict, reply)
            assert isinstance(verdict, Failure)
            failures += 1
            ended = await self._after(verdict, reply, failures)
            if ended is not None:
                return ended

    def _answered(self, answer: Answer, reply: Reply) -> Answered | Ended:
        name = self._scrub.find_in_response(answer.response, reply.data)
        if name is not None:
            return _holds_secret("the answer", name)
        return Answered(answer.response, answer.model, reply.latency_ms, self._attempts)

    async def _after(self, failure: Failure, reply: Reply | None, failures: int) -> Ended | None:
        """Wait for the next attempt and return ``None``, or return how it ended."""
        self._reason = self._shown(failure.reason)
        if not failure.passing:
            return Ended(Outcome.FAILED, error=self._reason, hint=failure.hint)
        if failures > self._job.planned.target.retries:
            tries = f" (after {self._attempts} attempts)" if self._attempts > 1 else ""
            return Ended(Outcome.FAILED, error=f"{self._reason}{tries}", hint=failure.hint)
        asked = None if reply is None else retry.retry_after(reply.header("retry-after"), self._asker.now())
        if asked is not None and asked > retry.RETRY_AFTER_CEILING_S:
            ceiling = f"more than the ceiling of {retry.RETRY_AFTER_CEILING_S} s"
            return Ended(Outcome.FAILED, error=f"{self._reason} (the server asks to wait {asked:.0f} s, {ceiling})")
        await self._asker.pause(retry.backoff(failures) if asked is None else asked)
        return None

    def _over_budget(self) -> Ended:
        last = f" (last: {self._reason})" if self._reason else ""
        return Ended(Outcome.REFUSED, error=f"over the budget of {self._asker.budget.limit} calls{last}")

    def _shown(self, reason: str) -> str:
        # Scrubbed first: a shortened value would no longer be recognised.
        return console.shorten(console.neutral(self._scrub.scrub(reason)), _LONGEST_REASON)


def _holds_secret(what: str, name: str) -> Ended:
    return Ended(
        Outcome.REFUSED,
        error=f"{what} holds the value of {{{{ env.{name} }}}} and is not stored; "
        f"keep the value out of what is sent in clear, or set {name} to one that stands in no text",
    )
