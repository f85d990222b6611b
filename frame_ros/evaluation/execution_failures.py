# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""UCI's robot execution failures: real windows of a wrist force-torque sensor, with labels.

Five files, lp1.data to lp5.data, of L. Seabra Lopes and L. M. Camarinha-Matos (Feature
Transformation Strategies for a Robot Learning Problem, 1998; UCI Machine Learning Repository, data
set Robot Execution Failures, 1999). Each window is a line with its label, then 15 lines of six
numbers, Fx Fy Fz Tx Ty Tz, from the moment at which a failure was noticed, 315 ms in all. The
description names no unit, no posture and no tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion

Array = NDArray[np.float64]
PROBLEMS = {
    'lp1': 'failures in approach to grasp position',
    'lp2': 'failures in transfer of a part',
    'lp3': 'position of part after a transfer failure',
    'lp4': 'failures in approach to ungrasp position',
    'lp5': 'failures in motion with part',
}
SAMPLES, AXES = 15, 6
DURATION = 315 * SECOND // 1000  # ns, of a window
PERIOD = DURATION // SAMPLES
NORMAL = ('normal', 'ok')  # labels of windows in which nothing failed
BEGIN = SECOND  # stamp of a window's first sample, ns


@dataclass(frozen=True)
class WrenchWindow:
    """One window.

    Attributes:
        problem: 'lp1' to 'lp5'.
        label: as in the file.
        stamps: (15,) ns since the window's begin, `BEGIN`.
        wrenches: (15, 6) force and torque, in units that the data set does not name.
    """

    problem: str
    label: str
    stamps: NDArray[np.int64]
    wrenches: Array

    @property
    def is_failure(self) -> bool:
        """True unless the label says that all was normal."""
        return self.label not in NORMAL


def read_execution_failures(folder: str | Path) -> list[WrenchWindow]:
    """Returns the windows of lp1.data to lp5.data in a folder; files that are not there are left
    out.

    Raises:
        SetupError: none of them is there, or one is not of that form, with its line.
    """
    files = [(name, Path(folder) / f'{name}.data') for name in PROBLEMS]
    there = [(name, file) for name, file in files if file.is_file()]
    if not there:
        raise SetupError(f'{folder} has none of lp1.data to lp5.data')
    return [window for name, file in there for window in _windows(name, file)]


def _windows(problem: str, file: Path) -> Iterator[WrenchWindow]:
    label, number = '', 0
    rows: list[list[float]] = []
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) == 1:
            if rows:
                raise _wrong(file, number, f'a label after {len(rows)} of {SAMPLES} samples')
            label = words[0]
            continue
        if not label or len(words) != AXES:
            raise _wrong(file, number, f'{line.strip()!r} is neither a label nor {AXES} numbers')
        try:
            rows.append([float(word) for word in words])
        except ValueError as error:
            raise _wrong(file, number, str(error)) from error
        if len(rows) == SAMPLES:
            stamps = BEGIN + PERIOD * np.arange(SAMPLES, dtype=np.int64)
            yield WrenchWindow(problem, label, stamps, np.array(rows))
            label, rows = '', []
    if label or rows:
        raise _wrong(file, number, f'the last window ends after {len(rows)} of {SAMPLES} samples')


def _wrong(file: Path, number: int, why: str) -> SetupError:
    return SetupError(f'{file}, line {number}: {why}')


@dataclass(frozen=True)
class FailureRow:
    """Judgement of the contact detection on the windows of one problem.

    Attributes:
        failures, found: windows of failures, and in how many of them there is a contact.
        normal, false: windows without one, apart from those that the bias is of; and in how many of
            them there is a contact.
        force_on, torque_on: the thresholds, in the unit of the data.
    """

    problem: str
    failures: int
    found: int
    normal: int
    false: int
    force_on: float
    torque_on: float


def judge_failures(
    windows: Iterable[WrenchWindow],
    settings: WrenchOptions | None = None,
    is_scaled: bool = False,
) -> list[FailureRow]:
    """Judges windows as the contact detection would, by problem.

    The arm is taken to stand, without a tool: its motion is not in the data. Of every other normal
    window of a problem come the bias, their median, and what a scaled threshold is; they do not
    count themselves.

    Args:
        is_scaled: whether the thresholds of force and torque are the largest deviation from the
            bias in those windows, as the data name no unit; otherwise their numbers are taken for N
            and N m.
    """
    by_problem: dict[str, list[WrenchWindow]] = {}
    for window in windows:
        by_problem.setdefault(window.problem, []).append(window)
    given = settings or WrenchOptions()
    options = evolved(given, gap=max(given.gap, 2 * PERIOD / SECOND))
    return [_row(name, own, options, is_scaled) for name, own in sorted(by_problem.items())]


def _row(
    problem: str, windows: Sequence[WrenchWindow], options: WrenchOptions, is_scaled: bool
) -> FailureRow:
    reference = [window for window in windows if not window.is_failure][::2] or list(windows)
    rows = np.vstack([window.wrenches for window in reference])
    bias = np.median(rows, axis=0)
    if is_scaled:
        forces, torques = (np.linalg.norm(part, axis=1) for part in np.hsplit(rows - bias, 2))
        least = 1.0  # the data are whole numbers
        options = evolved(
            options,
            force_on=max(float(forces.max()), least),
            torque_on=max(float(torques.max()), least),
        )
    taken = set(map(id, reference))
    judged = [(w.is_failure, _is_contact(w, options, bias)) for w in windows if id(w) not in taken]
    failures = [is_contact for is_failure, is_contact in judged if is_failure]
    normal = [is_contact for is_failure, is_contact in judged if not is_failure]
    return FailureRow(
        problem, len(failures), sum(failures), len(normal), sum(normal),
        options.force_on, options.torque_on,
    )  # fmt: skip


def _is_contact(window: WrenchWindow, options: WrenchOptions, bias: Array) -> bool:
    detector = WrenchContact(options, Tool(0.0, (0.0, 0.0, 0.0)), bias)
    still = ToolMotion.at_rest(np.eye(3))
    samples = zip(window.stamps.tolist(), window.wrenches, strict=True)
    return any(detector.update(stamp, wrench, still).is_contact for stamp, wrench in samples)
