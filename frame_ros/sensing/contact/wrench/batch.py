# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from recorded samples of a force-torque sensor, block by block in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import BLOCK
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import ROOM
from frame_ros.sensing.contact.wrench.tool_model import ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion, ToolMotions

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WrenchSamples:
    """The results for T samples of a force-torque sensor; see Detection.

    Attributes:
        is_contact: (T,) 1, 0, or -1 where unknown.
        force: (T,) N.
        wrench: (T, 6) at the tip, in axes of the base frame.
        share: (T,) of the threshold that was reached.
        unavailable: T texts.
    """

    stamps: NDArray[np.int64]
    is_contact: NDArray[np.int8]  # (T,) 1, 0, or -1 where it is not known
    force: Array  # (T,) N
    wrench: Array  # (T, 6) at the tip, in axes of the base frame
    share: Array  # (T,) of the threshold that was reached
    unavailable: list[str]  # T texts


def process(
    contact: WrenchContact,
    stamps: NDArray[np.int64],
    wrenches: Array,
    motions: ToolMotions,
    is_holding: Sequence[bool | None] | None = None,
) -> WrenchSamples:
    """Takes T samples at once: the results of `contact.update`, to 1e-9, many times as fast.

    Args:
        stamps: (T,) ns. wrenches: (T, 6). motions: T of them. is_holding: T values; None: not known
            of any.

    Raises:
        ShapeError: these are not of one length.
    """
    stamps = np.asarray(stamps, dtype=np.int64)
    wrenches = np.asarray(wrenches, dtype=np.float64)
    count = len(stamps)
    holding: list[bool | None] = [None] * count if is_holding is None else list(is_holding)
    if wrenches.shape != (count, 6) or len(motions) != count or len(holding) != count:
        raise ShapeError(
            f'{count} stamps, wrenches of shape {wrenches.shape}, {len(motions)} motions and '
            f'{len(holding)} of is_holding; all must be of one length, and wrenches (T, 6)'
        )
    return _Batch(contact, stamps, wrenches, motions, holding).run()


class _Batch:
    """One call of `process`."""

    def __init__(
        self,
        contact: WrenchContact,
        stamps: NDArray[np.int64],
        wrenches: Array,
        motions: ToolMotions,
        holding: list[bool | None],
    ) -> None:
        self._contact, self._stamps, self._wrenches = contact, stamps, wrenches
        self._motions, self._holding = motions, holding
        count = len(stamps)
        self._load: ToolLoad | None = None
        self._from = 0
        self._found = WrenchSamples(
            stamps,
            np.full(count, -1, dtype=np.int8),
            np.full(count, np.nan),
            np.full((count, 6), np.nan),
            np.zeros(count),
            [''] * count,
        )
        # Rows whose wrench is that at the sensor, in its axes, until all are turned together.
        self._is_turned_later = np.zeros(count, dtype=bool)

    def run(self) -> WrenchSamples:
        """Goes through all samples."""
        count = len(self._stamps)
        if count:
            self._steps = np.diff(self._stamps, prepend=self._stamps[:1])
            self._gravity = self._contact.load.gravities(self._motions.rotation)
            self._breaks = self._rows_alone()
        row = 0
        while row < count:
            end = self._reach(row)
            if end - row < 4:
                self._one(row)
                row += 1
                continue
            self._many(slice(row, end))
            row = end
        if self._is_turned_later.any():
            self._turn()
        return self._found

    def _rows_alone(self) -> NDArray[np.intp]:
        """Rows that must be taken one by one, and those at which is_holding changes."""
        motions = self._motions
        newest = np.maximum.accumulate(self._stamps)
        steps = np.diff(self._stamps, prepend=self._stamps[0])
        steps[1:] = self._stamps[1:] - newest[:-1]
        whole = np.isfinite(self._wrenches).all(axis=1)
        whole = whole & np.isfinite(motions.rotation).all(axis=(1, 2))
        whole = whole & np.array([not why for why in motions.unavailable], dtype=bool)
        whole &= (steps > 0) & (steps <= self._contact.gap)
        codes = np.array([-1 if held is None else int(held) for held in self._holding])
        changes = np.diff(codes, prepend=codes[0]) != 0
        return np.flatnonzero(~whole | changes)

    def _reach(self, row: int) -> int:
        """First row after `row` that cannot be taken with it; `row` if it must be alone."""
        contact = self._contact
        stamp = int(self._stamps[row])
        if contact.block is None or contact.last is None:
            return row
        if stamp - contact.block.start >= BLOCK or self._holding[row] != contact.block.is_holding:
            return row  # it begins a block
        after = int(np.searchsorted(self._breaks, row))
        stop = int(self._breaks[after]) if after < len(self._breaks) else len(self._stamps)
        due = np.searchsorted(self._stamps[row:stop], contact.block.start + BLOCK)
        return row + int(due)

    def _one(self, row: int) -> None:
        found = self._found
        detection = self._contact.update(
            int(self._stamps[row]), self._wrenches[row], self._motion(row), self._holding[row]
        )
        state = detection.is_contact
        found.is_contact[row] = -1 if state is None else int(state)
        found.force[row], found.wrench[row] = detection.force, detection.wrench
        found.share[row] = self._contact.share
        found.unavailable[row] = detection.unavailable

    def _motion(self, row: int) -> ToolMotion:
        motions = self._motions
        acceleration = motions.linear_acceleration[row]
        omega, alpha = motions.angular_velocity[row], motions.angular_acceleration[row]
        is_known = bool(np.isfinite(acceleration).all() and np.isfinite(alpha).all())
        moving = int(motions.is_moving[row])
        return ToolMotion(
            motions.rotation[row],
            acceleration if is_known else None,
            omega if np.isfinite(omega).all() else None,
            alpha if is_known else None,
            None if moving < 0 else bool(moving),
            float(motions.delay[row]),
            motions.unavailable[row],
            float(motions.noise[row]),
            float(motions.speed[row]),
        )

    def _many(self, rows: slice) -> None:
        """Samples of the block under way, none of which begins or ends anything."""
        contact, stamps = self._contact, self._stamps[rows]
        values = self._values(rows)
        assert contact.block is not None and contact.last is not None
        steps = self._steps[rows].copy()
        steps[0] = stamps[0] - contact.last
        contact.is_at_rest = bool(self._motions.is_moving[rows.stop - 1] == 0)
        filtered = contact.filter.update_block(steps, values)
        slow = contact.slow.update_block(steps, values[:, :6])
        is_over: NDArray[np.bool_] = np.zeros(len(stamps), dtype=bool)
        if contact.bias is not None:
            filtered[:, :6] -= contact.bias
            slow -= contact.bias
            share = self._shares(steps, filtered, slow, rows)
            is_over = contact.threshold.update_block(stamps, share)
            self._found.share[rows] = share
            self._found.is_contact[rows] = is_over
            self._found.wrench[rows] = filtered[:, :6]
            self._is_turned_later[rows] = True
            contact.share = float(share[-1])
        else:
            self._found.unavailable[rows] = [contact.why_not_tared()] * len(stamps)
        gravity = self._gravity[rows]
        worst = float(self._found.share[rows].max())
        rotation = self._motions.rotation[rows.stop - 1].ravel().tolist()
        contact.block.add_many(
            int(stamps[-1]),
            np.concatenate([values[:, :6], gravity, filtered[:, :6], slow], axis=1),
            worst,
            bool(is_over.any()),
            self._motions.is_moving[rows],
            rotation,
            self._motions.speed[rows],
        )
        contact.last = int(stamps[-1])
        contact.detect(contact.last, filtered[-1].tolist(), rotation, bool(is_over[-1]))
        x, y, z = gravity[-1].tolist()
        contact.gravity = (x, y, z)

    def _values(self, rows: slice) -> Array:
        """(n, 8): what is read beyond the tool, and by how much force and torque may be wrong."""
        contact = self._contact
        if contact.load is not self._load:
            self._prepare(rows.start)
        near = slice(rows.start - self._from, rows.stop - self._from)
        values = np.empty((rows.stop - rows.start, 8))
        values[:, :6] = contact.sign * self._wrenches[rows] - self._own[near]
        values[:, 6:] = self._wrong[near]
        return values

    def _prepare(self, start: int) -> None:
        """Computes the tool's own wrench, from row `start` on."""
        contact = self._contact
        self._load, self._from = contact.load, start
        motions, settings, load = self._motions[start:], contact.settings, contact.load
        inertial = load.inertials(motions)
        most = settings.unknown_acceleration
        is_known = np.logical_and.reduce(np.isfinite(inertial), axis=1) & (motions.noise <= most)
        lateness = contact.swing * motions.delay
        gain = np.where(is_known, np.minimum(settings.inertial_gain + lateness, 1.0), 0.0)
        unseen = np.maximum(most * np.minimum(lateness, 1.0), np.minimum(motions.noise, most))
        guess = np.where(is_known | (motions.is_moving == 0), 0.0, most)
        inertial[~is_known] = 0.0
        mass, lever = load.tool.mass, float(np.linalg.norm(load.tool.centre_of_mass))

        def wrong(columns: slice, moment: float, room: float) -> Array:
            seen = gain * np.linalg.norm(inertial[:, columns], axis=1)
            found: Array = np.maximum(seen, np.maximum(guess * moment, unseen * moment - room))
            return found

        force = wrong(slice(0, 3), mass, ROOM * settings.force_on)
        torque = wrong(slice(3, 6), mass * lever, ROOM * settings.torque_on)
        self._wrong = np.stack([force, torque], axis=1)
        self._own = load.weights(self._gravity[start:])
        self._own += inertial

    def _shares(self, steps: NDArray[np.int64], filtered: Array, slow: Array, rows: slice) -> Array:
        """(n,) shares of the threshold."""
        contact = self._contact
        at_rest = self._motions.is_moving[rows] == 0
        limits = np.array((contact.limits_at(False), contact.limits_at(True)))[at_rest.astype(int)]
        more = self._peaks(steps, filtered[:, 6:])
        contact.peak = (float(more[-1, 0]), float(more[-1, 1]))
        more = more + np.array([0.0, contact.unknown_torque])
        squares = filtered[:, :6] * filtered[:, :6]
        sizes = np.sqrt(np.add.reduce(squares.reshape(-1, 2, 3), axis=2))
        share = np.maximum.reduce(sizes / (limits + more), axis=1)
        if contact.free.slow_limits is not None:
            share = np.maximum(share, contact.free.slow_shares(slow, more))
        if contact.has_axes:
            wider = np.repeat(more + np.array(contact.free.vibration), 3, axis=1)
            axes: Array = np.abs(filtered[:, :6]) / (np.array(contact.axes) + wider)
            share = np.maximum(share, axes.max(axis=1))
        return share

    def _peaks(self, steps: NDArray[np.int64], wrong: Array) -> Array:
        """(n, 2): the largest so far, decaying."""
        wrong = np.maximum(wrong, 0.0)
        fade = self._contact.settings.peak_time * SECOND
        if not fade:
            return wrong
        growth = np.exp(np.cumsum(steps) / fade)[:, None]
        before = np.array([self._contact.peak])
        grown = np.concatenate([before, wrong * growth])
        peaks: Array = np.maximum.accumulate(grown, axis=0)[1:] / growth
        return peaks

    def _turn(self) -> None:
        """Turns wrenches at the sensor into those at the tip, in axes of the base frame."""
        found, rows = self._found, np.flatnonzero(self._is_turned_later)
        rotation, external = self._motions.rotation[rows], found.wrench[rows]
        force = external[:, :3]
        torque = external[:, 3:6] - np.cross(np.array(self._contact.settings.tip), force)
        found.force[rows] = np.linalg.norm(force, axis=1)
        found.wrench[rows, :3] = np.einsum('tij,tj->ti', rotation, force)
        found.wrench[rows, 3:] = np.einsum('tij,tj->ti', rotation, torque)
