# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""franka-sim's arm in a process of its own environment, and what it has measured."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from parts.lost_cycles import control_thread

Array = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / '.venv-franka-sim' / 'bin' / 'python'
SERVER = Path(__file__).resolve().parent / 'server.py'
CYCLE = 0.001  # s
# Of the millisecond that a client has less where the arm sends its states too early.
ON_TIME = 0.9 * CYCLE
MESHES = 'meshdir="assets"'


@dataclass(frozen=True)
class Report:
    """What the arm has measured since its start.

    Attributes:
        times: (N,) s of time.monotonic(), of its states. joints, velocities: (N, 7) rad and
            rad/s.
        now, simulated: s, of the same clock and of the arm's own.
        cycles: ms in which a motion ran.
        lost: of these, without an answer: [s that the client had, s after which the kernel of the
            arm had it after all or None, s that the client's thread had no core or None].
        stops: of motions by the arm: [s, name of the error, reason].
    """

    times: Array
    joints: Array
    velocities: Array
    now: float
    simulated: float
    cycles: int
    lost: list[tuple[float, float | None, float | None]]
    stops: list[tuple[float, str, str]]

    def lost_by_client(self) -> int:
        """Cycles for which the client had its millisecond, and after which the arm's kernel had no
        answer: the others were lost by the arm.
        """
        return len(self._by_client())

    def lost_without_core(self) -> int:
        """Cycles of these for more than half of which libfranka's thread, above which nothing of
        the driver has a priority, was ready to run and had no core: the machine lost them.
        """
        return sum(waited is not None and waited > CYCLE / 2 for waited in self._by_client())

    def _by_client(self) -> list[float | None]:
        return [
            waited
            for had, came, waited in self.lost
            if had >= ON_TIME and (came is None or came > CYCLE)
        ]


def model_file(folder: Path) -> Path:
    """Writes the arm's model into a folder: the FR3 of the package franky-sim, which is MuJoCo
    Menagerie's. franka-sim itself fetches Menagerie's from GitHub where FR3_MJCF names none.

    Raises:
        ImportError: franky-sim is not installed.
    """
    found = importlib.util.find_spec('franky_sim')
    if found is None or found.origin is None:
        raise ImportError('franky-sim, of which the model is, is not installed')
    assets = Path(found.origin).parent / 'assets'
    text = (assets / 'fr3.xml').read_text(encoding='utf-8')
    if MESHES not in text:
        raise ImportError(f'{assets / "fr3.xml"} is of another version: no {MESHES}')
    path = folder / 'fr3.xml'
    path.write_text(text.replace(MESHES, f'meshdir="{assets / "meshes"}"'), encoding='utf-8')
    return path


class FrankaSimArm:
    """An arm at a loopback address, inside a `with` block. command: for tests, of the process."""

    def __init__(self, host: str, command: Sequence[str] = ()) -> None:
        self.host = host
        self._command = [*(command or (str(PYTHON), str(SERVER))), host]

    def __enter__(self) -> FrankaSimArm:
        self._folder = tempfile.TemporaryDirectory(prefix='franka_sim_')
        folder = Path(self._folder.name)
        environment = {name: text for name, text in os.environ.items() if name != 'PYTHONPATH'}
        environment.setdefault('FR3_MJCF', str(model_file(folder)))
        self._states, self._log = folder / 'states.npy', folder / 'log'
        with self._log.open('w') as log:
            self._process = subprocess.Popen(
                self._command, env=environment, stderr=log, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        try:
            self._answer()
        except RuntimeError:
            self.__exit__()
            raise
        return self

    def watch(self, process: int) -> None:
        """Has it look whether libfranka's thread in a process had a core, if it can be found."""
        thread = control_thread(process)
        if thread:
            self._order(f'watch /proc/{process}/task/{thread}/schedstat')

    def report(self) -> Report:
        """What it has measured so far.

        Raises:
            RuntimeError: the arm's process has ended.
        """
        found, states = json.loads(self._order(f'report {self._states}')), np.load(self._states)
        return Report(states[:, 0], states[:, 1:8], states[:, 8:], **found)

    def _order(self, order: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f'{order}\n')
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f'franka-sim has ended:\n{self._log.read_text()[-2000:]}')
        return line

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()
