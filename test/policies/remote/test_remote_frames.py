# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Large websocket messages by way of memory that stays: the same bytes as by websockets alone."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('websockets')
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from frame_ros.policies.remote.large_frames import (
    SMALLEST,
    FrameWriter,
    Inbox,
    large_frame_connection,
    receive,
)

LIMIT = 4 * 1024 * 1024
SIZES = (0, 1, 100, SMALLEST - 1, SMALLEST, SMALLEST + 1, SMALLEST + 2, 1_000_003, LIMIT)


def bytes_of(size: int) -> bytes:
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


class Echo:
    """Sends back what comes, one message at a time. copies: keeps how each came."""

    def __init__(self) -> None:
        self.were_taken_in: list[bool] = []
        self.loop = asyncio.new_event_loop()
        self.stop = asyncio.Event()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(self.run()))

    async def run(self) -> None:
        from websockets.asyncio.server import serve

        async with serve(
            self.handle,
            '127.0.0.1',
            0,
            compression=None,
            max_size=LIMIT,
            create_connection=large_frame_connection(LIMIT),
        ) as server:
            self.url = f'ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}'
            self.ready.set()
            await self.stop.wait()

    async def handle(self, connection) -> None:
        try:
            while True:
                message = await receive(connection)
                self.were_taken_in.append(
                    isinstance(message, memoryview) and isinstance(message.obj, np.ndarray)
                )
                await asyncio.sleep(0.01)  # more may come in the meantime
                await connection.send(message if isinstance(message, str) else bytes(message))
        except ConnectionClosed:
            pass


@pytest.fixture()
def echo():
    server = Echo()
    server.thread.start()
    assert server.ready.wait(PATIENCE)
    yield server
    server.loop.call_soon_threadsafe(server.stop.set)
    server.thread.join(10)
    server.loop.close()


@pytest.fixture()
def client(echo):
    with connect(echo.url, compression=None, max_size=None) as connection:
        yield connection


@pytest.mark.parametrize('is_ours', [True, False])
def test_messages_of_all_sizes_come_back(echo, client, is_ours):
    writer = FrameWriter()
    for size in (*SIZES, *SIZES[::-1]):
        data = bytes_of(size)
        if is_ours:
            writer.send(client, memoryview(data))
        else:
            client.send(data)
        assert client.recv(20) == data
    if is_ours:
        assert sum(echo.were_taken_in) >= 6, 'large frames go the short way'


def test_messages_that_come_before_the_last_was_answered(client):
    writer = FrameWriter()
    sent = [bytes_of(size) for size in (10, 300_000, 200_001, 5, 300_002, 100)]
    for data in sent:
        writer.send(client, data)
    client.send('a text')
    assert [client.recv(20) for _ in sent] == sent
    assert client.recv(20) == 'a text'


def test_messages_in_fragments_and_pings_between(client):
    parts = [bytes_of(size) for size in (SMALLEST + 5, 200_000, 3)]
    for _ in range(3):
        client.send(iter(parts))
        client.ping().wait(PATIENCE)
        assert client.recv(20) == b''.join(parts)
        client.send(parts[1])
        assert client.recv(20) == parts[1]


def test_a_message_that_is_too_large_ends_the_connection(client):
    with pytest.raises(ConnectionClosed, match='1009'):
        FrameWriter().send(client, bytes(LIMIT + 1))
        client.recv(20)


def test_a_client_that_goes_in_the_middle_of_a_message(echo, client):
    frame = FrameWriter()._frame(bytes_of(1_000_000))
    client.socket.sendall(frame[:500_000])
    client.close_socket() if hasattr(client, 'close_socket') else client.socket.close()
    with connect(echo.url, compression=None) as other:
        FrameWriter().send(other, bytes_of(100_000))
        assert other.recv(20) == bytes_of(100_000)


def test_memory_is_used_again_but_never_while_somebody_looks_at_it():
    inbox, kept, addresses = Inbox(), [], set()
    for number in range(40):
        data = bytes_of(100_000 + number)
        inbox.begin(len(data), bytes(4))
        while inbox.is_receiving:
            count = min(30_000, len(inbox.rest))
            done = len(data) - len(inbox.rest)
            inbox.rest[:count] = data[done : done + count]
            inbox.received(count)
        array = np.frombuffer(inbox.messages.popleft(), np.uint8)
        addresses.add(array.ctypes.data)
        if number % 10 == 0:
            kept.append((array, data))
        del array
    assert len(addresses) < 12
    assert all(array.tobytes() == data for array, data in kept)
