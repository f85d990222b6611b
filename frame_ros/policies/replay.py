# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded actions as a policy: the same motion again, at the present control rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import PolicyError, ShapeError, ValueRangeError
from frame_ros.core.options import option, options
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import EXTRAS, Inference, Observation

STARTS = ('blend', 'refuse', 'at_once')
# Distance of joints from the first recorded action, rad, below which the replay begins at once.
NEAR = 0.02
MAX_GAP = 0.5  # s
# Rates that differ by less are equal, measured by two clocks.
SAME_RATE = 0.02
# A time so close to that of an action, in shares of a period, is the time of that action.
SNAP = 0.05
NONE_MISSING = 0.1
# Stamps of a steady sender stay this close to its ticks, in periods.
STEADY = 1.5


def action_times(
    stamps: NDArray[np.int64], dt: float | None = None
) -> tuple[NDArray[np.float64], float]:
    """Returns when each recorded action is due, s since the first, and the period of the recording.

    Actions of a steady sender are one period apart, whatever the jitter of their stamps: that is
    the time line of executed actions, on which a pause is no action. Its period is `dt` if both
    agree to 2 %. For other senders the stamps count.

    Args:
        stamps: (T,) ns, increasing.
        dt: s between two present control steps; None: unknown.
    """
    since = (stamps - stamps[0]) / SECOND
    if len(stamps) < 2:
        return since, dt or math.nan
    median, mean = float(np.median(np.diff(since))), float(since[-1]) / (len(since) - 1)
    # The mean is more accurate if no tick is missing.
    period = mean if abs(mean / median - 1.0) < NONE_MISSING else median
    if dt is not None and abs(period / dt - 1.0) < SAME_RATE:
        period = dt
    breaks = np.cumsum(np.diff(since, prepend=since[0]) > MAX_GAP)
    index = np.arange(len(since), dtype=np.float64)
    late = since / period - index
    for piece in range(int(breaks[-1]) + 1):
        own = late[breaks == piece]
        # A clock with a slightly different rate is steady, too: its drift is removed.
        drift = np.linspace(own[0], own[-1], len(own))
        if np.abs(own - drift).max() > STEADY or abs(own[-1] - own[0]) > 1 + SAME_RATE * len(own):
            return since, period
    return index * period, period


def actions_at(
    times: NDArray[np.float64],
    positions: NDArray[np.float64],
    wanted: NDArray[np.float64],
    is_continuous: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Returns actions (S, D) at the requested times (S,), s.

    At the time of a step it is that step, between two steps interpolated linearly; before the first
    the first, after the last the last. Joints that turn without end go the short way, in the turn
    of the nearer step.

    Args:
        times: (T,) s, increasing.
        positions: (T, D).
        is_continuous: (D,) whether each joint turns without end; None: none does.
    """
    if len(times) == 1:
        return np.repeat(positions, len(wanted), axis=0)
    place = np.interp(wanted, times, np.arange(len(times), dtype=np.float64))
    nearest = np.round(place)
    place = np.where(np.abs(place - nearest) < SNAP, nearest, place)
    before = np.floor(place).astype(np.intp)
    after = np.minimum(before + 1, len(times) - 1)
    share = (place - before)[:, None]
    first, last = positions[before], positions[after]
    turning = np.zeros(positions.shape[1], np.bool_) if is_continuous is None else is_continuous
    between: NDArray[np.float64] = (1.0 - share) * first + share * nearest_turn(
        last, first, turning
    )
    between = nearest_turn(between, np.where(share < 0.5, first, last), turning)
    return np.where(share == 0.0, first, between)


@options
class ReplayOptions:
    """Options of a replay."""

    dt: float | None = option(
        None, 'time between two steps of a chunk; none: as recorded', unit='s', above=0.0
    )
    horizon: int = option(30, 'steps of a chunk', at_least=1)
    start: str = option(
        'blend',
        'if the robot is not at the first action: blend (it is moved there), refuse (an error '
        'beyond max_distance) or at_once (nothing, for evaluation without a robot)',
        choices=STARTS,
    )
    blend_time: float = option(2.0, 'time to the first action', unit='s', above=0.0)
    max_distance: float | None = option(
        None,
        'largest distance of a joint from the first action, with blend too; none: 0.2 with refuse, '
        'no limit with blend',
        unit='rad',
        at_least=0.0,
    )
    max_gap: float = option(MAX_GAP, 'longest pause of the recording', unit='s', above=0.0)
    robot_joint_names: tuple[str, ...] = option((), 'joints of the robot; empty: not checked')


class ReplayPolicy(Policy):
    """Replays recorded joint positions.

    Args:
        stamps: (T,) ns, increasing.
        positions: (T, D), rad or m.
        names: D joints.
        checkpoint: where the recording is from.
        continuous: joints that turn without end. Their actions are all shifted by the turns that
            bring the first nearest to where the robot is.

    With start=blend the arm is first brought to the first action, at rest at both ends: the
    greatest speed is 1.875 times the mean.

    Which action is due follows `Observation.executed`, so the replay waits where the robot waits;
    where that is not known, the stamp. Behind the last action the last is held.

    Raises:
        ShapeError, ValueRangeError: nothing recorded, shapes that do not fit, values that are not
        finite, stamps that do not increase, a pause that is too long, or an unknown option.
    """

    name = 'replay'

    def __init__(
        self,
        stamps: ArrayLike,
        positions: ArrayLike,
        names: Sequence[str],
        options: ReplayOptions | None = None,
        checkpoint: str = '',
        continuous: Sequence[str] = (),
    ) -> None:
        self._options = options = options or ReplayOptions()
        self.checkpoint = checkpoint
        self._names = tuple(names)
        self._recorded = self._positions = np.array(positions, dtype=np.float64)
        self._is_continuous = continuous_among(self._names, continuous)
        all_stamps = np.array(stamps, dtype=np.int64)
        _check_recording(all_stamps, self._positions, self._names, options.max_gap)
        _check_joints(self._names, options.robot_joint_names)
        self._times, period = action_times(all_stamps, options.dt)
        self._dt = options.dt or period
        if not math.isfinite(self._dt):
            raise ValueRangeError('one action alone has no rate; dt must be given')
        self._max_distance = options.max_distance
        if options.max_distance is None:
            self._max_distance = 0.2 if options.start == 'refuse' else math.inf
        self.reset()

    @property
    def duration(self) -> float:
        """s from the first recorded action to the last."""
        return float(self._times[-1])

    def reset(self, seed: int | None = None) -> None:
        """Forgets where the robot was: the next observation begins the replay again."""
        self._begin = 0
        self._origin: NDArray[np.float64] | None = None
        self._lead = 0.0

    def infer(self, observation: Observation) -> Inference:
        """Returns the recorded actions that are due next.

        Raises:
            PolicyError: the observation lacks a joint, or the robot is too far from the first
            action.
        """
        if self._origin is None:
            self._plan_start(observation)
        executed = observation.executed
        if not math.isfinite(executed):
            executed = (observation.stamp - self._begin) / SECOND
        steps = np.arange(self._options.horizon, dtype=np.float64)
        times = executed + self._dt * steps - self._lead
        actions = actions_at(self._times, self._positions, times, self._is_continuous)
        if self._lead:
            share = np.clip(1.0 + times / self._lead, 0.0, 1.0)[:, None]
            smooth = share**3 * (10.0 + share * (6.0 * share - 15.0))
            blend = self._origin + smooth * (self._positions[0] - self._origin)
            actions = np.where(times[:, None] < -SNAP * self._dt, blend, actions)
        return Inference(
            actions=actions,
            dt=self._dt,
            action_names=self._names,
            action_units=('rad',) * len(self._names),
            unavailable=dict.fromkeys(EXTRAS, 'a replay predicts nothing'),
        )

    def _plan_start(self, observation: Observation) -> None:
        """Decides how the robot gets to the first action."""
        index = {name: i for i, name in enumerate(observation.joint_names)}
        if missing := [name for name in self._names if name not in index]:
            raise PolicyError(
                f'the recording moves {missing}, which the observation lacks; it has {list(index)}'
            )
        present = observation.joint_positions[[index[name] for name in self._names]]
        first = self._recorded[0]
        turns = nearest_turn(first, present, self._is_continuous) - first
        self._positions = self._recorded + turns if turns.any() else self._recorded
        away = np.abs(present - self._positions[0])
        farthest = int(np.argmax(away))
        assert self._max_distance is not None
        if self._options.start != 'at_once' and not away[farthest] <= self._max_distance:
            raise PolicyError(
                f'{self._names[farthest]} is at {present[farthest]:.3f} rad, the recording begins '
                f'at {self._positions[0, farthest]:.3f} rad; at most {self._max_distance:g} rad '
                'apart is allowed: bring the arm nearer, or allow more by max_distance'
            )
        self._origin, self._begin = np.array(present), observation.stamp
        is_led = self._options.start == 'blend' and away[farthest] > NEAR
        self._lead = self._options.blend_time if is_led else 0.0


def _check_recording(
    stamps: NDArray[np.int64], positions: NDArray[np.float64], names: tuple[str, ...], gap: float
) -> None:
    if stamps.ndim != 1 or positions.shape != (len(stamps), len(names)):
        raise ShapeError(
            f'stamps {stamps.shape}, positions {positions.shape} and {len(names)} names do not '
            'fit; they must be (T,), (T, D) and D names'
        )
    if not len(stamps) or not names:
        raise ShapeError('the recording holds no action; it must hold one or more')
    if not np.isfinite(positions).all():
        row, column = np.argwhere(~np.isfinite(positions))[0]
        raise ValueRangeError(
            f'{names[column]} is {positions[row, column]} at action {row}; it must be finite'
        )
    intervals = np.diff(stamps)
    if (intervals <= 0).any():
        raise ValueRangeError(f'the stamps do not increase at action {np.argmax(intervals <= 0)}')
    if len(intervals) and intervals.max() > gap * SECOND:
        at = int(np.argmax(intervals))
        raise ValueRangeError(
            f'the recording has no action for {intervals[at] / SECOND:.2f} s behind '
            f'{(stamps[at] - stamps[0]) / SECOND:.2f} s; {gap:g} s is allowed (max_gap): what the '
            'robot did in between is not known'
        )


def _check_joints(names: tuple[str, ...], robot: Sequence[str]) -> None:
    if robot and (unknown := [name for name in names if name not in robot]):
        raise PolicyError(
            f'the recording moves {unknown}, which the robot does not have; its joints are '
            f'{list(robot)}'
        )
