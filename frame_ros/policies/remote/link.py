# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A connection to a policy server that is made again whenever it is lost."""

from __future__ import annotations

import contextlib
import inspect
import logging
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from frame_ros.core.errors import AbsentError, PolicyError
from frame_ros.policies.remote.codec import MAX_MESSAGE_SIZE, decode
from frame_ros.policies.remote.large_frames import FrameWriter
from frame_ros.policies.remote.server import import_websockets
from frame_ros.policies.remote.tls_socket import SharedTlsSocket

LOOK_PERIOD = 0.1  # s between two looks at whether the connection is still there
LONGEST_TEXT = 500  # characters of a server's message
NOT_YET_VALID = 9  # X509_V_ERR_CERT_NOT_YET_VALID of OpenSSL

logger = logging.getLogger(__name__)
# What websockets says of connections that end; it is said here, in our own words.
_silent = logging.getLogger(f'{__name__}.websockets')
_silent.setLevel(logging.CRITICAL + 1)


class ServerAbsentError(PolicyError, AbsentError):
    """The policy server does not answer, and may yet."""


class _RefusedError(ConnectionRefusedError):
    """The server is there, and says why it will not serve."""


@dataclass(frozen=True)
class LinkOptions:
    """Options of a connection.

    Attributes:
        url: ws:// or wss://.
        api_key: sent as `Authorization: Api-Key ...`; empty: none.
        ca_file: certificates to trust in addition to the system's, for wss://.
        open_timeout: s for connecting, and for the metadata.
        first_delay, longest_delay: s between attempts; doubled after each, and scattered by half,
            so that many clients do not come at once.
        is_logged: connections and their problems go to the log, with the url.
    """

    url: str
    api_key: str = ''
    ca_file: str = ''
    open_timeout: float = 5.0
    first_delay: float = 0.2
    longest_delay: float = 10.0
    max_message_size: int = MAX_MESSAGE_SIZE
    is_logged: bool = True


class ServerLink:
    """Keeps one connection in a thread of its own, which begins at once.

    on_metadata: called in that thread with what the server says when a connection is made; if it
    raises PolicyError, the server is not used, and asked again later.
    """

    def __init__(self, settings: LinkOptions, on_metadata: Callable[[Any], None]) -> None:
        import_websockets()
        self._settings, self._on_metadata = settings, on_metadata
        self._logger = logger if settings.is_logged else _silent
        self._changed = threading.Condition()
        self._writer = FrameWriter()
        self._connection: Any = None
        self._problem = ''  # why there is no connection; empty: it is being made
        self._is_there = False  # whether a server answered, with what is the problem
        self._is_hopeless = False  # whether waiting will hardly help
        self._send_deadline: float | None = None
        self._is_closing = False
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name='server link', daemon=True)
        self._thread.start()

    @property
    def is_connected(self) -> bool:
        """True if the server was there at the last look."""
        return self._connection is not None

    def wait(self, timeout: float) -> None:
        """Waits until there is a connection, whatever attempts it takes.

        Raises:
            PolicyError: there is none after `timeout` s, or the server will not do.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._connection is not None or self._is_hopeless, timeout
            )
            if self._connection is None:
                raise self._no_connection(
                    f'after {timeout:g} s' if not self._is_hopeless else 'now'
                )

    def exchange(self, data: bytes | memoryview, deadline: float) -> bytes | str:
        """Sends a message and returns the next one from the server.

        deadline: s for all of it. A server that does not keep it loses the connection, so that its
        late answer is never taken for that to another observation.

        Raises:
            PolicyError: there is no connection, it is lost, or the time is over.
        """
        end = time.monotonic() + deadline
        with self._changed:
            # A connection that is being made is waited for; one that failed is not.
            self._changed.wait_for(lambda: self._connection is not None or self._problem, deadline)
            connection = self._connection
            if connection is None:
                raise self._no_connection()
            self._send_deadline = end
        try:
            reply = self._talk(connection, data, end)
        except TimeoutError:
            raise self._lost(
                connection, f'the server {self._settings.url} did not answer within {deadline:g} s'
            ) from None
        except PolicyError as error:
            raise self._lost(connection, f'the server {self._settings.url} {error}') from None
        except Exception as error:  # websockets raises its own, and OSError
            if time.monotonic() >= end:
                text = f'the server {self._settings.url} took nothing for {deadline:g} s'
            else:
                text = f'the server {self._settings.url} closed the connection: {_reason(error)}'
            raise self._lost(connection, text) from error
        finally:
            self._send_deadline = None
        self._failures = 0
        return reply

    def drop(self, problem: str) -> None:
        """Ends the connection, because of what the server did; another is made."""
        self._is_there = True
        self._lost(self._connection, problem)

    def close(self) -> None:
        """Ends the connection for good."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()

    def _talk(self, connection: Any, data: bytes | memoryview, end: float) -> bytes | str:
        with contextlib.suppress(TimeoutError):
            connection.recv(timeout=0)
            raise PolicyError('sent a message that nobody had asked for')
        self._writer.send(connection, data)
        reply: bytes | str = connection.recv(timeout=max(0.0, end - time.monotonic()))
        return reply

    def _run(self) -> None:
        while not self._is_closing:
            try:
                with self._open() as connection:
                    self._hold(connection)
            # Addresses, TLS, HTTP and websockets each have their own errors; all are tried again.
            except Exception as error:
                self._logger.debug('%s', error, exc_info=True)
                self._note(error)
            self._pause()

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        from websockets.sync.client import connect

        settings = self._settings
        options: dict[str, Any] = {}
        if 'proxy' in inspect.signature(connect).parameters:
            options['proxy'] = None  # a robot is not sent elsewhere by an environment variable
        if settings.url.startswith('wss:'):
            context = ssl.create_default_context(cafile=settings.ca_file or None)
            context.sslsocket_class = SharedTlsSocket
            options['ssl'] = context
        key = {'Authorization': f'Api-Key {settings.api_key}'} if settings.api_key else None
        with connect(
            settings.url,
            compression=None,
            max_size=settings.max_message_size,
            additional_headers=key,
            open_timeout=settings.open_timeout,
            close_timeout=1.0,
            logger=_silent,
            **options,
        ) as connection:
            try:
                yield connection
            except Exception as error:  # said before the connection is closed, which takes time
                self._note(error)
                raise
            finally:
                if not self._is_closing:
                    _cut(connection)

    def _hold(self, connection: Any) -> None:
        """Takes the metadata, then looks after the connection until it is lost."""
        greeting = connection.recv(timeout=self._settings.open_timeout)
        if isinstance(greeting, str):
            raise _RefusedError(f'the server refused: {greeting[:LONGEST_TEXT]}')
        self._on_metadata(decode(greeting, self._settings.max_message_size))
        self._logger.info('connected to %s', self._settings.url)
        with self._changed:
            self._connection, self._problem = connection, ''
            self._is_hopeless = self._is_there = False
            self._changed.notify_all()
            while self._connection is connection and not self._is_closing:
                self._changed.wait(LOOK_PERIOD)
                self._look_after(connection)

    def _look_after(self, connection: Any) -> None:
        """A server that takes no more of a message would block whoever sends it; one that went away
        while nobody asked is noticed before somebody does.
        """
        end = self._send_deadline
        if end is not None and time.monotonic() > end + LOOK_PERIOD:
            _cut(connection)
        elif end is None and self._connection is connection and not _is_open(connection):
            self._connection, self._problem = None, 'the server closed the connection'

    def _lost(self, connection: Any, problem: str) -> PolicyError:
        with self._changed:
            if self._connection is connection and connection is not None:
                self._connection, self._problem = None, problem
                self._changed.notify_all()
        if connection is not None:
            _cut(connection)
        return PolicyError(problem)

    def _note(self, error: Exception) -> None:
        """Notes why there is no connection. A server of another kind, one that wants a key, or one
        that is not trusted, will stay so; one that is missing, or has a client, may not, nor one
        with a certificate that is not valid yet: a robot without a battery clock starts too early.
        """
        problem, response = _reason(error), getattr(error, 'response', None)
        is_another = isinstance(error, PolicyError | ssl.SSLCertVerificationError)
        is_early = getattr(error, 'verify_code', 0) == NOT_YET_VALID
        is_refused = 400 <= getattr(response, 'status_code', 0) < 500
        with self._changed:
            self._is_hopeless = (is_another and not is_early) or is_refused
            self._is_there = is_another or isinstance(error, _RefusedError) or response is not None
            if problem != self._problem:
                self._logger.warning('no connection to %s: %s', self._settings.url, problem)
            self._connection, self._problem = None, problem
            self._changed.notify_all()

    def _pause(self) -> None:
        longest = self._settings.first_delay * 2.0 ** min(self._failures, 30)
        self._failures += 1
        delay = min(longest, self._settings.longest_delay) * random.uniform(0.5, 1.0)
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing, delay)

    def _no_connection(self, when: str = 'now') -> PolicyError:
        problem = self._problem or 'it does not answer'
        kind = PolicyError if self._is_hopeless else ServerAbsentError
        question = '. Is the server running (frame-ros serve), and is the address right?'
        return kind(
            f'there is no connection to {self._settings.url} {when}: {problem}'
            f'{"" if self._is_there else question}'
        )


def _is_open(connection: Any) -> bool:
    return bool(connection.protocol.state.name == 'OPEN')


def _cut(connection: Any) -> None:
    """Ends a connection at once, also under a thread that is sending."""
    with contextlib.suppress(OSError):
        # Not the method of a TLS socket, which forgets its state under the other thread's hands.
        socket.socket.shutdown(connection.socket, socket.SHUT_RDWR)


def _reason(error: BaseException) -> str:
    """An error in words, with its kind where the words are few."""
    if isinstance(error, PolicyError | _RefusedError):
        return str(error)
    return f'{str(error) or "no reason was given"} ({type(error).__name__})'
