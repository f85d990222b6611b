# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy server: a websocket for one policy, as OpenPI's servers speak it. No ROS.

A client that connects gets the server's metadata; then each observation gets one answer, or a text
that says what was wrong, after which the connection is as good as before.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import ipaddress
import logging
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from frame_ros.core.errors import MissingExtraError, PolicyError, SetupError, install_hint
from frame_ros.policies.remote.large_frames import large_frame_connection, receive
from frame_ros.policies.remote.service import InferenceService, Timing
from frame_ros.policies.remote.serving_options import NetworkOptions

HEALTH_PATH = '/healthz'
TRY_AGAIN_LATER = 1013  # close code of RFC 6455's registry
PING_PERIOD = 10.0  # s; a client that does not answer so long is taken to be gone

logger = logging.getLogger(__name__)


class PolicyServer:
    """Serves one policy; `run` blocks until `stop`, SIGTERM or SIGINT.

    One client at a time: a policy holds the state of one episode. Another is refused with a text
    until the first is gone, or has sent no whole observation for `client_timeout` s. `is_shared`:
    several may be connected, and are served in the order in which their observations came; the
    policy is reset whenever the client changes, so this is for policies without such state.
    Inference is in one thread, always the same.

    api_key: what clients must send as `Authorization: Api-Key ...`; empty: nothing.

    Raises:
        MissingExtraError: websockets is not installed.
    """

    def __init__(
        self,
        service: InferenceService,
        network: NetworkOptions | None = None,
        api_key: str = '',
    ) -> None:
        import_websockets()
        self._network = network or NetworkOptions()
        self._service, self.port, self._api_key = service, self._network.port, api_key
        self._clients: set[Any] = set()
        self._metadata = service.describe()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix='policy')
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._is_ready = threading.Event()
        self._busy = 0
        self._last_whole = 0.0

    @property
    def url(self) -> str:
        """The clients' address; the port is known once it runs."""
        host = self._network.host
        return f'ws://[{host}]:{self.port}' if ':' in host else f'ws://{host}:{self.port}'

    @property
    def is_busy(self) -> bool:
        """True while the policy works."""
        return self._busy > 0

    def run(self) -> None:
        """Serves until it is stopped.

        Raises:
            SetupError: the address cannot be had.
        """
        asyncio.run(self._run())

    def wait_until_ready(self, timeout: float) -> bool:
        """Returns whether clients can connect, within `timeout` s."""
        return self._is_ready.wait(timeout)

    def stop(self) -> None:
        """Ends `run`, from any thread. Clients are notified."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._stop.set)

    async def _run(self) -> None:
        from websockets.asyncio.server import serve

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._take_signals()
        try:
            server = await serve(
                self._handle,
                self._network.host,
                self.port,
                compression=None,  # images of cameras do not shrink
                max_size=self._network.most_bytes,
                max_queue=2,  # messages of a client that does not wait for its answers
                process_request=self._check_request,
                create_connection=large_frame_connection(self._network.most_bytes),
                origins=[None],  # no page in a browser may talk to it
                ping_interval=PING_PERIOD,
                ping_timeout=PING_PERIOD,
                close_timeout=1.0,
            )
        except OSError as error:
            raise SetupError(
                f'the server cannot listen on {self._network.host}:{self.port}: {error}; choose '
                'another with --host and --port'
            ) from error
        self.port = next(iter(server.sockets)).getsockname()[1]
        logger.info('serving %s at %s', self._service.policy.name, self.url)
        self._is_ready.set()
        try:
            await self._stop.wait()
        finally:
            server.close()
            await server.wait_closed()
            self._worker.shutdown(wait=False, cancel_futures=True)
        logger.info('stopped')

    def _take_signals(self) -> None:
        assert self._loop is not None and self._stop is not None
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._loop.add_signal_handler(number, self._stop.set)

    def _check_request(self, connection: Any, request: Any) -> Any:
        """Answers the health check, and refuses who has no key."""
        if request.path == HEALTH_PATH:
            return connection.respond(http.HTTPStatus.OK, 'OK\n')
        if self._api_key and not self._is_key(request.headers.get_all('Authorization')):
            logger.warning('a client without the right key was refused')
            return connection.respond(http.HTTPStatus.UNAUTHORIZED, 'a key is needed\n')
        return None

    def _is_key(self, given: list[str]) -> bool:
        """Returns whether this is the one key, in a time that does not depend on it."""
        expected = f'Api-Key {self._api_key}'.encode('utf-8', 'surrogateescape')
        found = (given[0] if len(given) == 1 else '').encode('utf-8', 'surrogateescape')
        return hmac.compare_digest(found, expected)

    async def _handle(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        peer = connection.remote_address
        if self._clients and not self._network.is_shared:
            await self._let_go_of_idle()
        if self._clients and not self._network.is_shared:
            logger.warning('%s was refused: the server has a client', peer)
            with contextlib.suppress(ConnectionClosed):
                await connection.send(
                    'the server is busy with another client; it serves one at a time (see '
                    '--shared of frame-ros serve), and gives the place of one that has sent '
                    f'nothing for {self._network.client_timeout:g} s to the next'
                )
                await connection.close(TRY_AGAIN_LATER, 'busy with another client')
            return
        self._clients.add(connection)
        self._last_whole = time.monotonic()
        logger.info('%s connected', peer)
        closed = asyncio.ensure_future(connection.wait_closed())
        try:
            await connection.send(self._metadata)
            await self._serve(connection, closed)
        except ConnectionClosed:
            pass
        finally:
            closed.cancel()
            self._clients.discard(connection)
            logger.info('%s is gone', peer)

    async def _let_go_of_idle(self) -> None:
        """Closes the only client's connection if it has long sent no whole observation, however
        alive it is: one that sends it byte by byte has the place no longer than one that is silent.
        """
        silence = time.monotonic() - self._last_whole
        if self.is_busy or silence < self._network.client_timeout:
            return
        for client in tuple(self._clients):
            logger.warning('%s gives its place away: silent for %.0f s', client, silence)
            with contextlib.suppress(Exception):
                await client.close(TRY_AGAIN_LATER, 'silent while another client came')
            client.transport.abort()
            self._clients.discard(client)

    async def _serve(self, connection: Any, closed: asyncio.Future[Any]) -> None:
        previous: float | None = None
        while True:
            data = await receive(connection)
            received, self._last_whole = time.perf_counter(), time.monotonic()
            answer = await self._answer(connection, data, Timing(received, previous), closed)
            del data  # its memory may then take the next one
            if answer is None:
                return
            await connection.send(answer)
            previous = time.perf_counter() - received

    async def _answer(
        self, connection: Any, data: memoryview | str, timing: Timing, closed: asyncio.Future[Any]
    ) -> bytes | str | None:
        """The answer, or a text about what was wrong; None if the client is gone, whose observation
        is then not begun.
        """
        if isinstance(data, str):
            return f'a text was received: {data[:100]!r}; a msgpack message is expected'
        assert self._loop is not None
        work = self._loop.run_in_executor(self._worker, self._work, connection, data, timing)
        await asyncio.wait((work, closed), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            return None
        try:
            return await work
        except PolicyError as error:
            logger.warning('%s: %s', connection.remote_address, error)
            return str(error)

    def _work(self, connection: Any, data: memoryview, timing: Timing) -> bytes:
        self._busy += 1
        try:
            return self._service.answer(connection, data, timing)
        finally:
            self._busy -= 1


def is_loopback(host: str) -> bool:
    """Returns whether only programs on this machine reach the address `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'


def import_websockets() -> None:
    """Raises MissingExtraError where websockets is not installed, or is too old."""
    try:
        import websockets.asyncio.server
        import websockets.sync.client
    except ImportError as error:
        raise MissingExtraError(
            f'a remote policy needs websockets 13 or newer: {error}: {install_hint("remote")}'
        ) from error
    assert websockets
