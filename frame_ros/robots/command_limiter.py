# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps a stream of joint commands within limits, and brings it to rest within them.

The state is the last command sent, p, and its velocity v, the difference of the last two over the
time h between them. The next may be p + w h if w lies within v -+ a h, within -+ the velocity
limit, and if the joint can still come to rest before its position limit by steps of h, each slower
by a h than the one before. Longer steps need less way than shorter ones. If a command comes so
early that no braking will do, the last position is sent once more, and the time counts for the
next step. So from a state that keeps to this there is always a next one that does: no limit is
ever broken.

In the workspace the way to rest must be known as a whole. All joints brake in proportion, which is
a straight way in joint space but for joints that their limits stop earlier, and a command is
accepted if that way stays inside; if not, the largest part of it beyond braking that does.

The time h between two commands: what has passed since the last on the caller's clock; but a
command that came late leaves `jitter` s at most of its lateness to the next one, which comes early
by as much. Over any time t a joint moves no farther than the velocity limit times (t + jitter).
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.braking import reach, way_to_rest
from frame_ros.robots.command_limits import (
    ACCELERATION,
    JOINT,
    STEP,
    VELOCITY,
    Excess,
    JointLimits,
)
from frame_ros.robots.command_step import Proposal, Step
from frame_ros.robots.workspace import Workspace
from frame_ros.robots.workspace_check import WorkspaceCheck

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

SECOND = 1_000_000_000
SHORTEST = 1e-6  # s: two commands at one time are as far apart as this
ROUNDING = 1e-9  # of a limit, by which a value may exceed it in floating point
HALVINGS = 10  # of the part between braking and what was asked for, in the workspace
FIRST = 1 / 30  # s that a first command counts for, until the stream's own period is known
REMEMBERED = 16  # commands whose distance in time tells the stream's own period


class CommandLimiter:
    """The stream of commands to one robot.

    limits: of its D joints. workspace: of the arm, whose joints are among them. jitter: s, see
    above. longest: s after which the joints count as at rest at the last command; the time between
    two commands never counts for more.

    positions, velocities: (D,) of the last commands, rad or m, NaN for joints without any.
    """

    def __init__(
        self,
        limits: JointLimits,
        workspace: Workspace | None = None,
        jitter: float = 0.02,
        longest: float = 0.1,
    ) -> None:
        self.limits = limits
        is_limited = workspace is not None and workspace.is_limited
        self._check = WorkspaceCheck(workspace, limits) if workspace and is_limited else None
        self._jitter, self._longest = jitter, longest
        size = len(limits.names)
        self.positions: Array = np.full(size, math.nan)
        self.velocities: Array = np.zeros(size)
        self._requested: Array = np.full(size, math.nan)
        stopping = limits.velocity**2 / (2.0 * limits.acceleration)
        # Of each joint: where nothing need brake before its ends, and its other limits.
        columns = (limits.lower + stopping, limits.upper - stopping, limits.velocity)
        others = (limits.acceleration, limits.tick, limits.step)
        self._simple = list(zip(*(c.tolist() for c in (*columns, *others)), strict=True))
        self._asked = np.zeros(size)
        self._cause: str = ACCELERATION
        self._saved = np.zeros(size)
        self._times = np.zeros(size, dtype=np.int64)
        self._gaps: deque[float] = deque(maxlen=REMEMBERED)
        self._last = 0

    @property
    def known(self) -> Indices:
        """Indices of the joints that have been commanded."""
        return np.flatnonzero(np.isfinite(self.positions))

    def restart(self, positions: Array, time: int) -> None:
        """Forgets the stream: it begins at rest at these positions (D,), moved inside the limits.

        time: ns, from which on commands may come; the first counts for one period. NaN: not known;
        such a joint begins at the first command to it.
        """
        began = time - round(self._period(FIRST) * SECOND)
        self.positions = np.clip(positions, self.limits.lower, self.limits.upper)
        self.velocities = np.zeros(len(positions))
        self._requested = self.positions.copy()
        self._asked = np.zeros(len(positions))
        self._saved = np.zeros(len(positions))
        self._times = np.full(len(positions), began, dtype=np.int64)
        self._last = 0

    def propose(
        self, indices: Indices, requested: Array, time: int, measured: Array | None = None
    ) -> Proposal:
        """What to send for the command `requested` (K,) to the joints `indices` at `time` (ns).

        A joint that has no command yet begins at this one. measured: (D,) positions, NaN where not
        measured; None: the step limit does not hold.
        """
        harmless = self._harmless(indices, requested, time, measured)
        if harmless is not None and self._is_clear(harmless):
            return harmless
        step = self._step(indices, requested, time, measured)
        if harmless is not None:
            step.h = harmless.durations
            if self._outside(step, harmless.velocities, requested) is None:
                return harmless
        passed = self._passed(indices, time)
        available = np.minimum(self._saved[indices] + passed, self._longest)
        regular = np.minimum(available, self._period(float(passed.max())))
        proposals: list[Proposal] = []
        for span in (regular, available) if (regular < available).any() else (available,):
            step.h = self._durations(step, span)
            saved = np.minimum(available - np.minimum(step.h, available), self._jitter)
            proposals.append(self._limited(step, saved, time))
            if not proposals[-1].excesses:
                return proposals[-1]
        return proposals[0]

    def commit(self, proposal: Proposal) -> Array:
        """Makes a proposal the last command; its positions (K,)."""
        i = proposal.indices
        self._asked[i] = proposal.asked
        self._requested[i] = proposal.requested
        if proposal.excesses:
            self._cause = proposal.excesses[0].cause
        if not proposal.is_repeat:
            self.positions[i] = proposal.positions
            self.velocities[i] = proposal.velocities
            self._saved[i] = proposal.saved
            self._times[i] = proposal.time
        gap = (proposal.time - self._last) / SECOND
        if 0.0 <= gap <= self._longest:
            self._gaps.append(gap)
        self._last = proposal.time
        return proposal.positions

    def brake(self, time: int) -> Array:
        """The next command on the way to rest: (D,) positions, NaN for joints never commanded.

        time: ns. Joints whose last command is longer ago than `longest` are at rest already.
        """
        i = self.known
        v = self._moving(time)
        passed = self._passed(i, time)
        span = float(np.min(passed[v[i] != 0.0], initial=self._longest))
        step = Step(i, self.positions[i], v[i], self.positions[i], None, v)
        step.h = np.full(len(i), max(span, SHORTEST))
        w = self._braked(step) if i.size else None
        if w is not None:
            positions = self._inside(i, step.p + w * step.h)
            self.velocities[i] = self._asked[i] = (positions - step.p) / step.h
            self.positions[i] = self._requested[i] = positions
            self._times[i] = time
            self._saved[i] = 0.0
        return self.positions.copy()

    def rest(self, time: int) -> Array:
        """The last command again, and no velocity: (D,), NaN for joints never commanded."""
        self.velocities[:] = 0.0
        return self.brake(time)

    def _harmless(
        self, indices: Indices, requested: Array, time: int, measured: Array | None
    ) -> Proposal | None:
        """The command as it is, where plain numbers show that it keeps to all limits of the joints:
        it goes on from the last, slowly enough, far from where any joint must brake. That is so
        nearly always, and costs a third of `_limited`, which comes to the same.
        """
        period, jitter, longest = self._period(self._longest), self._jitter, self._longest
        state = (self.positions, self._requested, self.velocities, self._saved, self._times)
        sent, asked, speeds, saved, times = [values.tolist() for values in state]
        places = measured.tolist() if measured is not None else sent
        requests, table = requested.tolist(), []
        for k, i in enumerate(indices.tolist()):
            q, p, v = requests[k], sent[i], speeds[i]
            lower, upper, fastest, a, tick, room = self._simple[i]
            available = saved[i] + (time - times[i]) / SECOND
            h = min(available, period)
            if p != asked[i] or not lower <= q <= upper or abs(q - p) > tick:
                return None
            if h < SHORTEST or available > longest or abs(q - places[i]) > room:
                return None
            w = (q - p) / h
            if abs(w) > fastest or abs(w - v) > a * h:
                return None
            table.append((w, h, min(available - h, jitter)))
        w, h, rest = np.array(table).T
        return Proposal(indices, requested, w, requested, w, h, rest, time)

    def _step(self, i: Indices, requested: Array, time: int, measured: Array | None) -> Step:
        first = self._inside(i, requested)
        p = np.where(np.isfinite(self.positions[i]), self.positions[i], first)
        others = self._moving(time)
        place = None if measured is None else measured[i]
        return Step(i, p, others[i], requested, place, others)

    def _moving(self, time: int) -> Array:
        """(D,) velocities; 0 of the joints that have come to rest at their last command."""
        return np.where((time - self._times) / SECOND > self._longest, 0.0, self.velocities)

    def _passed(self, indices: Indices, time: int) -> Array:
        return np.maximum(time - self._times[indices], 0) / SECOND

    def _period(self, passed: float) -> float:
        """The stream's own: the mean distance of the last commands; at first the last one's."""
        count = len(self._gaps)
        return sum(self._gaps) / count if count >= 3 else passed

    def _durations(self, step: Step, span: Array) -> Array:
        """(K,) s that the step counts for: `span`, or less where the tick limit could not be kept
        to otherwise, because no braking within that time would do.
        """
        h = np.maximum(span, SHORTEST)
        limits, i = self.limits, step.i
        is_too_fast = np.abs(step.v) - limits.acceleration[i] * h > limits.tick[i] / h
        result: Array = np.where(is_too_fast, limits.tick[i] / limits.velocity[i], h)
        return result

    def _inside(self, i: Indices, positions: Array) -> Array:
        result: Array = np.clip(positions, self.limits.lower[i], self.limits.upper[i])
        return result

    def _limited(self, step: Step, saved: Array, time: int) -> Proposal:
        """The step that is nearest to what is requested, and the limits for which it differs."""
        before = self._requested[step.i]
        asked = (step.q - np.where(np.isfinite(before), before, step.p)) / step.h
        w, positions, excesses = self._in_limits(step)
        if w is not None:
            excess = self._outside(step, w, positions)
            if excess is not None:
                w, excesses = self._allowed(step, w), (excess, *excesses)
                positions = step.p if w is None else step.p + w * step.h
        if w is None:  # a repeat that is what was requested is no excess
            excesses = () if (step.q == step.p).all() else excesses or self._excesses(step)
            return Proposal(
                step.i, step.p, step.v, step.q, asked, step.h, saved, time, excesses, True
            )
        positions = self._inside(step.i, positions)
        w = (positions - step.p) / step.h
        return Proposal(step.i, positions, w, step.q, asked, step.h, saved, time, excesses)

    def _in_limits(self, step: Step) -> tuple[Array | None, Array, tuple[Excess, ...]]:
        """Velocities (None: there are none) and positions (K,) nearest to those requested, and the
        limits for which they differ.
        """
        exact = (step.q - step.p) / step.h
        low, high = self._bounds(step)
        slack = ROUNDING * self.limits.velocity[step.i]
        is_within = (exact >= low - slack) & (exact <= high + slack) & self._is_met(step, slack)
        is_within &= self._near(step) == step.q
        excesses: tuple[Excess, ...] = ()
        w, positions = exact, step.q
        if not is_within.all():
            excesses = self._excesses(step)
            w = np.where(is_within, exact, np.clip(self._tracking(step), low, high))
            positions = np.where(is_within, step.q, step.p + w * step.h)
        return None if self._is_early(step) else w, positions, excesses

    def _is_early(self, step: Step) -> bool:
        """Whether a joint cannot brake as it must in the time that has passed."""
        i, a, h = step.i, self.limits.acceleration[step.i], step.h
        slowest = np.abs(step.v) - a * h
        if not (slowest > 0.0).any():
            return False
        ahead = np.where(step.v > 0.0, self.limits.upper[i] - step.p, step.p - self.limits.lower[i])
        slack = ROUNDING * self.limits.velocity[i]
        return bool((slowest > np.maximum(reach(ahead, a, h), 0.0) + slack).any())

    def _bounds(self, step: Step) -> tuple[Array, Array]:
        """Least and largest velocity (K,) of a step."""
        i, p, v, h = step.i, step.p, step.v, step.h
        limits, a = self.limits, self.limits.acceleration[i]
        fastest = np.minimum(limits.velocity[i], limits.tick[i] / h)
        low = np.maximum(v - a * h, np.maximum(-fastest, -reach(p - limits.lower[i], a, h)))
        high = np.minimum(v + a * h, np.minimum(fastest, reach(limits.upper[i] - p, a, h)))
        return low, np.maximum(low, high)  # equal, but for rounding

    def _asked_velocity(self, step: Step) -> Array:
        """(K,) the velocity of what is requested, since the last command."""
        before, fastest = self._requested[step.i], self.limits.velocity[step.i]
        asked = np.where(np.isfinite(before), step.q - before, 0.0) / step.h
        result: Array = np.clip(asked, -fastest, fastest)
        return result

    def _is_met(self, step: Step, slack: Array) -> NDArray[np.bool_]:
        """(K,) whether who goes where requested can take over its velocity there with the next
        command. Always so, if the last command passed as it was.
        """
        is_behind = step.p != self._requested[step.i]
        if not is_behind.any():
            return ~is_behind
        change = np.abs((step.q - step.p) / step.h - self._asked_velocity(step))
        a = self.limits.acceleration[step.i]
        result: NDArray[np.bool_] = ~is_behind | (change <= a * step.h + slack)
        return result

    def _near(self, step: Step) -> Array:
        """(K,) what is requested, or the place next to it within a step of where the joint is."""
        if step.measured is None:
            return step.q
        place = np.where(np.isfinite(step.measured), step.measured, step.q)
        room = self.limits.step[step.i]
        result: Array = np.clip(step.q, place - room, place + room)
        return result

    def _tracking(self, step: Step) -> Array:
        """The velocity that catches up with the requested position and does not overshoot, if that
        goes on as it went since the last command.
        """
        place = self._near(step)
        asked = np.where(place == step.q, self._asked_velocity(step), 0.0)
        left = place - step.p - asked * step.h
        a = self.limits.acceleration[step.i]
        result: Array = asked + np.sign(left) * reach(np.abs(left), a, step.h)
        return result

    def _excesses(self, step: Step) -> tuple[Excess, ...]:
        """Every limit that the command does not keep to, by its difference from the command before,
        each with the joint that is worst. If it keeps to all, but what was sent lags behind: the
        one for which that began.
        """
        limits, i, q, h = self.limits, step.i, step.q, step.h
        before = np.where(np.isfinite(self._requested[i]), self._requested[i], step.p)
        a, fastest, lower, upper = (
            values[i]
            for values in (limits.acceleration, limits.velocity, limits.lower, limits.upper)
        )
        w = (q - before) / h
        rest = q + np.sign(w) * way_to_rest(np.minimum(np.abs(w), fastest), a, h)
        measured = step.measured if step.measured is not None else np.full(len(q), math.nan)
        distance, change = np.abs(q - measured), np.abs(q - before)
        gain = np.abs(w - self._asked[i]) / h
        limit = np.where(rest > upper, upper, lower)
        found = [
            self._worst(JOINT, step, rest, limit, np.maximum(lower - rest, rest - upper)),
            self._worst(STEP, step, distance, limits.step[i], distance - limits.step[i]),
            self._worst(STEP, step, change, limits.tick[i], change - limits.tick[i]),
            self._worst(VELOCITY, step, np.abs(w), fastest, np.abs(w) / fastest - 1.0),
            self._worst(ACCELERATION, step, gain, a, gain / a - 1.0),
        ]
        causes = tuple(excess for excess in found if excess is not None)
        worst = int(np.argmax(np.abs(q - step.p)))
        lag, name = abs(float(q[worst] - step.p[worst])), limits.names[i[worst]]
        return causes or (
            Excess(self._cause, name, lag, 0.0, limits.units[i[worst]], is_catching_up=True),
        )

    def _worst(
        self, cause: str, step: Step, value: Array, limit: Array, by: Array
    ) -> Excess | None:
        """The joint that exceeds a limit by most; None if none does."""
        by = np.where(np.isfinite(by), by, -math.inf)
        worst = int(by.argmax())
        if not by[worst] > ROUNDING:
            return None
        joint = int(step.i[worst])
        rates: dict[str, str] = {VELOCITY: '/s', ACCELERATION: '/s^2'}
        unit = self.limits.units[joint] + rates.get(cause, '')
        return Excess(
            cause, self.limits.names[joint], float(value[worst]), float(limit[worst]), unit
        )

    # The workspace.

    def _is_clear(self, proposal: Proposal) -> bool:
        if self._check is None:
            return True
        return self._check.is_clear(self.positions, self._moving(proposal.time), proposal)

    def _allowed(self, step: Step, w: Array) -> Array | None:
        """The velocities (K,) between braking and `w` that are nearest to `w` of those allowed;
        None if there are none.
        """
        brake = self._braked(step)
        if brake is None:
            return None
        allowed = 0.0
        for halving in range(1, HALVINGS + 1):
            part = allowed + 0.5**halving
            trial = brake + part * (w - brake)
            if self._outside(step, trial, step.p + trial * step.h) is None:
                allowed = part
        result: Array = brake + allowed * (w - brake)
        return result

    def _outside(
        self, step: Step, w: Array, positions: Array, is_braking: bool = False
    ) -> Excess | None:
        """What in the workspace forbids to go to `positions` at w, and to rest from there."""
        if self._check is None:
            return None
        return self._check.problem(self.positions, step, w, positions, is_braking)

    def _braked(self, step: Step) -> Array | None:
        """The velocities (K,) of a step on the way to rest: of all joints less by the same part.
        None if the time is too short for it.
        """
        duration = float(np.max(np.abs(step.others) / self.limits.acceleration))
        part = max(0.0, 1.0 - float(step.h.min()) / duration) if duration > 0.0 else 0.0
        low, high = self._bounds(step)
        w: Array = np.clip(step.v * part, low, high)
        if self._is_early(step):
            return None
        # In longer steps than those before it takes a shorter way, which is known to be allowed.
        if w.any() and self._outside(step, w, step.p + w * step.h, True) is not None:
            return None
        return w
