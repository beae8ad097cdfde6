"""The HTTP transport: no redirects, no cookies, no proxies from the environment.

Each of them would send a credential where the suite does not say.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from capture.transport import Limits, NoReplyError, Reply, TooLargeError

if TYPE_CHECKING:
    import aiohttp
    import yarl

_PRINTABLE = re.compile(r"[!-~]+")
_NOBODY_THERE = "nothing answers at the target's base_url: start the server there, or correct the address"
_WRONG_HOST = "the host of the target's base_url has no address: check its spelling and the network"
_BREAKS_HEADER = re.compile("[\x00\r\n]")


class HttpTransport:
    """Sends over one connection pool. ``user_agent`` is sent where the request declares none."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        import aiohttp

        # The targets bound the open calls: a second bound here would only hide waiting in the latency.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept": "application/json, text/event-stream"},
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, limits: Limits
    ) -> Reply:
        """Send one request and return the whole reply, whatever its status; see ``Transport.send``."""
        import aiohttp

        assert self._session is not None
        _check_headers(headers)
        where = _url(url)
        timeout = aiohttp.ClientTimeout(total=limits.total_s, sock_connect=limits.connect_s)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limits.first_byte_s) as first_byte:
                response = await self._session.request(
                    method, where, headers=headers, data=body, allow_redirects=False, timeout=timeout
                )
                first_byte.reschedule(None)
            _leave_after_stream(response)
            async with response:
                data = await _body(response, limits.max_bytes)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # From None: the chain of a connection error spells the URL, and a query may hold a credential.
            raise _no_reply(error, limits) from None
        pairs = tuple(
            (name.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for name, value in response.raw_headers
        )
        return Reply(response.status, pairs, data, round((time.perf_counter() - started) * 1000))


def _leave_after_stream(response: aiohttp.ClientResponse) -> None:
    """Have a stream's connection closed once it ends: some servers close it without saying so, and the next call would be lost."""
    connection = response.connection
    if response.content_type == "text/event-stream" and connection is not None and connection.protocol is not None:
        connection.protocol.force_close()


async def _body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    if (response.content_length or 0) > limit:
        response.close()
        raise TooLargeError(f"the answer is larger than {limit} bytes")
    parts: list[bytes] = []
    size = 0
    while part := await response.content.readany():
        size += len(part)
        if size > limit:
            response.close()
            raise TooLargeError(f"the answer is larger than {limit} bytes")
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if _BREAKS_HEADER.search(value):
            # The commonest case is a line end after a key that was read from a file.
            raise NoReplyError(f"the value of header {name} holds a line end or NUL", passing=False)


def _url(url: str) -> yarl.URL:
    import yarl

    try:
        # Sent as it is keyed: quoting again would send another query than the one the author wrote.
        return yarl.URL(url, encoded=_PRINTABLE.fullmatch(url) is not None)
    except ValueError:
        raise NoReplyError("the URL cannot be sent: it is no valid URL", passing=False) from None


def _no_reply(error: Exception, limits: Limits) -> NoReplyError:
    import aiohttp

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return NoReplyError(f"no connection within {limits.connect_s:g} s")
    if isinstance(error, TimeoutError):
        return NoReplyError(f"no whole answer within {_shorter(limits)} s")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return NoReplyError(f"the server's certificate is not trusted: {error.certificate_error}", passing=False)
    if isinstance(error, aiohttp.InvalidURL):
        return NoReplyError("the URL cannot be sent: it is no valid URL", passing=False)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return NoReplyError("the server closed the connection before the head of its answer was whole")
    if isinstance(error, aiohttp.ClientPayloadError):
        return NoReplyError(f"the answer was cut off or garbled: {error}")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return NoReplyError(_not_connected(error), hint=_WRONG_HOST)
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error, aiohttp.ClientSSLError):
        return NoReplyError(_not_connected(error), hint=_NOBODY_THERE)
    if isinstance(error, aiohttp.ClientOSError) and error.errno is None:
        return NoReplyError("the server closed the connection while the request was sent")
    if isinstance(error, aiohttp.ClientError | OSError):
        return NoReplyError(f"{error}" or type(error).__name__)
    return NoReplyError(f"the request cannot be sent: {error}", passing=False)


def _not_connected(error: aiohttp.ClientConnectorError) -> str:
    """Return what the system says; the client's own words speak of its settings for TLS, at addresses without any too."""
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error.os_error)
    return f"cannot connect to {error.host}, port {error.port}: {reason}"


def _shorter(limits: Limits) -> str:
    first: Any = limits.first_byte_s
    return f"{limits.total_s:g}" if first is None else f"{limits.total_s:g} s, or no first byte within {first:g}"
