# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A TLS socket that one thread may read while another writes.

OpenSSL allows one thread at a time in a connection, and Python 3.11 does not see to that. The
client of websockets reads in a thread of its own from the moment at which the connection is there:
when a server's session tickets (TLS 1.3) came while it sent its request, the request was lost, and
both sides waited until they gave up, at about one connection of a hundred.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Done = TypeVar('Done')


class SharedTlsSocket(ssl.SSLSocket):
    """After its handshake OpenSSL is only entered by one thread, and never waits inside: whoever
    has to wait for the network does so outside.

    Make it by the attribute `sslsocket_class` of a context.
    """

    _entered: threading.Lock | None = None
    _longest_wait: float | None = None  # s; None: for ever

    def do_handshake(self, block: bool = False) -> None:
        """Makes the handshake, which no other thread knows of yet."""
        super().do_handshake(block)
        if self._entered is None:
            self._longest_wait = self.gettimeout()
            self._entered = threading.Lock()
            super().settimeout(0.0)

    def settimeout(self, value: float | None, /) -> None:
        """Sets how long (s) a read or write may wait; None: for ever."""
        if self._entered is None:
            super().settimeout(value)
        else:
            self._longest_wait = value

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Returns the next bytes, at most so many; none at the end."""
        return self._alone(lambda: super(SharedTlsSocket, self).recv(buflen, flags), select.POLLIN)

    def send(self, data: Any, flags: int = 0) -> int:
        """Writes some of the bytes, and returns how many."""
        return self._alone(lambda: super(SharedTlsSocket, self).send(data, flags), select.POLLOUT)

    def _real_close(self) -> None:
        """Closes the socket, and wakes whoever waits for it: closing alone wakes no poll, and sends
        nothing to the server while one lasts.
        """
        with contextlib.suppress(OSError):
            # That of the TLS socket forgets its state under the other thread's hands.
            socket.socket.shutdown(self, socket.SHUT_RDWR)
        super()._real_close()  # type: ignore[misc]

    def _alone(self, act: Callable[[], Done], usual: int) -> Done:
        """Returns what a call of OpenSSL gives, once the network lets it. usual: what it waits for
        where it does not say.

        Raises:
            TimeoutError: the network does not let it in time.
        """
        if self._entered is None:
            return act()
        while True:
            wanted = usual
            with self._entered:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    wanted = select.POLLIN
                except ssl.SSLWantWriteError:
                    wanted = select.POLLOUT
                except BlockingIOError:  # it was shut down, and is no TLS socket any more
                    pass
            waiter = select.poll()
            waiter.register(self.fileno(), wanted)
            longest = self._longest_wait
            if not waiter.poll(None if longest is None else 1e3 * longest):
                raise TimeoutError('timed out')
