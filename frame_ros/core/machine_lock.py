# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Locks for what may run only once per machine, ROS domain and namespace: a demo, or a recorder.

Each is an advisory lock on a file in the user's own temporary folder; the system releases it with
the process that holds it, however that ends.
"""

from __future__ import annotations

import fcntl
import os

from frame_ros.core.errors import SetupError
from frame_ros.core.own_folder import own_folder


class MachineLock:
    """A lock held from `acquire` to `release` by one of the user's processes.

    Args:
        kind: what is locked, such as 'recorder'.
        namespace: the robot's.
        domain: the ROS domain; empty for that of the environment.
    """

    def __init__(self, kind: str, namespace: str, domain: str = '') -> None:
        self.namespace = '/' + namespace.strip('/')
        self.domain = domain or os.environ.get('ROS_DOMAIN_ID') or '0'
        self._kind = kind
        self._file = -1

    def acquire(self) -> None:
        """Takes the lock; does nothing if this object holds it already.

        Raises:
            SetupError: another process, which is named, holds it, or the folder cannot be used.
        """
        if self._file >= 0:
            return
        try:
            path = own_folder() / f'{self._kind}_{self.domain}{self.namespace.replace("/", "+")}'
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SetupError(f'the lock of the {self._kind} cannot be made: {error}') from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(file, 20).decode('ascii', 'replace')
            os.close(file)
            raise SetupError(
                f'another {self._kind} runs in ROS domain {self.domain}, namespace '
                f'{self.namespace} (process {holder or "unknown"}): stop it, or choose another '
                'ROS_DOMAIN_ID or namespace'
            ) from error
        os.ftruncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        self._file = file

    def release(self) -> None:
        """Releases the lock, if this object holds it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
