# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that an arm stays in its workspace during a step, and can come to rest in it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.gate.limits.braking import time_to_rest
from frame_ros.gate.limits.command_limits import VELOCITY, Excess, JointLimits
from frame_ros.gate.limits.command_step import Proposal, Step
from frame_ros.gate.limits.joint_step import bounds
from frame_ros.gate.limits.workspace import Workspace

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
ROUNDING = 1e-9  # m, or of a limit
HALVINGS = 10  # of the part between braking and what was asked for


class WorkspaceCheck:
    """The workspace of an arm whose joints are among those of `limits`.

    Args:
        slot: s, the shortest steps in which the arm brakes.

    Attributes:
        arm: (N,) indices of its joints.
        limits: as above; they may be set.
    """

    def __init__(self, workspace: Workspace, limits: JointLimits, slot: float) -> None:
        self._workspace, self.limits, self._slot = workspace, limits, slot
        names = workspace.robot.joint_names
        self.arm: Indices = np.array([limits.names.index(n) for n in names], dtype=np.intp)
        self._levers = dict(zip(self.arm.tolist(), workspace.levers.tolist(), strict=True))
        # The place of the last full check, and its distance from the ends of the workspace, m.
        self._clearance = -math.inf
        self._looked_at: dict[int, float] = {}

    def is_clear(self, positions: Array, moving: Array, proposal: Proposal) -> bool:
        """Returns whether a cheap estimate shows that the arm stays inside on its way to rest.

        The arm, whose joints arrive together, must stay nearer to the place of the last full check
        than that was to the ends of the workspace, and be slow enough by the same estimate.

        Args:
            positions, moving: (D,) the last commands, and their velocities.
        """
        reached = zip(proposal.indices.tolist(), proposal.times.tolist(), strict=True)
        if len({time for i, time in reached if i in self._levers}) > 1:
            return False
        places, speeds, went = positions.tolist(), moving.tolist(), 0.0
        requested, velocities = proposal.requested.tolist(), proposal.velocities.tolist()
        for k, i in enumerate(proposal.indices.tolist()):
            went += self._levers.get(i, 0.0) * abs(requested[k] - places[i])
            places[i], speeds[i] = requested[k], velocities[k]
        speed = self._workspace.speed
        if speed and went > speed * float(proposal.durations.min()):
            return False
        if not self._workspace.is_bounded:
            return True
        strengths = self.limits.acceleration.tolist()
        braking = max(abs(v) / a for v, a in zip(speeds, strengths, strict=True))
        left = self._clearance
        for i, place in self._looked_at.items():
            way = abs(places[i] - place) + abs(speeds[i]) * braking / 2.0
            left -= self._levers[i] * way
        return left > 0.0

    def limited(
        self,
        now: Array,
        step: Step,
        w: Array,
        positions: Array,
        can: Mask,
        found: tuple[Excess, ...],
    ) -> tuple[Array, Array, Mask, tuple[Excess, ...]]:
        """Limits a step to the workspace.

        All arguments are as the joints' own limits have left them.

        Args:
            now: (D,) the last commands.

        Returns:
            Velocities and positions (K,), the joints that can take the step, and the limits for
                which it differs.
        """
        is_arm = np.isin(step.i, self.arm)
        if not is_arm.any():
            return w, positions, can, found
        can = np.where(is_arm, can[is_arm].all(), can)
        if not can.any():
            return w, positions, can, found
        excess = self.problem(now, step, w, positions)
        if excess is not None:
            allowed = self._allowed(now, step, w, is_arm)
            can = can & ~is_arm if allowed is None else can
            w = w if allowed is None else allowed
            positions = step.p + w * step.h
            if np.isfinite(step.q).any():
                found = (excess, *found)
        return w, positions, can, found

    def problem(
        self, now: Array, step: Step, w: Array, positions: Array, is_braking: bool = False
    ) -> Excess | None:
        """Returns the excess of going to `positions` (K,) at velocities w (K,), and from there to
        rest. A command to none of the arm's joints exceeds nothing, and a braking arm is never too
        fast. now: (D,) the last commands.
        """
        is_braking = is_braking or not np.isfinite(step.q).any()
        workspace, limits, arm = self._workspace, self.limits, self.arm
        if not np.isin(step.i, arm).any():
            return None
        before, following, velocities = now.copy(), now.copy(), step.others.copy()
        before[step.i], following[step.i], velocities[step.i] = step.p, positions, w
        if workspace.speed and not is_braking:
            way = workspace.tip(following[arm]) - workspace.tip(before[arm])
            speed = float(np.linalg.norm(way)) / float(step.h.max())
            if speed > workspace.speed * (1.0 + ROUNDING):
                return Excess(VELOCITY, 'tip', speed, workspace.speed, 'm/s')
        if not workspace.is_bounded:
            return None
        duration = float(np.max(np.abs(velocities[arm]) / limits.acceleration[arm]))
        straight = following + velocities * time_to_rest(duration, self._slot)
        # An arm that begins outside its limits may stay there, and rest as far out as it must.
        lower, upper = np.minimum(limits.lower, following), np.maximum(limits.upper, following)
        lower[step.i] = np.minimum(lower[step.i], step.lower)
        upper[step.i] = np.maximum(upper[step.i], step.upper)
        final = np.clip(straight, lower, upper)
        # A joint that its limit stops earlier leaves the straight way, by no more than this.
        left = np.abs(final - following)
        bend = float(workspace.levers @ np.where(straight != final, left, 0.0)[arm])
        found = workspace.outside(following[arm])
        self._clearance = -found.distance
        self._looked_at = dict(zip(arm.tolist(), following[arm].tolist(), strict=True))
        if found.distance + float(workspace.levers @ left[arm]) <= ROUNDING:
            return None  # it cannot come so far
        # An arm that was put outside may come back but not go farther.
        allowed = ROUNDING + max(0.0, workspace.outside(before[arm]).distance)
        found = workspace.farthest(following[arm], final[arm])
        return workspace.excess(found) if found.distance + bend > allowed else None

    def _allowed(self, now: Array, step: Step, w: Array, is_arm: Mask) -> Array | None:
        """Returns the allowed velocities (K,) between braking and `w` that are nearest to `w`. None
        if even braking is not allowed, because the step is shorter than the slot.
        """
        brake = np.where(is_arm, self._braked(step), w)
        allowed = 0.0
        is_short = float(step.h[is_arm & (step.v != 0.0)].min(initial=math.inf)) < self._slot
        if is_short and self.problem(now, step, brake, step.p + brake * step.h, True) is not None:
            return None
        for halving in range(1, HALVINGS + 1):
            part = allowed + 0.5**halving
            trial = brake + part * (w - brake)
            if self.problem(now, step, trial, step.p + trial * step.h) is None:
                allowed = part
        result: Array = brake + allowed * (w - brake)
        return result

    def _braked(self, step: Step) -> Array:
        """Returns the velocities (K,) of a step on the way to rest, all reduced by the same factor.
        A step as long as the slot, or longer, needs no check: its way is part of the one checked
        before.
        """
        duration = float(np.max(np.abs(step.others[self.arm]) / self.limits.acceleration[self.arm]))
        is_moving = (step.v != 0.0) & np.isin(step.i, self.arm)
        h = float(np.min(step.h, where=is_moving, initial=math.inf))
        part = max(0.0, 1.0 - h / duration) if duration > 0.0 else 0.0
        low, high = bounds(self.limits, step, self._slot)
        w: Array = np.clip(step.v * part, low, np.maximum(low, high))
        return w
