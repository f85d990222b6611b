# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tare of a force-torque sensor: its bias, as a mean over a window in which all is at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.options import WrenchOptions

Array = NDArray[np.float64]
_STILL = 0.01  # rad that the sensor may turn during a tare
_FEWEST = 5  # samples in the window


@dataclass(frozen=True)
class TareResult:
    """The result of a tare.

    Attributes:
        bias: (6,) N and N m, that holds now; if refused, the one before, and None if there was
            none.
        reason: why it was refused, and what would be right; empty if it was not.
        deviation: (6,) standard deviations over the window; None if it was cut short.
        stamp: ns, of its last sample.
    """

    is_accepted: bool
    bias: Array | None
    reason: str
    stamp: int
    deviation: Array | None = None


class _Refused(FrameRosError):
    """A tare cannot be taken, for this reason."""


class WrenchTare:
    """Collects blocks for a tare and judges them; `is_running` while one is under way."""

    def __init__(self, settings: WrenchOptions) -> None:
        self._settings = settings
        self._window = int(settings.tare_window * SECOND)
        self.is_running = False
        self._is_patient = False
        self._blocks: list[WrenchBlock] = []

    def start(self, is_patient: bool = False) -> None:
        """Begins a tare. is_patient: while there is no bias, starts again after a refusal."""
        self.is_running = True
        self._is_patient = is_patient
        self._blocks = []

    @property
    def has_begun(self) -> bool:
        """True if one is under way that has samples already, or that was asked for: another has
        nothing to lose by an unusable sample.
        """
        return self.is_running and (bool(self._blocks) or not self._is_patient)

    def restart(self) -> None:
        """Forgets the blocks so far, which are from another time; a running tare goes on."""
        self._blocks = []

    def interrupt(self, why: str, stamp: int, bias: Array | None) -> TareResult:
        """Refuses the tare that is under way."""
        self.is_running = self._is_patient and bias is None
        self._blocks = []
        return TareResult(False, bias, f'tare refused: {why}', stamp)

    def update(self, block: WrenchBlock, bias: Array | None) -> TareResult | None:
        """Takes a block; returns the result once the window is full. bias: (6,) before."""
        if bias is not None and block.is_contact:
            why = 'the robot is in contact; free it and tare again'
            return self.interrupt(why, block.end, bias)
        if block.is_holding:
            why = 'the gripper holds something, whose weight would be taken for bias; release it'
            return self.interrupt(f'{why} and tare again', block.end, bias)
        self._blocks.append(block)
        if block.end - self._blocks[0].start < self._window:
            return None
        try:
            found, deviation = self._judge(bias)
        except _Refused as error:
            self.is_running = self._is_patient and bias is None
            self._blocks = self._blocks[1:] if self.is_running else []
            return TareResult(False, bias, f'tare refused: {error}', block.end)
        self.is_running = False
        return TareResult(True, found, '', block.end, deviation)

    def _judge(self, before: Array | None) -> tuple[Array, Array]:
        readings = np.concatenate([block.readings for block in self._blocks])
        down = np.concatenate([block.down for block in self._blocks])
        if len(readings) < _FEWEST:
            raise _Refused(
                f'{len(readings)} samples in {self._settings.tare_window} s; at least {_FEWEST} '
                f'are needed: give it a longer window'
            )
        turned = float(np.linalg.norm(down - down[0], axis=1).max())
        if any(block.is_moving for block in self._blocks) or turned > _STILL:
            raise _Refused('the robot moved; let it stand and tare again')
        deviation = readings.std(axis=0)
        self._check_steady(readings, deviation)
        found: Array = readings.mean(axis=0)
        self._check_change(found, before)
        return found, deviation

    def _check_steady(self, readings: Array, deviation: Array) -> None:
        """Raises if the reading swings, or moves between the halves of the window."""
        half = len(readings) // 2
        moved = np.abs(readings[half:].mean(axis=0) - readings[:half].mean(axis=0))
        settings = self._settings
        for rows, limit, unit in (
            (slice(0, 3), settings.steady_force, 'N'),
            (slice(3, 6), settings.steady_torque, 'N m'),
        ):
            if deviation[rows].max() > limit:
                raise _Refused(
                    f'the reading is not steady: a standard deviation of '
                    f'{deviation[rows].max():.3g} {unit}, at most {limit} {unit} is allowed; let '
                    f'the robot come to rest and keep off the tool'
                )
            noise = 5.0 * deviation[rows] / np.sqrt(max(half, 1))
            if (moved[rows] > noise + 0.2 * limit).any():
                raise _Refused(
                    f'the reading changed by {moved[rows].max():.3g} {unit} during the tare: '
                    f'something presses or the tool swings; free it and tare again'
                )

    def _check_change(self, found: Array, before: Array | None) -> None:
        """Raises if this is not the bias of the same sensor, free of contact."""
        settings = self._settings
        known = 'the last tare'
        if before is None and settings.known_bias is not None:
            before, known = np.array(settings.known_bias), 'the bias expected of this sensor'
        if before is None:
            return
        change = found - before
        force, torque = float(np.linalg.norm(change[:3])), float(np.linalg.norm(change[3:]))
        if force > settings.tare_force or torque > settings.tare_torque:
            raise _Refused(
                f'beyond the weight of the tool the sensor reads {force:.2f} N and {torque:.3f} '
                f'N m more than at {known} (at most {settings.tare_force} N and '
                f'{settings.tare_torque} N m is allowed): it seems to be in contact, or carries '
                f'another tool than the one given; free it and tare again, or start again with the '
                f'tool that it carries'
            )
