# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An FR3 of franky-sim in a process of its own, at a loopback address that nobody else has."""

import itertools
import json
import os
import signal
import subprocess
import sys

NUMBERS = itertools.count(2)
PATIENCE = '0.1'  # s that the arm waits for commands of a busy machine


class FciServer:
    """host: its address."""

    def __init__(self):
        self.host = f'127.67.{os.getpid() % 250}.{next(NUMBERS)}'
        self.start()

    def start(self):
        self._process = subprocess.Popen(
            [sys.executable, '-u', '-m', 'frame_ros.scenes.franky_world', self.host, PATIENCE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert 'an FR3 is at' in self._process.stdout.readline()

    def order(self, text):
        self._process.stdin.write(f'{text}\n')
        self._process.stdin.flush()

    def report(self):
        self.order('report')
        return json.loads(self._process.stdout.readline())

    def silence(self, is_silent):
        """As with its cable pulled, and put back."""
        self._process.send_signal(signal.SIGSTOP if is_silent else signal.SIGCONT)

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
